#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/sequence/pack_segments.h"

namespace caffe2rt {

void RegisterPackSegmentsCuda() {
  RegisterOperator<PackSegmentsOp<CUDAContext>>(CUDA, "PackSegments", __FILE__);
  RegisterOperator<UnpackSegmentsOp<CUDAContext>>(CUDA, "UnpackSegments", __FILE__);
}

}  // namespace caffe2rt
