#include "operators/conv/ideep_conv.h"

#include <algorithm>
#include <utility>

#include "caffe2_core/graph/passes/conv_layouts.h"
#include "operators/common/onednn_planes.h"
#include "operators/conv/conv_epilogue.h"
#include "operators/conv/conv_plan.h"
#include "operators/conv/onednn_built_in.h"
#include "operators/conv/onednn_conv_plan.h"
#include "operators/conv/onednn_int8.h"
#include "operators/primitives/onednn_reorder.h"

namespace caffe2rt {

namespace {

// A convolution for which oneDNN has only a reference implementation: the algorithms of the CPU, on
// row-major copies.
class PlainConv final : public IdeepConv {
 public:
  PlainConv(const ConvProblem& problem, const ConvEpilogue& epilogue, const Tensor& X)
      : epilogue_(epilogue),
        plan_(problem.shape, problem.limits),
        result_(DescIn(OnednnFormat::kNchw,
                       problem.shape.window.OutputDims(problem.shape.out_channels))),
        count_(problem.shape.window.batch * problem.shape.out_channels *
               problem.shape.window.out_size()) {
    const dnnl::memory::desc source = DescOf(X);
    to_plain_.Plan(source, DescIn(OnednnFormat::kNchw, X.dims()));
    x_.Resize(X.dims());
    if (epilogue.sum) s_.Resize(count_);
  }

  dnnl::memory::desc result() const override { return result_; }
  const std::shared_ptr<const OnednnLayout>& layout() const override { return row_major_; }
  const ConvPlan& plan() const { return plan_; }
  void PrepareFilter(const Tensor& filter) override { plan_.Prepare(filter); }

  void Run(const Tensor& X, const Tensor& filter, const float* bias, void* result) override {
    if (count_ == 0) return;
    auto* const y = static_cast<float*>(result);
    to_plain_.Run(SourceOfReorder(X), x_.mutable_data<float>());
    if (epilogue_.sum) std::copy(y, y + count_, s_.mutable_data<float>());
    plan_.Run(x_.data<float>(), filter, bias, y);
    RunConvEpilogue(epilogue_, count_, epilogue_.sum ? s_.data<float>() : nullptr, y);
  }

 private:
  const ConvEpilogue epilogue_;
  ConvPlan plan_;
  const dnnl::memory::desc result_;
  const int64_t count_;  // the elements of Y
  const std::shared_ptr<const OnednnLayout> row_major_;
  OnednnReorder to_plain_;
  Tensor x_{CPU}, s_{CPU};
};

// A convolution of X in bytes with a scale that no convolution of bytes supports: widens them.
class WidenedConv final : public IdeepConv {
 public:
  explicit WidenedConv(const Tensor& X) {
    x_.Resize(X.dims());
    (void)x_.mutable_data<float>();
  }
  // Of the shape of X, in row-major order. Its values are those of X in Run.
  const Tensor& x() const { return x_; }
  void Take(std::unique_ptr<IdeepConv> conv) { conv_ = std::move(conv); }

  dnnl::memory::desc result() const override { return conv_->result(); }
  const std::shared_ptr<const OnednnLayout>& layout() const override { return conv_->layout(); }
  void PrepareFilter(const Tensor& filter) override { conv_->PrepareFilter(filter); }
  void Run(const Tensor& X, const Tensor& filter, const float* bias, void* y) override {
    X.opaque_layout()->ToPlain(OnednnMemory(X), x_.mutable_data<float>());
    conv_->Run(x_, filter, bias, y);
  }

 private:
  Tensor x_{IDEEP};
  std::unique_ptr<IdeepConv> conv_;
};

dnnl::memory::data_type ElementOf(bool bf16) {
  return bf16 ? dnnl::memory::data_type::bf16 : dnnl::memory::data_type::f32;
}

std::unique_ptr<IdeepConv> NewDirect(const ConvCandidate& candidate, const ConvProblem& problem,
                                     const ConvEpilogue& epilogue, const Tensor& X) {
  auto plan = std::make_unique<OnednnConvPlan>(
      problem.shape, epilogue, DescOf(X),
      OnednnConvLayouts{.source = candidate.x,
                        .result = candidate.y,
                        .source_element = ElementOf(candidate.bf16),
                        .result_element = ElementOf(candidate.bf16 && problem.ideep->bf16_result)},
      problem.limits.deterministic);
  if (!plan->supported()) return nullptr;
  return plan;
}

// Returns null if the candidate does not support the convolution.
std::unique_ptr<IdeepConv> TryCandidate(const ConvCandidate& candidate, const ConvProblem& problem,
                                        const ConvEpilogue& epilogue, const Tensor& X) {
  const ConvShape& shape = problem.shape;
  if (candidate.int8) return NewOnednnInt8(problem, epilogue, X);
  switch (candidate.algorithm) {
    case ConvAlgorithm::kDepthwise:
      return NewOnednnDepthwise(shape, epilogue, X, candidate.y);
    case ConvAlgorithm::kPointwise:
      return NewOnednnPointwise(shape, epilogue, X);
    case ConvAlgorithm::kWinograd:
      return NewOnednnWinograd(shape, epilogue, X, candidate.y);
    default:
      return NewDirect(candidate, problem, epilogue, X);
  }
}

}  // namespace

// Without the instructions, oneDNN computes bf16 by those of float, which is slower than float.
std::string WhyNoBf16Convs() {
  if (CpuIsa() != Isa::kAvx512) return "the instruction set in use is not AVX-512";
  constexpr unsigned kBf16 = dnnl_cpu_isa_avx512_core_bf16;
  const unsigned isa = static_cast<unsigned>(dnnl_get_effective_cpu_isa());
  return (isa & kBf16) == kBf16 ? "" : "the processor, or the limit of oneDNN, has no AVX512_BF16";
}

namespace {

// As NewIdeepConv, but null if no candidate supports it.
std::unique_ptr<IdeepConv> NewOfCandidates(const ConvProblem& problem, const ConvEpilogue& epilogue,
                                           const Tensor& X, ConvChoice* choice) {
  for (size_t i = 0; i < choice->candidates.size(); ++i) {
    auto conv = TryCandidate(choice->candidates[i], problem, epilogue, X);
    if (conv == nullptr) continue;
    choice->position = i;
    return conv;
  }
  return nullptr;
}

std::unique_ptr<IdeepConv> NewPlain(const ConvProblem& problem, const ConvEpilogue& epilogue,
                                    const Tensor& X, ConvChoice* choice) {
  auto plain = std::make_unique<PlainConv>(problem, epilogue, X);
  const ConvChoice& rest = plain->plan().choice();
  choice->position = choice->candidates.size() + rest.position;
  choice->candidates.insert(choice->candidates.end(), rest.candidates.begin(),
                            rest.candidates.end());
  choice->excluded.insert(choice->excluded.end(), rest.excluded.begin(), rest.excluded.end());
  return plain;
}

}  // namespace

std::unique_ptr<IdeepConv> NewIdeepConv(const ConvProblem& problem, const Tensor& X,
                                        ConvChoice* choice) {
  const ConvEpilogue epilogue{.activation = problem.ideep->activation, .sum = problem.ideep->sum};
  const auto on = [&](const Tensor& source) {
    auto conv = NewOfCandidates(problem, epilogue, source, choice);
    return conv != nullptr ? std::move(conv) : NewPlain(problem, epilogue, source, choice);
  };
  const bool bytes = !choice->candidates.empty() && choice->candidates[0].int8;
  if (!IsQuantized(X)) return on(X);
  if (bytes) {
    if (auto conv = NewOnednnInt8(problem, epilogue, X)) {
      choice->position = 0;
      return conv;
    }
  }
  auto widened = std::make_unique<WidenedConv>(X);
  widened->Take(on(widened->x()));
  return widened;
}

}  // namespace caffe2rt
