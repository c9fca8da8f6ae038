// Numbers of the "islow" inverse DCT (Loeffler, Ligtenberg, Moschytz 1989, with 13-bit constants).
#pragma once

namespace penstock::islow {

// The constant in the name, times 2^13.
inline constexpr int k0_298 = 2446;
inline constexpr int k0_390 = 3196;
inline constexpr int k0_541 = 4433;
inline constexpr int k0_765 = 6270;
inline constexpr int k0_899 = 7373;
inline constexpr int k1_175 = 9633;
inline constexpr int k1_501 = 12299;
inline constexpr int k1_847 = 15137;
inline constexpr int k1_961 = 16069;
inline constexpr int k2_053 = 16819;
inline constexpr int k2_562 = 20995;
inline constexpr int k3_072 = 25172;

inline constexpr int kConstBits = 13;
inline constexpr int kColumnBits = 2;  // fraction bits kept between the two passes
inline constexpr int kColumnShift = kConstBits - kColumnBits;
inline constexpr int kRowShift = kConstBits + kColumnBits + 3;

// Where only row 0 of a block is not zero, libjpeg-turbo shifts it left by kColumnBits, which wraps
// around, instead of doing the column pass, which saturates. Both agree for dequantised values of
// at least -kRow0Limit and below kRow0Limit.
inline constexpr int kRow0Limit = 32768 >> kColumnBits;

}  // namespace penstock::islow
