// ONNXWhile: runs a net repeatedly, as ONNX's Loop does.
//   trip count (int64), first condition (bool, int32 or int64), N initial values
//     ->  N final values, K lists
//
// The external inputs of `body` are the iteration (int64 scalar), the condition, and the N carried
// values; its external outputs are the next condition, the N next values, and K values that are
// concatenated along dim 0 to the K lists. After each iteration the carried values are copied one
// after the other, as in Caffe2: a body that returns a carried input under another index may see
// the new value.
//
// Caffe2 writes beyond the end of a list whose items have more than one row; here all rows are
// kept.
//
// Conditions and counts are the first elements of their tensors. With save_scopes, successive
// iterations use different workspaces. Caffe2 keeps all of them, but nothing reads them; here, two
// take turns.

#include <array>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/io/file_access.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/runtime/workspace.h"
#include "caffe2_core/tensor/data_type.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/control/inner_net.h"
#include "operators/control/interrupts.h"

namespace caffe2rt {
namespace {

constexpr NetArgument kOnnxWhileBody{
    "body",
    "the net to run in each iteration; its external inputs are the iteration, the condition and "
    "the carried values, its external outputs the next condition, the next values and the items "
    "of the lists",
    true};
constexpr ArgumentSpec<bool> kOnnxWhileHasTripCount{
    "has_trip_count", false, "1: run at most the number of iterations in input 0"};
constexpr ArgumentSpec<bool> kOnnxWhileHasCond{
    "has_cond", false, "1: end when the condition is false, also before the first iteration"};
constexpr ArgumentSpec<bool> kOnnxWhileSaveScopes{
    "save_scopes", false, "1: do not run successive iterations in the same workspace"};
constexpr ArgumentSpec<bool> kOnnxWhileDisableScopes{
    "disable_scopes", false,
    "1: run the body in the operator's workspace; 0: in one of its own, without access to other "
    "blobs"};

constexpr RepeatedArgumentSpec<int64_t> kOnnxWhileEmptyLists{
    "empty_lists",
    "for each list the element type (of TensorProto), the rank and the dimensions that it has "
    "without an iteration; default: int32 of shape [0]"};

constexpr int kInputsBeforeValues = 2;  // trip count and condition

// The first element of a condition.
bool ConditionOf(const Tensor& tensor, const std::string& name) {
  CAFFE_ENFORCE(tensor.IsShaped() && tensor.numel() > 0, "the condition \"", name,
                "\" has no element, want at least one");
  if (tensor.IsType<int32_t>()) return *tensor.data<int32_t>() != 0;
  if (tensor.IsType<int64_t>()) return *tensor.data<int64_t>() != 0;
  CAFFE_ENFORCE(tensor.IsType<bool>(), "the condition \"", name, "\" has elements of type ",
                tensor.dtype().name(), ", want bool, int32 or int64");
  return *tensor.data<bool>();
}

struct EmptyList {
  TypeMeta type = TypeMeta::Make<int32_t>();
  std::vector<int64_t> dims = {0};
};

// Reads the argument empty_lists. THROWS unless it describes `count` empty lists.
std::vector<EmptyList> ReadEmptyLists(const std::vector<int64_t>& numbers, size_t count) {
  std::vector<EmptyList> lists(count);
  if (numbers.empty()) return lists;
  const auto size = static_cast<int64_t>(numbers.size());
  int64_t at = 0;
  for (EmptyList& list : lists) {
    const auto number = [&](int64_t i) { return numbers[static_cast<size_t>(i)]; };
    const int64_t rank = at + 1 < size ? number(at + 1) : 0;
    CAFFE_ENFORCE(rank >= 1 && rank <= size - at - 2, "argument empty_lists has ", size,
                  " numbers, want type, rank and dimensions for each of ", count, " lists");
    list.type = DataTypeToTypeMeta(number(at));
    list.dims.assign(numbers.begin() + at + 2, numbers.begin() + at + 2 + rank);
    CAFFE_ENFORCE(list.dims[0] == 0 && CheckedProduct(list.dims) == 0,
                  "argument empty_lists has shape ", IntArrayRef(list.dims),
                  ", want one without rows");
    at += 2 + rank;
  }
  CAFFE_ENFORCE_EQ(at, size, "numbers in argument empty_lists for ", count, " lists");
  return lists;
}

class OnnxWhileOp final : public Operator<CPUContext> {
 public:
  OnnxWhileOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        values_(InputSize() - kInputsBeforeValues),
        has_trip_count_(ReadArgument(kOnnxWhileHasTripCount)),
        has_cond_(ReadArgument(kOnnxWhileHasCond)) {
    const bool save = ReadArgument(kOnnxWhileSaveScopes);
    const bool disable = ReadArgument(kOnnxWhileDisableScopes);
    CAFFE_ENFORCE(!save || !disable, "arguments \"", kOnnxWhileSaveScopes.name, "\" and \"",
                  kOnnxWhileDisableScopes.name, "\" are both 1, want at most one of them");
    const NetDef& body = RequireNet(debug_def(), kOnnxWhileBody);
    CAFFE_ENFORCE(body.external_input_size() >= kInputsBeforeValues + values_, "the body has ",
                  body.external_input_size(), " external inputs, want ",
                  kInputsBeforeValues + values_,
                  ": the iteration, the condition and the carried values");
    lists_ = body.external_output_size() - 1 - values_;
    CAFFE_ENFORCE(lists_ >= 0, "the body has ", body.external_output_size(),
                  " external outputs, want at least ", 1 + values_,
                  ": the condition and the carried values");
    CAFFE_ENFORCE(OutputSize() >= values_ + lists_, "the operator has ", OutputSize(),
                  " outputs, want ", values_ + lists_, ": ", values_, " values and ", lists_,
                  " lists, as the body has external outputs");
    item_dims_.resize(static_cast<size_t>(lists_));
    empty_ = ReadEmptyLists(ReadArgument(kOnnxWhileEmptyLists), static_cast<size_t>(lists_));
    for (size_t i = 0; i < (save ? 2u : 1u); ++i) scopes_[i] = MakeScope(body, disable);
    if (!save) scopes_[1] = scopes_[0];
  }

  bool RunOnDevice() override {
    const Tensor& trip_count = Input(0);
    CAFFE_ENFORCE(trip_count.IsShaped() && trip_count.numel() > 0,
                  "input 0 (trip count) has no element, want at least one");
    const int64_t most = *trip_count.data<int64_t>();
    const Tensor& first = Input(1);
    bool condition = ConditionOf(first, debug_def().input(1));
    const TypeMeta condition_type = first.dtype();
    Scope* scope = scopes_[0].get();
    for (int k = 0; k < values_; ++k) Copy(Input(kInputsBeforeValues + k), Value(scope, k));
    Interrupts interrupts;
    int64_t i = 0;
    for (; (!has_trip_count_ || i < most) && (!has_cond_ || condition); ++i) {
      SetIteration(scope, i, condition, condition_type);
      if (!RunInnerNet(scope->net.get())) return false;
      const Scope& done = *scope;
      condition = ConditionOf(Result(done, 0), Name(done, 0));
      scope = scopes_[(i + 1) % 2].get();
      for (int k = 0; k < values_; ++k) Copy(Result(done, 1 + k), Value(scope, k));
      for (int k = 0; k < lists_; ++k) Append(Result(done, 1 + values_ + k), k, i);
      interrupts.CountIteration();
    }
    for (int k = 0; k < lists_ && i == 0; ++k) {
      const EmptyList& empty = empty_[static_cast<size_t>(k)];
      (void)Output(values_ + k, empty.dims, empty.type)->raw_mutable_data(empty.type);
    }
    for (int k = 0; k < values_; ++k) Copy(*Value(scope, k), Output(k));
    return true;
  }

 private:
  // A workspace with the body. Its blobs are shared, so that removing their names does no harm.
  struct Scope {
    std::unique_ptr<Workspace> own;             // null if the body runs in the operator's workspace
    std::vector<std::shared_ptr<Blob>> inputs;  // iteration, condition, values
    std::vector<std::shared_ptr<Blob>> outputs;  // condition, values, items
    std::unique_ptr<NetBase> net;
  };

  std::shared_ptr<Scope> MakeScope(const NetDef& body, bool disable) {
    auto scope = std::make_shared<Scope>();
    Workspace* ws = workspace();
    if (!disable) {
      scope->own = std::make_unique<Workspace>(ws->RootFolder());
      scope->own->SetFileAccess(ws->file_access());
      ws = scope->own.get();
    }
    for (int i = 0; i < kInputsBeforeValues + values_; ++i) {
      (void)ws->CreateBlob(body.external_input(i));
      scope->inputs.push_back(ws->FindBlob(body.external_input(i)));
    }
    scope->net = CreateInnerNet(*this, kOnnxWhileBody, ws);
    for (const std::string& name : body.external_output()) {
      scope->outputs.push_back(ws->FindBlob(name));
      CAFFE_ENFORCE(scope->outputs.back() != nullptr, "external output \"", name,
                    "\" of the body does not exist");
    }
    return scope;
  }

  // The tensors may be one, if names inside and outside of the body denote the same blob.
  void Copy(const Tensor& from, Tensor* to) {
    if (&from != to) to->CopyFrom(from, &context_);
  }
  static Tensor* Value(Scope* scope, int i) {
    return scope->inputs[static_cast<size_t>(kInputsBeforeValues + i)]->GetMutableTensor(CPU);
  }
  static const std::string& Name(const Scope& scope, int i) {
    return scope.net->external_output()[static_cast<size_t>(i)];
  }
  // External output `i` of the body.
  static const Tensor& Result(const Scope& scope, int i) {
    const Blob& blob = *scope.outputs[static_cast<size_t>(i)];
    CAFFE_ENFORCE(blob.IsTensor(CPU), "external output \"", Name(scope, i), "\" of the body holds ",
                  blob.IsEmpty() ? "nothing" : blob.TypeName(), ", want a tensor on the CPU");
    return blob.Get<Tensor>();
  }

  static void SetIteration(Scope* scope, int64_t iteration, bool condition, TypeMeta type) {
    Tensor* const counter = scope->inputs[0]->GetMutableTensor(CPU);
    counter->Resize(std::vector<int64_t>());
    *counter->mutable_data<int64_t>() = iteration;
    Tensor* const flag = scope->inputs[1]->GetMutableTensor(CPU);
    flag->Resize(1);
    if (type == TypeMeta::Make<int32_t>()) {
      *flag->mutable_data<int32_t>() = condition;
    } else if (type == TypeMeta::Make<int64_t>()) {
      *flag->mutable_data<int64_t>() = condition;
    } else {
      *flag->mutable_data<bool>() = condition;
    }
  }

  // Appends the rows of `item` to a list.
  void Append(const Tensor& item, int list, int64_t iteration) {
    CAFFE_ENFORCE(item.IsShaped() && item.dim() > 0, "an item of list ", list,
                  " is a scalar or has no shape, want at least one dimension");
    std::vector<int64_t>& dims = item_dims_[static_cast<size_t>(list)];
    Tensor* const out = Output(values_ + list);
    if (iteration == 0) {
      dims = item.dims();
      list_dims_ = item.dims();
      out->Resize(list_dims_);
      (void)out->raw_mutable_data(item.dtype());
      list_dims_[0] = 0;
      out->Resize(list_dims_);
    }
    CAFFE_ENFORCE(item.dims() == dims, "item ", iteration, " of list ", list, " has shape ",
                  item.sizes(), ", want ", IntArrayRef(dims), " as the first one");
    CAFFE_ENFORCE(item.dtype() == out->dtype(), "item ", iteration, " of list ", list,
                  " has elements of type ", item.dtype().name(), ", want ", out->dtype().name(),
                  " as the first one");
    const int64_t filled = out->numel();
    const size_t needed = CheckedMultiply<size_t>(
        static_cast<size_t>(CheckedAdd<int64_t>(filled, item.numel())), item.dtype().itemsize());
    if (item.dtype().IsPlainData() && needed <= out->capacity_nbytes()) {
      list_dims_ = item.dims();  // Resize takes no memory, unlike Extend
      list_dims_[0] += out->dim(0);
      out->Resize(list_dims_);
    } else {
      out->Extend(item.dim(0), 100, &context_);
    }
    if (item.numel() == 0) return;
    context_.CopyItemsSameDevice(item.dtype(), static_cast<size_t>(item.numel()), item.raw_data(),
                                 static_cast<char*>(out->raw_mutable_data(item.dtype())) +
                                     static_cast<size_t>(filled) * item.dtype().itemsize());
  }

  const int values_;
  int lists_ = 0;
  const bool has_trip_count_;
  const bool has_cond_;
  std::array<std::shared_ptr<Scope>, 2> scopes_;  // by iteration modulo 2; may be the same
  std::vector<std::vector<int64_t>> item_dims_;   // by list
  std::vector<EmptyList> empty_;                  // by list
  std::vector<int64_t> list_dims_;                // scratch
};

}  // namespace

void RegisterOnnxWhile() {
  OpSchema& schema = RegisterSchema("ONNXWhile", __FILE__);
  DeclareNet(schema, kOnnxWhileBody)
      .NumInputs(kInputsBeforeValues, INT_MAX)
      .NumOutputs(0, INT_MAX)
      .AllowInplace([](int, int) { return true; })
      .Args(kOnnxWhileHasTripCount, kOnnxWhileHasCond, kOnnxWhileSaveScopes,
            kOnnxWhileDisableScopes, kOnnxWhileEmptyLists)
      .Input(0, "max_trip_count", "int64; the first element counts")
      .Input(1, "first_iter_condition", "bool, int32 or int64; the first element counts")
      .Input(2, "V1, V2, ...", "the initial values")
      .Output(0, "F1, F2, ..., L1, L2, ...", "the final values and the lists")
      .Traits({.keeps_nets_on_cpu = true})
      .SetDoc(
          "Runs a net repeatedly and passes values from one iteration to the next, as ONNX's "
          "Loop does.");
  RegisterCpuOperator<OnnxWhileOp>("ONNXWhile", __FILE__);
  // No gradient: Caffe2 has none either.
}

}  // namespace caffe2rt
