// Threads that read files and threads that turn them into batch slots.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "engine/move_masks.h"
#include "engine/part.h"
#include "engine/row_memory.h"
#include "engine/run_sample.h"
#include "engine/spare_buffers.h"
#include "engine/worker_pool.h"
#include "records/inflate_pixels.h"

namespace penstock {

/// Reading has threads of its own, so that a slow disk does not keep a core from decoding.
class Engine {
 public:
  /// Remembers where rows of files begin in at most `row_memory` bytes.
  Engine(int workers, int readers, size_t row_memory = 0);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  int workers() const { return workers_.threads(); }

  /// Starts to read `paths` and their headers. `rank` orders parts: lower goes first.
  std::shared_ptr<Part> fetch(uint64_t rank, const std::vector<std::string>& paths);

  /// A part whose samples lie in mapped memory; nothing is read yet, sizes are the index's.
  std::shared_ptr<Part> open_mapped(const std::vector<MappedSample>& mapped);

  struct Rows {
    int sample;
    Region rows;  // of the image; only top and height count
  };
  /// Starts to read what these rows of mapped samples depend on.
  void read_mapped(uint64_t rank, const std::shared_ptr<Part>& part, std::vector<Rows> wanted);

  /// Starts the programs that the caller has put into the part.
  void run(uint64_t rank, const std::shared_ptr<Part>& part);

  /// Starts to move masks: a piece of work for each sample, whose `problem` says what went wrong.
  /// Their programs must lie in the part.
  void run_masks(uint64_t rank, const std::shared_ptr<Part>& part, std::vector<MaskWork> works);

  /// Ends all threads once nothing is under way. Afterwards parts can only be recycled.
  void finish();

  /// Takes the part's buffers back for later parts. Nothing may be under way in it.
  void recycle(Part& part);

 private:
  struct Worker {
    WorkerScratch scratch;
    MaskScratch masks;
    RowStarts rows;
    PixelInflater inflater;
    std::shared_ptr<Part> owed;  // waits for the sample in scratch.late
  };

  void run_one(const std::shared_ptr<Part>& part, size_t index, Worker& worker);
  DecodeResult run_views_of(bool& late, const Assignment& assignment, const Sample& sample,
                            Worker& worker);
  static DecodeResult run_deflated(bool& late, const Assignment& assignment, const Sample& sample,
                                   Worker& worker);
  /// Writes the rows that this worker has put off, and notifies whoever waits for them.
  static void settle(Worker& worker);

  std::vector<Worker> bench_;
  RowMemory row_memory_;
  SpareBuffers spare_;
  // Last, so that threads stop before what they use goes away.
  WorkerPool readers_;
  WorkerPool workers_;
};

}  // namespace penstock
