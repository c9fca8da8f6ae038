// The loop of uniform_pairs.h, compiled once per instruction set.
#include "kernels/random/philox_lanes.h"
#include "kernels/random/uniform_pairs.h"

namespace penstock::PENSTOCK_ISA {
namespace {

Lanes::Floats between_minus_one_and_one(Lanes::Words words) {
  return Lanes::convert(Lanes::Ints(words >> 8)) * 0x1p-23f - 1.0f;
}

}  // namespace

void uniform_pairs(float* first, float* second, uint64_t first_counter, int count, PhiloxKey key) {
  for (int i = 0; i < count; i += Lanes::kCount) {
    const uint64_t counter = first_counter + i;
    const PhiloxLanes block = philox_lanes(Lanes::ascending() + static_cast<uint32_t>(counter),
                                           static_cast<uint32_t>(counter >> 32), key);
    Lanes::store(first + i, between_minus_one_and_one(block.word[0]));
    Lanes::store(second + i, between_minus_one_and_one(block.word[1]));
  }
}

}  // namespace penstock::PENSTOCK_ISA
