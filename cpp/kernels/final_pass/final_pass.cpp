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
    for (int x = 0; x < 256; ++x) {
      const float value = static_cast<float>(x);
      const float scaled = value * scale;
      const float divided = scaled / divisor;
      const float centred = divided - mean[c];
      const float normalised = centred / std[c] * gain[c];
      pass.float32[c][x] = normalised;
      pass.float16[c][x] = to_float16(normalised);
      pass.bfloat16[c][x] = to_bfloat16(normalised);

      const float t = std::fma(value, scale_high, value * scale_low);
      const float s = t - mean[c];
      const float d = std::fma(s, std_high, s * std_low);
      if (!same_bits(d, normalised) || !std::isfinite(d)) pass.computable = false;
    }
    for (int lane = c; lane < FinalPass::kLanes; lane += 3) {
      pass.scale_high[lane] = scale_high;
      pass.scale_low[lane] = scale_low;
      pass.mean[lane] = mean[c];
      pass.std_high[lane] = std_high;
      pass.std_low[lane] = std_low;
    }
  }
  return pass;
}

}  // namespace penstock
