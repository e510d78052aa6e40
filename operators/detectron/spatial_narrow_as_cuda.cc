#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/detectron/spatial_narrow_as.h"

namespace caffe2rt {

void RegisterSpatialNarrowAsCuda() {
  RegisterOperator<SpatialNarrowAsOp<CUDAContext>>(CUDA, "SpatialNarrowAs", __FILE__);
  RegisterOperator<SpatialNarrowAsGradientOp<CUDAContext>>(CUDA, "SpatialNarrowAsGradient",
                                                           __FILE__);
}

}  // namespace caffe2rt
