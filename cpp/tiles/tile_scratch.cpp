#include "tiles/tile_scratch.h"

namespace penstock {

TileScratch::TileScratch() : state(std::make_unique<State>()) {}
TileScratch::~TileScratch() = default;
TileScratch::TileScratch(TileScratch&&) noexcept = default;

}  // namespace penstock
