#include "caffe2_core/graph/input_types.h"

#include <absl/strings/str_join.h>

#include <algorithm>
#include <map>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/mutex.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/tensor/data_type.h"

namespace caffe2rt {
namespace {

struct DeclaredTypes {
  Mutex mutex;
  std::map<std::pair<std::string, int>, InputTypes> types ABSL_GUARDED_BY(mutex);
};

DeclaredTypes& AllDeclaredTypes() {
  static DeclaredTypes declared;
  return declared;
}

// "input 0 (X)"
std::string Subject(const std::string& type, size_t input) {
  const OpSchema* const schema = OpSchemaRegistry::Schema(type);
  std::string name;
  if (schema != nullptr && input < schema->input_docs().size())
    name = schema->input_docs()[input].name;
  return MakeString("input ", input, name.empty() ? "" : " (" + name + ")");
}

}  // namespace

void DeclareInputTypes(const std::string& type, int input, InputTypes types) {
  DeclaredTypes& declared = AllDeclaredTypes();
  const MutexLock lock(declared.mutex);
  declared.types[{type, input}] = std::move(types);
}

void DeclareFloatInputs(const std::string& type, int count) {
  for (int i = 0; i < count; ++i) DeclareInputTypes(type, i, {.accepted = {TensorProto::FLOAT}});
}

std::optional<InputTypes> FindInputTypes(const std::string& type, int input) {
  DeclaredTypes& declared = AllDeclaredTypes();
  const MutexLock lock(declared.mutex);
  const auto found = declared.types.find({type, input});
  if (found == declared.types.end()) return std::nullopt;
  return found->second;
}

std::string WrongInputType(const OperatorDef& op, const std::vector<TensorShape>& inputs) {
  const auto is_known = [&](size_t i) {
    return !inputs[i].unknown_shape() && inputs[i].has_data_type() &&
           inputs[i].data_type() != TensorProto::UNDEFINED;
  };
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto types = FindInputTypes(op.type(), static_cast<int>(i));
    if (!types.has_value() || !is_known(i)) continue;
    const TensorProto_DataType got = inputs[i].data_type();
    if (types->like_first && is_known(0) && got != inputs[0].data_type()) {
      return MakeString(Subject(op.type(), i), " has elements of type ", DataTypeName(got),
                        ", want ", DataTypeName(inputs[0].data_type()), " as ",
                        Subject(op.type(), 0));
    }
    const auto& accepted = types->accepted;
    if (std::find(accepted.begin(), accepted.end(), got) != accepted.end()) continue;
    return MakeString(
        Subject(op.type(), i), " has elements of type ", DataTypeName(got), ", want ",
        absl::StrJoin(accepted, ", ", [](std::string* out, TensorProto_DataType type) {
          out->append(DataTypeName(type));
        }));
  }
  return "";
}

}  // namespace caffe2rt
