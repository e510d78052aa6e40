// What the schemas of operators that move, choose and fill elements state: their family, the ONNX operator whose document
// they continue, and whether the shape stays.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/graph/operator_traits.h"
#include "caffe2_core/runtime/operator_registry.h"

namespace caffe2rt::test::stated_families_test {
namespace {

// The ONNX operators whose documents the schemas continue.
TEST(OnnxSchemasTest, AreThoseOfTheOnnxNames) {
  EnsureBuiltinOperators();
  const std::map<std::string, std::string> renamed = {
      {"ONNXCol2Im", "Col2Im"}, {"ONNXExpand", "Expand"}, {"ONNXOneHot", "OneHot"},
      {"ONNXRange", "Range"},   {"ONNXSlice", "Slice"},   {"ONNXSqueeze", "Squeeze"},
      {"ONNXTile", "Tile"},     {"ONNXTopK", "TopK"},     {"ONNXUnique", "Unique"},
      {"ONNXWhere", "Where"}};
  for (const auto& [type, onnx] : renamed)
    EXPECT_EQ(OpSchemaRegistry::Schema(type)->onnx_schema(), onnx) << type;
  for (const char* const type : {"BitCast",
                                 "CenterCropPad",
                                 "Compress",
                                 "Concat",
                                 "DepthToSpace",
                                 "EyeLike",
                                 "Flatten",
                                 "GatherElements",
                                 "GatherND",
                                 "NonZero",
                                 "Pad",
                                 "Reshape",
                                 "ReverseSequence",
                                 "ScatterElements",
                                 "ScatterND",
                                 "Slice",
                                 "SpaceToDepth",
                                 "Split",
                                 "Squeeze",
                                 "TensorScatter",
                                 "TfIdfVectorizer",
                                 "Tile",
                                 "Transpose",
                                 "Trilu",
                                 "Unsqueeze"}) {
    EXPECT_EQ(OpSchemaRegistry::Schema(type)->onnx_schema(), type);
  }
  for (const char* const type :
       {"DepthConcat", "DepthSplit", "Expand", "ExpandDims", "TopK", "OneHot"})
    EXPECT_EQ(OpSchemaRegistry::Schema(type)->onnx_schema(), "") << type;
}

// The families that decide the color in a drawing.
TEST(OperatorFamiliesTest, OfOperatorsThatStateOne) {
  EnsureBuiltinOperators();
  using enum OperatorFamily;
  const std::map<OperatorFamily, std::vector<const char*>> families = {
      {kShape,
       {"ArgMax",
        "ArgMin",
        "SegmentOneHot",
        "BitCast",
        "CenterCropPad",
        "Compress",
        "Concat",
        "DepthConcat",
        "DepthSplit",
        "DepthToSpace",
        "Expand",
        "ExpandDims",
        "Flatten",
        "FlattenToVec",
        "Gather",
        "GatherElements",
        "GatherND",
        "MergeDim",
        "NCHW2NHWC",
        "NHWC2NCHW",
        "NonZero",
        "ONNXArgMax",
        "ONNXArgMin",
        "ONNXCol2Im",
        "ONNXExpand",
        "ONNXOneHot",
        "ONNXSlice",
        "ONNXSqueeze",
        "ONNXTile",
        "ONNXTopK",
        "ONNXUnique",
        "OneHot",
        "PackSegments",
        "Pad",
        "PrependDim",
        "Reshape",
        "ResizeLike",
        "ReverseSequence",
        "ReversePackedSegs",
        "ScatterAssign",
        "ScatterElements",
        "ScatterND",
        "Shape",
        "Size",
        "Slice",
        "SpaceToDepth",
        "SparseToDense",
        "Split",
        "SplitByLengths",
        "Squeeze",
        "TensorScatter",
        "Tile",
        "TopK",
        "Transpose",
        "Trilu",
        "UnpackSegments",
        "Unsqueeze"}},
      {kElementwise,
       {"BitShift", "ONNXClip", "ONNXDropout", "ONNXMax", "ONNXMin", "ONNXMod", "ONNXPow",
        "ONNXWhere", "Where"}},
      {kMatMul, {"DotProduct", "Einsum", "ONNXMatMul"}},
      {kData, {"EyeLike", "ONNXRange"}},
      {kOther, {"TfIdfVectorizer", "IsNaN", "ReplaceNaN", "FloatToHalf", "HalfToFloat", "Cbrt"}},
  };
  for (const auto& [family, types] : families) {
    for (const char* const type : types) {
      const OperatorTraits& traits = TraitsOf(type);
      ASSERT_TRUE(traits.family.has_value()) << type;
      EXPECT_EQ(*traits.family, family) << type;
    }
  }
}

// A pass relies on the shape that stays.
TEST(OperatorFamiliesTest, StatesWhichOutputsHaveTheShapeOfTheInput) {
  EnsureBuiltinOperators();
  for (const char* const type :
       {"BitCast", "CumProd", "CumSum", "EyeLike", "Hardmax", "ONNXClip", "ONNXDropout",
        "ReverseSequence", "ScatterElements", "ScatterND", "TensorScatter", "Trilu"}) {
    EXPECT_TRUE(TraitsOf(type).same_shape) << type;
  }
  for (const char* const type :
       {"ArgMax", "BitShift", "Concat", "Det", "Einsum", "GatherElements", "GatherND", "NonZero",
        "ONNXMax", "ONNXMod", "ONNXPow", "ONNXSlice", "Pad", "Reshape", "Tile", "Transpose"}) {
    EXPECT_FALSE(TraitsOf(type).same_shape) << type;
  }
}

}  // namespace
}  // namespace caffe2rt::test::stated_families_test
