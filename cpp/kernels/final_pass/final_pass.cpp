#include <bit>
#include <cmath>
#include <cstring>

#include "kernels/half.h"
#include "kernels/output.h"

namespace penstock {
namespace {

bool same_bits(float a, float b) {
  return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b);
}

/// Sets the tables of one channel, and finds out whether the constants lead to the same bits.
void set_channel(FinalPass& pass, int c, const float values[256]) {
  for (int x = 0; x < 256; ++x) {
    const float value = values[x], level = static_cast<float>(x);
    pass.float32[c][x] = value;
    pass.float16[c][x] = to_float16(value);
    pass.bfloat16[c][x] = to_bfloat16(value);
    const float t = std::fma(level, pass.scale_high[c], level * pass.scale_low[c]);
    const float s = t - pass.mean[c];
    const float d = std::fma(s, pass.std_high[c], s * pass.std_low[c]);
    if (!same_bits(d, value) || !std::isfinite(d)) pass.computable = false;
  }
}

}  // namespace

int size_of(Element element) {
  switch (element) {
    case Element::float32:
      return 4;
    case Element::float16:
    case Element::bfloat16:
      return 2;
    case Element::uint8:
      break;
  }
  return 1;
}

FinalPass make_final_pass(float scale, const float mean[3], const float std[3], float divisor,
                          const float gain[3]) {
  FinalPass pass;
  pass.computable = true;
  // The division by the divisor as a product with a two-part factor; exact if the divisor is 1.
  const double factor = static_cast<double>(scale) / static_cast<double>(divisor);
  const float scale_high = static_cast<float>(factor);
  const float scale_low = static_cast<float>(factor - static_cast<double>(scale_high));
  for (int c = 0; c < 3; ++c) {
    const double reciprocal = static_cast<double>(gain[c]) / static_cast<double>(std[c]);
    const float std_high = static_cast<float>(reciprocal);
    const float std_low = static_cast<float>(reciprocal - static_cast<double>(std_high));
    for (int lane = c; lane < FinalPass::kLanes; lane += 3) {
      pass.scale_high[lane] = scale_high;
      pass.scale_low[lane] = scale_low;
      pass.mean[lane] = mean[c];
      pass.std_high[lane] = std_high;
      pass.std_low[lane] = std_low;
    }
    float values[256];
    for (int x = 0; x < 256; ++x) {
      const float scaled = static_cast<float>(x) * scale;
      const float divided = scaled / divisor;
      const float centred = divided - mean[c];
      values[x] = centred / std[c] * gain[c];
    }
    set_channel(pass, c, values);
  }
  return pass;
}

void set_values(FinalPass& pass, const float* values) {
  pass.computable = true;
  for (int c = 0; c < 3; ++c) set_channel(pass, c, values + c * 256);
}

}  // namespace penstock
