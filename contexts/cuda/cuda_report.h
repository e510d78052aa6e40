#pragma once
// How a kernel tells that it was given wrong data: it cannot throw.
//
//   KernelReport* report = ReportOf(context);                        // on the host
//   if (index >= size) report->Raise(subject, index, size);          // in the kernel
//
// The kernel goes on without touching what it must not.
//
// The next FinishDeviceComputation of a context of the stream THROWS it, once, as "SUBJECT, id=7
// axis_dim=5". An event tells nothing of it.

#include <cstdint>

#include "caffe2_core/base/host_device.h"
#include "contexts/cuda/cuda_context.h"

namespace caffe2rt {

// One for each stream, in pinned memory, which kernels write. Several threads of a kernel may raise
// at once: one of them is told, or a mixture of what they found.
struct KernelReport {
  const char* subject = nullptr;  // a literal of the host, which the device only passes on
  int64_t got = 0;
  int64_t size = 0;
  int32_t raised = 0;

  CAFFE2RT_HOST_DEVICE void Raise(const char* what, int64_t index, int64_t wanted_below) {
    subject = what;
    got = index;
    size = wanted_below;
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
