#include "contexts/cuda/cuda_context.h"
#include "contexts/cuda/cuda_kernel.cuh"
#include "operators/common/words.cuh"
#include "operators/shape/transpose_items.h"

namespace caffe2rt {

namespace {

// Of axes of size 1 none is in a plan, and 2^47 bytes are all that can be addressed.
constexpr int kMaxAxes = 48;

// A thread moves one word; neighbours write neighbours. Axes are outermost first.
template <class Word, class Index>
struct MoveBlocks {
  const Word* src;
  Word* dst;
  Index block;  // words
  int axes;
  Index target[kMaxAxes], source[kMaxAxes];  // in blocks

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

template <class Word, class Index>
void AddAxis(const math::TransposePlan::Axis& axis, MoveBlocks<Word, Index>* move) {
  if (axis.size == 1) return;
  CAFFE_ENFORCE_LT(move->axes, kMaxAxes, "axes of a transposition");
  int k = move->axes++;
  for (; k > 0 && move->target[k - 1] < static_cast<Index>(axis.target); --k) {
    move->target[k] = move->target[k - 1];
    move->source[k] = move->source[k - 1];
  }
  move->target[k] = static_cast<Index>(axis.target);
  move->source[k] = static_cast<Index>(axis.source);
}

}  // namespace

void TransposeItems(CUDAContext& context, const math::TransposePlan& plan, size_t itemsize,
                    const void* src, void* dst) {
  const size_t block_bytes = static_cast<size_t>(plan.block_items) * itemsize;
  if (plan.blocks == 1) {
    context.CopyBytesSameDevice(block_bytes, src, dst);
    return;
  }
  const int64_t nbytes = plan.blocks * static_cast<int64_t>(block_bytes);
  ForWord(block_bytes | AddressBits(src) | AddressBits(dst), nbytes, [&](auto word, auto index) {
    using Word = decltype(word);
    using Index = decltype(index);
    MoveBlocks<Word, Index> move{};
    move.src = static_cast<const Word*>(src);
    move.dst = static_cast<Word*>(dst);
    move.block = static_cast<Index>(block_bytes / sizeof(Word));
    for (const auto& axis : plan.outer) AddAxis(axis, &move);
    AddAxis(plan.rows, &move);
    AddAxis(plan.columns, &move);
    ForEach(context, nbytes / static_cast<int64_t>(sizeof(Word)), move, "Transpose");
  });
}

}  // namespace caffe2rt
