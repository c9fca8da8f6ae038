/* Preloaded into child processes: a system whose threads and files fail when the test says so. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Threads that can still be started; -1: any number. */
int faulty_threads_left = -1;

/* Calls on paths that contain `faulty_path` fail with these; 0: they work. */
char faulty_path[256];
int faulty_open_errno = 0;
int faulty_read_errno = 0;

typedef int (*create_call)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
typedef int (*open_call)(const char*, int, ...);
typedef int (*openat_call)(int, const char*, int, ...);
typedef DIR* (*opendir_call)(const char*);
typedef ssize_t (*read_call)(int, void*, size_t);

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*work)(void*),
                   void* argument) {
  if (faulty_threads_left == 0) return EAGAIN;
  if (faulty_threads_left > 0) --faulty_threads_left;
  return ((create_call)dlsym(RTLD_NEXT, "pthread_create"))(thread, attributes, work, argument);
}

static int open_fails(const char* path) {
  if (!faulty_open_errno || !faulty_path[0] || !strstr(path, faulty_path)) return 0;
  errno = faulty_open_errno;
  return 1;
}

#define OPEN(name)                                                  \
  int name(const char* path, int flags, ...) {                      \
    va_list more;                                                   \
    va_start(more, flags);                                          \
    const int mode = va_arg(more, int);                             \
    va_end(more);                                                   \
    if (open_fails(path)) return -1;                                \
    return ((open_call)dlsym(RTLD_NEXT, #name))(path, flags, mode); \
  }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                          \
  int name(int folder, const char* path, int flags, ...) {                    \
    va_list more;                                                             \
    va_start(more, flags);                                                    \
    const int mode = va_arg(more, int);                                       \
    va_end(more);                                                             \
    if (open_fails(path)) return -1;                                          \
    return ((openat_call)dlsym(RTLD_NEXT, #name))(folder, path, flags, mode); \
  }
OPENAT(openat)
OPENAT(openat64)

DIR* opendir(const char* path) {
  if (open_fails(path)) return NULL;
  return ((opendir_call)dlsym(RTLD_NEXT, "opendir"))(path);
}

ssize_t read(int file, void* target, size_t size) {
  if (faulty_read_errno && faulty_path[0]) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    const ssize_t length = readlink(link, path, sizeof path - 1);
    if (length > 0) {
      path[length] = 0;
      if (strstr(path, faulty_path)) {
        errno = faulty_read_errno;
        return -1;
      }
    }
  }
  return ((read_call)dlsym(RTLD_NEXT, "read"))(file, target, size);
}
