#include "contexts/cuda/cuda_kernel.cuh"
#include "operators/common/copy_rows_kernels.h"
#include "operators/common/words.cuh"

namespace caffe2rt {

namespace {

// One thread copies one word. Strides are in words.
template <class Word, class Index>
struct MoveRows {
  Index row_words;
  int64_t src_stride, dst_stride;
  const Word* src;
  Word* dst;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    const Index at = static_cast<Index>(i);
    const int64_t row = at / row_words, column = at % row_words;
    dst[row * dst_stride + column] = src[row * src_stride + column];
  }
};

template <class Word>
struct ZeroWords {
  Word* y;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const { y[i] = Word{}; }
};

}  // namespace

void CopyRowBytes(CUDAContext& context, int64_t rows, int64_t row_bytes, const void* src,
                  int64_t src_stride, void* dst, int64_t dst_stride) {
  const auto bits = static_cast<uint64_t>(row_bytes | src_stride | dst_stride);
  ForWord(bits | AddressBits(src) | AddressBits(dst), rows * row_bytes, [&](auto word, auto index) {
    using Word = decltype(word);
    constexpr int64_t kBytes = sizeof(Word);
    const MoveRows<Word, decltype(index)> move{
        static_cast<decltype(index)>(row_bytes / kBytes), src_stride / kBytes, dst_stride / kBytes,
        static_cast<const Word*>(src), static_cast<Word*>(dst)};
    ForEach(context, rows * (row_bytes / kBytes), move, "CopyRows");
  });
}

void FillZeroBytes(CUDAContext& context, int64_t nbytes, void* y) {
  ForWord(static_cast<uint64_t>(nbytes) | AddressBits(y), nbytes, [&](auto word, auto) {
    using Word = decltype(word);
    ForEach(context, nbytes / static_cast<int64_t>(sizeof(Word)),
            ZeroWords<Word>{static_cast<Word*>(y)}, "FillZeros");
  });
}

}  // namespace caffe2rt
