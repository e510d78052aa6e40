#include "tests/contexts/counting/counting_operators.h"

#include <algorithm>

#include "caffe2_core/runtime/operator_registry.h"
#include "operators/elementwise/copies.h"

namespace caffe2rt::test {

bool CountingReluOp::RunOnDevice() {
  const Tensor& X = Input(0);
  Tensor* Y = Output(0, X.sizes(), X.dtype());
  const float* x = X.data<float>();
  float* y = Y->mutable_data<float>();
  context_.Launch([x, y, n = X.numel()] {
    for (int64_t i = 0; i < n; ++i) y[i] = std::max(x[i], 0.f);
  });
  return true;
}

bool CountingAddOp::RunOnDevice() {
  const Tensor& A = Input(0);
  const Tensor& B = Input(1);
  CAFFE_ENFORCE(A.dims() == B.dims(), "input 1 (B) has shape ", B.sizes(), ", want ", A.sizes(),
                " as input 0 (A)");
  Tensor* C = Output(0, A.sizes(), A.dtype());
  const float* a = A.data<float>();
  const float* b = B.data<float>();
  float* c = C->mutable_data<float>();
  context_.Launch([a, b, c, n = A.numel()] {
    for (int64_t i = 0; i < n; ++i) c[i] = a[i] + b[i];
  });
  return true;
}

bool CountingMatMulOp::RunOnDevice() {
  const Tensor& A = Input(0);
  const Tensor& B = Input(1);
  CAFFE_ENFORCE(A.dim() == 2 && B.dim() == 2 && A.dim(1) == B.dim(0), "inputs have shapes ",
                A.sizes(), " and ", B.sizes(), ", want [M, K] and [K, N]");
  const int64_t m = A.dim(0), k = A.dim(1), n = B.dim(1);
  Tensor* C = Output(0, {m, n}, A.dtype());
  const float* a = A.data<float>();
  const float* b = B.data<float>();
  float* c = C->mutable_data<float>();
  context_.Launch([=] {
    for (int64_t row = 0; row < m; ++row) {
      for (int64_t col = 0; col < n; ++col) {
        float sum = 0;
        for (int64_t i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + col];
        c[row * n + col] = sum;
      }
    }
  });
  return true;
}

CountingConstantFillOp::CountingConstantFillOp(const OperatorDef& def, Workspace* ws)
    : Operator<CountingContext>(def, ws),
      shape_(GetRepeatedArgument<int64_t>("shape")),
      value_(GetSingleArgument<float>("value", 0.f)) {}

bool CountingConstantFillOp::RunOnDevice() {
  Tensor* Y = Output(0, shape_, TypeMeta::Make<float>());
  context_.Launch([y = Y->mutable_data<float>(), n = Y->numel(), value = value_] {
    std::fill(y, y + n, value);
  });
  return true;
}

bool CountingFromCPUOp::RunOnDevice() {
  Output(0)->CopyFrom(Input(0, CPU), &context_);
  return true;
}

bool CountingToCPUOp::RunOnDevice() {
  OutputTensor(0, CPU)->CopyFrom(Input(0), &context_);
  return true;
}

REGISTER_DEVICE_OPERATOR(20, Relu, CountingReluOp);
REGISTER_DEVICE_OPERATOR(20, Add, CountingAddOp);
REGISTER_DEVICE_OPERATOR(20, MatMul, CountingMatMulOp);
REGISTER_DEVICE_OPERATOR(20, ConstantFill, CountingConstantFillOp);
REGISTER_DEVICE_OPERATOR(20, Copy, CopyOp<CountingContext>);
REGISTER_DEVICE_OPERATOR(20, CopyFromCPUInput, CountingFromCPUOp);
REGISTER_DEVICE_OPERATOR(20, EnsureCPUOutput, CountingToCPUOp);

}  // namespace caffe2rt::test
