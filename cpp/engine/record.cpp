#include "engine/record.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/map_guard.h"

namespace penstock {

std::string make_resident(std::span<const uint8_t> mapped) {
  if (mapped.empty()) return {};
#ifdef MADV_POPULATE_READ
  // Unlike touching the pages, this fails with an error where the file has become too short.
  const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<uintptr_t>(mapped.data()) & ~(page - 1);
  const auto end = reinterpret_cast<uintptr_t>(mapped.data() + mapped.size());
  if (::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_POPULATE_READ) == 0 ||
      errno == EINVAL)  // a kernel before 5.14: pages come when they are used
    return {};
  const int reason = errno;
  if (reason == ENOMEM)
    throw ResourceError("cannot be read from the packed file: there is not enough memory", ENOMEM);
  mark_lost(mapped.data());
  return std::string("cannot be read from the packed file (") + std::strerror(reason) + ")";
#else
  return {};
#endif
}

}  // namespace penstock
