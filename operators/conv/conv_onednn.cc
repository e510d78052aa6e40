// Convolution by oneDNN, direct or Winograd, on the layout of the tensors or with reorders before
// and after.
#include "contexts/onednn/onednn_library.h"
#include "contexts/onednn/onednn_version.h"
#include "operators/conv/conv_kernel.h"
#include "operators/conv/onednn_filters.h"
#include "operators/conv/onednn_layouts.h"
#include "operators/primitives/onednn_program.h"

namespace caffe2rt {

namespace {

using dnnl::memory;
using Tag = memory::format_tag;

// The positions of the tensors in a program.
enum ForwardTensor : size_t { kSource, kWeights, kBias, kResult };

class OnednnConv final : public ConvKernel {
 public:
  // THROWS dnnl::error, or NoOnednnImplementation if oneDNN has only a reference implementation.
  OnednnConv(ConvAlgorithm algorithm, const ConvShape& shape)
      : algorithm_(algorithm),
        shape_(shape),
        source_plain_(DataDims(shape, shape.window.channels, &WindowAxis::in),
                      memory::data_type::f32, PlainTag(shape)),
        result_plain_(DataDims(shape, shape.out_channels, &WindowAxis::out), memory::data_type::f32,
                      PlainTag(shape)) {
    const dnnl::convolution_forward::primitive_desc desc = Describe();
    if (IsReferenceImplementation(desc.impl_info_str())) throw NoOnednnImplementation();
    filter_desc_ = desc.weights_desc();
    if (filter_desc_ != PlainFilter()) {
      filter_form_ = OnednnFilterForm(PlainFilter(), filter_desc_);
      const size_t from = preparation_.Tensor(PlainFilter(), 0);
      preparation_.AddReorderOver(from, preparation_.Tensor(filter_desc_, 1), FirstFilter());
    }
    AddConvolution(desc);
  }

  std::string FilterForm() const override { return filter_form_; }

  int64_t PreparedSize() const override { return FloatsOf(filter_desc_); }
  int64_t PreparationSize() const override { return preparation_.scratch_size(); }
  int64_t ScratchSize() const override { return program_.scratch_size(); }

  void PrepareFilterIn(const float* filter, float* prepared) override {
    GuardOnednn("the reordering of a filter", [&] {
      preparation_.Run({const_cast<float*>(filter), prepared},
                       preparation_scratch_.Floats(preparation_.scratch_size()));
    });
  }

  void Run(const float* x, const void* filter, const float* bias, float* y,
           PieceScratch scratch) override {
    GuardOnednn("a convolution", [&] {
      program_.Run({const_cast<float*>(x), static_cast<float*>(const_cast<void*>(filter)),
                    const_cast<float*>(bias), y},
                   scratch[0]);
    });
  }

 private:
  memory::desc PlainFilter() const {
    return memory::desc(FilterDims(shape_), memory::data_type::f32,
                        FilterTag(shape_, shape_.channels_last()));
  }

  // The filter with channels first: oneDNN can reorder from it to every layout.
  memory::desc FirstFilter() const {
    return memory::desc(FilterDims(shape_), memory::data_type::f32, FilterTag(shape_, false));
  }

  dnnl::convolution_forward::primitive_desc Describe() const {
    const OnednnLayouts layouts = LayoutsOf(algorithm_, shape_);
    const auto f32 = memory::data_type::f32;
    const memory::desc source(DimsOf(source_plain_), f32, layouts.source);
    const memory::desc result(DimsOf(result_plain_), f32, layouts.result);
    const memory::desc filter(FilterDims(shape_), f32, Tag::any);
    const auto [strides, dilations, heads, tails] = WindowsOf(shape_);
    const dnnl::primitive_attr attributes = OnednnAttributes();
    using Conv = dnnl::convolution_forward;
    constexpr auto kInference = dnnl::prop_kind::forward_inference;
    if (shape_.bias) {
      const memory::desc bias_desc({shape_.out_channels}, f32, Tag::a);
      return NewPrimitiveDesc<Conv>(attributes, kInference, layouts.algorithm, source, filter,
                                    bias_desc, result, strides, dilations, heads, tails);
    }
    return NewPrimitiveDesc<Conv>(attributes, kInference, layouts.algorithm, source, filter, result,
                                  strides, dilations, heads, tails);
  }

  void AddConvolution(const dnnl::convolution_forward::primitive_desc& desc) {
    const size_t x = program_.Tensor(source_plain_, kSource);
    const size_t source = program_.InLayout(x, desc.src_desc());
    const size_t filter = program_.Tensor(filter_desc_, kWeights);
    const size_t y = program_.Tensor(result_plain_, kResult);
    const bool direct = desc.dst_desc() == result_plain_;
    const size_t result = direct ? y : program_.Scratch(desc.dst_desc());
    const dnnl::convolution_forward conv(desc);
    const memory::desc pad = desc.scratchpad_desc();
    if (shape_.bias) {
      const size_t bias = program_.Tensor(
          memory::desc({shape_.out_channels}, memory::data_type::f32, Tag::a), kBias);
      program_.Add(conv, pad,
                   {{DNNL_ARG_SRC, source},
                    {DNNL_ARG_WEIGHTS, filter},
                    {DNNL_ARG_BIAS, bias},
                    {DNNL_ARG_DST, result}});
    } else {
      program_.Add(conv, pad,
                   {{DNNL_ARG_SRC, source}, {DNNL_ARG_WEIGHTS, filter}, {DNNL_ARG_DST, result}});
    }
    if (!direct) program_.AddReorder(result, y);
  }

  const ConvAlgorithm algorithm_;
  const ConvShape shape_;
  const memory::desc source_plain_, result_plain_;
  memory::desc filter_desc_;
  std::string filter_form_;  // empty if the plain filter is used as it is
  OnednnProgram preparation_, program_;
  ThreadScratch preparation_scratch_;
};

}  // namespace

std::unique_ptr<ConvKernel> NewOnednnConv(ConvAlgorithm algorithm, const ConvShape& shape) {
  if (!OnednnCanDescribe(shape)) return nullptr;
  // For NHWC, kOnednnPlain is the same as kOnednnLast.
  if (algorithm == ConvAlgorithm::kOnednnLast && shape.channels_last()) return nullptr;
  const OneOpenMPThread one_thread;
  try {
    return std::make_unique<OnednnConv>(algorithm, shape);
  } catch (const dnnl::error& error) {
    if (error.status == dnnl_out_of_memory)
      CAFFE_THROW("oneDNN is out of memory for a convolution");
    return nullptr;
  } catch (const NoOnednnImplementation&) {
    return nullptr;
  }
}

}  // namespace caffe2rt
