#include "engine/run_views.h"

#include <algorithm>

namespace penstock {
namespace {

Region around_both(const Region& a, const Region& b) {
  const int top = std::min(a.top, b.top), left = std::min(a.left, b.left);
  return {top, left, std::max(a.top + a.height, b.top + b.height) - top,
          std::max(a.left + a.width, b.left + b.width) - left};
}

/// What the views of the first one's group read together.
Region needed_by_group(std::span<const View> views, const Input& input) {
  Region region = needed_region(views[0].program, input);
  for (const View& view : views.subspan(1))
    if (view.group == views[0].group)
      region = around_both(region, needed_region(view.program, input));
  return region;
}

/// Runs the views of the first one's group.
DecodeResult run_group(bool& late, std::span<const View> views, const SampleSource& source,
                       WorkerScratch& scratch) {
  SourceInput input(source, views[0].program.steps[0].reduction(), scratch.input);
  Region region = needed_by_group(views, input);
  PlanarTarget shared;
  DecodeResult decoded = copy_region(shared, scratch.shared, input, region, scratch);
  if (decoded.status == DecodeStatus::irregular) {
    input.scale = 1;  // libjpeg decodes it then, at full size
    region = needed_by_group(views, input);
    decoded = copy_region(shared, scratch.shared, input, region, scratch);
  }
  if (decoded.status != DecodeStatus::ok) return decoded;
  for (const View& view : views) {
    if (view.group != views[0].group) continue;
    PlanarInput part(shared.view(), region.top, region.left, input);
    run_program(late, view.output, part, view.program, scratch);
  }
  return decoded;
}

}  // namespace

DecodeResult run_views(bool& late, std::span<const View> views, const SampleSource& source,
                       WorkerScratch& scratch) {
  late = false;
  DecodeResult first;
  for (size_t i = 0; i < views.size(); ++i) {
    const View& view = views[i];
    const auto has_its_group = [&](const View& other) { return other.group == view.group; };
    if (view.group != kAlone && std::ranges::any_of(views.first(i), has_its_group)) continue;
    DecodeResult result = view.group == kAlone
                              ? run_sample(late, view.output, source, view.program, scratch)
                              : run_group(late, views.subspan(i), source, scratch);
    if (result.status != DecodeStatus::ok) return result;
    if (i == 0) first = std::move(result);
  }
  return first;
}

}  // namespace penstock
