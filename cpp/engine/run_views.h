// Several programs for one sample, which may share what is decoded of it.
#pragma once

#include <span>

#include "engine/run_sample.h"

namespace penstock {

/// In View::group: decodes what it needs for itself.
inline constexpr int32_t kAlone = -1;

/// One program for a sample, and where its result goes.
struct View {
  Program program;
  Output output;
  /// Views of the same group read one decoded region, which contains what each of them needs. Their
  /// first steps must have the same dct_scale.
  int32_t group = kAlone;
};

/// Runs all views of a sample, at least one; stops at the first that fails. `late` as in
/// run_sample.
DecodeResult run_views(bool& late, std::span<const View> views, const SampleSource& source,
                       WorkerScratch& scratch);

}  // namespace penstock
