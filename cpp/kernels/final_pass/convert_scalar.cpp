#include "kernels/final_pass/convert.h"

namespace penstock::scalar {
namespace {

template <class T>
void look_up(T* target, const uint8_t* source, int count, const T (&table)[3][256], int channel) {
  if (channel != kInterleaved) {
    for (int i = 0; i < count; ++i) target[i] = table[channel][source[i]];
    return;
  }
  for (int i = 0; i < count; i += 3)
    for (int c = 0; c < 3; ++c) target[i + c] = table[c][source[i + c]];
}

void to_float32(void* target, const uint8_t* source, int count, const FinalPass& pass, int channel,
                bool) {
  look_up(static_cast<float*>(target), source, count, pass.float32, channel);
}

void to_float16(void* target, const uint8_t* source, int count, const FinalPass& pass, int channel,
                bool) {
  look_up(static_cast<uint16_t*>(target), source, count, pass.float16, channel);
}

void to_bfloat16(void* target, const uint8_t* source, int count, const FinalPass& pass, int channel,
                 bool) {
  look_up(static_cast<uint16_t*>(target), source, count, pass.bfloat16, channel);
}

}  // namespace

ConvertRow converter_for(Element element) {
  switch (element) {
    case Element::float16:
      return to_float16;
    case Element::bfloat16:
      return to_bfloat16;
    case Element::float32:
    case Element::uint8:
      break;
  }
  return to_float32;
}

}  // namespace penstock::scalar
