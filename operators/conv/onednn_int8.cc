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

bool IsPadded(const ConvShape& shape) {
  for (int i = 0; i < 2; ++i) {
    const WindowAxis& axis = shape.window.axis[static_cast<size_t>(i)];
    const int64_t tail = (axis.out - 1) * axis.stride + axis.extent() - axis.in - axis.pad_head;
    if (axis.pad_head > 0 || tail > 0) return true;
  }
  return false;
}

// oneDNN pads with bytes of 0, which do not stand for 0 if X has a zero point: X is then padded before.
std::optional<ByteFrame> FrameOf(const ConvProblem& problem) {
  if (problem.ideep->x_quantization.zero_point == 0 || !IsPadded(problem.shape)) return {};
  const auto size = [](const WindowAxis& axis) {
    return (axis.out - 1) * axis.stride + axis.extent();
  };
  const WindowAxis &rows = problem.shape.window.axis[0], &columns = problem.shape.window.axis[1];
  return ByteFrame{
      .top = rows.pad_head, .left = columns.pad_head, .height = size(rows), .width = size(columns)};
}

// The convolution of what FrameOf returns.
ConvShape ShapeInFrame(const ConvProblem& problem) {
  ConvShape shape = problem.shape;
  const std::optional<ByteFrame> frame = FrameOf(problem);
  if (!frame) return shape;
  shape.window.axis[0].in = frame->height;
  shape.window.axis[1].in = frame->width;
  for (size_t i = 0; i < 2; ++i) {
    shape.window.axis[i].pad_head = 0;
    shape.window.axis[i].pad_tail = 0;
  }
  return shape;
}

class OnednnInt8Conv final : public IdeepConv {
 public:
  OnednnInt8Conv(const ConvProblem& problem, const ConvEpilogue& epilogue, const Tensor& X,
                 dnnl::memory::data_type result)
      : source_(X, problem.ideep->x_quantization, FrameOf(problem)),
        plan_(ShapeInFrame(problem), epilogue, source_.desc(),
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

ByteResult ByteResultOf(const ConvOnIdeep& ideep) {
  // A tensor that is added has no scale.
  if (ideep.int8_result && !ideep.sum) return ByteResult::kBytes;
  return ideep.bf16 && ideep.bf16_result ? ByteResult::kBfloat16s : ByteResult::kFloats;
}

dnnl::memory::data_type ElementOf(ByteResult result) {
  using enum dnnl::memory::data_type;
  return result == ByteResult::kBytes ? u8 : result == ByteResult::kBfloat16s ? bf16 : f32;
}

bool HasIsa(unsigned isa) {
  return (static_cast<unsigned>(dnnl_get_effective_cpu_isa()) & isa) == isa;
}

}  // namespace

bool AddsBytesExactly() {
  return CpuIsa() == Isa::kAvx512 && HasIsa(dnnl_cpu_isa_avx512_core_vnni);
}

bool MultipliesWholeBytes() { return AddsBytesExactly(); }

std::string WhyNoInt8Convs() {
  if (!kOnednnHoldsScales) return "it is not implemented for oneDNN " + OnednnVersion();
  return CpuIsa() == Isa::kPlain ? "the instruction set in use is neither AVX2 nor AVX-512" : "";
}

// With VNNI, ResNet-50 takes 19.6 ms by oneDNN instead of 73 in float, and with AVX2 38.5 instead of 67.
// There, its direct convolutions of 3 x 3 taps take 0.92 to 1.0 ms instead of 2.1 to 2.2, so that Winograd in
// float pays with 64 and 128 channels (0.93 to 0.97) and not with 256 (1.3).
double Int8ConvSpeed(bool any_machine) {
  if (!WhyNoInt8Convs().empty()) return 0;
  constexpr double kLeast = 1.75;
  if (any_machine) return kLeast;
  return AddsBytesExactly() ? 3.6 : CpuIsa() == Isa::kAvx2 ? 2.2 : kLeast;
}

std::unique_ptr<IdeepConv> NewOnednnInt8(const ConvProblem& problem, const ConvEpilogue& epilogue,
                                         const Tensor& X) {
  if (!ByteSource::Fits(X, problem.ideep->x_quantization)) return nullptr;
  const ByteResult result = ByteResultOf(*problem.ideep);
  if (problem.shape.group > 1 && problem.shape.in_group() == 1) {
    return NewByteDepthwise(problem, result, X);
  }
  auto conv = std::make_unique<OnednnInt8Conv>(problem, epilogue, X, ElementOf(result));
  if (!conv->supported()) return nullptr;
  return conv;
}

}  // namespace caffe2rt
