// What a step says, in the words of the kernels.
#pragma once

#include "base/image.h"
#include "engine/program.h"

namespace penstock {

inline Region crop_of(const Step& s) {
  return {s.crop_top, s.crop_left, s.crop_height, s.crop_width};
}
inline Region window_of(const Step& s) {
  return {s.window_top, s.window_left, s.window_height, s.window_width};
}
inline bool pads(const Step& s) {
  return (s.pad_left | s.pad_top | s.pad_right | s.pad_bottom) != 0;
}
inline bool resizes(const Step& s) { return s.filter >= 0; }

}  // namespace penstock
