// Gets an item's bytes into memory and looks at its header.
#pragma once

#include "base/image.h"
#include "engine/chunk.h"

namespace penstock {

/// Reads the file at `path`; a file that is no JPEG is left to Pillow.
void read_file(Item& item);

/// Reads what of the record rows [top, top + height) of `rows` depend on.
void read_record(Item& item, const Region& rows);

}  // namespace penstock
