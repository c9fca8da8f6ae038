#include "codec/frame.h"

namespace penstock {
namespace {

int divide_up(int value, int divisor) { return (value + divisor - 1) / divisor; }

}  // namespace

Frame make_frame(int height, int width, std::span<const Sampling> components,
                 const Reduction& reduction) {
  const Sampling& largest = components[0];
  const int scale = reduction.scale, least_block = 8 / scale;
  const auto is_even = [](int ratio) { return ratio % 2 == 0; };
  Frame frame;
  frame.height = reduced_size(height, scale);
  frame.width = reduced_size(width, scale);
  frame.unit_height = least_block * largest.vertical;
  frame.unit_width = least_block * largest.horizontal;
  frame.components = static_cast<int>(components.size());
  for (int c = 0; c < frame.components; ++c) {
    const Sampling& coded = components[c];
    FrameComponent& component = frame.component[c];
    component.block_height = component.block_width = least_block;
    component.horizontal_ratio = largest.horizontal / coded.horizontal;
    component.vertical_ratio = largest.vertical / coded.vertical;
    while (!reduction.dc_alone && component.block_height == component.block_width &&
           component.block_height < 8 &&
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
        divide_up(height * coded.vertical * component.block_height, largest.vertical * 8);
    component.width =
        divide_up(width * coded.horizontal * component.block_width, largest.horizontal * 8);
  }
  return frame;
}

Frame make_frame(const JpegHeader& header, const Reduction& reduction) {
  Sampling components[3];
  for (int c = 0; c < header.components; ++c)
    components[c] = {header.component[c].horizontal, header.component[c].vertical};
  return make_frame(header.height, header.width,
                    std::span(components).first(static_cast<size_t>(header.components)), reduction);
}

}  // namespace penstock
