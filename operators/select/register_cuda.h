#pragma once
// The built-in operators of this family on CUDA.

namespace caffe2rt {

void RegisterSelectCudaOperators();

void RegisterAccuracyCuda();
void RegisterArgMaxCuda();
void RegisterPrintCuda();
void RegisterTopKCuda();

}  // namespace caffe2rt
