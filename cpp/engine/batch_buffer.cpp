#include "engine/batch_buffer.h"

#include <sys/mman.h>

#include <algorithm>
#include <new>
#include <utility>

namespace penstock {

BatchMemory::BatchMemory(size_t bytes) : bytes_(bytes) {
  void* mapped = ::mmap(nullptr, std::max<size_t>(bytes, 1), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
  ::madvise(mapped, bytes, MADV_HUGEPAGE);
#endif
  data_ = static_cast<uint8_t*>(mapped);
}

BatchMemory::~BatchMemory() {
  if (owned_) ::munmap(data_, std::max<size_t>(bytes_, 1));
}

BatchRing::Lease BatchRing::take(size_t bytes) {
  std::unique_ptr<BatchMemory> memory;
  bool fresh = false;
  {
    const std::lock_guard lock(mutex_);
    auto fitting = idle_.end();
    for (auto it = idle_.begin(); it != idle_.end(); ++it)
      if ((*it)->bytes() >= bytes &&
          (fitting == idle_.end() || (*it)->bytes() < (*fitting)->bytes()))
        fitting = it;
    if (fitting != idle_.end()) {
      memory = std::move(*fitting);
      idle_.erase(fitting);
    } else {
      ++made_;
      fresh = true;
    }
  }
  if (fresh) memory = std::make_unique<BatchMemory>(bytes);

  std::weak_ptr<BatchRing> ring = weak_from_this();
  std::shared_ptr<BatchMemory> lease(memory.release(), [ring](BatchMemory* returned) {
    std::unique_ptr<BatchMemory> owned(returned);
    if (const auto alive = ring.lock()) alive->give_back(std::move(owned));
  });
  return {std::move(lease), fresh};
}

void BatchRing::give_back(std::unique_ptr<BatchMemory> memory) {
  const std::lock_guard lock(mutex_);
  if (idle_.size() < most_idle_) idle_.push_back(std::move(memory));
}

size_t BatchRing::idle() const {
  const std::lock_guard lock(mutex_);
  return idle_.size();
}

size_t BatchRing::made() const {
  const std::lock_guard lock(mutex_);
  return made_;
}

}  // namespace penstock
