#pragma once
// While: runs a net as long as a condition is true.
//   condition (one bool), blobs that the nets read  ->  blobs that the nets write
//
//   repeat { run cond_net, if there is one; if the condition is false, end; run loop_net }
//
// The nets run in the operator's workspace, as those of If do. One of them must write the condition.
// SIGINT and SIGHUP end the loop with an error if the program handles them, as it does while it
// runs a plan. An iteration takes no memory and no lock, if the nets take none.

#include <memory>

#include "operators/control/condition.h"
#include "operators/control/inner_net.h"
#include "operators/control/interrupts.h"

namespace caffe2rt {

inline constexpr NetArgument kWhileLoopNet{"loop_net", "the net to run in each iteration", true};
inline constexpr NetArgument kWhileCondNet{
    "cond_net", "a net to run before each test of the condition, also before the first"};

template <class Context>
class WhileOp final : public Operator<Context> {
 public:
  WhileOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        loop_net_(CreateInnerNet(*this, kWhileLoopNet, ws)),
        cond_net_(CreateInnerNet(*this, kWhileCondNet, ws)) {}

  // A net waits for its devices when it has run.
  bool HasAsyncPart() const override { return false; }

  bool RunOnDevice() override {
    Interrupts interrupts;
    condition_.CheckSize(*this);
    for (;;) {
      if (cond_net_ != nullptr && !RunInnerNet(cond_net_.get())) return false;
      this->context_.SwitchToDevice(0);  // a net may have switched to another one
      if (!condition_.Read(*this)) return true;
      if (!RunInnerNet(loop_net_.get())) return false;
      interrupts.CountIteration();
    }
  }

 private:
  ConditionInput<Context> condition_;
  const std::unique_ptr<NetBase> loop_net_;
  const std::unique_ptr<NetBase> cond_net_;  // null if there is none
};

}  // namespace caffe2rt
