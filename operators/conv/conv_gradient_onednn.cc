// The gradients of a convolution by oneDNN, with reorders where its layouts differ from those of
// the tensors. Both gradients share one reordered dY if they use the same layout.
#include "contexts/onednn/onednn_library.h"
#include "contexts/onednn/onednn_version.h"
#include "operators/conv/conv_gradient_kernel.h"
#include "operators/conv/onednn_layouts.h"
#include "operators/primitives/onednn_program.h"

namespace caffe2rt {

namespace {

using dnnl::memory;

// The positions of the tensors in a program.
enum GradientTensor : size_t { kX, kFilter, kDy, kDFilter, kDx };

class OnednnConvGradient final : public ConvGradientKernel {
 public:
  // THROWS dnnl::error or NoOnednnImplementation.
  OnednnConvGradient(const ConvShape& shape, ConvGradientParts parts) : shape_(shape) {
    const size_t dy = program_.Tensor(PlainResult(), kDy);
    const dnnl::convolution_forward::primitive_desc forward = Forward();
    size_t dy_of_filter = dy;
    if (parts.filter) dy_of_filter = AddFilterGradient(forward, dy);
    if (parts.x) AddDataGradient(forward, dy, dy_of_filter);
  }

  int64_t ScratchSize() const override { return program_.scratch_size(); }

  void Run(const float* x, const float* filter, const float* dy, float* dfilter, float* dx,
           float* scratch) override {
    GuardOnednn("the gradients of a convolution", [&] {
      program_.Run(
          {const_cast<float*>(x), const_cast<float*>(filter), const_cast<float*>(dy), dfilter, dx},
          scratch);
    });
  }

 private:
  static constexpr auto kFloat = memory::data_type::f32;
  static constexpr auto kDirect = dnnl::algorithm::convolution_direct;

  memory::desc Data(int64_t channels, int64_t WindowAxis::*size, bool plain) const {
    return memory::desc(DataDims(shape_, channels, size), kFloat,
                        plain ? PlainTag(shape_) : memory::format_tag::any);
  }
  memory::desc PlainSource() const { return Data(shape_.window.channels, &WindowAxis::in, true); }
  memory::desc PlainResult() const { return Data(shape_.out_channels, &WindowAxis::out, true); }
  // In NHWC the tensors' own layout is the best one.
  memory::desc Source() const {
    return Data(shape_.window.channels, &WindowAxis::in, shape_.channels_last());
  }
  memory::desc Result() const {
    return Data(shape_.out_channels, &WindowAxis::out, shape_.channels_last());
  }
  memory::desc PlainFilter(bool channels_last) const {
    return memory::desc(FilterDims(shape_), kFloat, FilterTag(shape_, channels_last));
  }
  memory::desc Filter() const {
    return memory::desc(FilterDims(shape_), kFloat, memory::format_tag::any);
  }

  // GEMM on columns is left to the other kernels.
  static void CheckImplementation(std::string_view name) {
    if (IsReferenceImplementation(name) || IsGemmImplementation(name)) {
      throw NoOnednnImplementation();
    }
  }

  // What oneDNN's gradients are described with.
  dnnl::convolution_forward::primitive_desc Forward() const {
    const auto [strides, dilations, heads, tails] = WindowsOf(shape_);
    return NewPrimitiveDesc<dnnl::convolution_forward>(
        OnednnAttributes(), dnnl::prop_kind::forward_training, kDirect, Source(), Filter(),
        Result(), strides, dilations, heads, tails);
  }

  // Returns the operand with dY in the layout that the gradient uses.
  size_t AddFilterGradient(const dnnl::convolution_forward::primitive_desc& forward, size_t dy) {
    using Gradient = dnnl::convolution_backward_weights;
    const auto [strides, dilations, heads, tails] = WindowsOf(shape_);
    const auto desc =
        NewGradientDesc<Gradient>(OnednnAttributes(), forward, kDirect, Source(), Filter(),
                                  Result(), strides, dilations, heads, tails);
    CheckImplementation(desc.impl_info_str());
    const size_t x = program_.InLayout(program_.Tensor(PlainSource(), kX), desc.src_desc());
    const size_t result = program_.InLayout(dy, desc.diff_dst_desc());
    const memory::desc plain = PlainFilter(shape_.channels_last());
    const size_t dfilter = program_.Tensor(plain, kDFilter);
    const bool direct = desc.diff_weights_desc() == plain;
    const size_t made = direct ? dfilter : program_.Scratch(desc.diff_weights_desc());
    program_.Add(Gradient(desc), desc.scratchpad_desc(),
                 {{DNNL_ARG_SRC, x}, {DNNL_ARG_DIFF_DST, result}, {DNNL_ARG_DIFF_WEIGHTS, made}});
    if (!direct) program_.AddReorderOver(made, dfilter, PlainFilter(false));
    return result;
  }

  void AddDataGradient(const dnnl::convolution_forward::primitive_desc& forward, size_t dy,
                       size_t dy_of_filter) {
    using Gradient = dnnl::convolution_backward_data;
    const auto [strides, dilations, heads, tails] = WindowsOf(shape_);
    const auto desc =
        NewGradientDesc<Gradient>(OnednnAttributes(), forward, kDirect, Source(), Filter(),
                                  Result(), strides, dilations, heads, tails);
    CheckImplementation(desc.impl_info_str());
    const memory::desc result_desc = desc.diff_dst_desc();
    const size_t result = program_.DescOf(dy_of_filter) == result_desc
                              ? dy_of_filter
                              : program_.InLayout(dy, result_desc);
    const memory::desc plain = PlainFilter(shape_.channels_last());
    size_t filter = program_.Tensor(plain, kFilter);
    if (desc.weights_desc() != plain) {
      const size_t to = program_.Scratch(desc.weights_desc());
      program_.AddReorderOver(filter, to, PlainFilter(false));
      filter = to;
    }
    const size_t dx = program_.Tensor(PlainSource(), kDx);
    const bool direct = desc.diff_src_desc() == PlainSource();
    const size_t made = direct ? dx : program_.Scratch(desc.diff_src_desc());
    program_.Add(
        Gradient(desc), desc.scratchpad_desc(),
        {{DNNL_ARG_DIFF_DST, result}, {DNNL_ARG_WEIGHTS, filter}, {DNNL_ARG_DIFF_SRC, made}});
    if (!direct) program_.AddReorder(made, dx);
  }

  const ConvShape shape_;
  OnednnProgram program_;
};

// Whether oneDNN's implementations are correct. In version 2.6, with wider padding, or windows that
// are larger than X, some compute other values or write beyond their tensors (three axes, channels
// last, groups). For windows of one pixel with strides, one writes beyond its scratchpad. Other
// versions are not given such shapes either.
bool IsReliable(const ConvShape& shape) {
  const OnednnWindows windows = WindowsOf(shape);
  for (size_t i = 0; i < static_cast<size_t>(shape.window.axes); ++i) {
    const WindowAxis& axis = shape.window.axis[i];
    const int64_t most = axis.extent() / 2;
    if (axis.extent() > axis.in || windows.heads[i] > most || windows.tails[i] > most) return false;
  }
  return shape.window.kernel_size() > 1;
}

}  // namespace

std::unique_ptr<ConvGradientKernel> NewOnednnConvGradient(const ConvShape& shape,
                                                          ConvGradientParts parts) {
  if (!OnednnCanDescribe(shape) || !IsReliable(shape)) return nullptr;
  const OneOpenMPThread one_thread;
  try {
    return std::make_unique<OnednnConvGradient>(shape, parts);
  } catch (const dnnl::error& error) {
    if (error.status == dnnl_out_of_memory)
      CAFFE_THROW("oneDNN is out of memory for the gradients of a convolution");
    return nullptr;
  } catch (const NoOnednnImplementation&) {
    return nullptr;
  }
}

}  // namespace caffe2rt
