#pragma once
// If: runs one of two nets.
//   condition (one bool), blobs that the nets read  ->  blobs that the nets write
//
// The nets run in the operator's workspace. The lists of further inputs and outputs document what
// the nets use, and are checked to exist; a net may use other blobs too.

#include <memory>

#include "operators/control/condition.h"
#include "operators/control/inner_net.h"

namespace caffe2rt {

inline constexpr NetArgument kIfThenNet{"then_net", "the net to run if the condition is true",
                                        true};
inline constexpr NetArgument kIfElseNet{
    "else_net", "the net to run if the condition is false; without it, nothing runs"};

template <class Context>
class IfOp final : public Operator<Context> {
 public:
  IfOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        then_net_(CreateInnerNet(*this, kIfThenNet, ws)),
        else_net_(CreateInnerNet(*this, kIfElseNet, ws)) {}

  // A net waits for its devices when it has run.
  bool HasAsyncPart() const override { return false; }

  bool RunOnDevice() override {
    NetBase* const net = condition_.Read(*this) ? then_net_.get() : else_net_.get();
    return net == nullptr || RunInnerNet(net);
  }

 private:
  ConditionInput<Context> condition_;
  const std::unique_ptr<NetBase> then_net_;
  const std::unique_ptr<NetBase> else_net_;  // null if there is none
};

}  // namespace caffe2rt
