#include "caffe2_core/training/training_nets.h"

#include <absl/strings/str_join.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/backward_pass.h"
#include "caffe2_core/graph/net_blobs.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/graph/operator_traits.h"
#include "caffe2_core/training/data_parallel.h"
#include "caffe2_core/training/input_nets.h"
#include "caffe2_core/training/optimizer_nets.h"

namespace caffe2rt {
namespace {

using Names = std::vector<std::string>;

bool Contains(const Names& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

NetDef ForwardNet(const TrainDef& def) {
  CAFFE_ENFORCE(def.net().op_size() > 0, "training \"", def.name(),
                "\" has no net: field `net` has no operators");
  NetDef net = def.net();
  net.clear_external_input();
  net.clear_external_output();
  return net;
}

// The fills of the parameters, each once, those of `param` after those of init_net.
NetDef InitNet(const TrainDef& def, const Names& read) {
  NetDef init = def.init_net();
  init.clear_external_output();
  std::set<std::string> filled;
  for (const OperatorDef& op : init.op()) filled.insert(op.output().begin(), op.output().end());
  for (const ParamDef& param : def.param()) {
    CAFFE_ENFORCE(filled.insert(param.name()).second, "parameter \"", param.name(),
                  "\" is filled twice");
    CAFFE_ENFORCE(Contains(read, param.name()), "parameter \"", param.name(),
                  "\" is not read by the net; it reads ", absl::StrJoin(read, ", "));
    *init.add_op() = FillOf(param);
  }
  const Names inputs = InputBlobs(def.input());
  for (const std::string& blob : read) {
    CAFFE_ENFORCE(filled.contains(blob) || Contains(inputs, blob), "the net reads blob \"", blob,
                  "\", which is neither a parameter nor one of the inputs ",
                  absl::StrJoin(inputs, ", "),
                  "; add a `param`, an operator of `init_net` (--init-net) or a blob of `input` "
                  "(--blobs)");
  }
  return init;
}

// Sets arguments that a training needs and that the net leaves open:
//   is_test        0; a Dropout that has one output gets its mask
//   deterministic  1: the same bits for every number of threads.
void PrepareForTraining(NetDef* net) {
  for (OperatorDef& op : *net->mutable_op()) {
    if (DeclaresArgument(op.type(), "deterministic") &&
        GetArgumentPtr(op, "deterministic") == nullptr)
      *op.add_arg() = MakeArgument("deterministic", 1);
    if (!DeclaresArgument(op.type(), "is_test") || GetArgumentPtr(op, "is_test") != nullptr)
      continue;
    *op.add_arg() = MakeArgument("is_test", 0);
    if (op.type() == "Dropout" && op.output_size() == 1) op.add_output(op.output(0) + "_mask");
  }
}

bool Decays(const TrainDef& def, const std::string& name, const NetDef& init) {
  for (const ParamDef& param : def.param()) {
    if (param.name() == name) return param.has_decays() ? param.decays() : param.dims_size() >= 2;
  }
  for (const OperatorDef& op : init.op()) {
    if (!HasOutput(op, name)) continue;
    return ArgumentHelper(op).GetRepeatedArgument<int64_t>("shape").size() >= 2;
  }
  return false;
}

// A scalar that init_net gives is a number of the net's arithmetic, such as an epsilon.
bool IsGivenScalar(const NetDef& init, const std::string& name) {
  return std::any_of(init.op().begin(), init.op().end(), [&](const OperatorDef& op) {
    return HasOutput(op, name) && op.input_size() == 0 &&
           TraitsOf(op.type()).fill == FillForm::kGivenFloats &&
           ArgumentHelper(op).GetRepeatedArgument<int64_t>("shape").empty();
  });
}

bool IsFixed(const TrainDef& def, const std::string& name) {
  if (IsGivenScalar(def.init_net(), name)) return true;
  return std::any_of(def.param().begin(), def.param().end(), [&](const ParamDef& param) {
    return param.name() == name && !param.trained();
  });
}

// Appends gradients and updates to `net`. Sets TrainingNets::trained.
void AddTraining(const TrainDef& def, const Names& read, const RankOptions& ranks, NetDef* net,
                 TrainingNets* nets) {
  const NetBlobs blobs(*net);
  CAFFE_ENFORCE(blobs.Writes(nets->loss), "no operator of the net writes the loss \"", nets->loss,
                "\"; field `loss` names the blob");
  Names candidates;
  for (const std::string& blob : read) {
    if (Contains(nets->inputs, blob) || blobs.Writes(blob) || IsFixed(def, blob)) continue;
    candidates.push_back(blob);
  }
  const GradientMap all = GetBackwardPass(net->op(), {{nets->loss, {}}}).gradients;
  for (const std::string& blob : candidates) {
    if (all.contains(blob)) nets->trained.push_back(blob);
  }
  CAFFE_ENFORCE(!nets->trained.empty(), "net \"", net->name(),
                "\" has no parameter to train: no blob that is filled has a gradient");
  const GradientMap gradients =
      AddGradientOperators(net, {{nets->loss, {}}}, {.skip = 0, .wrt = nets->trained});
  std::vector<TrainedParameter> parameters;
  std::set<std::string> used;
  for (const std::string& blob : nets->trained) {
    GradientWrapper gradient = gradients.at(blob);
    // An update may overwrite the gradient, which two parameters can have in common.
    if (gradient.IsDense() && !used.insert(gradient.dense_).second) {
      *net->add_op() = CreateOperatorDef("Copy", "", {gradient.dense_}, {blob + "_own_grad"});
      gradient.dense_ = blob + "_own_grad";
    }
    parameters.push_back({blob, gradient, Decays(def, blob, nets->init)});
  }
  if (!ranks.several()) {
    AddOptimizer(def.optimizer(), parameters, &nets->init, net);
    return;
  }
  const int64_t batch = def.input().batch_size();
  const auto share = static_cast<float>(static_cast<double>(RecordsOfRank(batch, ranks)) /
                                        static_cast<double>(batch));
  AddGradientSums({.ranks = ranks,
                   .share = share,
                   .loss = nets->loss,
                   .accuracy = nets->accuracy,
                   .init = &nets->init},
                  parameters, net);
  AddOptimizer(def.optimizer(), parameters, &nets->init, net);
  OrderUpdates(parameters, ChangedBeforeUpdates(*net, BlobsReadFirst(*net)), net);
}

// The blobs that are compared with the label: what the net predicts.
Names PredictedBy(const NetDef& test, const Names& inputs, const std::string& label) {
  std::set<std::string> from_data(inputs.begin(), inputs.end()), from_label = {label};
  from_data.erase(label);
  for (const OperatorDef& op : test.op()) {
    std::string prediction;
    bool reads_label = false;
    for (const std::string& input : op.input()) {
      if (prediction.empty() && from_data.contains(input)) prediction = input;
      reads_label = reads_label || from_label.contains(input);
    }
    if (reads_label && !prediction.empty()) return {prediction};
    if (reads_label) from_label.insert(op.output().begin(), op.output().end());
    if (!prediction.empty()) from_data.insert(op.output().begin(), op.output().end());
  }
  CAFFE_THROW("no operator compares the net's result with the label \"", label,
              "\": name the outputs of the predictor in field `output`");
}

// The operators of `test` that the outputs need, in their order.
NetDef PartFor(const NetDef& test, const Names& outputs) {
  std::set<std::string> needed(outputs.begin(), outputs.end());
  std::vector<OperatorDef> reversed;
  for (int i = test.op_size() - 1; i >= 0; --i) {
    const OperatorDef& op = test.op(i);
    if (std::none_of(op.output().begin(), op.output().end(),
                     [&](const std::string& blob) { return needed.contains(blob); }))
      continue;
    // What it overwrites is only needed from before if it reads it.
    for (const std::string& blob : op.output()) needed.erase(blob);
    needed.insert(op.input().begin(), op.input().end());
    reversed.push_back(op);
  }
  NetDef net = test;
  net.clear_op();
  for (auto op = reversed.rbegin(); op != reversed.rend(); ++op) *net.add_op() = std::move(*op);
  return net;
}

// A loss that includes a softmax predicts its probabilities, for which the label is not needed.
void ReplaceSoftmaxWithLoss(NetDef* net) {
  for (OperatorDef& op : *net->mutable_op()) {
    if (op.type() != "SoftmaxWithLoss") continue;
    OperatorDef softmax = CreateOperatorDef("Softmax", op.name(), {op.input(0)}, {op.output(0)});
    if (const Argument* const axis = GetArgumentPtr(op, "axis")) *softmax.add_arg() = *axis;
    op = softmax;
  }
}

void SetPredictNet(const TrainDef& def, TrainingNets* nets) {
  if (def.output_size() > 0) {
    nets->outputs = {def.output().begin(), def.output().end()};
  } else {
    nets->outputs = PredictedBy(nets->test, nets->inputs, LabelBlob(def.input()));
    for (const OperatorDef& op : nets->test.op()) {
      if (op.type() == "SoftmaxWithLoss" && op.input(0) == nets->outputs[0]) {
        nets->outputs = {op.output(0)};
        break;
      }
    }
  }
  NetDef without_loss = nets->test;
  ReplaceSoftmaxWithLoss(&without_loss);
  const NetBlobs written(without_loss);
  for (const std::string& output : nets->outputs) {
    CAFFE_ENFORCE(written.Writes(output), "no operator of the net writes the output \"", output,
                  "\" of the predictor");
  }
  nets->predict = PartFor(without_loss, nets->outputs);
  nets->predict.set_name(def.name());
  for (const std::string& blob : BlobsReadFirst(nets->predict)) {
    nets->predict.add_external_input(blob);
    if (!Contains(nets->inputs, blob)) nets->parameters.push_back(blob);
  }
  for (const std::string& output : nets->outputs) nets->predict.add_external_output(output);
}

}  // namespace

bool DeclaresArgument(const std::string& type, const char* name) {
  const OpSchema* schema = OpSchemaRegistry::Schema(type);
  if (schema == nullptr) return false;
  const auto& args = schema->args();
  return std::any_of(args.begin(), args.end(), [&](const auto& arg) { return arg.name == name; });
}

std::vector<std::string> BlobsReadFirst(const NetDef& net) {
  const NetBlobs blobs(net);
  Names names;
  for (const uint32_t blob : blobs.read_first()) names.push_back(blobs.name(blob));
  return names;
}

OperatorDef FillOf(const ParamDef& param) {
  CAFFE_ENFORCE(!param.name().empty(), "a parameter has no name");
  std::vector<Argument> args = {
      MakeArgument("shape", std::vector<int64_t>(param.dims().begin(), param.dims().end()))};
  args.insert(args.end(), param.arg().begin(), param.arg().end());
  return CreateOperatorDef(param.fill(), "", std::vector<std::string>{}, {param.name()}, args);
}

NetDef TestNetOf(const NetDef& net) {
  NetDef test = net;
  std::map<std::string, int> readers;
  for (const OperatorDef& op : net.op()) {
    for (const std::string& input : op.input()) ++readers[input];
  }
  for (OperatorDef& op : *test.mutable_op()) {
    if (!DeclaresArgument(op.type(), "is_test")) continue;
    *GetMutableArgument("is_test", true, &op) = MakeArgument("is_test", 1);
    const int least = OpSchemaRegistry::Schema(op.type())->min_output();
    while (op.output_size() > std::max(1, least)) {
      const std::string& last = op.output(op.output_size() - 1);
      if (readers[last] > (HasInput(op, last) ? 1 : 0)) break;
      op.mutable_output()->RemoveLast();
    }
  }
  return test;
}

void PrefixBlobs(const std::string& prefix, const std::vector<std::string>& keep, NetDef* net) {
  const std::set<std::string> kept(keep.begin(), keep.end());
  const auto rename = [&](std::string* name) {
    if (!kept.contains(*name)) *name = prefix + *name;
  };
  for (OperatorDef& op : *net->mutable_op()) {
    for (std::string& name : *op.mutable_input()) rename(&name);
    for (std::string& name : *op.mutable_output()) rename(&name);
    for (std::string& name : *op.mutable_control_input()) rename(&name);
  }
}

TrainingNets MakeTrainingNets(const TrainDef& def, const RankOptions& ranks) {
  TrainingNets nets;
  nets.inputs = InputBlobs(def.input());
  nets.loss = def.loss();
  nets.accuracy = def.accuracy();
  NetDef forward = ForwardNet(def);
  const Names read = BlobsReadFirst(forward);
  nets.init = InitNet(def, read);
  nets.test = TestNetOf(forward);
  PrepareForTraining(&forward);
  CAFFE_ENFORCE(nets.accuracy.empty() || NetBlobs(forward).Writes(nets.accuracy),
                "no operator of the net writes the accuracy \"", nets.accuracy, "\"");
  AddTraining(def, read, ranks, &forward, &nets);
  nets.train = std::move(forward);
  SetPredictNet(def, &nets);
  nets.init.set_name(def.name() + "_init");
  nets.train.set_name(def.name() + "_train");
  nets.test.set_name(def.name() + "_test");
  return nets;
}

}  // namespace caffe2rt
