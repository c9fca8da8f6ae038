// Remembers where the rows of files begin, from one epoch to the next.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_map>

#include "codec/row_starts.h"

namespace penstock {

/// Which file it is, and which of its contents. Writing to a file changes its time of change, which
/// nobody can set; where two writes may have got the same time, the version is unknown.
struct FileVersion {
  uint64_t device = 0;
  uint64_t inode = 0;
  uint64_t size = 0;
  int64_t changed_ns = 0;  // 0: unknown

  bool operator==(const FileVersion&) const = default;
  bool is_known() const { return changed_ns != 0; }
};

/// What `status`, taken before the file was read, says about it.
FileVersion version_of(const struct stat& status);

/// At most so many bytes. When they are used up, nothing new is kept: every epoch asks for every
/// file once, so nothing that is there is worth less than what is not. Any thread may ask.
class RowMemory {
 public:
  explicit RowMemory(size_t bytes) : bytes_left_(bytes), is_used_(bytes > 0) {}

  bool may_know(const FileVersion& version) const { return is_used_ && version.is_known(); }
  /// Makes `rows` what was kept of the file; nothing, if there is nothing.
  void recall(RowStarts& rows, const FileVersion& version);
  void keep(const FileVersion& version, const RowStarts& rows);

  /// Calls `decode` with what is kept of the file in `rows`, to which it may append; null for a
  /// file that nothing can be kept of.
  template <class Decode>
  auto with_rows(RowStarts& rows, const FileVersion& version, Decode decode) {
    if (!may_know(version)) return decode(static_cast<RowStarts*>(nullptr));
    recall(rows, version);
    const size_t known = rows.size();
    auto result = decode(&rows);
    if (rows.size() > known) keep(version, rows);
    return result;
  }

 private:
  struct Hash {
    size_t operator()(const FileVersion& version) const;
  };

  std::mutex mutex_;
  std::unordered_map<FileVersion, RowStarts, Hash> known_;
  size_t bytes_left_;
  const bool is_used_;
};

}  // namespace penstock
