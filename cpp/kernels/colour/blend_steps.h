// A blend with gray as two tables: how far a value ends up from its gray, by how far it started.
#pragma once

#include <cstdint>

namespace penstock {

/// For a value at distance d from its gray: the blend adds `up[d]` where it moves away from black,
/// and subtracts `down[d]` where it moves towards it, both saturating.
struct BlendSteps {
  alignas(64) uint8_t up[256];
  alignas(64) uint8_t down[256];
};

/// False if for this factor some sum of gray and step rounds up to a whole level in float
/// arithmetic: then the result depends on more than the distance, and the tables are of no use.
bool make_blend_steps(BlendSteps& steps, float factor);

}  // namespace penstock
