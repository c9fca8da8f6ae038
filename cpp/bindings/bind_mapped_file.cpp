#include <fcntl.h>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

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

/// A file, mapped for reading as long as it is (which must be a byte or more) and guarded.
class MappedFile {
 public:
  /// The caller may close the descriptor afterwards: with `keep_open`, this has one of its own.
  MappedFile(int descriptor, bool keep_open) {
    struct stat status{};
    if (::fstat(descriptor, &status) != 0) raise_system_error();
    size_ = static_cast<size_t>(status.st_size);
    void* data = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, descriptor, 0);
    if (data == MAP_FAILED) raise_system_error();
    if (keep_open) descriptor_ = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    if (keep_open && descriptor_ < 0) {
      const int reason = errno;
      ::munmap(data, size_);
      errno = reason;
      raise_system_error();
    }
    data_ = data;
    guard_ = std::make_unique<GuardedRange>(data_, size_);
  }
  ~MappedFile() {
    guard_.reset();
    ::munmap(data_, size_);
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  int descriptor() const { return descriptor_; }
  bool is_lost() const { return guard_->is_lost(); }
  const uint8_t* data() const { return static_cast<const uint8_t*>(data_); }
  size_t size() const { return size_; }

 private:
  int descriptor_ = -1;
  void* data_ = nullptr;
  size_t size_ = 0;
  std::unique_ptr<GuardedRange> guard_;
};

using Bytes = nb::ndarray<nb::numpy, const uint8_t, nb::ndim<1>>;

}  // namespace

void penstock::bind_mapped_file(nb::module_& m) {
  nb::class_<MappedFile>(m, "MappedFile",
                         "A file mapped for reading; what of it cannot be read any more is zero, "
                         "and sets `lost`.")
      .def(nb::init<int, bool>(), "descriptor"_a, "keep_open"_a = true, "Map an open file.")
      .def_prop_ro("descriptor", &MappedFile::descriptor, "-1 if it was not kept open.")
      .def_prop_ro("lost", &MappedFile::is_lost)
      .def_prop_ro(
          "bytes",
          [](nb::handle_t<MappedFile> self) {
            const auto& file = nb::cast<MappedFile&>(self);
            return Bytes(file.data(), {file.size()}, self);
          },
          nb::rv_policy::automatic, "The whole file; keeps it mapped.");

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
