#pragma once
// Marks functions that run on the host and, compiled by nvcc, on a GPU.

#if defined(__CUDACC__)
#define CAFFE2RT_HOST_DEVICE __host__ __device__
#else
#define CAFFE2RT_HOST_DEVICE
#endif
