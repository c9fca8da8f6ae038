// Kernels and decoders one by one, for the tests; one function per file, called by module.cpp.
#pragma once

#include <nanobind/nanobind.h>

namespace penstock {

void bind_colour(nanobind::module_& m);
void bind_decode(nanobind::module_& m);
void bind_filter(nanobind::module_& m);
void bind_resize(nanobind::module_& m);
void bind_warp(nanobind::module_& m);

}  // namespace penstock
