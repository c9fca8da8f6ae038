#include "kernels/warp/displaced_rows.h"
#include "kernels/warp/elastic.h"
#include "kernels/warp/row_parts.h"
#include "kernels/warp/warp_displaced_scalar.h"

namespace penstock {
void warp_displaced(const PlanarTarget& out, const PlanarView& in, const float* dx, const float* dy,
                    Filter filter, const uint8_t (&fill)[3], WarpScratch& scratch) {
  if (!has_vectors(in)) return warp_displaced_scalar(out, in, dx, dy, filter, fill);
  const DisplacedRows& kernels = *PENSTOCK_PICK(displaced_rows);
  const uint32_t colour = word_of(fill);
  const bool takes_pixels = filter == Filter::nearest;
  const BorderedImage image = takes_pixels ? make_filled_border(in, colour, scratch.words)
                                           : make_repeated_border(in, scratch.words);
  DisplacedPlaces places;
  alignas(64) int32_t at[kPartPixels];
  for_each_part(out, [&](const RowPart& part) {
    const ptrdiff_t first = static_cast<ptrdiff_t>(part.y) * out.width + part.x;
    kernels.displace(places, part, dx + first, dy + first);
    if (takes_pixels) {
      kernels.nearest(at, part, image, places);
      warp_rows().copy(part, image.first, at);
    } else {
      (filter == Filter::bilinear ? kernels.bilinear : kernels.bicubic)(part, image, places,
                                                                        colour);
    }
  });
}

}  // namespace penstock
