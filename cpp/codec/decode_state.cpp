#include "codec/decode_state.h"

namespace penstock {

DecodeScratch::DecodeScratch() : state(std::make_unique<State>()) {}
DecodeScratch::~DecodeScratch() = default;
DecodeScratch::DecodeScratch(DecodeScratch&&) noexcept = default;

}  // namespace penstock
