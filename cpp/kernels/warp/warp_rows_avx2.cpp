#include "kernels/warp/warp_lanes_avx2.h"
#include "kernels/warp/warp_rows_impl.h"

namespace penstock {

const WarpRows& warp_rows_avx2() { return WarpRowsOf<Lanes>::kernels; }

}  // namespace penstock
