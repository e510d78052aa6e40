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

namespace caffe2rt {
namespace {

// The mutex in a blob, as CreateMutex makes it.
using MutexBlob = std::unique_ptr<std::mutex>;

// As in Caffe2, a tensor whose memory is too small grows by at least this much.
constexpr float kAppendGrowthPercent = 40;

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
    for (int i = 0; i < fields; ++i) Append(Input(1 + fields + i), Output(i));
    return true;
  }

 private:
  void Check(int i, int fields) {
    const Tensor& to = Input(1 + i);
    const Tensor& rows = Input(1 + fields + i);
    CAFFE_ENFORCE(IsInputOutputAlias(1 + i, i), "input ", 1 + i, " and output ", i,
                  " are different blobs, want the same");
    CAFFE_ENFORCE_GT(rows.dim(), 0, "dimensions of input ", 1 + fields + i, " (rows to append)");
    if (to.numel() <= 0) return;
    CAFFE_ENFORCE(to.dtype() == rows.dtype(), "input ", 1 + fields + i, " is ", rows.dtype().name(),
                  ", want ", to.dtype().name(), ", as input ", 1 + i);
    bool fits = to.dim() == rows.dim();
    for (int d = 1; fits && d < to.dim(); ++d) fits = to.dim(d) == rows.dim(d);
    CAFFE_ENFORCE(fits, "input ", 1 + fields + i, " has shape ", rows.sizes(),
                  ", want that of input ", 1 + i, ", ", to.sizes(), ", except in dimension 0");
  }

  void Append(const Tensor& rows, Tensor* to) {
    if (to->numel() <= 0) {
      to->CopyFrom(rows, &context_);
      return;
    }
    if (rows.numel() == 0) return;
    const size_t before = to->nbytes();
    to->Extend(rows.dim(0), kAppendGrowthPercent, &context_);
    context_.CopyItemsSameDevice(rows.dtype(), static_cast<size_t>(rows.numel()), rows.raw_data(),
                                 static_cast<char*>(to->raw_mutable_data()) + before);
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
          "Appends rows to tensors while it holds a mutex. A tensor without elements becomes a "
          "copy "
          "of the rows.");
  RegisterCpuOperator<AtomicAppendOp>("AtomicAppend", __FILE__);
  // Outputs that are changed in place by several threads have no gradient.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("AtomicAppend", __FILE__);
}

}  // namespace caffe2rt
