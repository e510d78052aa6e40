#pragma once
// Whether a source is compiled with libcaffe2_cuda (CAFFE2RT_WITH_CUDA 1) or without.
//
// With it: kernels (nvcc), and all sources of targets that link caffe2rt::cuda. CUDAContext is then
// the class itself, and CUDA's headers are needed. Without it no toolkit is needed and nothing of
// CUDA is linked: the same names go through the table of cuda_functions.h, which libcaffe2_cuda
// gives when it is opened, and say plainly what is missing where it is not.
#if defined(__CUDACC__) || defined(CAFFE2RT_USE_CUDA)
#define CAFFE2RT_WITH_CUDA 1
#else
#define CAFFE2RT_WITH_CUDA 0
#endif

#if CAFFE2RT_WITH_CUDA || __has_include(<cuda_runtime.h>)
#include <cuda_runtime.h>
#else
typedef struct CUstream_st* cudaStream_t;
typedef struct CUevent_st* cudaEvent_t;
#endif
#if __has_include(<cublas_v2.h>)
#include <cublas_v2.h>
#else
typedef struct cublasContext* cublasHandle_t;
#endif
#if __has_include(<curand.h>)
#include <curand.h>
#else
typedef struct curandGenerator_st* curandGenerator_t;
#endif
#if __has_include(<cudnn.h>)
#include <cudnn.h>
#else
typedef struct cudnnContext* cudnnHandle_t;
#endif
