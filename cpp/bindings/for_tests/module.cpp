// A module that only tests use, and that no wheel contains. It has a copy of the kernels of its
// own, so its instruction set is chosen apart from that of penstock._core.
#include "bindings/bind.h"

NB_MODULE(penstock_test_core, m) {
  m.doc() = "penstock's kernels and decoders one by one, for the tests.";
  penstock::translate_errors();
  penstock::bind_instruction_sets(m);
  penstock::bind_colour(m);
  penstock::bind_decode(m);
  penstock::bind_filter(m);
  penstock::bind_resize(m);
  penstock::bind_warp(m);
}
