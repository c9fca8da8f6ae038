#if defined(__x86_64__)

#include "codec/decode_mcus_impl.h"

namespace penstock {

const McuDecoder mcu_decoder_avx2 = {decode_mcus<Keep::all>, decode_mcus<Keep::low>,
                                     decode_mcus<Keep::none>};

}  // namespace penstock

#endif
