// train_lenet TRAIN_DB TEST_DB RUN: LeNet on MNIST, described and trained in C++. The databases are
// those of `caffe2 db make mnist`, RUN is a new folder.

#include <iostream>

#include "binaries/program_main.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/training/model_builder.h"
#include "caffe2_core/training/training_run.h"

namespace caffe2rt::demo {
namespace {

TrainDef LeNet() {
  ModelBuilder model("lenet");
  std::string x = model.Conv("data", "conv1", 1, 20, {.kernel = 5});
  x = model.MaxPool(x, "pool1", {.kernel = 2, .stride = 2});
  x = model.Conv(x, "conv2", 20, 50, {.kernel = 5});
  x = model.MaxPool(x, "pool2", {.kernel = 2, .stride = 2});
  x = model.Relu(model.FC(x, "fc3", 50 * 4 * 4, 500));
  model.SoftmaxLoss(model.FC(x, "pred", 500, 10), "label");
  model.Input().set_batch_size(64);
  model.Input().set_scale(1.0f / 256);
  model.Optimizer().set_rate(0.05f);
  model.Optimizer().set_momentum(0.9f);
  return model.def();
}

int Train(const CommandLine& line) {
  CheckPositional(line, 3, 3, "two databases and a folder");
  RunDef run;
  *run.mutable_train() = LeNet();
  run.mutable_data()->set_path(line.positional()[0]);
  run.mutable_test()->set_path(line.positional()[1]);
  run.set_epochs(static_cast<int>(line.Integer("epochs", 1, 1000)));
  TrainingCallbacks callbacks;
  callbacks.on_epoch = [](const EpochResult& result) {
    std::cout << "epoch " << result.epoch << ": accuracy " << FixedText(result.accuracy * 100, 2)
              << " %\n";
  };
  TrainingRun(line.positional()[2], run).Run(callbacks);
  return 0;
}

}  // namespace
}  // namespace caffe2rt::demo

int main(int argc, char** argv) {
  return caffe2rt::ProgramMain({.name = "train_lenet",
                                .purpose = "trains LeNet on MNIST",
                                .usage = "TRAIN_DB TEST_DB RUN",
                                .options = {{"epochs", "N", "4", "epochs of the training"}},
                                .notes = "example:\n  train_lenet train.lmdb test.lmdb run1\n",
                                .run = &caffe2rt::demo::Train},
                               argc, argv);
}
