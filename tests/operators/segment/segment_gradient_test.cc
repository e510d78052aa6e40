// The gradients of the forward operators are compared with central differences in
// tests/operators/gradients.

#include <cmath>
#include <string>

#include "caffe2_core/runtime/operator_registry.h"
#include "tests/support/device_run.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::segment_gradient_test {
namespace {

// A type that the test's device does not have runs on the CPU.
std::string Op(const std::string& type, const std::string& inputs, bool two_outputs = false) {
  std::string text = "type: \"" + type + "\"";
  for (const char name : inputs) text += std::string(" input: \"") + name + "\"";
  text += R"( output: "Y")";
  if (two_outputs) text += R"( output: "Z")";
  return HasOperator(TestDevice(), type) ? text : text + " device_option {}";
}

// G: the gradients of two segments of one and of two rows.
class SegmentGradientTest : public testing::Test {
 protected:
  SegmentGradientTest() {
    Feed<float>(&ws_, "G", {2, 2}, {1, 2, 3, 4});
    Feed<float>(&ws_, "W", {3}, {1, -1, 2});
    Feed<int32_t>(&ws_, "L", {2}, {1, 2});
    Feed<int32_t>(&ws_, "S", {3}, {0, 1, 1});
    Feed<int64_t>(&ws_, "I", {3}, {3, 0, 3});
  }
  void ExpectRows(const std::string& op, const std::vector<float>& want) {
    SCOPED_TRACE(op);
    RunOp(&ws_, op);
    ExpectTensor<float>(ws_, "Y", {3, 2}, want, 1e-6);
    ExpectShapeInferred(&ws_, op, true);
  }

  Workspace ws_;
};

TEST_F(SegmentGradientTest, RepeatsTheGradientOfSums) {
  const std::vector<float> want = {1, 2, 3, 4, 3, 4};
  for (const char* type : {"SortedSegmentSumGradient", "SparseSortedSegmentSumGradient",
                           "UnsortedSegmentSumGradient", "SparseUnsortedSegmentSumGradient"}) {
    ExpectRows(Op(type, "GS"), want);
  }
  for (const char* type : {"LengthsSumGradient", "SparseLengthsSumGradient"}) {
    ExpectRows(Op(type, "GL"), want);
  }
}
TEST_F(SegmentGradientTest, DividesTheGradientOfMeans) {
  const std::vector<float> want = {1, 2, 1.5, 2, 1.5, 2};
  for (const char* type : {"SortedSegmentMeanGradient", "SparseSortedSegmentMeanGradient",
                           "UnsortedSegmentMeanGradient", "SparseUnsortedSegmentMeanGradient"}) {
    ExpectRows(Op(type, "GS"), want);
  }
  for (const char* type : {"LengthsMeanGradient", "SparseLengthsMeanGradient"}) {
    ExpectRows(Op(type, "GL"), want);
  }
}

// Each run counts the rows of the segments again.
TEST_F(SegmentGradientTest, DividesTheGradientOfMeansInEveryRun) {
  for (const char* type : {"SortedSegmentMeanGradient", "UnsortedSegmentMeanGradient"}) {
    SCOPED_TRACE(type);
    NetDef net;
    net.set_name(type);
    *net.add_op() = ParseOp(Op(type, "GS"));
    Feed<int32_t>(&ws_, "S", {3}, {0, 1, 1});
    ws_.CreateNet(net);
    for (int run = 0; run < 3; ++run) {
      ASSERT_TRUE(ws_.RunNet(type));
      ExpectTensor<float>(ws_, "Y", {3, 2}, {1, 2, 1.5, 2, 1.5, 2}, 1e-6);
    }
    Feed<int32_t>(&ws_, "S", {3}, {0, 0, 1});
    ASSERT_TRUE(ws_.RunNet(type));
    ExpectTensor<float>(ws_, "Y", {3, 2}, {0.5, 1, 0.5, 1, 3, 4}, 1e-6);
  }
}
TEST_F(SegmentGradientTest, WeighsTheGradientOfWeightedSums) {
  const std::vector<float> want = {1, 2, -3, -4, 6, 8};
  for (const char* type :
       {"SortedSegmentWeightedSumGradient", "SparseSortedSegmentWeightedSumGradient",
        "UnsortedSegmentWeightedSumGradient", "SparseUnsortedSegmentWeightedSumGradient"}) {
    ExpectRows(Op(type, "WGS"), want);
  }
  for (const char* type : {"LengthsWeightedSumGradient", "SparseLengthsWeightedSumGradient"}) {
    ExpectRows(Op(type, "WGL"), want);
  }
}

TEST_F(SegmentGradientTest, IgnoresTheIndices) {
  ExpectRows(Op("LengthsIndicesInGradientSumGradient", "GLI"), {1, 2, 3, 4, 3, 4});
  ExpectRows(Op("SparseLengthsIndicesInGradientSumGradient", "GLI"), {1, 2, 3, 4, 3, 4});
  ExpectRows(Op("LengthsIndicesInGradientMeanGradient", "GLI"), {1, 2, 1.5, 2, 1.5, 2});
  ExpectRows(Op("SparseLengthsIndicesInGradientMeanGradient", "GLI"), {1, 2, 1.5, 2, 1.5, 2});
  ExpectRows(Op("SparseLengthsIndicesInGradientWeightedSumGradient", "WGLI"), {1, 2, -3, -4, 6, 8});
}

TEST_F(SegmentGradientTest, ComputesTheGradientOfTheWeights) {
  FeedRange<float>(&ws_, "D", {4, 2}, 1);
  ExpectRows(Op("SparseLengthsIndicesInGradientWeightedSumWithMainInputGradient", "WGLDI", true),
             {1, 2, -3, -4, 6, 8});
  ExpectTensor<float>(ws_, "Z", {3}, {23, 11, 53});
  ExpectRows(Op("SparseLengthsWeightedSumWithMainInputGradient", "WGLDI", true),
             {1, 2, -3, -4, 6, 8});
  ExpectTensor<float>(ws_, "Z", {3}, {23, 11, 53});
  ExpectRows(Op("SparseLengthsWeightedSumWithMainInputGradient", "WGLDI"), {1, 2, -3, -4, 6, 8});
  FeedRange<float>(&ws_, "D", {3, 2}, 1);
  ExpectRows(Op("LengthsWeightedSumWithMainInputGradient", "WGLD", true), {1, 2, -3, -4, 6, 8});
  ExpectTensor<float>(ws_, "Z", {3}, {5, 25, 39});
}

TEST_F(SegmentGradientTest, AcceptsWeightsInAColumn) {
  FeedRange<float>(&ws_, "D", {4, 2}, 1);
  Feed<float>(&ws_, "W", {3, 1}, {1, -1, 2});
  ExpectRows(Op("SparseLengthsIndicesInGradientWeightedSumWithMainInputGradient", "WGLDI", true),
             {1, 2, -3, -4, 6, 8});
  ExpectTensor<float>(ws_, "Z", {3, 1}, {23, 11, 53});
}

// As in Caffe2, only the operators that also read DATA accept weights of this shape.
TEST_F(SegmentGradientTest, AcceptsWeightsInARowNextToData) {
  FeedRange<float>(&ws_, "D", {4, 2}, 1);
  Feed<float>(&ws_, "W", {1, 3}, {1, -1, 2});
  ExpectRows(Op("SparseLengthsWeightedSumWithMainInputGradient", "WGLDI", true),
             {1, 2, -3, -4, 6, 8});
  ExpectTensor<float>(ws_, "Z", {1, 3}, {23, 11, 53});
  const std::string without = Op("LengthsWeightedSumGradient", "WGL");
  ExpectThrows([&] { RunOp(&ws_, without); }, "input 0 (SCALARS) has shape [1, 3], want [3]");
}

// Every row that equals the maximum has its gradient.
TEST_F(SegmentGradientTest, PassesTheGradientOfMaximaToEqualRows) {
  Feed<float>(&ws_, "D", {3, 2}, {1, 1, 5, 4, 5, 3});
  Feed<float>(&ws_, "O", {2, 2}, {1, 2, 5, 4});
  ExpectRows(Op("LengthsMaxWithMainInputAndForwardOutputGradient", "OGLD"), {1, 0, 3, 4, 3, 0});
  ExpectRows(Op("SortedSegmentRangeMaxGradient", "DOGS"), {1, 0, 3, 4, 3, 0});
}

TEST_F(SegmentGradientTest, ComputesTheGradientsOfRanges) {
  Feed<float>(&ws_, "D", {3, 2}, {0, 0, 1, 2, 3, 4});
  Feed<float>(&ws_, "O", {2, 2}, {0, 1, 2, 2});
  const float e = std::exp(1.0f);
  ExpectRows(Op("SortedSegmentRangeLogMeanExpGradient", "DOGS"),
             {1, 2 / e, 1.5f / e, 2, 1.5f * e, 2 * e * e});
  ExpectRows(Op("SortedSegmentRangeMeanGradient", "DOGS"), {1, 2, 1.5, 2, 1.5, 2});
  ExpectRows(Op("SortedSegmentRangeLogSumExpGradient", "DOGS"),
             {1, 2 / e, 3 / e, 4, 3 * e, 4 * e * e});
  ExpectRows(Op("SortedSegmentRangeSumGradient", "DOGS"), {1, 2, 3, 4, 3, 4});
}

// As in Caffe2: sums and means need neither DATA nor OUTPUT, the others read them row by row.
TEST_F(SegmentGradientTest, AcceptsRangesOfAnyShape) {
  Feed<float>(&ws_, "D", {1}, {7});
  Feed<float>(&ws_, "O", {0, 5}, {});
  ExpectRows(Op("SortedSegmentRangeSumGradient", "DOGS"), {1, 2, 3, 4, 3, 4});
  ExpectRows(Op("SortedSegmentRangeMeanGradient", "DOGS"), {1, 2, 1.5, 2, 1.5, 2});
  Feed<float>(&ws_, "D", {2, 4}, {1, 1, 5, 4, 5, 3, 9, 9});
  Feed<float>(&ws_, "O", {6}, {1, 2, 5, 4, 9, 9});
  ExpectRows(Op("SortedSegmentRangeMaxGradient", "DOGS"), {1, 0, 3, 4, 3, 0});
}

// The third input is the data of the forward operator, whose rows the gradient has.
TEST_F(SegmentGradientTest, InfersTheRowsOfLengths) {
  FeedRange<float>(&ws_, "D", {3, 2});
  for (const char* type :
       {"LengthsIndicesInGradientSumGradient", "LengthsIndicesInGradientMeanGradient"}) {
    SCOPED_TRACE(type);
    Feed<float>(&ws_, "G", {2, 2}, {1, 2, 3, 4});
    Feed<int32_t>(&ws_, "L", {2}, {1, 2});
    ExpectShapeInferred(&ws_, Op(type, "GLD"));
    Feed<int64_t>(&ws_, "I", {5}, {3, 0, 3, 1, 1});
    ExpectShapeInferred(&ws_, Op(type, "GLI"), true);
    Feed<float>(&ws_, "G", {2}, {1, 2});
    ExpectShapeInferred(&ws_, Op(type, "GLD"));
    Feed<float>(&ws_, "G", {0, 5}, {});
    Feed<int32_t>(&ws_, "L", {0}, {});
    ExpectShapeInferred(&ws_, Op(type, "GLD"));
  }
}

TEST_F(SegmentGradientTest, AcceptsEmptyTensors) {
  Feed<float>(&ws_, "G", {0, 2}, {});
  Feed<float>(&ws_, "D", {0, 2}, {});
  Feed<int32_t>(&ws_, "S", {0}, {});
  for (const std::string& op :
       {Op("SortedSegmentMeanGradient", "GS"), Op("UnsortedSegmentMeanGradient", "GS"),
        Op("LengthsMeanGradient", "GS"), Op("SortedSegmentRangeMeanGradient", "DDGS"),
        Op("LengthsMaxWithMainInputAndForwardOutputGradient", "GGSD")}) {
    RunOp(&ws_, op);
    ExpectTensor<float>(ws_, "Y", {0, 2}, {});
  }
  Feed<float>(&ws_, "D", {0, 1}, {});
  RunOp(&ws_, Op("LengthsMaxWithMainInputAndForwardOutputGradient", "GGSD"));
  ExpectTensor<float>(ws_, "Y", {0, 2}, {});
  Feed<float>(&ws_, "G", {2, 0}, {});
  RunOp(&ws_, Op("LengthsIndicesInGradientMeanGradient", "GLI"));
  ExpectTensor<float>(ws_, "Y", {3, 0}, {});
}

TEST_F(SegmentGradientTest, RejectsWhatDoesNotFit) {
  const auto run = [&](const std::string& op) { return [this, op] { RunOp(&ws_, op); }; };
  Feed<float>(&ws_, "G", {3, 2}, {1, 2, 3, 4, 5, 6});
  ExpectThrows(run(Op("SortedSegmentSumGradient", "GS")), "describes 2 segments, want 3, dim 0");
  ExpectThrows(run(Op("LengthsSumGradient", "GL")),
               "input 1 (LENGTHS) describes 2 segments, want 3, dim 0 of input 0 (SEGMENT_GRADS)");
  Feed<float>(&ws_, "G", {1, 2}, {1, 2});
  ExpectThrows(run(Op("UnsortedSegmentSumGradient", "GS")),
               "element 1 of input SEGMENT_IDS is 1, want at least 0 and below the number");
  Feed<float>(&ws_, "G", {2, 2}, {1, 2, 3, 4});
  Feed<float>(&ws_, "W", {2}, {1, 2});
  ExpectThrows(run(Op("LengthsWeightedSumGradient", "WGL")),
               "input 0 (SCALARS) has shape [2], want [3], one for each row");
  FeedRange<float>(&ws_, "D", {2, 2});
  ExpectThrows(run(Op("LengthsMaxWithMainInputAndForwardOutputGradient", "GGLD")),
               "input 3 (DATA) has 2 rows, want 3, those of all segments");
  for (const char* type : {"SortedSegmentRangeMaxGradient", "SortedSegmentRangeLogSumExpGradient",
                           "SortedSegmentRangeLogMeanExpGradient"}) {
    FeedRange<float>(&ws_, "D", {2, 2});
    ExpectThrows(run(Op(type, "DGGS")),
                 "elements of input 0 (DATA) of shape [2, 2], want 3 rows of 2, those of all");
    FeedRange<float>(&ws_, "D", {3, 2});
    FeedRange<float>(&ws_, "O", {3});
    ExpectThrows(run(Op(type, "DOGS")), "elements of input 1 (OUTPUT) of shape [3]");
  }
  FeedRange<double>(&ws_, "O", {2, 2});
  ExpectThrows(run(Op("SortedSegmentRangeMeanGradient", "DOGS")), "double");
  FeedRange<float>(&ws_, "D", {3, 1});
  ExpectThrows(run(Op("LengthsMaxWithMainInputAndForwardOutputGradient", "GGLD")),
               "input 3 (DATA) has shape [3, 1], want rows of 2 elements");
  FeedRange<float>(&ws_, "D", {3, 2});
  Feed<float>(&ws_, "W", {3}, {1, 2, 3});
  ExpectThrows(run(Op("SparseLengthsWeightedSumWithMainInputGradient", "WGLDI")),
               "of input INDICES is 3, want at least 0 and below 3");
  Feed<int64_t>(&ws_, "I", {2}, {0, 1});
  ExpectThrows(run(Op("SparseLengthsWeightedSumWithMainInputGradient", "WGLDI")),
               "input 0 (SCALARS) has shape [3], want [2], one for each row");
  Feed<float>(&ws_, "W", {2}, {1, 2});
  ExpectThrows(run(Op("SparseLengthsWeightedSumWithMainInputGradient", "WGLDI")),
               "number of indices, want the sum of input LENGTHS");
  Feed<float>(&ws_, "G", {4, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  ExpectThrows(run(Op("SortedSegmentSumGradient", "GS")),
               "input 1 (SEGMENT_IDS) has 3 ids, which cannot describe 4 segments");
}

// Only unsorted ids leave the number of segments open, and only weights can have a gradient.
TEST(SegmentGradientSchemaTest, DeclaresTheArgumentsOfItsKindOfSegments) {
  EnsureBuiltinOperators();
  const std::vector<std::string> none, segments = {"num_segments"}, weights = {"grad_on_weights"};
  const std::vector<std::pair<const char*, std::vector<std::string>>> want = {
      {"SortedSegmentSumGradient", none},
      {"SparseSortedSegmentMeanGradient", none},
      {"SortedSegmentRangeMaxGradient", none},
      {"LengthsSumGradient", none},
      {"SparseLengthsMeanGradient", none},
      {"LengthsIndicesInGradientSumGradient", none},
      {"LengthsMaxWithMainInputAndForwardOutputGradient", none},
      {"UnsortedSegmentSumGradient", segments},
      {"SparseUnsortedSegmentMeanGradient", segments},
      {"SortedSegmentWeightedSumGradient", weights},
      {"LengthsWeightedSumGradient", weights},
      {"UnsortedSegmentWeightedSumGradient", {"num_segments", "grad_on_weights"}}};
  for (const auto& [type, names] : want) {
    const OpSchema* const schema = OpSchemaRegistry::Schema(type);
    ASSERT_NE(schema, nullptr) << type;
    std::vector<std::string> declared;
    for (const OpSchema::Argument& argument : schema->args()) declared.push_back(argument.name);
    EXPECT_EQ(declared, names) << type;
  }
}

}  // namespace
}  // namespace caffe2rt::test::segment_gradient_test
