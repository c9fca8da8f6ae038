#include "kernels/colour/mix_rows.h"

namespace penstock {

const MixRows& mix_rows_avx2() {
  static constexpr MixRows rows{begin_row, add_row, end_row};
  return rows;
}

}  // namespace penstock
