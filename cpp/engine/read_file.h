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

/// Whether a system call that failed with this errno says nothing about the file: the machine lacks
/// or refuses something. penstock/resources.py has the same list.
bool is_of_the_machine(int code);

/// Throws ResourceError where the machine and not the file is at fault.
/// Reads `path` into `buffer` if it starts like a JPEG. The buffer has slack behind the last byte.
ReadResult read_jpeg_file(Buffer& buffer, const std::string& path);

}  // namespace penstock
