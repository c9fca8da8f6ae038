// One function per noun, each in its own file.
#pragma once

#include <nanobind/nanobind.h>

namespace penstock {

void bind_kernels(nanobind::module_& m);
void bind_colour(nanobind::module_& m);
void bind_codec(nanobind::module_& m);
void bind_contract(nanobind::module_& m);
void bind_batch_buffer(nanobind::module_& m);
void bind_engine(nanobind::module_& m);
void bind_mapped_file(nanobind::module_& m);
void bind_records(nanobind::module_& m);
void bind_random(nanobind::module_& m);
void bind_filter(nanobind::module_& m);
void bind_warp(nanobind::module_& m);
void bind_tiff_messages(nanobind::module_& m);

}  // namespace penstock
