#include "operators/shape/channel_copies.h"

#include <cstring>

namespace caffe2rt {

namespace {

// The two tensors of a copy. kToWhole: from the part to the whole.
template <bool kToWhole>
struct Copy {
  const ChannelPlanes whole, part;
  const int64_t first;
  const float* const from;
  float* const to;

  // Copies `count` floats at these offsets.
  void Floats(int64_t whole_offset, int64_t part_offset, int64_t count) const {
    const float* const source = from + (kToWhole ? part_offset : whole_offset);
    float* const target = to + (kToWhole ? whole_offset : part_offset);
    if (source != target) std::memcpy(target, source, static_cast<size_t>(count) * sizeof(float));
  }

  // nhwc: the channels of each pixel.
  void Pixels() const {
    const int64_t channels = part.channels, all = whole.channels;
    ForEachRange(part.batch * part.pixels(), channels, 1, [&](int64_t pixel, int64_t last) {
      for (; pixel < last; ++pixel) Floats(pixel * all + first, pixel * channels, channels);
    });
  }

  // nChw16c, and the part begins with a block of the whole and consists of full blocks or ends with
  // the whole: the blocks of each image.
  void Blocks() const {
    const int64_t size = part.image_size(), offset = first / kChannelBlock * part.plane_size();
    for (int64_t n = 0; n < part.batch; ++n) {
      const int64_t in_whole = n * whole.image_size() + offset;
      ForEachRange(part.blocks() * part.height, part.width * kChannelBlock, 1,
                   [&](int64_t row, int64_t last) {
                     const int64_t width = part.width * kChannelBlock;
                     Floats(in_whole + row * width, n * size + row * width, (last - row) * width);
                   });
    }
  }

  // nChw16c with any ranges: runs of channels that lie in one block of both tensors.
  void Runs() const {
    for (int64_t c = 0, run = 0; c < part.channels; c += run) {
      const int64_t at = first + c;
      run = std::min({kChannelBlock - c % kChannelBlock, kChannelBlock - at % kChannelBlock,
                      part.channels - c});
      for (int64_t n = 0; n < part.batch; ++n) {
        int64_t in_whole =
            n * whole.image_size() + at / kChannelBlock * whole.plane_size() + at % kChannelBlock;
        int64_t in_part =
            n * part.image_size() + c / kChannelBlock * part.plane_size() + c % kChannelBlock;
        for (int64_t p = 0; p < part.pixels(); ++p) {
          Floats(in_whole, in_part, run);
          in_whole += kChannelBlock;
          in_part += kChannelBlock;
        }
      }
    }
  }

  void Run() const {
    if (part.size() == 0) return;
    const bool ends_block =
        part.channels % kChannelBlock == 0 || first + part.channels == whole.channels;
    if (!whole.blocked) {
      Pixels();
    } else if (first % kChannelBlock == 0 && ends_block) {
      Blocks();
    } else {
      Runs();
      ClearPadding(kToWhole ? whole : part, to);
    }
  }
};

}  // namespace

int64_t OffsetOfDensePart(const ChannelPlanes& planes, ChannelRange range) {
  const bool ends_block =
      range.count % kChannelBlock == 0 || range.first + range.count == planes.channels;
  if (!planes.blocked || planes.batch != 1 || range.first % kChannelBlock != 0 || !ends_block) {
    return -1;
  }
  return range.first / kChannelBlock * planes.plane_size();
}

void CopyToWhole(const ChannelPlanes& whole, int64_t first, const ChannelPlanes& part,
                 const float* from, float* to) {
  Copy<true>{whole, part, first, from, to}.Run();
}

void CopyToPart(const ChannelPlanes& whole, int64_t first, const ChannelPlanes& part,
                const float* from, float* to) {
  Copy<false>{whole, part, first, from, to}.Run();
}

}  // namespace caffe2rt
