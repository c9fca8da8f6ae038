// Programs in the calling thread, from files in memory or from pixels.
#include <nanobind/nanobind.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "base/error.h"
#include "bindings/arguments.h"
#include "bindings/bind.h"
#include "bindings/file_versions.h"
#include "bindings/targets.h"
#include "engine/run_sample.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace penstock {
namespace {

using Pixels = nb::ndarray<nb::numpy, const uint8_t, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
/// A file, or pixels.
using Source = std::variant<nb::bytes, Pixels>;

std::tuple<uint64_t, uint64_t, uint64_t, int64_t> file_version(int descriptor) {
  struct stat status{};
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) return {};
  const FileVersion version = version_of(status);
  if (!version.is_known()) return {};
  return {version.device, version.inode, version.size, version.changed_ns};
}

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

/// What lasts from call to call: the memory of its last images, for whoever computes in this
/// thread.
struct Kept {
  WorkerScratch scratch;
  RowStarts rows;
};

std::vector<DecodeStatus> run_here(const std::vector<Target>& targets,
                                   const std::vector<Source>& sources, const Programs& programs,
                                   const Versions& versions, RowMemory& row_memory) {
  const size_t count = targets.size();
  if (programs.samples() != count || sources.size() != count || versions.shape(0) != count)
    throw Error("run_here: expected a target, a source, a program and a version for each image.");
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
  const auto run = [&](Kept& kept) {
    bool late = false;
    for (size_t i = 0; i < count; ++i) {
      Task& task = tasks[i];
      const FileVersion version = version_for_rows(task.source, version_in(versions, i));
      statuses[i] = row_memory.with_rows(kept.rows, version, [&](RowStarts* rows) {
        task.source.rows = rows;
        return run_sample(late, task.output, task.source, all[i], kept.scratch).status;
      });
    }
    if (late) kept.scratch.late.finish();
  };
  if (most_pixels > kMostKeptPixels) {
    Kept own;
    run(own);
  } else {
    thread_local Kept kept;
    run(kept);
  }
  return statuses;
}

}  // namespace

void bind_run_here(nb::module_& m) {
  nb::class_<RowMemory>(m, "RowMemory",
                        "Remembers where rows of files begin, in at most so many bytes.")
      .def(nb::init<size_t>(), "bytes"_a);
  m.def("file_version", &file_version, "descriptor"_a,
        "Which file it is, and which of its contents, to be asked before they are read: device, "
        "inode, bytes, time of change. All are 0 if that cannot be told.");
  m.def("run_here", &run_here, "targets"_a, "sources"_a, "programs"_a, "versions"_a, "row_memory"_a,
        "Run programs in this thread, each on HxWx3 pixels, or on a JPEG file. Other files than "
        "`jpeg_header` says the core decodes are an error. `versions` has a row of `file_version` "
        "for each.");
}

}  // namespace penstock
