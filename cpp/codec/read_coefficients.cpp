#include "codec/read_coefficients.h"

#include <algorithm>

#include "codec/decode_state.h"
#include "codec/jpeg_route.h"
#include "codec/libjpeg_reader.h"
#include "codec/scan_decoder.h"

namespace penstock {
namespace {

void begin_image(CoefficientImage& image, const JpegHeader& header) {
  image.height = header.height;
  image.width = header.width;
  image.components = header.components;
  image.colour = header.components == 1 ? Colour::gray : Colour::ycbcr;
  for (int c = 0; c < header.components; ++c) {
    CoefficientComponent& component = image.component[c];
    component.horizontal = header.component[c].horizontal;
    component.vertical = header.component[c].vertical;
    std::copy_n(header.quant[header.component[c].quant_table], 64, component.quant);
  }
  allocate_blocks(image);
}

const char* read_by_ourselves(CoefficientImage& image, std::span<const uint8_t> bytes,
                              const JpegHeader& header, DecodeState& state) {
  constexpr int kLastPosition = 63;
  state.tables.prepare(header);
  ScanDecoder scan(bytes, header, state.tables, state.unstuffed);
  for (int row = 0; row < image.mcu_rows(); ++row) {
    for (int c = 0; c < image.components; ++c) {
      CoefficientComponent& component = image.component[c];
      for (int y = 0; y < component.vertical; ++y)
        scan.set_target(c, y, component.block(row * component.vertical + y, 0), kLastPosition);
    }
    if (const char* problem = scan.store(image.mcu_columns())) return problem;
  }
  return nullptr;
}

bool copy_all(CoefficientImage& image, LibjpegReader& reader) {
  for (int c = 0; c < image.components; ++c) {
    CoefficientComponent& component = image.component[c];
    std::copy_n(reader.quant(c), 64, component.quant);
    for (int row = 0; row < component.block_rows; ++row)
      if (!reader.copy_blocks(component.block(row, 0), c, row, component.block_columns))
        return false;
  }
  return true;
}

bool is_subsampled(const CoefficientImage& image) {
  return image.component[0].horizontal != 1 || image.component[0].vertical != 1;
}

DecodeResult read_by_libjpeg(CoefficientImage& image, std::span<const uint8_t> bytes,
                             const JpegHeader& header) {
  LibjpegReader reader(bytes);
  if (!reader.read_coefficients()) return {DecodeStatus::failed, reader.message()};
  if (reader.warned()) return {DecodeStatus::warned, reader.message()};
  if (reader.incomplete()) return {DecodeStatus::warned, "incomplete progression"};
  if (!copy_all(image, reader)) return {DecodeStatus::failed, reader.message()};
  if (header.components == 3 && reader.is_rgb()) {
    image.colour = Colour::rgb;
    if (is_subsampled(image)) return {DecodeStatus::irregular, "subsampled RGB"};
  }
  return {};
}

}  // namespace

DecodeResult read_coefficients(CoefficientImage& image, std::span<const uint8_t> bytes,
                               const JpegHeader& header, DecodeScratch& scratch) {
  if (!is_sampling_usable(header)) return {DecodeStatus::irregular, "odd sampling"};
  begin_image(image, header);
  if (header.route == Route::baseline) {
    if (read_by_ourselves(image, bytes, header, scratch.state()) == nullptr) return {};
    begin_image(image, header);
  }
  return read_by_libjpeg(image, bytes, header);
}

}  // namespace penstock
