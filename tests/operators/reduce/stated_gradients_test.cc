// The gradient operators of reductions, choices and lists, and which operators pass no gradient on, have none that is
// meaningful, or one that is not implemented.
#include <absl/strings/str_join.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/support/gradient_test.h"
#include "tests/support/refusals.h"

namespace caffe2rt::test::stated_gradients_test {
namespace {

std::string OneInputOp(const std::string& type, const std::string& rest = "") {
  return "type: '" + type + "' input: 'X' output: 'Y' " + rest;
}

void ExpectGradientTexts(const std::vector<std::pair<std::string, std::string>>& rows) {
  for (const auto& [op, gradient] : rows) EXPECT_EQ(DescribeGradient(op), gradient) << op;
}

TEST(ReductionGradientsTest, ReadWhatTheirFormulasNeed) {
  const std::string dims = "arg { name: 'num_reduce_dim' i: 2 } ";
  for (const std::string side : {"Front", "Back"}) {
    for (const std::string kind : {"Sum", "Mean"}) {
      const std::string type = "Reduce" + side + kind;
      ExpectGradientTexts({
          {OneInputOp(type, dims), type + "Gradient(Y_grad,X)->X_grad num_reduce_dim=2 | X_grad"},
          {OneInputOp(type, "input: 'L'"), type + "Gradient(Y_grad,X,L)->X_grad | X_grad -"},
      });
    }
    // The maximum is compared with the elements.
    const std::string max = "Reduce" + side + "Max";
    ExpectGradientTexts({
        {OneInputOp(max, dims), max + "Gradient(Y_grad,X,Y)->X_grad num_reduce_dim=2 | X_grad"},
        {OneInputOp(max, "input: 'L'"), max + "Gradient(Y_grad,X,Y,L)->X_grad | X_grad -"},
    });
  }
  for (const std::string type :
       {"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2"}) {
    ExpectGradientTexts({{OneInputOp(type, "arg { name: 'keepdims' i: 0 }"),
                          type + "Gradient(Y_grad,X,Y)->X_grad keepdims=0 | X_grad"}});
    const std::string none = "the gradient of " + type +
                             " needs the argument axes: input 1 (axes) and "
                             "noop_with_empty_axes have none";
    ExpectRefusals({
        {[&] { DescribeGradient(OneInputOp(type, "input: 'A'")); }, none},
        {[&] { DescribeGradient(OneInputOp(type, "arg { name: 'noop_with_empty_axes' i: 1 }")); },
         none},
    });
  }
  for (const std::string type : {"ReduceSumSquare", "ReduceLogSum", "ReduceLogSumExp"}) {
    const std::string none = "the gradient of " + type +
                             " needs the argument axes: input 1 (axes) and "
                             "noop_with_empty_axes have none";
    ExpectRefusals({
        {[&] { DescribeGradient(OneInputOp(type, "input: 'A'")); }, none},
        {[&] { DescribeGradient(OneInputOp(type, "arg { name: 'noop_with_empty_axes' i: 1 }")); },
         none},
    });
  }
  ExpectGradientTexts({
      {OneInputOp("ReduceSum", "arg { name: 'noop_with_empty_axes' i: 0 }"),
       "ReduceSumGradient(Y_grad,X,Y)->X_grad noop_with_empty_axes=0 | X_grad"},
      {OneInputOp("RowwiseMax"), "RowwiseMaxGradient(X,Y,Y_grad)->X_grad | X_grad"},
      {OneInputOp("ColwiseMax"), "ColwiseMaxGradient(X,Y,Y_grad)->X_grad | X_grad"},
      {OneInputOp("SumElements", "arg { name: 'average' i: 1 }"),
       "SumElementsGradient(X,Y_grad)->X_grad average=1 | X_grad"},
  });
}

TEST(ChoiceGradientsTest, ReadThePlaces) {
  ExpectGradientTexts({
      {"type: 'TopK' input: 'X' output: 'V' output: 'I' arg { name: 'axis' i: 0 }",
       "TopKGradient(V_grad,I,X)->X_grad axis=0 | X_grad"},
      {"type: 'TopK' input: 'X' input: 'k' output: 'V' output: 'I' output: 'F'",
       "TopKGradient(V_grad,I,X)->X_grad | X_grad -"},
      {"type: 'BooleanMask' input: 'X' input: 'M' output: 'Y' output: 'I'",
       "BooleanMaskGradient(M,Y_grad)->X_grad | X_grad -"},
      {"type: 'LengthsTile' input: 'X' input: 'L' output: 'Y'",
       "LengthsSum(Y_grad,L)->X_grad | X_grad -"},
      {"type: 'PackSegments' input: 'L' input: 'X' output: 'Y' output: 'M' "
       "arg { name: 'max_length' i: 4 }",
       "UnpackSegments(L,Y_grad)->X_grad max_length=4 | - X_grad"},
      {"type: 'UnpackSegments' input: 'L' input: 'X' output: 'Y'",
       "PackSegments(L,Y_grad)->X_grad | - X_grad"},
      {"type: 'MarginRankingCriterion' input: 'A' input: 'B' input: 'S' output: 'Y' "
       "arg { name: 'margin' f: 0.5 }",
       "MarginRankingCriterionGradient(A,B,S,Y_grad)->A_grad,B_grad margin=0.5 | A_grad B_grad -"},
      {"type: 'GatherElements' input: 'X' input: 'I' output: 'Y' arg { name: 'axis' i: 1 }",
       "GatherElementsGradient(X,I,Y_grad)->X_grad axis=1 | X_grad -"},
      {"type: 'ReverseSequence' input: 'X' input: 'L' output: 'Y' "
       "arg { name: 'batch_axis' i: 0 } arg { name: 'time_axis' i: 1 }",
       "ReverseSequence(Y_grad,L)->X_grad batch_axis=0 time_axis=1 | X_grad -"},
  });
}

int FewestInputs(const OpSchema& schema) {
  int inputs = schema.min_input();
  while (!schema.num_inputs_allowed(inputs)) ++inputs;
  return inputs;
}

// An operator with the fewest inputs and outputs of its schema.
std::string FewestOperands(const std::string& type) {
  EnsureBuiltinOperators();
  const OpSchema& schema = *OpSchemaRegistry::Schema(type);
  const int inputs = FewestInputs(schema);
  std::string text = "type: '" + type + "'";
  for (int i = 0; i < inputs; ++i) text += " input: 'x" + std::to_string(i) + "'";
  for (int i = 0; i < schema.min_output(); ++i) {
    std::string name = "y" + std::to_string(i);
    for (int k = 0; k < inputs; ++k) {
      if (schema.inplace_enforced(k, i)) name = "x" + std::to_string(k);
    }
    text += " output: '" + name + "'";
  }
  for (const OpSchema::Argument& argument : schema.args()) {
    if (!argument.required) continue;
    const bool is_text = argument.type == "string" || argument.type == "strings";
    text += " arg { name: '" + argument.name + (is_text ? "' s: 'fixed' }" : "' i: 1 }");
  }
  return text;
}

// Positions, encodings, fills and rates do not depend on their inputs in a differentiable way.
TEST(StatedGradientsTest, ArePassedOnByNoneOfThese) {
  for (const char* const type : {"AtomicIter",
                                 "BatchBucketize",
                                 "BatchOneHot",
                                 "BisectPercentile",
                                 "Conditional",
                                 "EnsureCPUOutput",
                                 "Size",
                                 "StopGradient",
                                 "BooleanUnmask",
                                 "ConstantFill",
                                 "DenseVectorToIdList",
                                 "DiagonalFill",
                                 "EyeLike",
                                 "GaussianFill",
                                 "GivenTensorBoolFill",
                                 "GivenTensorByteStringToUInt8Fill",
                                 "GivenTensorDoubleFill",
                                 "GivenTensorFill",
                                 "GivenTensorInt16Fill",
                                 "GivenTensorInt64Fill",
                                 "GivenTensorIntFill",
                                 "GivenTensorStringFill",
                                 "IntIndexCreate",
                                 "Iter",
                                 "LearningRate",
                                 "LearningRateAdaption",
                                 "LengthsPad",
                                 "LengthsRangeFill",
                                 "LongIndexCreate",
                                 "MergeIdLists",
                                 "MSRAFill",
                                 "NonZero",
                                 "ONNXOneHot",
                                 "ONNXRange",
                                 "OneHot",
                                 "Range",
                                 "Percentile",
                                 "RangeFill",
                                 "SegmentOneHot",
                                 "SparseDropoutWithReplacement",
                                 "StringIndexCreate",
                                 "StumpFuncIndex",
                                 "TfIdfVectorizer",
                                 "UniformFill",
                                 "UniformIntFill",
                                 "UniqueUniformFill",
                                 "XavierFill"}) {
    const std::string text = FewestOperands(type);
    const auto inputs = static_cast<size_t>(FewestInputs(*OpSchemaRegistry::Schema(type)));
    EXPECT_EQ(DescribeGradient(text),
              " | " + absl::StrJoin(std::vector<std::string>(inputs, "-"), " "))
        << type;
  }
}

TEST(StatedGradientsTest, AreAnErrorForUpdatesStatesAndStrings) {
  for (const char* const type : {"Accuracy",
                                 "AccumulateHistogram",
                                 "Adadelta",
                                 "Adagrad",
                                 "Adam",
                                 "ArgMax",
                                 "ArgMin",
                                 "BitCast",
                                 "EnforceFinite",
                                 "HeatmapMaxKeypoint",
                                 "Histogram",
                                 "PiecewiseLinearTransform",
                                 "Quantile",
                                 "APMeter",
                                 "CTCBeamSearchDecoder",
                                 "CTCGreedyDecoder",
                                 "AtomicFetchAdd",
                                 "AtomicFetchAdd64",
                                 "Fail",
                                 "ReservoirSampling",
                                 "ThrowException",
                                 "CheckAtomicBool",
                                 "ConditionalSetAtomicBool",
                                 "CreateAtomicBool",
                                 "Float16SparseNormalize",
                                 "RMACRegions",
                                 "WallClockTime",
                                 "WeightedSample",
                                 "Not",
                                 "Perplexity",
                                 "ReplaceNaN",
                                 "ResizeLike",
                                 "Scatter",
                                 "ScatterAssign",
                                 "ScatterWeightedSum",
                                 "Shape",
                                 "Unique",
                                 "ClipTensorByScaling",
                                 "CountDown",
                                 "CountUp",
                                 "CreateCounter",
                                 "CreateMutex",
                                 "EnsureClipped",
                                 "FeedBlob",
                                 "FP16MomentumSGDUpdate",
                                 "FP32MomentumSGDUpdate",
                                 "Free",
                                 "Ftrl",
                                 "GFtrl",
                                 "HSoftmaxSearch",
                                 "HasElements",
                                 "IndexFreeze",
                                 "IndexLoad",
                                 "IndexSize",
                                 "IndexStore",
                                 "IsEmpty",
                                 "Lars",
                                 "LengthsGather",
                                 "MomentumSGD",
                                 "MomentumSGDUpdate",
                                 "MultiClassAccuracy",
                                 "Print",
                                 "ReduceProd",
                                 "ResetCounter",
                                 "RetrieveCount",
                                 "RmsProp",
                                 "RowWiseCounter",
                                 "RowWiseSparseAdagrad",
                                 "RowWiseSparseAdam",
                                 "SelfBinningHistogram",
                                 "SparseAdadelta",
                                 "SparseAdagrad",
                                 "SparseAdam",
                                 "SparseFtrl",
                                 "SparseMomentumSGDUpdate",
                                 "SparseStorm",
                                 "SparseWngrad",
                                 "Storm",
                                 "StringEndsWith",
                                 "StringEquals",
                                 "StringPrefix",
                                 "StringStartsWith",
                                 "StringSuffix",
                                 "SumElementsInt",
                                 "Summarize",
                                 "WeightScale",
                                 "Where",
                                 "Wngrad",
                                 "YellowFin"}) {
    SCOPED_TRACE(type);
    const std::string text = FewestOperands(type);
    ExpectRefusals({{[&] { DescribeGradient(text); },
                     "One should not call gradient for operator " + std::string(type) + "."}});
  }
}

TEST(StatedGradientsTest, AreAnErrorForUpdatesOfSegments) {
  for (const std::string update : {"SparseAdagrad", "RowWiseSparseAdagrad"}) {
    for (const char* const sum : {"Sum", "WeightedSum", "Mean"}) {
      for (const char* const ending : {"", "Approx"}) {
        const std::string type = update + "FusedWithSparseLengths" + sum + "Gradient" + ending;
        ExpectRefusals({{[&] { DescribeGradient(FewestOperands(type)); },
                         "One should not call gradient for operator " + type + "."}});
      }
    }
  }
}

TEST(StatedGradientsTest, AreNotImplementedForTheseOfOnnx) {
  for (const char* const type :
       {"CenterCropPad", "Compress", "GatherND", "ONNXAbs", "ONNXFloor", "ScatterElements",
        "ScatterND", "TensorScatter", "ONNXCeil", "ONNXCol2Im", "ONNXExp", "ONNXLog", "ONNXTile",
        "ONNXTopK", "ONNXUnique"}) {
    SCOPED_TRACE(type);
    const std::string text = FewestOperands(type);
    ExpectRefusals(
        {{[&] { DescribeGradient(text); },
          "Operator " + std::string(type) + " should have a gradient but is not implemented yet"}});
  }
}

}  // namespace
}  // namespace caffe2rt::test::stated_gradients_test
