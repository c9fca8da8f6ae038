// The names that Python uses for values of our enums.
#pragma once

#include <algorithm>
#include <string>

#include "base/error.h"
#include "codec/jpeg_decode.h"
#include "codec/jpeg_header.h"
#include "kernels/output.h"
#include "kernels/pad.h"

namespace penstock {

template <class Enum>
struct Named {
  const char* name;
  Enum value;
};

inline constexpr Named<PadMode> kPadModes[] = {{"constant", PadMode::constant},
                                               {"edge", PadMode::edge},
                                               {"reflect", PadMode::reflect},
                                               {"symmetric", PadMode::symmetric}};
inline constexpr Named<Element> kElements[] = {{"uint8", Element::uint8},
                                               {"float16", Element::float16},
                                               {"bfloat16", Element::bfloat16},
                                               {"float32", Element::float32}};
inline constexpr Named<Layout> kLayouts[] = {{"chw", Layout::chw}, {"hwc", Layout::hwc}};
inline constexpr Named<Route> kRoutes[] = {
    {"baseline", Route::baseline}, {"libjpeg", Route::libjpeg}, {"pillow", Route::pillow}};
inline constexpr Named<DecodeStatus> kStatuses[] = {{"ok", DecodeStatus::ok},
                                                    {"irregular", DecodeStatus::irregular},
                                                    {"warned", DecodeStatus::warned},
                                                    {"failed", DecodeStatus::failed}};

/// Requires a table with all values of the enum.
template <class Enum, size_t kCount>
const char* name_in(const Named<Enum> (&table)[kCount], Enum value) {
  return std::ranges::find(table, value, &Named<Enum>::value)->name;
}

/// Throws Error if the table has no such name; `where` says what the name is for.
template <class Enum, size_t kCount>
Enum value_in(const Named<Enum> (&table)[kCount], const char* where, const std::string& name) {
  std::string names;
  for (const auto& [known, value] : table) {
    if (name == known) return value;
    names += (names.empty() ? "" : ", ") + std::string(known);
  }
  throw Error(std::string(where) + ": '" + name + "' is unknown. Use one of " + names + ".");
}

}  // namespace penstock
