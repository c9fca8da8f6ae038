// A fixed set of threads that run tasks in the order of their batches.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <queue>
#include <thread>
#include <vector>

namespace penstock {

/// Runs tasks on `threads` threads; a task learns which one it is on, to find its scratch.
///
/// Tasks of an earlier batch go first, so that the batch somebody waits for is not delayed by
/// later ones. Destruction drops the tasks that have not begun and waits for those that have.
class WorkerPool {
 public:
  using Task = std::function<void(int worker)>;

  /// Starts a thread that runs what it is given; throws std::system_error if that cannot be done.
  using Start = std::function<std::thread(std::function<void()>)>;

  /// A thread that finds no task calls `before_rest`, if there is one, and looks again.
  /// Throws ResourceError if not all threads can be started; those that were have ended by then.
  explicit WorkerPool(int threads, Task before_rest = {}, const Start& start = start_thread);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  int threads() const { return static_cast<int>(threads_.size()); }

  /// Tasks of equal `rank` run in the order in which they came.
  void submit(uint64_t rank, Task task);

  /// Runs what was submitted to its end, then ends the threads. Nothing may be submitted after it.
  void finish();

 private:
  struct Entry {
    uint64_t rank;
    uint64_t arrival;
    Task task;
    bool operator<(const Entry& other) const {
      return rank != other.rank ? rank > other.rank : arrival > other.arrival;
    }
  };

  static std::thread start_thread(std::function<void()> work);
  void work(int worker);
  void stop();
  void join();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::priority_queue<Entry> queue_;
  uint64_t arrivals_ = 0;
  bool stopping_ = false;   // at once
  bool finishing_ = false;  // when there is no task left
  const Task before_rest_;
  std::vector<std::thread> threads_;
};

}  // namespace penstock
