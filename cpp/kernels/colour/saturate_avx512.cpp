// A blend with gray by two tables, of how far values move from their gray.
#include "kernels/colour/lut.h"
#include "kernels/colour/variants.h"
#include "kernels/colour/vectors.h"

namespace penstock::avx512 {
namespace {

/// Two lookups of distances, of which those of 128 and more are rare.
class Steps {
 public:
  Steps(const BlendSteps& steps, bool reverse) : up_(steps.up), down_(steps.down) {
    reverse_ = reverse ? ~__mmask64{0} : 0;
  }

  __m512i blend(__m512i gray, __m512i level) const {
    const __m512i distance =
        _mm512_sub_epi8(_mm512_max_epu8(gray, level), _mm512_min_epu8(gray, level));
    const __mmask64 upwards = _mm512_cmpge_epu8_mask(level, gray) ^ reverse_;
    __m512i up = _mm512_permutex2var_epi8(up_.quarter[0], distance, up_.quarter[1]);
    __m512i down = _mm512_permutex2var_epi8(down_.quarter[0], distance, down_.quarter[1]);
    if (_mm512_movepi8_mask(distance) != 0) {
      up = up_(distance);
      down = down_(distance);
    }
    return _mm512_mask_adds_epu8(_mm512_subs_epu8(gray, down), upwards, gray, up);
  }

 private:
  Lookup up_, down_;
  __mmask64 reverse_;
};

}  // namespace

void saturate(const PlanarTarget& image, float factor) {
  BlendSteps tables;
  if (!make_blend_steps(tables, factor)) {
    avx2::saturate(image, factor);
    return;
  }
  // A negative factor turns colours to their opposites.
  const Steps steps(tables, factor < 0);
  for (int y = 0; y < image.height; ++y)
    for (int x = 0; x < image.width; x += kVectorBytes) {
      uint8_t* const at[3] = {image.row(0, y) + x, image.row(1, y) + x, image.row(2, y) + x};
      const __m512i red = load(at[0]);
      const __m512i green = load(at[1]);
      const __m512i blue = load(at[2]);
      const __m512i gray = luma(red, green, blue);
      store(at[0], steps.blend(gray, red));
      store(at[1], steps.blend(gray, green));
      store(at[2], steps.blend(gray, blue));
    }
}

}  // namespace penstock::avx512
