#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_allocator.h"
#include "contexts/cuda/cuda_context.h"

namespace caffe2rt {
namespace {

class GetGPUMemoryUsageOp final : public Operator<CUDAContext> {
 public:
  using Operator<CUDAContext>::Operator;

  bool RunOnDevice() override {
    const std::vector<long> in_use = TotalMemoryByGpu();
    const std::vector<long> peak = MaxMemoryByGpu();
    const int64_t devices = static_cast<int64_t>(in_use.size());
    CAFFE_ENFORCE_EQ(static_cast<int64_t>(peak.size()), devices, "devices with statistics");
    host_.Resize(2, devices);
    int64_t* const bytes = host_.mutable_data<int64_t>();
    std::copy(in_use.begin(), in_use.end(), bytes);
    std::copy(peak.begin(), peak.end(), bytes + devices);
    Output(0)->CopyFrom(host_, &context_);
    return true;
  }

 private:
  Tensor host_{CPU};
};

}  // namespace

void RegisterGetGpuMemoryUsageCuda() {
  RegisterOperator<GetGPUMemoryUsageOp>(CUDA, "GetGPUMemoryUsage", __FILE__);
}

}  // namespace caffe2rt
