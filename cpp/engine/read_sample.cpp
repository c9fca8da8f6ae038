#include "engine/read_sample.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <new>
#include <string>

#include "base/error.h"
#include "base/map_guard.h"

namespace penstock {
namespace {

// ---- files --------------------------------------------------------------------------------------

// Larger files are not photos; they are left to Pillow, which reads them piece by piece.
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

/// Reads the file if it starts like a JPEG, and leaves it unread otherwise. Returns what is wrong
/// with it, or nothing. The buffer has slack behind the last byte.
std::string read_if_jpeg(Sample& sample, SpareBuffers& spare) {
  File file(sample.path);
  struct stat status{};
  if (!file.is_open() || ::fstat(file.descriptor(), &status) != 0)
    return problem_of("cannot be opened");
  if (S_ISDIR(status.st_mode)) return "is a folder, not a file";
  if (!S_ISREG(status.st_mode))
    return std::string("is ") + kind_of(status.st_mode) + ", not a regular file";
  if (status.st_size == 0) return "is empty (0 bytes)";

  uint8_t start[sizeof kJpegStart] = {};
  if (file.read(start, sizeof start) < 0) return problem_of("cannot be read");
  if (std::memcmp(start, kJpegStart, sizeof start) != 0 || status.st_size > kLargestFile) return {};

  const auto size = static_cast<size_t>(status.st_size);
  uint8_t* bytes;
  try {
    sample.bytes = spare.take(size + kRowSlack);
    bytes = sample.bytes.reserve(size + kRowSlack);
  } catch (const std::bad_alloc&) {
    throw ResourceError(
        "needs " + std::to_string(size) + " bytes of memory, which are not to be had", ENOMEM);
  }
  std::memcpy(bytes, start, sizeof start);
  const ssize_t rest = file.read(bytes + sizeof start, size - sizeof start);
  if (rest < 0) return problem_of("cannot be read");
  sample.version = version_of(status);
  sample.encoded = {bytes, sizeof start + static_cast<size_t>(rest)};
  return {};
}

// ---- mapped memory ------------------------------------------------------------------------------

/// Reads a byte of each page. A page that is gone becomes zeros: see base/map_guard.h.
void touch(std::span<const uint8_t> mapped, size_t page) {
  for (size_t i = 0; i < mapped.size(); i += page)
    (void)*static_cast<const volatile uint8_t*>(&mapped[i]);
  (void)*static_cast<const volatile uint8_t*>(&mapped.back());
}

/// Brings mapped bytes into memory with reads as large as the range, so that whoever uses them next
/// waits for no page. Returns what is wrong, or nothing.
std::string make_resident(std::span<const uint8_t> mapped) {
  if (mapped.empty()) return {};
  // The kernel reads around a page that is touched; to ask it about so few takes longer than that,
  // if they are there.
  constexpr size_t kFewBytes = 8192, kSmallestPage = 4096;
  if (mapped.size() <= kFewBytes) {
    touch(mapped, kSmallestPage);
    return {};
  }
#ifdef MADV_POPULATE_READ
  // Unlike touching the pages, this fails with an error where the file has become too short.
  const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<uintptr_t>(mapped.data()) & ~(page - 1);
  const auto end = reinterpret_cast<uintptr_t>(mapped.data() + mapped.size());
  if (::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_POPULATE_READ) == 0 ||
      errno == EINVAL)  // a kernel before 5.14: pages come when they are used
    return {};
  const int reason = errno;
  if (reason == ENOMEM)
    throw ResourceError("cannot be read from the packed file: there is not enough memory", ENOMEM);
  mark_lost(mapped.data());
  return std::string("cannot be read from the packed file (") + std::strerror(reason) + ")";
#else
  return {};
#endif
}

void read_header(Sample& sample) {
  sample.header = std::make_unique<JpegHeader>(read_jpeg_header(sample.encoded));
  sample.height = sample.header->height;
  sample.width = sample.header->width;
}

void leave_to_pillow(Sample& sample, const char* reason) {
  sample.header = std::make_unique<JpegHeader>();
  sample.header->reason = reason;
}

/// The image must be the one that the index promised, for steps were made for its size.
std::string other_size(int height, int width, int said_height, int said_width) {
  return "is " + std::to_string(height) + "x" + std::to_string(width) + ", but the index says " +
         std::to_string(said_height) + "x" + std::to_string(said_width);
}

/// The tiles that rows [top, top + height) of the image depend on, upsampling included.
std::span<const uint8_t> tiles_of(const TileImage& image, const Region& rows) {
  const TileGrid& grid = image.grid();
  const int unit = 8 * grid.factors[0].vertical;
  const int tile_height = unit * grid.tile_mcu_rows;
  const int first = std::max(0, rows.top - unit) / tile_height;
  const int last = std::min(grid.rows() - 1, (rows.top + rows.height + unit) / tile_height);
  const uint8_t* begin = image.tile_row(first);
  return {begin, std::max(begin, image.tile_row(last + 1))};
}

std::string read_tiles(Sample& sample, const Region& rows, int height, int width) {
  // Header and table first, to learn which tiles; a table beyond this takes its page faults here.
  constexpr size_t kUsualTable = 4096;
  const auto start = sample.encoded.first(std::min(sample.encoded.size(), kUsualTable));
  if (std::string problem = make_resident(start); !problem.empty()) return problem;
  sample.tiles = std::make_unique<TileImage>();
  const TileImage& tiles = *sample.tiles;
  if (const char* problem = sample.tiles->parse(sample.encoded)) return problem;
  if (tiles.height() != height || tiles.width() != width)
    return other_size(tiles.height(), tiles.width(), height, width);
  return make_resident(tiles_of(tiles, rows));
}

std::string read_jpeg(Sample& sample, int height, int width) {
  if (std::string problem = make_resident(sample.encoded); !problem.empty()) return problem;
  read_header(sample);
  if (sample.header->route == Route::pillow || (sample.height == height && sample.width == width))
    return {};
  return other_size(sample.height, sample.width, height, width);
}

std::string read_raw(Sample& sample, const Region& rows, int height, int width) {
  const auto row_bytes = size_t{3} * static_cast<size_t>(width);
  if (sample.encoded.size() < row_bytes * static_cast<size_t>(height))
    return "has too few bytes for its size";
  sample.rgb = sample.encoded.data();
  sample.rgb_stride = static_cast<ptrdiff_t>(row_bytes);
  return make_resident(sample.encoded.subspan(row_bytes * static_cast<size_t>(rows.top),
                                              row_bytes * static_cast<size_t>(rows.height)));
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

void read_mapped(Sample& sample, const Region& rows) {
  const int height = sample.height, width = sample.width;
  switch (sample.storage) {
    case Storage::jpeg:
      sample.problem = read_jpeg(sample, height, width);
      return;
    case Storage::dct:
      sample.problem = read_tiles(sample, rows, height, width);
      return;
    case Storage::raw:
      sample.problem = read_raw(sample, rows, height, width);
      return;
    case Storage::deflated:
      sample.problem = make_resident(sample.encoded);
      return;
  }
  sample.problem = "is stored in a way this version does not read";
}

void read_file(Sample& sample, SpareBuffers& spare) {
  sample.problem = read_if_jpeg(sample, spare);
  if (!sample.problem.empty()) return;
  if (!sample.encoded.empty()) return read_header(sample);
  leave_to_pillow(sample, "not a JPEG");
}

}  // namespace penstock
