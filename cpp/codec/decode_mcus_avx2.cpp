#if defined(__x86_64__)

#include "codec/decode_mcus_impl.h"

namespace penstock {

const McuDecoder mcu_decoder_avx2 = {decode_mcus<true>, decode_mcus<false>};

}  // namespace penstock

#endif
