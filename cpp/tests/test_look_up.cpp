// Values in the places of levels: each is the table's, in memory without slack.
#include <cstring>
#include <vector>

#include "check.h"
#include "kernels/look_up.h"
#include "random_image.h"

namespace penstock {
namespace {

TEST(values_are_looked_up) {
  constexpr int kBytes[] = {1, 2, 4, 8};
  for (unsigned seed = 0; seed < 200; ++seed) {
    Draw draw(seed);
    const int bytes = kBytes[draw.between(0, 3)], channels = draw.coin() ? 3 : 1;
    const bool interleaved = draw.coin();
    const auto pixels = static_cast<size_t>(draw.between(1, 500));
    const auto width = static_cast<size_t>(bytes), planes = static_cast<size_t>(channels);
    std::vector<uint8_t> levels(pixels * planes), target(levels.size() * width);
    std::vector<uint8_t> table(planes * 256 * width);
    for (uint8_t& level : levels) level = static_cast<uint8_t>(draw.between(0, 255));
    for (uint8_t& byte : table) byte = static_cast<uint8_t>(draw.between(0, 255));
    look_up_values(target.data(), levels.data(), pixels, {table.data(), channels, bytes},
                   interleaved);
    for (size_t i = 0; i < levels.size(); ++i) {
      const size_t channel = interleaved ? i % planes : i / pixels;
      const uint8_t* expected = table.data() + (channel * 256 + levels[i]) * width;
      CHECK(std::memcmp(target.data() + i * width, expected, width) == 0);
    }
  }
}

}  // namespace
}  // namespace penstock
