// Batch memory that is reused: taken, filled, handed to the user, taken back when they release it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace penstock {

/// Page-aligned memory for one batch. Fresh pages cost a fault each, so they are kept.
class BatchMemory {
 public:
  explicit BatchMemory(size_t bytes);
  /// Memory that belongs to somebody else, who keeps it until this object is gone.
  BatchMemory(uint8_t* borrowed, size_t bytes) : data_(borrowed), bytes_(bytes), owned_(false) {}
  ~BatchMemory();
  BatchMemory(const BatchMemory&) = delete;
  BatchMemory& operator=(const BatchMemory&) = delete;

  uint8_t* data() const { return data_; }
  size_t bytes() const { return bytes_; }

 private:
  uint8_t* data_;
  size_t bytes_;
  bool owned_ = true;
};

/// Hands out batch memory and takes it back when the last reference is dropped,
/// which may be long after the loader (and this ring) are gone.
class BatchRing : public std::enable_shared_from_this<BatchRing> {
 public:
  /// Keeps at most `most_idle` buffers, and frees more that come back after a user held many.
  explicit BatchRing(size_t most_idle) : most_idle_(most_idle) {}

  struct Lease {
    std::shared_ptr<BatchMemory> memory;
    bool fresh;  // never handed out before
  };

  /// Memory of at least `bytes`, contents unspecified.
  Lease take(size_t bytes);

  /// How many buffers are waiting to be taken, and how many were ever made.
  size_t idle() const;
  size_t made() const;

 private:
  void give_back(std::unique_ptr<BatchMemory> memory);

  const size_t most_idle_;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<BatchMemory>> idle_;
  size_t made_ = 0;
};

}  // namespace penstock
