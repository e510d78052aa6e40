// Fail, ThrowException: always fail, to test what a program does after an error.
//   nothing  ->  nothing
#include <string>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt {
namespace {

constexpr ArgumentSpec<std::string> kThrownMessage{"message", "Exception from ThrowExceptionOp",
                                                   "the text of the error"};

class FailOp final : public Operator<CPUContext> {
 public:
  FailOp(const OperatorDef& def, Workspace* ws) : Operator<CPUContext>(def, ws) {}
  bool RunOnDevice() override { return false; }
};

class ThrowExceptionOp final : public Operator<CPUContext> {
 public:
  ThrowExceptionOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), message_(ReadArgument(kThrownMessage)) {}
  bool RunOnDevice() override { CAFFE_THROW(message_); }

 private:
  const std::string message_;
};

}  // namespace

void RegisterFail() {
  RegisterSchema("Fail", __FILE__)
      .NumInputs(0)
      .NumOutputs(0)
      .HasEffect(Effect::kEverything)
      .SetDoc("Fails without a message. For tests.");
  RegisterCpuOperator<FailOp>("Fail", __FILE__);
  RegisterSchema("ThrowException", __FILE__)
      .NumInputs(0)
      .NumOutputs(0)
      .Arg(kThrownMessage)
      .HasEffect(Effect::kEverything)
      .SetDoc("Throws an exception with the message. For tests.");
  RegisterCpuOperator<ThrowExceptionOp>("ThrowException", __FILE__);
  // They compute nothing.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("Fail", __FILE__);
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("ThrowException", __FILE__);
}

}  // namespace caffe2rt
