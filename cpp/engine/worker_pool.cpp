#include "engine/worker_pool.h"

#include <pthread.h>
#include <signal.h>

#include <utility>

namespace penstock {
namespace {

/// Threads started while this lives inherit a mask without signals, so that Ctrl-C and the like
/// reach Python's main thread and never interrupt a worker's system call.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    // What a thread does itself is no interruption; blocked, a fault would end the process even
    // where there is a handler (base/map_guard.h).
    for (const int fault : {SIGBUS, SIGSEGV, SIGFPE, SIGILL}) sigdelset(&all, fault);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

}  // namespace

WorkerPool::WorkerPool(int threads, Task before_rest) : before_rest_(std::move(before_rest)) {
  const SignalsBlocked quiet;
  threads_.reserve(static_cast<size_t>(threads));
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this, i] { work(i); });
}

WorkerPool::~WorkerPool() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    queue_ = {};
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void WorkerPool::submit(uint64_t rank, Task task) {
  {
    const std::lock_guard lock(mutex_);
    queue_.push({rank, arrivals_++, std::move(task)});
  }
  wake_.notify_one();
}

void WorkerPool::work(int worker) {
  for (;;) {
    Task task;
    {
      std::unique_lock lock(mutex_);
      if (before_rest_ && queue_.empty()) {
        lock.unlock();
        before_rest_(worker);
        lock.lock();
      }
      wake_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
      if (stopping_) return;
      // top() is const only to protect the order, which the pop right behind makes irrelevant.
      task = std::move(const_cast<Entry&>(queue_.top()).task);
      queue_.pop();
    }
    task(worker);
  }
}

}  // namespace penstock
