#include "kernels/row_shuffle/row_shuffle.h"

namespace penstock {

const RowShuffle& row_shuffle() {
  return row_shuffle_scalar();
}

}  // namespace penstock
