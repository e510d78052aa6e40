#include "caffe2_core/runtime/net.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::steady_state_test {
namespace {

constexpr char kTest[] = R"(arg { name: "cond_net" n { name: "test"
  op { type: "LT" input: "i" input: "limit" output: "c" } } } )";

class ControlOperatorsTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!test::AllocationCounter::kCounts) GTEST_SKIP() << "a sanitizer replaces malloc";
    test::Feed<float>(&ws_, "i", {1}, {0});
    test::Feed<float>(&ws_, "one", {1}, {1});
    test::Feed<float>(&ws_, "limit", {1}, {10});
    test::Feed<bool>(&ws_, "c", {1}, {true});
  }
  void SetLimit(float limit) {
    *ws_.GetBlob("limit")->GetMutable<Tensor>()->mutable_data<float>() = limit;
  }

  Workspace ws_;
};

TEST_F(ControlOperatorsTest, AllocateNothingInLoops) {
  NetBase* net = ws_.CreateNet(test::ParseNet(R"(
    name: "outer"
    op { type: "CreateScope" output: "scope" }
    op { type: "Sub" input: "i" input: "i" output: "i" }
    op { type: "While" input: "c" input: "i" input: "one" input: "limit" input: "scope"
      output: "i" output: "c" output: "d" output: "scope" )" +
                                              std::string(kTest) + R"(
      arg { name: "loop_net" n { name: "loop"
        op { type: "Add" input: "i" input: "one" output: "i" }
        op { type: "If" input: "c" input: "i" output: "d"
          arg { name: "then_net" n { op { type: "Copy" input: "i" output: "d" } } } }
        op { type: "Do" input: "i" input: "scope" output: "e" output: "scope"
          arg { name: "reuse_workspace" i: 1 }
          arg { name: "inner_blobs" strings: "in" strings: "out" }
          arg { name: "outer_blobs_idx" ints: 0 ints: 1 }
          arg { name: "net" n { name: "do" op { type: "Negative" input: "in" output: "t" }
                                           op { type: "Copy" input: "t" output: "out" } } } } } } }
    op { type: "HasScope" input: "scope" output: "has" })"));
  ASSERT_TRUE(net->Run());
  ASSERT_TRUE(net->Run());
  SetLimit(10000);
  test::AllocationCounter counter;
  ASSERT_TRUE(net->Run());
  EXPECT_EQ(counter.Counts().allocations, 0);
  EXPECT_EQ(counter.Counts().locks, 0);
  test::ExpectTensor<float>(ws_, "e", {1}, {-10000});
}

TEST_F(ControlOperatorsTest, ReuseTheWorkspacesOfATrainingLoop) {
  NetBase* net = ws_.CreateNet(test::ParseNet(R"(
    name: "outer"
    op { type: "CreateScope" output: "scope" }
    op { type: "Sub" input: "i" input: "i" output: "i" }
    op { type: "While" input: "c" input: "i" input: "one" input: "limit" input: "scope"
      output: "i" output: "c" output: "scope" )" +
                                              std::string(kTest) + R"(
      arg { name: "loop_net" n { name: "loop"
        op { type: "Do" input: "i" input: "one" input: "scope" output: "i" output: "scope"
          arg { name: "copy_external_blobs" i: 1 }
          arg { name: "inner_blobs" strings: "in" strings: "one" }
          arg { name: "outer_blobs_idx" ints: 0 ints: 1 }
          arg { name: "net" n { name: "do"
            op { type: "Add" input: "in" input: "one" output: "in" } } } } } } })"));
  ASSERT_TRUE(net->Run());
  ASSERT_TRUE(net->Run());
  test::AllocationCounter counter;
  ASSERT_TRUE(net->Run());
  EXPECT_EQ(counter.Counts().allocations, 0);
  EXPECT_EQ(counter.Counts().locks, 0);
  test::ExpectTensor<float>(ws_, "i", {1}, {10});
}

TEST_F(ControlOperatorsTest, CarryValuesWithoutTheHeap) {
  test::Feed<int64_t>(&ws_, "trips", {}, {5});
  NetBase* net = ws_.CreateNet(test::ParseNet(R"(
    name: "outer"
    op { type: "ONNXWhile" input: "trips" input: "c" input: "one" output: "last" output: "all"
      arg { name: "has_trip_count" i: 1 }
      arg { name: "body" n { name: "body" external_input: "n" external_input: "go" external_input: "v"
        external_output: "next" external_output: "w" external_output: "w"
        op { type: "Add" input: "v" input: "v" output: "w" }
        op { type: "Copy" input: "go" output: "next" } } } })"));
  ASSERT_TRUE(net->Run());
  ASSERT_TRUE(net->Run());
  test::AllocationCounter counter;
  ASSERT_TRUE(net->Run());
  EXPECT_EQ(counter.Counts().allocations, 0);
  EXPECT_EQ(counter.Counts().locks, 0);
  test::ExpectTensor<float>(ws_, "all", {5}, {2, 4, 8, 16, 32});
}

}  // namespace
}  // namespace caffe2rt::steady_state_test
