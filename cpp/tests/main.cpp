// Runs the tests of one program: all of them, or those whose names contain its first argument.
#include <cstring>

#include "check.h"

int main(int count, char** arguments) {
  const char* wanted = count > 1 ? arguments[1] : "";
  int passed = 0;
  for (const penstock::testing::Test& test : penstock::testing::all_tests()) {
    if (std::strstr(test.name, wanted) == nullptr) continue;
    if (test.each_isa)
      penstock::in_every_variant(test.run);
    else
      test.run();
    ++passed;
  }
  const char* slash = std::strrchr(arguments[0], '/');
  std::printf("%s: %d passed\n", slash == nullptr ? arguments[0] : slash + 1, passed);
  return passed == 0;  // a filter that no test matches is a mistake
}
