#include "engine/row_memory.h"

#include <ctime>
#include <utility>

namespace penstock {
namespace {

constexpr int64_t kSecond_ns = 1'000'000'000;
// Clocks of file systems tick in steps, of two seconds at the most.
constexpr int64_t kClockStep_ns = 2 * kSecond_ns;
// The map's own needs for a file, roughly.
constexpr size_t kBytesOfEntry = 128;

int64_t nanoseconds(const timespec& time) { return time.tv_sec * kSecond_ns + time.tv_nsec; }

}  // namespace

FileVersion version_of(const struct stat& status) {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  const int64_t changed_ns = nanoseconds(status.st_ctim);
  FileVersion version{status.st_dev, status.st_ino, static_cast<uint64_t>(status.st_size), 0};
  // A file that has changed just now may change once more without another time.
  if (nanoseconds(now) - changed_ns > kClockStep_ns) version.changed_ns = changed_ns;
  return version;
}

size_t RowMemory::Hash::operator()(const FileVersion& version) const {
  // Odd factors spread inodes, which are often consecutive, over all bits.
  uint64_t hash = version.inode * 0x9E3779B97F4A7C15u;
  hash ^= static_cast<uint64_t>(version.changed_ns) * 0xC2B2AE3D27D4EB4Fu;
  hash ^= (version.size + (version.device << 32)) * 0x165667B19E3779F9u;
  return hash ^ hash >> 32;
}

void RowMemory::recall(RowStarts& rows, const FileVersion& version) {
  rows.clear();
  const std::lock_guard lock(mutex_);
  const auto found = known_.find(version);
  if (found != known_.end()) rows.assign(found->second.begin(), found->second.end());
}

void RowMemory::keep(const FileVersion& version, const RowStarts& rows) {
  const std::lock_guard lock(mutex_);
  const auto found = known_.find(version);
  const size_t known = found == known_.end() ? 0 : found->second.size();
  if (rows.size() <= known) return;
  const size_t more =
      (rows.size() - known) * sizeof(RowStart) + (known == 0 ? kBytesOfEntry : size_t{0});
  if (more > bytes_left_) return;
  RowStarts copy;
  copy.reserve(rows.size());  // not more than is counted
  copy.assign(rows.begin(), rows.end());
  known_[version] = std::move(copy);
  bytes_left_ -= more;
}

}  // namespace penstock
