#pragma once
// A direct convolution on IDEEP, planned for one shape: chooses the layout, divides the work into
// pieces of one thread, and prepares the filter.
//
//   OnednnConvPlan plan(shape, epilogue, DescOf(X), {.format = OnednnFormat::kNhwc});
//   if (!plan.supported()) ...                       // oneDNN has only a reference implementation
//   float* y = PrepareOutput(Y, dims, plan.layout());
//   plan.Run(x, filter, bias, y);
//
// Layouts: NHWC or blocks of 16 channels. If the input has another layout than the primitive reads,
// each piece converts its part.
//
// A plan is used by one thread at a time. In the steady state Run acquires no lock and allocates
// nothing, except inside oneDNN.

#include <cstdint>
#include <dnnl.hpp>
#include <memory>
#include <vector>

#include "contexts/onednn/onednn_tensor.h"
#include "operators/conv/conv_epilogue.h"
#include "operators/conv/conv_shape.h"
#include "operators/conv/onednn_filters.h"
#include "operators/primitives/onednn_pieces.h"

namespace caffe2rt {

struct OnednnConvChoice {
  OnednnFormat source = OnednnFormat::kNhwc;  // in which the primitive reads X
  OnednnFormat result = OnednnFormat::kNhwc;  // of Y
  bool operator==(const OnednnConvChoice&) const = default;
};

struct OnednnConvOptions {
  // The layout that Y should have: kNhwc or kBlocked16. Y gets another one if the shape does not
  // suit it, for example channels that are not a multiple of 16.
  OnednnFormat format = OnednnFormat::kNhwc;
  // If not empty, these are tried instead of those of ChooseOnednnConv. For tests and timings.
  std::vector<OnednnConvChoice> choices = {};
};

// The choices to try, best first: a pure function of its arguments. May be empty.
std::vector<OnednnConvChoice> ChooseOnednnConv(const ConvShape& shape,
                                               const OnednnConvOptions& options);

// Whether the built-in Winograd kernel (onednn_built_in.h) is estimated to be faster than a direct
// convolution, and its prepared filter, which stores a 3x3 filter four times, has at most
// `filter_budget_bytes`. A pure function of its arguments.
bool WinogradPays(const ConvShape& shape, OnednnFormat format, int64_t filter_budget_bytes);

class OnednnConvPlan {
 public:
  // `source` describes X. REQUIRES: the shape is NCHW with two axes.
  OnednnConvPlan(const ConvShape& shape, const ConvEpilogue& epilogue,
                 const dnnl::memory::desc& source, const OnednnConvOptions& options);
  OnednnConvPlan(const OnednnConvPlan&) = delete;
  OnednnConvPlan& operator=(const OnednnConvPlan&) = delete;

  // Whether oneDNN has an optimized implementation. If not, Run must not be called.
  bool supported() const { return supported_; }
  const OnednnConvChoice& choice() const { return choice_; }
  // The descriptor of Y, and its layout (null: row-major).
  const dnnl::memory::desc& result() const { return result_; }
  const std::shared_ptr<const OnednnLayout>& layout() const { return layout_; }
  size_t pieces() const { return pieces_.size(); }
  size_t prepared_bytes() const { return filters_.prepared_bytes(); }

  // If epilogue.sum is set, y contains the tensor to add, in the layout of the result. `bias` is
  // read if the shape has one.
  void Run(const float* x, const Tensor& filter, const float* bias, float* y);

 private:
  struct Region;

  bool TryChoice(const OnednnConvChoice& choice);
  std::vector<Region> Cut() const;
  std::vector<Region> CutImage(IndexRange images, int64_t threads) const;
  std::vector<Region> CutPixels(int64_t threads) const;
  Region WholeOf(IndexRange images) const;
  Region RowsOfImage(const Region& whole, IndexRange rows) const;
  Region ChannelsOfImage(const Region& whole, IndexRange channels) const;
  void AddPiece(const Region& region);
  dnnl::convolution_forward::primitive_desc Describe(const Region& region) const;
  size_t AddFilter(const Region& region, const dnnl::memory::desc& wanted);
  size_t SourceOperand(const Region& region, OnednnProgram* piece) const;

  const ConvShape shape_;
  const ConvEpilogue epilogue_;
  const dnnl::memory::desc source_;
  bool supported_ = false;
  OnednnConvChoice choice_;
  dnnl::memory::desc result_;
  std::shared_ptr<const OnednnLayout> layout_;
  OnednnFilters filters_;
  OnednnPieces pieces_;
  std::vector<const float*> tensors_;  // X, Y, bias, and the prepared filters
};

}  // namespace caffe2rt
