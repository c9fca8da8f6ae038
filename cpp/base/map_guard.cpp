#include "base/map_guard.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace penstock {

/// Everything in it is read by the signal handler, so nothing takes a lock or is ever freed.
struct GuardSlot {
  std::atomic<bool> is_used{false};
  std::atomic<uintptr_t> begin{0};  // 0: not in use; set last, and cleared first
  std::atomic<uintptr_t> end{0};    // of the last page
  std::atomic<bool> is_lost{false};

  bool holds(uintptr_t address) const {
    const uintptr_t from = begin.load(), to = end.load();
    return from != 0 && from <= address && address < to && begin.load() == from;
  }
};

namespace {

struct Block {
  GuardSlot slots[128];
  std::atomic<Block*> next{nullptr};
};

Block first_block;
const auto page_bytes = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));

std::atomic<bool> is_installed{false};
std::atomic_flag is_installing = ATOMIC_FLAG_INIT;
// What to do about faults that are not ours. There are two, for another library may have kept our
// handler as the one to call after its own, and must not get the fault back from us.
struct sigaction before_first;
struct sigaction before_latest[2];
std::atomic<int> latest{0};
// The thread that has handed a fault to `before_latest`, 0 if none has.
std::atomic<uintptr_t> handing_on{0};

uintptr_t this_thread() { return (uintptr_t)::pthread_self(); }

GuardSlot* slot_of(uintptr_t address) {
  for (Block* block = &first_block; block != nullptr; block = block->next.load())
    for (GuardSlot& slot : block->slots)
      if (slot.holds(address)) return &slot;
  return nullptr;
}

/// Replaces whatever is mapped there.
bool map_zeros(uintptr_t from, size_t bytes) {
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE;
#ifdef SYS_mmap
  // Not through the library: ThreadSanitizer would take it for a write that nobody expects.
  return ::syscall(SYS_mmap, from, bytes, PROT_READ, kFlags, -1, 0) != -1;
#else
  return ::mmap(reinterpret_cast<void*>(from), bytes, PROT_READ, kFlags, -1, 0) != MAP_FAILED;
#endif
}

void call(const struct sigaction& action, int number, siginfo_t* info, void* context) {
  if (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN) {
    if (action.sa_handler == SIG_IGN && info->si_code <= 0) return;  // sent, and ignored
    // Restores the earlier action: a fault then happens again, and a sent signal is sent again.
    ::sigaction(number, &action, nullptr);
    if (info->si_code <= 0) ::raise(number);
    return;
  }
  sigset_t before;
  ::pthread_sigmask(SIG_BLOCK, &action.sa_mask, &before);
  if ((action.sa_flags & SA_SIGINFO) != 0)
    action.sa_sigaction(number, info, context);
  else
    action.sa_handler(number);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void handle(int number, siginfo_t* info, void* context) {
  const int error = errno;
  const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
  if (GuardSlot* slot = info->si_code > 0 ? slot_of(address) : nullptr; slot != nullptr) {
    // First, so that whoever sees the zeros sees this as well.
    slot->is_lost.store(true);
    const uintptr_t from = address & ~(page_bytes - 1);
    // Up to the end: page by page, a file that is read everywhere would need many mappings.
    const bool is_mapped = map_zeros(from, slot->end.load() - from);
    errno = error;
    if (is_mapped) return;
  }
  if (handing_on.load() == this_thread()) {
    call(before_first, number, info, context);
  } else {
    handing_on.store(this_thread());
    call(before_latest[latest.load()], number, info, context);
    handing_on.store(0);
  }
  errno = error;
}

void install() {
  if (is_installing.test_and_set()) return;  // another thread is at it
  struct sigaction current;
  ::sigaction(SIGBUS, nullptr, &current);
  const bool is_ours = (current.sa_flags & SA_SIGINFO) != 0 && current.sa_sigaction == handle;
  if (!is_ours) {
    const int next = 1 - latest.load();
    before_latest[next] = current;
    if (!is_installed.load()) {
      before_first = current;
      ::pthread_atfork(nullptr, nullptr, [] { is_installing.clear(); });
    }
    latest.store(next);
    struct sigaction ours{};
    ours.sa_sigaction = handle;
    // SA_NODEFER: a handler that is handed a fault may raise the signal again to end the process.
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    ::sigemptyset(&ours.sa_mask);
    ::sigaction(SIGBUS, &ours, nullptr);
    is_installed.store(true);
  }
  is_installing.clear();
}

GuardSlot* take_slot() {
  for (Block* block = &first_block;;) {
    for (GuardSlot& slot : block->slots)
      if (!slot.is_used.load() && !slot.is_used.exchange(true)) return &slot;
    Block* next = block->next.load();
    if (next == nullptr) {
      auto* added = new Block;
      if (block->next.compare_exchange_strong(next, added))
        next = added;
      else
        delete added;  // `next` is another thread's
    }
    block = next;
  }
}

}  // namespace

GuardedRange::GuardedRange(const void* begin, size_t bytes) : slot_(take_slot()) {
  slot_->is_lost.store(false);
  install();
  const uintptr_t end = reinterpret_cast<uintptr_t>(begin) + bytes;
  slot_->end.store((end + page_bytes - 1) & ~(page_bytes - 1));
  slot_->begin.store(reinterpret_cast<uintptr_t>(begin));
}

GuardedRange::~GuardedRange() {
  slot_->begin.store(0);
  slot_->is_used.store(false);
}

bool GuardedRange::is_lost() const { return slot_->is_lost.load(); }

void keep_map_guard_on_top() {
  if (is_installed.load(std::memory_order_relaxed)) install();
}

void mark_lost(const void* address) {
  if (GuardSlot* slot = slot_of(reinterpret_cast<uintptr_t>(address))) slot->is_lost.store(true);
}

}  // namespace penstock
