#include "contexts/cuda/cuda_kernel.cuh"
#include "operators/common/words.cuh"
#include "operators/shape/transpose_items_kernels.h"

namespace caffe2rt {

namespace {

// A thread moves one word; neighbouring threads write neighbouring words.
template <class Word, class Index>
struct MoveBlocks {
  const Word* src;
  Word* dst;
  Index block;  // size of a block in words
  int axes;
  Index target[TransposeAxes::kMost], source[TransposeAxes::kMost];  // see TransposeAxes

  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    const Index at = static_cast<Index>(i);
    Index rest = at / block, from = 0;
    const Index word = at % block;
    for (int k = 0; k < axes; ++k) {
      const Index place = rest / target[k];
      rest -= place * target[k];
      from += place * source[k];
    }
    dst[i] = src[static_cast<int64_t>(from) * block + word];
  }
};

}  // namespace

void TransposeBlocks(CUDAContext& context, const TransposeAxes& axes, int64_t blocks,
                     int64_t block_bytes, const void* src, void* dst) {
  const int64_t nbytes = blocks * block_bytes;
  const uint64_t bits = static_cast<uint64_t>(block_bytes) | AddressBits(src) | AddressBits(dst);
  ForWord(bits, nbytes, [&](auto word, auto index) {
    using Word = decltype(word);
    using Index = decltype(index);
    constexpr int64_t kBytes = sizeof(Word);
    MoveBlocks<Word, Index> move{};
    move.src = static_cast<const Word*>(src);
    move.dst = static_cast<Word*>(dst);
    move.block = static_cast<Index>(block_bytes / kBytes);
    move.axes = axes.count;
    for (int k = 0; k < axes.count; ++k) {
      move.target[k] = static_cast<Index>(axes.target[k]);
      move.source[k] = static_cast<Index>(axes.source[k]);
    }
    ForEach(context, nbytes / kBytes, move, "Transpose");
  });
}

}  // namespace caffe2rt
