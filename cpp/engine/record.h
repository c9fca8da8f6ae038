// A sample that lies in a mapped file instead of a file of its own.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace penstock {

/// How a record holds its image. The first three numbers are those of the packed format; deflated
/// pixels are inflated elsewhere.
enum class Storage : int32_t { jpeg = 0, dct = 1, raw = 2, deflated = 3 };

struct Record {
  std::span<const uint8_t> bytes;
  Storage storage = Storage::jpeg;
  int height = 0;  // as the index says
  int width = 0;
};

/// Brings mapped bytes into memory with reads as large as the range, so that whoever uses them next
/// waits for no page. Returns a sentence part if they cannot be read, else an empty string.
std::string make_resident(std::span<const uint8_t> mapped);

}  // namespace penstock
