#pragma once
// The plan of a training: a PlanDef whose nets read a database, train and test.
//
//   network  NAME_init        opens the database, fills parameters and state; or loads a checkpoint
//            NAME_train       one step: reads a batch, computes loss and gradients, updates
//            NAME_test_begin  opens the test database, sets the sums to 0
//            NAME_test        reads a batch, adds loss and accuracy to the sums
//            NAME_test_rest   the same for the records after the last full batch
//   step     init
//            epoch            as many times as there are epochs: substeps train, test, epoch_end
//
// After a test, the blobs test_loss_mean and test_accuracy_mean hold the means over all test records.
// A plan that goes on from a checkpoint first does what is missing of its epoch (step epoch_rest).

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "caffe2_core/training/data_facts.h"
#include "caffe2_core/training/training_nets.h"
#include "caffe2rt/caffe2.pb.h"
#include "caffe2rt/train.pb.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

inline constexpr char kTestLoss[] = "test_loss_mean";
inline constexpr char kTestAccuracy[] = "test_accuracy_mean";
inline constexpr char kEpochEnd[] = "epoch_end";  // the step at the end of an epoch, after the test

struct TrainingData {
  DataFacts train;
  std::optional<DataFacts> test = std::nullopt;
};

struct TrainingPlanOptions {
  // With several ranks, the plan of one of them: all ranks run theirs at the same time. The batch is
  // divided among them, and so are the records of the test. Only rank 0 saves.
  RankOptions ranks = {};
  // What was done before, according to the checkpoint that the plan loads.
  std::string checkpoint = "";  // a minidb
  int64_t iteration = 0;
  int64_t epoch = 0;
  // A folder for which the plan itself writes: at the end of each epoch checkpoint-ITERATION, at the
  // end weights.minidb. If empty, the plan writes nothing.
  std::string folder = "";
  // Only operators and habits of Caffe2: the batch of the test divides the number of records, and its
  // reader is opened once, because each input operator of Caffe2 reads ahead on its own.
  bool for_caffe2 = false;
};

struct TrainingPlan {
  PlanDef plan;
  TrainingNets nets;
  std::string train_net;       // name
  std::string checkpoint_net;  // name, "" without a folder
  int64_t steps_per_epoch =
      0;  // one epoch has all records; the last batch goes on at the first one
  // The blobs that a training goes on with: what the train net reads before it writes it.
  std::vector<std::string> state;
  // Those of them that a step changes before its last collective; BLOB_before_step keeps each one until
  // the next step (data_parallel.h). Empty with one rank.
  std::vector<std::string> changed_early;
};

// THROWS if data and definition do not fit together, and as MakeTrainingNets does.
TrainingPlan MakeTrainingPlan(const RunDef& run, const TrainingData& data,
                              const TrainingPlanOptions& options = {});

// The plan that loads a checkpoint and tests its net on a database.
PlanDef MakeTestPlan(const TrainDef& def, const DataFacts& test, const std::string& checkpoint);

}  // namespace caffe2rt
#pragma GCC visibility pop
