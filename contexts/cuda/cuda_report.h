#pragma once
// How a kernel tells that it was given wrong data: it cannot throw.
//
//   Kernel kernel{..., ReportOf(context), "row %, want below %"};   // on the host
//   if (row >= size) report->Raise(text, row, size);                // in the kernel
//
// The kernel goes on without touching what it must not.
//
// The next FinishDeviceComputation of a context of the stream THROWS it, once, as "row 7, want
// below 5". An event tells nothing of it.

#include <cstdint>

#include "caffe2_core/base/host_device.h"

namespace caffe2rt {

class CUDAContext;
struct CudaStream;

// One for each stream, in pinned memory, which kernels write. Several threads of a kernel may raise
// at once: one of them is told, or a mixture of what they found.
struct KernelReport {
  const char* message = nullptr;  // a literal of the host, which the device only passes on
  int64_t numbers[3] = {};        // what stands for each % in it
  int32_t raised = 0;

  // REQUIRES: `text` is a literal that the host put into the kernel, with a % for each number.
  CAFFE2RT_HOST_DEVICE void Raise(const char* text, int64_t first, int64_t second = 0,
                                  int64_t third = 0) {
    message = text;
    numbers[0] = first;
    numbers[1] = second;
    numbers[2] = third;
    raised = 1;
  }
};

// The report of the context's stream; made by the first call, never freed.
KernelReport* ReportOf(const CUDAContext& context);

namespace internal {
// THROWS what kernels of the stream have raised, and forgets it. REQUIRES: their work is over.
void CheckReport(CudaStream& stream);
}  // namespace internal

}  // namespace caffe2rt
