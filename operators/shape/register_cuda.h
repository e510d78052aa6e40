#pragma once
// The built-in operators of this family on CUDA.

namespace caffe2rt {

void RegisterShapeCudaOperators();

void RegisterGatherCuda();
void RegisterTileCuda();

}  // namespace caffe2rt
