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
      [](const Bytes& content, uint32_t before) {
        nb::gil_scoped_release released;
        return checksum(before, {content.data(), content.size()});
      },
      "content"_a, "before"_a = 0,
      nb::sig("def checksum(content: bytes | memoryview | NDArray[numpy.uint8], before: int = 0)"
              " -> int"),
      "CRC-32 of bytes, as zlib.crc32, going on from that of the bytes before.");
}
