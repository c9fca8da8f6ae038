// The header parser on arbitrary bytes, with every instruction set giving the same answer.
#include "codec/jpeg_header.h"

#include <cstdlib>
#include <cstring>

#include "base/cpu.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace penstock;
  force_isa(Isa::scalar);
  const JpegHeader scalar = read_jpeg_header({data, size});
  force_isa(best_isa());
  const JpegHeader best = read_jpeg_header({data, size});
  if (scalar.route != best.route || std::strcmp(scalar.reason, best.reason) != 0 ||
      scalar.entropy_end != best.entropy_end)
    std::abort();
  if (best.orientation < 1 || best.orientation > 8) std::abort();
  if (best.route == Route::pillow && *best.reason == '\0') std::abort();
  if (best.route == Route::baseline &&
      (best.height < 1 || best.width < 1 || best.entropy_end + 2 > size))
    std::abort();
  return 0;
}
