#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/shape/gather.h"

namespace caffe2rt {

template <class Index>
void GatherSlices(CUDAContext& context, TypeMeta type, const GatherSizes& sizes,
                  const Index* indices, const void* data, void* y) {
  GatherPlainSlices(context, PlainItemBytes(type), sizes, indices, data, y);
}

void RegisterGatherCuda() {
  RegisterOperator<GatherOp<CUDAContext>>(CUDA, "Gather", __FILE__);
  RegisterOperator<GatherOp<CUDAContext, 1>>(CUDA, "BatchGather", __FILE__);
  for (const char* engine : {"", "ATOMIC"}) {
    RegisterOperator<BatchGatherGradientOp<CUDAContext>>(CUDA, "BatchGatherGradient", __FILE__,
                                                         engine);
  }
}

}  // namespace caffe2rt
