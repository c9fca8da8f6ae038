// Records of coefficient tiles from arbitrary bytes: every instruction set gives the same pixels or
// the same error, and what can be read can be written again.
#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "base/cpu.h"
#include "chosen_region.h"
#include "tiles/decode_tiles.h"
#include "tiles/encode_tiles.h"
#include "tiles/tile_parts.h"

namespace {

using namespace penstock;

constexpr int64_t kMaxPixels = 1 << 16;  // larger images only cost time

void require(bool condition) {
  if (!condition) std::abort();
}

/// Decodes a part of the image that depends on the input, so that the fuzzer can choose it.
void check_pixels(const TileImage& image, const Reduction& reduction,
                  std::span<const uint8_t> input, TileScratch& scratch) {
  const int scale = reduction.scale;
  const Region region =
      choose_region(reduced_size(image.height(), scale), reduced_size(image.width(), scale), input);
  const Region whole{0, 0, region.height, region.width};
  force_isa(Isa::scalar);
  Collect expected(whole);
  const DecodeResult reference = decode_tiles(expected, image, region, scratch, reduction);
  for (const Isa isa : supported_isas()) {
    force_isa(isa);
    Collect sink(whole);
    const DecodeResult result = decode_tiles(sink, image, region, scratch, reduction);
    require(result.status == reference.status && result.message == reference.message);
    require(sink.bytes == expected.bytes);
  }
}

void check_round_trip(const TileImage& image, TileScratch& scratch) {
  CoefficientImage coefficients, again;
  if (read_tiles(coefficients, image, scratch) != nullptr) return;
  std::vector<uint8_t> record;
  require(encode_tiles(record, coefficients, image.restore()) == nullptr);
  TileImage written;
  require(written.parse(record) == nullptr);
  require(read_tiles(again, written, scratch) == nullptr);
  for (int c = 0; c < coefficients.components; ++c)
    require(again.component[c].coefficients == coefficients.component[c].coefficients);
  require(std::ranges::equal(written.restore(), image.restore()));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  TileImage image;
  if (image.parse({data, size}) != nullptr) return 0;
  if (int64_t{image.height()} * image.width() > kMaxPixels) return 0;
  static TileScratch scratch;
  const TileParts parts = tile_parts(image);
  require(std::accumulate(parts.bytes.begin(), parts.bytes.end(), uint64_t{0}) == size);
  for (const Reduction reduction : {Reduction{1}, {2}, {4}, {8}, {8, true}})
    check_pixels(image, reduction, {data, size}, scratch);
  check_round_trip(image, scratch);
  return 0;
}
