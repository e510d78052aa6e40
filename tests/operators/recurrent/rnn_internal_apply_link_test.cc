#include "operators/recurrent/rnn_internal_apply_link.h"

#include "caffe2_core/runtime/operator_registry.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::rnn_internal_apply_link_test {
namespace {

std::string Link(int offset, int window) {
  return MakeString(R"(type: "rnn_internal_apply_link" input: "t" input: "rows" output: "row"
      output: "rows" arg { name: "offset" i: )",
                    offset, " } arg { name: 'window' i: ", window, " }");
}

class ApplyLinkTest : public testing::Test {
 protected:
  void SetUp() override {
    FeedRange<float>(&ws_, "rows", {4, 3});
    Feed<int32_t>(&ws_, "t", {1}, {1});
  }
  Workspace ws_;
};

TEST_F(ApplyLinkTest, SharesTheRowsOfTheTimeStep) {
  RunOp(&ws_, Link(0, 1));
  ExpectTensor<float>(ws_, "row", {1, 3}, {3, 4, 5});
  RunOp(&ws_, Link(1, 2));
  ExpectTensor<float>(ws_, "row", {2, 3}, {6, 7, 8, 9, 10, 11});
  RunOp(&ws_, Link(3, 0));
  ExpectTensor<float>(ws_, "row", {0, 3}, {});
}

// An operator that runs again follows the shape, also if the rows have stayed at their place in memory.
TEST_F(ApplyLinkTest, FollowsAnotherShapeOfTheSameMemory) {
  const std::unique_ptr<OperatorBase> link = CreateOperator(ParseOp(Link(0, 1)), &ws_);
  Tensor* const rows = ws_.GetBlob("rows")->GetMutable<Tensor>();
  const void* const memory = rows->raw_data();
  ASSERT_TRUE(link->Run());
  ExpectTensor<float>(ws_, "row", {1, 3}, {3, 4, 5});
  rows->Resize({2, 6});
  ASSERT_TRUE(link->Run());
  ExpectTensor<float>(ws_, "row", {1, 6}, {6, 7, 8, 9, 10, 11});
  rows->Resize({4, 3, 1});
  ASSERT_TRUE(link->Run());
  ExpectTensor<float>(ws_, "row", {1, 3, 1}, {3, 4, 5});
  rows->Resize({12});
  ASSERT_TRUE(link->Run());
  ExpectTensor<float>(ws_, "row", {1}, {1});
  EXPECT_EQ(rows->raw_data(), memory);
}

// Regression: the memory of a view at an odd multiple of four bytes was used for int64.
TEST_F(ApplyLinkTest, ElementsOfALargerTypeGetAlignedMemory) {
  Feed<float>(&ws_, "rows", {4}, {1, 2, 3, 4});
  RunOp(&ws_, Link(0, 3));
  RunOp(&ws_, R"(type: "ConstantFill" output: "row" arg { name: "shape" ints: 1 }
    arg { name: "dtype" i: 10 } arg { name: "value" i: 7 })");
  ExpectTensor<int64_t>(ws_, "row", {1}, {7});
  EXPECT_EQ(reinterpret_cast<uintptr_t>(ws_.GetBlob("row")->Get<Tensor>().raw_data()) % 8, 0u);
  ExpectTensor<float>(ws_, "rows", {4}, {1, 2, 3, 4});
}

TEST_F(ApplyLinkTest, RejectsRowsThatDoNotExist) {
  ExpectThrows([&] { RunOp(&ws_, Link(3, 1)); }, "rows 4 to 5 are linked");
  ExpectThrows([&] { RunOp(&ws_, Link(1, 3)); }, "rows 2 to 5 are linked");
  ExpectThrows([&] { RunOp(&ws_, Link(-1, 1)); }, "argument \"offset\" is -1, want at least 0");
  ExpectThrows([&] { RunOp(&ws_, Link(0, -1)); }, "argument \"window\" is -1, want at least 0");
  Feed<int32_t>(&ws_, "t", {1}, {-2});
  ExpectThrows([&] { RunOp(&ws_, Link(1, 1)); }, "rows -1 to 0 are linked");
  Feed<int32_t>(&ws_, "t", {0}, {});
  ExpectThrows([&] { RunOp(&ws_, Link(1, 1)); }, "elements of input 0 (timestep)");
}

TEST_F(ApplyLinkTest, RejectsATensorWithoutElements) {
  Feed<float>(&ws_, "rows", {4, 0}, {});
  ExpectThrows([&] { RunOp(&ws_, Link(0, 1)); }, "has no elements");
}

}  // namespace
}  // namespace caffe2rt::test::rnn_internal_apply_link_test
