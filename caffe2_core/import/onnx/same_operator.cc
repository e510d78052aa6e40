#include "caffe2_core/import/onnx/same_operator.h"

#include <algorithm>

#include "caffe2_core/import/onnx/onnx_values.h"

namespace caffe2rt {

namespace {

using Attribute = onnx::AttributeProto;

bool NumbersAType(std::string_view name) {
  return name == "output_dtype" || name == "output_datatype" || name == "dtype";
}

// Files before IR version 3 do not state the type.
int KindOf(const Attribute& attribute) {
  if (attribute.has_type() && attribute.type() != Attribute::UNDEFINED) return attribute.type();
  if (attribute.has_i()) return Attribute::INT;
  if (attribute.has_f()) return Attribute::FLOAT;
  if (attribute.has_s()) return Attribute::STRING;
  if (attribute.floats_size() > 0) return Attribute::FLOATS;
  if (attribute.strings_size() > 0) return Attribute::STRINGS;
  if (attribute.has_t() || attribute.has_g() ||
      attribute.tensors_size() + attribute.graphs_size() > 0)
    return Attribute::UNDEFINED;
  return Attribute::INTS;
}

Argument ArgumentOfAttribute(const std::string& name, const Attribute& attribute) {
  const int kind = KindOf(attribute);
  switch (kind) {
    case Attribute::INT:
      if (NumbersAType(name) && attribute.i() != 0) {
        const int type = static_cast<int>(std::clamp<int64_t>(attribute.i(), 0, 1 << 20));
        return MakeArgument(name, static_cast<int>(Caffe2TypeOf(type)));
      }
      return MakeArgument(name, attribute.i());
    case Attribute::FLOAT:
      return MakeArgument(name, attribute.f());
    case Attribute::STRING:
      return MakeArgument(name, attribute.s());
    case Attribute::INTS:
      return MakeArgument(name,
                          std::vector<int64_t>(attribute.ints().begin(), attribute.ints().end()));
    case Attribute::FLOATS:
      return MakeArgument(name,
                          std::vector<float>(attribute.floats().begin(), attribute.floats().end()));
    case Attribute::STRINGS:
      return MakeArgument(
          name, std::vector<std::string>(attribute.strings().begin(), attribute.strings().end()));
    default:
      CAFFE_THROW("attribute \"", name, "\" is of kind ", kind,
                  ", want a number, a text or a list of them");
  }
}

}  // namespace

std::vector<Argument> ArgumentsOfAttributes(const OnnxNode& node,
                                            const std::vector<std::string>& without) {
  std::vector<Argument> args;
  for (const auto& [name, attribute] : node.attributes()) {
    if (std::find(without.begin(), without.end(), name) != without.end()) continue;
    args.push_back(ArgumentOfAttribute(name, *attribute));
  }
  return args;
}

void EmitSameOf(OnnxNode* node, const std::string& op, const std::vector<std::string>& inputs,
                const std::vector<std::string>& without, const std::vector<Argument>& more) {
  std::vector<Argument> args = ArgumentsOfAttributes(*node, without);
  args.insert(args.end(), more.begin(), more.end());
  std::vector<std::string> given;
  std::vector<int> omitted, pending;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].empty()) {
      pending.push_back(static_cast<int>(i));
    } else {
      given.push_back(inputs[i]);
      omitted.insert(omitted.end(), pending.begin(), pending.end());
      pending.clear();
    }
  }
  if (!omitted.empty()) args.push_back(MakeArgument("omitted_inputs", omitted));
  node->Emit(op, given, node->Outs(), args);
}

void EmitSame(OnnxNode* node, const std::string& op, const std::vector<std::string>& without,
              const std::vector<Argument>& more) {
  EmitSameOf(node, op, node->Ins(), without, more);
}

}  // namespace caffe2rt
