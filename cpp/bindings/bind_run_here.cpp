// Programs in the calling thread, from files in memory or from pixels.
#include <nanobind/nanobind.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/error.h"
#include "bindings/arguments.h"
#include "bindings/bind.h"
#include "bindings/targets.h"
#include "engine/run_sample.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace penstock {
namespace {

using Pixels = nb::ndarray<nb::numpy, const uint8_t, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
/// A file, or pixels.
using Source = std::variant<nb::bytes, Pixels>;

/// Beyond this a thread does not keep the memory of its last image.
constexpr int64_t kMostKeptPixels = int64_t{4} << 20;

SampleSource source_of(const nb::bytes& data, JpegHeader& header) {
  SampleSource source;
  source.jpeg = bytes_of(data);
  header = read_jpeg_header(source.jpeg);
  if (header.route == Route::pillow)
    throw Error(std::string("run_here: the file is one for Pillow: ") + header.reason + ".");
  source.header = &header;
  source.height = header.height;
  source.width = header.width;
  return source;
}

SampleSource source_of(const Pixels& pixels) {
  if (pixels.shape(2) != 3 || pixels.shape(0) == 0 || pixels.shape(1) == 0)
    throw Error("run_here: expected a non-empty HxWx3 array.");
  SampleSource source;
  source.rgb = pixels.data();
  source.rgb_stride = static_cast<ptrdiff_t>(pixels.shape(1) * 3);
  source.height = static_cast<int>(pixels.shape(0));
  source.width = static_cast<int>(pixels.shape(1));
  return source;
}

/// What is done for one sample.
struct Task {
  JpegHeader header;
  SampleSource source;
  Output output;
};

std::vector<DecodeStatus> run_here(const std::vector<Target>& targets,
                                   const std::vector<Source>& sources, const Programs& programs) {
  const size_t count = targets.size();
  if (programs.samples() != count || sources.size() != count)
    throw Error("run_here: expected a target, a source and a program for each image.");
  std::vector<Step> steps;
  std::vector<Effect> effects;
  const std::vector<Program> all = programs.copy_to(steps, effects);
  const bool past_cache = bytes_behind(targets) > kCacheBytes;
  std::vector<Task> tasks(count);
  int64_t most_pixels = 0;
  for (size_t i = 0; i < count; ++i) {
    Task& task = tasks[i];
    const auto* file = std::get_if<nb::bytes>(&sources[i]);
    task.source =
        file != nullptr ? source_of(*file, task.header) : source_of(std::get<Pixels>(sources[i]));
    const Region size = size_after(all[i], task.source.height, task.source.width);
    task.output = output_for(targets[i], size, past_cache);
    most_pixels = std::max({most_pixels, int64_t{task.source.height} * task.source.width,
                            int64_t{size.height} * size.width});
  }

  nb::gil_scoped_release released;
  std::vector<DecodeStatus> statuses(count);
  const auto run = [&](WorkerScratch& scratch) {
    bool late = false;
    for (size_t i = 0; i < count; ++i)
      statuses[i] = run_sample(late, tasks[i].output, tasks[i].source, all[i], scratch).status;
    if (late) scratch.late.finish();
  };
  if (most_pixels > kMostKeptPixels) {
    WorkerScratch own;
    run(own);
  } else {
    thread_local WorkerScratch kept;
    run(kept);
  }
  return statuses;
}

}  // namespace

void bind_run_here(nb::module_& m) {
  m.def("run_here", &run_here, "targets"_a, "sources"_a, "programs"_a,
        "Run programs in this thread, each on HxWx3 pixels, or on a JPEG file. Other files than "
        "`jpeg_header` says the core decodes are an error.");
}

}  // namespace penstock
