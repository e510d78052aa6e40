// FeedBlob: puts a string into a blob.
//   no inputs  ->  the string `value`
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt {
namespace {

constexpr ArgumentSpec<std::string> kFedValue{
    .name = "value", .doc = "the string", .required = true};

class FeedBlobOp final : public Operator<CPUContext> {
 public:
  FeedBlobOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), value_(ReadArgument(kFedValue)) {}

  bool RunOnDevice() override {
    *OperatorBase::Output<std::string>(0) = value_;
    return true;
  }

 private:
  const std::string value_;
};

}  // namespace

void RegisterFeedBlob() {
  RegisterSchema("FeedBlob", __FILE__)
      .NumInputs(0)
      .NumOutputs(1)
      .Arg(kFedValue)
      .Output(0, "blob", "a std::string, not a tensor")
      .SetDoc("Puts a string into a blob.");
  RegisterCpuOperator<FeedBlobOp>("FeedBlob", __FILE__);
  // The output is not a tensor.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("FeedBlob", __FILE__);
}

}  // namespace caffe2rt
