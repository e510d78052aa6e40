#include "operators/state/counter.h"

#include <limits>
#include <thread>

#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/runtime/net.h"
#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::counter_test {
namespace {

void Create(Workspace* ws, int64_t count) {
  RunOp(ws,
        MakeString("type: 'CreateCounter' output: 'c' arg { name: 'init_count' i: ", count, " }"));
}
// Runs an operator on counter "c" with output "out".
void RunOn(Workspace* ws, const std::string& type) {
  RunOp(ws, "type: '" + type + "' input: 'c' output: 'out'");
}
void ExpectCount(Workspace* ws, int64_t count) {
  RunOn(ws, "RetrieveCount");
  ExpectTensor<int64_t>(*ws, "out", {}, {count});
}

TEST(CounterTest, StartsAtInitCountOr0) {
  Workspace ws;
  Create(&ws, 22);
  ExpectCount(&ws, 22);
  RunOp(&ws, "type: 'CreateCounter' output: 'c'");
  ExpectCount(&ws, 0);
  ExpectThrows([&] { Create(&ws, -1); }, "argument \"init_count\" is -1, want at least 0");
}

TEST(CounterTest, CountsUpAndReturnsTheCountBefore) {
  Workspace ws;
  Create(&ws, 5);
  RunOn(&ws, "CountUp");
  ExpectTensor<int64_t>(ws, "out", {}, {5});
  ExpectCount(&ws, 6);
  Create(&ws, std::numeric_limits<int64_t>::max());
  RunOn(&ws, "CountUp");
  ExpectCount(&ws, std::numeric_limits<int64_t>::min());
}

TEST(CounterTest, CountsDownAndReturnsWhetherItIsBelow0) {
  Workspace ws;
  Create(&ws, 1);
  RunOn(&ws, "CountDown");
  ExpectTensor<bool>(ws, "out", {}, {false});
  RunOn(&ws, "CheckCounterDone");
  ExpectTensor<bool>(ws, "out", {}, {true});
  RunOn(&ws, "CountDown");
  ExpectTensor<bool>(ws, "out", {}, {true});
  ExpectCount(&ws, -1);
}

TEST(CounterTest, CheckCounterDoneReturnsWhetherTheCountIsNotAbove0) {
  Workspace ws;
  for (const int64_t count : {0, 1, 2}) {
    Create(&ws, count);
    RunOn(&ws, "CheckCounterDone");
    ExpectTensor<bool>(ws, "out", {}, {count == 0});
  }
}

TEST(CounterTest, StaysDoneBelow0) {
  Workspace ws;
  Create(&ws, 0);
  RunOn(&ws, "CountDown");
  ExpectTensor<bool>(ws, "out", {}, {true});
  RunOn(&ws, "CountDown");
  ExpectCount(&ws, -2);
  RunOn(&ws, "CheckCounterDone");
  ExpectTensor<bool>(ws, "out", {}, {true});
  RunOp(&ws, "type: 'ResetCounter' input: 'c' output: 'out' arg { name: 'init_count' i: 2 }");
  ExpectTensor<int64_t>(ws, "out", {}, {-2});
  RunOn(&ws, "CheckCounterDone");
  ExpectTensor<bool>(ws, "out", {}, {false});
}

TEST(CounterTest, IsResetWithAndWithoutOutput) {
  Workspace ws;
  Create(&ws, 5);
  RunOp(&ws, "type: 'ResetCounter' input: 'c' output: 'before' arg { name: 'init_count' i: 7 }");
  ExpectTensor<int64_t>(ws, "before", {}, {5});
  ExpectCount(&ws, 7);
  RunOp(&ws, "type: 'ResetCounter' input: 'c'");
  ExpectCount(&ws, 0);
  ExpectThrows(
      [&] { RunOp(&ws, "type: 'ResetCounter' input: 'c' arg { name: 'init_count' i: -7 }"); },
      "argument \"init_count\" is -7, want at least 0");
}

TEST(CounterTest, InfersTheShapesOfItsOutputs) {
  Workspace ws;
  Create(&ws, 5);
  for (const char* type :
       {"ResetCounter", "CountUp", "CountDown", "CheckCounterDone", "RetrieveCount"}) {
    ExpectShapeInferred(&ws, MakeString("type: '", type, "' input: 'c' output: 'out'"));
  }
}

TEST(CounterTest, RejectsABlobWithoutCounter) {
  Workspace ws;
  Feed<float>(&ws, "c", {1}, {1});
  ExpectThrows([&] { RunOn(&ws, "CountUp"); }, "input 0");
  ws.CreateBlob("c")->GetMutable<CounterBlob>();
  ExpectThrows([&] { RunOn(&ws, "CountUp"); }, "input 0 (counter) holds no counter");
}

TEST(CounterTest, IsSavedAndLoadedAsItsCount) {
  Workspace ws;
  Create(&ws, 5);
  const std::string record = SerializeBlob(*ws.GetBlob("c"), "c");
  BlobProto proto;
  ASSERT_TRUE(proto.ParseFromString(record));
  EXPECT_EQ(proto.type(), "std::unique_ptr<Counter<int64_t>>");
  EXPECT_EQ(proto.tensor().int64_data(0), 5);
  RunOn(&ws, "CountUp");
  DeserializeBlob(record, ws.GetBlob("c"));
  ExpectCount(&ws, 5);
  proto.mutable_tensor()->clear_int64_data();
  ExpectThrows([&] { DeserializeBlob(proto, ws.GetBlob("c")); },
               "the record of counter \"c\" has 0 int64 numbers, want 1");
}

TEST(CounterTest, CountsTheRunsOfAllThreads) {
  Workspace ws;
  Create(&ws, 0);
  NetBase* nets[2];
  for (int i = 0; i < 2; ++i) {
    nets[i] = ws.CreateNet(ParseNet(MakeString("name: 'n", i,
                                               "' op { type: 'CountUp' input: 'c' "
                                               "output: 'out",
                                               i, "' }")));
  }
  const auto run = [](NetBase* net) {
    for (int i = 0; i < 500; ++i) net->Run();
  };
  std::thread thread(run, nets[0]);
  run(nets[1]);
  thread.join();
  ExpectCount(&ws, 1000);
}

TEST(CounterTest, HasNoGradient) {
  ExpectThrows([] { DescribeGradient("type: 'CountUp' input: 'c' output: 'out'"); },
               "One should not call gradient");
}

}  // namespace
}  // namespace caffe2rt::test::counter_test
