#include "caffe2_core/training/model_builder.h"

#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/graph/arguments.h"

namespace caffe2rt {
namespace {

std::vector<Argument> WindowArguments(const WindowOptions& options) {
  if (options.global) return {MakeArgument("global_pooling", 1)};
  std::vector<Argument> args = {MakeArgument("kernel", options.kernel)};
  if (options.stride != 1) args.push_back(MakeArgument("stride", options.stride));
  if (options.pad != 0) args.push_back(MakeArgument("pad", options.pad));
  if (options.dilation != 1) args.push_back(MakeArgument("dilation", options.dilation));
  if (options.group != 1) args.push_back(MakeArgument("group", options.group));
  return args;
}

}  // namespace

ModelBuilder::ModelBuilder(const std::string& name) {
  CAFFE_ENFORCE(!name.empty(), "a model has no name");
  def_.set_name(name);
  def_.mutable_net()->set_name(name);
}

OperatorDef* ModelBuilder::AddOp(const std::string& type, const std::vector<std::string>& inputs,
                                 const std::vector<std::string>& outputs,
                                 const std::vector<Argument>& args) {
  OperatorDef* const op = def_.mutable_net()->add_op();
  *op = CreateOperatorDef(type, "", inputs, outputs, args);
  return op;
}

std::string ModelBuilder::Op(const std::string& type, const std::vector<std::string>& inputs,
                             const std::string& output, const std::vector<Argument>& args) {
  AddOp(type, inputs, {output}, args);
  return output;
}

std::string ModelBuilder::Param(const std::string& name, const std::vector<int64_t>& dims,
                                const std::string& fill, const std::vector<Argument>& args) {
  ParamDef* const param = def_.add_param();
  param->set_name(name);
  for (const int64_t dim : dims) param->add_dims(dim);
  if (fill != "ConstantFill") param->set_fill(fill);
  for (const Argument& arg : args) *param->add_arg() = arg;
  return name;
}

std::string ModelBuilder::Constant(const std::string& name, const std::vector<int64_t>& dims,
                                   float value) {
  Param(name, dims, "ConstantFill", {MakeArgument("value", value)});
  def_.mutable_param(def_.param_size() - 1)->set_trained(false);
  return name;
}

std::string ModelBuilder::Conv(const std::string& x, const std::string& name, int64_t inputs,
                               int64_t outputs, const WindowOptions& options) {
  std::vector<std::string> blobs = {
      x, Param(name + "_w", {outputs, inputs / options.group, options.kernel, options.kernel},
               options.fill)};
  if (options.bias) blobs.push_back(Param(name + "_b", {outputs}));
  return Op("Conv", blobs, name, WindowArguments(options));
}

std::string ModelBuilder::FC(const std::string& x, const std::string& name, int64_t inputs,
                             int64_t outputs, const char* fill) {
  return Op("FC", {x, Param(name + "_w", {outputs, inputs}, fill), Param(name + "_b", {outputs})},
            name);
}

std::string ModelBuilder::MaxPool(const std::string& x, const std::string& name,
                                  const WindowOptions& options) {
  return Op("MaxPool", {x}, name, WindowArguments(options));
}

std::string ModelBuilder::AveragePool(const std::string& x, const std::string& name,
                                      const WindowOptions& options) {
  return Op("AveragePool", {x}, name, WindowArguments(options));
}

std::string ModelBuilder::SpatialBN(const std::string& x, const std::string& name, int64_t channels,
                                    float momentum) {
  const std::string scale =
      Param(name + "_s", {channels}, "ConstantFill", {MakeArgument("value", 1.0f)});
  const std::string bias = Param(name + "_b", {channels});
  const std::string mean = Constant(name + "_rm", {channels}, 0);
  const std::string variance = Constant(name + "_riv", {channels}, 1);
  AddOp("SpatialBN", {x, scale, bias, mean, variance},
        {name, mean, variance, name + "_sm", name + "_siv"},
        {MakeArgument("is_test", 0), MakeArgument("momentum", momentum)});
  return name;
}

std::string ModelBuilder::Dropout(const std::string& x, const std::string& name, float ratio) {
  AddOp("Dropout", {x}, {name, name + "_mask"},
        {MakeArgument("ratio", ratio), MakeArgument("is_test", 0)});
  return name;
}

std::string ModelBuilder::Embedding(const std::string& x, const std::string& name, int64_t rows,
                                    int64_t width) {
  const std::string table = Param(name + "_w", {rows, width}, "UniformFill",
                                  {MakeArgument("min", -0.1f), MakeArgument("max", 0.1f)});
  def_.mutable_param(def_.param_size() - 1)->set_decays(false);
  return Op("Gather", {table, x}, name);
}

std::string ModelBuilder::Lstm(const std::string& x, const std::string& name,
                               const LstmOptions& options) {
  const int64_t units = options.units, batch = options.batch_size;
  const auto shape = [](const std::vector<int64_t>& dims) { return MakeArgument("shape", dims); };
  // The part of the gates that depends on the input, for all steps at once.
  const std::string flat = name + "_x";
  AddOp("Reshape", {x}, {flat, flat + "_shape"}, {shape({options.steps * batch, options.inputs})});
  const std::string projected = FC(flat, name + "_i2h", options.inputs, 4 * units);
  std::vector<std::string> parts;
  for (int64_t t = 0; t < options.steps; ++t) parts.push_back(MakeString(name, "_x_", t));
  AddOp("Split", {projected}, parts, {MakeArgument("axis", 0)});
  const std::string w = Param(name + "_gates_w", {4 * units, units}, "XavierFill");
  const std::string b = Param(name + "_gates_b", {4 * units});
  // Of states that go on, the net starts with a copy: the gradients need the values it started with.
  std::string h = Constant(name + "_h_state", {1, batch, units}, 0);
  std::string c = Constant(name + "_c_state", {1, batch, units}, 0);
  if (options.keeps_state) {
    h = Op("StopGradient", {Op("Copy", {h}, name + "_h_before")}, name + "_h_first");
    c = Op("StopGradient", {Op("Copy", {c}, name + "_c_before")}, name + "_c_first");
  }
  Param(name + "_timestep", {1}, "ConstantFill",
        {MakeArgument("dtype", static_cast<int>(TensorProto::INT32)), MakeArgument("value", 0)});
  def_.mutable_param(def_.param_size() - 1)->set_trained(false);
  std::vector<std::string> states;
  for (int64_t t = 0; t < options.steps; ++t) {
    const std::string at = MakeString(name, "_", t);
    Op("FC", {h, w, b}, at + "_h2h", {MakeArgument("axis", 2), MakeArgument("axis_w", 1)});
    AddOp("Reshape", {parts[static_cast<size_t>(t)]}, {at + "_in", at + "_in_shape"},
          {shape({1, batch, 4 * units})});
    Op("Add", {at + "_h2h", at + "_in"}, at + "_gates");
    AddOp("LSTMUnit", {h, c, at + "_gates", name + "_timestep"}, {at + "_h", at + "_c"},
          {MakeArgument("sequence_lengths", 0), MakeArgument("forget_bias", options.forget_bias)});
    h = at + "_h";
    c = at + "_c";
    states.push_back(h);
  }
  // The gradient of a step needs those of both states, but nothing reads the last cell.
  AddOp("ZeroGradient", {c}, {});
  AddOp("Concat", states, {name + "_states", name + "_states_split"}, {MakeArgument("axis", 0)});
  AddOp("Reshape", {name + "_states"}, {name, name + "_shape"},
        {shape({options.steps * batch, units})});
  if (options.keeps_state) {
    Op("Copy", {h}, name + "_h_state");
    Op("Copy", {c}, name + "_c_state");
  }
  return name;
}

void ModelBuilder::SoftmaxLoss(const std::string& scores, const std::string& label) {
  AddOp("SoftmaxWithLoss", {scores, label}, {"softmax", "loss"});
  Op("Accuracy", {"softmax", label}, "accuracy");
  def_.set_loss("loss");
  def_.set_accuracy("accuracy");
}

void ModelBuilder::SquaredLoss(const std::string& y, const std::string& label) {
  Op("SquaredL2Distance", {y, label}, "distance");
  Op("AveragedLoss", {"distance"}, "loss");
  def_.set_loss("loss");
}

}  // namespace caffe2rt
