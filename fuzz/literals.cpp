// Literals from arbitrary bytes: what a restore section holds after it was inflated. Mutated
// sections rarely inflate, so that the other target seldom comes this far.
#include "codec/restore/literals.h"

#include <cstdlib>
#include <vector>

#include "codec/jpeg_decode.h"
#include "codec/jpeg_header.h"
#include "codec/restore/patches.h"
#include "codec/restore/section.h"

namespace {

using namespace penstock;

/// An image of three components, the first with twice the samples of the others, or of one.
CoefficientImage make_image(bool is_gray) {
  CoefficientImage image;
  image.height = 19;
  image.width = 35;
  image.components = is_gray ? 1 : 3;
  for (int c = 0; c < image.components; ++c)
    image.component[c].horizontal = image.component[c].vertical = c == 0 && !is_gray ? 2 : 1;
  allocate_blocks(image);
  int next = 0;
  for (CoefficientComponent& component : image.component)
    for (int16_t& coefficient : component.coefficients)
      if (++next % 5 == 0) coefficient = static_cast<int16_t>(next % 41 - 20);
  return image;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;  // every file has literals
  static const CoefficientImage images[] = {make_image(false), make_image(true)};
  const std::span<const uint8_t> literals(data, size);
  std::vector<uint8_t> bytes, plain, again;
  ScanScratch scan;
  for (const CoefficientImage& image : images) {
    GrowingFile target{bytes};
    if (write_file(target, literals, image, true, scan) != nullptr) continue;
    const std::span<const uint8_t> file(bytes.data(), target.used);
    take_literals(again, file);
    const JpegHeader header = read_jpeg_header(file);
    if (header.route != Route::pillow) make_plain_literals(plain, literals, image, header);
  }

  // As a section: what is written must be read back.
  RestoreSection section, read_back;
  section.literals.assign(literals.begin(), literals.end());
  section.patches.assign(literals.begin(), literals.begin() + static_cast<ptrdiff_t>(size / 2));
  write_section(bytes, section);
  if (read_section(read_back, bytes) != nullptr) std::abort();
  if (read_back.literals != section.literals || read_back.patches != section.patches) std::abort();
  std::vector<uint8_t> file(64);
  apply_patches(file, section.patches);
  return 0;
}
