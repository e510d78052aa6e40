#pragma once
// MaxPool, MaxPool1D, MaxPool2D, MaxPool3D, AveragePool, AveragePool1D, AveragePool2D,
// AveragePool3D: the largest or the mean value of windows that slide over 1 to 3 axes of X [N, C,
// *] or [N, *, C]; operators/common/conv_geometry.h reads the arguments and says how many windows
// there are.
//
// What lies outside of X counts for nothing: the mean is taken over the part of a window inside X
// (over all of it with count_include_pad); the mean of nothing, which legacy_pad 3 can ask for, is
// NaN.
//
// Maxima of NaN and infinities are the original's: with one axis, or with two in NCHW, a window is
// NaN when its first element is, and other NaNs are passed over. With three axes, or channels last,
// all NaNs are passed over and nothing is below the lowest finite number. A global pool in NCHW
// passes over NaN.

#include <string>
#include <vector>

#include "caffe2_core/runtime/operator.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/conv_geometry.h"
#include "operators/pool/pool_plan.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<bool> kPoolIncludePad{"count_include_pad", false,
                                                    "1: padding counts as zeros"};

struct MaxReduction {
  static void Run(CPUContext& context, const PoolPlan& plan, const float* x,
                  std::vector<float>* scratch, float* y);
};
struct MeanReduction {
  static void Run(CPUContext& context, const PoolPlan& plan, const float* x,
                  std::vector<float>* scratch, float* y);
};

// Runner: plans and runs pools on the CPU. Other devices have a class with the same members.
template <class Reduction>
class PoolOnCpu {
 public:
  explicit PoolOnCpu(const OperatorBase&) {}
  // For the runs from now on.
  void Plan(const WindowGeometry& geometry, bool global, bool include_pad) {
    plan_ = MakePoolPlan(geometry, global, include_pad);
    scratch_.clear();
  }
  // REQUIRES: planned; Y is not empty.
  void Run(CPUContext& context, const float* x, float* y) {
    Reduction::Run(context, plan_, x, &scratch_, y);
  }

 private:
  PoolPlan plan_;
  std::vector<float> scratch_;
};

template <class Context, class Runner>
class PoolOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  PoolOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        window_(ParseWindowArguments(this->args(), WindowUse::kPool)),
        include_pad_(this->ReadArgument(kPoolIncludePad)),
        runner_(*this) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const float* x = X.template data<float>();
    if (dims_.empty() || dims_ != X.dims()) {
      dims_.clear();  // no plan until everything below succeeded
      const WindowGeometry geometry = MakeWindowGeometry(window_, X.sizes());
      out_dims_ = geometry.OutputDims(geometry.channels);
      // Memory for the output first: sizes beyond the limit end here.
      this->template OutputData<float>(0, out_dims_);
      runner_.Plan(geometry, window_.global_pooling, include_pad_);
      dims_ = X.dims();
    }
    float* y = this->template OutputData<float>(0, out_dims_);
    if (Output(0)->numel() > 0) runner_.Run(context_, x, y);
    return true;
  }

 private:
  const WindowArguments window_;
  const bool include_pad_;
  std::vector<int64_t> dims_, out_dims_;  // of the last input and its output
  Runner runner_;
};

// The schema of one of the types; `doc` says what becomes of a window.
OpSchema& RegisterPoolSchema(const std::string& type, const char* file, const std::string& doc);

}  // namespace caffe2rt
