// A part: some samples of a batch that travel through the engine together. They are read, then run,
// perhaps run again.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/buffer.h"
#include "codec/jpeg_decode.h"
#include "codec/jpeg_header.h"
#include "engine/program.h"
#include "engine/row_memory.h"
#include "engine/run_views.h"
#include "kernels/output.h"

namespace penstock {

/// How an image lies in memory that is mapped from a packed file. The first three numbers are those
/// of the packed format, in which deflated pixels are raw ones with a flag.
enum class Storage : int32_t { jpeg = 0, dct = 1, raw = 2, deflated = 3 };

/// A sample that lies in a mapped file instead of a file of its own.
struct MappedSample {
  std::span<const uint8_t> bytes;
  Storage storage = Storage::jpeg;
  int height = 0;  // as the index says
  int width = 0;
};

/// One sample: its file, what is known of it, and what became of it.
struct Sample {
  std::string path;                  // of a file; empty: it lies in mapped memory
  Buffer bytes;                      // what was read of a file
  std::span<const uint8_t> encoded;  // in `bytes`, or mapped
  Storage storage = Storage::jpeg;   // if mapped
  FileVersion version;               // of a file that was read
  // Apart, since they are large and a sample has at most one of them.
  std::unique_ptr<JpegHeader> header;  // null until it has been looked at
  std::unique_ptr<TileImage> tiles;    // of Storage::dct, likewise
  std::string problem;                 // why it could not be read; empty: fine
  int lacking = 0;  // errno, where the problem is the machine's and not the sample's

  const uint8_t* rgb = nullptr;  // pixels decoded elsewhere, if any; used instead of the file
  ptrdiff_t rgb_stride = 0;
  int height = 0;
  int width = 0;

  DecodeResult result;  // of the last run

  /// What decodes it: for tiles and pixels, the core itself.
  Route route() const {
    if (rgb != nullptr || storage == Storage::dct || storage == Storage::deflated)
      return Route::baseline;
    return header == nullptr ? Route::pillow : header->route;
  }
  /// Why not our own decoder: a short phrase.
  const char* reason() const { return header == nullptr ? "" : header->reason; }
};

/// Programs for some samples, one for each, and what their outputs refer to.
struct Load {
  std::vector<Step> steps;
  std::vector<Effect> effects;
  FinalPass pass;
  std::shared_ptr<void> keeps_alive;  // the batch memory that the outputs lie in
};

/// What a run does for one sample.
struct Assignment {
  int sample;
  std::span<const View> views;
};

/// The samples, and a count of what is under way. At most one `fetch` or `run` at a time;
/// between two of them the samples belong to the caller.
class Part {
 public:
  explicit Part(std::vector<Sample> given) : samples(std::move(given)) {}

  std::vector<Sample> samples;

  /// Programs of the run under way; one load for each view.
  std::vector<Assignment> assignments;
  std::vector<View> views;  // sample by sample
  std::vector<Load> loads;

  /// Waits until nothing is under way; false if that takes longer than `timeout`.
  bool wait_for(std::chrono::duration<double> timeout);
  void wait();

  /// Tasks that have not begun will not do anything.
  void cancel() { cancelled_.store(true, std::memory_order_relaxed); }
  bool cancelled() const { return cancelled_.load(std::memory_order_relaxed); }

  void begin(int tasks);
  void finish_one();

 private:
  std::mutex mutex_;
  std::condition_variable idle_;
  int under_way_ = 0;
  std::atomic<bool> cancelled_{false};
};

}  // namespace penstock
