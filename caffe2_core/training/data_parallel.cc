#include "caffe2_core/training/data_parallel.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/training/plan_parts.h"

namespace caffe2rt {
namespace {

using Names = std::vector<std::string>;

constexpr char kEngine[] = "GLOO";
constexpr char kStoreBlob[] = "train_store";

// The position of the last operator that writes the blob.
int LastWriter(const NetDef& net, const std::string& blob) {
  for (int i = net.op_size() - 1; i >= 0; --i) {
    if (HasOutput(net.op(i), blob)) return i;
  }
  CAFFE_THROW("no operator of net \"", net.name(), "\" writes the gradient \"", blob, "\"");
}

// Scales the gradient of the loss, and so all others.
void ScaleGradients(const std::string& loss, float share, NetDef* net) {
  for (OperatorDef& op : *net->mutable_op()) {
    if (op.type() != "ConstantFill" || !HasOutput(op, loss + "_autogen_grad")) continue;
    *GetMutableArgument("value", true, &op) = MakeArgument("value", share);
    return;
  }
  CAFFE_THROW("net \"", net->name(), "\" has no operator that fills the gradient of the loss \"",
              loss, "\"");
}

void AddVotes(const DataParallelNet& def, NetDef* net) {
  Names parts;
  for (const std::string& blob : {def.loss, def.accuracy}) {
    if (blob.empty()) continue;
    const std::string flat = blob + "_vote";
    *net->add_op() = CreateOperatorDef("Reshape", "", {blob}, {flat, blob + "_vote_dims"},
                                       {MakeArgument("shape", std::vector<int64_t>{1})});
    *net->add_op() =
        CreateOperatorDef("Scale", "", {flat}, {flat}, {MakeArgument("scale", def.share)});
    parts.push_back(flat);
  }
  parts.push_back(kStopBlob);
  *net->add_op() = CreateOperatorDef("Concat", "", parts, Names{kVotesBlob, "train_votes_dims"},
                                     {MakeArgument("axis", 0)});
}

// The number of elements that the net fills the blob with; 0 if it does not say.
int64_t ElementsOf(const NetDef& init, const std::string& blob) {
  for (const OperatorDef& op : init.op()) {
    if (!HasOutput(op, blob)) continue;
    const auto shape = ArgumentHelper(op).GetRepeatedArgument<int64_t>("shape");
    return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
  }
  return 0;
}

// One exchange for all of them.
OperatorDef CoalescedAllreduceOp(const Names& blobs) {
  Names inputs = {kWorldBlob};
  inputs.insert(inputs.end(), blobs.begin(), blobs.end());
  OperatorDef op = CreateOperatorDef("AllreduceCoalesced", "train_sums", inputs, blobs);
  op.set_engine(kEngine);
  return op;
}

}  // namespace

void CheckForRanks(const std::vector<TrainedParameter>& parameters) {
  for (const TrainedParameter& parameter : parameters) {
    CAFFE_ENFORCE(parameter.gradient.IsDense(), "parameter \"", parameter.name,
                  "\" has a gradient of rows, which several ranks cannot add; train on one rank");
  }
}

OperatorDef AllreduceOp(const std::string& blob) {
  OperatorDef op = CreateOperatorDef("Allreduce", blob, {kWorldBlob, blob}, {blob});
  op.set_engine(kEngine);
  return op;
}

void AddGradientSums(const DataParallelNet& def, const std::vector<TrainedParameter>& parameters,
                     NetDef* net) {
  CheckForRanks(parameters);
  ScaleGradients(def.loss, def.share, net);
  std::vector<Names> large(static_cast<size_t>(net->op_size()));  // by their last writers
  Names small;
  for (const TrainedParameter& parameter : parameters) {
    const std::string& gradient = parameter.gradient.dense_;
    const auto writer = static_cast<size_t>(LastWriter(*net, gradient));
    const bool is_small = ElementsOf(*def.init, parameter.name) < kLargeGradient;
    (is_small ? small : large[writer]).push_back(gradient);
  }
  NetDef with_sums = *net;
  with_sums.clear_op();
  for (int i = 0; i < net->op_size(); ++i) {
    *with_sums.add_op() = net->op(i);
    for (const std::string& gradient : large[static_cast<size_t>(i)])
      *with_sums.add_op() = AllreduceOp(gradient);
  }
  AddVotes(def, &with_sums);
  small.push_back(kVotesBlob);
  *with_sums.add_op() = CoalescedAllreduceOp(small);
  *net = std::move(with_sums);
}

void OrderUpdates(const std::vector<TrainedParameter>& parameters,
                  const std::vector<std::string>& changed_early, NetDef* net) {
  for (OperatorDef& op : *net->mutable_op()) {
    if (op.type() != "Iter" || op.output(0) != kIterationBlob) continue;
    for (const TrainedParameter& parameter : parameters)
      op.add_control_input(parameter.gradient.dense_);
    op.add_control_input(kVotesBlob);
  }
  std::vector<OperatorDef> copies;
  for (const std::string& blob : changed_early)
    copies.push_back(CreateOperatorDef("Copy", "", {blob}, {blob + kKeptSuffix}));
  if (!copies.empty()) *net = JoinedNet(copies, *net);
}

std::vector<std::string> ChangedBeforeUpdates(const NetDef& train,
                                              const std::vector<std::string>& state) {
  std::set<std::string> written;
  for (const OperatorDef& op : train.op()) {
    if (op.type() == "Iter" && op.output(0) == kIterationBlob) break;
    written.insert(op.output().begin(), op.output().end());
  }
  Names changed;
  for (const std::string& blob : state) {
    if (written.contains(blob)) changed.push_back(blob);
  }
  return changed;
}

std::vector<OperatorDef> ConnectOperators(const RankOptions& ranks,
                                          const std::vector<std::string>& blobs) {
  CAFFE_ENFORCE(!ranks.store.empty(), "a training on ", ranks.size,
                " ranks has no store, want --store file:DIR with a folder that all of them see");
  std::vector<OperatorDef> ops;
  ops.push_back(
      CreateOperatorDef("FileStoreHandlerCreate", "", Names{}, {kStoreBlob},
                        {MakeArgument("path", ranks.store), MakeArgument("prefix", ranks.run_id)}));
  OperatorDef world = CreateOperatorDef(
      "CreateCommonWorld", kTrainWorldName, {kStoreBlob}, {kWorldBlob},
      {MakeArgument("rank", ranks.rank), MakeArgument("size", ranks.size),
       MakeArgument("timeout_ms", ranks.timeout_ms), MakeArgument("interface", ranks.interface)});
  world.set_engine(kEngine);
  ops.push_back(world);
  for (const std::string& blob : blobs) {
    OperatorDef op = CreateOperatorDef("Broadcast", blob, {kWorldBlob, blob}, {blob});
    op.set_engine(kEngine);
    ops.push_back(op);
  }
  ops.push_back(FilledNumberOp(kStopBlob, 0));
  return ops;
}

}  // namespace caffe2rt
