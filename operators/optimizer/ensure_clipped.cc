// EnsureClipped: limits the elements of a parameter, or of those of its rows that an update has changed.
//   param any shape, float                                  ->  the same, each element in [min, max]
//   param [M, *], indices int32 or int64, grad [indices, *]  ->  the same for the rows in indices
#include <algorithm>
#include <limits>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/element_type.h"
#include "operators/optimizer/update_checks.h"
#include "operators/optimizer/update_loops.h"

namespace caffe2rt {
namespace {

constexpr ArgumentSpec<float> kLeastElement{"min", std::numeric_limits<float>::lowest(),
                                            "the least element"};
constexpr ArgumentSpec<float> kGreatestElement{"max", std::numeric_limits<float>::max(),
                                               "the greatest element"};

class EnsureClippedOp final : public Operator<CPUContext> {
 public:
  EnsureClippedOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        min_(ReadArgument(kLeastElement)),
        max_(ReadArgument(kGreatestElement)) {
    CAFFE_ENFORCE(InputSize() != 2,
                  "the operator has 2 inputs, want param, or param, indices, grad");
  }

  bool RunOnDevice() override {
    const Tensor& param = Input(0);
    RequireElements<float>(param);
    if (InputSize() == 3) return ClipRows();
    const float* const x = param.data<float>();
    Clip(x, OutputData<float>(0, param.sizes()), param.numel());
    return true;
  }

 private:
  void Clip(const float* x, float* y, int64_t n) const {
    for (int64_t i = 0; i < n; ++i) y[i] = std::min(std::max(x[i], min_), max_);
  }

  bool ClipRows() {
    const Tensor& param = Input(0);
    const Tensor& indices = Input(1);
    const Tensor& grad = Input(2);
    CAFFE_ENFORCE_GE(param.dim(), 1, "rank of input 0 (param), want at least 1");
    CAFFE_ENFORCE_GE(grad.dim(), indices.dim(),
                     "rank of input 2 (grad), want at least that of indices");
    const int64_t block = param.size_from_dim(1);
    CAFFE_ENFORCE_EQ(grad.size_from_dim(indices.dim()), block,
                     "elements in a row of input 2 (grad), want those in a row of input 0 (param)");
    RequireElementsOf<int32_t, int64_t>(indices, "input 1 (indices)");
    if (!IsInputOutputAlias(0, 0)) Output(0)->CopyFrom(param, &context_);
    if (indices.numel() == 0) return true;
    const RowSizes sizes{param.dim(0), block, indices.numel()};
    float* const x = OutputData<float>(0, param.sizes());
    DispatchByType<int32_t, int64_t>(indices.dtype(), "input 1 (indices)", [&](auto element) {
      const auto* const rows = indices.data<decltype(element)>();
      RequireRows(sizes, rows);
      for (int64_t i = 0; i < sizes.count; ++i) {
        float* const row = x + static_cast<int64_t>(rows[i]) * block;
        Clip(row, row, block);
      }
    });
    return true;
  }

  const float min_, max_;
};

}  // namespace

void RegisterEnsureClipped() {
  RegisterSchema("EnsureClipped", __FILE__)
      .NumInputs(1, 3)
      .NumOutputs(1)
      .AllowInplace({{0, 0}})
      .Args(kLeastElement, kGreatestElement)
      .Input(0, "param", "any shape; [M, *] with indices; float")
      .Input(1, "indices", "rows that have been updated, int32 or int64; the others are copied")
      .Input(2, "grad", "the gradient of these rows; its elements are not used")
      .Output(0, "output_param", "input 0 with its elements in [min, max]")
      .TensorInferenceFunction(InferLikeInputs({0}))
      .SetDoc("Limits the elements of a parameter after an update.");
  RegisterCpuOperator<EnsureClippedOp>("EnsureClipped", __FILE__);
  // It follows an update, which is not part of the function that is differentiated.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("EnsureClipped", __FILE__);
}

}  // namespace caffe2rt
