// SparseNormalize, Float16SparseNormalize: scale the rows of param that indices name to a given L2
// norm.
//   param [N, *] float or float16, indices [K] int32 or int64, optional grad (not used)  ->  param, in place
// With use_max_norm, only rows whose norm is larger are scaled.

#include <cmath>

#include "caffe2_core/base/float16.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt {

namespace {

constexpr ArgumentSpec<bool> kSparseNormalizeUseMaxNorm{
    "use_max_norm", true, "1: scale only rows whose norm is above `norm`; 0: scale all rows"};
constexpr ArgumentSpec<float> kSparseNormalizeNorm{
    "norm",
    1.0f,
    "the L2 norm of scaled rows",
    {[](float norm) { return norm >= 0; }, "at least 0"}};

template <class T>
class SparseNormalizeOp final : public Operator<CPUContext> {
 public:
  SparseNormalizeOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        use_max_norm_(this->ReadArgument(kSparseNormalizeUseMaxNorm)),
        norm_(this->ReadArgument(kSparseNormalizeNorm)) {}

  bool RunOnDevice() override {
    return DispatchByType<int32_t, int64_t>(
        Input(1).dtype(), "input 1 (indices)",
        [this](auto index) { return this->template Scale<decltype(index)>(); });
  }

 private:
  template <class Index>
  bool Scale() {
    const Tensor& param = Input(0);
    const Tensor& indices = Input(1);
    CAFFE_ENFORCE_GE(param.dim(), 1, "rank of input 0 (param) of shape ", param.sizes(),
                     ", want at least 1");
    const int64_t rows = param.dim(0), size = param.size_from_dim(1);
    param.data<T>();  // THROWS for another type
    T* const values = Output(0)->template mutable_data<T>();
    const Index* const index = indices.data<Index>();
    for (int64_t i = 0; i < indices.numel(); ++i) {
      CAFFE_ENFORCE(index[i] >= 0 && index[i] < rows, "element ", i, " of input 1 (indices) is ",
                    index[i], ", want 0 to ", rows - 1);
    }
    for (int64_t i = 0; i < indices.numel(); ++i) ScaleRow(values + index[i] * size, size);
    return true;
  }

  void ScaleRow(T* row, int64_t n) const {
    double squares = 0;
    for (int64_t i = 0; i < n; ++i) {
      const auto x = static_cast<float>(row[i]);
      squares += static_cast<double>(x) * x;
    }
    const float norm = static_cast<float>(std::sqrt(squares));
    if (use_max_norm_ && norm <= norm_) return;
    const float exact = norm_ / (norm + kLeast);
    // Caffe2 rounds the factor of float16 rows to float16 too. Rows near 0 need greater factors.
    const auto rounded = static_cast<float>(T(exact));
    const float factor = std::isfinite(rounded) ? rounded : exact;
    for (int64_t i = 0; i < n; ++i) row[i] = T(static_cast<float>(row[i]) * factor);
  }

  // Added to norms, so that a row of zeros stays as it is.
  static constexpr float kLeast = 1e-12f;
  const bool use_max_norm_;
  const float norm_;
};

template <class T>
void RegisterSparseNormalizeOf(const char* type, TensorProto_DataType element, const char* doc) {
  RegisterSchema(type, __FILE__)
      .NumInputs(2, 3)
      .NumOutputs(1)
      .EnforceInplace({{0, 0}})
      .Args(kSparseNormalizeUseMaxNorm, kSparseNormalizeNorm)
      .Input(0, "param", "rows to scale, [N, *]")
      .Input(1, "indices", "rows that are scaled, in this order; int32 or int64")
      .Input(2, "grad", "optional; not used")
      .Output(0, "output_param", "param, in place")
      .TypesOfInput(0, {.accepted = {element}})
      .IdenticalTypeAndShapeOfInput(0)
      .SetDoc(doc);
  RegisterCpuOperator<SparseNormalizeOp<T>>(type, __FILE__);
  // The operator updates parameters after the backward pass.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>(type, __FILE__);
}

}  // namespace

void RegisterSparseNormalize() {
  RegisterSparseNormalizeOf<float>(
      "SparseNormalize", TensorProto_DataType_FLOAT,
      "Scales the rows of param that indices name to the L2 norm `norm`.");
  RegisterSparseNormalizeOf<float16>(
      "Float16SparseNormalize", TensorProto_DataType_FLOAT16,
      "Scales the float16 rows of param that indices name to the L2 norm `norm`.");
}

}  // namespace caffe2rt
