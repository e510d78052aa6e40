#pragma once
// The part of a plan that tests a net on all records of a database.

#include <cstdint>
#include <string>
#include <vector>

#include "caffe2_core/training/data_facts.h"
#include "caffe2_core/training/training_nets.h"
#include "caffe2rt/caffe2.pb.h"
#include "caffe2rt/train.pb.h"

namespace caffe2rt {

// The nets of a test, and its steps (training_plan.h). Blobs that the test writes begin with "test_".
// What the test would change of the training's state, it copies first.
class TestNets {
 public:
  // REQUIRES: the arguments outlive this object. THROWS if the records do not fit the definition.
  // Several ranks divide the records, and add their sums at the end.
  TestNets(const TrainDef& def, const TrainingNets& nets, const DataFacts& facts, bool for_caffe2,
           const RankOptions& ranks = {});

  // Adds the nets to the plan. For Caffe2, the operator that opens the database goes into `init`.
  void AddNets(NetDef* init, PlanDef* plan) const;
  void AddSteps(ExecutionStep* outer) const;

 private:
  float Weight(int64_t batch) const;
  std::vector<std::string> Changed() const;
  NetDef BeginNet() const;
  NetDef SumNet() const;  // over the ranks
  NetDef NetFor(int64_t batch, const std::string& name) const;
  void AddSum(const std::string& value, const char* sum, int64_t batch, NetDef* net) const;

  const TrainDef& def_;
  const TrainingNets& nets_;
  const DataFacts& facts_;
  const bool for_caffe2_;
  const RankOptions ranks_;
  int64_t records_ = 0;  // of this rank
  int64_t batch_ = 0;
};

}  // namespace caffe2rt
