// AtomicAppend: appends rows to tensors while it holds a mutex.
//   mutex, N tensors, N tensors with the new rows  ->  the first N tensors, in place
#include <climits>
#include <memory>
#include <mutex>
#include <set>

#include "caffe2_core/base/text.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/dataset/append_rows.h"

namespace caffe2rt {
namespace {

// The mutex in a blob, as CreateMutex makes it.
using MutexBlob = std::unique_ptr<std::mutex>;

class AtomicAppendOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;

  bool RunOnDevice() override {
    const auto& mutex = OperatorBase::Input<MutexBlob>(0);
    CAFFE_ENFORCE(mutex != nullptr, "input 0 (mutex) holds no mutex");
    const int fields = (InputSize() - 1) / 2;
    CAFFE_ENFORCE(InputSize() == 2 * fields + 1 && OutputSize() == fields, "the operator has ",
                  CountText(InputSize(), "input"), " and ", CountText(OutputSize(), "output"),
                  ", want a mutex, the outputs, and as many tensors to append to them");
    const std::lock_guard lock(*mutex);
    // Nothing is changed unless all tensors fit.
    for (int i = 0; i < fields; ++i) Check(i, fields);
    for (int i = 0; i < fields; ++i) AppendRows(context_, Input(1 + fields + i), Output(i));
    return true;
  }

 private:
  void Check(int i, int fields) {
    CAFFE_ENFORCE(IsInputOutputAlias(1 + i, i), "input ", 1 + i, " and output ", i,
                  " are different blobs, want the same");
    CheckRowsToAppend(Input(1 + i), 1 + i, Input(1 + fields + i), 1 + fields + i);
  }
};

std::set<int> GuardedOutputs() {
  std::set<int> outputs;
  for (int i = 0; i < 64; ++i) outputs.insert(i);
  return outputs;
}

}  // namespace

void RegisterAtomicAppend() {
  RegisterSchema("AtomicAppend", __FILE__)
      .NumInputs(3, INT_MAX)
      .NumOutputs(1, INT_MAX)
      .AllowInplace([](int in, int out) { return in == out + 1; })
      .Input(0, "mutex", "a mutex from CreateMutex")
      .Input(1, "X_0, ..., rows_0, ...",
             "N tensors; N tensors of the same types and shapes, except for dimension 0")
      .Output(0, "X_0, ...", "the first N tensors, in place, with the rows appended")
      .SynchronizedInputs({0})
      .SynchronizedOutputs(GuardedOutputs())
      .SetDoc(
          "Appends rows to tensors while it holds a mutex. A tensor without rows becomes a copy of "
          "them.");
  RegisterCpuOperator<AtomicAppendOp>("AtomicAppend", __FILE__);
  // Outputs that are changed in place by several threads have no gradient.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("AtomicAppend", __FILE__);
}

}  // namespace caffe2rt
