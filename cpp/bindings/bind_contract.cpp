// The contract between Python and the engine: the numbers that both use, by name, and programs.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cctype>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <tuple>

#include "base/effects.h"
#include "base/error.h"
#include "bindings/bind.h"
#include "bindings/contract.h"
#include "bindings/names.h"
#include "engine/part.h"
#include "kernels/mix/mix_batch.h"
#include "kernels/resample.h"
#include "kernels/tensor/image_levels.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace penstock {
namespace {

std::string upper(const char* name) {
  std::string text(name);
  for (char& letter : text) letter = static_cast<char>(std::toupper(letter));
  return text;
}

/// Numbers of Python's IntEnum of the same name, whose members are spelled in capitals.
template <class Enum>
void bind_enum(nb::module_& m, const char* name, const char* doc,
               std::span<const Named<Enum>> members) {
  nb::enum_<Enum> bound(m, name, nb::is_arithmetic(), doc);
  for (const auto& [member, value] : members) bound.value(upper(member).c_str(), value);
}

constexpr Named<EffectFamily> kFamilies[] = {
    {"none", EffectFamily::none},     {"colour", EffectFamily::colour},
    {"filter", EffectFamily::filter}, {"warp", EffectFamily::warp},
    {"mix", EffectFamily::mix},       {"tensor", EffectFamily::tensor}};
constexpr Named<Weights> kWeights[] = {{"pillow", Weights::pillow},
                                       {"torch_antialiased", Weights::torch_antialiased},
                                       {"torch_direct", Weights::torch_direct},
                                       {"opencv", Weights::opencv}};
constexpr Named<MixKind> kMixKinds[] = {
    {"none", MixKind::none}, {"blend", MixKind::blend}, {"paste", MixKind::paste}};
constexpr Named<Storage> kStorages[] = {{"jpeg", Storage::jpeg},
                                        {"dct", Storage::dct},
                                        {"raw", Storage::raw},
                                        {"deflated", Storage::deflated}};

enum class StepColumn : int32_t {
#define FIELD(name) name,
  PENSTOCK_STEP_FIELDS(FIELD)
#undef FIELD
};

/// Head columns of an effect: kind, after_step, height, width, waits, counts_early.
constexpr size_t kEffectHead = 6;

Format make_format(Element element, const std::string& layout, float scale,
                   const std::vector<float>& mean, const std::vector<float>& std, float divisor,
                   const std::vector<float>& gain, int channels,
                   const std::optional<Table<float, 2>>& values, bool blue_first) {
  Format format;
  format.element = element;
  if (layout != "chw" && layout != "hwc")
    throw Error("Format: layout '" + layout + "' is unknown.");
  format.layout = layout == "chw" ? Layout::chw : Layout::hwc;
  if (mean.size() != 3 || std.size() != 3 || gain.size() != 3)
    throw Error("Format: mean, std and gain take three values.");
  if (channels != 3 && (channels != 1 || format.layout != Layout::chw))
    throw Error("Format: there are 3 channels, or 1 with the layout 'chw', got " +
                std::to_string(channels) + " with '" + layout + "'.");
  format.channels = channels;
  format.pass = make_final_pass(scale, mean.data(), std.data(), divisor, gain.data());
  if (values) {
    if (values->shape(0) != 3 || values->shape(1) != 256)
      throw Error("Format: values are given for three channels and 256 levels.");
    set_values(format.pass, values->data());
  }
  format.blue_first = blue_first;
  return format;
}

Programs make_programs(Table<int32_t, 3> steps, Ints step_counts, Table<int32_t, 2> heads,
                       Table<double, 2> numbers, Ints effect_counts) {
  const size_t count = steps.shape(0);
  if (steps.shape(1) < 1 || steps.shape(2) != kStepFields)
    throw Error("Programs: steps must be samples x n x " + std::to_string(kStepFields) + ".");
  if (step_counts.shape(0) != count || effect_counts.shape(0) != count)
    throw Error("Programs: one count of steps and one of effects for each sample.");
  if (heads.shape(1) != kEffectHead || numbers.shape(1) > kEffectNumbers ||
      heads.shape(0) != numbers.shape(0))
    throw Error("Programs: effects must be n x " + std::to_string(kEffectHead) + " and n x " +
                std::to_string(kEffectNumbers) + " or fewer.");
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

using ParameterEntry = std::tuple<std::string, int, bool>;
using TableEntry = std::tuple<EffectKind, EffectFamily, std::vector<ParameterEntry>>;

std::vector<TableEntry> table_of_effects() {
  std::vector<TableEntry> entries;
  for (const EffectEntry& entry : effect_table()) {
    std::vector<ParameterEntry> parameters;
    for (const auto& [name, count, optional] : entry.parameters)
      parameters.emplace_back(name, count, optional);
    entries.emplace_back(entry.kind, entry.family, std::move(parameters));
  }
  return entries;
}

void bind_enums(nb::module_& m) {
  nb::enum_<EffectKind> effect(m, "Effect", nb::is_arithmetic(),
                               "What is done to an image; cpp/base/effects.def tells more.");
  for (const EffectEntry& entry : effect_table())
    effect.value(upper(entry.name).c_str(), entry.kind);
  bind_enum<EffectFamily>(m, "EffectFamily", "What kind of thing an effect does.", kFamilies);
  nb::enum_<StepColumn> column(m, "StepColumn", nb::is_arithmetic(),
                               "The fields of a step; cpp/engine/program.h tells more.");
#define FIELD(name) column.value(upper(#name).c_str(), StepColumn::name);
  PENSTOCK_STEP_FIELDS(FIELD)
#undef FIELD
  bind_enum<Weights>(m, "Weights", "Whose weights a resize has.", kWeights);
  bind_enum<PadMode>(m, "PadMode", "How a border is filled.", kPadModes);
  bind_enum<Element>(m, "Element", "The type of one value of a batch.", kElements);
  bind_enum<MixKind>(m, "MixKind", "How an image takes part of another.", kMixKinds);
  bind_enum<Storage>(
      m, "Storage",
      "How a record holds its image. All but DEFLATED stand in packed files so; that "
      "is RAW, compressed.",
      kStorages);
  bind_enum<Route>(m, "Route", "Who decodes an image.", kRoutes);
  bind_enum<DecodeStatus>(m, "Status", "What became of an image when it was decoded.", kStatuses);
}

}  // namespace

std::vector<Program> Programs::copy_to(std::vector<Step>& own_steps,
                                       std::vector<Effect>& own_effects) const {
  const size_t count = samples(), most_steps = steps.shape(1);
  own_steps.resize(count * most_steps);
  if (count > 0) std::memcpy(own_steps.data(), steps.data(), own_steps.size() * sizeof(Step));
  own_effects.resize(effect_heads.shape(0));
  const size_t numbers = effect_numbers.shape(1);  // those behind them are 0
  for (size_t i = 0; i < own_effects.size(); ++i) {
    const int32_t* head = effect_heads.data() + kEffectHead * i;
    own_effects[i] = {static_cast<EffectKind>(head[0]),
                      head[1],
                      head[2],
                      head[3],
                      {},
                      head[4] != 0,
                      head[5] != 0};
    std::copy_n(effect_numbers.data() + numbers * i, numbers, own_effects[i].numbers);
  }
  std::vector<Program> programs(count);
  const Effect* effects = own_effects.data();
  for (size_t i = 0; i < count; ++i) {
    const auto steps_used = static_cast<size_t>(step_counts.data()[i]);
    const auto effects_used = static_cast<size_t>(effect_counts.data()[i]);
    programs[i] = {{own_steps.data() + i * most_steps, steps_used}, {effects, effects_used}};
    effects += effects_used;
  }
  return programs;
}

void bind_contract(nb::module_& m) {
  bind_enums(m);
  m.attr("EFFECT_NUMBERS") = kEffectNumbers;
  m.attr("FINISHED") = kFinished;
  m.attr("MOST_MEAN_PIXELS") = kMostMeanPixels;
  m.def("effect_table", &table_of_effects,
        "All effects: each with its family, and the name and count of its parameters and whether "
        "they may be left out.");

  nb::class_<Format>(m, "Format", "How batch slots are written.")
      .def(nb::new_(&make_format), "element"_a, "layout"_a, "scale"_a, "mean"_a, "std"_a,
           "divisor"_a = 1.0f, "gain"_a = std::vector<float>{1.0f, 1.0f, 1.0f}, "channels"_a = 3,
           "values"_a = nb::none(), "blue_first"_a = false,
           "`values`, three channels of 256 levels, stand for the arithmetic, which is still used "
           "where it gives the same bits. `blue_first` turns the order of three channels around.");

  nb::class_<Programs>(m, "Programs", "What is done to some samples.")
      .def(nb::new_(&make_programs), "steps"_a, "step_counts"_a, "effect_heads"_a,
           "effect_numbers"_a, "effect_counts"_a);
}

}  // namespace penstock
