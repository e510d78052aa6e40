#include <limits>
#include <thread>

#include "caffe2_core/runtime/net.h"
#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::iter_test {
namespace {

constexpr char kIter[] = R"(type: "Iter" input: "N" output: "N")";
constexpr char kAtomic[] = R"(type: "AtomicIter" input: "mutex" input: "N" output: "N")";
constexpr char kCreateMutex[] = R"(type: "CreateMutex" output: "mutex")";

TEST(IterTest, AddsOneToTheCounter) {
  Workspace ws;
  Feed<int64_t>(&ws, "N", {1}, {5});
  RunOp(&ws, kIter);
  ExpectTensor<int64_t>(ws, "N", {1}, {6});
  ExpectShapeInferred(&ws, kIter);
  EXPECT_EQ(DescribeGradient(kIter), " | -");
}

TEST(IterTest, CreatesACounterAndCountsInEachRun) {
  Workspace ws;
  NetBase* net = ws.CreateNet(ParseNet(R"(name: "n" op { type: "Iter" output: "N" })"));
  ASSERT_TRUE(net->Run());
  ExpectTensor<int64_t>(ws, "N", {1}, {1});
  ASSERT_TRUE(net->Run());
  ExpectTensor<int64_t>(ws, "N", {1}, {2});
}

TEST(IterTest, RejectsWhatIsNoCounter) {
  Workspace ws;
  ws.RunOperatorOnce(ParseOp(kCreateMutex));
  const auto rejects = [&](const char* part) {
    ExpectThrows([&] { RunOp(&ws, kIter); }, part);
    ExpectThrows([&] { RunOp(&ws, kAtomic); }, part);
  };
  Feed<int64_t>(&ws, "N", {2}, {1, 2});
  rejects("elements of the counter of shape [2]");
  Feed<int64_t>(&ws, "N", {1}, {-1});
  rejects("the previous iteration");
  Feed<int64_t>(&ws, "N", {1}, {std::numeric_limits<int64_t>::max()});
  rejects("the counter would overflow");
  Feed<float>(&ws, "N", {1}, {1});
  rejects("float");
  Feed<int32_t>(&ws, "N", {1}, {-1});
  rejects("the previous iteration");
}

TEST(IterTest, RejectsACounterOnAnotherDevice) {
  Workspace ws;
  Tensor* const counter = ws.CreateBlob("N")->GetMutableTensor(IDEEP);
  counter->Resize(1);
  counter->mutable_data<int64_t>()[0] = 4;
  ExpectThrows([&] { RunOp(&ws, kIter); }, "input 0 (\"N\") is a tensor on IDEEP, want one on CPU");
  EXPECT_EQ(ws.GetBlob("N")->Get<Tensor>().data<int64_t>()[0], 4);
}

// Caffe2's tutorial on a toy regression fills its counter as int32.
TEST(IterTest, MakesAnInt32CounterInt64) {
  Workspace ws;
  ws.RunOperatorOnce(ParseOp(kCreateMutex));
  for (const char* op : {kIter, kAtomic}) {
    Feed<int32_t>(&ws, "N", {1}, {5});
    ExpectShapeInferred(&ws, op);
    ExpectTensor<int64_t>(ws, "N", {1}, {6});
    RunOp(&ws, op);
    ExpectTensor<int64_t>(ws, "N", {1}, {7});
  }
}

TEST(AtomicIterTest, CountsTheRunsOfAllThreads) {
  Workspace ws;
  ws.RunOperatorOnce(ParseOp(kCreateMutex));
  Feed<int64_t>(&ws, "N", {1}, {0});
  NetDef nets[2];
  for (int i = 0; i < 2; ++i) {
    nets[i].set_name(i == 0 ? "a" : "b");
    *nets[i].add_op() = ParseOp(kAtomic);
  }
  const auto run = [](NetBase* net) {
    for (int i = 0; i < 500; ++i) net->Run();
  };
  NetBase* const other = ws.CreateNet(nets[0]);
  NetBase* const here = ws.CreateNet(nets[1]);
  std::thread thread(run, other);
  run(here);
  thread.join();
  ExpectTensor<int64_t>(ws, "N", {1}, {1000});
  EXPECT_EQ(DescribeGradient(kAtomic), " | - -");
}

}  // namespace
}  // namespace caffe2rt::test::iter_test
