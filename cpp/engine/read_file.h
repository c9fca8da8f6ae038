// A whole file into recycled memory, with every failure as a sentence.
#pragma once

#include <cstddef>
#include <string>

#include "base/buffer.h"

namespace penstock {

struct ReadResult {
  size_t size = 0;       // bytes read
  bool is_jpeg = false;  // starts like a JPEG; other files are left unread
  std::string problem;   // empty: fine
};

/// Reads `path` into `buffer` if it starts like a JPEG. The buffer has slack behind the last byte.
ReadResult read_jpeg_file(Buffer& buffer, const std::string& path);

}  // namespace penstock
