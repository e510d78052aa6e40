#pragma once
// The built-in operators of this family on CUDA.

namespace caffe2rt {

void RegisterConvCudaOperators();

}  // namespace caffe2rt
