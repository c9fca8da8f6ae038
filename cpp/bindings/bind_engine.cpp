#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <unistd.h>

#include <cstring>
#include <optional>

#include "base/error.h"
#include "bindings/batch_buffer.h"
#include "bindings/bind.h"
#include "engine/engine.h"

namespace nb = nanobind;
using namespace nb::literals;
using namespace penstock;

namespace {

using Ints = nb::ndarray<nb::numpy, const int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Longs = nb::ndarray<nb::numpy, const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using StepTable = nb::ndarray<nb::numpy, const int32_t, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using EffectHeads =
    nb::ndarray<nb::numpy, const int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using EffectNumbers =
    nb::ndarray<nb::numpy, const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Pixels = nb::ndarray<nb::numpy, const uint8_t, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using MaskArray = nb::ndarray<nb::numpy, nb::ro, nb::c_contig, nb::device::cpu>;
using WritableMasks = nb::ndarray<nb::numpy, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using WritablePixels = nb::ndarray<nb::numpy, uint8_t, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

/// How batch slots are written: element, layout, and the arithmetic of the final pass.
struct Format {
  Element element;
  Layout layout;
  FinalPass pass;
};

Format make_format(int element, const std::string& layout, float scale,
                   const std::vector<float>& mean, const std::vector<float>& std, float divisor,
                   const std::vector<float>& gain) {
  Format format;
  if (element < 0 || element > static_cast<int>(Element::float32))
    throw Error("Format: element " + std::to_string(element) + " is unknown.");
  format.element = static_cast<Element>(element);
  if (layout != "chw" && layout != "hwc")
    throw Error("Format: layout '" + layout + "' is unknown.");
  format.layout = layout == "chw" ? Layout::chw : Layout::hwc;
  if (mean.size() != 3 || std.size() != 3 || gain.size() != 3)
    throw Error("Format: mean, std and gain take three values.");
  format.pass = make_final_pass(scale, mean.data(), std.data(), divisor, gain.data());
  return format;
}

/// Head columns of an effect: kind, after_step, height, width.
constexpr size_t kEffectHead = 4;

/// What is done to some samples: steps x fields for each, and one sample's effects after another's.
struct Programs {
  StepTable steps;
  Ints step_counts;
  EffectHeads effect_heads;
  EffectNumbers effect_numbers;
  Ints effect_counts;
};

Programs make_programs(StepTable steps, Ints step_counts, EffectHeads heads, EffectNumbers numbers,
                       Ints effect_counts) {
  const size_t count = steps.shape(0);
  if (steps.shape(1) < 1 || steps.shape(2) != kStepFields)
    throw Error("Programs: steps must be samples x n x " + std::to_string(kStepFields) + ".");
  if (step_counts.shape(0) != count || effect_counts.shape(0) != count)
    throw Error("Programs: one count of steps and one of effects for each sample.");
  if (heads.shape(1) != kEffectHead || numbers.shape(1) != kEffectNumbers ||
      heads.shape(0) != numbers.shape(0))
    throw Error("Programs: effects must be n x " + std::to_string(kEffectHead) + " and n x " +
                std::to_string(kEffectNumbers) + ".");
  size_t effects = 0;
  for (size_t i = 0; i < count; ++i) {
    const int32_t used = step_counts.data()[i];
    if (used < 1 || static_cast<size_t>(used) > steps.shape(1))
      throw Error("Programs: " + std::to_string(used) + " steps asked of a table of " +
                  std::to_string(steps.shape(1)) + ".");
    if (effect_counts.data()[i] < 0) throw Error("Programs: a negative count of effects.");
    effects += static_cast<size_t>(effect_counts.data()[i]);
  }
  if (effects != heads.shape(0)) throw Error("Programs: effects and their counts do not agree.");
  return {std::move(steps), std::move(step_counts), std::move(heads), std::move(numbers),
          std::move(effect_counts)};
}

Effect effect_at(const Programs& programs, size_t place) {
  const int32_t* head = programs.effect_heads.data() + kEffectHead * place;
  Effect effect{static_cast<EffectKind>(head[0]), head[1], head[2], head[3], {}};
  std::memcpy(effect.numbers, programs.effect_numbers.data() + kEffectNumbers * place,
              sizeof effect.numbers);
  return effect;
}

/// Batches larger than this leave a core's cache before anybody reads them.
constexpr size_t kCacheBytes = size_t{4} << 20;

/// A forked child has the engine's memory but none of its threads: it must neither use nor join
/// them.
class EngineHandle {
 public:
  EngineHandle(int workers, int readers)
      : engine_(std::make_unique<Engine>(workers, readers)), owner_(::getpid()) {}
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
  void recycle(Chunk& chunk) { engine_->recycle(chunk); }

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
        "Chunk.run_masks: expected run lengths, or masks x height x width of uint8 or "
        "uint16.");
  source.stack = array.data();
  source.count = static_cast<int>(array.shape(0));
  source.height = static_cast<int>(array.shape(1));
  source.width = static_cast<int>(array.shape(2));
  source.value_bytes = is_wide ? 2 : 1;
  return source;
}

class ChunkHandle {
 public:
  ChunkHandle(nb::object owner, EngineHandle& engine, uint64_t rank, std::shared_ptr<Chunk> chunk)
      : owner_(std::move(owner)), engine_(engine), rank_(rank), chunk_(std::move(chunk)) {}
  ~ChunkHandle() {
    if (!engine_.here()) return;  // forked: no thread would ever finish it
    chunk_->cancel();
    {
      nb::gil_scoped_release released;
      chunk_->wait();
    }
    engine_.recycle(*chunk_);
  }

  Chunk& chunk() { return *chunk_; }
  Item& item(int index) {
    if (index < 0 || static_cast<size_t>(index) >= chunk_->items.size())
      throw Error("Chunk: item " + std::to_string(index) + " of " +
                  std::to_string(chunk_->items.size()) + ".");
    return chunk_->items[static_cast<size_t>(index)];
  }

  bool wait(double timeout_s) {
    nb::gil_scoped_release released;
    return chunk_->wait_for(std::chrono::duration<double>(timeout_s));
  }

  /// Starts to read what rows [top, top + height) of these items depend on.
  void read_records(const Ints& items, const Ints& tops, const Ints& heights) {
    const size_t count = items.shape(0);
    if (tops.shape(0) != count || heights.shape(0) != count)
      throw Error("Chunk.read_records: one range of rows for each item.");
    std::vector<Engine::Rows> wanted(count);
    for (size_t i = 0; i < count; ++i) {
      const Item& record = item(items.data()[i]);
      const Region rows{tops.data()[i], 0, heights.data()[i], record.width};
      if (rows.top < 0 || rows.height < 1 || rows.height > record.height - rows.top)
        throw Error("Chunk.read_records: rows " + std::to_string(rows.top) + " to " +
                    std::to_string(rows.top + rows.height) + " of an image of " +
                    std::to_string(record.height) + " rows.");
      wanted[i] = {items.data()[i], rows};
    }
    engine_.engine().read_records(rank_, chunk_, std::move(wanted));
  }

  void set_pixels(int index, Pixels pixels) {
    if (pixels.shape(2) != 3 || pixels.shape(0) == 0 || pixels.shape(1) == 0)
      throw Error("Chunk.set_pixels: expected a non-empty HxWx3 array.");
    Item& target = item(index);
    target.rgb = pixels.data();
    target.rgb_stride = static_cast<ptrdiff_t>(pixels.shape(1) * 3);
    target.height = static_cast<int>(pixels.shape(0));
    target.width = static_cast<int>(pixels.shape(1));
    target.problem.clear();
    target.lacking = 0;
    pixels_.push_back(std::move(pixels));
  }

  /// Copies the programs into the chunk; returns them, sample by sample.
  std::vector<Program> copy_programs(const Programs& programs) {
    const size_t count = programs.steps.shape(0), most_steps = programs.steps.shape(1);
    chunk_->steps.resize(count * most_steps);
    if (count > 0)
      std::memcpy(chunk_->steps.data(), programs.steps.data(), chunk_->steps.size() * sizeof(Step));
    chunk_->effects.resize(programs.effect_heads.shape(0));
    for (size_t i = 0; i < chunk_->effects.size(); ++i) chunk_->effects[i] = effect_at(programs, i);
    std::vector<Program> copied(count);
    const Effect* effects = chunk_->effects.data();
    for (size_t i = 0; i < count; ++i) {
      const auto steps_used = static_cast<size_t>(programs.step_counts.data()[i]);
      const auto effects_used = static_cast<size_t>(programs.effect_counts.data()[i]);
      copied[i] = {{chunk_->steps.data() + i * most_steps, steps_used}, {effects, effects_used}};
      effects += effects_used;
    }
    return copied;
  }

  /// Starts to move masks: one source, one list of wanted masks and one target for each item.
  void run_masks(std::vector<MaskArray> sources, const std::vector<Ints>& numbers,
                 const Programs& programs, std::vector<WritableMasks> targets, uint16_t fill) {
    const size_t count = chunk_->items.size();
    if (sources.size() != count || numbers.size() != count || targets.size() != count ||
        programs.steps.shape(0) != count)
      throw Error("Chunk.run_masks: one source, program and target for each item.");
    const std::vector<Program> loaded = copy_programs(programs);
    std::vector<MaskWork> works(count);
    for (size_t i = 0; i < count; ++i) {
      MaskWork& work = works[i];
      work.source = mask_source(sources[i]);
      work.numbers.assign(numbers[i].data(), numbers[i].data() + numbers[i].shape(0));
      const bool is_runs = !work.source.runs.empty();
      const nb::dlpack::dtype wanted =
          is_runs || work.source.value_bytes == 1 ? nb::dtype<uint8_t>() : nb::dtype<uint16_t>();
      if (targets[i].dtype() != wanted || targets[i].shape(0) != work.numbers.size())
        throw Error("Chunk.run_masks: target " + std::to_string(i) +
                    " has the wrong type or shape.");
      work.program = loaded[i];
      work.out = targets[i].data();
      work.out_height = static_cast<int>(targets[i].shape(1));
      work.out_width = static_cast<int>(targets[i].shape(2));
      work.fill = is_runs ? 0 : fill;
    }
    mask_sources_ = std::move(sources);
    mask_targets_ = std::move(targets);
    engine_.engine().run_masks(rank_, chunk_, std::move(works));
  }

  /// Copies the programs into the chunk and makes assignments that lack only their output;
  /// returns each one's output size.
  std::vector<Region> load(const Ints& items, const Programs& programs) {
    const size_t count = items.shape(0);
    if (programs.steps.shape(0) != count) throw Error("Chunk.run: one program for each item.");
    if (!chunk_->wait_for(std::chrono::duration<double>(0)))
      throw Error("Chunk.run: the chunk is still under way.");
    chunk_->assignments.clear();
    const std::vector<Program> loaded = copy_programs(programs);
    std::vector<Region> sizes(count);
    for (size_t i = 0; i < count; ++i) {
      const Item& source = item(items.data()[i]);
      if (!source.problem.empty() || source.route() == Route::pillow ||
          (source.rgb == nullptr && source.encoded.empty()))
        throw Error("Chunk.run: item " + std::to_string(items.data()[i]) + " has no pixels yet.");
      sizes[i] = size_after(loaded[i], source.height, source.width);
      chunk_->assignments.push_back({items.data()[i], loaded[i], {}});
    }
    return sizes;
  }

  void run(const Ints& items, const Programs& programs, const BatchBuffer& buffer,
           const Longs& offsets, const Format& format) {
    const std::vector<Region> sizes = load(items, programs);
    const auto element = static_cast<size_t>(size_of(format.element));
    if (offsets.shape(0) != sizes.size()) throw Error("Chunk.run: one place for each item.");
    chunk_->pass = format.pass;
    for (size_t i = 0; i < sizes.size(); ++i) {
      const auto [top, left, height, width] = sizes[i];
      const size_t bytes = static_cast<size_t>(height) * static_cast<size_t>(width) * 3 * element;
      const int64_t offset = offsets.data()[i];
      if (offset < 0 || static_cast<size_t>(offset) > buffer.bytes ||
          bytes > buffer.bytes - static_cast<size_t>(offset))
        throw Error("Chunk.run: an image of " + std::to_string(height) + "x" +
                    std::to_string(width) + " at byte " + std::to_string(offset) +
                    " lies outside the batch.");
      if (static_cast<size_t>(offset) % element != 0)
        throw Error("Chunk.run: byte " + std::to_string(offset) + " is not aligned.");
      Output output;
      output.data = buffer.memory->data() + offset;
      output.height = height;
      output.width = width;
      output.layout = format.layout;
      output.element = format.element;
      output.pass = &chunk_->pass;
      output.past_cache = buffer.bytes > kCacheBytes;
      const auto row = static_cast<ptrdiff_t>(static_cast<size_t>(width) * element);
      output.row_stride = format.layout == Layout::chw ? row : 3 * row;
      output.plane_stride = row * height;
      chunk_->assignments[i].output = output;
    }
    chunk_->keeps_alive = buffer.memory;
    start();
  }

  void run_to_arrays(const Ints& items, const Programs& programs,
                     std::vector<WritablePixels> targets) {
    const std::vector<Region> sizes = load(items, programs);
    if (targets.size() != sizes.size())
      throw Error("Chunk.run_to_arrays: one array for each item.");
    for (size_t i = 0; i < sizes.size(); ++i) {
      if (targets[i].shape(0) != static_cast<size_t>(sizes[i].height) ||
          targets[i].shape(1) != static_cast<size_t>(sizes[i].width) || targets[i].shape(2) != 3)
        throw Error("Chunk.run_to_arrays: array " + std::to_string(i) + " has the wrong shape.");
      Output output;
      output.data = targets[i].data();
      output.height = sizes[i].height;
      output.width = sizes[i].width;
      output.layout = Layout::hwc;
      output.row_stride = static_cast<ptrdiff_t>(sizes[i].width) * 3;
      chunk_->assignments[i].output = output;
    }
    targets_ = std::move(targets);
    start();
  }

 private:
  void start() { engine_.engine().run(rank_, chunk_); }

  nb::object owner_;  // keeps the engine alive
  EngineHandle& engine_;
  uint64_t rank_;
  std::shared_ptr<Chunk> chunk_;
  std::vector<Pixels> pixels_;
  std::vector<WritablePixels> targets_;
  std::vector<MaskArray> mask_sources_;
  std::vector<WritableMasks> mask_targets_;
};

// Columns own their memory; nanobind would otherwise tie a property's result to the chunk.
constexpr auto kOwned = nb::rv_policy::automatic;

template <class Value>
nb::ndarray<nb::numpy, int32_t> column(ChunkHandle& self, Value value) {
  const size_t count = self.chunk().items.size();
  auto* data = new int32_t[count];
  nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<int32_t*>(p); });
  for (size_t i = 0; i < count; ++i) data[i] = static_cast<int32_t>(value(self.chunk().items[i]));
  return nb::ndarray<nb::numpy, int32_t>(data, 1, &count, owner);
}

}  // namespace

void penstock::bind_engine(nb::module_& m) {
  m.attr("STEP_FIELDS") = kStepFields;

  nb::class_<Format>(m, "Format", "How batch slots are written.")
      .def(nb::new_(&make_format), "element"_a, "layout"_a, "scale"_a, "mean"_a, "std"_a,
           "divisor"_a = 1.0f, "gain"_a = std::vector<float>{1.0f, 1.0f, 1.0f});

  m.attr("EFFECT_NUMBERS") = kEffectNumbers;

  nb::class_<Programs>(m, "Programs", "What is done to some samples.")
      .def(nb::new_(&make_programs), "steps"_a, "step_counts"_a, "effect_heads"_a,
           "effect_numbers"_a, "effect_counts"_a);

  nb::class_<EngineHandle>(m, "Engine", "Threads that read files and fill batches.")
      .def(nb::init<int, int>(), "workers"_a, "readers"_a)
      .def("close", &EngineHandle::close,
           "End the threads, after what is under way. Chunks can only be let go of afterwards.")
      .def_prop_ro("workers", [](EngineHandle& self) { return self.engine().workers(); })
      .def(
          "fetch",
          [](nb::handle_t<EngineHandle> self, uint64_t rank, const std::vector<nb::bytes>& paths) {
            auto& handle = nb::cast<EngineHandle&>(self);
            std::vector<std::string> names;
            names.reserve(paths.size());
            for (const nb::bytes& path : paths) names.emplace_back(path.c_str(), path.size());
            return new ChunkHandle(nb::borrow(self), handle, rank,
                                   handle.engine().fetch(rank, names));
          },
          "rank"_a, "paths"_a, nb::rv_policy::take_ownership,
          "Start to read these files and their headers.")
      .def(
          "begin",
          [](nb::handle_t<EngineHandle> self, uint64_t rank, size_t count) {
            auto& handle = nb::cast<EngineHandle&>(self);
            return new ChunkHandle(nb::borrow(self), handle, rank,
                                   handle.engine().open_records(std::vector<Record>(count)));
          },
          "rank"_a, "count"_a, nb::rv_policy::take_ownership,
          "Items without a file, for pixels that are set.")
      .def(
          "open_records",
          [](nb::handle_t<EngineHandle> self, uint64_t rank, nb::object memory,
             const Longs& addresses, const Longs& sizes, const Ints& storages, const Ints& heights,
             const Ints& widths) {
            auto& handle = nb::cast<EngineHandle&>(self);
            const size_t count = addresses.shape(0);
            if (sizes.shape(0) != count || storages.shape(0) != count ||
                heights.shape(0) != count || widths.shape(0) != count)
              throw Error("Engine.open_records: columns of different lengths.");
            std::vector<Record> records(count);
            for (size_t i = 0; i < count; ++i) {
              if (addresses.data()[i] <= 0 || sizes.data()[i] < 1 ||
                  sizes.data()[i] > INT64_MAX - addresses.data()[i] || storages.data()[i] < 0 ||
                  heights.data()[i] < 1 || widths.data()[i] < 1)
                throw Error("Engine.open_records: record " + std::to_string(i) +
                            " lies nowhere or has no size.");
              const auto* bytes = reinterpret_cast<const uint8_t*>(addresses.data()[i]);
              records[i] = {{bytes, static_cast<size_t>(sizes.data()[i])},
                            static_cast<Storage>(storages.data()[i]),
                            heights.data()[i],
                            widths.data()[i]};
            }
            return new ChunkHandle(nb::make_tuple(nb::borrow(self), memory), handle, rank,
                                   handle.engine().open_records(records));
          },
          "rank"_a, "memory"_a, "addresses"_a, "sizes"_a, "storages"_a, "heights"_a, "widths"_a,
          nb::rv_policy::take_ownership,
          "Take records that lie in `memory`, which stays alive as long; nothing is read yet.");

  nb::class_<ChunkHandle>(m, "Chunk", "Samples that are read and run together.")
      .def("wait", &ChunkHandle::wait, "timeout_s"_a,
           "Wait until nothing is under way; False if that takes longer.")
      .def(
          "cancel", [](ChunkHandle& self) { self.chunk().cancel(); },
          "Drop what has not begun; the results are then undefined.")
      .def_prop_ro(
          "height",
          [](ChunkHandle& s) { return column(s, [](const Item& i) { return i.height; }); }, kOwned)
      .def_prop_ro(
          "width", [](ChunkHandle& s) { return column(s, [](const Item& i) { return i.width; }); },
          kOwned)
      .def_prop_ro(
          "route",
          [](ChunkHandle& s) {
            return column(s, [](const Item& i) { return static_cast<int>(i.route()); });
          },
          kOwned)
      .def_prop_ro(
          "unreadable",
          [](ChunkHandle& s) {
            return column(s, [](const Item& i) { return i.problem.empty() ? 0 : 1; });
          },
          kOwned)
      .def_prop_ro(
          "lacking",
          [](ChunkHandle& s) { return column(s, [](const Item& i) { return i.lacking; }); }, kOwned)
      .def_prop_ro(
          "status",
          [](ChunkHandle& s) {
            return column(s, [](const Item& i) { return static_cast<int>(i.result.status); });
          },
          kOwned)
      .def(
          "problem", [](ChunkHandle& s, int i) { return s.item(i).problem; }, "item"_a)
      .def(
          "reason", [](ChunkHandle& s, int i) { return std::string(s.item(i).header.reason); },
          "item"_a)
      .def(
          "message", [](ChunkHandle& s, int i) { return s.item(i).result.message; }, "item"_a)
      .def("read_records", &ChunkHandle::read_records, "items"_a, "tops"_a, "heights"_a,
           "Start to read what these rows of the images depend on.")
      .def("set_pixels", &ChunkHandle::set_pixels, "item"_a, "pixels"_a.noconvert(),
           "Use these RGB pixels instead of the item's file.")
      .def("run", &ChunkHandle::run, "items"_a, "programs"_a, "buffer"_a, "offsets"_a, "format"_a,
           "Start these items' programs into a batch's memory, each at its byte offset.")
      .def("run_to_arrays", &ChunkHandle::run_to_arrays, "items"_a, "programs"_a, "arrays"_a,
           "Start these items' programs into uint8 HxWx3 arrays.")
      .def("run_masks", &ChunkHandle::run_masks, "sources"_a, "numbers"_a, "programs"_a,
           "targets"_a, "fill"_a = 0,
           "Start to move the masks of every item, of which `numbers` are wanted, into arrays.");
}
