// The fills that are not random on CUDA: ConstantFill, DiagonalFill, GivenTensor*Fill,
// LengthsRangeFill, Range, RangeFill.

#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_kernel.cuh"
#include "operators/fill/constant_fill.h"
#include "operators/fill/diagonal_fill.h"
#include "operators/fill/given_tensor_fill.h"
#include "operators/fill/lengths_range_fill.h"
#include "operators/fill/range.h"
#include "operators/fill/range_fill.h"
#include "operators/fill/register_cuda.h"

namespace caffe2rt {

namespace {

template <class T>
struct ValueKernel {
  T value;
  T* y;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const { y[i] = value; }
};

template <class T>
struct StepKernel {
  int64_t step;
  T value;
  T* y;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const { y[i] = i % step == 0 ? value : T(0); }
};

template <class T>
struct RangeKernel {
  T start, step;
  T* y;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const { y[i] = start + static_cast<T>(i) * step; }
};

}  // namespace

template <class T>
void FillWithValue(CUDAContext& context, int64_t n, const T& value, T* y) {
  ForEach(context, n, ValueKernel<T>{value, y}, "FillWithValue");
}
template <class T>
void FillEveryStep(CUDAContext& context, int64_t n, int64_t step, const T& value, T* y) {
  ForEach(context, n, StepKernel<T>{step, value, y}, "FillEveryStep");
}
template <class T>
void FillRange(CUDAContext& context, int64_t n, T start, T step, T* y) {
  ForEach(context, n, RangeKernel<T>{start, step, y}, "FillRange");
}
void CountUp(CUDAContext& context, int64_t n, float* y) { FillRange(context, n, 0.0f, 1.0f, y); }

namespace {

template <TensorProto_DataType kType>
void RegisterTypedCuda(const char* type) {
  RegisterOperator<GivenTypedTensorFillOp<CUDAContext, kType>>(CUDA, type, __FILE__);
}

}  // namespace

void RegisterConstantFillsCuda() {
  RegisterTypedCuda<TensorProto_DataType_BOOL>("GivenTensorBoolFill");
  RegisterTypedCuda<TensorProto_DataType_DOUBLE>("GivenTensorDoubleFill");
  RegisterTypedCuda<TensorProto_DataType_INT16>("GivenTensorInt16Fill");
  RegisterTypedCuda<TensorProto_DataType_INT64>("GivenTensorInt64Fill");
  RegisterTypedCuda<TensorProto_DataType_INT32>("GivenTensorIntFill");
  RegisterOperator<GivenTensorFillOp<CUDAContext>>(CUDA, "GivenTensorFill", __FILE__);

  RegisterOperator<ConstantFillOp<CUDAContext>>(CUDA, "ConstantFill", __FILE__);
  RegisterOperator<DiagonalFillOp<CUDAContext>>(CUDA, "DiagonalFill", __FILE__);
  RegisterOperator<LengthsRangeFillOp<CUDAContext>>(CUDA, "LengthsRangeFill", __FILE__);
  RegisterOperator<RangeFillOp<CUDAContext>>(CUDA, "RangeFill", __FILE__);
  RegisterOperator<RangeOp<CUDAContext>>(CUDA, "Range", __FILE__);
}

}  // namespace caffe2rt
