// Convolutions on IDEEP that multiply bytes. X is quantized with the scale that the operator states, the
// filter with one for each output channel.

#include "operators/conv/onednn_int8.h"

#include "caffe2_core/graph/passes/conv_layouts.h"
#include "contexts/onednn/onednn_library.h"
#include "contexts/onednn/onednn_version.h"
#include "operators/conv/byte_source.h"
#include "operators/conv/onednn_conv_plan.h"

namespace caffe2rt {

namespace {

class OnednnInt8Conv final : public IdeepConv {
 public:
  OnednnInt8Conv(const ConvProblem& problem, const ConvEpilogue& epilogue, const Tensor& X,
                 dnnl::memory::data_type result)
      : source_(X, problem.ideep->x_quantization),
        plan_(problem.shape, epilogue, source_.desc(),
              {.source = OnednnFormat::kNhwc,
               .result = OnednnFormat::kNhwc,
               .source_element = dnnl::memory::data_type::u8,
               .result_element = result,
               .source_quantization = problem.ideep->x_quantization,
               .result_quantization = problem.ideep->y_quantization,
               .pair_limited = problem.limits.deterministic || !AddsBytesExactly()},
              problem.limits.deterministic) {}

  bool supported() const { return plan_.supported(); }
  dnnl::memory::desc result() const override { return plan_.result(); }
  const std::shared_ptr<const OnednnLayout>& layout() const override { return plan_.layout(); }
  void PrepareFilter(const Tensor& filter) override { plan_.PrepareFilter(filter); }
  void Run(const Tensor& X, const Tensor& filter, const float* bias, void* y) override {
    plan_.RunOn(source_.Read(X), filter, bias, y);
  }

 private:
  ByteSource source_;
  OnednnConvPlan plan_;
};

dnnl::memory::data_type ResultElement(const ConvOnIdeep& ideep) {
  using enum dnnl::memory::data_type;
  // A tensor that is added has no scale.
  if (ideep.int8_result && !ideep.sum) return u8;
  return ideep.bf16 && ideep.bf16_result ? bf16 : f32;
}

bool HasIsa(unsigned isa) {
  return (static_cast<unsigned>(dnnl_get_effective_cpu_isa()) & isa) == isa;
}

}  // namespace

bool AddsBytesExactly() {
  return CpuIsa() == Isa::kAvx512 && HasIsa(dnnl_cpu_isa_avx512_core_vnni);
}

std::string WhyNoInt8Convs() {
  if (!kOnednnHoldsScales) return "it is not implemented for oneDNN " + OnednnVersion();
  return CpuIsa() == Isa::kPlain ? "the instruction set in use is neither AVX2 nor AVX-512" : "";
}

// Ratios of the times of whole nets by oneDNN: with VNNI, ResNet-50 takes 19.6 ms instead of 73 in float;
// with AVX2 38.5 instead of 67.
double Int8ConvSpeed() {
  if (!WhyNoInt8Convs().empty()) return 0;
  return AddsBytesExactly() ? 3.6 : 1.75;
}

bool Int8Fits(const ConvShape& shape, const OnednnQuantization& x) {
  if (x.zero_point == 0) return true;
  // Padding is bytes of 0, which would not stand for 0.
  for (int i = 0; i < shape.window.axes; ++i) {
    const WindowAxis& axis = shape.window.axis[static_cast<size_t>(i)];
    const int64_t tail = (axis.out - 1) * axis.stride + axis.extent() - axis.in - axis.pad_head;
    if (axis.pad_head > 0 || tail > 0) return false;
  }
  return true;
}

std::unique_ptr<IdeepConv> NewOnednnInt8(const ConvProblem& problem, const ConvEpilogue& epilogue,
                                         const Tensor& X) {
  if (!ByteSource::Fits(X, problem.ideep->x_quantization)) return nullptr;
  auto conv = std::make_unique<OnednnInt8Conv>(problem, epilogue, X, ResultElement(*problem.ideep));
  if (!conv->supported()) return nullptr;
  return conv;
}

}  // namespace caffe2rt
