// The gradient operators of operators that move elements: an argument that an input gives is an input of the gradient
// operator, too.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"

namespace caffe2rt::test::moved_gradients_test {
namespace {

TEST(MovedGradientsTest, ReadTheInputsThatTheOperatorsRead) {
  const std::pair<const char*, const char*> rows[] = {
      {"type: 'Trilu' input: 'X' output: 'Y'", "Trilu(Y_grad)->X_grad | X_grad"},
      {"type: 'Trilu' input: 'X' input: 'k' output: 'Y'", "Trilu(Y_grad,k)->X_grad | X_grad -"},
      {"type: 'Unsqueeze' input: 'X' input: 'a' output: 'Y'",
       "ONNXSqueeze(Y_grad,a)->X_grad | X_grad -"},
      {"type: 'ONNXSqueeze' input: 'X' input: 'a' output: 'Y'",
       "Unsqueeze(Y_grad,a)->X_grad | X_grad -"},
      {"type: 'Tile' input: 'X' input: 't' output: 'Y'",
       "TileGradient(Y_grad,t)->X_grad | X_grad -"},
      {"type: 'Tile' input: 'X' input: 't' input: 'a' output: 'Y'",
       "TileGradient(Y_grad,t,a)->X_grad | X_grad - -"},
      {"type: 'ONNXSlice' input: 'X' input: 's' input: 'e' output: 'Y'",
       "ONNXSliceGradient(X,s,e,Y_grad)->X_grad | X_grad - -"},
      {"type: 'ONNXSlice' input: 'X' input: 's' input: 'e' input: 'a' input: 't' output: 'Y'",
       "ONNXSliceGradient(X,s,e,a,t,Y_grad)->X_grad | X_grad - - - -"},
      {"type: 'ReverseSequence' input: 'X' input: 'L' output: 'Y'",
       "ReverseSequence(Y_grad,L)->X_grad | X_grad -"},
      {"type: 'GatherElements' input: 'X' input: 'I' output: 'Y'",
       "GatherElementsGradient(X,I,Y_grad)->X_grad | X_grad -"},
      {"type: 'ONNXExpand' input: 'X' input: 's' output: 'Y'",
       "SumReduceLike(Y_grad,X)->X_grad numpy=1 | X_grad -"},
      {"type: 'Pad' input: 'X' input: 'p' output: 'Y'",
       "Negative(p)->X_grad_pads; Pad(Y_grad,X_grad_pads)->X_grad | X_grad -"},
      // Elements that Pad has taken away have the gradient 0, not the value of the padding.
      {"type: 'Pad' input: 'X' input: 'p' input: 'v' input: 'a' output: 'Y'",
       "Negative(p)->X_grad_pads; ConstantFill()->X_grad_zero; "
       "Pad(Y_grad,X_grad_pads,X_grad_zero,a)"
       "->X_grad | X_grad - - -"},
      {"type: 'Gather' input: 'X' input: 'I' output: 'Y' arg { name: 'wrap_indices' i: 1 } "
       "arg { name: 'dense_gradient' i: 1 }",
       "BatchGatherGradient(X,I,Y_grad)->X_grad axis=0 wrap_indices=1 dense_gradient=1 | X_grad -"},
      {"type: 'Gather' input: 'X' input: 'I' output: 'Y' arg { name: 'axis' i: 0 } "
       "arg { name: 'wrap_indices' i: 1 } arg { name: 'dense_gradient' i: 1 }",
       "BatchGatherGradient(X,I,Y_grad)->X_grad axis=0 wrap_indices=1 dense_gradient=1 | X_grad -"},
      {"type: 'Gather' input: 'X' input: 'I' output: 'Y' arg { name: 'wrap_indices' i: 1 }",
       " | I+Y_grad -"},
      {"type: 'Gather' input: 'X' input: 'I' output: 'Y' arg { name: 'wrap_indices' i: 0 }",
       " | I+Y_grad -"},
  };
  for (const auto& [op, want] : rows) EXPECT_EQ(DescribeGradient(op), want);
}

TEST(MovedGradientsTest, OfOtherPadsAreRejected) {
  ExpectRefusals({{[] {
                     DescribeGradient(
                         "type: 'Pad' input: 'X' output: 'Y' arg { name: 'pads' ints: 1 ints: 0 } "
                         "arg { name: 'mode' s: 'reflect' }");
                   },
                   "the gradient of Pad in mode \"reflect\" is not implemented, want mode "
                   "constant"}});
}

// Without axes, all dimensions of size 1 are removed: the gradient gets the shape of the input.
TEST(MovedGradientsTest, OfAllUnitDimensionsReadTheShape) {
  EXPECT_EQ(DescribeGradient("type: 'ONNXSqueeze' input: 'X' output: 'Y'"),
            "ResizeLike(Y_grad,X)->X_grad | X_grad");
  Workspace ws;
  FeedRandom(&ws, "X", {1, 3, 1, 2});
  ExpectGradientMatches(&ws, "type: 'ONNXSqueeze' input: 'X' output: 'Y'");
  ExpectGradientMatches(&ws,
                        "type: 'ONNXSqueeze' input: 'X' output: 'Y' arg { name: 'axes' ints: -2 }");
  ExpectGradientMatches(
      &ws, "type: 'Unsqueeze' input: 'X' output: 'Y' arg { name: 'axes' ints: 0 ints: -1 }");
}

// The arguments are those of the operator.
TEST(MovedGradientsTest, KeepTheArguments) {
  const std::pair<const char*, const char*> rows[] = {
      {"type: 'Trilu' arg { name: 'upper' i: 0 } arg { name: 'k' i: 2 }", "Trilu"},
      {"type: 'DepthToSpace' arg { name: 'blocksize' i: 2 } arg { name: 'mode' s: 'CRD' }",
       "SpaceToDepth"},
      {"type: 'SpaceToDepth' arg { name: 'blocksize' i: 3 }", "DepthToSpace"},
      {"type: 'ReverseSequence' input: 'L' arg { name: 'batch_axis' i: 0 } "
       "arg { name: 'time_axis' i: 1 }",
       "ReverseSequence"},
      {"type: 'GatherElements' input: 'I' arg { name: 'axis' i: -1 }", "GatherElementsGradient"}};
  for (const auto& [row, gradient_type] : rows) {
    OperatorDef def = ParseOp(std::string(row) + " output: 'Y'");
    def.mutable_input()->Add("X");
    for (int i = def.input_size() - 1; i > 0; --i) def.mutable_input()->SwapElements(i, i - 1);
    const GradientOpsMeta gradient = GetGradientForOp(def, {{"Y_grad", "", ""}});
    ASSERT_EQ(gradient.ops_.size(), 1u) << row;
    const OperatorDef& op = gradient.ops_[0];
    EXPECT_EQ(op.type(), gradient_type);
    ASSERT_EQ(op.arg_size(), def.arg_size()) << row;
    for (int i = 0; i < op.arg_size(); ++i)
      EXPECT_EQ(op.arg(i).SerializeAsString(), def.arg(i).SerializeAsString());
  }
}

TEST(MovedGradientsTest, OfTrianglesAreTrianglesOfTheSameDiagonal) {
  Workspace ws;
  FeedRandom(&ws, "X", {2, 3, 4});
  for (const int64_t k : {-1, 0, 2}) {
    Feed<int64_t>(&ws, "k", {}, {k});
    for (const char* upper : {"0", "1"}) {
      ExpectGradientMatches(
          &ws,
          std::string("type: 'Trilu' input: 'X' input: 'k' output: 'Y' arg { name: 'upper' i: ") +
              upper + " }");
    }
  }
}

}  // namespace
}  // namespace caffe2rt::test::moved_gradients_test
