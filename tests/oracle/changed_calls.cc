#include "tests/oracle/changed_calls.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/inspect/model_check.h"
#include "caffe2_core/inspect/shape_inference_workspace.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/tensor/data_type.h"
#include "tests/oracle/case_file.h"
#include "tests/oracle/compare.h"

namespace caffe2rt::test {
namespace {

constexpr TensorProto_DataType kTypes[] = {
    TensorProto::FLOAT, TensorProto::DOUBLE,  TensorProto::INT32, TensorProto::INT64,
    TensorProto::BOOL,  TensorProto::UINT8,   TensorProto::INT8,  TensorProto::UINT16,
    TensorProto::INT16, TensorProto::FLOAT16, TensorProto::STRING};

// The elements of a recorded tensor, as numbers or as texts.
struct Elements {
  std::vector<double> numbers;
  std::vector<std::string> texts;
};

Elements ElementsOf(const TensorProto& tensor) {
  Elements elements;
  const auto append = [&](const auto& values) {
    elements.numbers.insert(elements.numbers.end(), values.begin(), values.end());
  };
  append(tensor.float_data());
  append(tensor.double_data());
  append(tensor.int32_data());
  append(tensor.int64_data());
  elements.texts.assign(tensor.string_data().begin(), tensor.string_data().end());
  elements.numbers.resize(std::max(elements.numbers.size(), elements.texts.size()));
  elements.texts.resize(elements.numbers.size(), "text");
  return elements;
}

// `old` with other dims and another type. Elements keep their values as far as the type can hold
// them; further elements repeat the last one, so that ids stay sorted.
TensorProto Changed(const TensorProto& old, const std::vector<int64_t>& dims,
                    TensorProto_DataType type) {
  const Elements elements = ElementsOf(old);
  TensorProto tensor;
  tensor.set_data_type(type);
  int64_t count = 1;
  for (const int64_t dim : dims) {
    tensor.add_dims(dim);
    count *= dim;
  }
  for (int64_t i = 0; i < count; ++i) {
    const size_t from = std::min(static_cast<size_t>(i), elements.numbers.size() - 1);
    const double value = elements.numbers.empty() ? 0 : elements.numbers[from];
    const double whole = std::isfinite(value) ? std::fmod(std::trunc(value), 1 << 30) : 0;
    switch (type) {
      case TensorProto::FLOAT:
        tensor.add_float_data(static_cast<float>(value));
        break;
      case TensorProto::DOUBLE:
        tensor.add_double_data(value);
        break;
      case TensorProto::INT64:
        tensor.add_int64_data(static_cast<int64_t>(whole));
        break;
      case TensorProto::STRING:
        tensor.add_string_data(elements.texts.empty() ? "text" : elements.texts[from]);
        break;
      case TensorProto::BOOL:
        tensor.add_int32_data(value != 0);
        break;
      case TensorProto::UINT8:
        tensor.add_int32_data(static_cast<int32_t>(std::abs(whole)) & 255);
        break;
      case TensorProto::INT32:
        tensor.add_int32_data(static_cast<int32_t>(whole));
        break;
      default:  // sixteen bits or fewer: the bits
        tensor.add_int32_data(static_cast<int32_t>(whole) & 127);
    }
  }
  return tensor;
}

struct Change {
  int input = 0;
  std::string kind;
  std::vector<int64_t> dims;
  TensorProto_DataType type = TensorProto::UNDEFINED;
};

// The changes of a tensor's dims by one rank.
std::vector<std::vector<int64_t>> OtherRanks(const std::vector<int64_t>& dims) {
  std::vector<std::vector<int64_t>> all;
  const auto at = [&](size_t i) { return dims.begin() + static_cast<int64_t>(i); };
  all.emplace_back(dims).insert(all.back().begin(), 1);
  all.emplace_back(dims).push_back(1);
  if (!dims.empty()) {
    all.emplace_back(at(1), dims.end());
    all.emplace_back(dims.begin(), at(dims.size() - 1));
    all.emplace_back(dims).push_back(2);
  }
  if (dims.size() > 1) {
    all.emplace_back(at(1), dims.end());
    all.back()[0] *= dims[0];
  }
  return all;
}

std::vector<Change> ChangesOf(const TensorProto& tensor, int input) {
  std::vector<Change> changes;
  const std::vector<int64_t> dims = DimsOf(tensor);
  for (const TensorProto_DataType type : kTypes) {
    if (type != tensor.data_type()) changes.push_back({input, "type", dims, type});
  }
  for (std::vector<int64_t>& other : OtherRanks(dims)) {
    changes.push_back({input, "rank", std::move(other), tensor.data_type()});
  }
  for (size_t i = 0; i < dims.size(); ++i) {
    for (const int64_t dim : {dims[i] - 1, dims[i] + 1, 2 * dims[i]}) {
      if (dim < 0 || dim == dims[i]) continue;
      changes.push_back({input, "size", dims, tensor.data_type()});
      changes.back().dims[i] = dim;
    }
  }
  return changes;
}

// Changes of quantized tensors keep their element type, which their scale belongs to.
std::vector<Change> ChangesOf(const oracle::OperatorCase& call, int input) {
  const TensorProto tensor = RecordedTensor(call.input(input));
  if (tensor.data_type() == TensorProto::UNDEFINED) return {};
  std::vector<Change> changes = ChangesOf(tensor, input);
  if (call.input(input).has_int8())
    std::erase_if(changes, [](const Change& change) { return change.kind == "type"; });
  return changes;
}

ChangedCall Apply(const oracle::OperatorCase& call, const std::string& type, const Change& change) {
  ChangedCall result{.call = WithInput(call, change.input, change.dims, change.type),
                     .type = type,
                     .kind = change.kind,
                     .change = ""};
  const oracle::Blob& blob = call.input(change.input);
  const TensorProto old = RecordedTensor(blob);
  result.change = MakeString("input \"", blob.name(), "\": ", DataTypeName(old.data_type()), " ",
                             DimsText(DimsOf(old)), " -> ", DataTypeName(change.type), " ",
                             DimsText(change.dims));
  return result;
}

bool IsUsable(const oracle::OperatorCase& call) {
  if (call.throws() || call.input_size() == 0) return false;
  for (const auto* blobs : {&call.input(), &call.output_before()}) {
    for (const oracle::Blob& blob : *blobs) {
      if (blob.value_case() == oracle::Blob::kOpaque) return false;
    }
  }
  return true;
}

size_t Below(size_t limit, std::mt19937* random) { return (*random)() % limit; }

// Runs the net's operator on the inputs that are in the workspace.
std::string RunError(const NetDef& net, const oracle::OperatorCase& call, Workspace* ws) {
  for (const oracle::Blob& blob : call.output_before()) MakeBlob(blob, ws);
  try {
    return ws->RunOperatorOnce(net.op(0)) ? "" : "the operator returned false";
  } catch (const EnforceNotMet& error) {
    return error.message();
  }
}

NetDef NetOf(const oracle::OperatorCase& call) {
  NetDef net;
  net.set_name("call");
  CAFFE_ENFORCE(net.add_op()->ParseFromString(call.op()), "the call has no OperatorDef");
  return net;
}

}  // namespace

std::vector<int64_t> DimsOf(const TensorProto& tensor) {
  return {tensor.dims().begin(), tensor.dims().end()};
}

TensorProto RecordedTensor(const oracle::Blob& blob) {
  TensorProto tensor;
  CAFFE_ENFORCE(
      tensor.ParseFromString(blob.value_case() == oracle::Blob::kInt8 ? blob.int8().tensor()
                                                                      : blob.tensor()),
      "recorded blob \"", blob.name(), "\" is not a TensorProto");
  return tensor;
}

oracle::OperatorCase WithInput(const oracle::OperatorCase& call, int input,
                               const std::vector<int64_t>& dims, TensorProto_DataType type) {
  oracle::OperatorCase changed = call;
  oracle::Blob* const blob = changed.mutable_input(input);
  const TensorProto tensor = Changed(RecordedTensor(*blob), dims, type);
  if (blob->has_int8()) {
    blob->mutable_int8()->set_tensor(tensor.SerializeAsString());
  } else {
    blob->set_tensor(tensor.SerializeAsString());
  }
  return changed;
}

std::string RunError(const oracle::OperatorCase& call) {
  Workspace ws;
  for (const oracle::Blob& blob : call.input()) MakeBlob(blob, &ws);
  return RunError(NetOf(call), call, &ws);
}

ChangedCalls::ChangedCalls(const std::string& folder) {
  for (const auto& entry : std::filesystem::directory_iterator(folder + "/operators")) {
    const oracle::OperatorCases recorded = ReadOperatorCases(entry.path().string());
    for (const oracle::OperatorCase& call : recorded.case_()) {
      OperatorDef def;
      CAFFE_ENFORCE(def.ParseFromString(call.op()), "case ", call.id(), " has no OperatorDef");
      if (IsUsable(call) && HasOperator(CPU, def.type())) cases_[def.type()].push_back(call);
    }
  }
  CAFFE_ENFORCE(!cases_.empty(), "\"", folder, "\" has no call that can be changed");
}

ChangedCall ChangedCalls::DrawOf(const std::string& type, std::mt19937* random) const {
  static constexpr const char* kKinds[] = {"type", "rank", "size"};
  const std::vector<oracle::OperatorCase>& calls = cases_.at(type);
  const oracle::OperatorCase& call = calls[Below(calls.size(), random)];
  std::vector<Change> changes =
      ChangesOf(call, static_cast<int>(Below(static_cast<size_t>(call.input_size()), random)));
  const char* const kind = kKinds[Below(std::size(kKinds), random)];
  std::erase_if(changes, [&](const Change& change) { return change.kind != kind; });
  if (changes.empty()) return {};
  return Apply(call, type, changes[Below(changes.size(), random)]);
}

ChangedCall ChangedCalls::Draw(std::mt19937* random) const {
  for (;;) {
    const auto type = std::next(cases_.begin(), static_cast<int64_t>(Below(cases_.size(), random)));
    ChangedCall call = DrawOf(type->first, random);
    if (!call.type.empty()) return call;
  }
}

CallVerdict CheckAndRun(const ChangedCall& call, KnownInputs known) {
  const NetDef net = NetOf(call.call);
  Workspace ws;
  for (const oracle::Blob& blob : call.call.input()) MakeBlob(blob, &ws);
  CallVerdict verdict;
  ModelToCheck model;
  model.given = ShapesOfWorkspace(ws);
  if (known == KnownInputs::kValues) {
    for (const oracle::Blob& blob : call.call.input()) {
      const Blob* const made = ws.GetBlob(blob.name());
      if (BlobIsTensorType(*made, CPU)) model.values[blob.name()] = &made->Get<Tensor>();
    }
  }
  model.given_is_complete = model.has_surroundings = true;
  for (const NetFinding& finding : ValidateModel(net, model)) {
    if (finding.kind == NetFindingKind::kError && verdict.check.empty())
      verdict.check = finding.text;
  }
  verdict.run = RunError(net, call.call, &ws);
  return verdict;
}

}  // namespace caffe2rt::test
