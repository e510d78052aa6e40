#include "tests/fuzz/work_budget.h"

#include <atomic>
#include <memory>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator.h"
#include "caffe2_core/tensor/data_type.h"

namespace caffe2rt::test {
namespace {

WorkBudget current;
std::atomic<uint64_t> operators_run{0};
std::atomic<bool> exceeded{false};

constexpr double kBytesPerElement = 4;

// In floating point, because hostile shapes overflow integers.
double Elements(const TensorShape& shape) {
  if (shape.unknown_shape()) return 0;
  double product = 1;
  for (const int64_t dim : shape.dims()) product *= static_cast<double>(dim);
  return product < 0 ? 0 : product;
}

class BudgetObserver final : public ObserverBase<OperatorBase> {
 public:
  using ObserverBase::ObserverBase;

  void Start() override {
    if (++operators_run > current.operators) Stop("the number of operators");
    const OperatorDef& def = subject()->debug_def();
    const OpSchema* schema = OpSchemaRegistry::Schema(def.type());
    if (schema == nullptr) return;
    std::vector<TensorShape> inputs;
    double elements = 0;
    for (int i = 0; i < subject()->InputSize(); ++i) {
      inputs.push_back(ShapeOf(subject()->InputBlob(i)));
      elements += Elements(inputs.back());
    }
    double outputs = 0, flops = 0;
    try {
      for (const TensorShape& shape : schema->InferTensor(def, inputs)) outputs += Elements(shape);
      if (schema->HasCostInferenceFunction())
        flops = static_cast<double>(schema->InferCost(def, inputs).flops);
    } catch (const EnforceNotMet&) {
      return;  // the operator itself will report the error
    }
    const auto limit = static_cast<double>(GetCPUMemoryUsage().limit_bytes);
    if (outputs * kBytesPerElement > limit) return;
    if (flops > static_cast<double>(current.flops)) Stop("flops");
    if (elements + outputs > static_cast<double>(current.elements)) Stop("elements");
  }

 private:
  static TensorShape ShapeOf(const Blob& blob) {
    if (!blob.IsType<Tensor>() || !blob.Get<Tensor>().IsShaped()) return UnknownShape();
    const Tensor& tensor = blob.Get<Tensor>();
    return CreateTensorShape(tensor.dims(), TypeMetaToDataType(tensor.dtype()));
  }
  [[noreturn]] static void Stop(const char* what) {
    exceeded = true;
    CAFFE_THROW("over the fuzzer's budget: ", what);
  }
};

}  // namespace

void WatchNet(NetBase* net) {
  for (OperatorBase* op : net->GetOperators())
    op->AttachObserver(std::make_unique<BudgetObserver>(op));
}

void StartBudget(const WorkBudget& budget) {
  current = budget;
  operators_run = 0;
  exceeded = false;
}

bool BudgetExceeded() { return exceeded; }

}  // namespace caffe2rt::test
