// The loop of uniform_pairs.h, for the lanes of whichever file includes it.
#pragma once

#include "kernels/random/philox_lanes.h"
#include "kernels/random/uniform_pairs.h"

namespace penstock {
namespace {

template <class Lanes>
typename Lanes::Floats between_minus_one_and_one(typename Lanes::Words words) {
  return Lanes::convert(typename Lanes::Ints(words >> 8)) * 0x1p-23f - 1.0f;
}

template <class Lanes>
void write_uniform_pairs(float* first, float* second, uint64_t first_counter, int count,
                         PhiloxKey key) {
  for (int i = 0; i < count; i += Lanes::kCount) {
    const uint64_t counter = first_counter + i;
    const PhiloxLanes<Lanes> block =
        philox_lanes<Lanes>(Lanes::ascending() + static_cast<uint32_t>(counter),
                            static_cast<uint32_t>(counter >> 32), key);
    Lanes::store(first + i, between_minus_one_and_one<Lanes>(block.word[0]));
    Lanes::store(second + i, between_minus_one_and_one<Lanes>(block.word[1]));
  }
}

}  // namespace
}  // namespace penstock
