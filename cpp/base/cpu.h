// Which instruction sets this machine can run, and which one the kernels use.
#pragma once

#include <span>
#include <string_view>

namespace penstock {

/// `avx512` stands for the Ice Lake / Zen 4 level: F, BW, DQ, VL, VBMI, VBMI2 and VNNI together.
/// The sets have no order: ask `supported_isas` what a machine can run.
enum class Isa { scalar, avx2, avx512 };

/// The sets that this CPU (and operating system) can run; the last is the best one.
std::span<const Isa> supported_isas();

inline Isa best_isa() { return supported_isas().back(); }

/// The set in use: the best one, unless PENSTOCK_SIMD or `force_isa` names another.
/// Throws Error if PENSTOCK_SIMD is not a known name or asks for what the CPU does not have.
Isa active_isa();

/// Overrides the choice for this process (tests compare every variant with the scalar one).
void force_isa(Isa isa);

std::string_view name_of(Isa isa);
Isa isa_named(std::string_view name);

}  // namespace penstock
