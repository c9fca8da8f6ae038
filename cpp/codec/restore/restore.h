// A JPEG file rebuilt from its coefficients and a short `restore` section.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "codec/coefficient_image.h"
#include "codec/jpeg_decode.h"
#include "codec/restore/encode_scan.h"
#include "codec/restore/section.h"

namespace penstock {

/// Recycled memory for making sections.
struct RestoreScratch {
  RestoreSection section;
  RestoreSection read_back;
  std::vector<uint8_t> rebuilt;
  ScanScratch scan;
};

/// Replaces `restore` by the section from which `rebuild` makes `file` again, or else a file with
/// the same pixels; `likeness` says which. Both have been tried when this returns nullptr;
/// otherwise it says why neither works. Requires `image` to be read from `file`.
const char* make_restore(std::vector<uint8_t>& restore, Likeness& likeness,
                         std::span<const uint8_t> file, const JpegHeader& header,
                         const CoefficientImage& image, RestoreScratch& scratch,
                         DecodeScratch& decode_scratch);

/// Replaces `file` by the rebuilt file. Returns nullptr, or what is wrong with the section.
const char* rebuild(std::vector<uint8_t>& file, const CoefficientImage& image,
                    std::span<const uint8_t> restore);

}  // namespace penstock
