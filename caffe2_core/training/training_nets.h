#pragma once
// The nets of a training, made of a TrainDef:
//
//   init     fills the parameters and the state of the optimizer
//   train    forward pass, gradients, updates
//   test     forward pass as in use (is_test), with loss and accuracy
//   predict  the part of `test` that computes the outputs
//
// None of them reads data: a caller feeds the blobs of the input, or puts operators that do in front
// (training_plan.h).
//
//   const TrainingNets nets = MakeTrainingNets(def);
//   ws.RunNetOnce(nets.init);
//   ws.CreateNet(nets.train);
//   ... feed "data" and "label" ...
//   ws.RunNet(nets.train.name());

#include <string>
#include <vector>

#include "caffe2_core/training/ranks.h"
#include "caffe2rt/caffe2.pb.h"
#include "caffe2rt/train.pb.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

struct TrainingNets {
  NetDef init, train, test, predict;
  std::vector<std::string> inputs;      // InputDef::blob
  std::vector<std::string> parameters;  // the blobs that the predict net reads but not the inputs
  std::vector<std::string> trained;     // the blobs that the optimizer updates
  std::vector<std::string> outputs;     // of the predict net
  std::string loss;
  std::string accuracy;  // "" if there is none
};

// THROWS if the definition contradicts itself: it has no operators, a parameter is filled twice or not
// read, a blob that the net reads is not filled, or nothing computes the loss; and as
// AddGradientOperators and AddOptimizer do.
// With several ranks, the train net adds the gradients of all ranks (data_parallel.h).
TrainingNets MakeTrainingNets(const TrainDef& def, const RankOptions& ranks = {});

// The net as it is used after the training: is_test is set where the schema has it, and outputs that
// only the training needs are left out.
NetDef TestNetOf(const NetDef& net);

// Renames all blobs of the net but those in `keep`.
void PrefixBlobs(const std::string& prefix, const std::vector<std::string>& keep, NetDef* net);

// Whether the schema of an operator type declares the argument.
bool DeclaresArgument(const std::string& type, const char* name);

// The blobs that the net reads before it writes them, in order of first use.
std::vector<std::string> BlobsReadFirst(const NetDef& net);

// The operator that fills a parameter.
OperatorDef FillOf(const ParamDef& param);

}  // namespace caffe2rt
#pragma GCC visibility pop
