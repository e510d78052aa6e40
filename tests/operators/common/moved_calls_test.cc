// Operators that select, move and fill elements: values at odd shapes, and calls that are rejected before anything is
// written. Expected values are by hand.
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "tests/operators/common/call_tables.h"
#include "tests/operators/common/long_calls.h"
#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::moved_calls_test {
namespace {

TEST(MovedCallsTest, SelectFromShapesOfOtherRanks) {
  ExpectResults({
      {"ONNXWhere C A B -> Y", "C b 3 = 1,0,1; A l 2,3 = 1,2,3,4,5,6; B l 2,1 = 7,8",
       "Y l 2,3 = 1,7,3,4,8,6"},
      {"ONNXWhere C A B -> Y", "C b 2,1,1 = 1,0; A i 3 = 1,2,3; B i 2,1 = 8,9",
       "Y i 2,2,3 = 1,2,3,1,2,3,8,8,8,9,9,9"},
      {"ONNXWhere C A B -> Y", "C b - = 0; A d 2 = 1,2; B d 1,2,1 = 5,6", "Y d 1,2,2 = 5,5,6,6"},
      {"ONNXWhere C A B -> Y", "C b 2,3 = 1,0,1,0,1,0; A u - = 9; B u 3 = 1,2,3",
       "Y u 2,3 = 9,2,9,1,9,3"},
      {"ONNXWhere C A B -> Y", "C b 2,2 = 1,0,0,1; A f 2,2 = 1,2,3,4; B f 2 = 7,8",
       "Y f 2,2 = 1,8,7,4"},
      {"ONNXWhere C A B -> Y", "C b - = 1; A f - = 3; B f - = 4", "Y f - = 3"},
      {"ONNXWhere C A B -> Y", "C b 1 = 0; A c 0,2; B c 1,2 = 3,4", "Y c 0,2"},
  });
}

// The largest of two channels far below 0 is no 0.
TEST(MovedCallsTest, NormalizeLargeNegativeChannels) {
  const std::string x = "X f 1,2,1,3 = -500,-501,-502,-500,-503,-502";
  const std::string y = "f 1,2,1,3 = 0.5,0.880797,0.5,0.5,0.119203,0.5";
  ExpectResults({
      {"GroupSpatialSoftmax X -> Y num_classes=2", x, "Y " + y},
      {"SpatialSoftmaxWithLoss X L -> Y Z", x + "; L i 1,1,3 = 0,0,1",
       "Y " + y + "; Z f - = 0.504408"},
      {"Softmax X -> Y axis=1", "X f 2,2 = -500,-500,-501,-503",
       "Y f 2,2 = 0.5,0.5,0.880797,0.119203"},
  });
}

TEST(MovedCallsTest, RejectIndicesThatReachBehindTheData) {
  const std::string message =
      "input 1 (indices) has shape [3, 1], want the rank of input 0 (data) of shape [2, 3] and no "
      "larger sizes except for dim 1";
  ExpectRejected({
      {"ScatterElements X I U -> Y axis=1", "X f 2,3; I l 3,1 = 0; U f 3,1", message},
      {"ScatterElements X I U -> Y axis=-1", "X d 2,3; I i 3,1 = 0; U d 3,1", message},
      {"GatherElementsGradient X I U -> Y axis=1", "X f 2,3; I l 3,1 = 0; U f 3,1", message},
      {"GatherElementsGradient X I U -> Y", "X f 2,3; I l 1 = 0; U f 1",
       "input 1 (indices) has shape [1], want the rank of input 0 (data) of shape [2, 3] and no "
       "larger sizes except for dim 0"},
  });
}

// Strings cannot be added, even if there is nothing to add.
TEST(MovedCallsTest, RejectReductionsOfStringsWithoutUpdates) {
  for (const char* type : {"ScatterElements", "ScatterND"}) {
    Workspace ws;
    Feed<std::string>(&ws, "X", {2}, {"a", "b"});
    Feed<std::string>(&ws, "U", {0}, {});
    const bool rows = std::string(type) == "ScatterND";
    Feed<int64_t>(&ws, "I", rows ? std::vector<int64_t>{0, 1} : std::vector<int64_t>{0}, {});
    const std::string op =
        MakeString("type: '", type, "' input: 'X' input: 'I' input: 'U' output: 'Y' ");
    RunOp(&ws, op);
    ExpectTensor<std::string>(ws, "Y", {2}, {"a", "b"});
    ExpectThrows([&] { RunOp(&ws, op + "arg { name: 'reduction' s: 'add' }"); },
                 "input 0 (data) has elements of type string");
  }
}

TEST(MovedCallsTest, InferOnlyWhatARunCanGive) {
  ExpectInferred({
      {"PackSegments L X -> Y max_length=4 return_presence_mask=1", "L i 2; X l 5", "int64 [2, 4]"},
      {"GatherPadding X L -> A B padding_width=1", "X ?; L i 1", "? ?; ? ?"},
      {"AddPadding X -> A padding_width=1", "X ?", "? ?"},
      {"DFT X -> Y", "X f 8,1", "float [8, 2]"},
      {"DFT X -> Y onesided=1", "X f 1,1", "float [1, 2]"},
      {"DFT X -> Y onesided=1", "X d 3,5,1", "double [3, 3, 2]"},
      {"DFT X -> Y inverse=1 onesided=1", "X f 2,2", "float [2, 1]"},
      {"DFT X -> Y inverse=1 onesided=1", "X f 1,2", "float ?"},
      {"DFT X -> Y", "X f 4", "float ?"},
  });
  ExpectShapesRejected({
      {"CenterCropPad X -> Y shape=2, axes=0,1", "X f 2,3",
       "elements of shape, want one for each axis (got 1, want 2)"},
      {"CenterCropPad X -> Y shape=2,-1", "X f 2,3", "element 1 of shape: got -1, want at least 0"},
      {"ONNXTile X -> Y repeats=2,-1", "X f 2,3", "element 1 of repeats: got -1, want at least 0"},
      {"ONNXTile X -> Y repeats=2,", "X f 2,3",
       "elements of repeats, want the rank of input 0 (X) of shape [2, 3] (got 1, want 2)"},
      {"ONNXExpand X -> Y shape=2,2", "X f 2,3",
       "input 0 (X) has shape [2, 3], which cannot be broadcast with shape [2, 2]"},
  });
  for (const char* op : {"type: 'ONNXExpand' input: 'X' output: 'Y' arg { name: 'shape' ints: "
                         "4611686018427387904 ints: 4 }",
                         "type: 'ONNXTile' input: 'X' output: 'Y' arg { name: 'repeats' ints: "
                         "4611686018427387904 ints: 4 }"}) {
    Workspace ws;
    Feed<float>(&ws, "X", {1, 1}, {1});
    EXPECT_THROW((void)InferShapes(ws, ParseOp(op)), EnforceNotMet) << op;
  }
}

TEST(MovedCallsTest, RejectTypesAndNumbersOfElements) {
  struct Row {
    const char *op, *inputs, *part;
  };
  const Row rows[] = {
      {"Sum A B -> Y", "A b 2; B b 2", "input 0 has elements of type bool"},
      {"Mean A -> Y", "A u 2", "input 0 has elements of type uint8"},
      {"Max A B -> Y", "A b 2; B b 2", "input 0 has elements of type bool"},
      {"Min A -> Y", "A b 2", "input 0 has elements of type bool"},
      {"ONNXPow A B -> Y", "A f 0; B b 0", "input 1 (B) has elements of type bool"},
      {"ONNXPow A B -> Y", "A b 2; B f 2", "input 0 (A) has elements of type bool"},
      {"WeightedSumGradient G A a -> D", "G f 2; A f 2; a f 2", "input 2"},
      {"WeightedSumGradient G A a B b -> D E", "G f 2; A f 2; a f 1; B f 2; b f 0", "input 4"},
      {"WeightedSumGradient G A a B b -> D E H J grad_on_w=1", "G f 2; A f 2; a f 1; B f 3; b f 1",
       "elements of input 3 of shape [3]"},
      {"WeightedSumGradient G A a -> D", "G f 2; A f 2; a d 1", "double"},
      {"ONNXTopK X -> Y I k=1 sorted=yes", "X f 3", "sorted"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.op);
    Workspace ws;
    if (*row.inputs != 0) FeedInputs({"", row.inputs}, &ws);
    OperatorDef def = OperatorsOf({row.op, ""}).back();
    def.mutable_device_option()->set_device_type(PROTO_CPU);
    ExpectThrows([&] { ws.RunOperatorOnce(def); }, row.part);
  }
}

// Tensors that operators change in place are as before if the call is rejected, also if the last index is the wrong
// one.
TEST(MovedCallsTest, LeaveTensorsInPlaceAsTheyAre) {
  struct Row {
    const char *op, *inputs;
  };
  const Row rows[] = {
      {"ScatterAssign X I S -> X", "X f 3,2; I l 3 = 0,1,3; S f 3,2"},
      {"ScatterAssign X I S -> X", "X i 3; I i 2 = 2,-1; S i 2"},
      {"ScatterAssign X I S -> X", "X f 3,2; I l 2 = 0,1; S f 3,1"},
      {"ScatterAssign X I S -> X", "X f 3,2; I l 2 = 0,1; S d 2,2"},
      {"ScatterWeightedSum X w I S v -> X", "X f 3,2; w f 1 = 2; I l 2 = 0,3; S f 2,2; v f 1 = 1"},
      {"ScatterWeightedSum X w I S v -> X", "X f 3,2; w f 1 = 2; I i 2 = 0,-1; S f 2,2; v f 1 = 1"},
      {"ScatterWeightedSum X w I S v T u -> X",
       "X f 3,2; w f 1 = 2; I l 2 = 0,1; S f 2,2; v f 1 = 1; T f 2,2; u f 2 = 1"},
      {"ScatterWeightedSum X w I S v T u -> X",
       "X f 3,2; w f 1 = 2; I l 2 = 0,1; S f 2,2; v f 1 = 1; T f 2,1; u f 1 = 1"},
      {"ScatterWeightedSum X w I S v T u -> X",
       "X f 3,2; w f 1 = 2; I l 2 = 0,1; S f 2,2; v f 1 = 1; T f 2,2; u d 1 = 1"},
      {"ScatterElements X I U -> X", "X f 4; I l 3 = 0,1,4; U f 3"},
      {"ScatterElements X I U -> X reduction=mul", "X l 4; I i 3 = 0,1,-5; U l 3"},
      {"ScatterElements X I U -> X", "X f 4; I l 3 = 0,1,2; U d 3"},
      {"ScatterND X I U -> X", "X f 2,2; I l 2,2 = 0,1,2,0; U f 2"},
      {"ScatterND X I U -> X reduction=add", "X i 3; I i 2,1 = 0,-4; U i 2"},
      {"ScatterND X I U -> X", "X f 2,2; I l 2,1 = 0,1; U f 2"},
      {"TensorScatter X U s -> X axis=1", "X f 2,3; U f 2,2; s l 2 = 0,2"},
      {"TensorScatter X U s -> X axis=1", "X f 2,3; U f 2,2; s l 1 = 0"},
      {"TensorScatter X U s -> X axis=1 mode=circular", "X f 2,3; U f 2,2; s l 2 = 0,-1"},
      {"CopyRowsToTensor X I r -> X", "X f 3,2; I l 3 = 0,1,3; r f 2"},
      {"CopyRowsToTensor X I r -> X", "X f 3,2; I l 2 = 0,-1; r f 2"},
      {"CopyRowsToTensor X I r -> X", "X f 3,2; I l 1 = 0; r f 3"},
      {"CopyRowsToTensor X I r -> X", "X f 3,2; I l 1 = 0; r d 2"},
      {"SparseNormalize X I -> X", "X f 3,2; I l 2 = 0,3"},
      {"SparseNormalize X I -> X", "X f 3,2; I i 2 = 0,-1"},
      {"IndexHash X -> X seed=1 modulo=0", "X l 3"},
      {"Reshape X -> X S shape=3,3", "X f 2,3"},
      {"Squeeze X -> X dims=0,", "X f 2,3"},
      {"ExpandDims X -> X dims=4,", "X f 2,3"},
      {"PrependDim X -> X dim_size=4", "X f 6"},
      {"Add X B -> X", "X f 2,3; B f 2"},
      {"Sum X B -> X", "X f 2,3; B f 3,2"},
      {"WeightedSum X w B v -> X", "X f 2,3; w f 1 = 2; B f 2,2; v f 1 = 1"},
      {"WeightedSum X w B v -> X", "X f 2,3; w f 1 = 2; B f 2,3; v f 2 = 1"},
      {"WeightedSum X w B v -> X", "X f 2,3; w f 1 = 2; B d 2,3; v f 1 = 1"},
      {"PRelu X w -> X", "X f 2,3; w f 2"},
      {"SpatialBN X s b m v -> Y m v d e is_test=0", "X f 2,3,2; s f 3; b d 3; m f 3; v f 3"},
      {"SpatialBN X s b m v -> X is_test=1", "X f 2,3,2; s f 3; b f 3; m f 3; v f 4"},
      {"Softmax X -> X axis=3", "X f 2,3"},
      {"ReluGradient Y G -> G", "Y f 2,3; G f 2"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.op);
    SCOPED_TRACE(row.inputs);
    Workspace ws;
    FeedInputs({"", row.inputs}, &ws);
    std::map<std::string, Tensor> before;
    for (const std::string& name : ws.Blobs())
      before.emplace(name, Tensor(ws.GetBlob(name)->Get<Tensor>(), CPU));
    OperatorDef def = OperatorsOf({row.op, ""}).back();
    def.mutable_device_option()->set_device_type(PROTO_CPU);
    EXPECT_THROW(ws.RunOperatorOnce(def), EnforceNotMet);
    for (const auto& [name, want] : before) {
      const Tensor& got = ws.GetBlob(name)->Get<Tensor>();
      EXPECT_EQ(got.dims(), want.dims()) << name;
      ASSERT_EQ(got.nbytes(), want.nbytes()) << name;
      EXPECT_EQ(std::memcmp(got.raw_data(), want.raw_data(), want.nbytes()), 0) << name;
    }
  }
}

TEST(MovedCallsTest, HaveTheGradientsOfTheirInputs) {
  EXPECT_EQ(DescribeGradient("type: 'SparseToDenseMask' input: 'I' input: 'V' input: 'F' output: "
                             "'Y' arg { name: 'mask' ints: 1 }"),
            "SparseToDenseMaskGradient(I,Y_grad)->V_grad mask=\"\" | - V_grad -");
  EXPECT_EQ(DescribeGradient("type: 'SparseToDenseMask' input: 'I' input: 'V' input: 'F' input: "
                             "'L' output: 'Y' arg { name: 'mask' ints: 1 }"),
            "SparseToDenseMaskGradient(I,Y_grad,L)->V_grad mask=\"\" | - V_grad - -");
  EXPECT_EQ(DescribeGradient("type: 'Unsqueeze' input: 'X' input: 'a' output: 'Y'"),
            "ONNXSqueeze(Y_grad,a)->X_grad | X_grad -");
  EXPECT_EQ(
      DescribeGradient("type: 'ONNXSqueeze' input: 'X' output: 'Y' arg { name: 'axes' ints: 1 }"),
      "Unsqueeze(Y_grad)->X_grad axes=\"\" | X_grad");
  EXPECT_EQ(DescribeGradient("type: 'ONNXSqueeze' input: 'X' output: 'Y'"),
            "ResizeLike(Y_grad,X)->X_grad | X_grad");
}

}  // namespace
}  // namespace caffe2rt::test::moved_calls_test
