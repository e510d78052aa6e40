#pragma once
// TrainingRun: trains a net and keeps what it does in a folder.
//
//   TrainingRun run("run1", def);                       // a new folder
//   run.Run({});
//   TrainingRun same = TrainingRun("run1");             // goes on at the last checkpoint
//
// The folder:
//
//   run.pbtxt          the RunDef
//   log.jsonl          loss, accuracy and rate (training_log.h)
//   curves.svg         the curves of the log
//   checkpoint-N       after N steps, the last ones (checkpoint_files.h)
//   checkpoint-best    of the epoch with the best accuracy of the test, or else the least loss
//   model.minidb       the trained net as a predictor's database, of the last epoch
//
// Several ranks train one net (ranks.h): each process has a TrainingRun on the same folder. Rank 0
// writes all files. If ranks are lost, the lowest rank that is left writes a checkpoint of the last
// step that is complete, and Run throws on all that are left. Any number of ranks can go on from it,
// also one.
//
// A run that was ended at any moment, also by a crash, and goes on at a checkpoint reaches the same
// weights as one that was not ended, byte for byte.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/io/file_access.h"
#include "caffe2_core/training/training_plan.h"
#include "caffe2rt/train.pb.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

struct TrainingProgress {
  int64_t iteration = 0;                    // steps that are done
  int64_t epoch = 1;                        // from 1
  double share = 0;                         // of the epoch's steps that is done
  double loss = 0, accuracy = 0, rate = 0;  // means of the steps since the last line of the log
  bool has_accuracy = false;
  double images_per_second = 0;
  double seconds_left = 0;
};

struct EpochResult {
  int64_t epoch = 0;              // from 1
  double loss = 0, accuracy = 0;  // of the test, or else means of the epoch's steps
  bool has_test = false, has_accuracy = false, is_best = false;
};

struct TrainingCallbacks {
  std::function<void(const TrainingProgress& progress)> on_step = {};
  std::function<void(const EpochResult& result)> on_epoch = {};
  // What went wrong without ending the training: a checkpoint that could not be written.
  std::function<void(const std::string& text)> on_warning = {};
  // Asked before each step. Returning true ends the training with a checkpoint.
  // With several ranks, all end behind the same step if one of them returns true.
  std::function<bool()> should_stop = {};
  // The ranks that did not answer, if that is what the error of an operator means, else nothing.
  std::function<std::optional<std::vector<int>>(const EnforceNotMet& error)> lost_ranks = {};
};

struct TrainingEnd {
  enum class Reason { kDone, kNoGain, kStopped };
  Reason reason = Reason::kDone;
  int64_t iteration = 0;
  std::string checkpoint;  // the last one; "" if it could not be written
  // Whether model.minidb could not be written after the last epoch that ended. It is that of an earlier epoch, or missing, then.
  bool model_is_missing = false;
};

class TrainingRun {
 public:
  // A new run. Creates the folder. THROWS if the folder exists and is not empty, or if data and
  // definition do not fit together.
  TrainingRun(const std::string& folder, const RunDef& run, const RankOptions& ranks = {});
  // Goes on. THROWS if the folder has no run.pbtxt or no checkpoint.
  explicit TrainingRun(const std::string& folder, const RankOptions& ranks = {});
  ~TrainingRun();
  TrainingRun(TrainingRun&&) noexcept;
  TrainingRun& operator=(TrainingRun&&) = delete;
  TrainingRun(const TrainingRun&) = delete;

  const RunDef& def() const;
  const TrainingPlan& plan() const;
  // Steps that earlier runs did.
  int64_t first_iteration() const;
  // Parameters that RunDef::init does not have, with the reason. They start with new weights.
  const std::vector<std::string>& missing_weights() const { return missing_weights_; }

  // Runs the plan to its end. THROWS if an operator fails, or if the loss is not a finite number; the
  // checkpoints that exist stay. If the first step of a new run fails, its folder is removed, unless
  // several ranks train. Call it once.
  TrainingEnd Run(const TrainingCallbacks& callbacks,
                  const FileAccess& access = FileAccess::Free());

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
  std::vector<std::string> missing_weights_;
};

struct TestResult {
  double loss = 0, accuracy = 0;
  bool has_accuracy = false;
  int64_t records = 0;
  std::string checkpoint;
};
// Tests the net of the last checkpoint of a run on a database.
TestResult TestRun(const std::string& folder, const DatabasePlace& test,
                   const FileAccess& access = FileAccess::Free());

}  // namespace caffe2rt
#pragma GCC visibility pop
