#include "caffe2_core/import/onnx/run_time_parameters.h"

#include "caffe2_core/graph/op_schema.h"

namespace caffe2rt {
namespace {

bool StaysInput(const OnnxParameter& parameter) { return *parameter.argument == 0; }

// The content of the parameter in a world as an argument.
Argument ArgumentIn(const OnnxNode& n, const OnnxParameter& parameter, size_t world) {
  const OnnxContent& content = *n.Content(n.In(parameter.input));
  const std::vector<double>& reals = content.reals[world];
  if (parameter.is_real)
    return MakeArgument(parameter.argument, std::vector<float>(reals.begin(), reals.end()));
  return MakeArgument(parameter.argument, content.ints[world]);
}

// Operators read lists, and numbers from lists of one element are arguments of their own.
Argument AsDeclared(const std::string& type, Argument argument) {
  for (const OpSchema::Argument& declared : OpSchemaRegistry::Schema(type)->args()) {
    if (declared.name != argument.name() || declared.type.ends_with("s")) continue;
    if (argument.ints_size() == 1) {
      argument.set_i(argument.ints(0));
      argument.clear_ints();
    } else if (argument.floats_size() == 1) {
      argument.set_f(argument.floats(0));
      argument.clear_floats();
    }
  }
  return argument;
}

// The shapes of the outputs in a world, if the parameters were arguments; none if they are not known.
std::vector<TensorShape> InferIn(const OnnxNode& n, OperatorDef op, size_t data,
                                 const std::vector<OnnxParameter>& parameters, size_t world) {
  for (const OnnxParameter& parameter : parameters) {
    if (StaysInput(parameter) || !n.Has(parameter.input)) continue;
    if (n.Content(n.In(parameter.input)) == nullptr) return {};
    *op.add_arg() = AsDeclared(op.type(), ArgumentIn(n, parameter, world));
  }
  std::vector<TensorShape> inputs;
  op.clear_input();
  for (size_t i = 0; i < data; ++i) {
    if (!n.HasRank(n.In(i))) return {};
    op.add_input(n.In(i));
    inputs.push_back(CreateTensorShape(n.DimsIn(n.In(i), world), Caffe2TypeOf(n.Type(n.In(i)))));
  }
  try {
    return OpSchemaRegistry::Schema(op.type())->InferTensor(op, inputs);
  } catch (const EnforceNotMet&) {
    return {};  // the numbers of a symbol may not fit
  }
}

}  // namespace

void EmitWithParameters(OnnxNode* n, const std::string& type, size_t data,
                        const std::vector<OnnxParameter>& parameters, std::vector<Argument> args,
                        size_t outputs) {
  bool known = true;
  for (const OnnxParameter& parameter : parameters) {
    known =
        known && (StaysInput(parameter) || !n->Has(parameter.input) || n->IsKnown(parameter.input));
  }
  std::vector<std::string> inputs, names;
  for (size_t i = 0; i < data; ++i) inputs.push_back(n->In(i));
  for (size_t i = 0; i < outputs; ++i) names.push_back(n->Out(i));
  const OperatorDef plain = CreateOperatorDef(type, "", inputs, names, args);
  size_t used = inputs.size();
  for (const OnnxParameter& parameter : parameters) {
    const bool given = n->Has(parameter.input);
    std::string blob = StaysInput(parameter) ? parameter.blob : given ? n->In(parameter.input) : "";
    if (known && !StaysInput(parameter)) {
      if (given) args.push_back(AsDeclared(type, ArgumentIn(*n, parameter, 0)));
      blob.clear();
    }
    if (!blob.empty()) used = inputs.size() + 1;
    inputs.push_back(blob);
  }
  inputs.resize(used);
  for (std::string& input : inputs) {
    if (input.empty()) input = n->IntConst("none", {});
  }
  n->Emit(type, inputs, names, args);
  n->SetType(names[0], n->Type(n->In(0)));
  if (n->HasRank(names[0])) return;
  InOnnxWorlds<std::vector<TensorShape>> shapes;
  for (size_t world = 0; world < kOnnxWorlds; ++world) {
    shapes[world] = InferIn(*n, plain, data, parameters, world);
    if (shapes[world].size() == outputs) continue;
    if (IsPlainOnnxWorld(world)) return;
    shapes[world] = shapes[0];
  }
  for (size_t i = 0; i < outputs; ++i) {
    InOnnxWorlds<OnnxDims> dims;
    bool is_known = true;
    for (size_t world = 0; world < kOnnxWorlds; ++world) {
      dims[world] = GetDimsVector(shapes[world][i]);
      is_known &= !IsPlainOnnxWorld(world) || !shapes[world][i].unknown_shape();
    }
    if (is_known && dims[0].size() == dims[1].size()) n->SetDims(names[i], dims);
  }
}

}  // namespace caffe2rt
