#include "operators/recurrent/rnn_internal_accumulate_gradient_input.h"

#include "tests/support/operator_test.h"

namespace caffe2rt::test::rnn_internal_accumulate_gradient_input_test {
namespace {

std::string Accumulate(int offset) {
  return MakeString(R"(type: "rnn_internal_accumulate_gradient_input" input: "t" input: "y_grad"
      input: "state_grad" output: "state_grad" arg { name: "offset" i: )",
                    offset, " }");
}

class AccumulateGradientInputTest : public testing::Test {
 protected:
  void SetUp() override {
    FeedRange<float>(&ws_, "y_grad", {3, 2});
    FeedRange<float>(&ws_, "state_grad", {4, 2}, 10);
    Feed<int32_t>(&ws_, "t", {1}, {1});
  }
  Workspace ws_;
};

TEST_F(AccumulateGradientInputTest, AddsOneRow) {
  RunOp(&ws_, Accumulate(1));
  ExpectTensor<float>(ws_, "state_grad", {4, 2}, {10, 11, 12, 13, 16, 18, 16, 17});
}

TEST_F(AccumulateGradientInputTest, RejectsRowsThatDoNotExist) {
  ExpectThrows([&] { RunOp(&ws_, Accumulate(3)); }, "end of row 4 in input 2 (state_grad)");
  ExpectThrows([&] { RunOp(&ws_, Accumulate(-1)); }, "argument \"offset\" is -1, want at least 0");
  for (const int t : {3, -1}) {
    Feed<int32_t>(&ws_, "t", {1}, {t});
    ExpectThrows([&] { RunOp(&ws_, Accumulate(0)); }, MakeString("input 0 (timestep) is ", t));
  }
}

TEST_F(AccumulateGradientInputTest, AcceptsRowsWithoutElements) {
  Feed<float>(&ws_, "y_grad", {3, 0}, {});
  Feed<float>(&ws_, "state_grad", {4, 0}, {});
  RunOp(&ws_, Accumulate(1));
  ExpectTensor<float>(ws_, "state_grad", {4, 0}, {});
  Feed<int32_t>(&ws_, "t", {1}, {-99});  // no row is read
  RunOp(&ws_, Accumulate(1));
  ExpectTensor<float>(ws_, "state_grad", {4, 0}, {});
}

}  // namespace
}  // namespace caffe2rt::test::rnn_internal_accumulate_gradient_input_test
