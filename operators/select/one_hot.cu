// OneHot on CUDA: a thread writes one element.

#include "contexts/cuda/cuda_kernel.cuh"
#include "contexts/cuda/cuda_report.h"
#include "operators/select/one_hot_kernels.h"

namespace caffe2rt {

namespace {

struct MarkIndex {
  int64_t size;
  const int64_t* index;
  float* out;
  KernelReport* report;
  ReportText text;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    const int64_t row = i / size, column = i % size, marked = index[row];
    out[i] = marked == column ? 1.0f : 0.0f;
    if (column == 0 && (marked < 0 || marked >= size)) report->Raise(text, row, marked, size);
  }
};

}  // namespace

void MarkIndices(CUDAContext& context, int64_t count, int64_t size, const int64_t* index,
                 float* out) {
  const char* const text =
      "OneHot: element % of input 0 (indices) is %, want at least 0 and below index_size %";
  ForEach(context, count * size, MarkIndex{size, index, out, ReportOf(context), text}, "OneHot");
}

}  // namespace caffe2rt
