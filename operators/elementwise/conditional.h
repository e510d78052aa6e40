#pragma once
// Conditional: row i of Y is row i of X if C[i] is true, else row i of Z.
//   C bool [N]; X and Z [N, *] of the same shape and the same type (any type)  ->  Y as X

#include "caffe2_core/runtime/operator.h"
#include "operators/common/copy_rows.h"

namespace caffe2rt {

class CPUContext;
class CUDAContext;

// Row i of y is row i of x if c[i] is true, else row i of z. A row has `length` items of `type`.
// REQUIRES: rows and length are positive.
void SelectItems(CPUContext& context, TypeMeta type, int64_t rows, int64_t length, const bool* c,
                 const void* x, const void* z, void* y);
void SelectItems(CUDAContext& context, TypeMeta type, int64_t rows, int64_t length, const bool* c,
                 const void* x, const void* z, void* y);

template <class Context>
class ConditionalOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  ConditionalOp(const OperatorDef& def, Workspace* ws) : Operator<Context>(def, ws) {}

  bool RunOnDevice() override {
    const Tensor& C = Input(0);
    const Tensor& X = Input(1);
    const Tensor& Z = Input(2);
    CAFFE_ENFORCE(C.IsType<bool>(), "input 0 (C) has elements of type ", C.dtype().name(),
                  ", want bool");
    CAFFE_ENFORCE(X.dtype() == Z.dtype(), "input 2 (Z) has elements of type ", Z.dtype().name(),
                  ", want ", X.dtype().name(), " as input 1 (X)");
    CAFFE_ENFORCE(X.dims() == Z.dims(), "input 2 (Z) has shape ", Z.sizes(), ", want ", X.sizes(),
                  " as input 1 (X)");
    CAFFE_ENFORCE(C.dim() == 1 && X.dim() >= 1 && C.dim(0) == X.dim(0), "input 0 (C) has shape ",
                  C.sizes(), ", want one element for each row of input 1 (X) of shape ", X.sizes());
    const TypeMeta type = X.dtype();
    const bool* c = C.data<bool>();
    const void* x = X.raw_data();
    const void* z = Z.raw_data();
    Tensor* Y = Output(0);
    Y->ResizeLike(X);
    void* y = OutputMemory(Y, type);
    const int64_t length = X.size_from_dim(1);
    if (X.numel() == 0) return true;
    SelectItems(context_, type, C.dim(0), length, c, x, z, y);
    return true;
  }
};

}  // namespace caffe2rt
