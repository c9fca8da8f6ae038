// The effects on pixels and their parameters, made from the table in base/effects.def.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "base/error.h"

namespace penstock {

enum class EffectKind : int32_t {
#define EFFECT(number, kind, family, parameters) kind = number,
#include "base/effects.def"
};

enum class EffectFamily : int32_t {
  none = 0,
  colour = 1,
  filter = 2,
  warp = 3,
  mix = 4,
  tensor = 5
};

/// Room for the parameters of any effect.
inline constexpr int kEffectNumbers = 32;

/// The parameters of one kind of effect, by name.
template <EffectKind>
struct Parameters;

#define ONE(name) double name;
#define MANY(name, count) double name[count];
#define EFFECT(number, kind, family, parameters) \
  template <>                                    \
  struct Parameters<EffectKind::kind> {          \
    parameters                                   \
  };
#include "base/effects.def"

/// Reads the parameters of an effect; `numbers` must have room for them.
template <EffectKind kKind>
Parameters<kKind> read_parameters(const double* numbers) {
  using Read = Parameters<kKind>;
  static_assert(std::is_trivially_copyable_v<Read>);
  static_assert(sizeof(Read) <= kEffectNumbers * sizeof(double));
  Read read{};
  if constexpr (!std::is_empty_v<Read>) std::memcpy(&read, numbers, sizeof read);
  return read;
}

/// The reverse: writes the parameters of an effect as numbers.
template <EffectKind kKind>
void write_parameters(double* numbers, const Parameters<kKind>& parameters) {
  if constexpr (!std::is_empty_v<Parameters<kKind>>)
    std::memcpy(numbers, &parameters, sizeof parameters);
}

[[noreturn]] inline void throw_unknown_effect(EffectKind kind) {
  throw Error("Effects: " + std::to_string(static_cast<int>(kind)) +
              " is not the number of an effect.");
}

/// Calls `visitor` with the effect's parameters. It must take those of every kind, or it does not
/// compile. Throws Error for a number that is not a kind.
template <class Visitor>
auto visit_effect(EffectKind kind, const double* numbers, Visitor&& visitor) {
  switch (kind) {
#define EFFECT(number, kind, family, parameters) \
  case EffectKind::kind:                         \
    return visitor(read_parameters<EffectKind::kind>(numbers));
#include "base/effects.def"
  }
  throw_unknown_effect(kind);
}

/// `none` for a number that is not a kind.
constexpr EffectFamily family_of(EffectKind kind) {
  switch (kind) {
#define EFFECT(number, kind, family, parameters) \
  case EffectKind::kind:                         \
    return EffectFamily::family;
#include "base/effects.def"
  }
  return EffectFamily::none;
}

/// A line of the table, for those who know effects by name only.
struct EffectEntry {
  struct Parameter {
    const char* name;
    int count;
    bool optional;
  };
  EffectKind kind;
  const char* name;
  EffectFamily family;
  std::vector<Parameter> parameters;
};

inline std::vector<EffectEntry> effect_table() {
  return {
#define ONE(name) EffectEntry::Parameter{#name, 1, false},
#define MANY(name, count) EffectEntry::Parameter{#name, count, false},
#define OPTIONAL(name, count) EffectEntry::Parameter{#name, count, true},
#define EFFECT(number, kind, family, parameters) \
  {EffectKind::kind, #kind, EffectFamily::family, {parameters}},
#include "base/effects.def"
  };
}

}  // namespace penstock
