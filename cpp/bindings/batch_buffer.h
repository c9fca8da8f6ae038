// What Python sees of a batch's memory; shared by the binding files that hand it on.
#pragma once

#include <memory>

#include "engine/batch_buffer.h"

namespace penstock {

struct BatchBuffer {
  std::shared_ptr<BatchMemory> memory;
  size_t bytes = 0;
  bool fresh = false;
};

}  // namespace penstock
