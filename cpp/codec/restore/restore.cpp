#include "codec/restore/restore.h"

#include <algorithm>

#include "codec/restore/literals.h"
#include "codec/restore/patches.h"

namespace penstock {
namespace {

class CollectRows : public RowSink {
 public:
  void take(const PlanarView& rows, int) override {
    for (int y = 0; y < rows.height; ++y)
      for (int c = 0; c < rows.channels; ++c)
        bytes.insert(bytes.end(), rows.row(c, y), rows.row(c, y) + rows.width);
  }

  std::vector<uint8_t> bytes;
};

/// True if libjpeg decodes both without a warning, to the same pixels.
bool have_same_pixels(std::span<const uint8_t> a, std::span<const uint8_t> b,
                      DecodeScratch& scratch) {
  CollectRows pixels_a;
  CollectRows pixels_b;
  return decode_libjpeg_whole(pixels_a, a, scratch).status == DecodeStatus::ok &&
         decode_libjpeg_whole(pixels_b, b, scratch).status == DecodeStatus::ok &&
         pixels_a.bytes == pixels_b.bytes;
}

/// One file, and the attempts to find a section that rebuilds it.
class RestoreMaker {
 public:
  RestoreMaker(std::span<const uint8_t> file, const CoefficientImage& image,
               RestoreScratch& scratch, DecodeScratch& decode_scratch)
      : file_(file), image_(image), scratch_(scratch), decode_scratch_(decode_scratch) {}

  /// Leaves the section in the scratch.
  const char* run(const JpegHeader& header) {
    RestoreSection& section = scratch_.section;
    section.likeness = Likeness::bytes;
    section.patches.clear();
    if (const char* problem = take_literals(section.literals, file_)) return problem;
    if (section.literals.size() > kMostSectionPayload / 2) return "too much outside the image";
    if (rebuilds_bytes()) return nullptr;

    section.likeness = Likeness::pixels;
    section.patches.clear();
    section.pad_with_ones = true;
    if (rebuilds_pixels()) return nullptr;
    std::vector<uint8_t> plain;
    if (const char* problem = make_plain_literals(plain, section.literals, image_, header))
      return problem;
    section.literals.swap(plain);
    return rebuilds_pixels() ? nullptr : "no Huffman code gives these pixels again";
  }

 private:
  const char* write() {
    GrowingFile target{scratch_.rebuilt};
    const RestoreSection& section = scratch_.section;
    const char* problem =
        write_file(target, section.literals, image_, section.pad_with_ones, scratch_.scan);
    rebuilt_ = std::span<const uint8_t>(scratch_.rebuilt).first(target.used);
    return problem;
  }

  bool rebuilds_bytes() {
    for (const bool pad_with_ones : {true, false}) {
      scratch_.section.pad_with_ones = pad_with_ones;
      if (write() != nullptr) return false;
      if (std::ranges::equal(rebuilt_, file_)) return true;
    }
    scratch_.section.pad_with_ones = true;
    return write() == nullptr && find_patches(scratch_.section.patches, rebuilt_, file_);
  }

  bool rebuilds_pixels() {
    return write() == nullptr && have_same_pixels(file_, rebuilt_, decode_scratch_);
  }

  std::span<const uint8_t> file_;
  const CoefficientImage& image_;
  RestoreScratch& scratch_;
  DecodeScratch& decode_scratch_;
  std::span<const uint8_t> rebuilt_;
};

}  // namespace

const char* make_restore(std::vector<uint8_t>& restore, Likeness& likeness,
                         std::span<const uint8_t> file, const JpegHeader& header,
                         const CoefficientImage& image, RestoreScratch& scratch,
                         DecodeScratch& decode_scratch) {
  const char* problem = RestoreMaker(file, image, scratch, decode_scratch).run(header);
  if (problem != nullptr) return problem;
  const RestoreSection& section = scratch.section;
  likeness = section.likeness;
  write_section(restore, section);
  problem = read_section(scratch.read_back, restore);
  if (problem == nullptr && (scratch.read_back.literals != section.literals ||
                             scratch.read_back.patches != section.patches))
    problem = "the restore section does not read back";
  return problem;
}

const char* rebuild(std::vector<uint8_t>& file, const CoefficientImage& image,
                    std::span<const uint8_t> restore) {
  RestoreSection section;
  file.clear();
  if (const char* problem = read_section(section, restore)) return problem;
  ScanScratch scratch;
  GrowingFile target{file};
  if (const char* problem =
          write_file(target, section.literals, image, section.pad_with_ones, scratch))
    return problem;
  file.resize(target.used);
  return apply_patches(file, section.patches) ? nullptr : "a patch outside the file";
}

}  // namespace penstock
