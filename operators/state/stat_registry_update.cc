// StatRegistryCreate, StatRegistryUpdate, StatRegistryExport: statistics
// (caffe2_core/runtime/stat_registry.h) as tensors.
//
//   StatRegistryCreate                              ->  handle: a registry
//   StatRegistryUpdate  keys, values, handle        ->  nothing; adds the values to the counters
//   StatRegistryExport  handle                      ->  keys, values, timestamps
//
// keys are strings [N], values int64 [N], timestamps int64 [N], nanoseconds since 1970. Without a
// handle, the operators use the registry of the process.
#include <chrono>
#include <memory>
#include <string>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/runtime/stat_registry.h"
#include "caffe2_core/tensor/synchronized_types.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt {
namespace {

constexpr ArgumentSpec<bool> kStatReset{"reset", true, "set the counters to 0 after reading them"};

// The content of the blob.
using StatRegistryBlob = std::unique_ptr<StatRegistry>;

class StatRegistryOp : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;

 protected:
  // The registry in input `i`, or that of the process if there is no such input.
  StatRegistry& TheRegistry(int i) const {
    if (InputSize() <= i) return StatRegistry::get();
    const auto& registry = OperatorBase::Input<StatRegistryBlob>(i);
    CAFFE_ENFORCE(registry != nullptr, "input ", i, " (handle) holds no registry");
    return *registry;
  }
};

class StatRegistryCreateOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;
  bool RunOnDevice() override {
    *OperatorBase::Output<StatRegistryBlob>(0) = std::make_unique<StatRegistry>();
    return true;
  }
};

class StatRegistryUpdateOp final : public StatRegistryOp {
 public:
  using StatRegistryOp::StatRegistryOp;
  bool RunOnDevice() override {
    const Tensor& keys = Input(0);
    const Tensor& values = Input(1);
    CAFFE_ENFORCE_EQ(values.numel(), keys.numel(), "elements of input 1 (values)");
    StatRegistry& registry = TheRegistry(2);
    const std::string* const key = keys.data<std::string>();
    const int64_t* const value = values.data<int64_t>();
    for (int64_t i = 0; i < keys.numel(); ++i) registry.add(key[i])->increment(value[i]);
    return true;
  }
};

class StatRegistryExportOp final : public StatRegistryOp {
 public:
  StatRegistryExportOp(const OperatorDef& def, Workspace* ws)
      : StatRegistryOp(def, ws), reset_(ReadArgument(kStatReset)) {}

  bool RunOnDevice() override {
    TheRegistry(0).publish(stats_, reset_);
    const auto count = static_cast<int64_t>(stats_.size());
    auto* const keys = OutputData<std::string>(0, {count});
    auto* const values = OutputData<int64_t>(1, {count});
    auto* const times = OutputData<int64_t>(2, {count});
    for (size_t i = 0; i < stats_.size(); ++i) {
      keys[i] = stats_[i].key;
      values[i] = stats_[i].value;
      times[i] = std::chrono::nanoseconds(stats_[i].ts.time_since_epoch()).count();
    }
    return true;
  }

 private:
  const bool reset_;
  ExportedStatList stats_;
};

}  // namespace

void RegisterStatRegistryUpdate() {
  DeclareSynchronizedType<StatRegistryBlob>();
  RegisterSchema("StatRegistryCreate", __FILE__)
      .NumInputs(0)
      .NumOutputs(1)
      .Output(0, "handle", "an empty registry of statistics")
      .SetDoc("Creates a registry of statistics.");
  RegisterCpuOperator<StatRegistryCreateOp>("StatRegistryCreate", __FILE__);
  // As in Caffe2, no gradient makers: statistics are not differentiable.

  RegisterSchema("StatRegistryUpdate", __FILE__)
      .NumInputs(2, 3)
      .NumOutputs(0)
      .Input(0, "keys", "names of counters, strings [N]")
      .Input(1, "values", "what is added to them, int64 [N]")
      .Input(2, "handle", "the registry; without it that of the process")
      .SynchronizedInputs({2})
      .HasEffect(Effect::kEverything)
      .SetDoc("Adds values to counters, which are created if they do not exist.");
  RegisterCpuOperator<StatRegistryUpdateOp>("StatRegistryUpdate", __FILE__);

  RegisterSchema("StatRegistryExport", __FILE__)
      .NumInputs(0, 1)
      .NumOutputs(3)
      .Arg(kStatReset)
      .Input(0, "handle", "the registry; without it that of the process")
      .Output(0, "keys", "names of the counters, strings [N], sorted")
      .Output(1, "values", "int64 [N]")
      .Output(2, "timestamps", "when the values were read, int64 [N], nanoseconds since 1970")
      .SynchronizedInputs({0})
      .HasEffect(Effect::kEverything)
      .SetDoc("Returns the values of all counters.");
  RegisterCpuOperator<StatRegistryExportOp>("StatRegistryExport", __FILE__);
}

}  // namespace caffe2rt
