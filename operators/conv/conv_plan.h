#pragma once
// A convolution planned for one shape of row-major tensors: takes the first algorithm of the choice that
// supports the shape, divides the work among the process's threads and prepares the filter.
//
//   ConvPlan plan(shape, {.deterministic = true});  // when the shape changes
//   plan.Run(X.data<float>(), W, bias, y);        // prepares the filter if W's data changed
//
// A plan is used by one thread at a time. The prepared filter is attached to W's storage and shared
// by all plans that use the same layout. If W's data changes in the same storage, as in training, the
// plan prepares it in memory of its own from then on. In the steady state Run acquires no lock and
// allocates nothing, except inside oneDNN, even if W changes before every run.

#include <memory>
#include <optional>
#include <vector>

#include "caffe2_core/tensor/prepared_weight.h"
#include "caffe2_core/tensor/tensor.h"
#include "operators/conv/conv_choice.h"
#include "operators/conv/conv_kernel.h"
#include "operators/primitives/scratch.h"

namespace caffe2rt {

class ConvPlan {
 public:
  // If the output is empty, Run does nothing. REQUIRES: kernel sizes and input channels are above 0.
  ConvPlan(const ConvShape& shape, const ConvLimits& limits);

  void Run(const float* x, const Tensor& filter, const float* bias, float* y);
  // Prepares the filter, so that the next run does not. THROWS if it has no memory.
  void Prepare(const Tensor& filter);

  // The scratch memory of each thread during Run, and the memory of the prepared filters, in bytes.
  int64_t ScratchBytes() const;
  int64_t PreparedBytes() const;

  // The candidates, and the one of the last piece. Pieces differ only where an algorithm does not
  // support one of them.
  const ConvChoice& choice() const { return choice_; }
  ConvAlgorithm algorithm() const { return choice_.taken().algorithm; }
  size_t pieces() const { return pieces_.size(); }

 private:
  // A part of the batch, or of the output channels, with the offsets of its data.
  struct Piece {
    std::unique_ptr<ConvKernel> kernel;
    int64_t x_offset = 0, filter_offset = 0, bias_offset = 0, y_offset = 0;
    int first_scratch = 0;            // the position of its scratch memory
    std::optional<size_t> form = {};  // of prepared_; not set if the filter is used as it is
  };

  void Cut(const ConvShape& shape, bool deterministic);
  std::unique_ptr<ConvKernel> NewKernel(const ConvShape& shape);
  void AddForm(Piece* piece);
  void PrepareFilter(size_t form, const float* filter, float* prepared);

  ConvChoice choice_;
  std::vector<Piece> pieces_;
  int scratch_parts_ = 0;
  int64_t scratch_size_ = 0;  // of each part, in floats
  ThreadScratch scratch_;
  PreparedWeight prepared_;
};

}  // namespace caffe2rt
