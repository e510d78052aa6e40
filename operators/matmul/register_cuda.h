#pragma once
// The matrix products on CUDA.

namespace caffe2rt {

void RegisterMatmulCudaOperators();

void RegisterBatchMatMulCuda();
void RegisterFCCuda();
void RegisterMatMulCuda();

}  // namespace caffe2rt
