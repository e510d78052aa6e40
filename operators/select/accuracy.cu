// Accuracy and Summarize on CUDA.

#include <cmath>

#include "contexts/cuda/cuda_kernel.cuh"
#include "operators/primitives/reduce_all.cuh"
#include "operators/select/accuracy_kernels.h"
#include "operators/select/summarize_kernels.h"

namespace caffe2rt {

namespace {

// Sets right[i]: whether fewer than top_k classes rank before the label of row i. A block computes
// one row.
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

// Statistics of n elements. `squares` is the sum of the squared distances from the mean.
struct Statistics {
  double n, mean, squares;
  float least, largest;
};

struct SummaryOfAll {
  using Value = Statistics;
  const float* x;
  float* y;
  CAFFE2RT_HOST_DEVICE Value Start() const { return {0, 0, 0, x[0], x[0]}; }
  CAFFE2RT_HOST_DEVICE Value At(int64_t i) const { return {1, x[i], 0, x[i], x[i]}; }
  // The method of Chan, Golub and LeVeque (1979), which does not cancel.
  CAFFE2RT_HOST_DEVICE Value Combine(const Value& a, const Value& b) const {
    if (b.n == 0) return a;
    const double n = a.n + b.n, difference = b.mean - a.mean;
    return {n, a.mean + difference * (b.n / n),
            a.squares + b.squares + difference * difference * (a.n * b.n / n),
            b.least < a.least ? b.least : a.least, b.largest > a.largest ? b.largest : a.largest};
  }
  CAFFE2RT_HOST_DEVICE void Finish(const Value& all) const {
    y[0] = all.least;
    y[1] = all.largest;
    y[2] = static_cast<float>(all.mean);
    y[3] = all.n > 1 ? static_cast<float>(std::sqrt(all.squares / (all.n - 1))) : 0.0f;
  }
};

}  // namespace

void WriteSummary(CUDAContext& context, int64_t n, const float* x, float* y, Tensor* scratch) {
  ReduceAll(context, n, SummaryOfAll{x, y}, scratch, "Summarize");
}

void MarkRightRows(CUDAContext& context, int64_t rows, int64_t classes, int64_t top_k,
                   const float* predictions, const int32_t* labels, bool* right) {
  ForEachRow(context, rows, MarkRight{classes, top_k, predictions, labels, right}, "Accuracy");
}

void WriteShareOfTrue(CUDAContext& context, int64_t n, const bool* right, float* share,
                      Tensor* scratch) {
  ReduceAll(context, n, ShareOfTrue{n, right, share}, scratch, "Accuracy");
}

}  // namespace caffe2rt
