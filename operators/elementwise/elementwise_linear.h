#pragma once
// ElementwiseLinear: Y = X * w + b, with one factor and one summand for each column.
//   X any shape, as a matrix [N, D] whose columns are the dimensions from `axis` on; w, b [D], float
//   ->  Y the shape of X
// ElementwiseLinearGradient:
//   dY, X, w  ->  dX, dw [D], db [D]

#include "caffe2_core/runtime/operator.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<int> kElementwiseLinearAxis{
    "axis", 1, "first dimension of the columns of X; a negative axis counts from the end"};

class CPUContext;
class CUDAContext;

// y = x * w + b. x and y are [rows, cols]. REQUIRES: rows and cols are positive.
void LinearRows(CPUContext& context, int64_t rows, int64_t cols, const float* x, const float* w,
                const float* b, float* y);
void LinearRows(CUDAContext& context, int64_t rows, int64_t cols, const float* x, const float* w,
                const float* b, float* y);
void LinearRowsGradient(CPUContext& context, int64_t rows, int64_t cols, const float* x,
                        const float* w, const float* dy, float* dx, float* dw, float* db);
void LinearRowsGradient(CUDAContext& context, int64_t rows, int64_t cols, const float* x,
                        const float* w, const float* dy, float* dx, float* dw, float* db);

struct LinearSize {
  int64_t rows, cols;
};
#pragma GCC visibility push(default)  // for libcaffe2_cuda
// `place` is the input that contains X. THROWS if the axis is out of range.
LinearSize SizeOfLinear(int place, IntArrayRef x, int axis);
// THROWS unless input `place`, called `name`, is [cols].
void CheckLinearColumns(int place, const char* name, IntArrayRef dims, int64_t cols);
#pragma GCC visibility pop

template <class Context>
class ElementwiseLinearOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  ElementwiseLinearOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), axis_(this->ReadArgument(kElementwiseLinearAxis)) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const Tensor& W = Input(1);
    const Tensor& B = Input(2);
    const LinearSize size = SizeOfLinear(0, X.sizes(), axis_);
    CheckLinearColumns(1, "w", W.sizes(), size.cols);
    CheckLinearColumns(2, "b", B.sizes(), size.cols);
    const float* const x = X.data<float>();
    const float* const w = W.data<float>();
    const float* const b = B.data<float>();
    float* const y = this->template OutputData<float>(0, X.sizes());
    if (X.numel() > 0) LinearRows(context_, size.rows, size.cols, x, w, b, y);
    return true;
  }

 private:
  const int axis_;
};

template <class Context>
class ElementwiseLinearGradientOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  ElementwiseLinearGradientOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), axis_(this->ReadArgument(kElementwiseLinearAxis)) {}

  bool RunOnDevice() override {
    const Tensor& dY = Input(0);
    const Tensor& X = Input(1);
    const Tensor& W = Input(2);
    const LinearSize size = SizeOfLinear(1, X.sizes(), axis_);
    CheckLinearColumns(2, "w", W.sizes(), size.cols);
    CAFFE_ENFORCE_EQ(dY.numel(), X.numel(), "elements of input 0 (dY) of shape ", dY.sizes(),
                     ", want as many as input 1 (X) of shape ", X.sizes());
    const float* const dy = dY.data<float>();
    const float* const x = X.data<float>();
    const float* const w = W.data<float>();
    float* const dx = this->template OutputData<float>(0, X.sizes());
    float* const dw = this->template OutputData<float>(1, W.sizes());
    float* const db = this->template OutputData<float>(2, W.sizes());
    LinearRowsGradient(context_, size.rows, size.cols, x, w, dy, dx, dw, db);
    return true;
  }

 private:
  const int axis_;
};

}  // namespace caffe2rt
