// A training step of a long short-term memory allocates no heap memory, acquires no lock and makes no
// system call once it is warm, and neither does a forward run.
#include "caffe2_core/graph/backward_pass.h"
#include "caffe2_core/runtime/net.h"
#include "tests/operators/recurrent/recurrent_nets.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/operator_test.h"
#include "tests/support/system_calls.h"

namespace caffe2rt::test::recurrent_steady_state_test {
namespace {

class RecurrentSteadyStateTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!AllocationCounter::kCounts) GTEST_SKIP() << "a sanitizer replaces malloc";
    FeedRandom(&ws_, "x", {5, 3, 32}, -1, 1, 1);
    FeedRandom(&ws_, "h0", {1, 3, 8}, -1, 1, 2);
    FeedRandom(&ws_, "c0", {8}, -1, 1, 3);
    FeedRandom(&ws_, "w", {32, 8}, -1, 1, 4);
    FeedRandom(&ws_, "b", {32}, -1, 1, 5);
    Feed<int32_t>(&ws_, "lengths", {3}, {5, 2, 3});
  }
  void ExpectNothingTaken(const NetDef& def) {
    NetBase* const net = ws_.CreateNet(def);
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(net->Run());
    const AllocationCounter counter;
    ASSERT_TRUE(net->Run());
    EXPECT_EQ(counter.Counts().allocations, 0);
    EXPECT_EQ(counter.Counts().locks, 0);
    const SystemCalls calls = RecordSystemCalls([&] {
      NetDef again = def;
      again.set_name("again");
      NetBase* const child = ws_.CreateNet(again);
      for (int i = 0; i < 3; ++i) CAFFE_ENFORCE(child->Run(), "the net returned false");
      return [child] { CAFFE_ENFORCE(child->Run(), "the net returned false"); };
    });
    if (!calls.skip_reason.empty()) GTEST_SKIP() << calls.skip_reason;
    EXPECT_EQ(calls.error, "");
    EXPECT_THAT(calls.names, testing::IsEmpty());
  }
  Workspace ws_;
};

TEST_F(RecurrentSteadyStateTest, OfAForwardRun) {
  NetDef net;
  net.set_name("forward");
  *net.add_op() = ParseOp(LstmNetwork());
  ExpectNothingTaken(net);
}

TEST_F(RecurrentSteadyStateTest, OfATrainingStep) {
  NetDef net;
  net.set_name("train");
  *net.add_op() = ParseOp(LstmNetwork("arg { name: 'outputs_with_grads' ints: 0 ints: 3 }"));
  AddGradientOperators(&net, {{"h_all", {}}, {"c_last", {}}});
  ExpectNothingTaken(net);
}

}  // namespace
}  // namespace caffe2rt::test::recurrent_steady_state_test
