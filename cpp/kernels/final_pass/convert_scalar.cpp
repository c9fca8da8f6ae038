#include "kernels/final_pass/convert.h"

namespace penstock::scalar {
namespace {

template <class T>
void look_up_row(T* target, const uint8_t* source, int count, const T (&table)[3][256], int channel,
                 const uint8_t* levels) {
  if (levels != nullptr) {
    for (int i = 0; i < count; ++i) target[i] = table[channel][levels[source[i]]];
    return;
  }
  if (channel != kInterleaved) {
    for (int i = 0; i < count; ++i) target[i] = table[channel][source[i]];
    return;
  }
  for (int i = 0; i < count; i += 3)
    for (int c = 0; c < 3; ++c) target[i + c] = table[c][source[i + c]];
}

template <class T>
void look_up(const RowsToConvert& rows, const T (&table)[3][256], int channel) {
  auto* target = static_cast<uint8_t*>(rows.target);
  const uint8_t* source = rows.source;
  for (int left = rows.rows; left > 0; --left) {
    look_up_row(reinterpret_cast<T*>(target), source, rows.count, table, channel, rows.levels);
    target += rows.target_stride;
    source += rows.source_stride;
  }
}

void to_float32(const RowsToConvert& rows, const FinalPass& pass, int channel, bool) {
  look_up(rows, pass.float32, channel);
}

void to_float16(const RowsToConvert& rows, const FinalPass& pass, int channel, bool) {
  look_up(rows, pass.float16, channel);
}

void to_bfloat16(const RowsToConvert& rows, const FinalPass& pass, int channel, bool) {
  look_up(rows, pass.bfloat16, channel);
}

}  // namespace

ConvertRows converter_for(Element element) {
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
