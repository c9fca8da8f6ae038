#include "bindings/targets.h"

#include <string>

#include "base/error.h"

namespace penstock {

Output output_in(const BatchBuffer& buffer, int64_t offset, const Format& format,
                 const FinalPass& pass, const Region& size, bool past_cache) {
  const auto element = static_cast<size_t>(size_of(format.element));
  const size_t bytes = static_cast<size_t>(size.height) * static_cast<size_t>(size.width) *
                       static_cast<size_t>(format.channels) * element;
  if (offset < 0 || static_cast<size_t>(offset) > buffer.bytes ||
      bytes > buffer.bytes - static_cast<size_t>(offset))
    throw Error("EnginePart.run: an image of " + std::to_string(size.height) + "x" +
                std::to_string(size.width) + " at byte " + std::to_string(offset) +
                " lies outside the batch.");
  if (static_cast<size_t>(offset) % element != 0)
    throw Error("EnginePart.run: byte " + std::to_string(offset) + " is not aligned.");
  Output output;
  output.data = buffer.memory->data() + offset;
  output.height = size.height;
  output.width = size.width;
  output.channels = format.channels;
  output.layout = format.layout;
  output.blue_first = format.blue_first;
  output.element = format.element;
  output.pass = &pass;
  output.past_cache = past_cache;
  const auto row = static_cast<ptrdiff_t>(static_cast<size_t>(size.width) * element);
  output.row_stride = format.layout == Layout::chw ? row : 3 * row;
  output.plane_stride = row * size.height;
  return output;
}

Output output_to(const WritablePixels& array, const Region& size) {
  if (array.shape(0) != static_cast<size_t>(size.height) ||
      array.shape(1) != static_cast<size_t>(size.width) || array.shape(2) != 3)
    throw Error("EnginePart.run: an array of " + std::to_string(array.shape(0)) + "x" +
                std::to_string(array.shape(1)) + "x" + std::to_string(array.shape(2)) +
                " was given for an image of " + std::to_string(size.height) + "x" +
                std::to_string(size.width) + "x3.");
  Output output;
  output.data = array.data();
  output.height = size.height;
  output.width = size.width;
  output.layout = Layout::hwc;
  output.row_stride = static_cast<ptrdiff_t>(size.width) * 3;
  return output;
}

size_t bytes_behind(const std::vector<Target>& targets) {
  size_t bytes = 0;
  const BatchBuffer* before = nullptr;  // those of one buffer follow each other
  for (const Target& target : targets)
    if (const auto* place = std::get_if<Place>(&target)) {
      const BatchBuffer* buffer = std::get<0>(*place);
      if (buffer != before) bytes += buffer->bytes;
      before = buffer;
    }
  return bytes;
}

Output output_for(const Target& target, const Region& size, bool past_cache) {
  if (const auto* array = std::get_if<WritablePixels>(&target)) return output_to(*array, size);
  const auto [buffer, offset, format] = std::get<Place>(target);
  return output_in(*buffer, offset, *format, format->pass, size, past_cache);
}

}  // namespace penstock
