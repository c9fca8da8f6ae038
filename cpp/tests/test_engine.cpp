// The engine's threads: many parts at once, cancelled ones, memory that outlives its ring.
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "base/error.h"
#include "check.h"
#include "engine/batch_buffer.h"
#include "engine/engine.h"
#include "engine/spare_buffers.h"
#include "engine/worker_pool.h"

using namespace penstock;

namespace {

TEST(pool_runs_every_task_and_lower_ranks_first) {
  std::atomic<int> sum{0};
  std::vector<int> order;
  {
    WorkerPool pool(1);
    std::atomic<bool> go{false};
    pool.submit(0, [&](int) {
      while (!go) std::this_thread::yield();
    });
    for (int rank : {3, 1, 2})
      pool.submit(static_cast<uint64_t>(rank), [&, rank](int) {
        order.push_back(rank);
        ++sum;
      });
    go = true;
    while (sum < 3) std::this_thread::yield();
  }
  CHECK((order == std::vector<int>{1, 2, 3}));
}

TEST(pool_drops_what_has_not_begun) {
  std::atomic<int> ran{0};
  {
    WorkerPool pool(1);
    std::atomic<bool> started{false};
    pool.submit(0, [&](int) {
      started = true;
      ++ran;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    });
    while (!started) std::this_thread::yield();
    for (int i = 0; i < 100; ++i) pool.submit(1, [&](int) { ++ran; });
  }
  CHECK(ran >= 1 && ran < 101);
}

TEST(a_pool_that_finishes_leaves_no_task_behind) {
  std::atomic<int> ran{0}, rested{0};
  WorkerPool pool(3, [&](int) { ++rested; });
  for (int i = 0; i < 100; ++i) pool.submit(1, [&](int) { ++ran; });
  pool.finish();
  CHECK(ran == 100 && rested >= 1);
  pool.finish();
}

TEST(a_pool_that_lacks_a_thread_leaves_none_running) {
  std::atomic<int> begun{0}, ended{0};
  int started = 0;
  const auto fourth_fails = [&](std::function<void()> work) {
    if (started == 3) throw std::system_error(EAGAIN, std::generic_category());
    ++started;
    return std::thread([&, work] {
      ++begun;
      work();
      ++ended;
    });
  };
  std::string told;
  try {
    const WorkerPool pool(8, {}, fourth_fails);
  } catch (const ResourceError& error) {
    told = error.what();
  }
  CHECK(told.find("only 3 of 8 threads") != std::string::npos);
  CHECK(begun == 3 && ended == 3);
}

TEST(memory_goes_round_and_outlives_the_ring) {
  auto ring = std::make_shared<BatchRing>(1);
  uint8_t* first;
  {
    const BatchRing::Lease lease = ring->take(1000);
    CHECK(lease.fresh);
    first = lease.memory->data();
  }
  CHECK(ring->idle() == 1);
  BatchRing::Lease again = ring->take(900);
  CHECK(!again.fresh && again.memory->data() == first);
  BatchRing::Lease other = ring->take(900);
  CHECK(other.fresh && ring->made() == 2);
  again.memory.reset();
  ring.reset();
  other.memory->data()[899] = 1;
}

TEST(spare_buffers_go_to_files_of_their_size) {
  SpareBuffers spare;
  for (const size_t size : {100'000, 200'000, 2'000'000}) {
    Buffer buffer;
    (void)buffer.reserve(size);
    spare.give_back(std::move(buffer));
  }
  spare.give_back({});
  CHECK(spare.take(50'000).capacity() == 0);
  const Buffer fits = spare.take(100'000);
  CHECK(fits.capacity() >= 100'000 && fits.capacity() < 200'000);
  CHECK(spare.take(100'000).capacity() == 0);
  CHECK(spare.take(3'000'000).capacity() == 0);
  CHECK(spare.take(2'000'000).capacity() >= 2'000'000);
}

TEST(spare_buffers_have_an_end) {
  SpareBuffers spare;
  constexpr size_t kSize = size_t{1} << 20;
  for (int i = 0; i < 1000; ++i) {
    Buffer buffer;
    (void)buffer.reserve(kSize);
    spare.give_back(std::move(buffer));
  }
  std::vector<Buffer> kept;
  while (kept.empty() || kept.back().capacity() > 0) kept.push_back(spare.take(kSize));
  CHECK(kept.size() > 2 && kept.size() < 100);
}

TEST(missing_and_foreign_files_are_told_apart) {
  const std::string folder = std::string(std::getenv("TMPDIR") ? std::getenv("TMPDIR") : "/tmp");
  const std::string text = folder + "/penstock_test_" + std::to_string(::getpid()) + ".txt";
  std::FILE* file = std::fopen(text.c_str(), "wb");
  CHECK(file != nullptr);
  std::fputs("hello", file);
  std::fclose(file);

  Engine engine(2, 2);
  const auto part = engine.fetch(0, {text, text + ".missing", folder});
  part->wait();
  CHECK(part->samples[0].problem.empty() && part->samples[0].route() == Route::pillow);
  CHECK(part->samples[1].problem.find("cannot be opened") != std::string::npos);
  CHECK(part->samples[2].problem.find("folder") != std::string::npos);
  std::remove(text.c_str());
}

TEST(too_many_open_files_are_not_the_files_fault) {
  rlimit before{};
  CHECK(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  Engine engine(1, 1);
  const rlimit none{0, before.rlim_max};
  CHECK(::setrlimit(RLIMIT_NOFILE, &none) == 0);
  const auto part = engine.fetch(0, {"/proc/self/exe", "/nowhere"});
  part->wait();
  CHECK(::setrlimit(RLIMIT_NOFILE, &before) == 0);
  CHECK(part->samples[0].lacking == EMFILE && !part->samples[0].problem.empty());
  const auto again = engine.fetch(1, {"/proc/self/exe", "/nowhere"});
  again->wait();
  CHECK(again->samples[0].lacking == 0 && again->samples[0].problem.empty());
  CHECK(again->samples[1].lacking == 0 && !again->samples[1].problem.empty());
}

Step whole(int height, int width) {
  Step step{};
  step.crop_height = step.window_height = height;
  step.crop_width = step.window_width = width;
  step.filter = -1;
  step.dct_scale = 1;
  return step;
}

TEST(many_parts_at_once_fill_their_own_slots) {
  constexpr int kSide = 9, kSamples = 16, kParts = 12;
  std::vector<uint8_t> pixels(kSide * kSide * 3);
  for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<uint8_t>(i * 7);
  const auto is_inverted = [](int sample) { return sample % 5 != 0; };
  Engine engine(4, 2);
  const auto drive = [&](uint64_t rank) {
    const auto part = engine.fetch(rank, std::vector<std::string>(kSamples, "/nowhere"));
    part->wait();
    std::vector<uint8_t> target(pixels.size() * kSamples);
    const Step step = whole(kSide, kSide);
    const Effect invert{EffectKind::invert, 0, kSide, kSide, {}};
    part->views.resize(kSamples);
    for (int i = 0; i < kSamples; ++i) {
      Sample& sample = part->samples[static_cast<size_t>(i)];
      sample.rgb = pixels.data();
      sample.rgb_stride = kSide * 3;
      sample.height = sample.width = kSide;
      Output output;
      output.data = target.data() + static_cast<size_t>(i) * pixels.size();
      output.row_stride = kSide * 3;
      output.height = output.width = kSide;
      output.layout = Layout::hwc;
      output.past_cache = i % 4 != 1;  // with effects, the writing is then put off
      View& view = part->views[static_cast<size_t>(i)];
      view = {{{&step, 1}, {&invert, is_inverted(i) ? size_t{1} : 0}}, output};
      part->assignments.push_back({i, {&view, 1}});
    }
    if (rank % 3 == 2) part->cancel();
    engine.run(rank, part);
    part->wait();
    if (rank % 3 != 2)
      for (size_t i = 0; i < target.size(); ++i) {
        const uint8_t pixel = pixels[i % pixels.size()];
        const bool inverted = is_inverted(static_cast<int>(i / pixels.size()));
        CHECK(target[i] == (inverted ? 255 - pixel : pixel));
      }
    engine.recycle(*part);
  };
  std::vector<std::thread> drivers;
  for (uint64_t rank = 0; rank < kParts; ++rank) drivers.emplace_back(drive, rank);
  for (std::thread& driver : drivers) driver.join();
}

TEST(steps_that_do_not_fit_are_refused) {
  const auto refused = [](const Step& step) {
    try {
      size_after({{&step, 1}, {}}, 10, 20);
    } catch (const std::exception&) {
      return true;
    }
    return false;
  };
  Step step = whole(10, 20);
  CHECK(!refused(step));
  step.crop_top = 1;
  CHECK(refused(step));
  step = whole(10, 20);
  step.window_width = 21;
  CHECK(refused(step));
  step = whole(10, 20);
  step.filter = 6;
  CHECK(refused(step));
  step = whole(10, 20);
  step.pad_left = -1;
  CHECK(refused(step));
  step = whole(10, 20);
  step.dct_scale = 2;
  CHECK(refused(step));  // nothing is resized
  step.filter = 2;
  step.resize_height = 10, step.resize_width = 20;
  CHECK(!refused(step));
  step.dct_scale = 3;
  CHECK(refused(step));
  step.dct_scale = 2;
  step.filter = 0;
  CHECK(refused(step));
  step = whole(10, 20);
  step.weights = 1;
  CHECK(refused(step));  // nothing is resized
  step.filter = 3;
  step.resize_height = 10, step.resize_width = 20;
  CHECK(!refused(step));
  step.weights = 3;
  CHECK(refused(step));
  step.weights = 2;
  step.filter = 1;
  CHECK(refused(step));
  step.filter = 2;
  step.vertical_first = 1;
  CHECK(refused(step));
  step.vertical_first = 0;
  step.dct_scale = 2;
  CHECK(refused(step));
}

TEST(boxes_lie_in_what_is_resized) {
  const auto refused = [](float left, float top, float right, float bottom, int filter = 2,
                          int dct_scale = 1) {
    Step step = whole(10, 20);
    step.filter = filter;
    step.dct_scale = dct_scale;
    step.resize_height = step.window_height = 7;
    step.resize_width = step.window_width = 5;
    step.box_left = std::bit_cast<int32_t>(left);
    step.box_top = std::bit_cast<int32_t>(top);
    step.box_right = std::bit_cast<int32_t>(right);
    step.box_bottom = std::bit_cast<int32_t>(bottom);
    try {
      size_after({{&step, 1}, {}}, 10, 20);
    } catch (const Error&) {
      return true;
    }
    return false;
  };
  CHECK(!refused(0, 0, 20, 10));
  CHECK(!refused(0.5f, 1.25f, 19.75f, 1.5f));
  CHECK(refused(0, 0, 20, 10.001f));
  CHECK(refused(0, 0, 20.001f, 10));
  CHECK(refused(-0.001f, 0, 20, 10));
  CHECK(refused(3, 0, 3, 10));
  CHECK(refused(0, 8, 20, 7));
  CHECK(refused(0, 0, std::nanf(""), 10));
  CHECK(refused(0, 0, 20, 10, -1));    // nothing is resized
  CHECK(refused(0, 0, 20, 10, 0));     // nearest
  CHECK(refused(0, 0, 20, 10, 2, 2));  // reduced
}

}  // namespace
