#include "operators/optimizer/create_mutex.h"

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/tensor/synchronized_types.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt {

namespace {

class CreateMutexOp final : public Operator<CPUContext> {
 public:
  CreateMutexOp(const OperatorDef& def, Workspace* ws) : Operator<CPUContext>(def, ws) {}

  bool RunOnDevice() override {
    *OperatorBase::Output<MutexBlob>(0) = MakeMutex();
    return true;
  }
};

}  // namespace

void RegisterCreateMutex() {
  DeclareSynchronizedType<MutexBlob>();
  RegisterSchema("CreateMutex", __FILE__)
      .NumInputs(0)
      .NumOutputs(1)
      .Output(0, "mutex", "a std::unique_ptr<std::mutex>")
      .SetDoc("Creates a mutex, for operators that change a blob atomically, such as AtomicIter.");
  RegisterCpuOperator<CreateMutexOp>("CreateMutex", __FILE__);
  // The output is not a tensor.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("CreateMutex", __FILE__);
}

}  // namespace caffe2rt
