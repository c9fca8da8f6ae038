// The loops of numbers.h, compiled once per instruction set.
#include "base/philox.h"
#include "kernels/lanes/lanes.h"
#include "kernels/random/numbers.h"

namespace penstock::PENSTOCK_ISA {
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

constexpr uint32_t kSignBit = 0x80000000;

using Floats = Lanes::Floats;
using Words = Lanes::Words;
using Ints = Lanes::Ints;

/// sqrt(-2 ln u) for u = (floor(word / 2) + 1/2) / 2^31, as exactly as float32 holds it.
Floats radius(Words word) {
  const Words bits = Lanes::words(Lanes::convert(Ints(word >> 1)) + 0.5f);
  // u = 2^exponent * (1 + z), with 1 + z between sqrt(1/2) and sqrt(2)
  constexpr uint32_t kHalfRoot = 0x3F3504F3, kDivisor = 31 << 23;
  const Ints exponent = Ints(bits - (kHalfRoot + kDivisor)) >> 23;
  const Floats z = Lanes::floats(bits - kDivisor - (Words(exponent) << 23)) - 1.0f;
  // -2 ln(1 + z) / z, fitted at Chebyshev's points
  Floats quotient = z * -0.2386210858821869f + 0.373615026473999f;
  quotient = quotient * z + -0.40983518958091736f;
  quotient = quotient * z + 0.4981657862663269f;
  quotient = quotient * z + -0.6662935018539429f;
  quotient = quotient * z + 1.0000228881835938f;
  quotient = quotient * z + -2.000001907348633f;
  constexpr float kMinusTwoLn2 = -1.3862943611198906f;
  return Lanes::square_root(Lanes::convert(exponent) * kMinusTwoLn2 + z * quotient);
}

struct Direction {
  Floats cosine;
  Floats sine;
};

/// A full turn is 2^32. The two upper bits of `word` choose the quadrant.
Direction direction(Words word) {
  constexpr float kQuarterTurn = 1.5707963267948966f;
  const Floats angle = Lanes::convert(Ints(word << 2)) * (kQuarterTurn * 0x1p-32f);
  const Floats square = angle * angle;
  const Floats sine = ((square * 0.00815157f + -0.16662476f) * square + 0.99999857f) * angle;
  const Floats cosine =
      ((square * -0.00135858f + 0.04165502f) * square + -0.49999857f) * square + 0.99999997f;
  const auto odd = (word & (kSignBit >> 1)) != 0;
  const Words cosine_sign = (word ^ (word << 1)) & kSignBit, sine_sign = word & kSignBit;
  return {Lanes::floats(Lanes::words(odd ? sine : cosine) ^ cosine_sign),
          Lanes::floats(Lanes::words(odd ? cosine : sine) ^ sine_sign)};
}

}  // namespace

void normals(float* numbers, uint64_t first_group, int groups, PhiloxKey key) {
  const Words offsets = Lanes::group_offsets();
  for (int done = 0; done < groups; done += Lanes::kCount, numbers += 4 * Lanes::kCount) {
    const uint64_t group = first_group + done;
    const PhiloxLanes block = philox_lanes(offsets + static_cast<uint32_t>(group),
                                           static_cast<uint32_t>(group >> 32), key);
    const Floats length = radius(block.word[0]), other_length = radius(block.word[2]);
    const Direction unit = direction(block.word[1]), other_unit = direction(block.word[3]);
    Lanes::store_groups(numbers, length * unit.cosine, length * unit.sine,
                        other_length * other_unit.cosine, other_length * other_unit.sine);
  }
}

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
