// `Lanes` of the instruction set that a file is compiled for. lanes_x86.h says what they mean.
#pragma once

#if defined(PENSTOCK_ISA_AVX2) || defined(PENSTOCK_ISA_AVX512)
#include "kernels/lanes/lanes_x86.h"
#else
#include "kernels/lanes/lanes_scalar.h"
#endif
