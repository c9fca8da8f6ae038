#include "engine/read_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>

#include "base/error.h"
#include "base/image.h"

namespace penstock {
namespace {

// Larger files are not photos; Pillow may have them, a piece at a time.
constexpr off_t kLargestFile = off_t{1} << 30;

constexpr uint8_t kJpegStart[] = {0xFF, 0xD8, 0xFF};

class File {
 public:
  explicit File(const std::string& path) {
    do {
      // Without O_NONBLOCK, opening a FIFO would wait for somebody to write to it, without end.
      descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    } while (descriptor_ < 0 && errno == EINTR);
  }
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  bool is_open() const { return descriptor_ >= 0; }
  int descriptor() const { return descriptor_; }

  /// Reads until `size` bytes are there or the file ends; -1 on error.
  ssize_t read(uint8_t* target, size_t size) {
    size_t got = 0;
    while (got < size) {
      const ssize_t n = ::read(descriptor_, target + got, size - got);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return -1;
      if (n == 0) break;
      got += static_cast<size_t>(n);
    }
    return static_cast<ssize_t>(got);
  }

 private:
  int descriptor_;
};

/// Says why a call failed; throws where that is the machine's fault and not the file's.
std::string problem_of(const char* what) {
  const int code = errno;
  std::string problem = std::string(what) + " (" + std::strerror(code) + ")";
  if (is_of_the_machine(code)) throw ResourceError(problem, code);
  return problem;
}

const char* kind_of(mode_t mode) {
  if (S_ISFIFO(mode)) return "a FIFO";
  return S_ISSOCK(mode) ? "a socket" : "a device";
}

}  // namespace

bool is_of_the_machine(int code) {
  switch (code) {
    case EMFILE:  // open files of the process, and of the system
    case ENFILE:
    case ENOMEM:
    case ENOBUFS:
    case EAGAIN:
    case EINTR:
    case EIO:  // a disk or a network that does not answer
    case ESTALE:
    case ETIMEDOUT:
    case ENOTCONN:
    case ECONNRESET:
    case ECONNABORTED:
    case ENETDOWN:
    case ENETUNREACH:
    case EHOSTDOWN:
    case EHOSTUNREACH:
      return true;
    default:
      return false;
  }
}

ReadResult read_jpeg_file(Buffer& buffer, const std::string& path) {
  ReadResult result;
  File file(path);
  struct stat status{};
  if (!file.is_open() || ::fstat(file.descriptor(), &status) != 0) {
    result.problem = problem_of("cannot be opened");
    return result;
  }
  if (S_ISDIR(status.st_mode)) {
    result.problem = "is a folder, not a file";
    return result;
  }
  if (!S_ISREG(status.st_mode)) {
    result.problem = std::string("is ") + kind_of(status.st_mode) + ", not a regular file";
    return result;
  }
  if (status.st_size == 0) {
    result.problem = "is empty (0 bytes)";
    return result;
  }

  uint8_t start[sizeof kJpegStart] = {};
  if (file.read(start, sizeof start) < 0) {
    result.problem = problem_of("cannot be read");
    return result;
  }
  if (std::memcmp(start, kJpegStart, sizeof start) != 0 || status.st_size > kLargestFile)
    return result;

  const auto size = static_cast<size_t>(status.st_size);
  uint8_t* bytes;
  try {
    bytes = buffer.reserve(size + kRowSlack);
  } catch (const std::bad_alloc&) {
    throw ResourceError(
        "needs " + std::to_string(size) + " bytes of memory, which are not to be had", ENOMEM);
  }
  std::memcpy(bytes, start, sizeof start);
  const ssize_t rest = file.read(bytes + sizeof start, size - sizeof start);
  if (rest < 0) {
    result.problem = problem_of("cannot be read");
    return result;
  }
  result.size = sizeof start + static_cast<size_t>(rest);
  result.is_jpeg = true;
  return result;
}

}  // namespace penstock
