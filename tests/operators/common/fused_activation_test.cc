#include "operators/common/fused_activation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/operator_test.h"

namespace caffe2rt::fused_activation_test {
namespace {

using test::ExpectThrows;

Activation Read(const std::string& arguments) {
  const OperatorDef op = test::ParseOp("type: \"FCFusion\" " + arguments);
  return ReadActivation(ArgumentHelper(op));
}

TEST(FusedActivationTest, ReadsTheFunctionWithItsArguments) {
  EXPECT_TRUE(std::holds_alternative<NoActivation>(Read("")));
  EXPECT_TRUE(std::holds_alternative<NoActivation>(Read("arg { name: \"activation\" s: \"\" }")));
  const auto clip = std::get<Clip>(
      Read("arg { name: \"activation\" s: \"Clip\" } arg { name: \"activation_max\" f: 2 }"));
  EXPECT_EQ(clip.min, std::numeric_limits<float>::lowest());
  EXPECT_EQ(clip.max, 2);
  EXPECT_FALSE(std::get<Gelu>(Read("arg { name: \"activation\" s: \"Gelu\" }")).fast);
  EXPECT_TRUE(std::get<Gelu>(Read("arg { name: \"activation\" s: \"FastGelu\" }")).fast);
  EXPECT_TRUE(std::get<Gelu>(Read("arg { name: \"activation\" s: \"Gelu\" } "
                                  "arg { name: \"activation_fast_gelu\" i: 1 }"))
                  .fast);
}

// The defaults are those of the activation, also where two activations share an argument.
TEST(FusedActivationTest, DefaultsAreThoseOfTheFunction) {
  EXPECT_EQ(std::get<LeakyRelu>(Read("arg { name: \"activation\" s: \"LeakyRelu\" }")).alpha,
            0.01f);
  EXPECT_EQ(std::get<Elu>(Read("arg { name: \"activation\" s: \"Elu\" }")).alpha, 1.0f);
}

TEST(FusedActivationTest, RejectsUnknownNamesAndWrongArguments) {
  ExpectThrows([] { Read("arg { name: \"activation\" s: \"Relu6\" }"); },
               "argument \"activation\" is \"Relu6\", want \"\" or one of Relu, ReluN, ");
  ExpectThrows(
      [] { Read("arg { name: \"activation\" s: \"ReluN\" } arg { name: \"activation_n\" f: 0 }"); },
      "argument \"activation_n\" is 0, want above 0");
}

}  // namespace
}  // namespace caffe2rt::fused_activation_test
