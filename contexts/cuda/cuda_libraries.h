#pragma once
// Which of the libraries besides the CUDA runtime are available. Includes none of their headers;
// their functions are in cublas_library.h, cudnn_library.h and curand_library.h.
//
// The first query opens the library, which takes up to half a second. If a library is missing, the
// engines that need it are not available; every operator also has a built-in CUDA kernel.
//
// Thread safe. No function throws.

#include <string>

#include "contexts/cuda/cuda_options.h"

// As the vendor's headers declare them.
struct cublasContext;
struct cudnnContext;
struct curandGenerator_st;
typedef struct cublasContext* cublasHandle_t;
typedef struct cudnnContext* cudnnHandle_t;
typedef struct curandGenerator_st* curandGenerator_t;

#pragma GCC visibility push(default)
namespace caffe2rt {

bool HasCublas();
bool HasCudnn();
bool HasCurand();

// Whether this library was built with cuDNN's headers and therefore contains its cuDNN operators.
bool CudnnIsInThisBuild();

// Whether the caller should log CudnnProblem() as a warning: once in a process. A library of a
// version that cannot be used is reported when it is opened.
bool ShouldReportCudnnProblem();

// One line for a person that explains why the library is not available; empty if it is.
const std::string& CublasProblem();
const std::string& CudnnProblem();
const std::string& CurandProblem();

// The path of the library's file and its version, such as "/usr/lib/libcublas.so.13, version
// 13.1.0"; empty if it is not available.
std::string CublasOrigin();
std::string CudnnOrigin();
std::string CurandOrigin();

}  // namespace caffe2rt
#pragma GCC visibility pop
