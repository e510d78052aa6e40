// A training step of LeNet allocates no heap memory, acquires no lock and makes no system call once
// it is warm.
#include <gtest/gtest.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "caffe2_core/graph/backward_pass.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/workspace.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::training_step_test {
namespace {

constexpr char kLeNet[] = R"(
  name: "lenet"
  op { type: "Conv" input: "data" input: "conv1_w" input: "conv1_b" output: "conv1" arg { name: "kernel" i: 5 } }
  op { type: "MaxPool" input: "conv1" output: "pool1" arg { name: "kernel" i: 2 } arg { name: "stride" i: 2 } }
  op { type: "Conv" input: "pool1" input: "conv2_w" input: "conv2_b" output: "conv2" arg { name: "kernel" i: 5 } }
  op { type: "MaxPool" input: "conv2" output: "pool2" arg { name: "kernel" i: 2 } arg { name: "stride" i: 2 } }
  op { type: "FC" input: "pool2" input: "fc3_w" input: "fc3_b" output: "fc3" }
  op { type: "Relu" input: "fc3" output: "fc3" }
  op { type: "FC" input: "fc3" input: "pred_w" input: "pred_b" output: "pred" }
  op { type: "SoftmaxWithLoss" input: "pred" input: "label" output: "softmax" output: "loss" }
)";
struct Parameter {
  const char* name;
  std::vector<int64_t> dims;
};
const Parameter kParameters[] = {
    {"conv1_w", {20, 1, 5, 5}}, {"conv1_b", {20}}, {"conv2_w", {50, 20, 5, 5}}, {"conv2_b", {50}},
    {"fc3_w", {500, 800}},      {"fc3_b", {500}},  {"pred_w", {10, 500}},       {"pred_b", {10}}};

// The net above with its backward pass, and momentum for all parameters.
NetBase* CreateTrainingNet(Workspace* ws) {
  constexpr int64_t kBatch = 8;
  NetDef net = ParseNet(kLeNet);
  AddGradientOperators(&net, {{"loss", {}}});
  *net.add_op() = ParseOp("type: 'Iter' input: 'iter' output: 'iter'");
  *net.add_op() = ParseOp(
      "type: 'LearningRate' input: 'iter' output: 'rate' arg { name: 'policy' s: 'step' } "
      "arg { name: 'base_lr' f: -0.01 } arg { name: 'stepsize' i: 2 } arg { name: 'gamma' f: 0.5 "
      "}");
  uint32_t seed = 0;
  for (const Parameter& parameter : kParameters) {
    const std::string name = parameter.name;
    FeedRandom(ws, name, parameter.dims, -0.1f, 0.1f, ++seed);
    FeedRandom(ws, name + "_momentum", parameter.dims, 0, 0.001f, ++seed);
    OperatorDef* const update = net.add_op();
    update->set_type("MomentumSGDUpdate");
    for (const std::string& blob :
         {name + "_grad", name + "_momentum", std::string("rate"), name}) {
      update->add_input(blob);
    }
    for (const std::string& blob : {name + "_grad", name + "_momentum", name}) {
      update->add_output(blob);
    }
  }
  FeedRandom(ws, "data", {kBatch, 1, 28, 28});
  Feed<int32_t>(ws, "label", {kBatch}, {0, 1, 2, 3, 4, 5, 6, 7});
  Feed<int64_t>(ws, "iter", {1}, {0});
  return ws->CreateNet(net);
}

class TrainingStepTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!AllocationCounter::kCounts) GTEST_SKIP() << "a sanitizer replaces malloc";
    net_ = CreateTrainingNet(&ws_);
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(net_->Run());
  }

  Workspace ws_;
  NetBase* net_ = nullptr;
};

TEST_F(TrainingStepTest, AllocatesAndLocksNothing) {
  const float before = ws_.GetBlob("loss")->Get<Tensor>().data<float>()[0];
  const AllocationCounter counter;
  ASSERT_TRUE(net_->Run());
  EXPECT_EQ(counter.Counts().allocations, 0);
  EXPECT_EQ(counter.Counts().locks, 0);
  EXPECT_NE(ws_.GetBlob("loss")->Get<Tensor>().data<float>()[0], before);
}

// In strict mode the kernel ends a process at any system call but read, write and exit. Without
// AVX-512 dnnl_sgemm packs its operands into memory from malloc at each call; the heap stops growing
// for it after about ten runs.
TEST_F(TrainingStepTest, MakesNoSystemCall) {
  for (int i = 0; i < 30; ++i) ASSERT_TRUE(net_->Run());
  EXPECT_EXIT(
      {
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
        const bool good = net_->Run();
        syscall(SYS_exit, good ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}
TEST_F(TrainingStepTest, FailsAtASystemCall) {
  EXPECT_EXIT(
      {
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
        getppid();
        syscall(SYS_exit, 0);
      },
      testing::KilledBySignal(SIGKILL), "");
}

}  // namespace
}  // namespace caffe2rt::test::training_step_test
