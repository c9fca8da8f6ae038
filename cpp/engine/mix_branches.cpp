#include "engine/mix_branches.h"

#include <utility>

namespace penstock {

void MixBranches::begin(Buffer& memory, const PlanarTarget& image, float weight) {
  images_ = 0;
  parts_.clear();
  first_ = image;
  add(memory, image, weight);
}

void MixBranches::add(Buffer& memory, const PlanarTarget& image, float weight) {
  if (images_ == memory_.size()) memory_.emplace_back();
  std::swap(memory_[images_++], memory);
  parts_.push_back({image.view(), weight});
}

void MixBranches::add_remembered(const PlanarTarget& image, float weight) {
  parts_.push_back({image.view(), weight});
}

}  // namespace penstock
