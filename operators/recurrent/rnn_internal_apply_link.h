#pragma once
// rnn_internal_apply_link: makes a tensor share rows of another one. RecurrentNetwork does this
// itself; old nets may contain the operator.
//   timestep int32 [1], external [T, *]  ->  internal [window, *], external, in place
//   internal shares rows [t + offset, t + offset + window) of external

#include "caffe2_core/runtime/operator.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/host_input.h"
#include "operators/recurrent/step_net.h"

#pragma GCC visibility push(default)  // for libcaffe2_cuda
namespace caffe2rt {

inline constexpr ArgumentSpec<int> kApplyLinkOffset{
    "offset",
    -1,
    "the first row at time step 0",
    {[](int offset) { return offset >= 0; }, "at least 0"},
    true};
inline constexpr ArgumentSpec<int> kApplyLinkWindow{
    "window",
    -1,
    "the number of rows",
    {[](int window) { return window >= 0; }, "at least 0"},
    true};

template <class Context>
class ApplyLinkOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  ApplyLinkOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        offset_(this->ReadArgument(kApplyLinkOffset)),
        window_(this->ReadArgument(kApplyLinkWindow)) {
    CAFFE_ENFORCE(this->IsInputOutputAlias(1, 1), "output 1 must be input 1 (external)");
  }

  bool RunOnDevice() override {
    const Tensor& step = step_.Read(*this, 0);
    const Tensor& external = Input(1);
    CAFFE_ENFORCE_GE(step.numel(), 1, "elements of input 0 (timestep)");
    const int64_t first = CheckedAdd<int64_t>(step.template data<int32_t>()[0], offset_);
    CAFFE_ENFORCE(external.dim() >= 1 && external.numel() > 0, "input 1 (external) of shape ",
                  external.sizes(), " has no elements");
    CAFFE_ENFORCE(first >= 0 && first + window_ <= external.dim(0), "rows ", first, " to ",
                  first + window_, " are linked, want rows of input 1 (external) of shape ",
                  external.sizes());
    *Output(0) = ViewOfRows(external, first, window_);
    return true;
  }

 private:
  const int offset_;
  const int window_;
  HostInput step_;
};

}  // namespace caffe2rt
#pragma GCC visibility pop
