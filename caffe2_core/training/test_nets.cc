#include "caffe2_core/training/test_nets.h"

#include <algorithm>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/net_blobs.h"
#include "caffe2_core/training/data_parallel.h"
#include "caffe2_core/training/input_nets.h"
#include "caffe2_core/training/plan_parts.h"
#include "caffe2_core/training/training_plan.h"

namespace caffe2rt {
namespace {

constexpr char kTestReader[] = "test_reader";
constexpr char kTestPrefix[] = "test_";
constexpr char kTestOne[] = "test_one";

int64_t LargestDivisor(int64_t n, int64_t most) {
  int64_t divisor = std::min(n, most);
  while (n % divisor != 0) --divisor;
  return divisor;
}

std::string WeightBlob(int64_t batch) { return MakeString("test_weight_", batch); }

bool IsIn(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

TestNets::TestNets(const TrainDef& def, const TrainingNets& nets, const DataFacts& facts,
                   bool for_caffe2, const RankOptions& ranks)
    : def_(def),
      nets_(nets),
      facts_(facts),
      for_caffe2_(for_caffe2),
      ranks_(ranks),
      records_(RecordsOfRank(facts.records, ranks)) {
  CheckInput(def.input(), facts);
  CAFFE_ENFORCE(facts.records >= ranks.size, "database \"", facts.place.path, "\" of the test has ",
                CountText(facts.records, "record"), ", want at least one for each of ",
                CountText(ranks.size, "rank"));
  constexpr int64_t kMost = 256;
  batch_ = for_caffe2 ? LargestDivisor(facts.records, kMost)
                      : std::min<int64_t>(RecordsOfRank(def.input().batch_size(), ranks), records_);
}

void TestNets::AddNets(NetDef* init, PlanDef* plan) const {
  if (for_caffe2_) AppendOps({OpenDatabaseOp(facts_.place, kTestReader)}, init);
  *plan->add_network() = BeginNet();
  *plan->add_network() = NetFor(batch_, nets_.test.name());
  const int64_t rest = records_ % batch_;
  if (rest > 0) *plan->add_network() = NetFor(rest, nets_.test.name() + "_rest");
  if (ranks_.several()) *plan->add_network() = SumNet();
}

void TestNets::AddSteps(ExecutionStep* outer) const {
  AddStep("test_begin", nets_.test.name() + "_begin", 1, outer);
  AddStep("test", nets_.test.name(), records_ / batch_, outer);
  if (records_ % batch_ > 0) AddStep("test_rest", nets_.test.name() + "_rest", 1, outer);
  if (ranks_.several()) AddStep("test_sum", nets_.test.name() + "_sum", 1, outer);
}

// The share of the records that a batch has.
float TestNets::Weight(int64_t batch) const {
  return static_cast<float>(static_cast<double>(batch) / static_cast<double>(facts_.records));
}

NetDef TestNets::SumNet() const {
  NetDef net = NamedNet(nets_.test.name() + "_sum");
  AppendOps({AllreduceOp(kTestLoss)}, &net);
  if (!nets_.accuracy.empty()) AppendOps({AllreduceOp(kTestAccuracy)}, &net);
  return net;
}

// The state of the training that the test net writes.
std::vector<std::string> TestNets::Changed() const {
  const NetBlobs blobs(nets_.test);
  std::vector<std::string> changed;
  for (const std::string& blob : BlobsReadFirst(nets_.test)) {
    if (!IsIn(nets_.inputs, blob) && blobs.Writes(blob)) changed.push_back(blob);
  }
  return changed;
}

NetDef TestNets::BeginNet() const {
  NetDef begin = NamedNet(nets_.test.name() + "_begin");
  if (!for_caffe2_) {
    OperatorDef open = OpenDatabaseOp(facts_.place, kTestReader);
    if (ranks_.several()) {
      AddArgument("num_shards", ranks_.size, &open);
      AddArgument("shard_id", ranks_.rank, &open);
    }
    AppendOps({open}, &begin);
    AppendOps(InputFills(def_.input(), facts_), &begin);
  }
  AppendOps({FilledNumberOp(kTestOne, 1), FilledNumberOp(kTestLoss, 0),
             FilledNumberOp(WeightBlob(batch_), Weight(batch_))},
            &begin);
  if (!nets_.accuracy.empty()) AppendOps({FilledNumberOp(kTestAccuracy, 0)}, &begin);
  const int64_t rest = records_ % batch_;
  if (rest > 0) AppendOps({FilledNumberOp(WeightBlob(rest), Weight(rest))}, &begin);
  for (const std::string& blob : Changed())
    AppendOps({CreateOperatorDef("Copy", "", {blob}, {kTestPrefix + blob})}, &begin);
  return begin;
}

NetDef TestNets::NetFor(int64_t batch, const std::string& name) const {
  InputPlace place = {.reader = kTestReader, .batch_size = batch};
  place.is_test = true;
  NetDef net = JoinedNet(InputOperators(def_.input(), facts_, place), nets_.test);
  const std::vector<std::string> changed = Changed();
  std::vector<std::string> keep;
  for (const std::string& blob : BlobsReadFirst(net)) {
    if (!IsIn(changed, blob)) keep.push_back(blob);
  }
  PrefixBlobs(kTestPrefix, keep, &net);
  AddSum(nets_.loss, kTestLoss, batch, &net);
  if (!nets_.accuracy.empty()) AddSum(nets_.accuracy, kTestAccuracy, batch, &net);
  net.set_name(name);
  return net;
}

void TestNets::AddSum(const std::string& value, const char* sum, int64_t batch, NetDef* net) const {
  *net->add_op() = CreateOperatorDef(
      "WeightedSum", "", {sum, kTestOne, kTestPrefix + value, WeightBlob(batch)}, {sum});
}

}  // namespace caffe2rt
