// The kernels that Python calls itself, and the choice of the instruction set.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <string>
#include <tuple>
#include <vector>

#include "base/cpu.h"
#include "base/error.h"
#include "bindings/arguments.h"
#include "bindings/bind.h"
#include "kernels/mix/mix_batch.h"
#include "kernels/warp/elastic.h"
#include "kernels/warp/solve_perspective.h"
#include "kernels/warp/warp.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace penstock {
namespace {

using FieldPair = nb::ndarray<nb::numpy, float, nb::ndim<3>>;
using Matrices = nb::ndarray<nb::numpy, const double, nb::shape<-1, 8>, nb::c_contig>;
using Boxes = nb::ndarray<nb::numpy, const int64_t, nb::shape<-1, 4>, nb::c_contig>;
using SizePairs = nb::ndarray<nb::numpy, const int64_t, nb::shape<-1, 2>, nb::c_contig>;
using NewBoxes = nb::ndarray<nb::numpy, int64_t, nb::ndim<2>>;
using MixTuple = std::tuple<int, int, float, float, Box>;  // partner, kind, own, other, box

void mix(const Batch& batch, const std::vector<MixTuple>& asked, const std::string& layout) {
  const BatchSlots slots = slots_of("mix_batch", batch, layout);
  const Output& first = slots.first;
  if (asked.size() != batch.shape(0))
    throw Error("mix_batch: the batch has " + std::to_string(batch.shape(0)) + " images, but " +
                std::to_string(asked.size()) + " mixes were given. Give one for each.");
  std::vector<Mix> mixes;
  for (const auto& [partner, kind, own, other, box] : asked) {
    if (kind < 0 || kind > static_cast<int>(MixKind::paste))
      throw Error("mix_batch: kind must be 0 (none), 1 (blend) or 2 (paste), got " +
                  std::to_string(kind) + ".");
    if (static_cast<MixKind>(kind) == MixKind::blend && first.element == Element::uint8)
      throw Error("mix_batch: uint8 images cannot be blended. Convert them to float first.");
    mixes.push_back({partner, static_cast<MixKind>(kind), own, other,
                     region_in("mix_batch", box, first.height, first.width)});
  }
  if (!pairs_up(mixes))
    throw Error("mix_batch: every image must be the partner of exactly one image of the batch.");
  nb::gil_scoped_release released;
  Buffer scratch;
  mix_rows(slots, mixes, 0, first.height, scratch);
}

FieldPair field(int height, int width, const std::array<double, 2>& alpha,
                const std::array<double, 2>& sigma, const std::array<uint32_t, 2>& key) {
  for (const int side : {height, width}) checked_side("elastic_field", static_cast<size_t>(side));
  for (const double value : sigma)
    if (!(value >= 0 && value <= kLargestSigma))
      throw Error("elastic_field: sigma must be 0 to " + std::to_string(kLargestSigma) + ", got " +
                  std::to_string(value) + ".");
  const size_t pixels = static_cast<size_t>(height) * width;
  auto* planes = new float[2 * pixels];
  nb::capsule owner(planes, [](void* p) noexcept { delete[] static_cast<float*>(p); });
  {
    nb::gil_scoped_release released;
    Buffer scratch;
    elastic_field(planes, planes + pixels, height, width, {alpha[0], alpha[1], sigma[0], sigma[1]},
                  {key[0], key[1]}, scratch);
  }
  return FieldPair(planes, {2, static_cast<size_t>(height), static_cast<size_t>(width)}, owner);
}

/// Windows are checked against the largest image only: where a warp ends, its frame says.
NewBoxes sources(const Matrices& matrices, const Boxes& windows, const SizePairs& sizes) {
  const char* where = "warp_sources";
  const size_t count = matrices.shape(0);
  if (windows.shape(0) != count || sizes.shape(0) != count)
    throw Error(std::string(where) + ": got " + std::to_string(count) + " matrices, " +
                std::to_string(windows.shape(0)) + " windows and " +
                std::to_string(sizes.shape(0)) + " sizes. Give one of each for each warp.");
  auto* boxes = new int64_t[4 * count];
  nb::capsule owner(boxes, [](void* p) noexcept { delete[] static_cast<int64_t*>(p); });
  for (size_t i = 0; i < count; ++i) {
    const int64_t* box = windows.data() + 4 * i;
    for (int side = 0; side < 4; ++side)
      if (box[side] < (side < 2 ? 0 : 1) || box[side] > kLargestSide)
        throw Error(std::string(where) + ": the window of warp " + std::to_string(i) +
                    " is out of range.");
    const Region window{static_cast<int>(box[0]), static_cast<int>(box[1]),
                        static_cast<int>(box[2]), static_cast<int>(box[3])};
    double matrix[8];
    std::copy_n(matrices.data() + 8 * i, 8, matrix);
    const Region source =
        warp_source(matrix, window, checked_side(where, static_cast<size_t>(sizes.data()[2 * i])),
                    checked_side(where, static_cast<size_t>(sizes.data()[2 * i + 1])));
    const int64_t sides[4] = {source.top, source.left, source.height, source.width};
    std::copy_n(sides, 4, boxes + 4 * i);
  }
  return NewBoxes(boxes, {count, 4}, owner);
}

/// Four pairs of whole numbers; false for all else.
bool read_corners(double corners[4][2], nb::handle given) {
  constexpr long kFarthest = 1L << 24;  // products are exact
  if (!nb::isinstance<nb::list>(given) && !nb::isinstance<nb::tuple>(given)) return false;
  if (nb::len(given) != 4) return false;
  for (int corner = 0; corner < 4; ++corner) {
    const nb::object pair = given[corner];
    if (!nb::isinstance<nb::list>(pair) && !nb::isinstance<nb::tuple>(pair)) return false;
    if (nb::len(pair) != 2) return false;
    for (int axis = 0; axis < 2; ++axis) {
      const nb::object number = pair[axis];
      if (!PyLong_CheckExact(number.ptr())) return false;
      int overflow = 0;
      const long value = PyLong_AsLongAndOverflow(number.ptr(), &overflow);
      if (overflow != 0 || value > kFarthest || value < -kFarthest) return false;
      corners[corner][axis] = static_cast<double>(value);
    }
  }
  return true;
}

nb::object perspective(nb::handle startpoints, nb::handle endpoints) {
  CornerPairs corners;
  std::array<float, 8> numbers;
  if (!read_corners(corners.from, startpoints) || !read_corners(corners.to, endpoints) ||
      !solve_perspective(numbers.data(), corners))
    return nb::none();
  return nb::cast(numbers);
}

}  // namespace

void bind_kernels(nb::module_& m) {
  m.def("mix_batch", &mix, "batch"_a.noconvert(), "mixes"_a, "layout"_a = "chw",
        "Mix the images of a batch in place. Each of `mixes` is (partner, kind, weight of the "
        "image, weight of the partner, box to paste); kind is 0 none, 1 blend, 2 paste.");
  m.def("elastic_field", &field, "height"_a, "width"_a, "alpha"_a, "sigma"_a, "key"_a,
        "The displacement (dx, dy) in pixels of an elastic transform; alpha and sigma are "
        "(across, down).");
  m.def("solve_perspective", &perspective, "startpoints"_a, "endpoints"_a,
        "The eight numbers that lead from four endpoints (x, y) back to the startpoints, as "
        "float32; None where whoever solves for them may round them to others.");
  m.def("warp_sources", &sources, "matrices"_a, "windows"_a, "sizes"_a,
        "Which part of an image of `sizes` (height, width) a warp needs for a window of its "
        "result. Windows and parts are (top, left, height, width); an affine matrix ends in two "
        "zeros.");
}

void bind_instruction_sets(nb::module_& m) {
  m.def(
      "force_isa", [](const std::string& name) { force_isa(isa_named(name)); }, "name"_a,
      "Use the kernels of this instruction set: scalar, avx2 or avx512.");
  m.def("active_isa", [] { return name_of(active_isa()); }, "The instruction set in use.");
  m.def(
      "supported_isas",
      [] {
        std::vector<std::string_view> names;
        for (const Isa isa : supported_isas()) names.push_back(name_of(isa));
        return names;
      },
      "The instruction sets that this CPU has; the last is the best one.");
}

}  // namespace penstock
