// train_char_rnn TEXT RUN: a recurrent net that predicts the next character of a text. It is trained
// on the first nine tenths, and tested on the last one.

#include <algorithm>
#include <iostream>
#include <set>

#include "binaries/program_main.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/training/model_builder.h"
#include "caffe2_core/training/record_database.h"
#include "caffe2_core/training/training_run.h"

namespace caffe2rt::demo {
namespace {

constexpr int64_t kSteps = 25, kBatch = 16, kUnits = 128, kWidth = 32;

// Characters as numbers, in the order of their bytes.
std::vector<int32_t> Encode(const std::string& text, size_t* characters) {
  const std::set<char> used(text.begin(), text.end());
  const std::vector<char> order(used.begin(), used.end());
  *characters = order.size();
  std::vector<int32_t> codes;
  for (const char c : text) {
    codes.push_back(
        static_cast<int32_t>(std::lower_bound(order.begin(), order.end(), c) - order.begin()));
  }
  return codes;
}

// Row b of a batch reads the b-th of kBatch parts of the text, and goes on there in the next batch.
void WriteParts(const std::vector<int32_t>& codes, size_t begin, size_t end,
                const std::string& path) {
  RecordDatabase database("minidb", path);
  const auto steps = static_cast<size_t>(kSteps), rows = static_cast<size_t>(kBatch);
  const size_t batches = (end - begin - 1) / (steps * rows);
  CAFFE_ENFORCE(batches > 0, "the text is too short");
  for (size_t i = 0; i < batches * rows; ++i) {
    const size_t at = begin + (i % rows * batches + i / rows) * steps;
    TrainingRecord record{.key = RecordKey(static_cast<int64_t>(i), 8), .tensors = {}};
    for (const size_t shift : {0u, 1u}) {
      TensorProto* const tensor = record.tensors.add_protos();
      tensor->set_data_type(TensorProto::INT32);
      tensor->add_dims(kSteps);
      for (size_t t = 0; t < steps; ++t) tensor->add_int32_data(codes[at + t + shift]);
    }
    database.Acceptor()(record);
  }
  database.Finish();
}

TrainDef CharRnn(int64_t characters) {
  ModelBuilder model("char_rnn");
  const std::vector<int> order = {1, 0, 2};
  std::string x = model.Embedding("data", "embed", characters, kWidth);
  Argument axes;
  axes.set_name("axes");
  for (const int axis : order) axes.add_ints(axis);
  x = model.Op("Transpose", {x}, "steps", {axes});
  x = model.Lstm(x, "lstm",
                 {.steps = kSteps,
                  .batch_size = kBatch,
                  .inputs = kWidth,
                  .units = kUnits,
                  .forget_bias = 1,
                  .keeps_state = true});
  model.Op("FlattenToVec", {model.Op("Transpose", {"label"}, "label_steps")}, "next");
  model.SoftmaxLoss(model.FC(x, "scores", kUnits, characters), "next");
  model.Input().set_batch_size(kBatch);
  model.Optimizer().set_type("adam");
  model.Optimizer().set_rate(0.002f);
  model.Optimizer().set_clip_norm(5);
  return model.def();
}

int Train(const CommandLine& line) {
  CheckPositional(line, 2, 2, "a text and a folder");
  size_t characters = 0;
  const std::vector<int32_t> codes = Encode(ReadWholeFile(line.positional()[0]), &characters);
  const std::string& folder = line.positional()[1];
  const size_t end = codes.size() * 9 / 10;
  WriteParts(codes, 0, end, folder + ".train.minidb");
  WriteParts(codes, end, codes.size(), folder + ".test.minidb");
  RunDef run;
  *run.mutable_train() = CharRnn(static_cast<int64_t>(characters));
  run.mutable_data()->set_path(folder + ".train.minidb");
  run.mutable_test()->set_path(folder + ".test.minidb");
  run.set_epochs(static_cast<int>(line.Integer("epochs", 1, 1000)));
  TrainingCallbacks callbacks;
  callbacks.on_epoch = [](const EpochResult& result) {
    std::cout << "epoch " << result.epoch << ": " << FixedText(result.loss, 3)
              << " nats for each character" << std::endl;
  };
  TrainingRun(folder, run).Run(callbacks);
  return 0;
}

}  // namespace
}  // namespace caffe2rt::demo

int main(int argc, char** argv) {
  return caffe2rt::ProgramMain(
      {.name = "train_char_rnn",
       .purpose = "trains a net that predicts the next character of a text",
       .usage = "TEXT RUN",
       .options = {{"epochs", "N", "20", "epochs of the training"}},
       .notes = "example:\n  train_char_rnn text.txt rnn\n",
       .run = &caffe2rt::demo::Train},
      argc, argv);
}
