#include "engine/engine.h"

#include <algorithm>
#include <cerrno>
#include <exception>
#include <new>
#include <span>
#include <string>
#include <utility>

#include "base/error.h"
#include "engine/read_item.h"

namespace penstock {
namespace {

// A recycled buffer larger than this belonged to a giant and would only sit there.
constexpr size_t kLargestSpare = size_t{4} << 20;
// Spare items beyond this many come from a batch size that is no longer used.
constexpr size_t kMostSpare = 1024;

SampleSource source_of(const Item& item) {
  SampleSource source;
  source.height = item.height;
  source.width = item.width;
  if (item.rgb != nullptr) {
    source.rgb = item.rgb;
    source.rgb_stride = item.rgb_stride;
  } else if (item.storage == Storage::dct) {
    source.tiles = &item.tiles;
  } else {
    source.jpeg = item.encoded;
    source.header = &item.header;
  }
  return source;
}

/// A task must not throw: nobody would catch it. Returns what went wrong, or nothing.
template <class Body>
std::string guarded(Item& item, Body body) {
  try {
    body();
    return {};
  } catch (const ResourceError& error) {
    item.lacking = error.code();
    return error.what();
  } catch (const std::bad_alloc&) {
    item.lacking = ENOMEM;
    return "needs more memory than there is";
  } catch (const std::exception& error) {
    return error.what();
  }
}

template <class Read>
void read_guarded(Item& item, Read read) {
  std::string problem = guarded(item, [&] { read(item); });
  if (!problem.empty()) item.problem = std::move(problem);
}

}  // namespace

Engine::Engine(int workers, int readers)
    : bench_(static_cast<size_t>(workers)),
      readers_(readers),
      workers_(workers, [this](int worker) { settle(bench_[static_cast<size_t>(worker)]); }) {}

Engine::~Engine() = default;

std::vector<Item> Engine::items_for(size_t count) {
  std::vector<Item> items;
  items.reserve(count);
  const std::lock_guard lock(spare_mutex_);
  while (items.size() < count && !spare_.empty()) {
    items.push_back(std::move(spare_.back()));
    spare_.pop_back();
  }
  items.resize(count);
  return items;
}

std::shared_ptr<Chunk> Engine::fetch(uint64_t rank, const std::vector<std::string>& paths) {
  auto chunk = std::make_shared<Chunk>(items_for(paths.size()));
  chunk->begin(static_cast<int>(paths.size()));
  for (size_t i = 0; i < paths.size(); ++i) {
    chunk->items[i].path = paths[i];
    readers_.submit(rank, [chunk, i](int) {
      if (!chunk->cancelled()) read_guarded(chunk->items[i], read_file);
      chunk->finish_one();
    });
  }
  return chunk;
}

std::shared_ptr<Chunk> Engine::open_records(const std::vector<Record>& records) {
  auto chunk = std::make_shared<Chunk>(items_for(records.size()));
  for (size_t i = 0; i < records.size(); ++i) {
    Item& item = chunk->items[i];
    item.encoded = records[i].bytes;
    item.storage = records[i].storage;
    item.height = records[i].height;
    item.width = records[i].width;
  }
  return chunk;
}

void Engine::read_records(uint64_t rank, const std::shared_ptr<Chunk>& chunk,
                          std::vector<Rows> wanted) {
  // A share for each reader: waking a thread costs more than reading a record that is in memory.
  const auto all = std::make_shared<const std::vector<Rows>>(std::move(wanted));
  const size_t share = all->size() / static_cast<size_t>(readers_.threads()) + 1;
  chunk->begin(static_cast<int>((all->size() + share - 1) / share));
  for (size_t first = 0; first < all->size(); first += share)
    readers_.submit(rank, [chunk, all, first, share](int) {
      const size_t end = std::min(all->size(), first + share);
      for (size_t i = first; i < end && !chunk->cancelled(); ++i) {
        const Rows& part = (*all)[i];
        read_guarded(chunk->items[static_cast<size_t>(part.item)],
                     [&](Item& item) { read_record(item, part.rows); });
      }
      chunk->finish_one();
    });
}

void Engine::run(uint64_t rank, const std::shared_ptr<Chunk>& chunk) {
  chunk->begin(static_cast<int>(chunk->assignments.size()));
  for (size_t i = 0; i < chunk->assignments.size(); ++i)
    workers_.submit(rank, [this, chunk, i](int worker) {
      run_one(chunk, i, bench_[static_cast<size_t>(worker)]);
    });
}

void Engine::run_masks(uint64_t rank, const std::shared_ptr<Chunk>& chunk,
                       std::vector<MaskWork> works) {
  const auto all = std::make_shared<const std::vector<MaskWork>>(std::move(works));
  chunk->begin(static_cast<int>(all->size()));
  for (size_t i = 0; i < all->size(); ++i)
    workers_.submit(rank, [this, chunk, all, i](int worker) {
      MaskScratch& scratch = bench_[static_cast<size_t>(worker)].masks;
      if (!chunk->cancelled())
        read_guarded(chunk->items[i], [&](Item&) { move_masks((*all)[i], scratch); });
      chunk->finish_one();
    });
}

void Engine::run_one(const std::shared_ptr<Chunk>& chunk, size_t index, Worker& worker) {
  bool late = false;
  if (!chunk->cancelled()) {
    const Assignment& assignment = chunk->assignments[index];
    Item& item = chunk->items[static_cast<size_t>(assignment.item)];
    const std::shared_ptr<Chunk> before = std::move(worker.owed);
    std::string problem = guarded(item, [&] {
      item.result =
          run_sample(late, assignment.output, source_of(item), assignment.program, worker.scratch);
    });
    if (!problem.empty()) item.result = {DecodeStatus::failed, std::move(problem)};
    if (!late) worker.scratch.late.finish();  // an exception may have left some
    if (before) before->finish_one();
  }
  if (late)
    worker.owed = chunk;
  else
    chunk->finish_one();
}

void Engine::settle(Worker& worker) {
  worker.scratch.late.finish();
  if (worker.owed) worker.owed->finish_one();
  worker.owed.reset();
}

void Engine::finish() {
  readers_.finish();
  workers_.finish();
}

void Engine::recycle(Chunk& chunk) {
  const std::lock_guard lock(spare_mutex_);
  for (Item& item : chunk.items) {
    if (spare_.size() >= kMostSpare) break;
    Item spare;
    if (item.bytes.capacity() <= kLargestSpare) spare.bytes = std::move(item.bytes);
    spare_.push_back(std::move(spare));
  }
  chunk.items.clear();
}

}  // namespace penstock
