#include "tiles/decode_tiles.h"

#include <algorithm>

#include "codec/reconstruct.h"
#include "codec/region_output.h"
#include "codec/zigzag.h"
#include "tiles/tile_scratch.h"

namespace penstock {
namespace {

int divide_up(int value, int divisor) { return (value + divisor - 1) / divisor; }

struct Range {
  int begin = 0;
  int end = 0;
};

/// Blocks of a component, in one dimension, that pixels [begin, begin + size) depend on.
Range needed_blocks(int begin, int size, int ratio, int samples, int block_size) {
  const int context = ratio > 1 ? 1 : 0;
  const int first = std::max(0, begin / ratio - context);
  const int end = std::min(samples, (begin + size - 1) / ratio + context + 1);
  return {first / block_size, divide_up(end, block_size)};
}

Frame frame_of(const TileImage& image, const Reduction& reduction) {
  const TileGrid& grid = image.grid();
  Sampling components[3];
  for (int c = 0; c < grid.components; ++c)
    components[c] = {grid.factors[c].horizontal, grid.factors[c].vertical};
  return make_frame(image.height(), image.width(),
                    std::span(components).first(static_cast<size_t>(grid.components)), reduction);
}

/// One region of one image, a row of tiles at a time.
class TileDecoder {
 public:
  TileDecoder(RowSink& sink, const TileImage& image, const Region& region, TileState& state,
              const Reduction& reduction, const Outline& wanted)
      : image_(image),
        wanted_(wanted),
        region_(region),
        grid_(image.grid()),
        frame_(frame_of(image, reduction)),
        unpack_(reduction.dc_alone ? PENSTOCK_PICK(unpack_dc) : PENSTOCK_PICK(unpack_tile)),
        dc_alone_(reduction.dc_alone),
        plan_(plan_region(frame_, region)),
        output_(sink, frame_, region, wanted, image.colour() == Colour::ycbcr, state.region),
        symbols_(state.symbols),
        coefficients_(state.coefficients),
        tile_rows_{plan_.first_unit_row / grid_.tile_mcu_rows,
                   divide_up(plan_.end_unit_row, grid_.tile_mcu_rows)},
        tile_columns_{plan_.first_unit_column / grid_.tile_mcu_columns,
                      divide_up(plan_.end_unit_column, grid_.tile_mcu_columns)} {
    for (int c = 0; c < frame_.components; ++c) begin_component(c, region);
  }

  const char* run() {
    const uint8_t* row_begin = image_.tile_row(tile_rows_.begin);
    for (int row = tile_rows_.begin; row < tile_rows_.end; ++row) {
      if (const char* problem = decode_row(row_begin, row)) return problem;
      if (row + 1 == tile_rows_.end) break;
      const int complete_rows = (row + 1) * grid_.tile_mcu_rows * frame_.unit_height;
      output_.finish_strip(complete_rows - plan_.rows_below);
    }
    output_.finish_last_strip();
    return nullptr;
  }

 private:
  struct Component {
    Range rows;     // of blocks that are needed
    Range columns;  // likewise
    int strip_rows;
    int strip_left;  // block column of the strip's first block
    int last_wanted;
    IdctRow idct_row;
    SparseIdct sparse_idct;
    SparseQuant sparse_quant;
  };

  void begin_component(int c, const Region& region);
  Range wanted_columns(int row) const;
  const char* decode_row(const uint8_t*& tile, int row);
  void transform_tile(const TileShape& shape, int row, int column);
  void transform_group(uint8_t* plane, ptrdiff_t stride, int c, int first_block, int blocks);

  const TileImage& image_;
  const Outline& wanted_;
  const Region region_;
  const TileGrid& grid_;
  const Frame frame_;
  const decltype(&scalar::unpack_tile) unpack_;
  const bool dc_alone_;
  const RegionPlan plan_;
  RegionOutput output_;
  TileSymbols& symbols_;
  int16_t* const coefficients_;
  const Range tile_rows_;
  const Range tile_columns_;
  Component component_[3];
};

void TileDecoder::begin_component(int c, const Region& region) {
  const FrameComponent& size = frame_.component[c];
  const auto& factors = grid_.factors[c];
  const int end_mcu_column =
      std::min(tile_columns_.end * grid_.tile_mcu_columns, grid_.mcu_columns);
  const int first_mcu_column = tile_columns_.begin * grid_.tile_mcu_columns;
  Component& component = component_[c];
  component.rows =
      needed_blocks(region.top, region.height, size.vertical_ratio, size.height, size.block_height);
  component.columns =
      needed_blocks(region.left, region.width, size.horizontal_ratio, size.width, size.block_width);
  component.strip_rows = grid_.tile_mcu_rows * factors.vertical;
  component.strip_left = first_mcu_column * factors.horizontal;
  component.last_wanted = last_zigzag_position(std::max(size.block_height, size.block_width));
  component.idct_row = idct_row_to(size.block_height, size.block_width);
  const bool is_whole = size.block_height == 8 && size.block_width == 8;
  component.sparse_idct = is_whole ? PENSTOCK_PICK(sparse_idct) : nullptr;
  if (is_whole) component.sparse_quant = SparseQuant(image_.component(c).quant);
  output_.begin_component(c, component.strip_rows * size.block_height,
                          (end_mcu_column - first_mcu_column) * factors.horizontal,
                          tile_rows_.begin * component.strip_rows * size.block_height,
                          component.strip_left * size.block_width);
}

/// The tiles of a row that are wanted, or that upsampling looks at for those.
Range TileDecoder::wanted_columns(int row) const {
  int around = 0;
  for (int c = 0; c < frame_.components; ++c)
    around = std::max(
        {around, frame_.component[c].horizontal_ratio, frame_.component[c].vertical_ratio});
  const int height = grid_.tile_mcu_rows * frame_.unit_height;
  const int width = grid_.tile_mcu_columns * frame_.unit_width;
  const int top = row * height - region_.top;
  const auto [begin, end] = wanted_.needed(top - around, top + height + around, 0, region_.width);
  if (begin == end) return {tile_columns_.begin, tile_columns_.begin};
  return {std::max(tile_columns_.begin, (region_.left + begin - around) / width),
          std::min(tile_columns_.end, divide_up(region_.left + end + around, width))};
}

/// Leaves `tile` at the next row of tiles.
const char* TileDecoder::decode_row(const uint8_t*& tile, int row) {
  const Range wanted = wanted_columns(row);
  for (int column = 0; column < grid_.columns(); ++column) {
    const int length = image_.tile_length(row, column);
    if (!image_.has_tile(tile, length)) return kBadLengths;
    if (column >= wanted.begin && column < wanted.end) {
      const TileShape shape = grid_.shape(row, column);
      if (const char* problem = unpack_(symbols_, tile, length, image_, shape)) return problem;
      transform_tile(shape, row, column);
    }
    tile += length;
  }
  return nullptr;
}

/// A group that sticks out of the tile writes over the next tile's samples, which come later.
void TileDecoder::transform_tile(const TileShape& shape, int row, int column) {
  for (int c = 0; c < shape.components; ++c) {
    const Component& component = component_[c];
    const FrameComponent& size = frame_.component[c];
    const TileBlocks& blocks = shape.component[c];
    const ptrdiff_t stride = output_.stride(c);
    const int top = row * component.strip_rows;
    const int left = column * grid_.tile_mcu_columns * grid_.factors[c].horizontal;
    const Range rows{std::max(component.rows.begin - top, 0),
                     std::min(component.rows.end - top, blocks.rows)};
    const Range columns{std::max(component.columns.begin - left, 0) / kBlockGroup * kBlockGroup,
                        std::min(component.columns.end - left, blocks.columns)};
    if (dc_alone_) {
      for (int y = rows.begin; y < rows.end; ++y)
        samples_of_dc(output_.strip(c) + y * stride + left - component.strip_left,
                      symbols_.dc + blocks.first + y * blocks.columns, blocks.columns,
                      image_.component(c).quant[0], c > 0);
      continue;
    }
    for (int y = rows.begin; y < rows.end; ++y) {
      uint8_t* plane = output_.strip(c) + y * size.block_height * stride +
                       (left - component.strip_left) * size.block_width;
      for (int x = columns.begin; x < columns.end; x += kBlockGroup)
        transform_group(plane + x * size.block_width, stride, c,
                        blocks.first + y * blocks.columns + x,
                        std::min(kBlockGroup, blocks.columns - x));
    }
  }
}

void TileDecoder::transform_group(uint8_t* plane, ptrdiff_t stride, int c, int first_block,
                                  int blocks) {
  const Component& component = component_[c];
  if (component.sparse_idct != nullptr) {
    const bool is_wide = symbols_.has_wide(first_block, first_block + blocks);
    const SparseBlocks sparse{symbols_.dc, symbols_.mask, symbols_.first, symbols_.values,
                              is_wide ? symbols_.high : nullptr};
    component.sparse_idct(plane, stride, sparse, first_block, component.sparse_quant, c > 0);
    return;
  }
  const auto expand = PENSTOCK_PICK(expand_block);
  for (int i = 0; i < blocks; ++i)
    expand(coefficients_ + 64 * i, symbols_, first_block + i, component.last_wanted);
  component.idct_row(plane, stride, coefficients_, blocks, image_.component(c).quant, c > 0);
}

}  // namespace

int rows_around(const TileImage& image, const Reduction& reduction) {
  const Frame frame = frame_of(image, reduction);
  return plan_region(frame, {0, 0, frame.height, frame.width}).rows_below;
}

DecodeResult decode_tiles(RowSink& sink, const TileImage& image, const Region& region,
                          TileScratch& scratch, const Reduction& reduction, const Outline& wanted) {
  TileDecoder decoder(sink, image, region, scratch.state(), reduction, wanted);
  if (const char* problem = decoder.run()) return {DecodeStatus::failed, problem};
  return {};
}

}  // namespace penstock
