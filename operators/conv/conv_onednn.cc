// Convolution by oneDNN, direct or Winograd, on the layout of the tensors or with reorders before
// and after.
#include <array>
#include <utility>

#include "operators/conv/conv_kernel.h"
#include "operators/conv/onednn_layouts.h"
#include "operators/primitives/onednn.h"
#include "operators/primitives/scratch.h"

namespace caffe2rt {

namespace {

using dnnl::memory;
using Tag = memory::format_tag;

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
    source_desc_ = desc.src_desc();
    result_desc_ = desc.dst_desc();
    filter_desc_ = desc.weights_desc();
    scratchpad_bytes_ = desc.scratchpad_desc().get_size();
    conv_ = Piece(dnnl::convolution_forward(desc), desc.scratchpad_desc());
    if (!CanReorder(PlainFilter(), filter_desc_) &&
        !(CanReorder(PlainFilter(), FirstFilter()) && CanReorder(FirstFilter(), filter_desc_))) {
      throw NoOnednnImplementation();
    }
    if (source_desc_ != source_plain_) source_reorder_ = Reorder(source_plain_, source_desc_);
    if (result_desc_ != result_plain_) result_reorder_ = Reorder(result_desc_, result_plain_);
    Bind();
  }

  std::string FilterForm() const override {
    if (filter_desc_ == PlainFilter()) return {};
    // The descriptor distinguishes the layouts that different shapes use for one filter, and lets
    // equal ones be shared.
    const char* bytes = reinterpret_cast<const char*>(&filter_desc_.data);
    return "conv_onednn " + std::string(bytes, sizeof(filter_desc_.data));
  }

  std::shared_ptr<const void> PrepareFilter(const float* filter) const override {
    return GuardOnednn("the reordering of a filter", [&] {
      const int64_t floats = Floats(filter_desc_.get_size());
      const bool direct = CanReorder(PlainFilter(), filter_desc_);
      std::shared_ptr<float> prepared = NewFilterMemory(floats), between;
      memory from(PlainFilter(), OnednnEngine(), const_cast<float*>(filter));
      if (!direct) {
        between = NewFilterMemory(Floats(FirstFilter().get_size()));
        const memory first(FirstFilter(), OnednnEngine(), between.get());
        dnnl::reorder(from, first).execute(OnednnStream(), from, const_cast<memory&>(first));
        from = first;
      }
      memory to(filter_desc_, OnednnEngine(), prepared.get());
      dnnl::reorder(from, to).execute(OnednnStream(), from, to);
      OnednnStream().wait();
      return std::shared_ptr<const void>(prepared);
    });
  }

  void Run(const float* x, const void* filter, const float* bias, float* y) override {
    GuardOnednn("a convolution", [&] { RunGuarded(x, filter, bias, y); });
  }

 private:
  // A primitive with its arguments. The data handles of the memory objects are set in each run.
  struct Piece {
    Piece() = default;
    Piece(dnnl::primitive made, const memory::desc& pad)
        : primitive(std::move(made)), scratchpad(pad) {}
    dnnl::primitive primitive;
    memory::desc scratchpad;
    std::vector<dnnl_exec_arg_t> args;
  };

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
    const memory::desc source(source_plain_.dims(), f32, layouts.source);
    const memory::desc result(result_plain_.dims(), f32, layouts.result);
    const memory::desc filter(FilterDims(shape_), f32, Tag::any);
    const auto [strides, dilations, heads, tails] = WindowsOf(shape_);
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    using Conv = dnnl::convolution_forward;
    constexpr auto kInference = dnnl::prop_kind::forward_inference;
    if (shape_.bias) {
      const memory::desc bias_desc({shape_.out_channels}, f32, Tag::a);
      return {Conv::desc(kInference, layouts.algorithm, source, filter, bias_desc, result, strides,
                         dilations, heads, tails),
              attributes, OnednnEngine()};
    }
    return {Conv::desc(kInference, layouts.algorithm, source, filter, result, strides, dilations,
                       heads, tails),
            attributes, OnednnEngine()};
  }

  Piece Reorder(const memory::desc& from, const memory::desc& to) {
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    const dnnl::reorder::primitive_desc desc(OnednnEngine(), from, OnednnEngine(), to, attributes);
    scratchpad_bytes_ = std::max(scratchpad_bytes_, desc.scratchpad_desc().get_size());
    return Piece(dnnl::reorder(desc), desc.scratchpad_desc());
  }

  memory NoData(const memory::desc& desc) const { return memory(desc, OnednnEngine(), nullptr); }

  void Bind() {
    x_ = NoData(source_plain_);
    y_ = NoData(result_plain_);
    source_ = NoData(source_desc_);
    result_ = NoData(result_desc_);
    filter_ = NoData(filter_desc_);
    bias_ = NoData(memory::desc({shape_.out_channels}, memory::data_type::f32, Tag::a));
    for (Piece* piece : {&conv_, &source_reorder_, &result_reorder_}) {
      if (piece->primitive) pads_.push_back(NoData(piece->scratchpad));
    }
    size_t pad = 0;
    conv_.args = {{DNNL_ARG_SRC, source_.get()},
                  {DNNL_ARG_WEIGHTS, filter_.get()},
                  {DNNL_ARG_DST, result_.get()},
                  {DNNL_ARG_SCRATCHPAD, pads_[pad++].get()}};
    if (shape_.bias) conv_.args.push_back({DNNL_ARG_BIAS, bias_.get()});
    if (source_reorder_.primitive) {
      source_reorder_.args = {{DNNL_ARG_FROM, x_.get()},
                              {DNNL_ARG_TO, source_.get()},
                              {DNNL_ARG_SCRATCHPAD, pads_[pad++].get()}};
    }
    if (result_reorder_.primitive) {
      result_reorder_.args = {{DNNL_ARG_FROM, result_.get()},
                              {DNNL_ARG_TO, y_.get()},
                              {DNNL_ARG_SCRATCHPAD, pads_[pad++].get()}};
    }
    source_floats_ = source_reorder_.primitive ? Floats(source_desc_.get_size()) : 0;
    result_floats_ = result_reorder_.primitive ? Floats(result_desc_.get_size()) : 0;
  }

  static int64_t Floats(size_t bytes) {
    return AlignedFloats(static_cast<int64_t>((bytes + 3) / 4));
  }

  static void Execute(const Piece& piece) {
    dnnl::error::wrap_c_api(
        dnnl_primitive_execute(piece.primitive.get(), OnednnStream().get(),
                               static_cast<int>(piece.args.size()), piece.args.data()),
        "execution failed");
  }

  void RunGuarded(const float* x, const void* filter, const float* bias, float* y) {
    const int64_t pad_floats = Floats(scratchpad_bytes_);
    float* scratch = scratch_.Floats(source_floats_ + result_floats_ + pad_floats);
    float* input = const_cast<float*>(x);
    x_.set_data_handle(input);
    y_.set_data_handle(y);
    source_.set_data_handle(source_floats_ > 0 ? scratch : input);
    result_.set_data_handle(result_floats_ > 0 ? scratch + source_floats_ : y);
    for (memory& pad : pads_) pad.set_data_handle(scratch + source_floats_ + result_floats_);
    filter_.set_data_handle(const_cast<void*>(filter));
    if (shape_.bias) bias_.set_data_handle(const_cast<float*>(bias));
    if (source_reorder_.primitive) Execute(source_reorder_);
    Execute(conv_);
    if (result_reorder_.primitive) Execute(result_reorder_);
    OnednnStream().wait();
  }

  const ConvAlgorithm algorithm_;
  const ConvShape shape_;
  const memory::desc source_plain_, result_plain_;
  memory::desc source_desc_, result_desc_, filter_desc_;
  Piece conv_, source_reorder_, result_reorder_;
  memory x_, y_, source_, result_, filter_, bias_;
  std::vector<memory> pads_;
  size_t scratchpad_bytes_ = 0;
  int64_t source_floats_ = 0, result_floats_ = 0;
  ThreadScratch scratch_;
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
