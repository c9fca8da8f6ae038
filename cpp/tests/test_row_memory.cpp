// What is remembered of files: of the very bytes that were read, and no more than is allowed.
#include <ctime>

#include "check.h"
#include "engine/row_memory.h"

using namespace penstock;

namespace {

struct stat status_of(ino_t inode, off_t size, time_t age_s) {
  struct stat status{};
  status.st_dev = 7;
  status.st_ino = inode;
  status.st_size = size;
  ::clock_gettime(CLOCK_REALTIME, &status.st_ctim);
  status.st_ctim.tv_sec -= age_s;
  return status;
}

RowStarts rows(size_t count) {
  RowStarts starts(count);
  for (size_t i = 0; i < count; ++i) starts[i].bit = static_cast<uint32_t>(100 * i);
  return starts;
}

size_t known(RowMemory& memory, const FileVersion& version) {
  RowStarts found(3);  // of the file before
  memory.recall(found, version);
  return found.size();
}

TEST(what_has_just_changed_is_not_known) {
  RowMemory memory(1 << 20);
  CHECK(!memory.may_know(version_of(status_of(1, 100, 0))));
  CHECK(!memory.may_know(version_of(status_of(1, 100, 1))));
  CHECK(!memory.may_know(version_of(status_of(1, 100, -60))));  // by a clock that is ahead
  CHECK(memory.may_know(version_of(status_of(1, 100, 60))));
}

TEST(every_change_is_another_version) {
  RowMemory memory(1 << 20);
  const FileVersion version = version_of(status_of(1, 100, 60));
  memory.keep(version, rows(5));
  CHECK(known(memory, version) == 5);
  CHECK(known(memory, version_of(status_of(2, 100, 60))) == 0);
  CHECK(known(memory, version_of(status_of(1, 101, 60))) == 0);
  CHECK(known(memory, version_of(status_of(1, 100, 59))) == 0);
  struct stat elsewhere = status_of(1, 100, 60);
  elsewhere.st_dev = 8;
  CHECK(known(memory, version_of(elsewhere)) == 0);
}

TEST(more_rows_replace_fewer) {
  RowMemory memory(1 << 20);
  const FileVersion version = version_of(status_of(1, 100, 60));
  memory.keep(version, rows(5));
  memory.keep(version, rows(2));
  CHECK(known(memory, version) == 5);
  memory.keep(version, rows(9));
  CHECK(known(memory, version) == 9);
  RowStarts found;
  memory.recall(found, version);
  CHECK(found[8].bit == 800);
}

TEST(memory_has_an_end) {
  RowMemory memory(1000);
  const FileVersion first = version_of(status_of(1, 100, 60));
  const FileVersion second = version_of(status_of(2, 100, 60));
  memory.keep(first, rows(60));
  CHECK(known(memory, first) == 0);
  memory.keep(first, rows(20));
  CHECK(known(memory, first) == 20);
  memory.keep(second, rows(40));
  CHECK(known(memory, second) == 0);
  memory.keep(second, rows(10));
  CHECK(known(memory, first) == 20 && known(memory, second) == 10);
}

TEST(nothing_is_known_without_memory) {
  CHECK(!RowMemory(0).may_know(version_of(status_of(1, 100, 60))));
}

}  // namespace
