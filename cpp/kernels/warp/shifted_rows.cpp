#include "kernels/warp/shifted_rows.h"

#include <algorithm>
#include <cstring>

namespace penstock {

void copy_shifted_row(const PlanarTarget& out, const PlanarView& in, int out_y, int64_t in_y,
                      int64_t shift, const uint8_t (&fill)[3]) {
  const int64_t width = out.width;
  int64_t begin = std::clamp<int64_t>(-shift, 0, width);
  int64_t end = std::clamp<int64_t>(in.width - shift, begin, width);
  if (in_y < 0 || in_y >= in.height) begin = end = width;
  for (int c = 0; c < out.channels; ++c) {
    uint8_t* to = out.row(c, out_y);
    std::memset(to, fill[c], begin);
    if (begin < end) {
      const uint8_t* from = in.row(std::min(c, in.channels - 1), static_cast<int>(in_y));
      std::memcpy(to + begin, from + begin + shift, end - begin);
    }
    std::memset(to + end, fill[c], width - end);
  }
}

}  // namespace penstock
