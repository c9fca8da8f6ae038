// The lanes of the vector set that a file is compiled for, as warps use them.
#pragma once

#if defined(PENSTOCK_ISA_AVX512)
#include "kernels/warp/warp_lanes_avx512.h"
#else
#include "kernels/warp/warp_lanes_avx2.h"
#endif
