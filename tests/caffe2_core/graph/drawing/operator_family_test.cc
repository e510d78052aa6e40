#include "caffe2_core/graph/drawing/operator_family.h"

#include <gtest/gtest.h>

#include <vector>

#include "caffe2_core/graph/op_schema.h"

namespace caffe2rt::test::operator_family_test {
namespace {

OPERATOR_SCHEMA(OperatorFamilyTestConvStated).Traits({.family = OperatorFamily::kShape});
OPERATOR_SCHEMA(OperatorFamilyTestConvNotStated);

TEST(OperatorFamilyTest, IsStatedByTheTypeOrItsForwardTypeOrFollowsFromItsName) {
  using enum OperatorFamily;
  struct Case {
    const char* type;
    OperatorFamily family;
  };
  const Case cases[] = {
      {"Swish", kActivation},
      {"Add", kElementwise},
      {"StopGradient", kElementwise},  // not a gradient of "Stop"
      {"L1Distance", kLoss},
      {"DotProduct", kMatMul},
      {"OperatorFamilyTestConvStated", kShape},
      // The forward type states it.
      {"SwishGradient", kActivation},
      {"DropoutGrad", kActivation},
      {"Int8Relu", kActivation},
      {"Int8Mul", kElementwise},
      {"OperatorFamilyTestConvStatedGradient", kShape},
      // The name, with and without a schema.
      {"OperatorFamilyTestConvNotStated", kConv},
      {"DeformConv", kConv},
      {"Int8SpatialBNRelu", kNorm},
      {"Relu6", kActivation},
      {"ImageInput", kData},
      {"ConvertFormat", kOther},
      {"Iter", kOther},
  };
  for (const auto& [type, family] : cases) {
    EXPECT_STREQ(FamilyTitle(FamilyOf(type)), FamilyTitle(family)) << type;
  }
}

TEST(OperatorFamilyTest, UnknownTypesFollowTheFirstPartThatIsKnown) {
  const struct {
    const char* title;
    std::vector<const char*> types;
  } rows[] = {
      {"convolution", {"ZzConv", "ConvNorm", "Int8ZzConvFill"}},
      {"pooling", {"ZzPool", "ZzRoIAlign", "ZzPoolNorm", "ZzPoolGradient"}},
      {"normalization", {"ZzNorm", "ZzSpatialBN", "ZzLRN", "ZzAffineChannel", "NormFill"}},
      {"activation", {"Relu6Gradient", "HardSwish", "Int8Relu6"}},
      {"shape and indexing", {"ResizeBilinear", "StackGrad"}},
      {"matrix multiplication",
       {"Attention", "FCRelu", "FbFC", "Gemm", "PackedFC", "Int8Gemm", "GemmQuantized",
        "GemmBackward", "GemmGrad"}},
      {"loss and metric",
       {"ZzLoss", "ZzCrossEntropy", "ZzAccuracy", "ZzDistance", "ZzSimilarity", "ConvLoss"}},
      {"data and fill",
       {"ZzFill", "ZzLoad", "ZzDBInput", "ZzImageInput", "ZzCreateDB", "ZzRange", "ZzDequeue",
        "ZzReadNextBatch"}},
      {"other", {"Zz", "Gradient", "ZzGemm", "ConvertConv", ""}},
  };
  for (const auto& row : rows) {
    for (const char* type : row.types) EXPECT_STREQ(FamilyTitle(FamilyOf(type)), row.title) << type;
  }
  EXPECT_STREQ(FamilyTitle(OperatorFamily::kElementwise), "elementwise");
}

}  // namespace
}  // namespace caffe2rt::test::operator_family_test
