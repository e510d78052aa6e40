#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/sequence/reverse_packed_segs.h"

namespace caffe2rt {

void RegisterReversePackedSegsCuda() {
  RegisterOperator<ReversePackedSegsOp<CUDAContext>>(CUDA, "ReversePackedSegs", __FILE__);
}

}  // namespace caffe2rt
