// Mapped files that are cut short: zeros and a flag. Other faults go where they went before.
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

#include "base/map_guard.h"
#include "check.h"

using namespace penstock;

namespace {

constexpr size_t kPages = 64;
const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));

/// A file full of ones that is gone when the process ends.
class Mapped {
 public:
  Mapped() {
    char name[] = "/tmp/penstock-map-guard-XXXXXX";
    descriptor_ = ::mkstemp(name);
    CHECK(descriptor_ >= 0);
    ::unlink(name);
    const std::vector<uint8_t> ones(kPages * page, 1);
    CHECK(::write(descriptor_, ones.data(), ones.size()) == static_cast<ssize_t>(ones.size()));
    data_ = static_cast<uint8_t*>(
        ::mmap(nullptr, kPages * page, PROT_READ, MAP_SHARED, descriptor_, 0));
    CHECK(data_ != MAP_FAILED);
  }
  ~Mapped() {
    ::munmap(data_, kPages * page);
    ::close(descriptor_);
  }
  void cut(size_t pages) { CHECK(::ftruncate(descriptor_, static_cast<off_t>(pages * page)) == 0); }
  int at(size_t place) const { return const_cast<const volatile uint8_t*>(data_)[place]; }
  const uint8_t* data() const { return data_; }

 private:
  int descriptor_;
  uint8_t* data_;
};

/// How a child ends that does this.
template <class Body>
int status_of(Body body) {
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child == 0) {
    std::freopen("/dev/null", "w", stderr);  // a sanitizer's report of the fault
    body();
    ::_exit(0);
  }
  int status = 0;
  CHECK(::waitpid(child, &status, 0) == child);
  return status;
}

TEST(what_is_gone_reads_as_zeros) {
  Mapped file;
  const GuardedRange guard(file.data(), kPages * page);
  CHECK(file.at(0) == 1 && file.at(kPages * page - 1) == 1 && !guard.is_lost());
  file.cut(3);
  CHECK(file.at(3 * page - 1) == 1 && !guard.is_lost());
  CHECK(file.at(10 * page + 5) == 0 && guard.is_lost());
  CHECK(file.at(3 * page) == 0 && file.at(kPages * page - 1) == 0 && file.at(2 * page) == 1);
}

TEST(ranges_are_told_apart_and_used_again) {
  Mapped one, other;
  auto first = std::make_unique<GuardedRange>(one.data(), kPages * page);
  const GuardedRange second(other.data(), kPages * page);
  one.cut(0);
  CHECK(one.at(page) == 0 && first->is_lost() && !second.is_lost());
  mark_lost(other.data() + 7);
  CHECK(second.is_lost());
  first.reset();
  std::vector<std::unique_ptr<GuardedRange>> many;  // more than fit into a block
  for (size_t i = 0; i < 500; ++i)
    many.push_back(std::make_unique<GuardedRange>(one.data() + page * (i % kPages), page));
  CHECK(!many.front()->is_lost() && !many.back()->is_lost());
}

TEST(threads_may_meet_the_same_fault) {
  for (int round = 0; round < 20; ++round) {
    Mapped file;
    const GuardedRange guard(file.data(), kPages * page);
    std::atomic<bool> go{false};
    std::vector<std::thread> threads;
    for (size_t t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        while (!go) std::this_thread::yield();
        for (size_t i = 0; i < kPages; ++i) CHECK(file.at((t % 2 ? i : kPages - 1 - i) * page) < 2);
      });
    file.cut(kPages / 2);
    go = true;
    for (std::thread& thread : threads) thread.join();
    CHECK(guard.is_lost());
  }
}

TEST(a_forked_child_is_guarded_too) {
  Mapped file;
  const GuardedRange guard(file.data(), kPages * page);
  const int status = status_of([&] {
    file.cut(0);
    CHECK(file.at(0) == 0 && guard.is_lost());
  });
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  CHECK(!guard.is_lost());
}

void note_and_leave(int) { ::_exit(42); }

TEST(other_faults_go_to_the_handler_before) {
  Mapped file, other;
  const GuardedRange guard(file.data(), kPages * page);
  const auto fault = [&] {
    other.cut(0);
    other.at(0);
  };
  const int before = status_of(fault);
  CHECK(!WIFEXITED(before) || WEXITSTATUS(before) != 0);
  const int later = status_of([&] {
    ::signal(SIGBUS, note_and_leave);
    keep_map_guard_on_top();
    file.cut(0);
    CHECK(file.at(0) == 0 && guard.is_lost());
    fault();
  });
  CHECK(WIFEXITED(later) && WEXITSTATUS(later) == 42);
}

struct sigaction kept;

void call_the_kept_one(int number, siginfo_t* info, void* context) {
  if ((kept.sa_flags & SA_SIGINFO) != 0) kept.sa_sigaction(number, info, context);
}

TEST(a_handler_that_calls_ours_gets_the_fault_only_once) {
  Mapped file, other;
  const GuardedRange guard(file.data(), kPages * page);
  const int status = status_of([&] {
    struct sigaction theirs{};
    theirs.sa_sigaction = call_the_kept_one;
    theirs.sa_flags = SA_SIGINFO | SA_NODEFER;
    ::sigaction(SIGBUS, &theirs, &kept);
    keep_map_guard_on_top();
    other.cut(0);
    other.at(0);
  });
  CHECK(!WIFEXITED(status) || WEXITSTATUS(status) != 0);  // by the fault, or a sanitizer's report
}

TEST(a_signal_that_was_sent_ends_the_process) {
  Mapped file;
  const GuardedRange guard(file.data(), kPages * page);
  const int status = status_of([] { ::raise(SIGBUS); });
  CHECK(!WIFEXITED(status) || WEXITSTATUS(status) != 0);
}

}  // namespace
