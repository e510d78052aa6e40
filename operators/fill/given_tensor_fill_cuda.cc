#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/fill/given_tensor_fill.h"

namespace caffe2rt {

namespace {

template <TensorProto_DataType kType>
void RegisterTyped(const char* type) {
  RegisterOperator<GivenTypedTensorFillOp<CUDAContext, kType>>(CUDA, type, __FILE__);
}

}  // namespace

void RegisterGivenTensorFillCuda() {
  RegisterTyped<TensorProto_DataType_BOOL>("GivenTensorBoolFill");
  RegisterTyped<TensorProto_DataType_DOUBLE>("GivenTensorDoubleFill");
  RegisterTyped<TensorProto_DataType_INT16>("GivenTensorInt16Fill");
  RegisterTyped<TensorProto_DataType_INT64>("GivenTensorInt64Fill");
  RegisterTyped<TensorProto_DataType_INT32>("GivenTensorIntFill");
  RegisterOperator<GivenTensorFillOp<CUDAContext>>(CUDA, "GivenTensorFill", __FILE__);
}

}  // namespace caffe2rt
