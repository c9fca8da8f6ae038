#include "engine/chunk.h"

namespace penstock {

bool Chunk::wait_for(std::chrono::duration<double> timeout) {
  std::unique_lock lock(mutex_);
  return idle_.wait_for(lock, timeout, [this] { return under_way_ == 0; });
}

void Chunk::wait() {
  std::unique_lock lock(mutex_);
  idle_.wait(lock, [this] { return under_way_ == 0; });
}

void Chunk::begin(int tasks) {
  const std::lock_guard lock(mutex_);
  under_way_ += tasks;
}

void Chunk::finish_one() {
  // Notified under the lock: the waiter may destroy the chunk as soon as it sees the count.
  const std::lock_guard lock(mutex_);
  if (--under_way_ == 0) idle_.notify_all();
}

}  // namespace penstock
