#include "engine/engine.h"

#include <algorithm>
#include <cerrno>
#include <exception>
#include <new>
#include <span>
#include <string>
#include <utility>

#include "base/error.h"
#include "engine/read_sample.h"

namespace penstock {
namespace {

// A recycled buffer larger than this belonged to a huge image and would only waste memory.
constexpr size_t kLargestSpare = size_t{4} << 20;
// Work on fewer pixels than these is done before another thread would have woken up for it.
constexpr int64_t kLeastPixels = 16 << 10;

SampleSource source_of(const Sample& sample) {
  SampleSource source;
  source.height = sample.height;
  source.width = sample.width;
  if (sample.rgb != nullptr) {
    source.rgb = sample.rgb;
    source.rgb_stride = sample.rgb_stride;
  } else if (sample.storage == Storage::dct) {
    source.tiles = sample.tiles.get();
  } else {
    source.jpeg = sample.encoded;
    source.header = sample.header.get();
  }
  return source;
}

/// A task must not throw: nobody would catch it. Returns what went wrong, or nothing.
template <class Body>
std::string guarded(Sample& sample, Body body) {
  try {
    body();
    return {};
  } catch (const ResourceError& error) {
    sample.lacking = error.code();
    return error.what();
  } catch (const std::bad_alloc&) {
    sample.lacking = ENOMEM;
    return "needs more memory than there is";
  } catch (const std::exception& error) {
    return error.what();
  }
}

template <class Read>
void read_guarded(Sample& sample, Read read) {
  std::string problem = guarded(sample, [&] { read(sample); });
  if (!problem.empty()) sample.problem = std::move(problem);
}

/// Pixels that a sample's programs read or write, whichever are more.
int64_t pixels_of(const Part& part, const Assignment& assignment) {
  const Sample& sample = part.samples[static_cast<size_t>(assignment.sample)];
  int64_t written = 0;
  for (const View& view : assignment.views)
    written += int64_t{1} * view.output.height * view.output.width;
  return std::max(written, int64_t{1} * sample.height * sample.width);
}

}  // namespace

Engine::Engine(int workers, int readers, size_t row_memory)
    : bench_(static_cast<size_t>(workers)),
      row_memory_(row_memory),
      readers_(readers),
      workers_(workers, [this](int worker) { settle(bench_[static_cast<size_t>(worker)]); }) {}

Engine::~Engine() = default;

std::shared_ptr<Part> Engine::fetch(uint64_t rank, const std::vector<std::string>& paths) {
  auto part = std::make_shared<Part>(std::vector<Sample>(paths.size()));
  part->begin(static_cast<int>(paths.size()));
  for (size_t i = 0; i < paths.size(); ++i) {
    part->samples[i].path = paths[i];
    readers_.submit(rank, [this, part, i](int) {
      if (!part->cancelled())
        read_guarded(part->samples[i], [this](Sample& sample) { read_file(sample, spare_); });
      part->finish_one();
    });
  }
  return part;
}

std::shared_ptr<Part> Engine::open_mapped(const std::vector<MappedSample>& mapped) {
  auto part = std::make_shared<Part>(std::vector<Sample>(mapped.size()));
  for (size_t i = 0; i < mapped.size(); ++i) {
    Sample& sample = part->samples[i];
    sample.encoded = mapped[i].bytes;
    sample.storage = mapped[i].storage;
    sample.height = mapped[i].height;
    sample.width = mapped[i].width;
  }
  return part;
}

void Engine::read_mapped(uint64_t rank, const std::shared_ptr<Part>& part,
                         std::vector<Rows> wanted) {
  // A share for each reader: waking a thread costs more than reading a record that is in memory.
  const auto all = std::make_shared<const std::vector<Rows>>(std::move(wanted));
  const size_t share = all->size() / static_cast<size_t>(readers_.threads()) + 1;
  part->begin(static_cast<int>((all->size() + share - 1) / share));
  for (size_t first = 0; first < all->size(); first += share)
    readers_.submit(rank, [part, all, first, share](int) {
      const size_t end = std::min(all->size(), first + share);
      for (size_t i = first; i < end && !part->cancelled(); ++i) {
        const Rows& some = (*all)[i];
        read_guarded(part->samples[static_cast<size_t>(some.sample)],
                     [&](Sample& sample) { penstock::read_mapped(sample, some.rows); });
      }
      part->finish_one();
    });
}

void Engine::run(uint64_t rank, const std::shared_ptr<Part>& part) {
  const size_t count = part->assignments.size();
  // Small images go together, but not so many that a thread has nothing to do.
  const size_t most = std::max(size_t{1}, count / (2 * static_cast<size_t>(workers_.threads())));
  part->begin(static_cast<int>(count));
  for (size_t first = 0, end = 0; first < count; first = end) {
    for (int64_t pixels = 0; end < count && end - first < most && pixels < kLeastPixels; ++end)
      pixels += pixels_of(*part, part->assignments[end]);
    workers_.submit(rank, [this, part, first, end](int worker) {
      for (size_t i = first; i < end; ++i) run_one(part, i, bench_[static_cast<size_t>(worker)]);
    });
  }
}

void Engine::run_masks(uint64_t rank, const std::shared_ptr<Part>& part,
                       std::vector<MaskWork> works) {
  const auto all = std::make_shared<const std::vector<MaskWork>>(std::move(works));
  part->begin(static_cast<int>(all->size()));
  for (size_t i = 0; i < all->size(); ++i)
    workers_.submit(rank, [this, part, all, i](int worker) {
      MaskScratch& scratch = bench_[static_cast<size_t>(worker)].masks;
      if (!part->cancelled())
        read_guarded(part->samples[i], [&](Sample&) { move_masks((*all)[i], scratch); });
      part->finish_one();
    });
}

DecodeResult Engine::run_deflated(bool& late, const Assignment& assignment, const Sample& sample,
                                  Worker& worker) {
  SampleSource source;
  source.height = sample.height;
  source.width = sample.width;
  const SourceInput input(source, {}, worker.scratch.input);
  RowsWanted wanted{sample.height, sample.width, 0};
  for (const View& view : assignment.views) {
    const Region region = needed_region(view.program, input);
    wanted.rows = std::max(wanted.rows, region.top + region.height);
  }
  if (const char* problem = worker.inflater.inflate(sample.encoded, wanted))
    return {DecodeStatus::failed, problem};
  source.rgb = worker.inflater.pixels();
  source.rgb_stride = ptrdiff_t{3} * sample.width;
  DecodeResult result = run_views(late, assignment.views, source, worker.scratch);
  worker.inflater.forget_large();
  return result;
}

DecodeResult Engine::run_views_of(bool& late, const Assignment& assignment, const Sample& sample,
                                  Worker& worker) {
  if (sample.storage == Storage::deflated && sample.rgb == nullptr)
    return run_deflated(late, assignment, sample, worker);
  SampleSource source = source_of(sample);
  return row_memory_.with_rows(worker.rows, version_for_rows(source, sample.version),
                               [&](RowStarts* rows) {
                                 source.rows = rows;
                                 return run_views(late, assignment.views, source, worker.scratch);
                               });
}

void Engine::run_one(const std::shared_ptr<Part>& part, size_t index, Worker& worker) {
  bool late = false;
  if (!part->cancelled()) {
    const Assignment& assignment = part->assignments[index];
    Sample& sample = part->samples[static_cast<size_t>(assignment.sample)];
    const std::shared_ptr<Part> before = std::move(worker.owed);
    std::string problem =
        guarded(sample, [&] { sample.result = run_views_of(late, assignment, sample, worker); });
    if (!problem.empty()) sample.result = {DecodeStatus::failed, std::move(problem)};
    if (!late) worker.scratch.late.finish();  // an exception may have left some
    if (before) before->finish_one();
  }
  if (late)
    worker.owed = part;
  else
    part->finish_one();
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

void Engine::recycle(Part& part) {
  for (Sample& sample : part.samples)
    if (sample.bytes.capacity() <= kLargestSpare) spare_.give_back(std::move(sample.bytes));
  part.samples.clear();
}

}  // namespace penstock
