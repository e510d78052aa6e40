#include "operators/primitives/scratch.h"

namespace caffe2rt {

float* ThreadScratch::Floats(int64_t count) {
  thread_local std::weak_ptr<Tensor> shared;
  if (thread_ != &shared) {
    memory_ = shared.lock();
    if (memory_ == nullptr) {
      memory_ = std::make_shared<Tensor>(CPU);
      shared = memory_;
    }
    thread_ = &shared;
  }
  if (memory_->numel() < count) {
    memory_->FreeMemory();
    memory_->Resize(count);
  }
  return memory_->mutable_data<float>();
}

}  // namespace caffe2rt
