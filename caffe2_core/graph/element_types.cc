#include "caffe2_core/graph/element_types.h"

#include <algorithm>

#include "caffe2_core/base/enforce.h"

namespace caffe2rt {
namespace {

using Types = std::vector<TensorProto::DataType>;

bool HasNoType(const TensorShape& shape) {
  return shape.data_type() == TensorProto::UNDEFINED || !shape.has_data_type();
}

// The inputs with one element each; those of unknown shape have `rank` dims, those of unknown type `type`.
std::vector<TensorShape> WithOneElement(const std::vector<TensorShape>& inputs, int rank,
                                        TensorProto::DataType type) {
  std::vector<TensorShape> single;
  for (const TensorShape& input : inputs) {
    const int dims = input.unknown_shape() ? rank : input.dims_size();
    single.push_back(CreateTensorShape(std::vector<int64_t>(static_cast<size_t>(dims), 1),
                                       HasNoType(input) ? type : input.data_type()));
  }
  return single;
}

// With `type` for the inputs whose types are not known.
Types TypesWith(TensorProto::DataType type, const OperatorDef& op, const OpSchema& schema,
                const std::vector<TensorShape>& inputs) {
  constexpr int kMaxRank = 5;
  for (int rank = 0; rank <= kMaxRank; ++rank) {
    try {
      Types types;
      for (const TensorShape& output : schema.InferTensor(op, WithOneElement(inputs, rank, type))) {
        types.push_back(output.has_data_type() ? output.data_type() : TensorProto::UNDEFINED);
      }
      types.resize(static_cast<size_t>(op.output_size()), TensorProto::UNDEFINED);
      return types;
    } catch (const EnforceNotMet&) {
      // It wants another rank.
    }
  }
  return {};
}

}  // namespace

std::vector<TensorProto::DataType> InferElementTypes(const OperatorDef& op,
                                                     const std::vector<TensorShape>& inputs) {
  const OpSchema* schema = OpSchemaRegistry::Schema(op.type());
  if (schema == nullptr) return {};
  Types types = TypesWith(TensorProto::FLOAT, op, *schema, inputs);
  if (std::none_of(inputs.begin(), inputs.end(), HasNoType)) return types;
  // What is the same for two types does not depend on that of the input.
  const Types other = TypesWith(TensorProto::INT64, op, *schema, inputs);
  if (other.size() != types.size()) return {};
  for (size_t i = 0; i < types.size(); ++i) {
    if (types[i] != other[i]) types[i] = TensorProto::UNDEFINED;
  }
  return types;
}

void StateElementTypes(const NetDef& net, std::vector<OpShapes>* of_operators, ShapeMap* shapes) {
  CAFFE_ENFORCE_EQ(of_operators->size(), static_cast<size_t>(net.op_size()), "operators");
  ShapeMap typed;  // blobs of unknown shape whose types were found
  for (int i = 0; i < net.op_size(); ++i) {
    const OperatorDef& op = net.op(i);
    OpShapes& known = (*of_operators)[static_cast<size_t>(i)];
    known.inputs.resize(static_cast<size_t>(op.input_size()), UnknownShape());
    known.outputs.resize(static_cast<size_t>(op.output_size()), UnknownShape());
    for (int k = 0; k < op.input_size(); ++k) {
      TensorShape& input = known.inputs[static_cast<size_t>(k)];
      const auto found = typed.find(op.input(k));
      if (input.unknown_shape() && found != typed.end()) input = found->second;
    }
    const std::vector<TensorProto::DataType> types = InferElementTypes(op, known.inputs);
    for (int k = 0; k < op.output_size(); ++k) {
      TensorShape& output = known.outputs[static_cast<size_t>(k)];
      typed.erase(op.output(k));
      const auto at = static_cast<size_t>(k);
      if (!output.unknown_shape() || at >= types.size() || types[at] == TensorProto::UNDEFINED)
        continue;
      output.set_data_type(types[at]);
      typed[op.output(k)] = output;
    }
  }
  for (const auto& [blob, shape] : typed) (*shapes)[blob] = shape;
}

}  // namespace caffe2rt
