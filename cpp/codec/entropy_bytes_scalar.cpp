#include <cstring>

#include "codec/entropy_bytes.h"

namespace penstock::scalar {
namespace {

const uint8_t* find_ff(const uint8_t* from, const uint8_t* end) {
  if (from == end) return end;
  const void* found = std::memchr(from, 0xFF, end - from);
  return found != nullptr ? static_cast<const uint8_t*>(found) : end;
}

const uint8_t* find_marker(const uint8_t* from, const uint8_t* end) {
  for (;;) {
    from = find_ff(from, end);
    if (end - from < 2 || from[1] != 0) return from;
    from += 2;
  }
}

uint8_t* unstuff(uint8_t* target, const uint8_t* from, const uint8_t* end) {
  while (from != end) {
    const uint8_t* ff = find_ff(from, end);
    const size_t plain = ff - from + (ff != end);
    std::memcpy(target, from, plain);
    target += plain;
    from = ff != end ? ff + 2 : end;
  }
  return target;
}

}  // namespace

const EntropyBytes entropy_bytes = {find_marker, unstuff};

}  // namespace penstock::scalar
