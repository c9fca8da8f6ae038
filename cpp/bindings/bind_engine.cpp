#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <variant>

#include "base/error.h"
#include "bindings/bind.h"
#include "bindings/contract.h"
#include "bindings/file_versions.h"
#include "bindings/targets.h"
#include "engine/engine.h"

namespace nb = nanobind;
using namespace nb::literals;
using namespace penstock;

namespace {

using Pixels = nb::ndarray<nb::numpy, const uint8_t, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using MaskArray = nb::ndarray<nb::numpy, nb::ro, nb::c_contig, nb::device::cpu>;
using WritableMasks = nb::ndarray<nb::numpy, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

/// What `run` takes besides the samples.
using ViewRun = std::tuple<const Programs*, const BatchBuffer*, Longs, const Format*>;

/// A forked child has the engine's memory but none of its threads: it must neither use nor join
/// them.
class EngineHandle {
 public:
  EngineHandle(int workers, int readers, size_t row_memory)
      : engine_(std::make_unique<Engine>(workers, readers, row_memory)), owner_(::getpid()) {}
  ~EngineHandle() {
    if (::getpid() != owner_) {
      (void)engine_.release();
      return;
    }
    nb::gil_scoped_release released;
    engine_.reset();
  }
  bool here() const { return ::getpid() == owner_; }
  Engine& engine() {
    if (!here())
      throw Error("The engine was made in process " + std::to_string(owner_) +
                  " and does not survive a fork.");
    if (closed_) throw Error("The engine was closed.");
    return *engine_;
  }
  void close() {
    if (!here() || closed_) return;
    closed_ = true;
    nb::gil_scoped_release released;
    engine_->finish();
  }
  void recycle(Part& part) { engine_->recycle(part); }

 private:
  std::unique_ptr<Engine> engine_;
  pid_t owner_;
  bool closed_ = false;
};

/// Run lengths are one row of bytes, stacks have three sides.
MaskSource mask_source(const MaskArray& array) {
  MaskSource source;
  if (array.ndim() == 1 && array.dtype() == nb::dtype<uint8_t>() && array.shape(0) > 0) {
    source.runs = {static_cast<const uint8_t*>(array.data()), array.shape(0)};
    return source;
  }
  const bool is_wide = array.dtype() == nb::dtype<uint16_t>();
  if (array.ndim() != 3 || (!is_wide && array.dtype() != nb::dtype<uint8_t>()) ||
      array.shape(1) < 1 || array.shape(2) < 1)
    throw Error(
        "EnginePart.run_masks: expected run lengths, or masks x height x width of uint8 or "
        "uint16.");
  source.stack = array.data();
  source.count = static_cast<int>(array.shape(0));
  source.height = static_cast<int>(array.shape(1));
  source.width = static_cast<int>(array.shape(2));
  source.value_bytes = is_wide ? 2 : 1;
  return source;
}

class PartHandle {
 public:
  PartHandle(nb::object owner, EngineHandle& engine, uint64_t rank, std::shared_ptr<Part> part)
      : owner_(std::move(owner)), engine_(engine), rank_(rank), part_(std::move(part)) {}
  ~PartHandle() {
    if (!engine_.here()) return;  // forked: no thread would ever finish it
    part_->cancel();
    {
      nb::gil_scoped_release released;
      part_->wait();
    }
    engine_.recycle(*part_);
  }

  Part& part() { return *part_; }
  Sample& sample(int index) {
    if (index < 0 || static_cast<size_t>(index) >= part_->samples.size())
      throw Error("EnginePart: sample " + std::to_string(index) + " of " +
                  std::to_string(part_->samples.size()) + ".");
    return part_->samples[static_cast<size_t>(index)];
  }

  bool wait(double timeout_s) {
    nb::gil_scoped_release released;
    return part_->wait_for(std::chrono::duration<double>(timeout_s));
  }

  /// Starts to read what rows [top, top + height) of these samples depend on.
  void read_mapped(const Ints& samples, const Ints& tops, const Ints& heights) {
    const size_t count = samples.shape(0);
    if (tops.shape(0) != count || heights.shape(0) != count)
      throw Error("EnginePart.read_mapped: one range of rows for each sample.");
    std::vector<Engine::Rows> wanted(count);
    for (size_t i = 0; i < count; ++i) {
      const Sample& read = sample(samples.data()[i]);
      const Region rows{tops.data()[i], 0, heights.data()[i], read.width};
      if (rows.top < 0 || rows.height < 1 || rows.height > read.height - rows.top)
        throw Error("EnginePart.read_mapped: rows " + std::to_string(rows.top) + " to " +
                    std::to_string(rows.top + rows.height) + " of an image of " +
                    std::to_string(read.height) + " rows.");
      wanted[i] = {samples.data()[i], rows};
    }
    engine_.engine().read_mapped(rank_, part_, std::move(wanted));
  }

  void set_pixels(int index, Pixels pixels) {
    if (pixels.shape(2) != 3 || pixels.shape(0) == 0 || pixels.shape(1) == 0)
      throw Error("EnginePart.set_pixels: expected a non-empty HxWx3 array.");
    Sample& target = sample(index);
    target.rgb = pixels.data();
    target.rgb_stride = static_cast<ptrdiff_t>(pixels.shape(1) * 3);
    target.height = static_cast<int>(pixels.shape(0));
    target.width = static_cast<int>(pixels.shape(1));
    target.problem.clear();
    target.lacking = 0;
    pixels_.push_back(std::move(pixels));
  }

  /// Says which files the samples were read from, for rows that are remembered.
  void set_versions(const Versions& versions) {
    if (versions.shape(0) != part_->samples.size())
      throw Error("EnginePart.set_versions: one version for each sample.");
    for (size_t i = 0; i < part_->samples.size(); ++i)
      part_->samples[i].version = version_in(versions, i);
  }

  /// Starts to move masks: one source, one list of wanted masks and one target for each sample.
  void run_masks(std::vector<MaskArray> sources, const std::vector<Ints>& numbers,
                 const Programs& programs, std::vector<WritableMasks> targets, uint16_t fill) {
    const size_t count = part_->samples.size();
    if (sources.size() != count || numbers.size() != count || targets.size() != count ||
        programs.samples() != count)
      throw Error("EnginePart.run_masks: one source, program and target for each sample.");
    part_->loads.resize(1);
    Load& load = part_->loads[0];
    const std::vector<Program> loaded = programs.copy_to(load.steps, load.effects);
    std::vector<MaskWork> works(count);
    for (size_t i = 0; i < count; ++i) {
      MaskWork& work = works[i];
      work.source = mask_source(sources[i]);
      work.numbers.assign(numbers[i].data(), numbers[i].data() + numbers[i].shape(0));
      const bool is_runs = !work.source.runs.empty();
      const nb::dlpack::dtype wanted =
          is_runs || work.source.value_bytes == 1 ? nb::dtype<uint8_t>() : nb::dtype<uint16_t>();
      if (targets[i].dtype() != wanted || targets[i].shape(0) != work.numbers.size())
        throw Error("EnginePart.run_masks: target " + std::to_string(i) +
                    " has the wrong type or shape.");
      work.program = loaded[i];
      work.out = targets[i].data();
      work.out_height = static_cast<int>(targets[i].shape(1));
      work.out_width = static_cast<int>(targets[i].shape(2));
      work.fill = is_runs ? 0 : fill;
    }
    mask_sources_ = std::move(sources);
    mask_targets_ = std::move(targets);
    engine_.engine().run_masks(rank_, part_, std::move(works));
  }

  void run(const Ints& samples, const Programs& programs, const BatchBuffer& buffer,
           const Longs& offsets, const Format& format) {
    begin(samples, 1);
    write_to(0, load(0, programs), buffer, offsets, format, buffer.bytes > kCacheBytes);
    start();
  }

  /// Runs several programs for each sample: `views` has what `run` takes, for each of them, and
  /// `groups` (samples x views) says which read one decoded region together.
  void run_views(const Ints& samples, const std::vector<ViewRun>& views,
                 const Table<int32_t, 2>& groups) {
    if (views.empty() || groups.shape(0) != samples.shape(0) || groups.shape(1) != views.size())
      throw Error("EnginePart.run_views: one group for each sample and view.");
    begin(samples, views.size());
    size_t bytes = 0;
    for (const auto& [programs, buffer, offsets, format] : views) bytes += buffer->bytes;
    for (size_t v = 0; v < views.size(); ++v) {
      const auto& [programs, buffer, offsets, format] = views[v];
      write_to(v, load(v, *programs), *buffer, offsets, *format, bytes > kCacheBytes);
    }
    for (size_t i = 0; i < part_->views.size(); ++i) part_->views[i].group = groups.data()[i];
    for (const Assignment& assignment : part_->assignments) check_groups(assignment.views);
    start();
  }

  void run_to_arrays(const Ints& samples, const Programs& programs,
                     std::vector<WritablePixels> targets) {
    begin(samples, 1);
    const std::vector<Region> sizes = load(0, programs);
    if (targets.size() != sizes.size())
      throw Error("EnginePart.run_to_arrays: one array for each sample.");
    for (size_t i = 0; i < sizes.size(); ++i)
      part_->views[i].output = output_to(targets[i], sizes[i]);
    targets_ = std::move(targets);
    start();
  }

  /// As `run` and `run_to_arrays`, with a target for each sample.
  void run_each(const Ints& samples, const Programs& programs, std::vector<Target> targets) {
    begin(samples, 1);
    const std::vector<Region> sizes = load(0, programs);
    if (targets.size() != sizes.size())
      throw Error("EnginePart.run_each: one target for each sample.");
    const bool past_cache = bytes_behind(targets) > kCacheBytes;
    for (size_t i = 0; i < sizes.size(); ++i)
      part_->views[i].output = output_for(targets[i], sizes[i], past_cache);
    each_ = std::move(targets);
    start();
  }

 private:
  /// Makes place for programs of these samples, which lack everything yet.
  void begin(const Ints& samples, size_t views) {
    if (!part_->wait_for(std::chrono::duration<double>(0)))
      throw Error("EnginePart.run: the part is still under way.");
    part_->loads.resize(views);
    part_->views.assign(samples.shape(0) * views, {});
    part_->assignments.clear();
    for (size_t i = 0; i < samples.shape(0); ++i) {
      const Sample& source = sample(samples.data()[i]);
      if (!source.problem.empty() || source.route() == Route::pillow ||
          (source.rgb == nullptr && source.encoded.empty()))
        throw Error("EnginePart.run: sample " + std::to_string(samples.data()[i]) +
                    " has no pixels yet.");
      part_->assignments.push_back({samples.data()[i], {part_->views.data() + i * views, views}});
    }
  }

  /// Copies the programs of a view into the part; returns the output size of each.
  std::vector<Region> load(size_t view, const Programs& programs) {
    const size_t count = part_->assignments.size();
    if (programs.samples() != count) throw Error("EnginePart.run: one program for each sample.");
    Load& own = part_->loads[view];
    const std::vector<Program> loaded = programs.copy_to(own.steps, own.effects);
    std::vector<Region> sizes(count);
    for (size_t i = 0; i < count; ++i) {
      const Sample& source = sample(part_->assignments[i].sample);
      sizes[i] = size_after(loaded[i], source.height, source.width);
      view_of(i, view).program = loaded[i];
    }
    return sizes;
  }

  /// Lets a view write images of these sizes into a batch's memory.
  void write_to(size_t view, const std::vector<Region>& sizes, const BatchBuffer& buffer,
                const Longs& offsets, const Format& format, bool past_cache) {
    const auto element = static_cast<size_t>(size_of(format.element));
    if (offsets.shape(0) != sizes.size()) throw Error("EnginePart.run: one place for each sample.");
    Load& own = part_->loads[view];
    own.pass = format.pass;
    own.keeps_alive = buffer.memory;
    for (size_t i = 0; i < sizes.size(); ++i)
      view_of(i, view).output =
          output_in(buffer, offsets.data()[i], format, own.pass, sizes[i], past_cache);
  }

  /// Views that share what is decoded must want it at the same scale.
  static void check_groups(std::span<const View> views) {
    for (const View& view : views)
      for (const View& other : views)
        if (view.group != kAlone && view.group == other.group &&
            view.program.steps[0].dct_scale != other.program.steps[0].dct_scale)
          throw Error("EnginePart.run_views: views of one group want different scales.");
  }

  View& view_of(size_t assignment, size_t view) {
    return part_->views[assignment * part_->loads.size() + view];
  }

  void start() { engine_.engine().run(rank_, part_); }

  nb::object owner_;  // keeps the engine alive
  EngineHandle& engine_;
  uint64_t rank_;
  std::shared_ptr<Part> part_;
  std::vector<Pixels> pixels_;
  std::vector<WritablePixels> targets_;
  std::vector<Target> each_;
  std::vector<MaskArray> mask_sources_;
  std::vector<WritableMasks> mask_targets_;
};

// Columns own their memory; nanobind would otherwise tie a property's result to the part.
constexpr auto kOwned = nb::rv_policy::automatic;

template <class Value>
nb::ndarray<nb::numpy, int32_t> column(PartHandle& self, Value value) {
  const size_t count = self.part().samples.size();
  auto* data = new int32_t[count];
  nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<int32_t*>(p); });
  for (size_t i = 0; i < count; ++i) data[i] = static_cast<int32_t>(value(self.part().samples[i]));
  return nb::ndarray<nb::numpy, int32_t>(data, 1, &count, owner);
}

/// Whether something holds for any sample: mostly nothing does, and one answer is less work for
/// Python than a column.
template <class Holds>
bool any_sample(PartHandle& self, Holds holds) {
  const std::vector<Sample>& samples = self.part().samples;
  return std::any_of(samples.begin(), samples.end(), holds);
}

}  // namespace

void penstock::bind_engine(nb::module_& m) {
  m.attr("ALONE") = kAlone;
  nb::class_<EngineHandle>(m, "Engine", "Threads that read files and fill batches.")
      .def(nb::init<int, int, size_t>(), "workers"_a, "readers"_a, "row_memory"_a = 0)
      .def("close", &EngineHandle::close,
           "End the threads, after what is under way. Parts can only be let go of afterwards.")
      .def_prop_ro("workers", [](EngineHandle& self) { return self.engine().workers(); })
      .def(
          "fetch",
          [](nb::handle_t<EngineHandle> self, uint64_t rank, const std::vector<nb::bytes>& paths) {
            auto& handle = nb::cast<EngineHandle&>(self);
            std::vector<std::string> names;
            names.reserve(paths.size());
            for (const nb::bytes& path : paths) names.emplace_back(path.c_str(), path.size());
            return new PartHandle(nb::borrow(self), handle, rank,
                                  handle.engine().fetch(rank, names));
          },
          "rank"_a, "paths"_a, nb::rv_policy::take_ownership,
          "Start to read these files and their headers.")
      .def(
          "begin",
          [](nb::handle_t<EngineHandle> self, uint64_t rank, size_t count) {
            auto& handle = nb::cast<EngineHandle&>(self);
            return new PartHandle(nb::borrow(self), handle, rank,
                                  handle.engine().open_mapped(std::vector<MappedSample>(count)));
          },
          "rank"_a, "count"_a, nb::rv_policy::take_ownership,
          "Samples without a file, for pixels that are set.")
      .def(
          "open_mapped",
          [](nb::handle_t<EngineHandle> self, uint64_t rank, nb::object memory,
             const Longs& addresses, const Longs& sizes, const Ints& storages, const Ints& heights,
             const Ints& widths) {
            auto& handle = nb::cast<EngineHandle&>(self);
            const size_t count = addresses.shape(0);
            if (sizes.shape(0) != count || storages.shape(0) != count ||
                heights.shape(0) != count || widths.shape(0) != count)
              throw Error("Engine.open_mapped: columns of different lengths.");
            std::vector<MappedSample> mapped(count);
            for (size_t i = 0; i < count; ++i) {
              if (addresses.data()[i] <= 0 || sizes.data()[i] < 1 ||
                  sizes.data()[i] > INT64_MAX - addresses.data()[i] || storages.data()[i] < 0 ||
                  heights.data()[i] < 1 || widths.data()[i] < 1)
                throw Error("Engine.open_mapped: sample " + std::to_string(i) +
                            " lies nowhere or has no size.");
              const auto* bytes = reinterpret_cast<const uint8_t*>(addresses.data()[i]);
              mapped[i] = {{bytes, static_cast<size_t>(sizes.data()[i])},
                           static_cast<Storage>(storages.data()[i]),
                           heights.data()[i],
                           widths.data()[i]};
            }
            return new PartHandle(nb::make_tuple(nb::borrow(self), memory), handle, rank,
                                  handle.engine().open_mapped(mapped));
          },
          "rank"_a, "memory"_a, "addresses"_a, "sizes"_a, "storages"_a, "heights"_a, "widths"_a,
          nb::rv_policy::take_ownership,
          "Take samples that lie in `memory`, which stays alive as long; nothing is read yet.");

  nb::class_<PartHandle>(m, "EnginePart", "Samples that are read and run together.")
      .def("wait", &PartHandle::wait, "timeout_s"_a,
           "Wait until nothing is under way; False if that takes longer.")
      .def(
          "cancel", [](PartHandle& self) { self.part().cancel(); },
          "Drop what has not begun; the results are then undefined.")
      .def_prop_ro(
          "height",
          [](PartHandle& s) { return column(s, [](const Sample& i) { return i.height; }); }, kOwned)
      .def_prop_ro(
          "width", [](PartHandle& s) { return column(s, [](const Sample& i) { return i.width; }); },
          kOwned)
      .def_prop_ro(
          "route",
          [](PartHandle& s) {
            return column(s, [](const Sample& i) { return static_cast<int>(i.route()); });
          },
          kOwned)
      .def_prop_ro(
          "is_jpeg",
          [](PartHandle& s) {
            return column(s, [](const Sample& i) {
              return i.rgb == nullptr && i.storage == Storage::jpeg ? 1 : 0;
            });
          },
          kOwned)
      .def_prop_ro(
          "unreadable",
          [](PartHandle& s) {
            return column(s, [](const Sample& i) { return i.problem.empty() ? 0 : 1; });
          },
          kOwned)
      .def_prop_ro(
          "lacking",
          [](PartHandle& s) { return column(s, [](const Sample& i) { return i.lacking; }); },
          kOwned)
      .def_prop_ro(
          "status",
          [](PartHandle& s) {
            return column(s, [](const Sample& i) { return static_cast<int>(i.result.status); });
          },
          kOwned)
      .def_prop_ro(
          "has_message",
          [](PartHandle& s) {
            return column(s, [](const Sample& i) { return i.result.message.empty() ? 0 : 1; });
          },
          kOwned)
      .def_prop_ro(
          "any_lacking",
          [](PartHandle& s) {
            return any_sample(s, [](const Sample& i) { return i.lacking != 0; });
          },
          "Whether `lacking` is set for a sample.")
      .def_prop_ro(
          "any_not_ours",
          [](PartHandle& s) {
            return any_sample(s, [](const Sample& i) {
              return !i.problem.empty() || i.route() == Route::pillow;
            });
          },
          "Whether a sample is unreadable, or has to be decoded by Pillow.")
      .def_prop_ro(
          "any_remark",
          [](PartHandle& s) {
            return any_sample(s, [](const Sample& i) {
              return i.result.status != DecodeStatus::ok || !i.result.message.empty();
            });
          },
          "Whether the last run of a sample did not go well, or has a message.")
      .def(
          "problem", [](PartHandle& s, int i) { return s.sample(i).problem; }, "sample"_a)
      .def(
          "reason", [](PartHandle& s, int i) { return std::string(s.sample(i).reason()); },
          "sample"_a)
      .def(
          "message", [](PartHandle& s, int i) { return s.sample(i).result.message; }, "sample"_a)
      .def("read_mapped", &PartHandle::read_mapped, "samples"_a, "tops"_a, "heights"_a,
           "Start to read what these rows of the images depend on.")
      .def("set_pixels", &PartHandle::set_pixels, "sample"_a, "pixels"_a.noconvert(),
           "Use these RGB pixels instead of the sample's file.")
      .def("set_versions", &PartHandle::set_versions, "versions"_a,
           "Say which files the samples were read from: a row of `file_version` for each.")
      .def("run", &PartHandle::run, "samples"_a, "programs"_a, "buffer"_a, "offsets"_a, "format"_a,
           "Start these samples' programs into a batch's memory, each at its byte offset.")
      .def(
          "run_views", &PartHandle::run_views, "samples"_a, "views"_a, "groups"_a,
          "Start several programs for each sample: what `run` takes for each of them, and, samples "
          "x views, which ones read one decoded region together; ALONE for none.")
      .def("run_to_arrays", &PartHandle::run_to_arrays, "samples"_a, "programs"_a, "arrays"_a,
           "Start these samples' programs into uint8 HxWx3 arrays.")
      .def("run_each", &PartHandle::run_each, "samples"_a, "programs"_a, "targets"_a,
           "Start these samples' programs, each into an array as `run_to_arrays` takes it, or into "
           "(buffer, offset, format). Buffers and formats have to live until that is done.")
      .def("run_masks", &PartHandle::run_masks, "sources"_a, "numbers"_a, "programs"_a, "targets"_a,
           "fill"_a = 0,
           "Start to move the masks of every sample, of which `numbers` are wanted, into arrays.");
}
