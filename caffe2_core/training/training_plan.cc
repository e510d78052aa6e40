#include "caffe2_core/training/training_plan.h"

#include <algorithm>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/net_blobs.h"
#include "caffe2_core/training/input_nets.h"
#include "caffe2_core/training/optimizer_nets.h"

namespace caffe2rt {
namespace {

using Names = std::vector<std::string>;

constexpr char kTrainReader[] = "train_reader";
constexpr char kTestReader[] = "test_reader";
constexpr char kTestPrefix[] = "test_";
constexpr char kTestOne[] = "test_one";

OperatorDef Filled(const std::string& blob, float value) {
  return CreateOperatorDef(
      "ConstantFill", "", Names{}, {blob},
      {MakeArgument("shape", std::vector<int>{1}), MakeArgument("value", value)});
}

OperatorDef OpenDatabase(const DatabasePlace& place, const std::string& reader) {
  return CreateOperatorDef("CreateDB", "", Names{}, {reader},
                           {MakeArgument("db_type", place.type), MakeArgument("db", place.path)});
}

OperatorDef LoadOp(const std::string& path, const Names& blobs) {
  return CreateOperatorDef(
      "Load", "", Names{}, blobs,
      {MakeArgument("db", path), MakeArgument("db_type", std::string("minidb")),
       MakeArgument("absolute_path", 1), MakeArgument("keep_device", 1)});
}

void Append(const std::vector<OperatorDef>& ops, NetDef* net) {
  for (const OperatorDef& op : ops) *net->add_op() = op;
}

NetDef Joined(const std::vector<OperatorDef>& first, const NetDef& net) {
  NetDef joined = net;
  joined.clear_op();
  Append(first, &joined);
  for (const OperatorDef& op : net.op()) *joined.add_op() = op;
  return joined;
}

NetDef Named(const std::string& name) {
  NetDef net;
  net.set_name(name);
  return net;
}

ExecutionStep* AddStep(const std::string& name, const std::string& net, int64_t iterations,
                       ExecutionStep* outer) {
  ExecutionStep* const step = outer->add_substep();
  step->set_name(name);
  if (!net.empty()) step->add_network(net);
  if (iterations != 1) step->set_num_iter(iterations);
  return step;
}

int64_t LargestDivisor(int64_t n, int64_t most) {
  int64_t divisor = std::min(n, most);
  while (n % divisor != 0) --divisor;
  return divisor;
}

// The nets of a test, and its steps.
class TestWriter {
 public:
  TestWriter(const TrainDef& def, const TrainingNets& nets, const DataFacts& facts, bool for_caffe2)
      : def_(def), nets_(nets), facts_(facts), for_caffe2_(for_caffe2) {
    CheckInput(def.input(), facts);
    const int64_t wanted = def.input().batch_size();
    constexpr int64_t kMost = 256;
    batch_ = for_caffe2 ? LargestDivisor(facts.records, kMost) : std::min(wanted, facts.records);
  }

  // Adds the nets to the plan. The operator that opens the database for all tests goes into `init` if
  // it is needed there.
  void AddNets(NetDef* init, PlanDef* plan) {
    NetDef begin = Named(def_.name() + "_test_begin");
    Append({OpenDatabase(facts_.place, kTestReader)}, for_caffe2_ ? init : &begin);
    Append({Filled(kTestOne, 1), Filled(kTestLoss, 0)}, &begin);
    if (!nets_.accuracy.empty()) Append({Filled(kTestAccuracy, 0)}, &begin);
    if (!for_caffe2_) Append(InputFills(def_.input(), facts_), &begin);
    AddCopies(&begin);
    Append({Filled(WeightBlob(batch_), Weight(batch_))}, &begin);
    const int64_t rest = facts_.records % batch_;
    if (rest > 0) Append({Filled(WeightBlob(rest), Weight(rest))}, &begin);
    *plan->add_network() = begin;
    *plan->add_network() = NetFor(batch_, nets_.test.name());
    if (rest > 0) *plan->add_network() = NetFor(rest, nets_.test.name() + "_rest");
  }

  void AddSteps(ExecutionStep* outer) const {
    AddStep("test_begin", def_.name() + "_test_begin", 1, outer);
    AddStep("test", nets_.test.name(), facts_.records / batch_, outer);
    if (facts_.records % batch_ > 0) AddStep("test_rest", nets_.test.name() + "_rest", 1, outer);
  }

 private:
  static std::string WeightBlob(int64_t batch) { return MakeString("test_weight_", batch); }
  float Weight(int64_t batch) const {
    return static_cast<float>(static_cast<double>(batch) / static_cast<double>(facts_.records));
  }

  // A test must not change the state of the training.
  Names Changed() const {
    const NetBlobs blobs(nets_.test);
    Names changed;
    for (const std::string& blob : BlobsReadFirst(nets_.test)) {
      const bool is_input =
          std::find(nets_.inputs.begin(), nets_.inputs.end(), blob) != nets_.inputs.end();
      if (!is_input && blobs.Writes(blob)) changed.push_back(blob);
    }
    return changed;
  }
  void AddCopies(NetDef* begin) const {
    for (const std::string& blob : Changed())
      *begin->add_op() = CreateOperatorDef("Copy", "", {blob}, {kTestPrefix + blob});
  }

  NetDef NetFor(int64_t batch, const std::string& name) const {
    const InputPlace place = {.reader = kTestReader,
                              .batch_size = batch,
                              .is_test = true,
                              .prefix = "",
                              .on_error = on_error_};
    NetDef net = Joined(InputOperators(def_.input(), facts_, place), nets_.test);
    Names keep = BlobsReadFirst(net);
    const Names changed = Changed();
    keep.erase(std::remove_if(keep.begin(), keep.end(),
                              [&](const std::string& blob) {
                                return std::find(changed.begin(), changed.end(), blob) !=
                                       changed.end();
                              }),
               keep.end());
    PrefixBlobs(kTestPrefix, keep, &net);
    AddSum(nets_.loss, kTestLoss, batch, &net);
    if (!nets_.accuracy.empty()) AddSum(nets_.accuracy, kTestAccuracy, batch, &net);
    net.set_name(name);
    return net;
  }
  void AddSum(const std::string& value, const char* sum, int64_t batch, NetDef* net) const {
    *net->add_op() = CreateOperatorDef(
        "WeightedSum", "", {sum, kTestOne, kTestPrefix + value, WeightBlob(batch)}, {sum});
  }

  const TrainDef& def_;
  const TrainingNets& nets_;
  const DataFacts& facts_;
  const bool for_caffe2_;
  const std::string on_error_ = "stop";
  int64_t batch_ = 0;
};

// The rates of a policy that depends on epochs.
TrainDef WithIterations(const RunDef& run, int64_t steps_per_epoch) {
  TrainDef def = run.train();
  OptimizerDef& optimizer = *def.mutable_optimizer();
  const auto set = [&](const char* name, int64_t value) {
    for (const Argument& arg : optimizer.policy_arg()) {
      if (arg.name() == name) return;
    }
    *optimizer.add_policy_arg() = MakeArgument(name, static_cast<int>(std::max<int64_t>(1, value)));
  };
  const int64_t all = steps_per_epoch * run.epochs();
  if (optimizer.has_step_epochs()) {
    CAFFE_ENFORCE(optimizer.policy() == "step" && optimizer.step_epochs() > 0,
                  "optimizer: step_epochs is ", optimizer.step_epochs(), " with policy \"",
                  optimizer.policy(), "\", want a number above 0 with policy \"step\"");
    set("stepsize", static_cast<int64_t>(static_cast<double>(optimizer.step_epochs()) *
                                         static_cast<double>(steps_per_epoch)));
  }
  if (optimizer.policy() == "poly") set("max_iter", all);
  if (optimizer.policy() == "cosine") set("period", all);
  return def;
}

NetDef InitNet(const RunDef& run, const TrainingNets& nets, const TrainingData& data) {
  NetDef init = nets.init;
  OperatorDef open = OpenDatabase(data.train.place, kTrainReader);
  if (run.shuffle()) {
    AddArgument("shuffle", 1, &open);
    AddArgument("shuffle_seed", static_cast<int64_t>(run.seed()), &open);
  }
  Append({open}, &init);
  Append(InputFills(run.train().input(), data.train), &init);
  return init;
}

// The state without readers, and the iteration first, as the operator Checkpoint takes it.
OperatorDef CheckpointOp(const std::string& folder, const Names& state) {
  Names inputs = {kIterationBlob};
  for (const std::string& blob : state) {
    if (blob != kIterationBlob) inputs.push_back(blob);
  }
  return CreateOperatorDef(
      "Checkpoint", "", inputs, Names{},
      {MakeArgument("db", folder + "/checkpoint-%d"), MakeArgument("every", 1),
       MakeArgument("db_type", std::string("minidb")), MakeArgument("absolute_path", 1)});
}

OperatorDef SaveOp(const std::string& folder, const Names& blobs) {
  return CreateOperatorDef(
      "Save", "", blobs, Names{},
      {MakeArgument("db", folder + "/weights.minidb"),
       MakeArgument("db_type", std::string("minidb")), MakeArgument("absolute_path", 1)});
}

}  // namespace

TrainingPlan MakeTrainingPlan(const RunDef& run, const TrainingData& data,
                              const TrainingPlanOptions& options) {
  TrainingPlan made;
  CheckInput(run.train().input(), data.train);
  CAFFE_ENFORCE(run.epochs() > 0, "the number of epochs is ", run.epochs(), ", want at least 1");
  const int64_t batch = run.train().input().batch_size();
  made.steps_per_epoch = (data.train.records + batch - 1) / batch;
  const TrainDef def = WithIterations(run, made.steps_per_epoch);
  made.nets = MakeTrainingNets(def);
  made.train_net = made.nets.train.name();
  const InputPlace place = {.reader = kTrainReader,
                            .batch_size = batch,
                            .is_test = false,
                            .prefix = "",
                            .on_error = run.on_error()};
  const NetDef train = Joined(InputOperators(def.input(), data.train, place), made.nets.train);
  made.state = BlobsReadFirst(train);
  NetDef init = Named(def.name() + "_init");
  if (options.checkpoint.empty()) {
    init = InitNet(run, made.nets, data);
    if (!run.init().empty()) {
      // A database that has only blobs of this net (initial_weights.h).
      *init.add_op() = CreateOperatorDef(
          "Load", "", Names{}, Names{},
          {MakeArgument("db", run.init()), MakeArgument("db_type", std::string("minidb")),
           MakeArgument("absolute_path", 1), MakeArgument("load_all", 1)});
    }
  } else {
    Append({LoadOp(options.checkpoint, made.state)}, &init);
  }
  PlanDef& plan = made.plan;
  plan.set_name(def.name());
  std::optional<TestWriter> test;
  if (data.test.has_value()) test.emplace(def, made.nets, *data.test, options.for_caffe2);
  plan.add_network();  // init, which the test may add to
  *plan.add_network() = train;
  if (test.has_value()) test->AddNets(&init, &plan);
  *plan.mutable_network(0) = init;
  if (!options.folder.empty()) {
    made.checkpoint_net = def.name() + "_checkpoint";
    *plan.add_network() = Named(made.checkpoint_net);
    Append({CheckpointOp(options.folder, made.state)},
           plan.mutable_network(plan.network_size() - 1));
    *plan.add_network() = Named(def.name() + "_save");
    Append({SaveOp(options.folder, made.nets.parameters)},
           plan.mutable_network(plan.network_size() - 1));
  }

  ExecutionStep root;
  AddStep("init", init.name(), 1, &root);
  const auto add_epoch = [&](const std::string& name, int64_t steps, int64_t epochs) {
    ExecutionStep* const epoch = AddStep(name, "", epochs, &root);
    if (steps > 0) AddStep("train", made.train_net, steps, epoch);
    if (test.has_value()) test->AddSteps(epoch);
    AddStep(kEpochEnd, made.checkpoint_net, 1, epoch);
  };
  int64_t epochs = run.epochs() - options.epoch;
  const int64_t missing = made.steps_per_epoch * (options.epoch + 1) - options.iteration;
  if (missing < made.steps_per_epoch && epochs > 0) {
    add_epoch("epoch_rest", missing, 1);
    --epochs;
  }
  if (epochs > 0) add_epoch("epoch", made.steps_per_epoch, epochs);
  if (!options.folder.empty()) AddStep("save", def.name() + "_save", 1, &root);
  *plan.mutable_execution_step() = root.substep();
  return made;
}

PlanDef MakeTestPlan(const TrainDef& def, const DataFacts& test, const std::string& checkpoint) {
  const TrainingNets nets = MakeTrainingNets(def);
  PlanDef plan;
  plan.set_name(def.name() + "_test");
  Names needed;
  for (const std::string& blob : BlobsReadFirst(nets.test)) {
    if (std::find(nets.inputs.begin(), nets.inputs.end(), blob) == nets.inputs.end())
      needed.push_back(blob);
  }
  NetDef init = Named(def.name() + "_init");
  Append({LoadOp(checkpoint, needed)}, &init);
  TestWriter writer(def, nets, test, false);
  *plan.add_network() = init;
  writer.AddNets(&init, &plan);
  ExecutionStep root;
  AddStep("init", init.name(), 1, &root);
  writer.AddSteps(&root);
  *plan.mutable_execution_step() = root.substep();
  return plan;
}

}  // namespace caffe2rt
