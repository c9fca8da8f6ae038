#include "codec/frame.h"

namespace penstock {
namespace {

int divide_up(int value, int divisor) { return (value + divisor - 1) / divisor; }

}  // namespace

Frame make_frame(const JpegHeader& header, int scale) {
  const int least_block = 8 / scale;
  const auto is_even = [](int ratio) { return ratio % 2 == 0; };
  Frame frame;
  frame.height = reduced_size(header.height, scale);
  frame.width = reduced_size(header.width, scale);
  frame.unit_height = least_block * header.max_vertical;
  frame.unit_width = least_block * header.max_horizontal;
  frame.components = header.components;
  for (int c = 0; c < header.components; ++c) {
    const JpegComponent& coded = header.component[c];
    FrameComponent& component = frame.component[c];
    component.block_height = component.block_width = least_block;
    component.horizontal_ratio = header.max_horizontal / coded.horizontal;
    component.vertical_ratio = header.max_vertical / coded.vertical;
    while (component.block_height == component.block_width && component.block_height < 8 &&
           (is_even(component.vertical_ratio) || is_even(component.horizontal_ratio))) {
      if (is_even(component.vertical_ratio)) {
        component.block_height *= 2;
        component.vertical_ratio /= 2;
      }
      if (is_even(component.horizontal_ratio)) {
        component.block_width *= 2;
        component.horizontal_ratio /= 2;
      }
    }
    component.height =
        divide_up(header.height * coded.vertical * component.block_height, header.max_vertical * 8);
    component.width = divide_up(header.width * coded.horizontal * component.block_width,
                                header.max_horizontal * 8);
  }
  return frame;
}

}  // namespace penstock
