#pragma once
// How a kernel, which cannot throw, reports invalid data.
//
//   Kernel kernel{..., ReportOf(context), "row %, want below %"};   // on the host, to a ReportText
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

// The address of a string literal of the host, with a % for each number. Code that may run on a
// device cannot make one: the literals of kernels lie in the device's memory, where the host that
// prints the message cannot read them.
class ReportText {
 public:
  ReportText() = default;
  ReportText(const char* text) : text_(text) {}  // NOLINT(google-explicit-constructor)
  CAFFE2RT_HOST_DEVICE const char* get() const { return text_; }

 private:
  const char* text_ = nullptr;
};

// One per stream, in pinned memory that kernels write. If several threads of a kernel raise at the
// same time, one of their errors is reported, or a mixture of them.
struct KernelReport {
  const char* message = nullptr;  // of a ReportText
  int64_t numbers[3] = {};        // the value of each % in the message
  int32_t raised = 0;

  CAFFE2RT_HOST_DEVICE void Raise(ReportText text, int64_t first, int64_t second = 0,
                                  int64_t third = 0) {
    message = text.get();
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
