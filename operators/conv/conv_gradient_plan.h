#pragma once
// The gradients of a convolution planned for one shape on the CPU: chooses the algorithms and
// divides the batch into pieces, which threads process in parallel.
//
//   ConvGradientPlan plan(shape, {.x = true, .bias = ConvBiasGradient::kFromResult});
//   plan.Run({.x = x, .filter = w, .dy = dy, .dfilter = dw, .dbias = db, .dx = dx});
//
// The pieces depend on the shape alone, and their results are added up in order, so the gradients
// do not depend on the number of threads. A plan is used by one thread at a time. In the steady
// state Run acquires no lock and allocates nothing, except inside oneDNN.

#include <memory>
#include <vector>

#include "caffe2_core/tensor/tensor.h"
#include "operators/conv/conv_gradient_kernel.h"
#include "operators/primitives/scratch.h"

namespace caffe2rt {

// The gradient of the bias: the sums over all dimensions but the channels of dY, or of X (a
// transposed convolution adds its bias to what the convolution calls X).
enum class ConvBiasGradient { kNone, kFromResult, kFromSource };

struct ConvGradientOutputs {
  bool x = false;
  ConvBiasGradient bias = ConvBiasGradient::kNone;
};

struct ConvGradientTask {
  const float* x = nullptr;
  const float* filter = nullptr;
  const float* dy = nullptr;
  float* dfilter = nullptr;
  float* dbias = nullptr;  // may be null, as well as dx, if the plan does not have that output
  float* dx = nullptr;
};

class ConvGradientPlan {
 public:
  // The gradient of the filter is always computed. REQUIRES: no dimension of the shape is 0.
  ConvGradientPlan(const ConvShape& shape, const ConvGradientOutputs& outputs);

  void Run(const ConvGradientTask& task);

  size_t pieces() const { return pieces_.size(); }

 private:
  // A part of the batch.
  struct Piece {
    int64_t first = 0, count = 0;  // images
    std::unique_ptr<ConvGradientKernel> filter_kernel;
    std::unique_ptr<ConvGradientKernel> x_kernel;  // null if filter_kernel computes both
  };

  Piece NewPiece(int64_t first, int64_t count) const;
  void RunPiece(const ConvGradientTask& task, Piece& piece, float* dfilter, float* dbias,
                float* scratch);
  void AddUp(int64_t count, const float* parts, float* total) const;

  const ConvShape shape_;
  const ConvGradientOutputs outputs_;
  const int64_t in_image_, out_image_, filter_size_, bias_size_;
  const bool parallel_;
  std::vector<Piece> pieces_;
  int64_t scratch_size_ = 0;  // of each thread, in floats
  ThreadScratch scratch_;
  Tensor partial_{CPU};  // dFilter and dbias of all pieces but the first
};

}  // namespace caffe2rt
