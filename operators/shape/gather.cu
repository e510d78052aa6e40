#include "contexts/cuda/cuda_kernel.cuh"
#include "contexts/cuda/cuda_report.h"
#include "operators/common/words.cuh"
#include "operators/shape/gather_kernels.h"

namespace caffe2rt {

namespace {

// A thread writes one word.
template <class Word, class Index, class Element>
struct TakeSlices {
  Index block, count;  // size of a slice in words; slices of the output for each outer index
  int64_t size;
  int64_t index_step;  // distance of the indices of consecutive outer indices
  bool wrap;
  const Element* indices;
  const Word* data;
  Word* y;
  KernelReport* report;
  ReportText text;

  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    const Index at = static_cast<Index>(i), slice = at / block, j = slice % count;
    const int64_t outer = slice / count;
    int64_t row = indices[outer * index_step + j];
    if (row < 0 && wrap) row += size;
    if (row < 0 || row >= size) {
      report->Raise(text, row, size);
      y[i] = Word{};
      return;
    }
    y[i] = data[(outer * size + row) * block + at % block];
  }
};

}  // namespace

template <class Element>
void GatherPlainSlices(CUDAContext& context, int64_t item_bytes, const GatherSizes& sizes,
                       const Element* indices, const void* data, void* y) {
  const int64_t block_bytes = sizes.block * item_bytes;
  const int64_t nbytes = sizes.outer * sizes.count * block_bytes;
  ForWord(static_cast<uint64_t>(block_bytes) | AddressBits(data) | AddressBits(y), nbytes,
          [&](auto word, auto index) {
            using Word = decltype(word);
            using Index = decltype(index);
            constexpr int64_t kBytes = sizeof(Word);
            const TakeSlices<Word, Index, Element> take{
                .block = static_cast<Index>(block_bytes / kBytes),
                .count = static_cast<Index>(sizes.count),
                .size = sizes.size,
                .index_step = sizes.match_outer ? sizes.count : 0,
                .wrap = sizes.wrap,
                .indices = indices,
                .data = static_cast<const Word*>(data),
                .y = static_cast<Word*>(y),
                .report = ReportOf(context),
                .text = "INDICES element is out of DATA bounds, id=% axis_dim=%"};
            ForEach(context, nbytes / kBytes, take, "Gather");
          });
}

template void GatherPlainSlices(CUDAContext&, int64_t, const GatherSizes&, const int32_t*,
                                const void*, void*);
template void GatherPlainSlices(CUDAContext&, int64_t, const GatherSizes&, const int64_t*,
                                const void*, void*);

}  // namespace caffe2rt
