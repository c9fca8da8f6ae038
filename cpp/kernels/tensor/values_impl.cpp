#include "kernels/tensor/values.h"

namespace penstock::PENSTOCK_ISA {
namespace {

/// NaN stays what it is, as in torch.
inline float within(float value, float low, float high) {
  const float raised = value < low ? low : value;
  return raised > high ? high : raised;
}

template <class Change>
void map_each(float* target, const float* source, size_t count, Change change) {
  if (target == source) {
    for (size_t i = 0; i < count; ++i) target[i] = change(target[i]);
    return;
  }
  float* __restrict to = target;
  for (size_t i = 0; i < count; ++i) to[i] = change(source[i]);
}

inline float gray_value(float red, float green, float blue) {
  return __builtin_fmaf(blue, 0.114f, __builtin_fmaf(green, 0.587f, red * 0.2989f));
}

/// Pixels are computed in short blocks of planes: so loops stay simple enough to become vectors,
/// whatever the layout.
constexpr int kBlock = 256;

struct Block {
  float red[kBlock], green[kBlock], blue[kBlock];
};

template <class T, int kStep>
inline void load_block(Block& block, const Colours<const T>& source, size_t begin, int count) {
  const T* red = source.first[0] + begin * kStep;
  const T* green = source.first[1] + begin * kStep;
  const T* blue = source.first[2] + begin * kStep;
  for (int i = 0; i < count; ++i) block.red[i] = static_cast<float>(red[i * kStep]);
  for (int i = 0; i < count; ++i) block.green[i] = static_cast<float>(green[i * kStep]);
  for (int i = 0; i < count; ++i) block.blue[i] = static_cast<float>(blue[i * kStep]);
}

template <class T>
inline T stored(float value);
template <>
inline float stored<float>(float value) {
  return value;
}
template <>
inline uint8_t stored<uint8_t>(float value) {
  return static_cast<uint8_t>(static_cast<int>(value));
}

template <class T, int kStep>
inline void store_block(const Colours<T>& target, const Block& block, size_t begin, int count) {
  T* red = target.first[0] + begin * kStep;
  T* green = target.first[1] + begin * kStep;
  T* blue = target.first[2] + begin * kStep;
  for (int i = 0; i < count; ++i) red[i * kStep] = stored<T>(block.red[i]);
  for (int i = 0; i < count; ++i) green[i * kStep] = stored<T>(block.green[i]);
  for (int i = 0; i < count; ++i) blue[i * kStep] = stored<T>(block.blue[i]);
}

template <class T, int kTo, int kFrom, class Change>
void change_blocks(const Colours<T>& target, const Colours<const T>& source, size_t count,
                   Change change) {
  Block block;
  for (size_t begin = 0; begin < count; begin += kBlock) {
    const int some = static_cast<int>(count - begin < kBlock ? count - begin : kBlock);
    load_block<T, kFrom>(block, source, begin, some);
    change(block, some);
    store_block<T, kTo>(target, block, begin, some);
  }
}

template <class T, class Change>
void change_pixels(const Colours<T>& target, const Colours<const T>& source, size_t count,
                   Change change) {
  if (source.step == 1 && target.step == 1)
    change_blocks<T, 1, 1>(target, source, count, change);
  else if (source.step == 1)
    change_blocks<T, 3, 1>(target, source, count, change);
  else if (target.step == 1)
    change_blocks<T, 1, 3>(target, source, count, change);
  else
    change_blocks<T, 3, 3>(target, source, count, change);
}

template <class To, class T, int kStep, class Finish>
void write_gray_blocks(To* target, const Colours<const T>& source, size_t count, Finish finish) {
  Block block;
  for (size_t begin = 0; begin < count; begin += kBlock) {
    const int some = static_cast<int>(count - begin < kBlock ? count - begin : kBlock);
    load_block<T, kStep>(block, source, begin, some);
    for (int i = 0; i < some; ++i)
      target[begin + i] = finish(gray_value(block.red[i], block.green[i], block.blue[i]));
  }
}

template <class To, class T, class Finish>
void write_gray(To* target, const Colours<const T>& source, size_t count, Finish finish) {
  if (source.step == 3) {
    write_gray_blocks<To, T, 3>(target, source, count, finish);
    return;
  }
  const T *red = source.first[0], *green = source.first[1], *blue = source.first[2];
  To* __restrict to = target;
  for (size_t i = 0; i < count; ++i)
    to[i] = finish(gray_value(static_cast<float>(red[i]), static_cast<float>(green[i]),
                              static_cast<float>(blue[i])));
}

template <bool kCut>
struct Saturate {
  float factor, rest, white;

  void operator()(Block& block, int count) const {
    for (int i = 0; i < count; ++i) {
      const float fraction = gray_value(block.red[i], block.green[i], block.blue[i]);
      const float gray = kCut ? __builtin_floorf(fraction) : fraction;
      block.red[i] = mixed(block.red[i], gray);
      block.green[i] = mixed(block.green[i], gray);
      block.blue[i] = mixed(block.blue[i], gray);
    }
  }

  float mixed(float colour, float gray) const {
    return within(__builtin_fmaf(gray, rest, colour * factor), 0.0f, white);
  }
};

/// The larger one, or NaN if one of them is.
inline float larger(float a, float b) { return a != a ? a : (b != b || b > a ? b : a); }
inline float smaller(float a, float b) { return a != a ? a : (b != b || b < a ? b : a); }

/// To hue, saturation and value, and back.
struct TurnHue {
  float turn, scale_in, scale_out;

  void operator()(Block& block, int count) const {
    for (int i = 0; i < count; ++i) turn_pixel(block.red[i], block.green[i], block.blue[i]);
  }

  void turn_pixel(float& red, float& green, float& blue) const {
    const float r = red * scale_in, g = green * scale_in, b = blue * scale_in;
    const float value = larger(larger(r, g), b);
    const float least = smaller(smaller(r, g), b);
    const bool is_gray = value == least;
    const float span = value - least;
    const float saturation = span / (is_gray ? 1.0f : value);
    const float divisor = is_gray ? 1.0f : span;
    const float to_red = (value - r) / divisor;
    const float to_green = (value - g) / divisor;
    const float to_blue = (value - b) / divisor;
    const float by_red = to_blue - to_green;
    const float by_green = (to_red + 2.0f) - to_blue;
    const float by_blue = (to_green + 4.0f) - to_red;
    const float sixths = r == value ? by_red : g == value ? by_green : by_blue;
    const float whole = sixths * (1.0f / 6.0f) + 1.0f;
    const float moved = (whole - __builtin_truncf(whole)) + turn;
    const float cut = moved - __builtin_truncf(moved);
    const float hue = cut < 0.0f ? cut + 1.0f : cut;

    const float place = hue * 6.0f;
    const float sixth = __builtin_floorf(place);
    const float by_part = saturation * (place - sixth);
    const float rest = 1.0f - saturation;
    const float q = within((1.0f - by_part) * value, 0.0f, 1.0f);
    const float t = within((by_part + rest) * value, 0.0f, 1.0f);
    const float p = within(rest * value, 0.0f, 1.0f);
    const bool in0 = (sixth == 0.0f) | (sixth == 6.0f);
    const bool in1 = sixth == 1.0f, in2 = sixth == 2.0f, in3 = sixth == 3.0f, in5 = sixth == 5.0f;
    // What is no number ends in the fifth part.
    red = ((in0 | in5) ? value : in1 ? q : (in2 | in3) ? p : t) * scale_out;
    green = (in0 ? t : (in1 | in2) ? value : in3 ? q : p) * scale_out;
    blue = ((in0 | in1) ? p : in2 ? t : in5 ? q : value) * scale_out;
  }
};

}  // namespace

void map_values(float* target, const float* source, size_t count, ValueMap map,
                const MapNumbers& numbers) {
  const float a = numbers.a, b = numbers.b, c = numbers.c;
  switch (map) {
    case ValueMap::scale:
      return map_each(target, source, count, [=](float x) { return within(x * a, 0.0f, 1.0f); });
    case ValueMap::blend:
      return map_each(target, source, count,
                      [=](float x) { return within(__builtin_fmaf(b, c, x * a), 0.0f, 1.0f); });
    case ValueMap::solarize:
      return map_each(target, source, count, [=](float x) { return x >= a ? 1.0f - x : x; });
    case ValueMap::posterize:
      return map_each(target, source, count,
                      [=](float x) { return within(__builtin_floorf(x * a), 0.0f, a - 1.0f) * b; });
    case ValueMap::normalize:
      return map_each(target, source, count, [=](float x) { return (x - a) / b; });
  }
}

void gray_of_floats(float* target, const Colours<const float>& source, size_t count) {
  write_gray(target, source, count, [](float gray) { return gray; });
}

void gray_of_levels(float* target, const Colours<const uint8_t>& source, size_t count) {
  write_gray(target, source, count, [](float gray) { return __builtin_floorf(gray); });
}

void gray_levels(uint8_t* target, const Colours<const uint8_t>& source, size_t count) {
  write_gray(target, source, count, [](float gray) { return stored<uint8_t>(gray); });
}

void saturate_floats(const Colours<float>& target, const Colours<const float>& source, size_t count,
                     float factor, float rest) {
  change_pixels(target, source, count, Saturate<false>{factor, rest, 1.0f});
}

void saturate_levels(const Colours<uint8_t>& target, const Colours<const uint8_t>& source,
                     size_t count, float factor, float rest) {
  change_pixels(target, source, count, Saturate<true>{factor, rest, 255.0f});
}

void turn_hue_of_floats(const Colours<float>& target, const Colours<const float>& source,
                        size_t count, float turn) {
  change_pixels(target, source, count, TurnHue{turn, 1.0f, 1.0f});
}

void turn_hue_of_levels(const Colours<uint8_t>& target, const Colours<const uint8_t>& source,
                        size_t count, float turn) {
  // torchvision's own numbers: almost 256, so that each level gets an equal share.
  constexpr float kLevels = static_cast<float>(255.0 + 1.0 - 1e-3);
  change_pixels(target, source, count, TurnHue{turn, static_cast<float>(1.0 / 255), kLevels});
}

void nearest_levels(uint8_t* target, const float* source, size_t count) {
  uint8_t* __restrict to = target;
  for (size_t i = 0; i < count; ++i) {
    const float place = source[i] * 255.0f + 0.5f;
    const float above = place > 0.0f ? place : 0.0f;
    to[i] = stored<uint8_t>(above < 255.0f ? above : 255.0f);
  }
}

bool stretch_plane(float* target, const float* source, size_t count) {
  constexpr int kWays = 64;  // as many at once as vectors like
  float low[kWays], high[kWays];
  int bad = 0;
  for (int w = 0; w < kWays; ++w) low[w] = high[w] = source[0];
  size_t i = 0;
  for (; i + kWays <= count; i += kWays)
    for (int w = 0; w < kWays; ++w) {
      const float value = source[i + w];
      low[w] = value < low[w] ? value : low[w];
      high[w] = value > high[w] ? value : high[w];
      bad |= value != value;
    }
  for (; i < count; ++i) {
    low[0] = source[i] < low[0] ? source[i] : low[0];
    high[0] = source[i] > high[0] ? source[i] : high[0];
    bad |= source[i] != source[i];
  }
  if (bad != 0) return false;
  for (int w = 1; w < kWays; ++w) {
    low[0] = low[w] < low[0] ? low[w] : low[0];
    high[0] = high[w] > high[0] ? high[w] : high[0];
  }
  const bool is_flat = low[0] == high[0];
  const float least = is_flat ? 0.0f : low[0], span = is_flat ? 1.0f : high[0] - low[0];
  map_each(target, source, count, [=](float x) { return within((x - least) / span, 0.0f, 1.0f); });
  return true;
}

}  // namespace penstock::PENSTOCK_ISA
