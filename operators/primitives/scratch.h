#pragma once
// ThreadScratch: working memory that operators of one thread take turns with.
//
//   ThreadScratch scratch_;                                  // a member
//   float* columns = scratch_.Floats(rows * columns_size);   // in RunOnDevice; valid until the
//   thread's next request
//
// All ThreadScratch objects used on one thread share one CPU tensor, which grows to the largest
// request and goes with the last of them. An object may move from thread to thread, but is used by
// one at a time. Steady state: no allocation. The memory counts against the CPU's limit. THROWS
// when there is no more.

#include <cstdint>
#include <memory>

#include "caffe2_core/tensor/tensor.h"

namespace caffe2rt {

class ThreadScratch {
 public:
  // Memory for `count` floats, 64-byte aligned, contents undefined.
  float* Floats(int64_t count);

 private:
  std::shared_ptr<Tensor> memory_;
  const void* thread_ = nullptr;  // whose memory it is
};

// `count` rounded up so that what follows it in one request is aligned too.
inline int64_t AlignedFloats(int64_t count) { return (count + 15) / 16 * 16; }

}  // namespace caffe2rt
