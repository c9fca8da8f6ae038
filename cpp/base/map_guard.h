// Mapped files that become shorter, or unreadable, while they are read: zeros instead of SIGBUS.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace penstock {

/// A mapped range of a file. If reading it faults, because the file was cut short or its disk is
/// gone, everything from that page on becomes zeros, reading goes on, and the range is `lost`.
/// Whoever reads it must check `lost` afterwards, and discard what was read if it is set.
///
/// The first one installs a handler of SIGBUS for the process. Faults elsewhere go to the handler
/// that was there before. Works in forked children as well.
class GuardedRange {
 public:
  GuardedRange(const void* begin, size_t bytes);
  /// The memory must still be mapped.
  ~GuardedRange();
  GuardedRange(const GuardedRange&) = delete;
  GuardedRange& operator=(const GuardedRange&) = delete;

  bool is_lost() const;

 private:
  struct GuardSlot* slot_;
};

/// Installs the handler again if another library has installed its own since. Costs one cheap
/// system call. Does nothing before the first GuardedRange.
void keep_map_guard_on_top();

/// Marks the range around `address` as lost, if there is one: for losses found without a fault.
void mark_lost(const void* address);

}  // namespace penstock
