// Which instruction set the kernels use on this machine.
#pragma once

#include <string_view>

namespace penstock {

/// `avx512` stands for the Ice Lake / Zen 4 level: F, BW, DQ, VL, VBMI, VBMI2 and VNNI together.
enum class Isa { scalar = 0, avx2 = 1, avx512 = 2 };

/// The best set this CPU (and operating system) can run.
Isa best_isa();

/// The set in use: the best one, unless PENSTOCK_SIMD or `force_isa` names a lesser one.
/// Throws Error if PENSTOCK_SIMD is not a known name or asks for more than the CPU has.
Isa active_isa();

/// Overrides the choice for this process (tests compare every variant with the scalar one).
void force_isa(Isa isa);

std::string_view name_of(Isa isa);
Isa isa_named(std::string_view name);

}  // namespace penstock
