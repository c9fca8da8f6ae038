// Gets a sample's bytes into memory and looks at its header.
#pragma once

#include "base/image.h"
#include "engine/part.h"
#include "engine/spare_buffers.h"

namespace penstock {

// What is wrong with a sample becomes its `problem`. Both throw ResourceError where the machine and
// not the sample is at fault.

/// Reads the file at `path` into a spare buffer; a file that is no JPEG is left to Pillow.
void read_file(Sample& sample, SpareBuffers& spare);

/// Reads what rows [top, top + height) of `rows` depend on, of a sample in a mapped file.
void read_mapped(Sample& sample, const Region& rows);

/// Whether a system call that failed with this errno says nothing about the file: the machine lacks
/// or refuses something. penstock/resources.py has the same list.
bool is_of_the_machine(int code);

}  // namespace penstock
