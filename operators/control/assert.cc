// Assert: fails unless all elements are true, that is, not 0.
//   X: bool, int32 or int64  ->  nothing
#include <algorithm>
#include <string>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt {
namespace {

constexpr ArgumentSpec<std::string> kAssertMessage{"error_msg", "", "the text of the error"};

class AssertOp final : public Operator<CPUContext> {
 public:
  AssertOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), message_(ReadArgument(kAssertMessage)) {}

  bool RunOnDevice() override {
    const Tensor& x = Input(0);
    if (x.IsType<bool>()) {
      Check<bool>(x);
    } else if (x.IsType<int32_t>()) {
      Check<int32_t>(x);
    } else {
      CAFFE_ENFORCE(x.IsType<int64_t>(), "input 0 (X) has elements of type ", x.dtype().name(),
                    ", want bool, int32 or int64");
      Check<int64_t>(x);
    }
    return true;
  }

 private:
  template <class T>
  void Check(const Tensor& x) const {
    const T* const begin = x.data<T>();
    const T* const end = begin + x.numel();
    const T* const zero = std::find(begin, end, T{0});
    CAFFE_ENFORCE(zero == end, "element ", zero - begin, " of input 0 (X) is ",
                  x.IsType<bool>() ? "false" : "0", message_.empty() ? "" : ": ", message_);
  }

  const std::string message_;
};

}  // namespace

void RegisterAssert() {
  RegisterSchema("Assert", __FILE__)
      .NumInputs(1)
      .NumOutputs(0)
      .Arg(kAssertMessage)
      .Input(0, "X", "bool, int32 or int64, any shape")
      .HasEffect(Effect::kOutput)
      .SetDoc("Fails unless all elements are true.");
  RegisterCpuOperator<AssertOp>("Assert", __FILE__);
  // As in Caffe2, no gradient maker: there is no output.
}

}  // namespace caffe2rt
