#include "codec/restore/patches.h"

#include <algorithm>

#include "codec/restore/section.h"

namespace penstock {

bool find_patches(std::vector<uint8_t>& patches, std::span<const uint8_t> rebuilt,
                  std::span<const uint8_t> original) {
  patches.clear();
  if (rebuilt.size() != original.size()) return false;
  const size_t most = 64 + original.size() / 32;
  size_t done = 0;
  for (;;) {
    const auto begin =
        std::mismatch(original.begin() + done, original.end(), rebuilt.begin() + done).first;
    if (begin == original.end()) return true;
    const size_t at = begin - original.begin();
    size_t end = at;
    while (end < original.size() && original[end] != rebuilt[end]) ++end;
    append_variable_length(patches, at - done);
    append_variable_length(patches, end - at);
    patches.insert(patches.end(), begin, original.begin() + end);
    if (patches.size() > most) return false;
    done = end;
  }
}

bool apply_patches(std::span<uint8_t> file, std::span<const uint8_t> patches) {
  size_t done = 0;
  for (size_t at = 0; at < patches.size();) {
    uint64_t gap = 0;
    uint64_t count = 0;
    if (!take_variable_length(gap, patches, at) || !take_variable_length(count, patches, at))
      return false;
    if (gap > file.size() - done || count > file.size() - done - gap || count > patches.size() - at)
      return false;
    done += gap;
    std::copy_n(patches.begin() + at, count, file.begin() + done);
    done += count;
    at += count;
  }
  return true;
}

}  // namespace penstock
