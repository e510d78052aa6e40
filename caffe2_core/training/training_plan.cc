#include "caffe2_core/training/training_plan.h"

#include <algorithm>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/model/device_placement.h"
#include "caffe2_core/training/data_parallel.h"
#include "caffe2_core/training/input_nets.h"
#include "caffe2_core/training/optimizer_nets.h"
#include "caffe2_core/training/plan_parts.h"
#include "caffe2_core/training/test_nets.h"

namespace caffe2rt {
namespace {

using Names = std::vector<std::string>;

constexpr char kTrainReader[] = "train_reader";

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

// The operator that opens the database of the training. With several ranks, each of them reads its part
// of the batches from the given step on.
OperatorDef OpenTrainingDataOp(const RunDef& run, const TrainingData& data,
                               const TrainingPlanOptions& options) {
  OperatorDef open = OpenDatabaseOp(data.train.place, kTrainReader);
  if (options.ranks.several()) {
    AddArgument("num_shards", options.ranks.size, &open);
    AddArgument("shard_id", options.ranks.rank, &open);
    AddArgument("block", static_cast<int64_t>(run.train().input().batch_size()), &open);
    AddArgument("first_block", options.iteration, &open);
  }
  if (run.shuffle()) {
    CAFFE_ENFORCE(DeclaresArgument(open.type(), "shuffle"), "operator ", open.type(),
                  " of this build cannot shuffle the records of a database");
    constexpr uint64_t kMostSeed = INT32_MAX;
    AddArgument("shuffle", 1, &open);
    AddArgument("shuffle_seed", static_cast<int64_t>(run.seed() % kMostSeed), &open);
  }
  return open;
}

NetDef InitNet(const RunDef& run, const TrainingNets& nets, const TrainingData& data,
               const TrainingPlanOptions& options) {
  NetDef init = nets.init;
  AppendOps({OpenTrainingDataOp(run, data, options)}, &init);
  AppendOps(InputFills(run.train().input(), data.train), &init);
  return init;
}

Names WithoutReader(const Names& state) {
  Names names = state;
  std::erase(names, kTrainReader);
  return names;
}

// The operator takes the iteration first.
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

// The net that begins the plan: fills, or a checkpoint.
NetDef FirstNet(const RunDef& run, const TrainDef& def, const TrainingPlan& made,
                const TrainingData& data, const TrainingPlanOptions& options) {
  NetDef init = NamedNet(def.name() + "_init");
  if (options.checkpoint.empty()) {
    init = InitNet(run, made.nets, data, options);
    if (!run.init().empty()) {
      // A database that has only blobs of this net (initial_weights.h).
      *init.add_op() = CreateOperatorDef(
          "Load", "", Names{}, Names{},
          {MakeArgument("db", run.init()), MakeArgument("db_type", std::string("minidb")),
           MakeArgument("absolute_path", 1), MakeArgument("load_all", 1)});
    }
  } else if (options.ranks.several()) {
    AppendOps({LoadOp(options.checkpoint, WithoutReader(made.state)),
               OpenTrainingDataOp(run, data, options)},
              &init);
  } else {
    AppendOps({LoadOp(options.checkpoint, made.state)}, &init);
  }
  if (options.ranks.several())
    AppendOps(ConnectOperators(options.ranks, WithoutReader(made.state)), &init);
  return init;
}

void CheckRanks(const RunDef& run, const TrainingPlanOptions& options) {
  const RankOptions& ranks = options.ranks;
  if (!ranks.several()) return;
  const int64_t batch = run.train().input().batch_size();
  CAFFE_ENFORCE(ranks.rank >= 0 && ranks.rank < ranks.size, "rank ", ranks.rank, " of ", ranks.size,
                " does not exist");
  CAFFE_ENFORCE(batch >= ranks.size, "a batch of ", CountText(batch, "record"),
                " is divided among ", CountText(ranks.size, "rank"),
                ", want at least one record for each; set --batch-size");
  CAFFE_ENFORCE(run.on_error() == "stop", "--on-error ", run.on_error(),
                " does not apply to several ranks, whose readers would lose step: leave damaged "
                "records out with "
                "caffe2 db");
  CAFFE_ENFORCE(run.device() == "cpu", "--device ", run.device(),
                " does not apply to several ranks yet: collectives of this build are for the CPU");
  CAFFE_ENFORCE(!options.for_caffe2, "a plan for Caffe2 has one rank");
}

void AddSteps(const RunDef& run, const TrainDef& def, const TestNets* test,
              const TrainingPlanOptions& options, TrainingPlan* made) {
  ExecutionStep root;
  AddStep("init", def.name() + "_init", 1, &root);
  const auto add_epoch = [&](const std::string& name, int64_t steps, int64_t epochs) {
    ExecutionStep* const epoch = AddStep(name, "", epochs, &root);
    if (steps > 0) AddStep("train", made->train_net, steps, epoch);
    if (test != nullptr) test->AddSteps(epoch);
    AddStep(kEpochEnd, made->checkpoint_net, 1, epoch);
  };
  int64_t epochs = run.epochs() - options.epoch;
  const int64_t missing = made->steps_per_epoch * (options.epoch + 1) - options.iteration;
  if (missing < made->steps_per_epoch && epochs > 0) {
    add_epoch("epoch_rest", missing, 1);
    --epochs;
  }
  if (epochs > 0) add_epoch("epoch", made->steps_per_epoch, epochs);
  if (!made->checkpoint_net.empty()) AddStep("save", def.name() + "_save", 1, &root);
  *made->plan.mutable_execution_step() = root.substep();
}

// Lets the nets run on a device as far as it has the operators.
void Place(const std::string& name, PlanDef* plan) {
  if (name == "cpu") return;
  DeviceOption device;
  CAFFE_ENFORCE(ParseDevice(name, &device), "device \"", name,
                "\" is not known, want cpu or a name that caffe2 devices lists");
  for (NetDef& net : *plan->mutable_network()) (void)PlaceNet(&net, device);
}

}  // namespace

TrainingPlan MakeTrainingPlan(const RunDef& run, const TrainingData& data,
                              const TrainingPlanOptions& options) {
  TrainingPlan made;
  CheckInput(run.train().input(), data.train);
  CheckRanks(run, options);
  CAFFE_ENFORCE(run.epochs() > 0, "the number of epochs is ", run.epochs(), ", want at least 1");
  const int64_t batch = run.train().input().batch_size();
  made.steps_per_epoch = (data.train.records + batch - 1) / batch;
  const TrainDef def = WithIterations(run, made.steps_per_epoch);
  made.nets = MakeTrainingNets(def, options.ranks);
  made.train_net = made.nets.train.name();
  const InputPlace place = {.reader = kTrainReader,
                            .batch_size = RecordsOfRank(batch, options.ranks),
                            .is_test = false,
                            .prefix = "",
                            .on_error = run.on_error()};
  NetDef train = JoinedNet(InputOperators(def.input(), data.train, place), made.nets.train);
  // Collectives run on a thread of their own, while the operators that do not need their results go on.
  if (options.ranks.several()) train.set_type("dag");
  made.state = BlobsReadFirst(train);
  std::erase(made.state, kWorldBlob);
  std::erase(made.state, kStopBlob);
  if (options.ranks.several())
    made.changed_early = ChangedBeforeUpdates(made.nets.train, made.state);
  NetDef init = FirstNet(run, def, made, data, options);
  PlanDef& plan = made.plan;
  plan.set_name(def.name());
  std::optional<TestNets> test;
  if (data.test.has_value())
    test.emplace(def, made.nets, *data.test, options.for_caffe2, options.ranks);
  plan.add_network();  // init, which the test may add to
  *plan.add_network() = train;
  if (test.has_value()) test->AddNets(&init, &plan);
  *plan.mutable_network(0) = init;
  const bool saves = !options.folder.empty() && options.ranks.rank == 0;
  if (saves) {
    made.checkpoint_net = def.name() + "_checkpoint";
    *plan.add_network() = NamedNet(made.checkpoint_net);
    AppendOps({CheckpointOp(options.folder, made.state)},
              plan.mutable_network(plan.network_size() - 1));
    *plan.add_network() = NamedNet(def.name() + "_save");
    AppendOps({SaveOp(options.folder, made.nets.parameters)},
              plan.mutable_network(plan.network_size() - 1));
  }

  AddSteps(run, def, test.has_value() ? &*test : nullptr, options, &made);
  Place(run.device(), &plan);
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
  NetDef init = NamedNet(def.name() + "_init");
  AppendOps({LoadOp(checkpoint, needed)}, &init);
  TestNets writer(def, nets, test, false);
  *plan.add_network() = init;
  writer.AddNets(&init, &plan);
  ExecutionStep root;
  AddStep("init", init.name(), 1, &root);
  writer.AddSteps(&root);
  *plan.mutable_execution_step() = root.substep();
  return plan;
}

}  // namespace caffe2rt
