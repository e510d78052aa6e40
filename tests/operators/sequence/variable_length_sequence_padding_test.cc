#include "tests/support/operator_test.h"

namespace caffe2rt::test::variable_length_sequence_padding_test {
namespace {

const char* const kInPlace =
    R"(type: "VariableLengthSequencePadding" input: "X" input: "L" output: "X")";
const char* const kOther =
    R"(type: "VariableLengthSequencePadding" input: "X" input: "L" output: "Y")";

TEST(VariableLengthSequencePaddingTest, ClearsTheStepsBehindTheEnds) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 4, 2}, 1);
  Feed<int32_t>(&ws, "L", {4}, {1, 5, 0, -1});
  RunOp(&ws, kOther);
  const std::vector<float> want = {1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 11, 12, 0, 0, 0, 0};
  ExpectTensor<float>(ws, "Y", {2, 4, 2}, want);
  ExpectShapeInferred(&ws, kOther);
  RunOp(&ws, kInPlace);
  ExpectTensor<float>(ws, "X", {2, 4, 2}, want);
}

TEST(VariableLengthSequencePaddingTest, AcceptsEmptyTensors) {
  Workspace ws;
  Feed<float>(&ws, "X", {0, 1, 2}, {});
  Feed<int32_t>(&ws, "L", {1}, {1});
  RunOp(&ws, kOther);
  ExpectTensor<float>(ws, "Y", {0, 1, 2}, {});
  // As many empty steps as there may be.
  Feed<float>(&ws, "X", {int64_t{1} << 60, 1, 0}, {});
  RunOp(&ws, kOther);
  ExpectTensor<float>(ws, "Y", {int64_t{1} << 60, 1, 0}, {});
}

TEST(VariableLengthSequencePaddingTest, RejectsWhatDoesNotFit) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 3, 1});
  Feed<int32_t>(&ws, "L", {2}, {1, 1});
  ExpectThrows([&] { RunOp(&ws, kOther); },
               "elements of input 1 (lengths), want dim 1 of input 0 (X) of shape [2, 3, 1]");
  FeedRange<float>(&ws, "X", {2, 3});
  ExpectThrows([&] { RunOp(&ws, kOther); }, "want [steps, batch, inner]");
}

}  // namespace
}  // namespace caffe2rt::test::variable_length_sequence_padding_test
