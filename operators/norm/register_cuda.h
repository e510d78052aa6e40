#pragma once
// The built-in operators of this family on CUDA.

namespace caffe2rt {

void RegisterNormCudaOperators();

void RegisterInstanceNormCuda();  // and GroupNorm
void RegisterLayerNormCuda();
// Our own kernels alone, as an engine.
void RegisterLRNCuda(const char* engine);
void RegisterSoftmaxCuda(const char* engine);
void RegisterSpatialBNCuda(const char* engine);

// The three as the default: cuDNN where it is here and takes the arguments, else our own kernels.
// One of two files has it.
void RegisterNormCudnn();

void RegisterLRNCudnn();
void RegisterSoftmaxCudnn();
void RegisterSpatialBNCudnn();

}  // namespace caffe2rt
