#include "operators/image/register_cuda.h"

namespace caffe2rt {

void RegisterImageCudaOperators() {
  RegisterChannelShuffleCuda();
  RegisterPadImageCuda();
  RegisterResizeNearestCuda();
  RegisterSpaceToBatchCuda();
  RegisterUpsampleBilinearCuda();
}

}  // namespace caffe2rt
