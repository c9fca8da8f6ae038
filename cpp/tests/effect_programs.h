// Programs with effects for the engine's tests, and what becomes of random pixels by them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "check.h"
#include "engine/run_sample.h"

namespace penstock {

/// A step that takes all of an image as it is.
inline Step whole(int height, int width) {
  Step step{};
  step.crop_height = step.resize_height = step.window_height = height;
  step.crop_width = step.resize_width = step.window_width = width;
  step.filter = -1;
  step.dct_scale = 1;
  return step;
}

inline Effect effect_of(EffectKind kind, int height, int width, std::vector<double> numbers,
                        int32_t after_step = 0) {
  Effect effect{kind, after_step, height, width, {}};
  std::copy(numbers.begin(), numbers.end(), effect.numbers);
  return effect;
}

/// Runs a program on random pixels into a float slot between guards.
inline std::vector<float> run(std::mt19937& random, const Program& program, int height, int width,
                              WorkerScratch& scratch) {
  std::vector<uint8_t> pixels(static_cast<size_t>(height * width * 3));
  for (uint8_t& value : pixels) value = static_cast<uint8_t>(random());
  SampleSource source;
  source.rgb = pixels.data();
  source.rgb_stride = width * 3;
  source.height = height;
  source.width = width;
  const Region size = size_after(program, height, width);
  constexpr float kGuard = -12345;
  const size_t values = static_cast<size_t>(size.height * size.width * 3);
  // Begins at a cache line, without which nothing is written past the cache.
  std::vector<float> memory(values + 32, kGuard);
  size_t before = 1;
  while (reinterpret_cast<uintptr_t>(&memory[before]) % 64 != 0) ++before;
  const std::span slot = std::span(memory).subspan(before - 1, values + 2);
  const float mean[3] = {0.4f, 0.5f, 0.6f}, deviation[3] = {0.2f, 0.3f, 0.4f};
  const FinalPass pass = make_final_pass(1.0f / 255, mean, deviation);
  Output output;
  output.data = slot.data() + 1;
  output.row_stride = size.width * 4;
  output.plane_stride = output.row_stride * size.height;
  output.height = size.height;
  output.width = size.width;
  output.element = Element::float32;
  output.pass = &pass;
  output.past_cache = random() % 2 == 0;  // asks for the slot to be written beside other work
  bool late = false;
  CHECK(run_sample(late, output, source, program, scratch).status == DecodeStatus::ok);
  if (late) scratch.late.finish();
  CHECK(slot.front() == kGuard && slot.back() == kGuard);
  for (size_t i = 1; i + 1 < slot.size(); ++i) CHECK(slot[i] != kGuard);
  return {slot.begin(), slot.end()};
}

/// Always on the same pixels.
inline std::vector<float> run_same(const Program& program, int height, int width,
                                   WorkerScratch& scratch) {
  std::mt19937 same(12);
  return run(same, program, height, width, scratch);
}

inline Effect waiting(Effect effect) {
  effect.waits = true;
  return effect;
}

}  // namespace penstock
