#include "caffe2_core/training/optimizer_nets.h"

#include <absl/strings/str_join.h>
#include <absl/strings/str_split.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/graph/arguments.h"

namespace caffe2rt {
namespace {

constexpr char kOne[] = "optimizer_one";
constexpr char kDecay[] = "optimizer_weight_decay";
constexpr char kNorm[] = "optimizer_gradient_norm";

// The operator of an optimizer. In the lists, "p" is the parameter, "g" its gradient, "i" the indices
// of its rows, "l" the rate, "t" the iteration, "1" the number 1; "_x" is state of the parameter, in a
// blob of its name and "_x".
struct Rule {
  const char* optimizer;
  bool sparse;
  const char* type;
  const char* inputs;
  const char* outputs;
  bool adds_step = false;  // the operator only computes the step, in "g", which is added afterwards
};

// sgd is the rule "momentum" if it has one.
constexpr char kMomentum[] = "momentum";
constexpr Rule kRules[] = {
    {"sgd", false, "WeightedSum", "p 1 g l", "p"},
    {"sgd", true, "ScatterWeightedSum", "p 1 i g l", "p"},
    {kMomentum, false, "MomentumSGDUpdate", "g _momentum l p", "g _momentum p"},
    {kMomentum, true, "SparseMomentumSGDUpdate", "g _momentum l p i", "g _momentum p"},
    {"adagrad", false, "Adagrad", "p _squared_sum g l", "p _squared_sum"},
    {"adagrad", true, "SparseAdagrad", "p _squared_sum i g l", "p _squared_sum"},
    {"adadelta", false, "Adadelta", "p _mean_squares _squared_steps g l",
     "p _mean_squares _squared_steps"},
    {"adam", false, "Adam", "p _first_moment _second_moment g l t",
     "p _first_moment _second_moment"},
    {"adam", true, "SparseAdam", "p _first_moment _second_moment i g l t",
     "p _first_moment _second_moment"},
    {"rmsprop", false, "RmsProp", "g _mean_squares _moment l", "g _mean_squares _moment", true}};

std::string RuleName(const OptimizerDef& def) {
  return def.type() == "sgd" && (def.momentum() != 0 || def.nesterov()) ? kMomentum : def.type();
}

const Rule& RuleOf(const OptimizerDef& def, const TrainedParameter& parameter) {
  const bool sparse = parameter.gradient.IsSparse();
  const std::string name = RuleName(def);
  for (const Rule& rule : kRules) {
    if (name == rule.optimizer && sparse == rule.sparse) return rule;
  }
  CAFFE_THROW("parameter \"", parameter.name, "\" has a gradient of rows, for which optimizer \"",
              def.type(), "\" has no operator; sgd, adagrad and adam have one");
}

void CheckNumber(const char* field, float value, bool zero_is_allowed) {
  CAFFE_ENFORCE(std::isfinite(value) && (value > 0 || (zero_is_allowed && value == 0)),
                "optimizer: ", field, " is ", value, ", want a number above 0");
}

void Check(const OptimizerDef& def) {
  const std::vector<std::string> names = OptimizerNames();
  CAFFE_ENFORCE(std::find(names.begin(), names.end(), def.type()) != names.end(), "optimizer \"",
                def.type(), "\" is not known, want one of ", absl::StrJoin(names, ", "));
  CheckNumber("rate", def.rate(), false);
  CheckNumber("weight_decay", def.weight_decay(), true);
  CheckNumber("clip_norm", def.clip_norm(), true);
  CAFFE_ENFORCE(def.momentum() >= 0 && def.momentum() < 1, "optimizer: momentum is ",
                def.momentum(), ", want 0 to less than 1");
  const bool has_momentum = def.type() == "sgd" || def.type() == "rmsprop";
  CAFFE_ENFORCE(def.momentum() == 0 || has_momentum, "optimizer: momentum does not apply to ",
                def.type(), ", but to sgd and rmsprop");
  CAFFE_ENFORCE(!def.nesterov() || def.type() == "sgd", "optimizer: nesterov does not apply to ",
                def.type(), ", but to sgd");
}

// The arguments of the operator that updates parameters.
std::vector<Argument> UpdateArguments(const OptimizerDef& def) {
  std::vector<Argument> args(def.arg().begin(), def.arg().end());
  if (def.momentum() != 0 || def.nesterov())
    args.push_back(MakeArgument("momentum", def.momentum()));
  if (def.nesterov()) args.push_back(MakeArgument("nesterov", 1));
  return args;
}

void Fill(const std::string& blob, float value, NetDef* init) {
  *init->add_op() =
      CreateOperatorDef("ConstantFill", "", std::vector<std::string>{}, {blob},
                        {MakeArgument("shape", std::vector<int>{1}), MakeArgument("value", value)});
}

void AddRate(const OptimizerDef& def, NetDef* init, NetDef* train) {
  *init->add_op() = CreateOperatorDef(
      "ConstantFill", "", std::vector<std::string>{}, {kIterationBlob},
      {MakeArgument("shape", std::vector<int>{1}),
       MakeArgument("dtype", static_cast<int>(TensorProto::INT64)), MakeArgument("value", 0)});
  Fill(kOne, 1, init);
  *train->add_op() = CreateOperatorDef("Iter", "", {kIterationBlob}, {kIterationBlob});
  // MomentumSGDUpdate subtracts the step, the others add it.
  const float rate = RuleName(def) == kMomentum ? def.rate() : -def.rate();
  std::vector<Argument> args(def.policy_arg().begin(), def.policy_arg().end());
  args.push_back(MakeArgument("policy", def.policy()));
  args.push_back(MakeArgument("base_lr", rate));
  *train->add_op() =
      CreateOperatorDef("LearningRate", "", {kIterationBlob}, {kLearningRateBlob}, args);
}

const std::string& GradientBlob(const TrainedParameter& parameter) {
  return parameter.gradient.IsSparse() ? parameter.gradient.values_ : parameter.gradient.dense_;
}

void AddDecay(const OptimizerDef& def, const std::vector<TrainedParameter>& parameters,
              NetDef* init, NetDef* train) {
  if (def.weight_decay() == 0) return;
  Fill(kDecay, def.weight_decay(), init);
  for (const TrainedParameter& parameter : parameters) {
    if (!parameter.decays) continue;
    CAFFE_ENFORCE(
        !parameter.gradient.IsSparse(), "parameter \"", parameter.name,
        "\" has a gradient of rows, which cannot have a weight decay; set `decays: false`");
    const std::string& gradient = GradientBlob(parameter);
    *train->add_op() =
        CreateOperatorDef("WeightedSum", "", {gradient, kOne, parameter.name, kDecay}, {gradient});
  }
}

void AddClipping(const OptimizerDef& def, const std::vector<TrainedParameter>& parameters,
                 NetDef* train) {
  if (def.clip_norm() == 0) return;
  std::vector<std::string> squares;
  for (const TrainedParameter& parameter : parameters) {
    squares.push_back(GradientBlob(parameter) + "_squares");
    *train->add_op() =
        CreateOperatorDef("SumSqrElements", "", {GradientBlob(parameter)}, {squares.back()});
  }
  *train->add_op() = CreateOperatorDef("Sum", "", squares, {kNorm});
  *train->add_op() = CreateOperatorDef("Sqrt", "", {kNorm}, {kNorm});
  for (const TrainedParameter& parameter : parameters) {
    const std::string& gradient = GradientBlob(parameter);
    *train->add_op() = CreateOperatorDef("ClipTensorByScaling", "", {gradient, kNorm}, {gradient},
                                         {MakeArgument("threshold", def.clip_norm())});
  }
}

class UpdateWriter {
 public:
  UpdateWriter(const OptimizerDef& def, NetDef* init, NetDef* train)
      : def_(def), init_(init), train_(train) {}

  void Add(const TrainedParameter& parameter) {
    const Rule& rule = RuleOf(def_, parameter);
    const std::vector<std::string> inputs = Blobs(rule.inputs, parameter);
    const std::vector<std::string> outputs = Blobs(rule.outputs, parameter);
    *train_->add_op() = CreateOperatorDef(
        rule.type, "", inputs, outputs,
        rule.type == std::string("WeightedSum") || rule.type == std::string("ScatterWeightedSum")
            ? std::vector<Argument>{}
            : UpdateArguments(def_));
    if (rule.adds_step) {
      *train_->add_op() = CreateOperatorDef("WeightedSum", "",
                                            {parameter.name, kOne, GradientBlob(parameter), kOne},
                                            {parameter.name});
    }
  }

 private:
  std::vector<std::string> Blobs(const char* list, const TrainedParameter& parameter) {
    std::vector<std::string> blobs;
    for (const std::string& word : std::vector<std::string>(absl::StrSplit(list, ' '))) {
      if (word[0] == '_') {
        blobs.push_back(parameter.name + word);
        if (filled_.insert(blobs.back()).second) {
          *init_->add_op() =
              CreateOperatorDef("ConstantFill", "", {parameter.name}, {blobs.back()});
        }
        continue;
      }
      switch (word[0]) {
        case 'p':
          blobs.push_back(parameter.name);
          break;
        case 'g':
          blobs.push_back(GradientBlob(parameter));
          break;
        case 'i':
          blobs.push_back(parameter.gradient.indices_);
          break;
        case 'l':
          blobs.push_back(kLearningRateBlob);
          break;
        case 't':
          blobs.push_back(kIterationBlob);
          break;
        default:
          blobs.push_back(kOne);
      }
    }
    return blobs;
  }

  const OptimizerDef& def_;
  NetDef* const init_;
  NetDef* const train_;
  std::set<std::string> filled_;
};

}  // namespace

std::vector<std::string> OptimizerNames() {
  std::set<std::string> names;
  for (const Rule& rule : kRules) {
    if (rule.optimizer != std::string(kMomentum)) names.insert(rule.optimizer);
  }
  return {names.begin(), names.end()};
}

void AddOptimizer(const OptimizerDef& def, const std::vector<TrainedParameter>& parameters,
                  NetDef* init, NetDef* train) {
  CAFFE_ENFORCE(init != nullptr && train != nullptr, "a net of AddOptimizer is null");
  CAFFE_ENFORCE(!parameters.empty(), "net \"", train->name(),
                "\" has no parameter to train: no blob that is filled has a gradient");
  Check(def);
  AddRate(def, init, train);
  AddDecay(def, parameters, init, train);
  AddClipping(def, parameters, train);
  UpdateWriter writer(def, init, train);
  for (const TrainedParameter& parameter : parameters) writer.Add(parameter);
}

}  // namespace caffe2rt
