#pragma once
// A convolution planned for one shape on the CPU: algorithm chosen, work cut among the process's
// threads, filter prepared.
//
//   ConvPlan plan(shape, /*direct_only=*/false);      // when the shape changes
//   plan.Run(X.data<float>(), W, bias, y);            // prepares the filter when W's data changed
//
// Used by one thread at a time. The prepared filter hangs on W's storage and is shared with every
// plan that wants the same form. Steady state: no lock; no allocation but oneDNN's own.

#include <memory>
#include <vector>

#include "caffe2_core/tensor/tensor.h"
#include "operators/conv/conv_kernel.h"

namespace caffe2rt {

class ConvPlan {
 public:
  // REQUIRES: no dimension of the shape but the batch is 0.
  ConvPlan(const ConvShape& shape, bool direct_only);

  void Run(const float* x, const Tensor& filter, const float* bias, float* y);

  // Of the first piece.
  ConvAlgorithm algorithm() const { return algorithm_; }

 private:
  // A part of the batch, or of the output channels.
  struct Piece {
    std::unique_ptr<ConvKernel> kernel;
    int64_t x_offset = 0, filter_offset = 0, bias_offset = 0, y_offset = 0;
    std::shared_ptr<const void> prepared;
  };

  void Cut(const ConvShape& shape);
  std::unique_ptr<ConvKernel> NewKernel(const ConvShape& shape);
  void PrepareFilters(const Tensor& filter);
  bool IsPrepared(const Tensor& filter) const;

  std::vector<ConvAlgorithm> choices_;
  ConvAlgorithm algorithm_ = ConvAlgorithm::kIm2Col;
  std::vector<Piece> pieces_;
  bool needs_preparation_ = false;
  std::shared_ptr<Storage> storage_;  // of the filter that is prepared
  uint64_t version_ = 0;
};

}  // namespace caffe2rt
