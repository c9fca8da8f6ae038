#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <mutex>
#include <utility>
#include <vector>

#include "base/error.h"
#include "bindings/batch_buffer.h"
#include "bindings/bind.h"

namespace nb = nanobind;
using namespace nb::literals;
using penstock::BatchBuffer;
using penstock::BatchMemory;
using penstock::BatchRing;
using penstock::Error;

namespace {

nb::dlpack::dtype dtype_named(const std::string& name) {
  if (name == "uint8") return nb::dtype<uint8_t>();
  if (name == "uint16") return nb::dtype<uint16_t>();
  if (name == "int16") return nb::dtype<int16_t>();
  if (name == "float32") return nb::dtype<float>();
  if (name == "float16") return {static_cast<uint8_t>(nb::dlpack::dtype_code::Float), 16, 1};
  throw Error("BatchBuffer.array: dtype '" + name + "' is unknown.");
}

/// Python objects whose memory the core has finished with. The core's threads, which let go last
/// now and then, must not wait for Python's lock: they leave the objects here.
class Finished {
 public:
  void leave(PyObject* object) {
    const std::lock_guard lock(mutex_);
    objects_.push_back(object);
  }

  /// Requires Python's lock.
  void release() {
    std::vector<PyObject*> taken;
    {
      const std::lock_guard lock(mutex_);
      taken.swap(objects_);
    }
    for (PyObject* object : taken) Py_DECREF(object);
  }

 private:
  std::mutex mutex_;
  std::vector<PyObject*> objects_;
};

Finished& finished() {
  static Finished& objects = *new Finished;  // never destroyed: threads may outlive the module
  return objects;
}

using LentBytes = nb::ndarray<uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// A buffer over an array's memory, which stays alive while the core or an array of ours uses it.
BatchBuffer borrow(nb::handle array) {
  finished().release();
  const LentBytes lent = nb::cast<LentBytes>(array);
  PyObject* owner = array.inc_ref().ptr();
  std::shared_ptr<BatchMemory> memory(new BatchMemory(lent.data(), lent.size()),
                                      [owner](BatchMemory* returned) {
                                        delete returned;
                                        finished().leave(owner);
                                      });
  return {std::move(memory), lent.size(), true};
}

/// An array over the buffer's first bytes; the memory goes back to its ring with the array.
nb::ndarray<nb::numpy> array_over(const BatchBuffer& self, const std::vector<size_t>& shape,
                                  const std::string& dtype) {
  const nb::dlpack::dtype element = dtype_named(dtype);
  size_t bytes = element.bits / 8;
  for (const size_t side : shape) bytes *= side;
  if (bytes > self.bytes)
    throw Error("BatchBuffer.array: " + std::to_string(bytes) + " bytes asked of a buffer of " +
                std::to_string(self.bytes) + ".");
  auto* owned = new std::shared_ptr<BatchMemory>(self.memory);
  nb::capsule owner(owned,
                    [](void* p) noexcept { delete static_cast<std::shared_ptr<BatchMemory>*>(p); });
  return nb::ndarray<nb::numpy>(self.memory->data(), shape.size(), shape.data(), owner, nullptr,
                                element);
}

}  // namespace

void penstock::bind_batch_buffer(nb::module_& m) {
  nb::class_<BatchBuffer>(m, "BatchBuffer", "Memory of one batch, on loan from a BatchRing.")
      .def_ro("bytes", &BatchBuffer::bytes, "Size asked for.")
      .def_ro("fresh", &BatchBuffer::fresh, "Whether the memory was never on loan before.")
      .def_prop_ro(
          "address",
          [](const BatchBuffer& b) { return reinterpret_cast<uintptr_t>(b.memory->data()); },
          "Where the memory begins, for page-locking.")
      .def_prop_ro(
          "capacity", [](const BatchBuffer& b) { return b.memory->bytes(); },
          "Size of the memory, at least `bytes`.")
      .def_static("borrow", &borrow, "array"_a,
                  nb::sig("def borrow(array: NDArray[numpy.uint8]) -> BatchBuffer"),
                  "A buffer over the memory of a one-dimensional, writable array of bytes.")
      .def_static(
          "release_borrowed", [] { finished().release(); },
          "Let go of arrays that were lent and are not used any more.")
      .def("array", &array_over, "shape"_a, "dtype"_a, "A NumPy array over the memory.");

  nb::class_<BatchRing>(m, "BatchRing", "Batch memory that is used again and again.")
      .def(nb::new_([](size_t most_idle) { return std::make_shared<BatchRing>(most_idle); }),
           "most_idle"_a)
      .def(
          "take",
          [](BatchRing& ring, size_t bytes) {
            BatchRing::Lease lease = ring.take(bytes);
            return BatchBuffer{std::move(lease.memory), bytes, lease.fresh};
          },
          "bytes"_a, "A buffer of at least `bytes` bytes, contents unspecified.")
      .def_prop_ro("idle", &BatchRing::idle, "Buffers waiting to be used again.")
      .def_prop_ro("made", &BatchRing::made, "Buffers ever made.");
}
