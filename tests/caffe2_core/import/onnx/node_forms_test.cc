// The operators that nodes of elements and of moved elements become, with all of their arguments:
// defaults are those of ONNX's definitions.
#include "tests/caffe2_core/import/onnx/node_forms.h"

#include <gtest/gtest.h>

namespace caffe2rt::test::node_forms_test {
namespace {

using namespace node_forms;  // used throughout this file

TEST(NodeFormsTest, FunctionsOfOneElement) {
  for (const char* type : {"Abs",  "Acos",       "Acosh",    "Asin",  "Asinh",   "Atan",  "Atanh",
                           "Ceil", "Cos",        "Cosh",     "Erf",   "Exp",     "Floor", "Log",
                           "Mish", "Reciprocal", "Relu",     "Round", "Sigmoid", "Sign",  "Sin",
                           "Sinh", "Softplus",   "Softsign", "Sqrt",  "Tan",     "Tanh"}) {
    Check({{Node(type), std::string(type) + "(x) -> y\n"}});
  }
  Check(
      {{Node("Neg"), "Negative(x) -> y\n"},
       {Node("Elu"), "Elu(x) alpha=1 -> y\n"},
       {Node("Elu", "x", Float("alpha", 0.5f)), "Elu(x) alpha=0.5 -> y\n"},
       {Node("Gelu"), "Gelu(x) fast_gelu=0 -> y\n", {{"x", {"2"}}}, 20},
       {Node("Gelu", "x", Text("approximate", "tanh")),
        "Gelu(x) fast_gelu=1 -> y\n",
        {{"x", {"2"}}},
        20},
       {Node("HardSigmoid"), "HardSigmoid(x) alpha=0.2 beta=0.5 -> y\n"},
       {Node("HardSigmoid", "x", Float("alpha", 2) + Float("beta", 3)),
        "HardSigmoid(x) alpha=2 beta=3 -> y\n"},
       {Node("HardSwish"), "HardSigmoid(x) alpha=0.166667 beta=0.5 -> %1\nMul(x, %1) -> y\n"},
       {Node("LeakyRelu"), "LeakyRelu(x) alpha=0.01 -> y\n"},
       {Node("LeakyRelu", "x", Float("alpha", 2)), "LeakyRelu(x) alpha=2 -> y\n"},
       {Node("Selu"), "Selu(x) alpha=1.67326 scale=1.0507 -> y\n"},
       {Node("Selu", "x", Float("alpha", 2) + Float("gamma", 3)), "Selu(x) alpha=2 scale=3 -> y\n"},
       {Node("Swish"), "Swish(x) -> y\n", {{"x", {"2"}}}, 24},
       {Node("Swish", "x", Float("alpha", 2)),
        "Mul(x, 2) -> %1\nSigmoid(%1) -> %2\nMul(x, %2) -> y\n",
        {{"x", {"2"}}},
        24},
       {Node("ThresholdedRelu"), "ThresholdedRelu(x) alpha=1 -> y\n"},
       {Node("Celu"), "Elu(x) alpha=1 -> y\n"},
       {Node("Celu", "x", Float("alpha", 2)),
        "Div(x, 2) -> %1\nElu(%1) alpha=1 -> %2\nMul(%2, 2) -> y\n"},
       {Node("IsNaN"), "IsNaN(x) -> %1\nCast(%1) to=5 -> y\n"},
       {Node("IsInf", "x", Int("detect_negative", 0)), "IsInf(x) detect_negative=0 -> y\n"},
       {Node("Not", "c"), "Not(c) -> y\n", {{"c", {"2"}}}},
       {Node("Hardmax"), "Hardmax(x) -> y\n"},
       {Node("Identity"), "Copy(x) -> y\n"},
       {Node("Cast", "x", Int("to", kInt32)), "Cast(x) to=2 -> y\n"},
       {Node("Cast", "x", Int("to", kBool)), "Cast(x) to=5 -> y\n"},
       {Node("Cast", "x", Int("to", kFloat)), "Copy(x) -> y\n"},
       {Node("CastLike", "xi"), "Cast(x) to=10 -> y\n", {{"x", {"2"}}, {"i", {"2"}}}}});
}

TEST(NodeFormsTest, ArithmeticAndBounds) {
  const std::map<std::string, std::vector<std::string>> two = {{"x", {"2"}}, {"b", {"2"}}};
  std::map<std::string, std::vector<std::string>> three = two;
  three["d"] = {"2"};
  for (const auto& [type, op] : {std::pair("Add", "Add"),
                                 {"Sub", "Sub"},
                                 {"Mul", "Mul"},
                                 {"Div", "Div"},
                                 {"Equal", "EQ"},
                                 {"Greater", "GT"},
                                 {"GreaterOrEqual", "GE"},
                                 {"Less", "LT"},
                                 {"LessOrEqual", "LE"},
                                 {"Max", "ONNXMax"},
                                 {"Min", "ONNXMin"},
                                 {"Pow", "Pow"}}) {
    Check({{Node(type, "xb"), std::string(op) + "(x, b) -> y\n", two}});
  }
  const std::string low = Number("l", -1), high = Number("h", 2);
  Check({{low + Node("Clip", "xl"), "Clip(x) min=-1 max=3.40282e+38 -> y\n"},
         {high + Node("Clip", "x-h"), "Clip(x) min=-3.40282e+38 max=2 -> y\n"},
         {low + high + Node("Clip", "xlh"), "Clip(x) min=-1 max=2 -> y\n"},
         {high + Node("Clip", "xbh"), "ONNXClip(x, b, h) -> y\n", {{"x", {"2"}}, {"b", {}}}},
         {low + Node("Clip", "xlb"), "ONNXClip(x, l, b) -> y\n", {{"x", {"2"}}, {"b", {}}}},
         {Node("Sum", "x"), "Copy(x) -> y\n"},
         {Node("Sum", "xbd"), "Add(x, b) -> %1\nAdd(%1, d) -> y\n", three},
         {Node("Mean", "xbd"), "Add(x, b) -> %1\nAdd(%1, d) -> %2\nDiv(%2, 3) -> y\n", three},
         {Node("Max", "x"), "Copy(x) -> y\n"},
         {Number("e", 3) + Node("Pow", "xe"), "Pow(x) exponent=3 -> y\n"},
         {Node("Mod", "xb", Int("fmod", 1)), "ONNXMod(x, b) fmod=1 -> y\n", two},
         {Node("Shrink"),
          "LT(x, -0.5) -> %1\nGT(x, 0.5) -> %2\nAdd(x, 0) -> %3\nCast(%1) to=1 -> %4\n"
          "Mul(%3, %4) -> %5\nSub(x, 0) -> %6\nCast(%2) to=1 -> %7\nMul(%6, %7) -> %8\n"
          "Add(%5, %8) -> y\n"},
         {Node("BitShift", "xb", Text("direction", "LEFT")), "BitShift(x, b) direction=LEFT -> y\n",
          two, 18, kUint8}});
}

TEST(NodeFormsTest, MovedElements) {
  const std::map<std::string, std::vector<std::string>> picked = {{"x", {"2", "3"}},
                                                                  {"i", {"2", "3"}}};
  std::map<std::string, std::vector<std::string>> scattered = picked;
  scattered["u"] = {"2", "3"};
  Check(
      {{Node("DepthToSpace", "x", Int("blocksize", 2)),
        "DepthToSpace(x) blocksize=2 mode=DCR -> y\n",
        {{"x", {"1", "4", "2", "2"}}}},
       {Node("DepthToSpace", "x", Int("blocksize", 2) + Text("mode", "CRD")),
        "DepthToSpace(x) blocksize=2 mode=CRD -> y\n",
        {{"x", {"1", "4", "2", "2"}}}},
       {Node("SpaceToDepth", "x", Int("blocksize", 2)),
        "SpaceToDepth(x) blocksize=2 mode=DCR -> y\n", kImage},
       {Node("Flatten"), "Flatten(x) axis=1 -> y\n"},
       {Node("Flatten", "x", Int("axis", -2)), "Flatten(x) axis=2 -> y\n", kImage},
       {Node("Transpose"), "Transpose(x) -> y\n"},
       {Node("Transpose", "x", Ints("perm", {1, 0})), "Transpose(x) axes=[1,0] -> y\n"},
       {Node("Concat", "xx", Int("axis", -1)), "Concat(x, x) axis=-1 -> y, %1\n"},
       {Node("Concat", "x", Int("axis", -1)), "Copy(x) -> y\n"},
       {Node("Gather", "xi"), "Gather(x, i) axis=0 wrap_indices=1 dense_gradient=1 -> y\n", picked},
       {Node("Gather", "xi", Int("axis", -1)),
        "Gather(x, i) axis=1 wrap_indices=1 dense_gradient=1 -> y\n", picked},
       {Node("GatherElements", "xi"), "GatherElements(x, i) axis=0 -> y\n", picked},
       {Node("GatherElements", "xi", Int("axis", -1)), "GatherElements(x, i) axis=-1 -> y\n",
        picked},
       {Node("GatherND", "xi"),
        "GatherND(x, i) batch_dims=0 -> y\n",
        {{"x", {"2", "3"}}, {"i", {"1", "1"}}}},
       {Node("GatherND", "xi", Int("batch_dims", 1)),
        "GatherND(x, i) batch_dims=1 -> y\n",
        {{"x", {"2", "3"}}, {"i", {"2", "1"}}}},
       {Node("ScatterElements", "xiu"), "ScatterElements(x, i, u) axis=0 reduction=none -> y\n",
        scattered},
       {Node("ScatterElements", "xiu", Int("axis", 1) + Text("reduction", "add")),
        "ScatterElements(x, i, u) axis=1 reduction=add -> y\n", scattered},
       {Node("ScatterND", "xiu", Text("reduction", "mul")),
        "ScatterND(x, i, u) reduction=mul -> y\n",
        {{"x", {"2", "3"}}, {"i", {"1", "1"}}, {"u", {"1", "3"}}}},
       {Node("ScatterND", "xiu"),
        "ScatterND(x, i, u) reduction=none -> y\n",
        {{"x", {"2", "3"}}, {"i", {"1", "1"}}, {"u", {"1", "3"}}}},
       {Node("Trilu"), "Trilu(x) upper=1 -> y\n"},
       {List("k", {-1}, true) + Node("Trilu", "xk", Int("upper", 0)),
        "Trilu(x) upper=0 k=-1 -> y\n"},
       {Node("ReverseSequence", "xi"),
        "ReverseSequence(x, i) batch_axis=1 time_axis=0 -> y\n",
        {{"x", {"2", "3"}}, {"i", {"3"}}}},
       {Node("ReverseSequence", "xi", Int("batch_axis", 0) + Int("time_axis", 1)),
        "ReverseSequence(x, i) batch_axis=0 time_axis=1 -> y\n",
        {{"x", {"2", "3"}}, {"i", {"2"}}}},
       {Node("EyeLike"), "EyeLike(x) k=0 dtype=1 -> y\n"},
       {Node("EyeLike", "x", Int("k", -1) + Int("dtype", kInt64)),
        "EyeLike(x) k=-1 dtype=10 -> y\n"},
       {Node("TensorScatter", "xu"),
        "TensorScatter(x, u) axis=-2 mode=linear -> y\n",
        {{"x", {"1", "4", "2"}}, {"u", {"1", "1", "2"}}},
        24},
       {Node("BitCast", "x", Int("to", kInt32)), "BitCast(x) to=2 -> y\n", {{"x", {"2"}}}, 26}});
}

TEST(NodeFormsTest, PartsAndPositions) {
  const std::map<std::string, std::vector<std::string>> six = {{"x", {"2", "6"}}};
  Check(
      {{List("s", {2, 4}) + Node("Split", "xs", Int("axis", -1), "yz"),
        "Split(x) axis=1 split=[2,4] -> y, z\n", six, 18, kFloat, "yz"},
       {Node("Split", "x", Int("axis", 1) + Int("num_outputs", 2), "yz"),
        "Split(x) axis=1 -> y, z\n", six, 18, kFloat, "yz"},
       {Node("Split", "x", Int("axis", 1) + Int("num_outputs", 2), "yz"),
        "Split(x) axis=1 uneven=1 -> y, z\n",
        {{"x", {"2", "5"}}},
        18,
        kFloat,
        "yz"},
       {Node("Split", "xs", "", "yz"),
        "Split(x, s) axis=0 -> y, z\n",
        {{"x", {"2", "6"}}, {"s", {"2"}}},
        18,
        kInt64,
        "yz"},
       {Node("Split", "x"), "Copy(x) -> y\n"},
       {List("a", {-1, 0}) + Node("Unsqueeze", "xa"), "ExpandDims(x) dims=[3,0] -> y\n"},
       {List("a", {}) + Node("Unsqueeze", "xa"), "Copy(x) -> y\n"},
       {List("a", {-1}) + Node("Squeeze", "xa"), "Squeeze(x) dims=[1] -> y\n", {{"x", {"2", "1"}}}},
       {Node("Squeeze"), "Squeeze(x) dims=[0,2] -> y\n", {{"x", {"1", "2", "1"}}}},
       {Node("Squeeze"), "Copy(x) -> y\n"},
       {List("b", {-1}) + List("e", {INT64_MAX}) + List("a", {1}) + Node("Slice", "xbea"),
        "Slice(x) starts=[0,2] ends=[-1,3] -> y\n"},
       {List("b", {2}) + List("e", {1}) + Node("Slice", "xbe"),
        "Slice(x) starts=[2,0] ends=[2,-1] -> y\n"},
       {List("b", {0}) + List("e", {2}) + List("a", {0}) + List("s", {2}) + Node("Slice", "xbeas"),
        "ONNXSlice(x) starts=[0] ends=[2] axes=[0] steps=[2] -> y\n"},
       {List("s", {0, 3, 1}) + Node("Reshape", "xs"), "Reshape(x) shape=[0,3,1] -> y, %1\n"},
       {List("r", {2, 1}) + Node("Tile", "xr"), "ONNXTile(x) repeats=[2,1] -> y\n"},
       {List("s", {2, 2, 3}) + Node("Expand", "xs"), "ONNXExpand(x) shape=[2,2,3] -> y\n"},
       {List("p", {0, 1, 0, 0}) + Node("Pad", "xp"), "Pad(x) mode=constant pads=[0,1,0,0] -> y\n"},
       {List("p", {0, 1, 0, 0}) + Node("Pad", "xpb"),
        "Pad(x, [], b) mode=constant pads=[0,1,0,0] -> y\n",
        {{"x", {"2", "3"}}, {"b", {}}}},
       {List("p", {0, 1, 0, 0}) + Node("Pad", "xp", Text("mode", "edge")),
        "Pad(x) mode=edge pads=[0,1,0,0] -> y\n"},
       {List("s", {3, 4}) + Node("CenterCropPad", "xs", Ints("axes", {0, 1})),
        "CenterCropPad(x) axes=[0,1] shape=[3,4] -> y\n"},
       {List("k", {2}) + Node("TopK", "xk", "", "yz"),
        "TopK(x) k=2 axis=1 -> y, z\n",
        {{"x", {"2", "3"}}},
        18,
        kFloat,
        "yz"},
       {List("k", {2}) +
            Node("TopK", "xk", Int("largest", 0) + Int("sorted", 0) + Int("axis", 0), "yz"),
        "ONNXTopK(x) axis=0 largest=0 sorted=0 k=2 -> y, z\n",
        {{"x", {"2", "3"}}},
        18,
        kFloat,
        "yz"},
       {Node("NonZero"), "NonZero(x) -> y\n"},
       {Node("Compress", "xc"), "Compress(x, c) -> y\n", {{"x", {"2", "3"}}, {"c", {"2"}}}},
       {Node("Compress", "xc", Int("axis", 1)),
        "Compress(x, c) axis=1 -> y\n",
        {{"x", {"2", "3"}}, {"c", {"3"}}}},
       {Node("Unique"), "ONNXUnique(x) sorted=1 -> y\n"},
       {Node("Unique", "x", Int("sorted", 0) + Int("axis", 1)),
        "ONNXUnique(x) sorted=0 axis=1 -> y\n"},
       {List("d", {5}, true) + Node("OneHot", "xdv"),
        "ONNXOneHot(x, d, v) axis=-1 -> y\n",
        {{"x", {"2"}}, {"v", {"2"}}}},
       {Node("Where", "cxb"), "Where(c, x, b) -> y\n", {{"c", {"2"}}, {"x", {"2"}}, {"b", {"2"}}}},
       {Node("Where", "cxb"),
        "ONNXWhere(c, x, b) -> y\n",
        {{"c", {"2"}}, {"x", {"2"}}, {"b", {"1"}}}},
       {Node("Where", "cxb"),
        "ONNXWhere(c, x, b) -> y\n",
        {{"c", {"2"}}, {"x", {"2"}}, {"b", {"2"}}},
        18,
        kUint8},
       {Node("NonMaxSuppression", "xb"),
        "NonMaxSuppression(x, b) center_point_box=0 -> y\n",
        {{"x", {"1", "4", "4"}}, {"b", {"1", "1", "4"}}}}});
}

}  // namespace
}  // namespace caffe2rt::test::node_forms_test
