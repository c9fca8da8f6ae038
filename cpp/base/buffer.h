// Recycled scratch memory: grows when it must, never shrinks, never cleared.
#pragma once

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
    if (bytes > capacity_) {
      const size_t grown = (bytes + bytes / 4 + 4095) & ~size_t{4095};
      std::free(data_);
      data_ = nullptr;
      capacity_ = 0;
      data_ = std::aligned_alloc(64, grown);
      if (data_ == nullptr) throw std::bad_alloc();
      capacity_ = grown;
    }
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
  void* data_ = nullptr;
  size_t capacity_ = 0;
};

}  // namespace penstock
