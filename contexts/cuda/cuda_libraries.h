#pragma once
// Which of the libraries beside CUDA's runtime are here, and how they are used. Includes none of
// their headers; functions are in cublas_library.h, cudnn_library.h and curand_library.h.
//
// The first question opens the library, which takes up to half a second. Without one the engines
// that need it are not offered; everything has a kernel of our own.
//
// Thread safe. Nothing here throws but what says so.

#include <string>

#include "contexts/cuda/cuda_options.h"

// As the vendor's headers declare them.
struct cublasContext;
struct cudnnContext;
struct curandGenerator_st;
typedef struct cublasContext* cublasHandle_t;
typedef struct cudnnContext* cudnnHandle_t;
typedef struct curandGenerator_st* curandGenerator_t;

namespace caffe2rt {

bool HasCublas();
bool HasCudnn();
bool HasCurand();

// Whether this library was built with cuDNN's headers, and so has operators that use cuDNN.
bool CudnnIsInThisBuild();

// Why not, one line for a person; empty when the library is here.
const std::string& CublasProblem();
const std::string& CudnnProblem();
const std::string& CurandProblem();

}  // namespace caffe2rt
