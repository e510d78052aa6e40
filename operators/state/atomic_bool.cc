// CreateAtomicBool, ConditionalSetAtomicBool, CheckAtomicBool: a flag that concurrent steps share.
//   CreateAtomicBool                                   ->  atomic_bool, false
//   ConditionalSetAtomicBool  atomic_bool, condition   ->  nothing; true if the condition holds
//   CheckAtomicBool           atomic_bool              ->  value bool [1]
#include <atomic>
#include <memory>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/tensor/synchronized_types.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt {
namespace {

// The content of the blob. Caffe2's sources, and users' operators, know it by this type.
using AtomicBoolBlob = std::unique_ptr<std::atomic<bool>>;

class CreateAtomicBoolOp final : public Operator<CPUContext> {
 public:
  CreateAtomicBoolOp(const OperatorDef& def, Workspace* ws) : Operator<CPUContext>(def, ws) {}

  bool RunOnDevice() override {
    *OperatorBase::Output<AtomicBoolBlob>(0) = std::make_unique<std::atomic<bool>>(false);
    return true;
  }
};

class AtomicBoolOp : public Operator<CPUContext> {
 public:
  AtomicBoolOp(const OperatorDef& def, Workspace* ws) : Operator<CPUContext>(def, ws) {}

 protected:
  std::atomic<bool>& Flag() const {
    const auto& flag = OperatorBase::Input<AtomicBoolBlob>(0);
    CAFFE_ENFORCE(flag != nullptr, "input 0 (atomic_bool) holds no flag");
    return *flag;
  }
};

class ConditionalSetAtomicBoolOp final : public AtomicBoolOp {
 public:
  using AtomicBoolOp::AtomicBoolOp;
  bool RunOnDevice() override {
    std::atomic<bool>& flag = Flag();
    const Tensor& condition = Input(1);
    CAFFE_ENFORCE_GE(condition.numel(), 1, "elements of input 1 (condition)");
    if (condition.data<bool>()[0]) flag.store(true);
    return true;
  }
};

class CheckAtomicBoolOp final : public AtomicBoolOp {
 public:
  using AtomicBoolOp::AtomicBoolOp;
  bool RunOnDevice() override {
    const bool value = Flag().load();
    *OutputData<bool>(0, {1}) = value;
    return true;
  }
};

}  // namespace

void RegisterAtomicBool() {
  DeclareSynchronizedType<AtomicBoolBlob>();
  RegisterSchema("CreateAtomicBool", __FILE__)
      .NumInputs(0)
      .NumOutputs(1)
      .Output(0, "atomic_bool", "a std::unique_ptr<std::atomic<bool>>")
      .SetDoc("Creates a flag that is false, for ConditionalSetAtomicBool and CheckAtomicBool.");
  RegisterCpuOperator<CreateAtomicBoolOp>("CreateAtomicBool", __FILE__);

  RegisterSchema("ConditionalSetAtomicBool", __FILE__)
      .NumInputs(2)
      .NumOutputs(0)
      .SynchronizedInputs({0})
      .ModifiesInputs({0})
      .Input(0, "atomic_bool", "a flag from CreateAtomicBool")
      .Input(1, "condition", "bool, at least one element: the first one is the condition")
      .TypesOfInput(1, {.accepted = {TensorProto::BOOL}})
      .SetDoc("Sets the flag to true if the condition is true, else leaves it as it is.");
  RegisterCpuOperator<ConditionalSetAtomicBoolOp>("ConditionalSetAtomicBool", __FILE__);

  RegisterSchema("CheckAtomicBool", __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .SynchronizedInputs({0})
      .Input(0, "atomic_bool", "a flag from CreateAtomicBool")
      .Output(0, "value", "[1] bool: whether the flag is true")
      .TensorInferenceFunction([](const OperatorDef&, const std::vector<TensorShape>&) {
        return std::vector<TensorShape>{
            CreateTensorShape(std::vector<int64_t>{1}, TensorProto::BOOL)};
      })
      .SetDoc("Reads the flag.");
  RegisterCpuOperator<CheckAtomicBoolOp>("CheckAtomicBool", __FILE__);
  // A flag is not a tensor.
  for (const char* type : {"CreateAtomicBool", "ConditionalSetAtomicBool", "CheckAtomicBool"}) {
    RegisterGradient<ThrowInTheTowelIfGradientIsCalled>(type, __FILE__);
  }
}

}  // namespace caffe2rt
