#include "operators/primitives/scratch.h"

#include <algorithm>
#include <utility>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/base/release_pages.h"

namespace caffe2rt {
namespace {

// The memory of a thread. Nobody uses it after the thread's end, though objects that the thread has
// used may live on, as operators of idle nets do. The C library keeps what a thread has freed for
// threads to come, so the pages are returned first.
struct OfThread {
  ~OfThread() {
    const std::shared_ptr<Tensor> memory = shared.lock();
    if (memory == nullptr || memory->storage() == nullptr) return;
    ReleasePages(memory->raw_mutable_data(), memory->nbytes());
    memory->FreeMemory();
  }
  std::weak_ptr<Tensor> shared;
};

}  // namespace

float* ThreadScratch::Floats(int64_t count) {
  if (count == 0) return nullptr;
  thread_local OfThread own;
  if (thread_ != &own.shared) MoveTo(&own.shared);
  if (memory_->numel() < count) {
    memory_->FreeMemory();
    memory_->Resize(count);
  }
  return memory_->mutable_data<float>();
}

void ThreadScratch::MoveTo(std::weak_ptr<Tensor>* thread) {
  constexpr size_t kMostKept = 64;  // more threads are rare, or have ended
  std::shared_ptr<Tensor> of_thread = thread->lock();
  if (of_thread == nullptr) {
    of_thread = std::make_shared<Tensor>(CPU);
    *thread = of_thread;
  }
  if (memory_ != nullptr && std::find(kept_.begin(), kept_.end(), memory_) == kept_.end()) {
    if (kept_.size() == kMostKept) kept_.erase(kept_.begin());
    kept_.push_back(std::move(memory_));
  }
  memory_ = std::move(of_thread);
  thread_ = thread;
}

PieceScratch ThreadScratch::ForPieces(int pieces, int64_t count) {
  const int64_t stride = AlignedFloats(count);
  return {Floats(CheckedMultiply<int64_t>(pieces, stride)), stride};
}

}  // namespace caffe2rt
