#pragma once
// YellowFin: gradient descent with momentum that tunes its learning rate and momentum (Zhang and
// Mitliagkas 2017).
//   param, moment, lr [1], mu [1], curv_win [curv_win_width], g_avg, g2_avg, scalars_memory [5],
//   grad, iter  ->  the first 8 inputs, updated
//
// The step uses the lr and mu of the inputs. The iteration is an int64, 1 or more, on the CPU for
// every device. In iteration 1, lr and mu do not change.

#include <cmath>

#include "operators/common/element_type.h"
#include "operators/optimizer/rate_kernels.h"
#include "operators/optimizer/update_checks.h"
#include "operators/optimizer/update_loops.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<float> kYellowFinBeta{"beta", 0.999f,
                                                    "weight of the previous moving averages"};
inline constexpr ArgumentSpec<int> kYellowFinWidth{
    "curv_win_width",
    20,
    "iterations over which the range of the curvature is measured; above 0",
    {[](int width) { return width > 0; }, "above 0"}};
inline constexpr ArgumentSpec<float> kYellowFinEpsilon{
    "epsilon", 1e-6f, "the least squared norm of the gradient and the least variance"};
inline constexpr ArgumentSpec<bool> kYellowFinNesterov{"nesterov", false, "1: Nesterov's momentum"};
inline constexpr ArgumentSpec<bool> kYellowFinZeroDebias{
    "zero_debias", true, "1: correct the bias of the moving averages, which start at 0"};

template <class Context>
class YellowFinOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  YellowFinOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        beta_(this->ReadArgument(kYellowFinBeta)),
        width_(this->ReadArgument(kYellowFinWidth)),
        epsilon_(this->ReadArgument(kYellowFinEpsilon)),
        nesterov_(this->ReadArgument(kYellowFinNesterov)),
        debiases_(this->ReadArgument(kYellowFinZeroDebias)) {}

  bool RunOnDevice() override {
    CheckShapes();
    const int64_t iteration = ReadIteration(*this, 9, &iteration_), n = Input(0).numel();
    CAFFE_ENFORCE_GE(iteration, 1, "the iteration, input 9 (iter)");
    const float debias =
        debiases_
            ? static_cast<float>(1 / (1 - std::pow(double{beta_}, static_cast<double>(iteration))))
            : 1.0f;
    const float* in[9];
    for (int i = 0; i < 9; ++i) in[i] = Input(i).template data<float>();
    float* out[8];
    for (int i = 0; i < 8; ++i) out[i] = this->template OutputData<float>(i, Input(i).sizes());
    sums_.Resize(2);
    float* const sums = sums_.template mutable_data<float>();
    ComputeYellowFinSums(context_, n, {in[8], in[5], beta_, debias, sums}, &scratch_);
    UpdateAll(context_, n,
              YellowFinRule{in[2], in[3], in[8], in[0], in[1], in[5], in[6], out[0], out[1], out[5],
                            out[6], beta_, nesterov_});
    ComputeYellowFinNumbers(context_, {sums, in[4], in[7], in[2], in[3], out[4], out[7], out[2],
                                       out[3], iteration, width_, beta_, debias, epsilon_});
    return true;
  }

 private:
  void CheckShapes() {
    const NamedInput param{Input(0), "input 0 (param)"};
    RequireSameSize({Input(1), "input 1 (moment)"}, param);
    OneNumber({Input(2), "input 2 (lr)"});
    OneNumber({Input(3), "input 3 (mu)"});
    CAFFE_ENFORCE_EQ(Input(4).numel(), width_, "elements of input 4 (curv_win) of shape ",
                     Input(4).sizes(), ", want curv_win_width");
    RequireSameSize({Input(5), "input 5 (g_avg)"}, param);
    RequireSameSize({Input(6), "input 6 (g2_avg)"}, param);
    CAFFE_ENFORCE_EQ(Input(7).numel(), 5, "elements of input 7 (scalars_memory) of shape ",
                     Input(7).sizes());
    RequireSameSize({Input(8), "input 8 (grad)"}, param);
    for (int i = 0; i < 9; ++i) RequireElements<float>(Input(i));
  }

  const float beta_;
  const int64_t width_;
  const float epsilon_;
  const bool nesterov_, debiases_;
  HostInput iteration_;
  Tensor sums_{Context::GetDeviceType()}, scratch_{Context::GetDeviceType()};
};

}  // namespace caffe2rt
