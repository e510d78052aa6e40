#pragma once
// The built-in operators on CUDA.

namespace caffe2rt {

// Registers all of them, and the arithmetic of synced memory; does nothing the second time. Their
// schemas are the library's own.
void RegisterCudaOperators();

}  // namespace caffe2rt
