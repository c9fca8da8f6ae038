// The one assertion of the C++ tests, never compiled out, and the loop over instruction sets.
#pragma once

#include <cstdio>
#include <cstdlib>

#include "base/cpu.h"

#define CHECK(condition)                                                          \
  do {                                                                            \
    if (!(condition)) {                                                           \
      std::fprintf(stderr, "%s:%d: CHECK(%s)\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                               \
    }                                                                             \
  } while (false)

namespace penstock {

/// With each instruction set of this machine in use, from the scalar one on.
template <class Body>
void in_every_variant(Body body) {
  for (const Isa isa : supported_isas()) {
    force_isa(isa);
    body();
  }
}

}  // namespace penstock
