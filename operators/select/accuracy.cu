// Accuracy and OneHot on CUDA.

#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "contexts/cuda/cuda_kernel.cuh"
#include "contexts/cuda/cuda_report.h"
#include "operators/math/reduce_all.cuh"
#include "operators/select/accuracy.h"
#include "operators/select/one_hot.h"

namespace caffe2rt {

namespace {

// right[i]: whether fewer than top_k classes stand before the label of row i.
struct MarkRight {
  int64_t classes, top_k;
  const float* predictions;
  const int32_t* labels;
  bool* right;
  CAFFE2RT_HOST_DEVICE void operator()(const Row& row) const {
    const int64_t label = labels[row.index()];
    const bool is_class = label >= 0 && label < classes;
    const float* const values = predictions + row.index() * classes;
    const int64_t before =
        row.Reduce(is_class ? classes : 0, int64_t{0}, Plus(), [=](int64_t j) -> int64_t {
          return values[j] > values[label] || (values[j] == values[label] && j < label) ? 1 : 0;
        });
    row.Once([=, this] { right[row.index()] = is_class && before < top_k; });
  }
};

struct ShareOfTrue {
  using Value = int64_t;
  int64_t n;
  const bool* right;
  float* share;
  CAFFE2RT_HOST_DEVICE Value Start() const { return 0; }
  CAFFE2RT_HOST_DEVICE Value At(int64_t i) const { return right[i] ? 1 : 0; }
  CAFFE2RT_HOST_DEVICE Value Combine(Value a, Value b) const { return a + b; }
  CAFFE2RT_HOST_DEVICE void Finish(Value sum) const {
    *share = static_cast<float>(sum) / static_cast<float>(n);
  }
};

struct MarkIndex {
  int64_t size;
  const int64_t* index;
  float* out;
  KernelReport* report;
  const char* text;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    const int64_t row = i / size, column = i % size, marked = index[row];
    out[i] = marked == column ? 1.0f : 0.0f;
    if (column == 0 && (marked < 0 || marked >= size)) report->Raise(text, row, marked, size);
  }
};

}  // namespace

void ShareOfRight(CUDAContext& context, int64_t rows, int64_t classes, int top_k,
                  const float* predictions, const int32_t* labels, float* share, Tensor* right,
                  Tensor* scratch) {
  right->Resize(rows);
  bool* const marks = right->mutable_data<bool>();
  ForEachRow(context, rows, MarkRight{classes, top_k, predictions, labels, marks}, "Accuracy");
  ReduceAll(context, rows, ShareOfTrue{rows, marks, share}, scratch, "Accuracy");
}

void MarkIndices(CUDAContext& context, int64_t count, int64_t size, const int64_t* index,
                 float* out) {
  const char* const text =
      "OneHot: element % of input 0 (indices) is %, want 0 or more and below index_size %";
  ForEach(context, count * size, MarkIndex{size, index, out, ReportOf(context), text}, "OneHot");
}

void RegisterAccuracyCuda() {
  RegisterOperator<AccuracyOp<CUDAContext>>(CUDA, "Accuracy", __FILE__);
  RegisterOperator<OneHotOp<CUDAContext>>(CUDA, "OneHot", __FILE__);
}

}  // namespace caffe2rt
