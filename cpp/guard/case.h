// What the guard counts: a hot path on an input that never changes.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace penstock::guard {

/// Only `run` is counted, once, after `prepare` and one run that was not counted: by then all
/// memory is there and every table is made.
struct Case {
  std::string name;
  std::function<void()> prepare;
  std::function<void()> run;
};

/// From stored bytes to batch slots, and back: decoding, packing, sizes, checksums.
void add_image_cases(std::vector<Case>& cases);

/// What augmentations do to an image of 224x224, and to batches of them.
void add_effect_cases(std::vector<Case>& cases);

/// Ends the program: what was to be counted did not happen.
[[noreturn]] void fail(const std::string& what);

}  // namespace penstock::guard
