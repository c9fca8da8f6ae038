// Coefficient images for the tests of the tiles: of JPEGs, and at random.
#pragma once

#include <cstddef>
#include <cstdio>
#include <random>
#include <vector>

#include "check.h"
#include "codec/coefficient_image.h"
#include "collect_rows.h"
#include "jpeg_cases.h"
#include "tiles/decode_tiles.h"
#include "tiles/encode_tiles.h"

// After <cstdio>, whose FILE it uses without declaring it.
#include <jpeglib.h>

namespace penstock::testing {

/// libjpeg's coefficients; blocks of whole MCUs that it has no room for are zero.
inline penstock::CoefficientImage coefficients_of(const std::vector<uint8_t>& jpeg) {
  jpeg_decompress_struct info;
  jpeg_error_mgr errors;
  info.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, jpeg.data(), jpeg.size());
  jpeg_read_header(&info, TRUE);
  jvirt_barray_ptr* arrays = jpeg_read_coefficients(&info);
  penstock::CoefficientImage image;
  image.height = static_cast<int>(info.image_height);
  image.width = static_cast<int>(info.image_width);
  image.components = info.num_components;
  image.colour = info.jpeg_color_space == JCS_GRAYSCALE ? Colour::gray
                 : info.jpeg_color_space == JCS_RGB     ? Colour::rgb
                                                        : Colour::ycbcr;
  for (int c = 0; c < image.components; ++c) {
    const jpeg_component_info& from = info.comp_info[c];
    image.component[c].horizontal = image.components == 1 ? 1 : from.h_samp_factor;
    image.component[c].vertical = image.components == 1 ? 1 : from.v_samp_factor;
    std::copy_n(from.quant_table->quantval, 64, image.component[c].quant);
  }
  allocate_blocks(image);
  for (int c = 0; c < image.components; ++c) {
    const jpeg_component_info& from = info.comp_info[c];
    const int rows = std::min<int>(image.component[c].block_rows, from.height_in_blocks);
    const int columns = std::min<int>(image.component[c].block_columns, from.width_in_blocks);
    for (int y = 0; y < rows; ++y) {
      JBLOCKARRAY blocks = info.mem->access_virt_barray(reinterpret_cast<j_common_ptr>(&info),
                                                        arrays[c], y, 1, FALSE);
      for (int x = 0; x < columns; ++x)
        std::copy_n(blocks[0][x], 64, image.component[c].block(y, x));
    }
  }
  jpeg_destroy_decompress(&info);
  return image;
}

/// A coefficient of up to `bits` bits.
inline int random_value(std::mt19937& random, int bits) {
  const int magnitude = static_cast<int>(random() >> 1 & ((1u << bits) - 1));
  return random() % 2 == 0 ? magnitude : -magnitude;
}

/// Blocks with few or many values of up to `bits` bits, as each block happens to have them.
inline penstock::CoefficientImage random_coefficients(std::mt19937& random, int height, int width,
                                                      const Factors& factors, Colour colour,
                                                      int bits) {
  penstock::CoefficientImage image;
  image.height = height;
  image.width = width;
  image.colour = colour;
  image.components = colour == Colour::gray ? 1 : 3;
  for (int c = 0; c < image.components; ++c) {
    penstock::CoefficientComponent& component = image.component[c];
    component.horizontal = colour == Colour::gray ? 1 : factors.horizontal[c];
    component.vertical = colour == Colour::gray ? 1 : factors.vertical[c];
    const unsigned quant_limit = random() % 4 == 0 ? 65535 : 60;
    for (uint16_t& quant : component.quant)
      quant = static_cast<uint16_t>(1 + random() % quant_limit);
  }
  allocate_blocks(image);
  for (int c = 0; c < image.components; ++c) {
    std::vector<int16_t>& coefficients = image.component[c].coefficients;
    for (size_t block = 0; block < coefficients.size(); block += 64) {
      coefficients[block] = static_cast<int16_t>(random_value(random, 1 + random() % 15));
      const unsigned spacing = 1u << random() % 8;
      const int block_bits = 1 + static_cast<int>(random() % bits);
      for (int i = 1; i < 64; ++i)
        if (random() % spacing == 0)
          coefficients[block + i] = static_cast<int16_t>(random_value(random, block_bits));
    }
  }
  return image;
}

inline std::vector<uint8_t> record_of(const penstock::CoefficientImage& image) {
  std::vector<uint8_t> record;
  CHECK(encode_tiles(record, image) == nullptr);
  return record;
}

/// An image decoded from tiles, which must be good.
inline Pixels decode(const std::vector<uint8_t>& record, const Region& region, TileScratch& scratch,
                     const Reduction& reduction = {}) {
  TileImage image;
  CHECK(image.parse(record) == nullptr);
  CollectRows sink;
  CHECK(decode_tiles(sink, image, region, scratch, reduction).status == DecodeStatus::ok);
  return sink.pixels();
}

}  // namespace penstock::testing
