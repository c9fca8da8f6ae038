// philox4x32 (base/philox.h) for as many counters at a time as there are lanes.
#pragma once

#include "base/philox.h"
#include "kernels/lanes/lanes.h"

namespace penstock {
namespace {

struct PhiloxLanes {
  Lanes::Words word[4];
};

/// The blocks of `counters`, of which the upper 32 bits are `counter_high` for all lanes.
PhiloxLanes philox_lanes(Lanes::Words counters, uint32_t counter_high, PhiloxKey key) {
  using Spread = Lanes::Spread;
  const Spread none = Lanes::spread(Lanes::all(0));
  Spread state[4] = {Lanes::spread(counters), Lanes::spread(Lanes::all(counter_high)), none, none};
  for (int round = 0; round < kPhiloxRounds; ++round) {
    const Spread first = Lanes::product(state[0], kPhiloxMultiplier[0]);
    const Spread second = Lanes::product(state[2], kPhiloxMultiplier[1]);
    state[0] = Lanes::high_xor(second, state[1], key.low);
    state[1] = second;
    state[2] = Lanes::high_xor(first, state[3], key.high);
    state[3] = first;
    key.low += kPhiloxWeyl[0];
    key.high += kPhiloxWeyl[1];
  }
  return {
      {Lanes::join(state[0]), Lanes::join(state[1]), Lanes::join(state[2]), Lanes::join(state[3])}};
}

}  // namespace
}  // namespace penstock
