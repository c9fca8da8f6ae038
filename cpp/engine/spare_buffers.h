// Buffers of files that were read, kept for other files of about the same size.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <utility>

#include "base/buffer.h"

namespace penstock {

/// If any buffer served for any file, each would grow to the size of the largest. Any thread may
/// ask.
class SpareBuffers {
 public:
  /// A buffer that holds `bytes`, or is empty if none fits well.
  Buffer take(size_t bytes) {
    const std::lock_guard lock(mutex_);
    const auto found = spare_.lower_bound(bytes);
    if (found == spare_.end() || found->first > bytes + bytes / 2 + kSmall) return {};
    Buffer buffer = std::move(found->second);
    kept_bytes_ -= buffer.capacity();
    spare_.erase(found);
    return buffer;
  }

  void give_back(Buffer buffer) {
    const std::lock_guard lock(mutex_);
    if (buffer.capacity() == 0 || kept_bytes_ + buffer.capacity() > kMostBytes) return;
    kept_bytes_ += buffer.capacity();
    const size_t capacity = buffer.capacity();
    spare_.emplace(capacity, std::move(buffer));
  }

 private:
  // Files this small may have buffers of any size up to it.
  static constexpr size_t kSmall = size_t{16} << 10;
  // Usual photos of two parts.
  static constexpr size_t kMostBytes = size_t{24} << 20;

  std::mutex mutex_;
  std::multimap<size_t, Buffer> spare_;  // by capacity
  size_t kept_bytes_ = 0;
};

}  // namespace penstock
