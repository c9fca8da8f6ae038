// Some samples that travel through the engine together: read, then run, perhaps run again.
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
#include "engine/record.h"
#include "engine/run_sample.h"
#include "kernels/output.h"

namespace penstock {

/// One sample's file, what is known of it, and what became of it.
struct Item {
  std::string path;                  // of a file; empty: a record that lies in memory
  Buffer bytes;                      // what was read of a file
  std::span<const uint8_t> encoded;  // in `bytes`, or the record
  Storage storage = Storage::jpeg;   // of a record
  JpegHeader header;
  TileImage tiles;      // of a dct record
  std::string problem;  // why it could not be read; empty: fine
  int lacking = 0;      // errno, where the problem is the machine's and not the sample's

  const uint8_t* rgb = nullptr;  // pixels decoded elsewhere, if any; they win over the file
  ptrdiff_t rgb_stride = 0;
  int height = 0;
  int width = 0;

  DecodeResult result;  // of the last run

  /// How its pixels are had: tiles and given pixels by the core itself.
  Route route() const {
    return rgb != nullptr || storage == Storage::dct ? Route::baseline : header.route;
  }
};

/// What `Chunk::run` does for one item.
struct Assignment {
  int item;
  Program program;
  Output output;
};

/// The items, and a count of what is under way. At most one `fetch` or `run` at a time;
/// between two of them the items belong to the caller.
class Chunk {
 public:
  explicit Chunk(std::vector<Item> given) : items(std::move(given)) {}

  std::vector<Item> items;

  /// Programs of the run under way.
  std::vector<Assignment> assignments;
  std::vector<Step> steps;
  std::vector<Effect> effects;
  FinalPass pass;
  std::shared_ptr<void> keeps_alive;  // the batch memory that the outputs lie in

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
