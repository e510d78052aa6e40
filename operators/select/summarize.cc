#include "operators/select/summarize.h"

#include <cmath>

#include "caffe2_core/base/simd.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/runtime/workspace.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt {

std::string SummaryLine(const float* summary) {
  std::string line;
  for (int i = 0; i < 4; ++i) line += (i > 0 ? " " : "") + ShortText(summary[i]);
  return line;
}

std::unique_ptr<LineFile> OpenSummary(const ArgumentHelper& args, const std::string& blob,
                                      const Workspace& ws) {
  if (!args.Read(kSummarizeToFile)) return nullptr;
  return std::make_unique<LineFile>(ws, FileNameOfBlob(blob) + ".summary");
}

namespace {

// Two passes over the elements. Each of them uses one accumulator for each lane of a vector.
struct SummaryKernel {
  static constexpr int64_t kLanes = 16;

  CAFFE2RT_SIMD_INLINE void operator()(int64_t n, const float* x, float* y) const {
    float least[kLanes], largest[kLanes];
    double sums[kLanes] = {}, squares[kLanes] = {};
    for (int64_t k = 0; k < kLanes; ++k) least[k] = largest[k] = x[0];
    // The elements after the last full vector.
    const int64_t whole = n / kLanes * kLanes;
    for (int64_t i = 0; i < whole; i += kLanes) {
      for (int64_t k = 0; k < kLanes; ++k) {
        const float value = x[i + k];
        least[k] = value < least[k] ? value : least[k];
        largest[k] = value > largest[k] ? value : largest[k];
        sums[k] += value;
      }
    }
    for (int64_t i = whole; i < n; ++i) {
      least[0] = x[i] < least[0] ? x[i] : least[0];
      largest[0] = x[i] > largest[0] ? x[i] : largest[0];
      sums[0] += x[i];
    }
    for (int64_t k = 1; k < kLanes; ++k) {
      least[0] = least[k] < least[0] ? least[k] : least[0];
      largest[0] = largest[k] > largest[0] ? largest[k] : largest[0];
      sums[0] += sums[k];
    }
    const double mean = sums[0] / static_cast<double>(n);
    for (int64_t i = 0; i < whole; i += kLanes) {
      for (int64_t k = 0; k < kLanes; ++k) squares[k] += (x[i + k] - mean) * (x[i + k] - mean);
    }
    for (int64_t i = whole; i < n; ++i) squares[0] += (x[i] - mean) * (x[i] - mean);
    for (int64_t k = 1; k < kLanes; ++k) squares[0] += squares[k];
    y[0] = least[0];
    y[1] = largest[0];
    y[2] = static_cast<float>(mean);
    y[3] = n == 1 ? 0.0f : static_cast<float>(std::sqrt(squares[0] / static_cast<double>(n - 1)));
  }
};

}  // namespace

void WriteSummary(CPUContext&, int64_t n, const float* x, float* y, Tensor*) {
  RunSimd(SummaryKernel{}, n, x, y);
}

void RegisterSummarize() {
  RegisterSchema("Summarize", __FILE__)
      .NumInputs(1)
      .NumOutputs(0, 1)
      .Arg(kSummarizeToFile)
      .Input(0, "data", "any shape, float, at least one element")
      .Output(0, "summary",
              "(optional) [4] float: the least and the largest element, mean, standard deviation")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>&) {
        return std::vector<TensorShape>(
            static_cast<size_t>(def.output_size()),
            CreateTensorShape(std::vector<int64_t>{4}, TensorProto_DataType_FLOAT));
      })
      .AccessesFiles()
      .FloatInputs(1)
      .SetDoc(
          "Computes the least and the largest element of a tensor, their mean and their standard "
          "deviation (with n - 1 as divisor; 0 for one element).");
  RegisterCpuOperator<SummarizeOp<CPUContext>>("Summarize", __FILE__);
  // The operator reports statistics; Caffe2 does not differentiate them.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("Summarize", __FILE__);
}

}  // namespace caffe2rt
