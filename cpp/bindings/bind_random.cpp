#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "base/error.h"
#include "base/philox.h"
#include "bindings/bind.h"

namespace nb = nanobind;
using namespace nb::literals;
using namespace penstock;

namespace {

using Samples = nb::ndarray<nb::numpy, const int64_t, nb::ndim<1>, nb::device::cpu>;
using Words = nb::ndarray<nb::numpy, uint64_t, nb::ndim<2>, nb::c_contig>;

/// Row 2 * i and the one after it come from slot first_slot + i.
Words draw_words(uint64_t seed, uint32_t epoch, const Samples& samples, uint32_t stream,
                 uint32_t first_slot, uint32_t slots) {
  if (stream > 0xFFFF || first_slot > 0x10000 || slots > 0x10000 - first_slot)
    throw Error("draw_words: stream or slots do not fit their 16 bits.");
  const size_t count = samples.shape(0);
  const size_t shape[2] = {2 * size_t{slots}, count};
  auto* words = new uint64_t[shape[0] * shape[1]];
  nb::capsule owner(words, [](void* p) noexcept { delete[] static_cast<uint64_t*>(p); });
  const PhiloxKey key{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)};
  uint64_t* row = words;
  for (uint32_t slot = 0; slot < slots; ++slot, row += 2 * count) {
    const uint32_t place = stream << 16 | (first_slot + slot);
    for (size_t i = 0; i < count; ++i) {
      const auto sample = static_cast<uint64_t>(samples(i));
      const PhiloxBlock block = philox4x32(
          {static_cast<uint32_t>(sample), static_cast<uint32_t>(sample >> 32), epoch, place}, key);
      row[i] = block[0] | uint64_t{block[1]} << 32;
      row[count + i] = block[2] | uint64_t{block[3]} << 32;
    }
  }
  return Words(words, 2, shape, owner);
}

}  // namespace

void penstock::bind_random(nb::module_& m) {
  m.def("draw_words", &draw_words, "seed"_a, "epoch"_a, "samples"_a, "stream"_a, "first_slot"_a,
        "slots"_a, nb::rv_policy::automatic,
        "The 64-bit words of these slots for every sample: (2 * slots, samples).");
}
