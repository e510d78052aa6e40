#pragma once
// A convolution on IDEEP (contexts/onednn), planned for one shape and layout of X.
//
//   ConvChoice choice = ChooseConv(problem, *GetConvTuning());
//   const std::unique_ptr<IdeepConv> conv = NewIdeepConv(problem, X, &choice);
//   conv->Run(X, filter, bias, PrepareOutput(Y, dims, conv->layout()));
//
// Used by one thread at a time. In the steady state Run acquires no lock and allocates nothing, except
// inside oneDNN.

#include <dnnl.hpp>
#include <memory>

#include "contexts/onednn/onednn_tensor.h"
#include "operators/conv/conv_choice.h"

namespace caffe2rt {

class IdeepConv {
 public:
  IdeepConv() = default;
  virtual ~IdeepConv() = default;
  IdeepConv(const IdeepConv&) = delete;
  IdeepConv& operator=(const IdeepConv&) = delete;

  // The descriptor of Y, and its layout (null: row-major).
  virtual dnnl::memory::desc result() const = 0;
  virtual const std::shared_ptr<const OnednnLayout>& layout() const = 0;
  // If the convolution adds a tensor, y contains it, in the layout of the result. `bias` is read if
  // the shape has one. REQUIRES: X has the shape and layout of the plan. THROWS if X or the filter
  // has no float data. y is memory for the elements of the result.
  virtual void Run(const Tensor& X, const Tensor& filter, const float* bias, void* y) = 0;
  // Prepares the filter, so that the next run does not. THROWS as Run does.
  virtual void PrepareFilter(const Tensor& filter) = 0;
};

// Plans the first candidate of `choice` that supports the convolution of X on this machine, and sets
// choice->position to it. If none does, the candidates for row-major tensors are added, one of which
// computes on copies. REQUIRES: problem.ideep is set; `choice` is that of ChooseConv.
std::unique_ptr<IdeepConv> NewIdeepConv(const ConvProblem& problem, const Tensor& X,
                                        ConvChoice* choice);

// Whether the built-in kernels support a convolution.
bool DepthwiseFits(const ConvShape& shape, const ConvOnIdeep& ideep);
bool WinogradFits(const ConvShape& shape, const ConvOnIdeep& ideep);

}  // namespace caffe2rt
