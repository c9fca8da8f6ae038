#include "records/check_record.h"

#include <algorithm>

#include "base/checksum.h"
#include "tiles/tile_image.h"
#include "tiles/tile_parts.h"

namespace penstock {
namespace {

bool has_checksums(const RecordFacts& facts) {
  if (checksum(0, facts.record) != facts.crc) return false;
  size_t place = 0;
  for (const PartFacts& part : facts.parts) {
    if (part.bytes > facts.record.size() - place) return false;
    if (checksum(0, facts.record.subspan(place, part.bytes)) != part.crc) return false;
    place += part.bytes;
  }
  return facts.parts.empty() || place == facts.record.size();
}

bool is_cut_as_said(const RecordFacts& facts, const TileImage& image) {
  const TileParts found = tile_parts(image);
  return found.rows == facts.part_rows && found.around == facts.rows_around &&
         std::ranges::equal(found.bytes, facts.parts, {}, {}, &PartFacts::bytes);
}

bool gives_original(const RecordFacts& facts, RecordScratch& scratch) {
  std::vector<uint8_t>& file = scratch.file;
  return rebuild_file(file, facts.record, scratch) == nullptr &&
         static_cast<int64_t>(file.size()) == facts.original_size &&
         checksum(0, file) == facts.original_crc;
}

}  // namespace

bool is_sound(const RecordFacts& facts, RecordCheck check, RecordScratch& scratch) {
  if (!has_checksums(facts)) return false;
  if (std::ranges::any_of(facts.padding, [](uint8_t byte) { return byte != 0; })) return false;
  if (!facts.is_dct || (check == RecordCheck::bytes && facts.parts.empty())) return true;
  TileImage image;
  if (image.parse(facts.record) != nullptr) return false;
  if (!facts.parts.empty() && !is_cut_as_said(facts, image)) return false;
  if (check == RecordCheck::bytes) return true;
  if (image.height() != facts.height || image.width() != facts.width) return false;
  if (check == RecordCheck::original) return gives_original(facts, scratch);
  return check_tiles(image, scratch.tiles) == nullptr;
}

}  // namespace penstock
