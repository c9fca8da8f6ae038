// The entropy data of one scan: segments between restart markers, without their stuffed zeros.
#pragma once

#include <cstdint>
#include <span>

#include "base/buffer.h"
#include "codec/decode_mcus.h"

namespace penstock {

class EntropySegments {
 public:
  /// The bytes of one scan, with `restarts` if markers divide them. `unstuffed` stays in use.
  EntropySegments(std::span<const uint8_t> bytes, bool restarts, Buffer& unstuffed);

  /// In the segment that has begun.
  EntropyCursor cursor;

  /// Begins the segment behind the next restart marker; returns nullptr, or what is wrong.
  const char* next();

  /// True if whole bytes of the segment are left.
  bool has_bytes_left() const { return cursor.reader.position(cursor.end) <= -8; }
  /// True if all markers were passed.
  bool at_end() const { return source_ == source_end_; }

 private:
  void begin();

  const uint8_t* source_;  // first byte not yet unstuffed
  const uint8_t* source_end_;
  bool restarts_;
  Buffer& unstuffed_;
  int next_restart_ = 0;
};

}  // namespace penstock
