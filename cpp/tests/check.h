// What every C++ test is written with: an assertion that is never compiled out, tests that
// register themselves (main.cpp runs them), and the loop over instruction sets.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "base/cpu.h"

#define CHECK(condition)                                                          \
  do {                                                                            \
    if (!(condition)) {                                                           \
      std::fprintf(stderr, "%s:%d: CHECK(%s)\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                               \
    }                                                                             \
  } while (false)

/// TEST(name) { ... }: a test of this program.
#define TEST(name) PENSTOCK_TEST(name, false)

/// As TEST, but run once with each instruction set of this machine in use.
#define TEST_EACH_ISA(name) PENSTOCK_TEST(name, true)

#define PENSTOCK_TEST(name, each_isa)                                                      \
  void test_##name();                                                                      \
  const ::penstock::testing::Registered registered_##name({#name, test_##name, each_isa}); \
  void test_##name()

namespace penstock {

/// With each instruction set of this machine in use, from the scalar one on.
template <class Body>
void in_every_variant(Body body) {
  for (const Isa isa : supported_isas()) {
    force_isa(isa);
    body();
  }
}

namespace testing {

struct Test {
  const char* name;
  void (*run)();
  bool each_isa;
};

/// The tests of this program, in the order in which its source has them.
inline std::vector<Test>& all_tests() {
  static std::vector<Test> tests;
  return tests;
}

struct Registered {
  explicit Registered(const Test& test) { all_tests().push_back(test); }
};

}  // namespace testing
}  // namespace penstock
