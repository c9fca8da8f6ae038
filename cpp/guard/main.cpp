// Runs the hot paths one by one under callgrind, which counts their instructions.
//
//   PENSTOCK_SIMD=avx2 valgrind --tool=callgrind penstock_guard
//
// `python -m benchmarks.instructions` calls it and compares the counts. Each case becomes a part of
// callgrind's output, with the case's name as its trigger. Valgrind does not know AVX-512.
//
//   penstock_guard CASE SECONDS
//
// runs one case over and over instead, and says how long the fastest run took: for
// `python -m benchmarks.waterfall`, which lets a sampling profiler look on.
#include <valgrind/callgrind.h>
#include <zlib.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>

#if defined(__GLIBC__)
#include <gnu/libc-version.h>
#endif

#include "base/cpu.h"
#include "guard/case.h"
#include "guard/photo.h"  // and with it libjpeg's version

#define PENSTOCK_QUOTED(value) #value
#define PENSTOCK_VALUE_OF(macro) PENSTOCK_QUOTED(macro)

namespace penstock::guard {

void fail(const std::string& what) {
  std::fprintf(stderr, "penstock_guard: %s\n", what.c_str());
  std::exit(1);
}

namespace {

void count(const Case& counted) {
  for (int i = 0; i < 2; ++i) {
    if (counted.prepare) counted.prepare();
    CALLGRIND_ZERO_STATS;
    counted.run();
  }
  CALLGRIND_DUMP_STATS_AT(counted.name.c_str());
}

/// Prints the least time of a run in microseconds.
void repeat(const Case& repeated, double seconds) {
  using Clock = std::chrono::steady_clock;
  std::chrono::duration<double> least(seconds);
  for (const auto begun = Clock::now();
       Clock::now() - begun < std::chrono::duration<double>(seconds);) {
    if (repeated.prepare) repeated.prepare();
    const auto start = Clock::now();
    repeated.run();
    least = std::min<std::chrono::duration<double>>(least, Clock::now() - start);
  }
  std::printf("%.3f\n", least.count() * 1e6);
}

/// On what the counts depend besides our code: a line for each, a name and a version.
void print_tools() {
#if defined(__clang__)
  std::printf("clang\t%s\n", __clang_version__);
#else
  std::printf("gcc\t%s\n", __VERSION__);
#endif
  std::printf("libjpeg-turbo\t%s\n", PENSTOCK_VALUE_OF(LIBJPEG_TURBO_VERSION));
  std::printf("zlib\t%s\n", zlibVersion());
#if defined(__GLIBC__)
  std::printf("glibc\t%s\n", gnu_get_libc_version());
#endif
}

}  // namespace
}  // namespace penstock::guard

int main(int argument_count, char** arguments) {
  using namespace penstock;
  try {
    (void)active_isa();
    std::vector<guard::Case> cases;
    guard::add_image_cases(cases);
    guard::add_effect_cases(cases);
    if (argument_count == 3) {
      for (const guard::Case& one : cases)
        if (one.name == arguments[1]) return guard::repeat(one, std::atof(arguments[2])), 0;
      guard::fail("no case is called " + std::string(arguments[1]));
    }
    guard::print_tools();
    for (const guard::Case& one : cases) guard::count(one);
  } catch (const std::exception& error) {
    guard::fail(error.what());
  }
  return 0;
}
