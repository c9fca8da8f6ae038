// One function per noun, each in its own file; the module.cpp beside it calls them.
#pragma once

#include <nanobind/nanobind.h>

namespace penstock {

/// Our errors become those of penstock.errors.
void translate_errors();

void bind_kernels(nanobind::module_& m);
void bind_instruction_sets(nanobind::module_& m);
void bind_contract(nanobind::module_& m);
void bind_batch_buffer(nanobind::module_& m);
void bind_engine(nanobind::module_& m);
void bind_one_image(nanobind::module_& m);
void bind_run_here(nanobind::module_& m);
void bind_tensor_values(nanobind::module_& m);
void bind_tensor_levels(nanobind::module_& m);
void bind_mapped_file(nanobind::module_& m);
void bind_checksum(nanobind::module_& m);
void bind_records(nanobind::module_& m);
void bind_random(nanobind::module_& m);
void bind_tiff_messages(nanobind::module_& m);

// Kernels and decoders one by one, in for_tests/, for the module that only tests load.
void bind_colour(nanobind::module_& m);
void bind_decode(nanobind::module_& m);
void bind_filter(nanobind::module_& m);
void bind_resize(nanobind::module_& m);
void bind_warp(nanobind::module_& m);

}  // namespace penstock
