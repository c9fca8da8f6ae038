// The reference: OpenCV's sums, one sample at a time.
#include "kernels/resample/opencv_rows.h"

namespace penstock::scalar {
namespace {

void prepare(PairTable&) {}

void across(int16_t* target, const uint8_t* row, const PairTable& table) {
  const int32_t* start = table.starts.data<int32_t>();
  const PairWeights* weights = table.weights.data<PairWeights>();
  for (int x = 0; x < table.count; ++x) {
    const uint8_t* pair = row + start[x];
    const int sum = pair[0] * weights[x].first + pair[1] * weights[x].second;
    target[x] = static_cast<int16_t>(sum >> 4);
  }
}

void down(uint8_t* target, const int16_t* upper, const int16_t* lower, PairWeights weights,
          int columns) {
  for (int x = 0; x < columns; ++x) {
    const int first = (upper[x] * weights.first) >> 16;
    const int second = (lower[x] * weights.second) >> 16;
    target[x] = static_cast<uint8_t>((first + second + 2) >> 2);
  }
}

}  // namespace

const OpencvRows opencv_rows{prepare, across, down};

}  // namespace penstock::scalar
