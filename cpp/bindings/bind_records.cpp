// What JPEG files and their records hold.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <span>
#include <vector>

#include "bindings/arguments.h"
#include "bindings/bind.h"
#include "bindings/names.h"
#include "codec/jpeg_header.h"
#include "records/jpeg_record.h"
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
  m.def("give_back_memory", &give_back_memory,
        "Return to the system what the C library keeps for later, for each thread separately.");
}
