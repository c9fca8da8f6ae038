// Recycled scratch memory: grows when it must, never shrinks, never cleared.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <new>
#include <utility>

namespace penstock {

/// 64-byte aligned memory that keeps its size between samples, so that a worker stops allocating
/// (and stops taking page faults) after its first few images.
class Buffer {
 public:
  Buffer() = default;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  Buffer(Buffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), capacity_(std::exchange(other.capacity_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(capacity_, other.capacity_);
    return *this;
  }
  ~Buffer() { std::free(data_); }

  /// At least `bytes` bytes; earlier contents are lost when the buffer has to grow.
  template <class T = uint8_t>
  T* reserve(size_t count) {
    const size_t bytes = count * sizeof(T);
    if (bytes > capacity_) grow(bytes);
    return static_cast<T*>(data_);
  }

  template <class T = uint8_t>
  T* data() const {
    return static_cast<T*>(data_);
  }
  size_t capacity() const { return capacity_; }
  bool holds(const void* address) const {
    const auto* first = static_cast<const uint8_t*>(data_);
    return std::less_equal<>()(first, static_cast<const uint8_t*>(address)) &&
           std::less<>()(static_cast<const uint8_t*>(address), first + capacity_);
  }

 private:
  void grow(size_t bytes) {
    // Beyond this the tables of small pages do not fit a core's own, and each new row of a large
    // image waits for a page to be looked up.
    constexpr size_t kLarge = size_t{8} << 20, kLargePage = size_t{2} << 20;
    const size_t page = bytes >= kLarge ? kLargePage : 4096;
    const size_t grown = (bytes + bytes / 4 + page - 1) & ~(page - 1);
    std::free(data_);
    data_ = nullptr;
    capacity_ = 0;
    data_ = std::aligned_alloc(bytes >= kLarge ? page : 64, grown);
    if (data_ == nullptr) throw std::bad_alloc();
    capacity_ = grown;
#ifdef MADV_HUGEPAGE
    if (bytes >= kLarge) (void)madvise(data_, grown, MADV_HUGEPAGE);  // a wish, which may be denied
#endif
  }

  void* data_ = nullptr;
  size_t capacity_ = 0;
};

}  // namespace penstock
