// A warm step of a training, with gradients and updates: no allocation, no lock, no system call.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/workspace.h"
#include "caffe2_core/tensor/tensor.h"
#include "caffe2_core/training/model_builder.h"
#include "caffe2_core/training/training_nets.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/system_calls.h"

namespace caffe2rt::test::steady_step_test {
namespace {

constexpr int kBatch = 4, kSide = 28, kClasses = 10;

TrainDef Lenet(const char* optimizer) {
  ModelBuilder model("lenet");
  std::string x = model.Conv("data", "conv1", 1, 20, {.kernel = 5});
  x = model.MaxPool(x, "pool1", {.kernel = 2, .stride = 2});
  x = model.Conv(x, "conv2", 20, 50, {.kernel = 5});
  x = model.MaxPool(x, "pool2", {.kernel = 2, .stride = 2});
  x = model.Relu(model.FC(x, "fc1", 50 * 4 * 4, 100));
  x = model.Dropout(x, "drop", 0.25f);
  model.SoftmaxLoss(model.FC(x, "fc2", 100, kClasses), "label");
  model.Input().set_batch_size(kBatch);
  model.Optimizer().set_type(optimizer);
  model.Optimizer().set_weight_decay(1e-4f);
  return model.def();
}

// The train net, created and run a few times on one batch.
NetBase* WarmNet(const TrainDef& def, Workspace* ws) {
  const TrainingNets nets = MakeTrainingNets(def);
  EXPECT_TRUE(ws->RunNetOnce(nets.init));
  Tensor* const data = ws->CreateBlob("data")->GetMutableTensor(CPU);
  data->Resize({kBatch, 1, kSide, kSide});
  for (int64_t i = 0; i < data->numel(); ++i)
    data->mutable_data<float>()[i] = static_cast<float>(i % 7) / 7;
  Tensor* const label = ws->CreateBlob("label")->GetMutableTensor(CPU);
  label->Resize({kBatch});
  for (int i = 0; i < kBatch; ++i) label->mutable_data<int32_t>()[i] = i % kClasses;
  NetBase* const net = ws->CreateNet(nets.train);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(net->Run());
  return net;
}

class SteadyStepTest : public ::testing::TestWithParam<const char*> {};

TEST_P(SteadyStepTest, NeitherAllocatesNorLocks) {
  if (!AllocationCounter::kCounts) GTEST_SKIP() << "this build does not count allocations";
  Workspace ws;
  NetBase* const net = WarmNet(Lenet(GetParam()), &ws);
  const AllocationCounter counter;
  const bool ran = net->Run();
  const AllocationCounts counts = counter.Counts();
  EXPECT_TRUE(ran);
  EXPECT_EQ(counts.allocations, 0);
  EXPECT_EQ(counts.locks, 0);
}

TEST_P(SteadyStepTest, MakesNoSystemCall) {
  Workspace ws;
  const SystemCalls calls = RecordSystemCalls([&]() -> std::function<void()> {
    NetBase* const net = WarmNet(Lenet(GetParam()), &ws);
    return [net] { (void)net->Run(); };
  });
  if (!calls.skip_reason.empty()) GTEST_SKIP() << calls.skip_reason;
  EXPECT_EQ(calls.error, "");
  EXPECT_THAT(calls.names, ::testing::IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Optimizers, SteadyStepTest, ::testing::Values("sgd", "adam", "rmsprop"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace caffe2rt::test::steady_step_test
