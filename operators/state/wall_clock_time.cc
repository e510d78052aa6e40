// WallClockTime: the time.
//   ->  time int64, a scalar: nanoseconds of the clock since 1970
#include <chrono>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt {
namespace {

class WallClockTimeOp final : public Operator<CPUContext> {
 public:
  WallClockTimeOp(const OperatorDef& def, Workspace* ws) : Operator<CPUContext>(def, ws) {}

  bool RunOnDevice() override {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    *OutputData<int64_t>(0, {}) = std::chrono::nanoseconds(now).count();
    return true;
  }
};

}  // namespace

void RegisterWallClockTime() {
  RegisterSchema("WallClockTime", __FILE__)
      .NumInputs(0)
      .NumOutputs(1)
      .Output(0, "time", "int64, a scalar: nanoseconds of the system's clock")
      .HasEffect(Effect::kEverything)
      .ScalarType(TensorProto::INT64)
      .SetDoc(
          "Reads the system's clock, after all operators before it and before those behind it.");
  RegisterCpuOperator<WallClockTimeOp>("WallClockTime", __FILE__);
  // The time depends on nothing.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("WallClockTime", __FILE__);
}

}  // namespace caffe2rt
