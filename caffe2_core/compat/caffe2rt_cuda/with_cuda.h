#pragma once
// CAFFE2RT_WITH_CUDA: whether a source is compiled with CUDA (1) or without (0).
//
// It is 1 in sources that nvcc compiles, and in all sources of targets that link caffe2rt::cuda.
// CUDAContext is then the class of contexts/cuda, and CUDA's headers are required.
//
// Otherwise neither the CUDA toolkit nor a CUDA library is needed. The same names then call
// functions through the table of cuda_functions.h, which libcaffe2_cuda provides when it is opened;
// if it is not available, the error states what is missing.
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
