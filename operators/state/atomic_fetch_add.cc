// AtomicFetchAdd (int32) and AtomicFetchAdd64 (int64): add to a number while they hold a mutex.
//   mutex, value, increment  ->  the sum, the value before; scalars
#include <memory>
#include <mutex>
#include <type_traits>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/element_type.h"
#include "operators/common/inference.h"

namespace caffe2rt {
namespace {

template <class T>
class AtomicFetchAddOp final : public Operator<CPUContext> {
 public:
  AtomicFetchAddOp(const OperatorDef& def, Workspace* ws) : Operator<CPUContext>(def, ws) {}

  bool RunOnDevice() override {
    const auto& mutex = OperatorBase::Input<std::unique_ptr<std::mutex>>(0);
    CAFFE_ENFORCE(mutex != nullptr, "input 0 (mutex_ptr) holds no mutex");
    const std::lock_guard lock(*mutex);
    for (int i = 1; i < 3; ++i) {
      CAFFE_ENFORCE_GE(Input(i).numel(), 1, "elements of input ", i,
                       i == 1 ? " (mut_value)" : " (increment)");
      RequireElements<T>(Input(i));
    }
    const T before = Input(1).template data<T>()[0], increment = Input(2).template data<T>()[0];
    // Unsigned, because a sum out of range wraps around.
    using Unsigned = std::make_unsigned_t<T>;
    *OutputData<T>(0, {}) =
        static_cast<T>(static_cast<Unsigned>(before) + static_cast<Unsigned>(increment));
    *OutputData<T>(1, {}) = before;
    return true;
  }
};

template <class T>
void RegisterFetchAdd(const char* type, TensorProto_DataType element, const char* doc) {
  RegisterSchema(type, __FILE__)
      .NumInputs(3)
      .NumOutputs(2)
      .AllowInplace({{1, 0}})
      .Input(0, "mutex_ptr", "a mutex from CreateMutex")
      .Input(1, "mut_value", "at least one element: the first one is the value")
      .Input(2, "increment", "at least one element: the first one is added to the value")
      .Output(0, "mut_value", "a scalar: the sum; usually input 1")
      .Output(1, "fetched_value", "a scalar: the value before")
      .TypesOfInput(1, {.accepted = {element}})
      .TypesOfInput(2, {.accepted = {element}})
      .TensorInferenceFunction([element](const OperatorDef& def, const std::vector<TensorShape>&) {
        return std::vector<TensorShape>(static_cast<size_t>(def.output_size()),
                                        CreateTensorShape(std::vector<int64_t>{}, element));
      })
      .SynchronizedInputs({0, 1})
      .SynchronizedOutputs({0})
      .SetDoc(doc);
  RegisterCpuOperator<AtomicFetchAddOp<T>>(type, __FILE__);
  // A count does not depend on other values. Caffe2 has no maker for AtomicFetchAdd64.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>(type, __FILE__);
}

}  // namespace

void RegisterAtomicFetchAdd() {
  RegisterFetchAdd<int32_t>(
      "AtomicFetchAdd", TensorProto::INT32,
      "Adds to an int32 number while it holds a mutex, and returns the number "
      "before. A sum out of range wraps around.");
  RegisterFetchAdd<int64_t>(
      "AtomicFetchAdd64", TensorProto::INT64,
      "Adds to an int64 number while it holds a mutex, and returns the number "
      "before. A sum out of range wraps around.");
}

}  // namespace caffe2rt
