#include "caffe2_core/graph/declared_arguments.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/support/operator_test.h"

namespace caffe2rt::test::declared_arguments_test {
namespace {

TEST(DeclaredArgumentsTest, ReturnsValuesAndDeclaredDefaults) {
  const OperatorDef given = ParseOp(
      R"(type: "SpatialBN" arg { name: "epsilon" f: 0.5 } arg { name: "order" s: "NHWC" })");
  EXPECT_EQ(DeclaredArguments(given).Get<float>("epsilon"), 0.5f);
  EXPECT_EQ(DeclaredArguments(given).Get<std::string>("order"), "NHWC");
  const OperatorDef empty = ParseOp(R"(type: "SpatialBN")");
  EXPECT_EQ(DeclaredArguments(empty).Get<float>("epsilon"), 1e-5f);
  EXPECT_EQ(DeclaredArguments(empty).Get<std::string>("order"), "NCHW");
  const OperatorDef fc = ParseOp(R"(type: "FC")");
  EXPECT_EQ(DeclaredArguments(fc).Get<int>("axis"), 1);
  const OperatorDef clip = ParseOp(R"(type: "Clip")");
  EXPECT_EQ(DeclaredArguments(clip).Get<float>("min"), std::numeric_limits<float>::lowest());
  EXPECT_EQ(DeclaredArguments(clip).Get<float>("max"), std::numeric_limits<float>::max());
}

TEST(DeclaredArgumentsTest, ReturnsZeroForARequiredArgumentThatIsMissing) {
  const OperatorDef def = ParseOp(R"(type: "SpatialBN")");
  EXPECT_FALSE(DeclaredArguments(def).Get<bool>("is_test"));
}

TEST(DeclaredArgumentsTest, RejectsUndeclaredArgumentsAndOtherTypes) {
  const OperatorDef fc = ParseOp(R"(type: "FC" arg { name: "axis" f: 1 } arg { name: "a" i: 1 })");
  ExpectThrows([&] { DeclaredArguments(fc).Get<int>("a"); },
               "the schema of operator type \"FC\" does not declare argument \"a\"");
  ExpectThrows([&] { DeclaredArguments(fc).Get<int>("axis"); }, "axis");
  const OperatorDef unknown = ParseOp(R"(type: "NoSuchType")");
  ExpectThrows([&] { DeclaredArguments(unknown).Get<int>("axis"); },
               "operator type \"NoSuchType\" has no schema");
}

}  // namespace
}  // namespace caffe2rt::test::declared_arguments_test
