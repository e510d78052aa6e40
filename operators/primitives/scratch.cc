#include "operators/primitives/scratch.h"

#include "caffe2_core/base/checked_math.h"

namespace caffe2rt {

float* ThreadScratch::Floats(int64_t count) {
  if (count == 0) return nullptr;
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

PieceScratch ThreadScratch::ForPieces(int pieces, int64_t count) {
  const int64_t stride = AlignedFloats(count);
  return {Floats(CheckedMultiply<int64_t>(pieces, stride)), stride};
}

}  // namespace caffe2rt
