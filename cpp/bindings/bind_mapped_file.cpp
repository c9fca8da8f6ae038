#include <fcntl.h>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/map_guard.h"
#include "bindings/bind.h"

namespace nb = nanobind;
using namespace nb::literals;
using namespace penstock;

namespace {

[[noreturn]] void raise_system_error() {
  PyErr_SetFromErrno(PyExc_OSError);
  throw nb::python_error();
}

/// What tells whether a file was written to since.
struct Stamp {
  ino_t file = 0;
  off_t size = 0;
  timespec written{};

  static Stamp of(const struct stat& status) {
    return {status.st_ino, status.st_size, status.st_mtim};
  }
  bool operator==(const Stamp& other) const {
    return file == other.file && size == other.size && written.tv_sec == other.written.tv_sec &&
           written.tv_nsec == other.written.tv_nsec;
  }
};

enum class FileState : char { as_it_was = 0, gone = 1, changed = 2 };

/// A file, mapped for reading as long as it is (which must be a byte or more) and guarded.
class MappedFile {
 public:
  /// The caller may close the descriptor afterwards: with `keep_open`, this has one of its own.
  /// At least `spare` bytes, at most a page, can be read behind the file's.
  MappedFile(int descriptor, bool keep_open, size_t spare, std::string path)
      : path_(std::move(path)) {
    struct stat status{};
    if (::fstat(descriptor, &status) != 0) raise_system_error();
    stamp_ = Stamp::of(status);
    size_ = static_cast<size_t>(status.st_size);
    map(descriptor, spare);
    if (keep_open) descriptor_ = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    if (keep_open && descriptor_ < 0) {
      const int reason = errno;
      ::munmap(data_, mapped_);
      errno = reason;
      raise_system_error();
    }
    guard_ = std::make_unique<GuardedRange>(data_, size_);
  }
  ~MappedFile() {
    guard_.reset();
    ::munmap(data_, mapped_);
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  int descriptor() const { return descriptor_; }
  bool is_lost() const { return guard_->is_lost(); }
  const uint8_t* data() const { return static_cast<const uint8_t*>(data_); }
  size_t size() const { return size_; }

  /// Asks the system to read the pages of these places, all of them before the first is there. A
  /// hint: failures do not matter, and places outside the file are left out.
  void will_need(std::vector<int64_t> places) const {
    const auto page = static_cast<int64_t>(::sysconf(_SC_PAGESIZE));
    for (int64_t& place : places) place /= page;
    std::ranges::sort(places);
    const auto repeated = std::ranges::unique(places);
    places.erase(repeated.begin(), repeated.end());
    for (const int64_t number : places) {
      const int64_t begin = number * page;
      if (begin < 0 || begin >= static_cast<int64_t>(size_)) continue;
      ::madvise(static_cast<char*>(data_) + begin, static_cast<size_t>(page), MADV_WILLNEED);
    }
  }

  /// What became of the file of its path. One that is gone can still be read here as it was.
  FileState state() const {
    if (is_lost()) return FileState::changed;
    struct stat status{};
    if (::lstat(path_.c_str(), &status) != 0) return FileState::gone;
    const Stamp now = Stamp::of(status);
    if (now.file != stamp_.file) return FileState::gone;
    return now == stamp_ ? FileState::as_it_was : FileState::changed;
  }

 private:
  void map(int descriptor, size_t spare) {
    const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
    mapped_ = (size_ + page - 1) / page * page;
    // The rest of the last page is zeros; where that is too little, a page of zeros follows.
    const bool needs_more = mapped_ - size_ < spare;
    if (needs_more) mapped_ += page;
    const int kind = needs_more ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
    data_ = ::mmap(nullptr, needs_more ? mapped_ : size_, PROT_READ, kind,
                   needs_more ? -1 : descriptor, 0);
    if (data_ == MAP_FAILED) raise_system_error();
    if (!needs_more) return;
    if (::mmap(data_, size_, PROT_READ, MAP_SHARED | MAP_FIXED, descriptor, 0) == MAP_FAILED) {
      const int reason = errno;
      ::munmap(data_, mapped_);
      errno = reason;
      raise_system_error();
    }
  }

  std::string path_;
  int descriptor_ = -1;
  void* data_ = nullptr;
  size_t size_ = 0;
  size_t mapped_ = 0;  // with what is behind it
  Stamp stamp_;
  std::unique_ptr<GuardedRange> guard_;
};

/// What became of each file; holds no lock of Python's meanwhile, for disks may be slow.
nb::bytes file_states(const nb::list& files) {
  std::vector<const MappedFile*> asked;
  asked.reserve(files.size());
  for (const nb::handle file : files) asked.push_back(&nb::cast<const MappedFile&>(file));
  std::string states(asked.size(), '\0');
  {
    const nb::gil_scoped_release release;
    for (size_t i = 0; i < asked.size(); ++i) states[i] = static_cast<char>(asked[i]->state());
  }
  return nb::bytes(states.data(), states.size());
}

using Bytes = nb::ndarray<nb::numpy, const uint8_t, nb::ndim<1>>;
using Places = nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

}  // namespace

void penstock::bind_mapped_file(nb::module_& m) {
  nb::class_<MappedFile>(m, "MappedFile",
                         "A file mapped for reading; what of it cannot be read any more is zero, "
                         "and sets `lost`.")
      .def(
          "__init__",
          [](MappedFile* self, int descriptor, bool keep_open, size_t spare,
             const nb::bytes& path) {
            new (self) MappedFile(descriptor, keep_open, spare, {path.c_str(), path.size()});
          },
          "descriptor"_a, "keep_open"_a = true, "spare_bytes"_a = 0, "path"_a = nb::bytes("", 0),
          "Map an open file; `spare_bytes` behind it can be read as well. Those with a path can "
          "be looked at by `file_states`.")
      .def(
          "will_need",
          [](const MappedFile& file, const Places& places) {
            std::vector<int64_t> wanted(places.data(), places.data() + places.size());
            const nb::gil_scoped_release released;
            file.will_need(std::move(wanted));
          },
          "places"_a, "Have the pages of these bytes read, without waiting for them; only a hint.")
      .def_prop_ro("descriptor", &MappedFile::descriptor, "-1 if it was not kept open.")
      .def_prop_ro("lost", &MappedFile::is_lost)
      .def_prop_ro(
          "bytes",
          [](nb::handle_t<MappedFile> self) {
            const auto& file = nb::cast<MappedFile&>(self);
            return Bytes(file.data(), {file.size()}, self);
          },
          nb::rv_policy::automatic, "The whole file; keeps it mapped.")
      .def_prop_ro(
          "address",
          [](const MappedFile& file) { return reinterpret_cast<uintptr_t>(file.data()); },
          "Of its first byte.");

  m.def("file_states", &file_states, "files"_a,
        "For each file: 0 if it is as it was when it was mapped, 1 if its path is gone or another "
        "file's, 2 if somebody wrote to it or cut it short.");

  m.def("keep_map_guard_on_top", &keep_map_guard_on_top,
        "Make sure that no other library's handler of SIGBUS comes before ours. Cheap.");

  nb::class_<GuardedRange>(m, "GuardedRange", "Memory that another library has mapped, guarded.")
      .def(
          "__init__",
          [](GuardedRange* self, uintptr_t address, size_t bytes) {
            new (self) GuardedRange(reinterpret_cast<const void*>(address), bytes);
          },
          "address"_a, "bytes"_a)
      .def_prop_ro("lost", &GuardedRange::is_lost);
}
