#pragma once
// The built-in operators of this family on CUDA.

namespace caffe2rt {

void RegisterImageCudaOperators();

void RegisterChannelShuffleCuda();
void RegisterPadImageCuda();
void RegisterResizeNearestCuda();
void RegisterSpaceToBatchCuda();
void RegisterUpsampleBilinearCuda();

}  // namespace caffe2rt
