// `Lanes` of the instruction set that a file is compiled for. lanes_avx512.h says what they mean.
#pragma once

#if defined(PENSTOCK_ISA_AVX512)
#include "kernels/lanes/lanes_avx512.h"
#elif defined(PENSTOCK_ISA_AVX2)
#include "kernels/lanes/lanes_avx2.h"
#else
#include "kernels/lanes/lanes_scalar.h"
#endif
