// Both decoders of JPEG files, on a region of one image.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstring>
#include <span>

#include "bindings/arguments.h"
#include "bindings/bind.h"
#include "bindings/names.h"
#include "codec/jpeg_decode.h"
#include "kernels/copy_rows.h"
#include "kernels/output.h"

namespace nb = nanobind;
using namespace nb::literals;
using namespace penstock;

namespace {

/// Decodes `region` of the image reduced by `scale`; returns (status, message, HxWx3 array).
nb::tuple decode_region(const nb::bytes& data, const char* decoder, int top, int left, int height,
                        int width, int scale) {
  const std::span<const uint8_t> bytes = bytes_of(data);
  const JpegHeader header = read_jpeg_header(bytes);
  const std::string_view wanted = decoder;
  if (header.route == Route::pillow || (wanted == "baseline" && header.route != Route::baseline))
    throw Error(std::string("decode_region: the ") + decoder +
                " decoder does not take this file: " + header.reason + ".");
  if (scale != 1 && scale != 2 && scale != 4 && scale != 8)
    throw Error("decode_region: scale must be 1, 2, 4 or 8, got " + std::to_string(scale) + ".");
  if (scale != 1 && wanted != "baseline")
    throw Error("decode_region: scale " + std::to_string(scale) +
                " is for the baseline decoder, got '" + decoder + "'.");
  if (top < 0 || left < 0 || height < 1 || width < 1 ||
      height > reduced_size(header.height, scale) - top ||
      width > reduced_size(header.width, scale) - left)
    throw Error("decode_region: the region does not lie in the image.");

  const size_t stride = static_cast<size_t>(width) * 3;
  auto* pixels = new uint8_t[stride * static_cast<size_t>(height)]();
  nb::capsule owner(pixels, [](void* p) noexcept { delete[] static_cast<uint8_t*>(p); });
  Output output;
  output.data = pixels;
  output.row_stride = static_cast<ptrdiff_t>(stride);
  output.height = height;
  output.width = width;
  output.layout = Layout::hwc;

  DecodeResult result;
  {
    nb::gil_scoped_release released;
    DecodeScratch scratch;
    CopyScratch copy;
    RowSink& sink = begin_copy(copy, header.components == 1 ? 1 : 3, false, false, output);
    const Region region{top, left, height, width};
    result = wanted == "baseline" ? decode_baseline(sink, bytes, header, region, scratch, {scale})
                                  : decode_libjpeg(sink, bytes, header, region, scratch);
  }
  const size_t shape[3] = {static_cast<size_t>(height), static_cast<size_t>(width), 3};
  return nb::make_tuple(name_in(kStatuses, result.status), result.message.c_str(),
                        nb::ndarray<nb::numpy, uint8_t>(pixels, 3, shape, owner));
}

}  // namespace

void penstock::bind_decode(nb::module_& m) {
  m.def("decode_region", &decode_region, "data"_a, "decoder"_a, "top"_a, "left"_a, "height"_a,
        "width"_a, "scale"_a = 1,
        "Decode a region with the 'baseline' or 'libjpeg' decoder: (status, message, HxWx3). The "
        "baseline decoder can reduce the image by a `scale` of 2, 4 or 8.");
}
