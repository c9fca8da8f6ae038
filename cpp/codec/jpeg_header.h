// What a JPEG says about itself before any entropy data is decoded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace penstock {

/// How an image's bytes are best turned into Pillow's pixels.
enum class Route : int32_t {
  baseline = 0,  // our own region decoder
  libjpeg = 1,   // libjpeg-turbo gives Pillow's pixels: progressive, arithmetic, odd sampling, RGB
  pillow =
      2,  // anything else: not a JPEG, four components, 12 bit, lossless, odd or broken headers
};

struct JpegComponent {
  uint8_t id = 0;
  uint8_t horizontal = 1;  // sampling factors
  uint8_t vertical = 1;
  uint8_t quant_table = 0;
  uint8_t dc_table = 0;  // of the first scan
  uint8_t ac_table = 0;
};

struct HuffmanSpec {
  bool present = false;
  uint8_t counts[17] = {};  // counts[n]: codes of n bits
  uint8_t symbols[256] = {};
};

struct JpegHeader {
  Route route = Route::pillow;
  const char* reason = "";  // why not baseline: a short static phrase for the ledger
  int height = 0;
  int width = 0;
  int components = 0;
  bool progressive = false;
  bool is_own_progressive = false;  // with Route::libjpeg: decode_progressive may be tried first
  bool arithmetic = false;
  int precision = 8;
  int orientation = 1;       // EXIF, 1..8; informative, Pillow's decode does not apply it
  int restart_interval = 0;  // MCUs
  JpegComponent component[4];
  int max_horizontal = 1;
  int max_vertical = 1;
  bool quant_present[4] = {};
  uint16_t quant[4][64] = {};  // natural (row-major) order
  HuffmanSpec dc[4];
  HuffmanSpec ac[4];
  size_t entropy_offset = 0;  // first byte after the SOS header
  size_t entropy_end = 0;     // offset of the EOI marker (not for Route::pillow)
};

/// Reads the markers up to the first scan, and walks over the entropy data to the EOI marker, so
/// that a truncated file or an unexpected scan goes to Pillow whatever region is asked for.
/// Never throws, never reads outside `bytes`.
JpegHeader read_jpeg_header(std::span<const uint8_t> bytes);

}  // namespace penstock
