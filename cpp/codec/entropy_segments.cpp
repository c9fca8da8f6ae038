#include "codec/entropy_segments.h"

#include <cstring>

#include "codec/entropy_bytes.h"
#include "codec/markers.h"

namespace penstock {

static_assert(kBitReaderSlack >= kUnstuffSlack);

EntropySegments::EntropySegments(std::span<const uint8_t> bytes, bool restarts, Buffer& unstuffed)
    : source_(bytes.data()),
      source_end_(bytes.data() + bytes.size()),
      restarts_(restarts),
      unstuffed_(unstuffed) {
  unstuffed_.reserve(bytes.size() + kBitReaderSlack);
  begin();
}

void EntropySegments::begin() {
  const EntropyBytes& entropy = PENSTOCK_PICK(entropy_bytes);
  const uint8_t* end = restarts_ ? entropy.find_marker(source_, source_end_) : source_end_;
  uint8_t* const unstuffed = unstuffed_.data();
  uint8_t* const unstuffed_end = entropy.unstuff(unstuffed, source_, end);
  std::memset(unstuffed_end, 0, kBitReaderSlack);
  source_ = end;
  cursor = EntropyCursor{BitReader(unstuffed), unstuffed_end, {}};
}

const char* EntropySegments::next() {
  if (has_bytes_left()) return "bytes left over before a restart marker";
  if (source_end_ - source_ < 2) return "restart marker missing";
  if (source_[1] != kRst0 + next_restart_) return "restart markers out of order";
  next_restart_ = (next_restart_ + 1) & 7;
  source_ += 2;
  begin();
  return nullptr;
}

}  // namespace penstock
