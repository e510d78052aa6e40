#pragma once
// The built-in operators of this family on CUDA.

namespace caffe2rt {

void RegisterElementwiseCudaOperators();

void RegisterActivationsCuda();
void RegisterUnaryMathCuda();

}  // namespace caffe2rt
