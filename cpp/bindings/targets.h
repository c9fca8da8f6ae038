// Where Python wants pixels: in an array, or in a batch's memory.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <tuple>
#include <variant>
#include <vector>

#include "bindings/batch_buffer.h"
#include "bindings/contract.h"

namespace penstock {

using WritablePixels = nanobind::ndarray<nanobind::numpy, uint8_t, nanobind::ndim<3>,
                                         nanobind::c_contig, nanobind::device::cpu>;
/// A batch's memory, a byte offset in it, and how an image is written there.
using Place = std::tuple<const BatchBuffer*, int64_t, const Format*>;
using Target = std::variant<WritablePixels, Place>;

/// Batches larger than this leave a core's cache before anybody reads them.
inline constexpr size_t kCacheBytes = size_t{4} << 20;

/// A place for an image of this size in a batch's memory. Throws Error if it does not fit.
Output output_in(const BatchBuffer& buffer, int64_t offset, const Format& format,
                 const FinalPass& pass, const Region& size, bool past_cache);

/// The same in an array of height x width x 3.
Output output_to(const WritablePixels& array, const Region& size);

/// The same in whichever it is; formats have to live until the image is written.
Output output_for(const Target& target, const Region& size, bool past_cache);

/// How large the memory is that several targets lie in, without arrays.
size_t bytes_behind(const std::vector<Target>& targets);

}  // namespace penstock
