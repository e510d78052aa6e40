#include "contexts/cuda/cuda_report.h"

#include <new>
#include <utility>

#include "contexts/cuda/pinned_allocator.h"

namespace caffe2rt {

KernelReport* ReportOf(const CUDAContext& context) {
  CudaStream& stream = context.stream();
  if (stream.report == nullptr) {
    void* const memory = PinnedPool().Allocate(sizeof(KernelReport), CudaUpstream::kHostIndex).data;
    stream.report = new (memory) KernelReport;
  }
  return stream.report;
}

namespace internal {

void CheckReport(CudaStream& stream) {
  if (stream.report == nullptr || stream.report->raised == 0) return;
  const KernelReport found = std::exchange(*stream.report, KernelReport());
  CAFFE_THROW(found.subject, ", id=", found.got, " axis_dim=", found.size,
              ", found by work on device ", stream.device);
}

}  // namespace internal

}  // namespace caffe2rt
