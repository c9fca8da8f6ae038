/* Makes calls that read and write fail at random, as a bad disk does; loaded with LD_PRELOAD.
 *
 *   SOAK_FAULTS_BELOW   only files below this folder
 *   SOAK_FAULTS_SEED    where the random numbers begin
 *   SOAK_FAULTS_EVERY   one call in so many fails, on average
 *
 * Some reads and writes do not fail but take a part only, which every program must expect.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static atomic_ullong calls;

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* A number that depends on the seed and on how many calls there were before this one. */
static uint64_t draw(void) {
  const char *seed = getenv("SOAK_FAULTS_SEED");
  uint64_t value = (seed ? strtoull(seed, NULL, 10) : 0) * 0x9E3779B97F4A7C15u;
  value += atomic_fetch_add(&calls, 1) * 0xBF58476D1CE4E5B9u;
  value ^= value >> 30;
  value *= 0xBF58476D1CE4E5B9u;
  value ^= value >> 27;
  value *= 0x94D049BB133111EBu;
  return value ^ value >> 31;
}

static int is_below(const char *path) {
  const char *folder = getenv("SOAK_FAULTS_BELOW");
  return folder && path && strncmp(path, folder, strlen(folder)) == 0;
}

static int is_descriptor_below(int descriptor) {
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  const ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return is_below(path);
}

/* Whether this call is one of those that fail; `chosen` becomes another random number. */
static int strikes(uint64_t *chosen) {
  const char *every = getenv("SOAK_FAULTS_EVERY");
  const uint64_t value = draw();
  const uint64_t rate = every ? strtoull(every, NULL, 10) : 0;
  *chosen = value >> 32;
  return rate != 0 && (value & 0xffffffffu) % rate == 0;
}

static int fails_to_open(const char *path) {
  uint64_t chosen;
  if (!is_below(path) || !strikes(&chosen)) return 0;
  errno = (int[]){EMFILE, EIO, ENOSPC, EACCES}[chosen % 4];
  return 1;
}

/* 1: fails with errno set; 2: takes a part only. */
static int fails_on(int descriptor, int is_write, size_t count) {
  uint64_t chosen;
  if (!strikes(&chosen) || !is_descriptor_below(descriptor)) return 0;
  if (chosen % 3 == 0 && count > 1) return 2;
  errno = is_write && chosen % 2 ? ENOSPC : EIO;
  return 1;
}

#define OPEN(name)                                          \
  int name(const char *path, int flags, ...) {              \
    va_list rest;                                           \
    va_start(rest, flags);                                  \
    const mode_t mode = va_arg(rest, mode_t);               \
    va_end(rest);                                           \
    if (fails_to_open(path)) return -1;                     \
    return REAL(name)(path, flags, mode);                   \
  }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                        \
  int name(int folder, const char *path, int flags, ...) {  \
    va_list rest;                                           \
    va_start(rest, flags);                                  \
    const mode_t mode = va_arg(rest, mode_t);               \
    va_end(rest);                                           \
    if (fails_to_open(path)) return -1;                     \
    return REAL(name)(folder, path, flags, mode);           \
  }
OPENAT(openat)
OPENAT(openat64)

ssize_t read(int descriptor, void *bytes, size_t count) {
  const int fault = fails_on(descriptor, 0, count);
  if (fault == 1) return -1;
  return REAL(read)(descriptor, bytes, fault ? count / 2 : count);
}

ssize_t write(int descriptor, const void *bytes, size_t count) {
  const int fault = fails_on(descriptor, 1, count);
  if (fault == 1) return -1;
  return REAL(write)(descriptor, bytes, fault ? count / 2 : count);
}

#define PREAD(name, offset_type)                                                  \
  ssize_t name(int descriptor, void *bytes, size_t count, offset_type offset) {   \
    const int fault = fails_on(descriptor, 0, count);                             \
    if (fault == 1) return -1;                                                    \
    return REAL(name)(descriptor, bytes, fault ? count / 2 : count, offset);      \
  }
PREAD(pread, off_t)
PREAD(pread64, off64_t)

int fsync(int descriptor) {
  return fails_on(descriptor, 1, 0) == 1 ? -1 : REAL(fsync)(descriptor);
}

int fdatasync(int descriptor) {
  return fails_on(descriptor, 1, 0) == 1 ? -1 : REAL(fdatasync)(descriptor);
}

int ftruncate64(int descriptor, off64_t size) {
  return fails_on(descriptor, 1, 0) == 1 ? -1 : REAL(ftruncate64)(descriptor, size);
}

int rename(const char *from, const char *to) {
  uint64_t chosen;
  if (is_below(to) && strikes(&chosen)) {
    errno = chosen % 2 ? EIO : ENOSPC;
    return -1;
  }
  return REAL(rename)(from, to);
}
