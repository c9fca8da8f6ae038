// Runs the hot paths one by one under callgrind, which counts their instructions.
//
//   PENSTOCK_SIMD=avx2 valgrind --tool=callgrind penstock_guard
//
// `python -m benchmarks.instructions` calls it and compares the counts. Each case becomes a part of
// callgrind's output, with the case's name as its trigger. Valgrind does not know AVX-512.
#include <valgrind/callgrind.h>
#include <zlib.h>

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

int main() {
  using namespace penstock;
  try {
    (void)active_isa();
    guard::print_tools();
    std::vector<guard::Case> cases;
    guard::add_image_cases(cases);
    guard::add_effect_cases(cases);
    for (const guard::Case& one : cases) guard::count(one);
  } catch (const std::exception& error) {
    guard::fail(error.what());
  }
  return 0;
}
