#include "contexts/cuda/cuda_kernel.cuh"
#include "operators/common/words.cuh"
#include "operators/primitives/wrapping.h"
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

// A thread computes one element of dX.
template <class T, class Index>
struct SumOfTiles {
  Index inner, tiles;
  const T* dy;
  T* dx;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    const Index at = static_cast<Index>(i), row = at / inner;
    const T* from = dy + static_cast<int64_t>(row * tiles) * inner + at % inner;
    T sum = *from;
    for (Index t = 1; t < tiles; ++t)
      sum = math::WrappingAdd(sum, from[static_cast<int64_t>(t) * inner]);
    dx[i] = sum;
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

template <class T>
void SumTiles(CUDAContext& context, int64_t outer, int64_t inner, int64_t tiles, const T* dy,
              T* dx) {
  ForIndex(outer * tiles * inner, [&](auto index) {
    using Index = decltype(index);
    ForEach(context, outer * inner,
            SumOfTiles<T, Index>{static_cast<Index>(inner), static_cast<Index>(tiles), dy, dx},
            "TileGradient");
  });
}
template void SumTiles(CUDAContext&, int64_t, int64_t, int64_t, const float*, float*);
template void SumTiles(CUDAContext&, int64_t, int64_t, int64_t, const double*, double*);
template void SumTiles(CUDAContext&, int64_t, int64_t, int64_t, const int32_t*, int32_t*);
template void SumTiles(CUDAContext&, int64_t, int64_t, int64_t, const int64_t*, int64_t*);

}  // namespace caffe2rt
