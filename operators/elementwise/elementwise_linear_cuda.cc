// ElementwiseLinear on CUDA, by the kernels of Mul and Add and their gradients.

#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/elementwise/binary_functions.h"
#include "operators/elementwise/elementwise_linear.h"
#include "operators/elementwise/map.h"
#include "operators/elementwise/operand_gradient.h"

namespace caffe2rt {

namespace {

// The loops over a matrix and one row.
BroadcastLoops RowLoops(int64_t rows, int64_t cols) {
  BroadcastLoops loops;
  loops.output_size = rows * cols;
  loops.inner = {cols, 1, 1};
  loops.middle = {rows, cols, 0};
  return loops;
}

}  // namespace

void LinearRows(CUDAContext& context, int64_t rows, int64_t cols, const float* x, const float* w,
                const float* b, float* y) {
  const BroadcastLoops loops = RowLoops(rows, cols);
  ZipBroadcast(context, loops, x, w, y, MulFunction{});
  ZipBroadcast<float>(context, loops, y, b, y, AddFunction{});
}

void LinearRowsGradient(CUDAContext& context, int64_t rows, int64_t cols, const float* x,
                        const float* w, const float* dy, float* dx, float* dw, float* db) {
  if (rows == 0 || cols == 0) {
    SetToZero(context, cols, dw);
    SetToZero(context, cols, db);
    return;
  }
  const BroadcastLoops loops = RowLoops(rows, cols);
  OperandGradient<Operand::kA>(context, loops, x, w, dy, dy, dx, MulFunction{});
  OperandGradient<Operand::kB>(context, loops, x, w, dy, dy, dw, MulFunction{});
  OperandGradient<Operand::kB>(context, loops, x, w, dy, dy, db, AddFunction{});
}

void RegisterElementwiseLinearCuda() {
  RegisterOperator<ElementwiseLinearOp<CUDAContext>>(CUDA, "ElementwiseLinear", __FILE__);
  RegisterOperator<ElementwiseLinearGradientOp<CUDAContext>>(CUDA, "ElementwiseLinearGradient",
                                                             __FILE__);
}

}  // namespace caffe2rt
