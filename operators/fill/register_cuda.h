#pragma once
// The built-in operators of this family on CUDA.

namespace caffe2rt {

void RegisterFillCudaOperators();

void RegisterConstantFillsCuda();
void RegisterRandomFillsCuda();

}  // namespace caffe2rt
