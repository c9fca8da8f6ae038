#include "bindings/held_image.h"

#include <cstring>
#include <utility>

#include "bindings/arguments.h"

namespace nb = nanobind;

namespace penstock {
namespace {

/// What is asked of Pillow and NumPy, looked up once.
struct Names {
  nb::object array_type, empty, contiguous, bytes_type;
  nb::object new_block;
  nb::str mode{"mode"}, size{"size"}, show{"__arrow_c_array__"}, paste{"paste"};
  nb::str gray{"L"}, rgb{"RGB"};

  Names() {
    const nb::module_ numpy = nb::module_::import_("numpy");
    array_type = numpy.attr("ndarray");
    empty = numpy.attr("empty");
    contiguous = numpy.attr("ascontiguousarray");
    bytes_type = numpy.attr("dtype")("uint8");
    new_block = nb::module_::import_("PIL.Image").attr("core").attr("new_block");
  }
};

const Names& names() {
  // Python's lock guards it, and making it may let go of that lock: so two threads may both make
  // one. Nobody frees it, since Python may be gone by then.
  static const Names* kept = nullptr;
  if (kept == nullptr) {
    const Names* made = new Names;
    if (kept == nullptr)
      kept = made;
    else
      delete made;
  }
  return *kept;
}

int channels_of_mode(nb::handle mode) {
  if (mode.ptr() == names().rgb.ptr() || PyUnicode_Compare(mode.ptr(), names().rgb.ptr()) == 0)
    return 3;
  return PyUnicode_Compare(mode.ptr(), names().gray.ptr()) == 0 ? 1 : 0;
}

nb::object shown(nb::handle memory) {
  PyObject* arguments[] = {memory.ptr()};
  return nb::steal(PyObject_VectorcallMethod(names().show.ptr(), arguments,
                                             1 | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr));
}

Pixels pixels_of_shown(nb::object array, int height, int width, int channels) {
  return pixels_of_pillow(nb::cast<nb::capsule>(array), height, width, channels);
}

/// In one piece, whatever its size.
Room new_pillow(int height, int width, int channels) {
  const nb::str& mode = channels == 3 ? names().rgb : names().gray;
  nb::object memory = names().new_block(mode, nb::make_tuple(width, height));
  nb::object array = shown(memory);
  if (!array.is_valid()) throw nb::python_error();
  return {std::move(memory), pixels_of_shown(std::move(array), height, width, channels)};
}

std::optional<HeldImage> held_by_pillow(nb::handle memory) {
  const int channels = channels_of_mode(nb::getattr(memory, names().mode));
  const nb::object size = nb::getattr(memory, names().size);
  const int width = nb::cast<int>(size[0]), height = nb::cast<int>(size[1]);
  if (channels == 0 || width == 0 || height == 0) return std::nullopt;
  nb::object array = shown(memory);
  if (!array.is_valid()) {
    if (PyErr_ExceptionMatches(PyExc_AttributeError)) {
      PyErr_Clear();
      return std::nullopt;
    }
    if (!PyErr_ExceptionMatches(PyExc_ValueError)) throw nb::python_error();
    PyErr_Clear();  // it lies in several pieces
    Room whole = new_pillow(height, width, channels);
    whole.memory.attr(names().paste)(memory, nb::make_tuple(0, 0, width, height));
    return HeldImage{std::move(whole.pixels), false, false};
  }
  return HeldImage{pixels_of_shown(std::move(array), height, width, channels), false, false};
}

/// A look at an array's memory, which the array keeps where it is.
class ArrayView {
 public:
  explicit ArrayView(nb::handle array) {
    is_there_ = PyObject_GetBuffer(array.ptr(), &view_, PyBUF_STRIDES | PyBUF_FORMAT) == 0;
    if (!is_there_) PyErr_Clear();  // numbers that nobody else knows, such as dates
  }
  ~ArrayView() {
    if (is_there_) PyBuffer_Release(&view_);
  }
  ArrayView(const ArrayView&) = delete;
  ArrayView& operator=(const ArrayView&) = delete;

  bool is_image() const {
    if (!is_there_ || std::strcmp(view_.format, "B") != 0) return false;
    if (view_.ndim != 2 && (view_.ndim != 3 || (view_.shape[2] != 1 && view_.shape[2] != 3)))
      return false;
    for (const Py_ssize_t side : {view_.shape[0], view_.shape[1]})
      if (side < 1 || side > kLargestSide) return false;
    return true;
  }
  bool is_flat() const { return view_.ndim == 2; }
  bool lies_together() const { return PyBuffer_IsContiguous(&view_, 'C') != 0; }

  Pixels pixels(nb::object array) const {
    return pixels_at(reinterpret_cast<size_t>(view_.buf), static_cast<int>(view_.shape[0]),
                     static_cast<int>(view_.shape[1]),
                     is_flat() ? 1 : static_cast<int>(view_.shape[2]), true, Element::uint8,
                     std::move(array));
  }

 private:
  Py_buffer view_;
  bool is_there_;
};

std::optional<HeldImage> held_by_array(nb::handle array) {
  const ArrayView view(array);
  if (!view.is_image()) return std::nullopt;
  if (view.lies_together()) return HeldImage{view.pixels(nb::borrow(array)), true, view.is_flat()};
  nb::object copy = names().contiguous(array);
  return HeldImage{ArrayView(copy).pixels(copy), true, view.is_flat()};
}

}  // namespace

std::optional<HeldImage> held_image(nb::handle memory) {
  return nb::isinstance(memory, names().array_type) ? held_by_array(memory)
                                                    : held_by_pillow(memory);
}

Room room_like(const HeldImage& like, int height, int width, int channels) {
  const ForeignPixels& old = like.pixels.place;
  height = height == 0 ? old.height : height;
  width = width == 0 ? old.width : width;
  channels = channels == 0 ? old.channels : channels;
  if (!like.is_array) return new_pillow(height, width, channels);
  // An array that loses its colours has no axis for them, as an array of a gray Pillow image.
  const bool flat = channels == 1 && (like.is_flat || old.channels > 1);
  nb::object memory =
      names().empty(flat ? nb::make_tuple(height, width) : nb::make_tuple(height, width, channels),
                    names().bytes_type);
  return {memory, ArrayView(memory).pixels(memory)};
}

}  // namespace penstock
