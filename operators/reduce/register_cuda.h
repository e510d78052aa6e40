#pragma once
// The built-in operators of this family on CUDA.

namespace caffe2rt {

void RegisterReduceCudaOperators();

void RegisterReduceFrontBackCuda();
void RegisterReductionsCuda();

}  // namespace caffe2rt
