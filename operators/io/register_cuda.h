#pragma once
// The operators that read and write files, on CUDA: they work on the host, and copy.

namespace caffe2rt {

void RegisterIoCudaOperators();

}  // namespace caffe2rt
