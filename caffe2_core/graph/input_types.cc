#include "caffe2_core/graph/input_types.h"

#include <absl/strings/str_join.h>

#include <algorithm>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/tensor/data_type.h"

namespace caffe2rt {
namespace {

// "input 0 (X)"
std::string Subject(const OpSchema& schema, size_t input) {
  std::string name;
  if (input < schema.input_docs().size()) name = schema.input_docs()[input].name;
  return MakeString("input ", input, name.empty() ? "" : " (" + name + ")");
}

}  // namespace

std::string WrongInputType(const OperatorDef& op, const std::vector<TensorShape>& inputs) {
  const OpSchema* const schema = OpSchemaRegistry::Schema(op.type());
  if (schema == nullptr) return "";
  const auto is_known = [&](size_t i) {
    return !inputs[i].unknown_shape() && inputs[i].has_data_type() &&
           inputs[i].data_type() != TensorProto::UNDEFINED;
  };
  for (size_t i = 0; i < inputs.size(); ++i) {
    const InputTypes* const types = schema->types_of_input(static_cast<int>(i));
    if (types == nullptr || !is_known(i)) continue;
    const TensorProto_DataType got = inputs[i].data_type();
    if (types->like_first && is_known(0) && got != inputs[0].data_type()) {
      return MakeString(Subject(*schema, i), " has elements of type ", DataTypeName(got), ", want ",
                        DataTypeName(inputs[0].data_type()), " as ", Subject(*schema, 0));
    }
    const auto& accepted = types->accepted;
    if (std::find(accepted.begin(), accepted.end(), got) != accepted.end()) continue;
    return MakeString(
        Subject(*schema, i), " has elements of type ", DataTypeName(got), ", want ",
        absl::StrJoin(accepted, ", ", [](std::string* out, TensorProto_DataType type) {
          out->append(DataTypeName(type));
        }));
  }
  return "";
}

}  // namespace caffe2rt
