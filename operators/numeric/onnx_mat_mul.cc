// ONNXMatMul: numpy's matmul for numbers of any type; the product of two vectors is a scalar.
//   A [batch..., M, K], B [batch..., K, N]  ->  Y [batch..., M, N]
// Integers wrap around. BatchMatMul is Caffe2's, for floats.

#include <algorithm>
#include <vector>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/element_type.h"
#include "operators/common/inference.h"
#include "operators/common/matrix_batches.h"
#include "operators/numeric/numbers.h"
#include "operators/primitives/gemm.h"
#include "operators/primitives/wrapping.h"

namespace caffe2rt {

namespace {

// Rows [first, last) of y [m, n] = a [m, k] b [k, n].
template <class T>
void MultiplyNumbers(int64_t first, int64_t last, int64_t n, int64_t k, const T* a, const T* b,
                     T* y) {
  if constexpr (std::is_same_v<T, float>) {
    Sgemm(false, false, last - first, n, k, 1.f, a + first * k, std::max<int64_t>(k, 1), b,
          std::max<int64_t>(n, 1), 0.f, y + first * n, std::max<int64_t>(n, 1));
  } else {
    std::fill(y + first * n, y + last * n, T(0));
    for (int64_t i = first; i < last; ++i) {
      for (int64_t p = 0; p < k; ++p) {
        const T factor = a[i * k + p];
        for (int64_t j = 0; j < n; ++j) {
          y[i * n + j] =
              math::WrappingAdd(y[i * n + j], math::WrappingMultiply(factor, b[p * n + j]));
        }
      }
    }
  }
}

class OnnxMatMulOp final : public Operator<CPUContext> {
 public:
  OnnxMatMulOp(const OperatorDef& def, Workspace* ws) : Operator<CPUContext>(def, ws) {}

  bool RunOnDevice() override {
    const Tensor &A = Input(0), &B = Input(1);
    return DispatchNumber(A.dtype(), "input 0 (A)", [&](auto element) {
      using T = decltype(element);
      RequireElements<T>(B);
      plan_.Make(A.sizes(), B.sizes());
      T* y = OutputData<T>(0, plan_.y_dims);
      if (Output(0)->numel() == 0) return true;
      if (plan_.k == 0) {
        std::fill_n(y, Output(0)->numel(), T(0));
        return true;
      }
      plan_.Locate(A.sizes(), B.sizes());
      const T *a = A.data<T>(), *b = B.data<T>();
      const int64_t m = plan_.m, n = plan_.n, k = plan_.k;
      for (size_t i = 0; i < plan_.a_matrix.size(); ++i) {
        T* to = y + static_cast<int64_t>(i) * m * n;
        ParallelRanges(m, n * k, [&](int64_t first, int64_t last) {
          MultiplyNumbers(first, last, n, k, a + plan_.a_matrix[i] * m * k,
                          b + plan_.b_matrix[i] * k * n, to);
        });
      }
      return true;
    });
  }

 private:
  MatrixBatches plan_;
};

}  // namespace

void RegisterOnnxMatMul() {
  RegisterSchema("ONNXMatMul", __FILE__)
      .NumInputs(2)
      .NumOutputs(1)
      .Input(0, "A", "numbers of any type, [batch..., M, K] or [K]")
      .Input(1, "B", "the type of A, [batch..., K, N] or [K]")
      .Output(0, "Y", "[batch..., M, N], without the axis of a vector")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        if (!AreKnown(in, 2)) return UnknownOutputs(def);
        MatrixBatches plan;
        plan.Make(GetDimsVector(in[0]), GetDimsVector(in[1]));
        return std::vector<TensorShape>{CreateTensorShape(plan.y_dims, in[0].data_type())};
      })
      .Traits({.family = OperatorFamily::kMatMul})
      .SetDoc("Multiplies matrices, as ONNX's MatMul: with numpy's broadcasting, for all numbers.");
  RegisterCpuOperator<OnnxMatMulOp>("ONNXMatMul", __FILE__);
  // BatchMatMul has a gradient.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("ONNXMatMul", __FILE__);
}

}  // namespace caffe2rt
