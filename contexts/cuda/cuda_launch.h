#pragma once
// What a launch function needs of a CUDAContext, without including the context's header. A .cu file
// includes this header (through cuda_kernel.cuh) and so avoids protobuf, because nvcc reads each
// header three times. Everything that nvcc need not compile is defined in cuda_launch.cc.

#include <cuda_runtime_api.h>

#include <cstdint>

#include "caffe2_core/base/random_stream.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

class CUDAContext;

// Threads per block of every kernel that cuda_kernel.cuh launches.
inline constexpr int kKernelThreads = 256;

// The context's stream.
cudaStream_t StreamOf(const CUDAContext& context);

// CUDAContext::TakeRandomBlocks, which reserves `count` blocks of random numbers.
RandomBlocks TakeRandomBlocks(CUDAContext& context, uint64_t* used, uint64_t count);

// Returns how many blocks to launch if there is work for `blocks` blocks: at most as many as the
// device runs at a time. REQUIRES: blocks > 0.
unsigned int GridSize(const CUDAContext& context, int64_t blocks);

// THROWS if the calling thread's last launch failed. `kernel` names it in the error.
void CheckLaunch(const char* kernel);

// Whether the program runs on the fake CUDA of the tests, which calls kernels as host functions.
bool IsFakeCuda();

// Enqueues run(arg) on the context's stream of the fake CUDA. release(arg) is called when the
// operation has finished or has been dropped. REQUIRES: IsFakeCuda().
void EnqueueOnFakeCuda(const CUDAContext& context, const char* kernel, void (*run)(void*),
                       void* arg, void (*release)(void*));

// Reports a kernel that was compiled as C++, without nvcc, in a program that runs on a GPU.
[[noreturn]] void ThrowCompiledForFakeCuda(const char* kernel);

}  // namespace caffe2rt
#pragma GCC visibility pop
