// A pixel's gray, in Pillow's fixed point: (19595 R + 38470 G + 7471 B + half) >> 16.
#pragma once

namespace penstock {

inline constexpr int kLumaRed = 19595;
inline constexpr int kLumaGreen = 38470;
inline constexpr int kLumaBlue = 7471;
inline constexpr int kLumaHalf = 1 << 15;
/// Green's weight less one, so that it fits 16 bits with a sign; green is added after the shift.
inline constexpr int kLumaGreenLessOne = kLumaGreen - (1 << 16);

}  // namespace penstock
