// The loops of element_rows.h, compiled once per instruction set.
#include <cstring>

#include "kernels/lanes/lanes.h"
#include "kernels/mix/element_rows.h"

namespace penstock::PENSTOCK_ISA {
namespace {

class ElementLoops {
 public:
  static ElementRows of(Element element) {
    switch (element) {
      case Element::float32:
        return {mix<Float32>, narrow<Float32>};
      case Element::float16:
        return {mix<Float16>, narrow<Float16>};
      case Element::bfloat16:
        return {mix<Bfloat16>, narrow<Bfloat16>};
      case Element::uint8:
        break;
    }
    return {nullptr, narrow<Uint8>};
  }

 private:
  using Floats = Lanes::Floats;

  struct Float32 {
    using Stored = float;
    static Floats load(const float* from) { return Lanes::load(from); }
    static void store(float* to, Floats values) { Lanes::store(to, values); }
  };

  struct Float16 {
    using Stored = uint16_t;
    static Floats load(const uint16_t* from) { return Lanes::load_float16(from); }
    static void store(uint16_t* to, Floats values) { Lanes::store_float16(to, values); }
  };

  struct Bfloat16 {
    using Stored = uint16_t;
    static Floats load(const uint16_t* from) { return Lanes::load_bfloat16(from); }
    static void store(uint16_t* to, Floats values) { Lanes::store_bfloat16(to, values); }
  };

  struct Uint8 {
    using Stored = uint8_t;
    static void store(uint8_t* to, Floats values) {
      Lanes::store_bytes(to, Lanes::truncate(values));
    }
  };

  template <class E>
  static Floats rounded(Floats values) {
    typename E::Stored stored[Lanes::kCount];
    E::store(stored, values);
    return E::load(stored);
  }

  template <class E>
  static void mix_lanes(typename E::Stored* out, const typename E::Stored* x,
                        const typename E::Stored* y, float own, float other) {
    E::store(out, rounded<E>(E::load(y) * other) + rounded<E>(E::load(x) * own));
  }

  template <class E>
  static void mix(void* out, const void* x, const void* y, int64_t count, float own, float other) {
    using Stored = typename E::Stored;
    auto* to = static_cast<Stored*>(out);
    auto* first = static_cast<const Stored*>(x);
    auto* second = static_cast<const Stored*>(y);
    int64_t i = 0;
    for (; i + Lanes::kCount <= count; i += Lanes::kCount)
      mix_lanes<E>(to + i, first + i, second + i, own, other);
    if (i >= count) return;
    Stored last[3][Lanes::kCount] = {};
    const size_t rest = sizeof(Stored) * (count - i);
    std::memcpy(last[1], first + i, rest);
    std::memcpy(last[2], second + i, rest);
    mix_lanes<E>(last[0], last[1], last[2], own, other);
    std::memcpy(to + i, last[0], rest);
  }

  template <class E>
  static void narrow(void* out, const float* numbers, int64_t count) {
    using Stored = typename E::Stored;
    auto* to = static_cast<Stored*>(out);
    int64_t i = 0;
    for (; i + Lanes::kCount <= count; i += Lanes::kCount)
      E::store(to + i, Lanes::load(numbers + i));
    if (i >= count) return;
    float last[Lanes::kCount] = {};
    Stored stored[Lanes::kCount];
    std::memcpy(last, numbers + i, sizeof(float) * (count - i));
    E::store(stored, Lanes::load(last));
    std::memcpy(to + i, stored, sizeof(Stored) * (count - i));
  }
};

}  // namespace

ElementRows element_rows(Element element) { return ElementLoops::of(element); }

}  // namespace penstock::PENSTOCK_ISA
