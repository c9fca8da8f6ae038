#include "base/cpu.h"
#include "codec/decode_mcus_impl.h"

namespace penstock {

const McuDecoder mcu_decoder_scalar = {decode_mcus<Keep::all>, decode_mcus<Keep::low>,
                                       decode_mcus<Keep::none>};

const McuDecoder& mcu_decoder() {
#if defined(__x86_64__)
  // AVX2 machines have shifts that leave the flags alone; wider vectors add nothing here.
  if (active_isa() >= Isa::avx2) return mcu_decoder_avx2;
#endif
  return mcu_decoder_scalar;
}

}  // namespace penstock
