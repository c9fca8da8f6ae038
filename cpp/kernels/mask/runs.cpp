#include "kernels/mask/runs.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "base/error.h"

namespace penstock {
namespace {

constexpr uint8_t kMagic[4] = {'R', 'U', 'N', '1'};
constexpr size_t kHeaderBytes = 16;

uint32_t uint32_at(std::span<const uint8_t> bytes, size_t place) {
  return static_cast<uint32_t>(bytes[place]) | static_cast<uint32_t>(bytes[place + 1]) << 8 |
         static_cast<uint32_t>(bytes[place + 2]) << 16 |
         static_cast<uint32_t>(bytes[place + 3]) << 24;
}

}  // namespace

RunMasks RunMasks::read(std::span<const uint8_t> encoded) {
  if (encoded.size() < kHeaderBytes || !std::equal(kMagic, kMagic + 4, encoded.begin()))
    throw Error("its masks do not begin with RUN1");
  const uint32_t count = uint32_at(encoded, 4), height = uint32_at(encoded, 8),
                 width = uint32_at(encoded, 12);
  constexpr uint32_t kMostSide = 1u << 24;
  if (height < 1 || width < 1 || height > kMostSide || width > kMostSide)
    throw Error("its masks are of " + std::to_string(height) + "x" + std::to_string(width));
  if (count > (encoded.size() - kHeaderBytes) / 4)
    throw Error("its " + std::to_string(count) + " masks do not fit into " +
                std::to_string(encoded.size()) + " bytes");
  RunMasks masks;
  masks.count = static_cast<int>(count);
  masks.height = static_cast<int>(height);
  masks.width = static_cast<int>(width);
  masks.ends = encoded.subspan(kHeaderBytes, size_t{4} * count);
  masks.runs = encoded.subspan(kHeaderBytes + size_t{4} * count);
  size_t before = 0;
  for (size_t i = 0; i < count; ++i) {
    const size_t end = uint32_at(masks.ends, 4 * i);
    if (end < before || end > masks.runs.size())
      throw Error("mask " + std::to_string(i) + " ends at byte " + std::to_string(end) + " of " +
                  std::to_string(masks.runs.size()) + ", after one that ends at " +
                  std::to_string(before));
    before = end;
  }
  if (before != masks.runs.size()) throw Error("its last mask does not end where the bytes end");
  return masks;
}

std::span<const uint8_t> RunMasks::of(int number) const {
  const auto place = static_cast<size_t>(number);
  const size_t begin = place == 0 ? 0 : uint32_at(ends, 4 * (place - 1));
  return runs.subspan(begin, uint32_at(ends, 4 * place) - begin);
}

void read_runs(std::vector<Run>& out, std::span<const uint8_t> encoded, int64_t pixels) {
  out.clear();
  int64_t position = 0, begin = 0;
  bool inside = false, first = true;
  for (size_t at = 0; at < encoded.size();) {
    int64_t length = 0;
    for (int shift = 0;; shift += 7) {
      if (at == encoded.size() || shift > 56)
        throw Error("the run lengths of a mask end in the middle of a number");
      const uint8_t byte = encoded[at++];
      length |= static_cast<int64_t>(byte & 127) << shift;
      if (byte < 128) break;
    }
    if ((length == 0 && !first) || length > pixels - position)
      throw Error("a run of " + std::to_string(length) + " pixels at pixel " +
                  std::to_string(position) + " of a mask of " + std::to_string(pixels));
    first = false;
    position += length;
    if (inside)
      out.push_back({begin, position});
    else
      begin = position;
    inside = !inside;
  }
  if (inside) throw Error("the run lengths of a mask end outside its object");
}

void RunDrawer::begin(const MaskMap& map) {
  map_ = &map;
  edge_.clear();
  if (!map.pixels.empty()) return;
  // What comes from outside stands at the ends only, or the columns are not in order.
  const auto& columns = map.columns;
  const auto is_inside = [](int32_t column) { return column != kMaskOutside; };
  const auto begin = std::find_if(columns.begin(), columns.end(), is_inside);
  const auto end = std::find_if(columns.rbegin(), columns.rend(), is_inside).base();
  if (begin >= end) {  // all from outside: nothing of any run
    edge_.assign(static_cast<size_t>(map.in_width) + 1, 0);
    return;
  }
  if (!std::all_of(begin, end, is_inside)) return;
  falls_ = *begin > *(end - 1);
  if (falls_ ? !std::is_sorted(begin, end, std::greater<>()) : !std::is_sorted(begin, end)) return;
  edge_.resize(static_cast<size_t>(map.in_width) + 1);
  const auto size = static_cast<int32_t>(edge_.size());
  if (!falls_) {
    auto at = begin;
    for (int32_t column = 0; column < size; ++column) {
      while (at != end && *at < column) ++at;
      edge_[static_cast<size_t>(column)] = static_cast<int32_t>(at - columns.begin());
    }
  } else {
    auto at = end;
    for (int32_t column = 0; column < size; ++column) {
      while (at != begin && *(at - 1) < column) --at;
      edge_[static_cast<size_t>(column)] = static_cast<int32_t>(at - columns.begin());
    }
  }
}

void RunDrawer::draw(uint8_t* out, std::span<const uint8_t> encoded) {
  const MaskMap& map = *map_;
  read_runs(runs_, encoded, int64_t{map.in_height} * map.in_width);
  if (runs_.empty()) {
    std::memset(out, 0, static_cast<size_t>(map.height) * static_cast<size_t>(map.width));
    return;
  }
  if (!map.pixels.empty()) return draw_pixels(out);
  const auto width = static_cast<size_t>(map.width);
  for (size_t y = 0; y < map.rows.size(); ++y, out += width) {
    if (y > 0 && map.rows[y] == map.rows[y - 1])
      std::memcpy(out, out - width, width);
    else
      draw_row(out, map.rows[y]);
  }
}

void RunDrawer::draw_row(uint8_t* out, int32_t row) {
  const MaskMap& map = *map_;
  const auto width = static_cast<size_t>(map.width);
  std::memset(out, 0, width);
  if (row == kMaskOutside) return;
  const int64_t begin = int64_t{row} * map.in_width, end = begin + map.in_width;
  auto run = std::upper_bound(runs_.begin(), runs_.end(), begin,
                              [](int64_t place, const Run& r) { return place < r.end; });
  if (run == runs_.end() || run->begin >= end) return;
  if (edge_.empty()) bytes_.assign(static_cast<size_t>(map.in_width), 0);
  for (; run != runs_.end() && run->begin < end; ++run) {
    const auto from = static_cast<size_t>(std::max(run->begin, begin) - begin);
    const auto to = static_cast<size_t>(std::min(run->end, end) - begin);
    if (edge_.empty()) {
      std::memset(bytes_.data() + from, 1, to - from);
      continue;
    }
    const int32_t first = falls_ ? edge_[to] : edge_[from];
    const int32_t last = falls_ ? edge_[from] : edge_[to];
    std::memset(out + first, 1, static_cast<size_t>(last - first));
  }
  if (!edge_.empty()) return;
  for (size_t x = 0; x < width; ++x)
    if (map.columns[x] != kMaskOutside) out[x] = bytes_[static_cast<size_t>(map.columns[x])];
}

void RunDrawer::draw_pixels(uint8_t* out) {
  // Only the pixels from the object's first to its last are made.
  const int64_t first = runs_.front().begin;
  const auto length = static_cast<uint32_t>(runs_.back().end - first);
  bytes_.assign(length, 0);
  for (const Run& run : runs_)
    std::memset(bytes_.data() + (run.begin - first), 1, static_cast<size_t>(run.end - run.begin));
  const auto start = static_cast<uint32_t>(first);
  for (const int32_t place : map_->pixels) {
    // kMaskOutside wraps around to more than any object has.
    const uint32_t at = static_cast<uint32_t>(place) - start;
    *out++ = at < length ? bytes_[at] : 0;
  }
}

void draw_runs_scalar(uint8_t* out, std::span<const uint8_t> encoded, const MaskMap& map) {
  std::vector<Run> runs;
  read_runs(runs, encoded, int64_t{map.in_height} * map.in_width);
  for (int y = 0; y < map.height; ++y)
    for (int x = 0; x < map.width; ++x) {
      int64_t place = kMaskOutside;
      const auto row = static_cast<size_t>(y), column = static_cast<size_t>(x);
      if (!map.pixels.empty())
        place = map.pixels[row * static_cast<size_t>(map.width) + column];
      else if (map.rows[row] != kMaskOutside && map.columns[column] != kMaskOutside)
        place = int64_t{map.rows[row]} * map.in_width + map.columns[column];
      *out++ = std::any_of(runs.begin(), runs.end(),
                           [&](const Run& run) { return run.begin <= place && place < run.end; });
    }
}

}  // namespace penstock
