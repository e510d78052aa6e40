#include "contexts/cuda/cuda_kernel.cuh"
#include "operators/common/words.cuh"
#include "operators/shape/tile_kernels.h"

namespace caffe2rt {

namespace {

// A thread writes one word.
template <class Word, class Index>
struct RepeatRows {
  Index row_words, tiles;
  const Word* x;
  Word* y;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    const Index at = static_cast<Index>(i), row = at / row_words / tiles;
    y[i] = x[row * row_words + at % row_words];
  }
};

}  // namespace

void TileRowBytes(CUDAContext& context, int64_t outer, int64_t row_bytes, int64_t tiles,
                  const void* x, void* y) {
  const int64_t nbytes = outer * tiles * row_bytes;
  ForWord(static_cast<uint64_t>(row_bytes) | AddressBits(x) | AddressBits(y), nbytes,
          [&](auto word, auto index) {
            using Word = decltype(word);
            using Index = decltype(index);
            constexpr int64_t kBytes = sizeof(Word);
            ForEach(context, nbytes / kBytes,
                    RepeatRows<Word, Index>{static_cast<Index>(row_bytes / kBytes),
                                            static_cast<Index>(tiles), static_cast<const Word*>(x),
                                            static_cast<Word*>(y)},
                    "Tile");
          });
}

}  // namespace caffe2rt
