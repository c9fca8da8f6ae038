// The gray of a colour image, made row by row before a step reads it.
#pragma once

#include "engine/input.h"

namespace penstock {

/// Reads `colour`, which has three channels, through Pillow's conversion to gray. `memory` holds a
/// few rows.
class GrayInput final : public Input {
 public:
  GrayInput(Input& colour, Buffer& memory);
  DecodeResult send(const Region& region, const std::function<RowSink&()>& begin) override;

 private:
  Input& colour_;
  Buffer& memory_;
};

}  // namespace penstock
