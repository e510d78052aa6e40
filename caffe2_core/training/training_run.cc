#include "caffe2_core/training/training_run.h"

#include <absl/strings/str_join.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/random_stream.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/base/timer.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/plan/plan_executor.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/workspace.h"
#include "caffe2_core/tensor/tensor.h"
#include "caffe2_core/training/checkpoint_files.h"
#include "caffe2_core/training/data_parallel.h"
#include "caffe2_core/training/initial_weights.h"
#include "caffe2_core/training/optimizer_nets.h"
#include "caffe2_core/training/predictor_database.h"
#include "caffe2_core/training/run_folder.h"
#include "caffe2_core/training/test_trial.h"
#include "caffe2_core/training/training_log.h"

namespace caffe2rt {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kLinesPerEpoch = 20;

// The number in a blob, on any device.
template <class T>
T NumberIn(const Workspace& ws, const std::string& name) {
  const Blob* const blob = ws.FindBlob(name).get();
  CAFFE_ENFORCE(blob != nullptr && blob->IsType<Tensor>(), "blob \"", name,
                "\" of the training is not a tensor");
  const Tensor* tensor = &blob->Get<Tensor>();
  Tensor copy(CPU);
  if (tensor->GetDeviceType() != CPU) {
    copy.CopyFrom(*tensor);
    tensor = &copy;
  }
  CAFFE_ENFORCE(tensor->numel() == 1 && tensor->IsType<T>(), "blob \"", name,
                "\" of the training has ", CountText(tensor->numel(), "element"),
                ", want one number");
  return *tensor->data<T>();
}

DatabasePlace PlaceOf(const DatabaseDef& def) { return {def.type(), def.path()}; }

TrainingData DataOf(const RunDef& run) {
  TrainingData data;
  data.train = ReadDataFacts(PlaceOf(run.data()));
  if (run.has_test()) data.test = ReadDataFacts(PlaceOf(run.test()));
  return data;
}

// Rank 0 broadcasts its own.
RunDef WithoutFirstWeights(RunDef run) {
  run.clear_init();
  return run;
}

// The length of a file up to its last line feed; 0 without a file.
int64_t WholeLineBytes(const std::string& path) {
  if (!fs::exists(path)) return 0;
  const std::string text = ReadWholeFile(path);
  return static_cast<int64_t>(text.rfind('\n') + 1);
}

}  // namespace

class TrainingRun::Impl {
 public:
  Impl(std::string folder, RunDef run, const std::string& checkpoint, const RankOptions& ranks)
      : folder_(std::move(folder)), run_(std::move(run)), ranks_(ranks), data_(DataOf(run_)) {
    TrainingPlanOptions options;
    if (!checkpoint.empty()) {
      state_ = ReadTrainState(checkpoint);
      // No epoch is left after an end without gain.
      options = {.checkpoint = checkpoint,
                 .iteration = state_.iteration(),
                 .epoch = HasNoGain() ? run_.epochs() : state_.epoch()};
    }
    options.ranks = ranks_;
    last_saved_ = checkpoint.empty() ? -1 : state_.iteration();
    last_checkpoint_ = checkpoint;
    first_iteration_ = state_.iteration();
    plan_ = MakeTrainingPlan(run_, data_, options);
    log_every_ = std::max<int64_t>(1, plan_.steps_per_epoch / kLinesPerEpoch);
  }

  // The folder was made for this run: it goes if not even the first step succeeds, so that the corrected command can be
  // given with the same folder.
  void SetNew() { is_new_ = true; }

  const RunDef& run() const { return run_; }
  const TrainingPlan& plan() const { return plan_; }
  int64_t first_iteration() const { return first_iteration_; }

  TrainingEnd Run(const TrainingCallbacks& callbacks, const FileAccess& access) {
    callbacks_ = &callbacks;
    if (is_writer()) log_.emplace(folder_ + "/log.jsonl", state_.log_bytes());
    ws_.SetFileAccess(access);
    // Each rank draws its own numbers; those of rank 0 are those of a training on one rank.
    ws_.SetRandomSeed(is_writer() ? run_.seed()
                                  : MixRandomKeys(run_.seed(), static_cast<uint64_t>(ranks_.rank)));
    PlanOptions options;
    options.should_continue = [this](int) { return !Stops(); };
    options.on_iteration = [this](const PlanPosition& position) { Enter(position); };
    try {
      if (!ranks_.several()) TryTest(plan_, data_, access);
      CAFFE_ENFORCE(ws_.RunPlan(plan_.plan, options), "training \"", plan_.plan.name(),
                    "\" failed");
    } catch (EnforceNotMet& error) {
      EndAfterLoss(&error);
      if (is_new_ && state_.iteration() == 0 && !ranks_.several()) {
        log_.reset();
        RemoveRunFolder(folder_, last_checkpoint_);
      }
      throw;
    }
    if (begun_) Collect();
    if (reason_ == TrainingEnd::Reason::kStopped && begun_) Save();
    // The run may have ended before it could write its results.
    const bool had_ended = !begun_ && (HasNoGain() || state_.epoch() >= run_.epochs());
    if (had_ended && is_writer()) WriteResults();
    if (had_ended && HasNoGain()) reason_ = TrainingEnd::Reason::kNoGain;
    return {reason_, state_.iteration(), last_checkpoint_, model_is_missing_};
  }

 private:
  bool is_writer() const { return ranks_.rank == 0; }

  // Whether the last epochs that ended were no gain, as many as end the training.
  bool HasNoGain() const {
    return run_.stop_after() > 0 && state_.epoch() > 0 &&
           state_.epoch() - state_.best_epoch() >= run_.stop_after();
  }

  // If the error means that ranks are lost: saves, if this is the lowest rank left, and says so.
  void EndAfterLoss(EnforceNotMet* error) {
    if (!ranks_.several() || !callbacks_->lost_ranks) return;
    const std::optional<std::vector<int>> lost = callbacks_->lost_ranks(*error);
    if (!lost || lost->empty()) return;
    int lowest = 0;
    while (std::find(lost->begin(), lost->end(), lowest) != lost->end()) ++lowest;
    std::string what = MakeString("; rank ", lowest, ", the lowest one left, writes a checkpoint");
    if (lowest == ranks_.rank) {
      const bool is_whole = begun_ && NumberIn<int64_t>(ws_, kIterationBlob) == state_.iteration();
      if (is_whole) SaveAfterLoss();
      what = last_checkpoint_.empty() ? std::string("; there is no checkpoint yet")
                                      : MakeString("; the state after step ", state_.iteration(),
                                                   " is in \"", last_checkpoint_, "\"");
    }
    error->AppendMessage(
        MakeString("rank ", ranks_.rank, " of ", ranks_.size, ": ", absl::StrJoin(*lost, ", "),
                   lost->size() == 1 ? " is lost" : " are lost", what,
                   "; continue with any number of ranks: caffe2 train --resume ", folder_));
  }

  void SaveAfterLoss() {
    // Lines that the lost rank 0 wrote, as far as they are whole.
    if (!is_writer()) state_.set_log_bytes(WholeLineBytes(folder_ + "/log.jsonl"));
    Save(true);
  }

  bool Stops() {
    // Several ranks agree on it in each step.
    if (ranks_.several()) {
      wants_stop_ = wants_stop_ || (callbacks_->should_stop && callbacks_->should_stop());
      return reason_ != TrainingEnd::Reason::kDone;
    }
    if (reason_ == TrainingEnd::Reason::kDone && callbacks_->should_stop &&
        callbacks_->should_stop())
      reason_ = TrainingEnd::Reason::kStopped;
    return reason_ != TrainingEnd::Reason::kDone;
  }

  void Enter(const PlanPosition& position) {
    const ExecutionStep& step = *position.step;
    const bool trains = step.network_size() > 0 && step.network(0) == plan_.train_net;
    if (begun_) Collect();
    if (trains) BeforeStep();
    if (step.name() == "test_begin") test_timer_.Start();
    if (step.name() == kEpochEnd) EndEpoch();
  }

  void BeforeStep() {
    if (!begun_) {
      // Random numbers are a function of the seed and the number of the step.
      NetBase* const net = ws_.GetNet(plan_.train_net);
      CAFFE_ENFORCE(net != nullptr, "net \"", plan_.train_net, "\" of the training does not exist");
      net->SetNextRun(static_cast<uint64_t>(state_.iteration()));
      const auto first = NumberIn<int64_t>(ws_, kIterationBlob);
      CAFFE_ENFORCE(!ranks_.several() || first == state_.iteration(), "rank 0 begins at step ",
                    first, " and rank ", ranks_.rank, " at step ", state_.iteration(),
                    ": they have found different checkpoints in \"", folder_, "\"");
      if (last_saved_ < 0) Save();
      begun_ = true;
    }
    if (timed_steps_ < 0) {
      timer_.Start();
      timed_steps_ = 0;
    }
    if (ranks_.several()) {
      ws_.GetBlob(kStopBlob)->GetMutableTensor(CPU)->mutable_data<float>()[0] =
          wants_stop_ ? 1.0f : 0.0f;
    }
    const int64_t every = run_.checkpoint_every();
    if (every > 0 && state_.iteration() % every == 0 && state_.iteration() > last_saved_) Save();
    in_step_ = true;
  }

  // Takes the results of a step, once.
  void Collect() {
    const int64_t done = NumberIn<int64_t>(ws_, kIterationBlob);
    if (done == state_.iteration()) return;
    in_step_ = false;
    const StepNumbers numbers = NumbersOfStep();
    const double loss = numbers.loss;
    if (numbers.stop && reason_ == TrainingEnd::Reason::kDone)
      reason_ = TrainingEnd::Reason::kStopped;
    CAFFE_ENFORCE(std::isfinite(loss), "the loss of step ", done, " is ", loss,
                  "; a lower rate, or clip_norm, may help");
    state_.set_iteration(done);
    AddToSums(numbers);
    ++timed_steps_;
    const TrainingProgress progress = Progress();
    if (callbacks_->on_step) callbacks_->on_step(progress);
    if (done % log_every_ == 0 || progress.share >= 1) AddLine(progress);
  }

  struct StepNumbers {
    double loss = 0, accuracy = 0;
    bool stop = false;
  };
  void AddToSums(const StepNumbers& numbers) {
    state_.set_loss_sum(state_.loss_sum() + numbers.loss);
    state_.set_epoch_loss_sum(state_.epoch_loss_sum() + numbers.loss);
    if (has_accuracy()) {
      state_.set_accuracy_sum(state_.accuracy_sum() + numbers.accuracy);
      state_.set_epoch_accuracy_sum(state_.epoch_accuracy_sum() + numbers.accuracy);
    }
    state_.set_steps(state_.steps() + 1);
    state_.set_epoch_steps(state_.epoch_steps() + 1);
  }

  // Of all ranks.
  StepNumbers NumbersOfStep() const {
    StepNumbers numbers;
    if (!ranks_.several()) {
      numbers.loss = static_cast<double>(NumberIn<float>(ws_, plan_.nets.loss));
      if (has_accuracy())
        numbers.accuracy = static_cast<double>(NumberIn<float>(ws_, plan_.nets.accuracy));
      return numbers;
    }
    const auto& votes = ws_.FindBlob(kVotesBlob)->Get<Tensor>();
    const int count = has_accuracy() ? 3 : 2;
    CAFFE_ENFORCE(votes.numel() == count, "the ranks' votes have ",
                  CountText(votes.numel(), "number"), ", want ", count);
    const float* const values = votes.data<float>();
    numbers.loss = static_cast<double>(values[0]);
    if (has_accuracy()) numbers.accuracy = static_cast<double>(values[1]);
    numbers.stop = values[count - 1] > 0;
    return numbers;
  }

  bool has_accuracy() const { return !plan_.nets.accuracy.empty(); }

  TrainingProgress Progress() const {
    TrainingProgress progress;
    const int64_t in_epoch = state_.iteration() - state_.epoch() * plan_.steps_per_epoch;
    progress.iteration = state_.iteration();
    progress.epoch = state_.epoch() + 1;
    progress.share = static_cast<double>(in_epoch) / static_cast<double>(plan_.steps_per_epoch);
    const auto steps = static_cast<double>(std::max<int64_t>(1, state_.steps()));
    progress.loss = state_.loss_sum() / steps;
    progress.has_accuracy = has_accuracy();
    progress.accuracy = state_.accuracy_sum() / steps;
    progress.rate = std::fabs(static_cast<double>(NumberIn<float>(ws_, kLearningRateBlob)));
    const double seconds = static_cast<double>(timer_.Seconds());
    const auto timed = static_cast<double>(std::max<int64_t>(1, timed_steps_));
    const double step_seconds = seconds / timed;
    progress.images_per_second = run_.train().input().batch_size() / std::max(step_seconds, 1e-9);
    const int64_t left = plan_.steps_per_epoch * run_.epochs() - state_.iteration();
    progress.seconds_left = static_cast<double>(left) * step_seconds +
                            test_seconds_ * static_cast<double>(run_.epochs() - state_.epoch());
    return progress;
  }

  void AddLine(const TrainingProgress& progress) {
    LogLine line{.epoch = progress.epoch, .iteration = progress.iteration};
    line.loss = progress.loss;
    if (progress.has_accuracy) line.accuracy = progress.accuracy;
    line.rate = progress.rate;
    line.images_per_second = std::round(progress.images_per_second);
    AddToLog(line);
    state_.set_loss_sum(0);
    state_.set_accuracy_sum(0);
    state_.set_steps(0);
  }

  void AddToLog(const LogLine& line) {
    if (!is_writer()) return;
    Attempt([&] { log_->Add(line); });
    state_.set_log_bytes(log_->bytes());
  }

  EpochResult ResultOfEpoch() {
    EpochResult result;
    result.epoch = state_.epoch() + 1;
    result.has_test = data_.test.has_value();
    result.has_accuracy = has_accuracy();
    const auto steps = static_cast<double>(std::max<int64_t>(1, state_.epoch_steps()));
    result.loss = state_.epoch_loss_sum() / steps;
    result.accuracy = state_.epoch_accuracy_sum() / steps;
    if (result.has_test) {
      test_seconds_ = static_cast<double>(test_timer_.Seconds());
      result.loss = static_cast<double>(NumberIn<float>(ws_, kTestLoss));
      if (result.has_accuracy)
        result.accuracy = static_cast<double>(NumberIn<float>(ws_, kTestAccuracy));
    }
    result.is_best = !state_.has_best() || (has_accuracy() ? result.accuracy > state_.best()
                                                           : result.loss < state_.best());
    return result;
  }

  void EndEpoch() {
    const EpochResult result = ResultOfEpoch();
    LogLine line{.epoch = result.epoch, .iteration = state_.iteration()};
    line.best = result.is_best;
    if (result.has_test) {
      line.test_loss = result.loss;
      if (result.has_accuracy) line.test_accuracy = result.accuracy;
    }
    AddToLog(line);
    state_.set_epoch(result.epoch);
    state_.set_epoch_loss_sum(0);
    state_.set_epoch_accuracy_sum(0);
    state_.set_epoch_steps(0);
    if (result.is_best) {
      state_.set_best(has_accuracy() ? result.accuracy : result.loss);
      state_.set_best_epoch(result.epoch);
      if (is_writer())
        Attempt([&] {
          SaveCheckpoint(BestCheckpointPath(folder_), ws_, plan_.state, state_, Changes());
        });
    }
    if (is_writer()) WriteResults();
    Save();
    timed_steps_ = -1;
    if (callbacks_->on_epoch) callbacks_->on_epoch(result);
    if (HasNoGain() && reason_ == TrainingEnd::Reason::kDone)
      reason_ = TrainingEnd::Reason::kNoGain;
  }

  void WriteResults() {
    Attempt([&] {
      WriteFileAtomically(folder_ + "/curves.svg", CurvesAsSvg(plan_.plan.name(), log_->lines()));
    });
    model_is_missing_ = !Attempt([&] {
      SavePredictor(folder_ + "/model.minidb", plan_.nets,
                    PreparationFor(run_.train().input(), data_.train), ws_);
    });
  }

  // The reader goes on behind the steps that are done, for any number of ranks.
  CheckpointChanges Changes() const {
    CheckpointChanges changes;
    if (!ranks_.several()) return changes;
    const int64_t read = state_.iteration() * run_.train().input().batch_size();
    changes.reader_position = {read / data_.train.records, read % data_.train.records};
    if (!in_step_) return changes;
    for (const std::string& blob : plan_.changed_early)
      changes.values_of[blob] = blob + kKeptSuffix;
    return changes;
  }

  // What cannot be written does not end the training.
  bool Attempt(const std::function<void()>& write) {
    try {
      write();
      return true;
    } catch (const EnforceNotMet& error) {
      if (callbacks_->on_warning) callbacks_->on_warning(error.message());
      return false;
    }
  }

  void Save(bool after_loss = false) {
    if (!is_writer() && !after_loss) {
      last_saved_ = state_.iteration();
      return;
    }
    const std::string path = CheckpointPath(folder_, state_.iteration());
    const bool saved = Attempt([&] {
      SaveCheckpoint(path, ws_, plan_.state, state_, Changes());
      RemoveOldCheckpoints(folder_, run_.keep());
    });
    last_saved_ = state_.iteration();
    if (saved) last_checkpoint_ = path;
  }

  const std::string folder_;
  const RunDef run_;
  const RankOptions ranks_;
  const TrainingData data_;
  TrainingPlan plan_;
  TrainState state_;
  bool is_new_ = false;
  int64_t first_iteration_ = 0, log_every_ = 1, last_saved_ = -1;
  std::string last_checkpoint_;
  Workspace ws_;
  const TrainingCallbacks* callbacks_ = nullptr;
  std::optional<TrainingLog> log_;
  TrainingEnd::Reason reason_ = TrainingEnd::Reason::kDone;
  bool begun_ = false, model_is_missing_ = false;
  bool in_step_ = false;     // from the start of a step until its results are taken
  bool wants_stop_ = false;  // of this rank
  Timer timer_, test_timer_;
  int64_t timed_steps_ = -1;  // since timer_ started; -1: it has not started in this epoch
  double test_seconds_ = 0;
};

TrainingRun::TrainingRun(const std::string& folder, const RunDef& given, const RankOptions& ranks) {
  if (ranks.rank > 0) {
    impl_ = std::make_unique<Impl>(folder, WithoutFirstWeights(given), "", ranks);
    return;
  }
  CreateRunFolder(folder);
  RunDef run = given;
  const std::string weights = folder + "/init.minidb";
  try {
    if (!run.init().empty()) {
      const InitialWeights found =
          CollectInitialWeights(run.init(), MakeTrainingNets(run.train()), weights);
      missing_weights_ = found.not_found;
      run.set_init(fs::absolute(weights).lexically_normal().string());
    }
    impl_ = std::make_unique<Impl>(folder, run, "", ranks);
  } catch (...) {
    std::error_code ignored;
    fs::remove(weights, ignored);
    fs::remove(folder, ignored);
    throw;
  }
  WriteRunDef(run, folder);
  impl_->SetNew();
}

TrainingRun::TrainingRun(const std::string& folder, const RankOptions& ranks) {
  const RunDef run = ranks.rank > 0 ? WithoutFirstWeights(ReadRunDef(folder)) : ReadRunDef(folder);
  const std::vector<CheckpointFile> files = CheckpointsOf(folder);
  // A run that ended before its first checkpoint begins again.
  impl_ = std::make_unique<Impl>(folder, run, files.empty() ? "" : files.back().path, ranks);
}

TrainingRun::~TrainingRun() = default;
TrainingRun::TrainingRun(TrainingRun&&) noexcept = default;

const RunDef& TrainingRun::def() const { return impl_->run(); }
const TrainingPlan& TrainingRun::plan() const { return impl_->plan(); }
int64_t TrainingRun::first_iteration() const { return impl_->first_iteration(); }
TrainingEnd TrainingRun::Run(const TrainingCallbacks& callbacks, const FileAccess& access) {
  return impl_->Run(callbacks, access);
}

TestResult TestRun(const std::string& folder, const DatabasePlace& test, const FileAccess& access) {
  const RunDef run = ReadRunDef(folder);
  const std::vector<CheckpointFile> files = CheckpointsOf(folder);
  CAFFE_ENFORCE(!files.empty(), "\"", folder, "\" has no checkpoint");
  const DataFacts facts = ReadDataFacts(test);
  Workspace ws;
  ws.SetFileAccess(access);
  const PlanDef plan = MakeTestPlan(run.train(), facts, files.back().path);
  CAFFE_ENFORCE(ws.RunPlan(plan), "the test of \"", folder, "\" failed");
  TestResult result;
  result.loss = static_cast<double>(NumberIn<float>(ws, kTestLoss));
  result.has_accuracy = !run.train().accuracy().empty();
  if (result.has_accuracy)
    result.accuracy = static_cast<double>(NumberIn<float>(ws, kTestAccuracy));
  result.records = facts.records;
  result.checkpoint = files.back().path;
  return result;
}

}  // namespace caffe2rt
