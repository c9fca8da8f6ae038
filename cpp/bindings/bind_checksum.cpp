// The checksum of bytes, wherever they lie.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "base/checksum.h"
#include "bindings/bind.h"

namespace nb = nanobind;
using namespace nb::literals;

void penstock::bind_checksum(nb::module_& m) {
  using Bytes = nb::ndarray<const uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
  m.def(
      "checksum",
      [](const Bytes& bytes, uint32_t before) {
        nb::gil_scoped_release released;
        return checksum(before, {bytes.data(), bytes.size()});
      },
      "bytes"_a, "before"_a = 0,
      nb::sig("def checksum(bytes: Buffer, before: int = 0) -> int"),
      "CRC-32 of bytes, as zlib.crc32, going on from that of the bytes before.");
}
