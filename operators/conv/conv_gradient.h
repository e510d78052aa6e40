#pragma once
// ConvGradient, Conv1DGradient, Conv2DGradient, Conv3DGradient, ConvTransposeGradient: the gradients
// of the inputs of the operators without "Gradient" in their names.
//   X, filter, dY  ->  dfilter, dbias, dX
// dX is optional. With argument no_bias the forward operator has no bias, and there is no dbias:
//   X, filter, dY  ->  dfilter, dX
// Supports float only, and everything that the forward operators support.

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/runtime/operator.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/conv_geometry.h"
#include "operators/common/window_arguments.h"
#include "operators/conv/conv_checks.h"
#include "operators/conv/conv_gradient_plan.h"
#include "operators/conv/conv_plan.h"
#include "operators/math/unary.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<int> kConvGradientNoBias{
    "no_bias", 0, "1: the forward operator has no bias, and there is no output dbias"};

// The positions of the outputs after dfilter; -1: there is no such output.
struct ConvGradientPositions {
  int bias = -1;
  int x = -1;
};
#pragma GCC visibility push(default)  // for libcaffe2_cuda
// THROWS if the operator has too few inputs, or a number of outputs that does not match no_bias.
ConvGradientPositions FindConvGradientOutputs(bool no_bias, int inputs, int outputs);
#pragma GCC visibility pop

// Registers the gradient maker of `forward`, whose gradient operator has the inputs and outputs above.
void RegisterConvGradientMaker(std::string_view forward, const char* file);

// What an operator passes to its runner. X, dY and the filter are not empty.
struct ConvGradientTensors {
  const float* x = nullptr;
  const Tensor* filter = nullptr;
  const float* dy = nullptr;
  float* dfilter = nullptr;
  float* dbias = nullptr;  // may be null
  float* dx = nullptr;     // may be null
};

// Runner policy: the gradients on the CPU. Other devices provide a class with the same members. A
// transposed convolution is a convolution from Y to X, so X and dY change places.
template <bool kTransposed>
class ConvGradientOnCpu {
 public:
  using Shape = std::conditional_t<kTransposed, ConvTransposeShape, ConvShape>;

  explicit ConvGradientOnCpu(const OperatorBase& op)
      : limits_{.deterministic = op.ReadArgument(kDeterministic) != 0} {}

  // Plans for `shape`, whose member `bias` states whether there is an output dbias; later calls of
  // Run use this plan.
  void Plan(const Shape& shape, bool x) {
    plan_ = nullptr;  // free its memory before the new plan is built
    forward_ = nullptr;
    if constexpr (kTransposed) {
      const auto bias = shape.bias ? ConvBiasGradient::kFromSource : ConvBiasGradient::kNone;
      const ConvShape conv = Transposed(shape);
      plan_ = std::make_unique<ConvGradientPlan>(conv, ConvGradientOutputs{false, bias});
      if (x) forward_ = std::make_unique<ConvPlan>(conv, limits_);
    } else {
      const auto bias = shape.bias ? ConvBiasGradient::kFromResult : ConvBiasGradient::kNone;
      plan_ = std::make_unique<ConvGradientPlan>(shape, ConvGradientOutputs{x, bias});
    }
  }

  void Run(CPUContext&, const ConvGradientTensors& tensors) {
    ConvGradientTask task{.x = tensors.x,
                          .filter = tensors.filter->template data<float>(),
                          .dy = tensors.dy,
                          .dfilter = tensors.dfilter,
                          .dbias = tensors.dbias,
                          .dx = tensors.dx};
    if constexpr (kTransposed) {
      std::swap(task.x, task.dy);
      task.dx = nullptr;
      if (forward_ != nullptr) forward_->Run(tensors.dy, *tensors.filter, nullptr, tensors.dx);
    }
    plan_->Run(task);
  }

 private:
  const ConvLimits limits_;
  std::unique_ptr<ConvGradientPlan> plan_;
  std::unique_ptr<ConvPlan> forward_;
};

template <class Context, class Runner, bool kTransposed>
class ConvGradientOp final : public Operator<Context> {
 public:
  USE_OPERATOR_FUNCTIONS(Context);

  ConvGradientOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        window_(ParseWindowArguments(this->args(),
                                     kTransposed ? WindowUse::kConvTranspose : WindowUse::kConv)),
        outputs_(FindConvGradientOutputs(this->ReadArgument(kConvGradientNoBias) != 0,
                                         def.input_size(), def.output_size())),
        runner_(*this) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const Tensor& filter = Input(1);
    const Tensor& dY = Input(2);
    ConvGradientTensors tensors{.x = X.template data<float>(), .filter = &filter};
    tensors.dy = dY.template data<float>();
    (void)filter.template data<float>();
    if (x_dims_.empty() || X.dims() != x_dims_ || filter.dims() != filter_dims_) {
      Plan(X, filter);
    }
    CAFFE_ENFORCE(dY.dims() == y_dims_, "input 2 (dY) has shape ", dY.sizes(), ", want ", y_dims_,
                  ": the shape of the output of the forward operator");
    const bool empty = X.numel() == 0 || dY.numel() == 0;
    tensors.dfilter = Gradient(0, filter_dims_, empty);
    tensors.dbias = Gradient(outputs_.bias, bias_dims_, empty);
    tensors.dx = Gradient(outputs_.x, x_dims_, empty);
    if (!empty) runner_.Run(context_, tensors);
    return true;
  }

 private:
  // Returns null if there is no such output.
  float* Gradient(int position, const std::vector<int64_t>& dims, bool zero) {
    if (position < 0) return nullptr;
    float* const data = this->template OutputData<float>(position, dims);
    if (zero) {
      math::Set<float, Context>(static_cast<size_t>(Output(position)->numel()), 0.f, data,
                                &context_);
    }
    return data;
  }

  void Plan(const Tensor& X, const Tensor& filter) {
    x_dims_.clear();  // if a check below throws, the next run plans again
    const bool bias = outputs_.bias >= 0;
    const auto shape = [&] {
      if constexpr (kTransposed) {
        return MakeConvTransposeShape(window_, X.sizes(), filter.sizes(), bias);
      } else {
        return MakeConvShape(window_, X.sizes(), filter.sizes(), bias);
      }
    }();
    y_dims_ = shape.window.OutputDims(shape.out_channels);
    bias_dims_.assign(1, shape.out_channels);
    if (X.numel() > 0 && CheckedProduct(y_dims_) > 0) runner_.Plan(shape, outputs_.x >= 0);
    filter_dims_ = filter.dims();
    x_dims_ = X.dims();
  }

  const WindowArguments window_;
  const ConvGradientPositions outputs_;
  Runner runner_;
  std::vector<int64_t> x_dims_, filter_dims_, y_dims_, bias_dims_;  // the shapes that were planned
};

}  // namespace caffe2rt
