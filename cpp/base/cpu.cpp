#include "base/cpu.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/error.h"

namespace penstock {
namespace {

// -1: not decided yet. Written once with the same value by whoever comes first, or by force_isa.
std::atomic<int> chosen{-1};

/// "scalar, avx2 or avx512", as far as this CPU goes.
std::string supported_names() {
  const std::span<const Isa> sets = supported_isas();
  std::string names;
  for (size_t i = 0; i < sets.size(); ++i) {
    if (i != 0) names += i + 1 == sets.size() ? " or " : ", ";
    names += name_of(sets[i]);
  }
  return names;
}

void require_supported(Isa isa, const std::string& asked_by) {
  if (std::ranges::find(supported_isas(), isa) == supported_isas().end())
    throw Error(asked_by + " asks for " + std::string(name_of(isa)) + ", but this CPU's best is " +
                std::string(name_of(best_isa())) + ". Use " + supported_names() + ".");
}

std::vector<Isa> find_supported() {
  std::vector<Isa> sets{Isa::scalar};
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
      __builtin_cpu_supports("bmi2")) {
    sets.push_back(Isa::avx2);
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2") &&
        __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512vpopcntdq") &&
        __builtin_cpu_supports("gfni"))
      sets.push_back(Isa::avx512);
  }
#endif
  return sets;
}

}  // namespace

std::span<const Isa> supported_isas() {
  static const std::vector<Isa> sets = find_supported();
  return sets;
}

Isa active_isa() {
  const int known = chosen.load(std::memory_order_relaxed);
  if (known >= 0) return static_cast<Isa>(known);
  Isa isa = best_isa();
  if (const char* wanted = std::getenv("PENSTOCK_SIMD"); wanted != nullptr && *wanted != '\0') {
    try {
      isa = isa_named(wanted);
    } catch (const Error&) {
      throw Error("PENSTOCK_SIMD: there is no instruction set '" + std::string(wanted) + "'. Use " +
                  supported_names() + ", which this CPU has, or unset it.");
    }
    require_supported(isa, "PENSTOCK_SIMD");
  }
  chosen.store(static_cast<int>(isa), std::memory_order_relaxed);
  return isa;
}

void force_isa(Isa isa) {
  require_supported(isa, "force_isa");
  chosen.store(static_cast<int>(isa), std::memory_order_relaxed);
}

std::string_view name_of(Isa isa) {
  switch (isa) {
    case Isa::avx512:
      return "avx512";
    case Isa::avx2:
      return "avx2";
    case Isa::scalar:
      break;
  }
  return "scalar";
}

Isa isa_named(std::string_view name) {
  for (const Isa isa : {Isa::scalar, Isa::avx2, Isa::avx512})
    if (name == name_of(isa)) return isa;
  throw Error("Instruction set '" + std::string(name) +
              "' is unknown. Use scalar, avx2 or avx512.");
}

}  // namespace penstock
