// A training step of a long short-term memory allocates no heap memory and acquires no lock once it
// is warm, and neither does a forward run.
#include "caffe2_core/graph/backward_pass.h"
#include "caffe2_core/runtime/net.h"
#include "tests/operators/recurrent/recurrent_nets.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/operator_test.h"

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
