// Det: the determinants of the square matrices in the last two axes.
//   X [batch..., M, M] float or double  ->  Y [batch...]
// By elimination with pivots, in double.

#include <cmath>
#include <utility>
#include <vector>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/inference.h"
#include "operators/numeric/numbers.h"

namespace caffe2rt {

namespace {

void CheckSquare(IntArrayRef dims) {
  CAFFE_ENFORCE(dims.size() >= 2 && dims[dims.size() - 1] == dims[dims.size() - 2],
                "input 0 (X) has shape ", dims, ", want square matrices in the last two axes");
}

// Overwrites the matrix.
double Determinant(int64_t m, double* a) {
  double result = 1;
  for (int64_t k = 0; k < m; ++k) {
    int64_t pivot = k;
    for (int64_t i = k + 1; i < m; ++i) {
      if (std::abs(a[i * m + k]) > std::abs(a[pivot * m + k])) pivot = i;
    }
    if (a[pivot * m + k] == 0) return 0;
    if (pivot != k) {
      for (int64_t j = k; j < m; ++j) std::swap(a[k * m + j], a[pivot * m + j]);
      result = -result;
    }
    result *= a[k * m + k];
    for (int64_t i = k + 1; i < m; ++i) {
      const double factor = a[i * m + k] / a[k * m + k];
      for (int64_t j = k + 1; j < m; ++j) a[i * m + j] -= factor * a[k * m + j];
    }
  }
  return result;
}

class DetOp final : public Operator<CPUContext> {
 public:
  DetOp(const OperatorDef& def, Workspace* ws) : Operator<CPUContext>(def, ws) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    CheckSquare(X.sizes());
    return DispatchByType<float, double>(X.dtype(), "input 0 (X)", [&](auto element) {
      using T = decltype(element);
      const int64_t m = X.dims().back();
      T* y = OutputData<T>(0, X.sizes().slice(0, X.dims().size() - 2));
      const T* x = X.numel() > 0 ? X.data<T>() : nullptr;
      if (Output(0)->numel() == 0) return true;
      matrix_.resize(static_cast<size_t>(m * m));
      for (int64_t i = 0; i < Output(0)->numel(); ++i) {
        for (int64_t j = 0; j < m * m; ++j) matrix_[static_cast<size_t>(j)] = x[i * m * m + j];
        y[i] = static_cast<T>(Determinant(m, matrix_.data()));
      }
      return true;
    });
  }

 private:
  std::vector<double> matrix_;
};

}  // namespace

void RegisterDet() {
  RegisterSchema("Det", __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .Input(0, "X", "float or double, [batch..., M, M]")
      .Output(0, "Y", "[batch...]")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        if (!AreKnown(in, 1)) return UnknownOutputs(def);
        std::vector<int64_t> dims = GetDimsVector(in[0]);
        CheckSquare(dims);
        dims.resize(dims.size() - 2);
        return std::vector<TensorShape>{CreateTensorShape(dims, in[0].data_type())};
      })
      .SetDoc("Computes the determinants of square matrices, as ONNX does.");
  RegisterCpuOperator<DetOp>("Det", __FILE__);
  // Caffe2 has no such operator, so no net trains through it.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("Det", __FILE__);
}

}  // namespace caffe2rt
