#pragma once
// How a kernel, which cannot throw, reports invalid data.
//
//   Kernel kernel{..., ReportOf(context), "row %, want below %"};   // on the host
//   if (row >= size) report->Raise(text, row, size);                // in the kernel
//
// After Raise the kernel continues but must skip the invalid access.
//
// The next FinishDeviceComputation of a context of the stream THROWS the error, once, as "row 7,
// want below 5". Events do not report it.

#include <cstdint>

#include "caffe2_core/base/host_device.h"

namespace caffe2rt {

class CUDAContext;
struct CudaStream;

// One per stream, in pinned memory that kernels write. If several threads of a kernel raise at the
// same time, one of their errors is reported, or a mixture of them.
struct KernelReport {
  const char* message = nullptr;  // a string literal of the host; the device does not read it
  int64_t numbers[3] = {};        // the value of each % in the message
  int32_t raised = 0;

  // REQUIRES: `text` is a string literal that the host passed to the kernel, with a % for each
  // number.
  CAFFE2RT_HOST_DEVICE void Raise(const char* text, int64_t first, int64_t second = 0,
                                  int64_t third = 0) {
    message = text;
    numbers[0] = first;
    numbers[1] = second;
    numbers[2] = third;
    raised = 1;
  }
};

// Returns the report of the context's stream. The first call creates it; it is never freed.
KernelReport* ReportOf(const CUDAContext& context);

namespace internal {
// THROWS the error that kernels of the stream have raised, if any, and clears it.
// REQUIRES: the work of these kernels has finished.
void CheckReport(CudaStream& stream);
}  // namespace internal

}  // namespace caffe2rt
