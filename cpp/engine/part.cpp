#include "engine/part.h"

namespace penstock {

bool Part::wait_for(std::chrono::duration<double> timeout) {
  std::unique_lock lock(mutex_);
  return idle_.wait_for(lock, timeout, [this] { return under_way_ == 0; });
}

void Part::wait() {
  std::unique_lock lock(mutex_);
  idle_.wait(lock, [this] { return under_way_ == 0; });
}

void Part::begin(int tasks) {
  const std::lock_guard lock(mutex_);
  under_way_ += tasks;
}

void Part::finish_one() {
  // Notified under the lock: the waiter may destroy the part as soon as it sees the count.
  const std::lock_guard lock(mutex_);
  if (--under_way_ == 0) idle_.notify_all();
}

}  // namespace penstock
