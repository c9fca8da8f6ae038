// Kernels that exist once per instruction set: how they are declared, and how one is chosen.
//
// Each set has a namespace of its own (penstock::scalar, penstock::avx2, ...), in which a kernel
// has the same name and type. A kernel's header declares it in all of them at once:
//
//   PENSTOCK_VARIANTS(void turn_hue(const PlanarTarget& image, uint8_t turn));
//
// and its caller picks the variant of the set in use: PENSTOCK_PICK(turn_hue)(image, turn).
//
// It is defined in files written for one set (sharpen_avx2.cpp), or in a file that CMakeLists.txt
// compiles once per set (noise_impl.cpp), which opens the namespace `penstock::PENSTOCK_ISA`. All
// else in such files is in an unnamed namespace. They use no inline function or template that
// another file may also emit: the linker could pick their copy, and with it instructions that an
// older CPU does not have.
//
// A further set, such as NEON, gets: a name in base/cpu.h and a test for it in cpu.cpp, a line in
// each of the macros below, `penstock_instruction_set(neon ...)` and its name among the SETS in
// CMakeLists.txt, kernels/lanes/lanes_neon.h, and a NAME_neon.cpp for each kernel written by hand.
#pragma once

#include "base/cpu.h"

#if defined(__x86_64__)

#define PENSTOCK_VARIANTS(...) \
  namespace scalar {           \
  __VA_ARGS__;                 \
  }                            \
  namespace avx2 {             \
  __VA_ARGS__;                 \
  }                            \
  namespace avx512 {           \
  __VA_ARGS__;                 \
  }

/// For kernels that gain nothing from vectors wider than AVX2's: AVX-512 uses the AVX2 variant.
#define PENSTOCK_NARROW_VARIANTS(...) \
  namespace scalar {                  \
  __VA_ARGS__;                        \
  }                                   \
  namespace avx2 {                    \
  __VA_ARGS__;                        \
  }

#define PENSTOCK_PICK(name) \
  ::penstock::pick(::penstock::scalar::name, ::penstock::avx2::name, ::penstock::avx512::name)

namespace penstock {

namespace scalar {}
namespace avx2 {}
namespace avx512 {
using namespace avx2;
}

/// The variant, a function or a table of them, for the set in use.
template <class Variant>
Variant& pick(Variant& scalar, Variant& avx2, Variant& avx512) {
  switch (active_isa()) {
    case Isa::avx512:
      return avx512;
    case Isa::avx2:
      return avx2;
    case Isa::scalar:
      break;
  }
  return scalar;
}

}  // namespace penstock

#else

#define PENSTOCK_VARIANTS(...) \
  namespace scalar {           \
  __VA_ARGS__;                 \
  }

#define PENSTOCK_NARROW_VARIANTS(...) PENSTOCK_VARIANTS(__VA_ARGS__)

#define PENSTOCK_PICK(name) ::penstock::scalar::name

#endif
