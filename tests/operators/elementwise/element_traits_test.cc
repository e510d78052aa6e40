// What graph passes and reports read about operators (operator_traits.h): which pass their input on, add, scale or fill,
// and which only change a shape. A false statement lets a pass remove or merge what it must not.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/graph/operator_traits.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::element_traits_test {
namespace {

using Names = std::set<std::string>;

Names TypesWith(const std::function<bool(const OperatorTraits&)>& is_stated) {
  EnsureBuiltinOperators();
  Names types;
  for (const std::string& type : OpSchemaRegistry::Types()) {
    if (is_stated(TraitsOf(type))) types.insert(type);
  }
  return types;
}

Names TypesOfForm(AffineForm form) {
  return TypesWith([form](const OperatorTraits& traits) { return traits.affine == form; });
}
Names TypesOfFill(FillForm fill) {
  return TypesWith([fill](const OperatorTraits& traits) { return traits.fill == fill; });
}

PassesOn PassingOf(const std::string& text) {
  const OperatorDef def = ParseOp(text);
  const PassesOnRule rule = TraitsOf(def.type()).passes_on;
  return rule == nullptr ? PassesOn::kNever : rule(def);
}

TEST(ElementTraitsTest, StateWhichOperatorsPassTheirInputOn) {
  const auto with = [](const std::string& type, const std::string& rest) {
    return PassingOf("type: '" + type + "' input: 'x' output: 'y' " + rest);
  };
  for (const char* type :
       {"Copy", "StopGradient", "NegateGradient", "Alias", "AliasWithName", "Sum"})
    EXPECT_EQ(with(type, ""), PassesOn::kAlways) << type;
  // To or from a device, or of more than one input, or with other values.
  for (const char* type :
       {"CopyFromCPUInput", "CopyOnDeviceLike", "EnsureCPUOutput", "CopyCPUToGPU", "CopyGPUToCPU",
        "Mean", "Max", "Min", "Add", "Relu", "Clip", "Scale", "Reshape", "DropoutGrad", "BitCast",
        "FloatToHalf", "ONNXDropout", "DepthConcat", "EnsureDense"}) {
    EXPECT_EQ(with(type, ""), PassesOn::kNever) << type;
  }
  const std::string test = "arg { name: 'is_test' i: ";
  EXPECT_EQ(with("Dropout", test + "0 }"), PassesOn::kNever);
  EXPECT_EQ(with("Dropout", test + "1 }"), PassesOn::kAlways);
  EXPECT_EQ(with("Dropout", test + "1 } arg { name: 'ratio' f: 0.25 }"), PassesOn::kAlways);
  const std::string add_axis = "arg { name: 'add_axis' i: ";
  EXPECT_EQ(with("Concat", ""), PassesOn::kAlways);
  EXPECT_EQ(with("Concat", add_axis + "0 }"), PassesOn::kAlways);
  EXPECT_EQ(with("Concat", add_axis + "1 } arg { name: 'axis' i: 0 }"), PassesOn::kNever);
  const std::string to = "arg { name: 'to' ";
  EXPECT_EQ(with("Cast", to + "i: 1 }"), PassesOn::kFloats);
  for (const char* other : {"i: 2 }", "i: 10 }", "i: 13 }", "i: 4 }", "s: 'FLOAT' }"})
    EXPECT_EQ(with("Cast", to + other), PassesOn::kNever) << other;
}

TEST(ElementTraitsTest, StateWhatArithmeticDoes) {
  EXPECT_EQ(TypesOfForm(AffineForm::kAdd), Names{"Add"});
  EXPECT_EQ(TypesOfForm(AffineForm::kSub), Names{"Sub"});
  EXPECT_EQ(TypesOfForm(AffineForm::kMul), Names{"Mul"});
  EXPECT_EQ(TypesOfForm(AffineForm::kDiv), Names{"Div"});
  EXPECT_EQ(TypesOfForm(AffineForm::kScale), Names{"Scale"});
  EXPECT_EQ(TypesWith([](const OperatorTraits& traits) { return traits.sums_inputs; }),
            Names{"Sum"});
}

TEST(ElementTraitsTest, StateWhichOperatorsOnlyChangeTheShape) {
  EXPECT_EQ(TypesWith([](const OperatorTraits& traits) { return traits.only_changes_shape; }),
            (Names{"ExpandDims", "MergeDim", "ONNXSqueeze", "PrependDim", "Reshape", "Squeeze",
                   "Unsqueeze"}));
}

TEST(ElementTraitsTest, StateWhichFillsAreConstants) {
  EXPECT_EQ(TypesOfFill(FillForm::kConstant), Names{"ConstantFill"});
  EXPECT_EQ(TypesOfFill(FillForm::kGivenFloats), Names{"GivenTensorFill"});
  EXPECT_EQ(TypesOfFill(FillForm::kGiven),
            (Names{"GivenTensorBoolFill", "GivenTensorByteStringToUInt8Fill",
                   "GivenTensorDoubleFill", "GivenTensorInt16Fill", "GivenTensorInt64Fill",
                   "GivenTensorIntFill", "GivenTensorStringFill"}));
}

TEST(ElementTraitsTest, NameTheArgumentsThatHoldTypes) {
  const std::pair<const char*, const char*> rows[] = {
      {"Cast", "to"}, {"BitCast", "to"}, {"EyeLike", "dtype"}};
  for (const auto& [type, name] : rows) EXPECT_STREQ(TraitsOf(type).type_argument, name) << type;
  for (const char* type : {"Add", "Copy", "Clip", "Trilu"})
    EXPECT_EQ(TraitsOf(type).type_argument, nullptr) << type;
}

TEST(ElementTraitsTest, StateWhichOperatorsHaveWeights) {
  for (const char* type : {"PRelu", "ElementwiseLinear"}) EXPECT_TRUE(TraitsOf(type).has_weights);
  for (const char* type : {"PReluGradient", "ElementwiseLinearGradient", "Add", "Where", "Pow"})
    EXPECT_FALSE(TraitsOf(type).has_weights) << type;
}

}  // namespace
}  // namespace caffe2rt::test::element_traits_test
