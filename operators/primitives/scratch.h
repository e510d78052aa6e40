#pragma once
// ThreadScratch: scratch memory that all operators of one thread share.
//
//   ThreadScratch scratch_;                                  // a member
//   float* columns = scratch_.Floats(rows * columns_size);   // in RunOnDevice
//   const PieceScratch parts = scratch_.ForPieces(pieces, columns_size);
//   ParallelFor(pieces, [&](int piece) { Compute(piece, parts[piece]); });
//
// The memory is valid until the thread's next request.
//
// All ThreadScratch objects used on one thread share one CPU tensor. It grows to the largest
// request and is freed with the last of them or at the thread's end. An object may move from thread to
// thread, as an executor with several threads moves operators, but only one thread may use it at a time. It
// keeps the memory of the threads that it has been on while they live. The pieces of a parallel loop get parts of one request: a
// request of their own would allocate whenever a piece runs on another thread than before. Steady
// state: no allocation. The memory counts toward the CPU
// memory limit. THROWS if there is not enough memory.

#include <cstdint>
#include <memory>
#include <vector>

#include "caffe2_core/tensor/tensor.h"

namespace caffe2rt {

// Memory of the same size for each piece of a parallel loop.
class PieceScratch {
 public:
  PieceScratch(float* begin, int64_t stride) : begin_(begin), stride_(stride) {}
  float* operator[](int piece) const { return begin_ + piece * stride_; }
  // The parts of `piece` and those after it.
  PieceScratch From(int piece) const { return {begin_ + piece * stride_, stride_}; }

 private:
  float* begin_;
  int64_t stride_;
};

class ThreadScratch {
 public:
  // Returns memory for `count` floats, aligned to 64 bytes, with undefined contents; null for 0.
  float* Floats(int64_t count);
  // One request for all pieces: each part has `count` floats, aligned to 64 bytes.
  PieceScratch ForPieces(int pieces, int64_t count);

 private:
  void MoveTo(std::weak_ptr<Tensor>* thread);

  std::shared_ptr<Tensor> memory_;
  std::vector<std::shared_ptr<Tensor>> kept_;  // of other threads, shared with them
  const void* thread_ = nullptr;               // identifies the thread that owns memory_
};

// `count` rounded up, so that a second array that follows in the same request is also aligned.
inline int64_t AlignedFloats(int64_t count) { return (count + 15) / 16 * 16; }

}  // namespace caffe2rt
