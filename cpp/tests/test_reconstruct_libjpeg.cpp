// The scalar reconstruction against libjpeg-turbo itself, from the same coefficients.
#include <cstddef>

#include "check.h"
#include "codec/reconstruct.h"
#include "coefficient_image.h"
#include "make_jpeg.h"

namespace penstock::testing {
namespace {

std::vector<uint8_t> write_jpeg(const CoefficientImage& image) {
  Compressor compressor(image.height, image.width, 3, JCS_YCbCr);
  jpeg_compress_struct& compress = compressor.info;

  // One scan per component, because an interleaved scan may hold ten blocks per MCU at most.
  jpeg_scan_info scans[3] = {};
  jvirt_barray_ptr arrays[3];
  for (int c = 0; c < 3; ++c) {
    const CoefficientComponent& from = image.component[c];
    jpeg_component_info& to = compress.comp_info[c];
    to.h_samp_factor = from.factors.horizontal;
    to.v_samp_factor = from.factors.vertical;
    to.quant_tbl_no = c;
    unsigned quant[64];
    std::copy(from.quant, from.quant + 64, quant);
    jpeg_add_quant_table(&compress, c, quant, 100, FALSE);
    // jpeg_add_quant_table limits to 15 bits; the format does not.
    std::copy(from.quant, from.quant + 64, compress.quant_tbl_ptrs[c]->quantval);
    scans[c].comps_in_scan = 1;
    scans[c].component_index[0] = c;
    scans[c].Se = 63;
    arrays[c] = compress.mem->request_virt_barray(reinterpret_cast<j_common_ptr>(&compress),
                                                  JPOOL_IMAGE, TRUE, from.block_columns + 4,
                                                  from.block_rows + 4, from.factors.vertical);
  }
  compress.scan_info = scans;
  compress.num_scans = 3;
  jpeg_write_coefficients(&compress, arrays);
  for (int c = 0; c < 3; ++c) {
    const CoefficientComponent& from = image.component[c];
    const size_t row_size = size_t{64} * from.block_columns;
    for (int y = 0; y < from.block_rows; ++y) {
      JBLOCKARRAY rows = compress.mem->access_virt_barray(reinterpret_cast<j_common_ptr>(&compress),
                                                          arrays[c], y, 1, TRUE);
      std::copy_n(from.coefficients.data() + y * row_size, row_size, rows[0][0]);
    }
  }
  return compressor.finish();
}

/// Rows of red, green and blue bytes, as to_rgb gives them.
std::vector<uint8_t> decode(const std::vector<uint8_t>& jpeg, int width) {
  jpeg_decompress_struct decompress;
  jpeg_error_mgr errors;
  decompress.err = jpeg_std_error(&errors);
  errors.output_message = [](j_common_ptr) {};  // remarks on wide quantisers
  jpeg_create_decompress(&decompress);
  jpeg_mem_src(&decompress, jpeg.data(), jpeg.size());
  jpeg_read_header(&decompress, TRUE);
  decompress.out_color_space = JCS_RGB;
  jpeg_start_decompress(&decompress);
  std::vector<uint8_t> line(size_t{3} * width), result;
  while (decompress.output_scanline < decompress.output_height) {
    uint8_t* rows[1] = {line.data()};
    jpeg_read_scanlines(&decompress, rows, 1);
    for (int channel = 0; channel < 3; ++channel)
      for (int x = 0; x < width; ++x) result.push_back(line[3 * x + channel]);
  }
  jpeg_finish_decompress(&decompress);
  CHECK(errors.num_warnings == 0);
  jpeg_destroy_decompress(&decompress);
  return result;
}

void check_image(std::mt19937& random, int height, int width, const Sampling (&factors)[3],
                 Content content) {
  const CoefficientImage image = random_image(random, height, width, factors, content);
  const std::vector<uint8_t> expected = decode(write_jpeg(image), width);
  const Planes planes = transform(image, scalar::idct_row);
  CHECK(to_rgb(planes, scalar::rgb_row, {0, 0, height, width}) == expected);
}

constexpr Content kContents[] = {Content::plain, Content::dense, Content::hostile, Content::row0};

TEST(samplings_and_odd_sizes) {
  const Sampling samplings[][3] = {
      {{1, 1}, {1, 1}, {1, 1}}, {{2, 1}, {1, 1}, {1, 1}}, {{1, 2}, {1, 1}, {1, 1}},
      {{2, 2}, {1, 1}, {1, 1}}, {{4, 1}, {1, 1}, {1, 1}}, {{1, 4}, {1, 1}, {1, 1}},
      {{4, 2}, {1, 1}, {1, 1}}, {{2, 4}, {1, 1}, {1, 1}}, {{4, 4}, {1, 1}, {1, 1}},
      {{3, 1}, {1, 1}, {1, 1}}, {{3, 3}, {1, 1}, {1, 1}}, {{1, 3}, {1, 1}, {1, 1}},
      {{2, 2}, {1, 1}, {2, 1}}, {{2, 2}, {1, 2}, {2, 2}}, {{2, 2}, {2, 1}, {1, 2}},
      {{4, 2}, {2, 1}, {2, 2}}, {{4, 4}, {2, 2}, {4, 2}}, {{2, 4}, {2, 2}, {1, 2}},
  };
  std::mt19937 random(1);
  for (const auto& factors : samplings)
    for (const int height : {1, 2, 3, 5, 8, 16, 17, 33})
      for (const int width : {1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 33, 67})
        check_image(random, height, width, factors, kContents[random() % std::size(kContents)]);
}

TEST(many_blocks) {
  const Sampling factors[3] = {{1, 1}, {1, 1}, {1, 1}};
  std::mt19937 random(2);
  for (const Content content : kContents) check_image(random, 512, 512, factors, content);
}

}  // namespace
}  // namespace penstock::testing
