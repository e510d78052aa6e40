#include "contexts/cuda/cuda_report.h"

#include <absl/strings/str_cat.h>

#include <iterator>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "contexts/cuda/cuda_context.h"
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
  std::string message;
  const int64_t* number = found.numbers;
  for (const char c : std::string_view(found.message)) {
    if (c == '%' && number != std::end(found.numbers)) {
      absl::StrAppend(&message, *number++);
    } else {
      message += c;
    }
  }
  CAFFE_THROW(message, ", found by a kernel on device ", stream.device);
}

}  // namespace internal

}  // namespace caffe2rt
