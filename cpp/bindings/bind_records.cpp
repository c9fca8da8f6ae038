// What JPEG files and their records hold.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <cstdint>
#include <span>
#include <vector>

#include "bindings/arguments.h"
#include "bindings/bind.h"
#include "bindings/names.h"
#include "codec/jpeg_header.h"
#include "records/check_record.h"
#include "records/jpeg_record.h"
#include "tiles/decode_tiles.h"
#include "tiles/tile_parts.h"

namespace nb = nanobind;
using namespace nb::literals;
using namespace penstock;

namespace {

nb::bytes to_bytes(std::span<const uint8_t> bytes) { return nb::bytes(bytes.data(), bytes.size()); }

nb::dict header_facts(const nb::bytes& data) {
  const JpegHeader header = read_jpeg_header(bytes_of(data));
  nb::dict facts;
  facts["route"] = name_in(kRoutes, header.route);
  facts["reason"] = header.reason;
  facts["height"] = header.height;
  facts["width"] = header.width;
  facts["components"] = header.components;
  facts["progressive"] = header.progressive;
  facts["arithmetic"] = header.arithmetic;
  facts["precision"] = header.precision;
  facts["orientation"] = header.orientation;
  facts["restart_interval"] = header.restart_interval;
  facts["entropy_offset"] = header.entropy_offset;
  nb::list sampling;
  for (int c = 0; c < header.components && c < 4; ++c)
    sampling.append(nb::make_tuple(header.component[c].horizontal, header.component[c].vertical));
  facts["sampling"] = sampling;
  return facts;
}

nb::dict facts_of(const JpegRecord& record) {
  nb::dict facts;
  facts["height"] = record.header.height;
  facts["width"] = record.header.width;
  facts["components"] = record.header.components;
  facts["orientation"] = record.header.orientation;
  facts["identical"] = record.is_identical || !record.is_dct;
  return facts;
}

nb::tuple encode_to_tuple(const nb::bytes& data) {
  JpegRecord record;
  {
    nb::gil_scoped_release released;
    RecordScratch scratch;
    record = encode_record(bytes_of(data), scratch);
  }
  return nb::make_tuple(record.is_dct ? "dct" : "jpeg", record.is_dct ? to_bytes(record.dct) : data,
                        facts_of(record), record.reason.c_str());
}

nb::bytes rebuild_to_bytes(const nb::bytes& record) {
  std::vector<uint8_t> file;
  const char* problem = nullptr;
  {
    nb::gil_scoped_release released;
    RecordScratch scratch;
    problem = rebuild_file(file, bytes_of(record), scratch);
  }
  if (problem != nullptr) throw nb::value_error(problem);
  return to_bytes(file);
}

using RecordBytes = nb::ndarray<const uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

nb::tuple parts_to_tuple(const RecordBytes& record) {
  TileImage image;
  const char* problem = image.parse({record.data(), record.size()});
  if (problem != nullptr) throw nb::value_error(problem);
  const TileParts parts = tile_parts(image);
  nb::list sizes;
  for (const uint64_t bytes : parts.bytes) sizes.append(bytes);
  return nb::make_tuple(sizes, parts.rows, parts.around);
}

nb::tuple check_to_tuple(const nb::bytes& record) {
  TileImage image;
  const char* problem = nullptr;
  {
    nb::gil_scoped_release released;
    TileScratch scratch;
    problem = image.parse(bytes_of(record));
    if (problem == nullptr) problem = check_tiles(image, scratch);
  }
  if (problem != nullptr) throw nb::value_error(problem);
  return nb::make_tuple(image.height(), image.width());
}

using Numbers = nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using PartTable = nb::ndarray<const uint32_t, nb::shape<-1, 2>, nb::c_contig, nb::device::cpu>;
using Answers = nb::ndarray<uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// Columns of the index, for some samples.
struct RecordColumns {
  RecordBytes file;
  Numbers offset, size, crc, is_dct, height, width, part_count, part_rows, rows_around;
  PartTable parts;
  Numbers original_size, original_crc;

  void check_lengths(size_t records) const {
    for (const Numbers* column : {&offset, &size, &crc, &is_dct, &height, &width, &part_count,
                                  &part_rows, &rows_around, &original_size, &original_crc})
      if (column->size() != records) throw nb::value_error("columns of different lengths");
    const auto bytes = static_cast<int64_t>(file.size());
    auto parts_left = static_cast<int64_t>(parts.shape(0));
    for (size_t i = 0; i < records; ++i) {
      if (offset.data()[i] < 0 || offset.data()[i] > bytes || size.data()[i] < 0 ||
          padded(size.data()[i]) > bytes - offset.data()[i])
        throw nb::value_error("a record outside the file");
      if (part_count.data()[i] < 0 || part_count.data()[i] > parts_left)
        throw nb::value_error("parts outside their table");
      parts_left -= part_count.data()[i];
    }
  }

  /// `first_part` is moved behind the record's parts.
  RecordFacts facts(size_t i, size_t& first_part) const {
    static_assert(sizeof(PartFacts) == 2 * sizeof(uint32_t));
    const uint8_t* begin = file.data() + offset.data()[i];
    const auto bytes = static_cast<size_t>(size.data()[i]);
    RecordFacts facts;
    facts.record = {begin, bytes};
    facts.padding = {begin + bytes, static_cast<size_t>(padded(size.data()[i])) - bytes};
    facts.is_dct = is_dct.data()[i] != 0;
    facts.crc = crc.data()[i];
    const auto count = static_cast<size_t>(part_count.data()[i]);
    facts.parts = {reinterpret_cast<const PartFacts*>(parts.data()) + first_part, count};
    first_part += count;
    facts.part_rows = part_rows.data()[i];
    facts.rows_around = rows_around.data()[i];
    facts.height = height.data()[i];
    facts.width = width.data()[i];
    facts.original_size = original_size.data()[i];
    facts.original_crc = original_crc.data()[i];
    return facts;
  }

 private:
  static int64_t padded(int64_t bytes) {
    constexpr int64_t kAlignment = 64;
    return bytes > INT64_MAX - kAlignment ? bytes : (bytes + kAlignment - 1) & -kAlignment;
  }
};

void check_records(const Answers& sound, RecordCheck check, const RecordColumns& columns) {
  columns.check_lengths(sound.size());
  nb::gil_scoped_release released;
  RecordScratch scratch;
  size_t first_part = 0;
  for (size_t i = 0; i < sound.size(); ++i)
    sound.data()[i] = is_sound(columns.facts(i, first_part), check, scratch);
}

void give_back_memory() {
#ifdef __GLIBC__
  nb::gil_scoped_release released;
  malloc_trim(0);
#endif
}

}  // namespace

void penstock::bind_records(nb::module_& m) {
  m.def("jpeg_header", &header_facts, "data"_a,
        "What a JPEG says about itself, without decoding it.");
  m.def("encode_record", &encode_to_tuple, "data"_a,
        nb::sig("def encode_record(data: bytes) -> tuple[str, bytes, dict[str, int], str]"),
        "A JPEG file's record: (storage, record, facts, reason). The storage is 'dct', or 'jpeg' "
        "if the file itself is the record; the reason says why, or why a 'dct' record gives back "
        "only the pixels and not the file. Facts: height, width, components, orientation, "
        "identical.");
  m.def("rebuild_file", &rebuild_to_bytes, "record"_a,
        "The JPEG file of a 'dct' record. ValueError if the record is damaged.");
  m.def("tile_parts", &parts_to_tuple, "record"_a,
        nb::sig("def tile_parts(record: NDArray[numpy.uint8]) -> tuple[list[int], int, int]"),
        "How a 'dct' record is cut into parts: (bytes of the head, of each row of tiles and of the "
        "rest; rows of pixels in a row of tiles; rows around a region that its pixels depend on). "
        "Of the record's contents, only the head must be there. ValueError if it is damaged.");
  m.def("check_tiles", &check_to_tuple, "record"_a,
        nb::sig("def check_tiles(record: bytes) -> tuple[int, int]"),
        "Unpack every tile of a 'dct' record, as for pixels; return the image's height and width. "
        "ValueError if the record is damaged.");
  nb::enum_<RecordCheck>(m, "RecordCheck", "How closely records are looked at.")
      .value("BYTES", RecordCheck::bytes)
      .value("TILES", RecordCheck::tiles)
      .value("ORIGINAL", RecordCheck::original);
  m.def(
      "check_records",
      [](const Answers& sound, RecordCheck check, const RecordBytes& file, const Numbers& offset,
         const Numbers& size, const Numbers& crc, const Numbers& is_dct, const Numbers& height,
         const Numbers& width, const Numbers& part_count, const Numbers& part_rows,
         const Numbers& rows_around, const PartTable& parts, const Numbers& original_size,
         const Numbers& original_crc) {
        check_records(sound, check,
                      {file, offset, size, crc, is_dct, height, width, part_count, part_rows,
                       rows_around, parts, original_size, original_crc});
      },
      // noconvert: a silent copy of `sound` would lose the result.
      "sound"_a.noconvert(), "check"_a, "file"_a, nb::kw_only(), "offset"_a, "size"_a, "crc"_a,
      "is_dct"_a, "height"_a, "width"_a, "part_count"_a, "part_rows"_a, "rows_around"_a, "parts"_a,
      "original_size"_a, "original_crc"_a,
      "Fill `sound`: whether each of these records is what the columns say of it. `parts` has "
      "bytes "
      "and checksum of the parts of all of them. Runs without Python's lock.");
  m.def("give_back_memory", &give_back_memory,
        "Return to the system what the C library keeps for later, for each thread separately.");
}
