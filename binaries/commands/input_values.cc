#include "binaries/commands/input_values.h"

#include <absl/strings/str_join.h>
#include <absl/strings/str_split.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "binaries/json_output.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/tensor/data_type.h"

namespace caffe2rt {
namespace {

struct CastType {
  const char* name;
  TensorProto_DataType type;
};
constexpr CastType kCastTypes[] = {
    {"float", TensorProto::FLOAT},   {"double", TensorProto::DOUBLE},
    {"int32", TensorProto::INT32},   {"int64", TensorProto::INT64},
    {"uint8", TensorProto::UINT8},   {"int8", TensorProto::INT8},
    {"int16", TensorProto::INT16},   {"uint16", TensorProto::UINT16},
    {"bool", TensorProto::BOOL},     {"uint32", TensorProto::UINT32},
    {"uint64", TensorProto::UINT64}, {"bfloat16", TensorProto::BFLOAT16}};

TensorProto_DataType CastTypeOf(const std::string& name) {
  std::vector<std::string> names;
  for (const CastType& type : kCastTypes) {
    if (name == type.name) return type.type;
    names.emplace_back(type.name);
  }
  throw UsageError("option --cast is \"" + name + "\", want [BLOB=]TYPE, TYPE one of " +
                   absl::StrJoin(names, ", ") + DidYouMean(name, names));
}

[[noreturn]] void ThrowNotNumbers(const std::string& text) {
  throw UsageError("option --input has \"" + text +
                   "\", want numbers in lists of equal length, such as [[1, 2], [3, 4]]");
}

// Appends the numbers of nested lists, and checks that the lists of one depth have one length.
void Flatten(const Json& list, size_t depth, const std::string& text, std::vector<int64_t>* dims,
             std::vector<float>* values) {
  if (!list.is_array()) {
    if (!list.is_number() || depth != dims->size()) ThrowNotNumbers(text);
    values->push_back(list.get<float>());
    return;
  }
  const auto length = static_cast<int64_t>(list.size());
  if (depth == dims->size() && values->empty()) dims->push_back(length);
  if (depth >= dims->size() || (*dims)[depth] != length) ThrowNotNumbers(text);
  for (const Json& item : list) Flatten(item, depth + 1, text, dims, values);
}

Tensor TensorOf(const std::vector<int64_t>& dims, const std::vector<float>& values) {
  Tensor tensor(dims, CPU);
  std::copy(values.begin(), values.end(), tensor.mutable_data<float>());
  return tensor;
}

// Whether the text states a float, as "1", "1." and "1e3" do.
bool ParseFloat(std::string text, float* value) {
  if (text.ends_with('.')) text += '0';
  return ParseNumber(text, value);
}

}  // namespace

bool ParseInputValues(const std::string& text, Tensor* tensor) {
  std::vector<int64_t> dims;
  std::vector<float> values;
  if (text.starts_with('[')) {
    const Json lists = Json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (lists.is_discarded()) ThrowNotNumbers(text);
    Flatten(lists, 0, text, &dims, &values);
    *tensor = TensorOf(dims, values);
    return true;
  }
  if (text.find_first_of(".eE") == std::string::npos) return false;
  const std::vector<std::string> parts = absl::StrSplit(text, ',');
  for (const std::string& part : parts) {
    if (!ParseFloat(part, &values.emplace_back())) return false;
  }
  const auto count = static_cast<int64_t>(values.size());
  *tensor = TensorOf(count == 1 ? std::vector<int64_t>{1} : std::vector<int64_t>{1, count}, values);
  return true;
}

Tensor CastElements(Tensor tensor, TensorProto_DataType type) {
  Workspace ws;
  SetTensor(&ws, "x", std::move(tensor));
  CAFFE_ENFORCE(ws.RunOperatorOnce(CreateOperatorDef(
                    "Cast", "", std::vector<std::string>{"x"}, std::vector<std::string>{"y"},
                    std::vector<Argument>{MakeArgument("to", static_cast<int>(type))})),
                "operator Cast failed");
  return ws.GetBlob("y")->Get<Tensor>();
}

Tensor CastAsTold(const CommandLine& line, const std::string& blob, Tensor tensor) {
  std::string name;
  for (const std::string& text : line.All("cast")) {
    const auto assignment = SplitAtLastEquals(text);
    const std::string& type = assignment.has_value() ? assignment->second : text;
    (void)CastTypeOf(type);
    if (!assignment.has_value() || assignment->first == blob) name = type;
  }
  if (name.empty() || DataTypeName(tensor.meta()) == name) return tensor;
  return CastElements(std::move(tensor), CastTypeOf(name));
}

std::string CastHint(const std::string& error, const std::set<std::string>& fed,
                     const Workspace& ws) {
  for (const std::string& name : fed) {
    const std::shared_ptr<Blob> blob = ws.FindBlob(name);
    if (blob == nullptr || !blob->IsType<Tensor>()) continue;
    const std::string type = DataTypeName(blob->Get<Tensor>().meta());
    const std::string cpp_type(blob->Get<Tensor>().meta().name());
    const bool convertible =
        type != "float" && std::any_of(std::begin(kCastTypes), std::end(kCastTypes),
                                       [&](const CastType& known) { return type == known.name; });
    if (!convertible || error.find("\"" + name + "\"") == std::string::npos) continue;
    if (error.find(type) == std::string::npos && error.find(cpp_type) == std::string::npos)
      continue;
    return MakeString("; --cast float converts input \"", name, "\", which is ", type);
  }
  return "";
}

}  // namespace caffe2rt
