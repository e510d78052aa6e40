#pragma once
// MaxPool, MaxPool1D, MaxPool2D, MaxPool3D, AveragePool, AveragePool1D, AveragePool2D,
// AveragePool3D: the largest value or the mean of windows that slide over 1 to 3 axes of X [N, C,
// *] or [N, *, C]. operators/common/conv_geometry.h reads the window arguments and computes the
// number of windows.
//
// A mean is over the part of a window that lies inside X; with count_include_pad it is over the
// whole window, and padding counts as zeros. A maximum never includes padding. The mean of an empty
// part, which legacy_pad 3 can produce, is NaN.
//
// Maxima of NaN and infinities are the same as Caffe2's. With one axis, or with two in NCHW, the
// result is NaN if the first element of the window is NaN; other NaNs are ignored. With three axes,
// with two in NHWC, and in a global pool in NHWC, all NaNs are ignored and the result is at least
// the lowest finite number. A global pool in NCHW ignores NaN unless all elements are NaN.

#include <string>
#include <vector>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/conv_geometry.h"
#include "operators/pool/pool_plan.h"
#include "operators/primitives/scratch.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<bool> kPoolIncludePad{"count_include_pad", false,
                                                    "1: the mean includes padding as zeros"};

// Accepted by Caffe2 and ignored; LpPool has its own.
inline constexpr ArgumentSpec<float> kPoolPower{"p", 2, "exponent of LpPool; has no effect"};

struct MaxReduction {
  static void Run(CPUContext& context, const PoolPlan& plan, const float* x,
                  std::vector<float>* scratch, float* y);
  static void RunGradient(const PoolPlan& plan, const PoolGradientData& data,
                          ThreadScratch* scratch);
};
struct MeanReduction {
  static void Run(CPUContext& context, const PoolPlan& plan, const float* x,
                  std::vector<float>* scratch, float* y);
  static void RunGradient(const PoolPlan& plan, const PoolGradientData& data,
                          ThreadScratch* scratch);
};

// Runner policy: plans and runs pools on the CPU. Other devices provide a class with the same
// members.
template <class Reduction>
class PoolOnCpu {
 public:
  explicit PoolOnCpu(const OperatorBase&) {}
  // Plans for `geometry`; later calls of Run use this plan.
  void Plan(const WindowGeometry& geometry, bool global, bool include_pad) {
    plan_ = MakePoolPlan(geometry, global, include_pad);
    scratch_.clear();
  }
  // REQUIRES: Plan was called; Y is not empty.
  void Run(CPUContext& context, const float* x, float* y) {
    Reduction::Run(context, plan_, x, &scratch_, y);
  }

 private:
  PoolPlan plan_;
  std::vector<float> scratch_;
};
// The same for gradients.
template <class Reduction>
class PoolGradientOnCpu {
 public:
  explicit PoolGradientOnCpu(const OperatorBase&) {}
  void Plan(const WindowGeometry& geometry, bool global, bool include_pad) {
    plan_ = MakePoolPlan(geometry, global, include_pad);
  }
  // REQUIRES: Plan was called; X is not empty.
  void Run(CPUContext&, const PoolGradientData& data) {
    Reduction::RunGradient(plan_, data, &scratch_);
  }

 private:
  PoolPlan plan_;
  ThreadScratch scratch_;
};

#pragma GCC visibility push(default)  // for libcaffe2_cuda
// THROWS if input `i`, which is called `name`, does not have one value for each window.
void CheckPoolGradientShape(int i, const char* name, const Tensor& input,
                            const std::vector<int64_t>& want);
#pragma GCC visibility pop

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
      dims_.clear();  // if a check below throws, the next run plans again
      const WindowGeometry geometry = MakeWindowGeometry(window_, X.sizes());
      out_dims_ = geometry.OutputDims(geometry.channels);
      // Allocate the output first: a size above the memory limit is reported here.
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
  std::vector<int64_t> dims_, out_dims_;  // shapes of the last input and output
  Runner runner_;
};

template <class Context, class Runner>
class PoolGradientOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  PoolGradientOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        window_(ParseWindowArguments(this->args(), WindowUse::kPool)),
        include_pad_(this->ReadArgument(kPoolIncludePad)),
        runner_(*this) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const float* const x = X.template data<float>();
    if (dims_.empty() || dims_ != X.dims()) {
      dims_.clear();  // if a check below throws, the next run plans again
      const WindowGeometry geometry = MakeWindowGeometry(window_, X.sizes());
      out_dims_ = geometry.OutputDims(geometry.channels);
      runner_.Plan(geometry, window_.global_pooling, include_pad_);
      dims_ = X.dims();
    }
    CheckPoolGradientShape(1, "Y", Input(1), out_dims_);
    CheckPoolGradientShape(2, "dY", Input(2), out_dims_);
    const float* const y = Input(1).template data<float>();
    const float* const dy = Input(2).template data<float>();
    float* const dx = this->template OutputData<float>(0, dims_);
    if (Output(0)->numel() > 0) runner_.Run(context_, {x, y, dy, dx});
    return true;
  }

 private:
  const WindowArguments window_;
  const bool include_pad_;
  std::vector<int64_t> dims_, out_dims_;  // shapes of the last X and Y
  Runner runner_;
};

// The maker of the gradient of a pool: <type>Gradient(X, Y, dY) -> dX.
class GetPoolGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef(Def().type() + "Gradient", "",
                             std::vector<std::string>{I(0), O(0), GO(0)},
                             std::vector<std::string>{GI(0)});
  }
};

// Registers the schema of one type. `doc` describes the value of a window.
OpSchema& RegisterPoolSchema(const std::string& type, const char* file, const std::string& doc,
                             const ArgumentSpec<float>& power = kPoolPower);
// Registers the schema of `type` + "Gradient" and the maker that returns it.
OpSchema& RegisterPoolGradientSchema(const std::string& type, const char* file,
                                     const std::string& doc,
                                     const ArgumentSpec<float>& power = kPoolPower);

}  // namespace caffe2rt
