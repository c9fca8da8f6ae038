#include "kernels/warp/displaced_rows_impl.h"
#include "kernels/warp/warp_lanes_avx2.h"

namespace penstock {

const DisplacedRows& displaced_rows_avx2() { return DisplacedRowsOf<Lanes>::kernels; }

}  // namespace penstock
