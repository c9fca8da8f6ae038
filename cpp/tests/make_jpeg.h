// JPEGs for the tests, written by libjpeg's compressor.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

// Needs <cstdio>, and does not say so.
#include <jpeglib.h>

namespace penstock::testing {

struct JpegSpec {
  int height = 0;
  int width = 0;
  int components = 3;
  int horizontal[3] = {1, 1, 1};  // sampling factors
  int vertical[3] = {1, 1, 1};
  int quality = 85;
  int restart_interval = 0;
  bool optimise = false;
  bool progressive = false;
  std::vector<jpeg_scan_info> scans;  // instead of the usual ones of a progressive file
  bool arithmetic = false;
  bool stored_as_rgb = false;
  int noise = 20;  // levels
};

/// A smooth pattern with noise on it, interleaved.
inline std::vector<uint8_t> make_pixels(const JpegSpec& spec, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> noise(-spec.noise, spec.noise);
  std::vector<uint8_t> pixels;
  pixels.reserve(size_t{3} * spec.height * spec.width);
  const int slope = static_cast<int>(seed % 7) + 1;
  for (int y = 0; y < spec.height; ++y)
    for (int x = 0; x < spec.width; ++x)
      for (int c = 0; c < spec.components; ++c) {
        const int level = (x * slope + y * (c + 2) + 60 * c) % 256;
        pixels.push_back(static_cast<uint8_t>(std::clamp(level + noise(random), 0, 255)));
      }
  return pixels;
}

/// libjpeg's compressor, writing to memory. What `info` says may be changed before it starts.
class Compressor {
 public:
  Compressor(int height, int width, int components, J_COLOR_SPACE colour) {
    info.err = jpeg_std_error(&errors_);
    errors_.output_message = [](j_common_ptr) {};  // remarks on coarse tables and wide quantisers
    jpeg_create_compress(&info);
    jpeg_mem_dest(&info, &bytes_, &size_);
    info.image_height = height;
    info.image_width = width;
    info.input_components = components;
    info.in_color_space = colour;
    jpeg_set_defaults(&info);
  }
  Compressor(const Compressor&) = delete;
  ~Compressor() {
    jpeg_destroy_compress(&info);
    std::free(bytes_);
  }

  std::vector<uint8_t> finish() {
    jpeg_finish_compress(&info);
    return {bytes_, bytes_ + size_};
  }

  jpeg_compress_struct info;

 private:
  jpeg_error_mgr errors_;
  unsigned char* bytes_ = nullptr;
  unsigned long size_ = 0;
};

/// The JPEG of these interleaved pixels, of which `spec` says how many there are.
inline std::vector<uint8_t> compress(const JpegSpec& spec, const std::vector<uint8_t>& pixels) {
  Compressor compressor(spec.height, spec.width, spec.components,
                        spec.components == 1 ? JCS_GRAYSCALE : JCS_RGB);
  jpeg_compress_struct& info = compressor.info;
  if (spec.stored_as_rgb) jpeg_set_colorspace(&info, JCS_RGB);
  jpeg_set_quality(&info, spec.quality, FALSE);
  info.restart_interval = spec.restart_interval;
  info.optimize_coding = spec.optimise ? TRUE : FALSE;
  info.arith_code = spec.arithmetic ? TRUE : FALSE;
  if (spec.progressive) jpeg_simple_progression(&info);
  if (!spec.scans.empty()) {
    info.scan_info = spec.scans.data();
    info.num_scans = static_cast<int>(spec.scans.size());
  }
  for (int c = 0; c < spec.components; ++c) {
    info.comp_info[c].h_samp_factor = spec.horizontal[c];
    info.comp_info[c].v_samp_factor = spec.vertical[c];
  }
  jpeg_start_compress(&info, TRUE);
  const size_t stride = size_t{1} * spec.width * spec.components;
  while (info.next_scanline < info.image_height) {
    auto* row = const_cast<JSAMPROW>(pixels.data() + info.next_scanline * stride);
    jpeg_write_scanlines(&info, &row, 1);
  }
  return compressor.finish();
}

inline std::vector<uint8_t> make_jpeg(const JpegSpec& spec, unsigned seed) {
  return compress(spec, make_pixels(spec, seed));
}

}  // namespace penstock::testing
