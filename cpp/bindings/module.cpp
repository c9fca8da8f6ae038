// The extension module: one call per noun.
#include <nanobind/nanobind.h>

#include "bindings/bind.h"

NB_MODULE(_core, m) {
  m.doc() = "penstock's native core. Use the penstock package; nothing here is public.";
  // A forked child inherits objects that threads of its parent were using; nobody can free those.
  nanobind::set_leak_warnings(false);
  penstock::translate_errors();
  penstock::bind_contract(m);  // first: others take its enums
  penstock::bind_instruction_sets(m);
  penstock::bind_kernels(m);
  penstock::bind_batch_buffer(m);
  penstock::bind_engine(m);
  penstock::bind_one_image(m);
  penstock::bind_run_here(m);
  penstock::bind_tensor_values(m);
  penstock::bind_tensor_levels(m);
  penstock::bind_mapped_file(m);
  penstock::bind_checksum(m);
  penstock::bind_records(m);
  penstock::bind_random(m);
  penstock::bind_tiff_messages(m);
}
