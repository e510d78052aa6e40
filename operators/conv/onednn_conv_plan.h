#pragma once
// A direct convolution of oneDNN on IDEEP, planned for one shape and its layouts: divides the work into
// pieces of one thread, and prepares the filter.
//
//   OnednnConvPlan plan(shape, epilogue, DescOf(X), {.source = kNhwc, .result = kNhwc});
//   if (!plan.supported()) ...                       // oneDNN has only a reference implementation
//   float* y = PrepareOutput(Y, dims, plan.layout());
//   plan.Run(X, filter, bias, y);
//
// Layouts: NHWC or blocks of 16 channels. If the input has another layout than the primitive reads,
// each piece converts its part. X, the filter and Y may be bf16; the products are added in float. X may be
// of bytes (u8) with a scale: then the filter is quantized by output channels, the products are added as
// integers, and Y may be of any of the three types.
//
// A plan is used by one thread at a time. In the steady state Run acquires no lock and allocates
// nothing, except inside oneDNN.

#include <cstdint>
#include <dnnl.hpp>
#include <memory>
#include <optional>
#include <vector>

#include "contexts/onednn/onednn_tensor.h"
#include "operators/conv/conv_epilogue.h"
#include "operators/conv/conv_shape.h"
#include "operators/conv/ideep_conv.h"
#include "operators/conv/onednn_filters.h"
#include "operators/primitives/onednn_pieces.h"

namespace caffe2rt {

struct OnednnConvLayouts {
  OnednnFormat source = OnednnFormat::kNhwc;  // in which the primitive reads X
  OnednnFormat result = OnednnFormat::kNhwc;  // of Y
  // Of the source f32, bf16 or u8, of the result one of them. The filter has the type of the source, or
  // s8 if that is u8.
  dnnl::memory::data_type source_element = dnnl::memory::data_type::f32;
  dnnl::memory::data_type result_element = dnnl::memory::data_type::f32;
  // Of the elements u8. The zero point of a source with padding is 0.
  OnednnQuantization source_quantization = {}, result_quantization = {};
  // Whether the filter is quantized for machines without VNNI (int8_filter.h).
  bool pair_limited = false;
  bool operator==(const OnednnConvLayouts&) const = default;
};

class OnednnConvPlan final : public IdeepConv {
 public:
  // `source` describes X. With `deterministic`, values do not depend on the number of threads.
  // REQUIRES: the shape is NCHW with two axes.
  OnednnConvPlan(const ConvShape& shape, const ConvEpilogue& epilogue,
                 const dnnl::memory::desc& source, const OnednnConvLayouts& layouts,
                 bool deterministic = false);

  // Whether oneDNN has an optimized implementation. If not, Run must not be called.
  bool supported() const { return supported_; }
  const OnednnConvLayouts& layouts() const { return layouts_; }
  dnnl::memory::desc result() const override { return result_; }
  const std::shared_ptr<const OnednnLayout>& layout() const override { return layout_; }
  size_t pieces() const { return pieces_.size(); }
  size_t prepared_bytes() const { return filters_.prepared_bytes(); }

  void Run(const Tensor& X, const Tensor& filter, const float* bias, void* y) override;
  // The same for the memory of X.
  void RunOn(const float* x, const Tensor& filter, const float* bias, void* y);
  void PrepareFilter(const Tensor& filter) override;

 private:
  struct Region;

  bool Plan();
  bool quantized() const { return layouts_.source_element == dnnl::memory::data_type::u8; }
  void AddPieces();
  void AddFilterOf(const Region& region);
  void TakeScales();
  bool FoldsResult() const;
  Activation FoldedActivation() const;
  void ShiftBias(const float* bias);
  dnnl::primitive_attr AttributesOf(const Region& region) const;
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
  const OnednnConvLayouts layouts_;
  const bool deterministic_;
  bool supported_ = false;
  dnnl::memory::desc result_;
  std::shared_ptr<const OnednnLayout> layout_;
  OnednnFilters filters_;
  // Of the output channels of a quantized convolution: Y = (sum of products + shift) * scale.
  std::vector<float> scales_, sums_, shifts_;
  std::optional<std::vector<float>> shifted_bias_;  // from which the shifts were computed
  std::vector<int64_t> first_channels_;             // of quantized filters
  OnednnPieces pieces_;
  std::vector<const float*> tensors_;  // X, Y, bias, and the prepared filters
};

}  // namespace caffe2rt
