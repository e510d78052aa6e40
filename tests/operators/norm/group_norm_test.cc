#include <cmath>
#include <string>

#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::group_norm_test {
namespace {

using test::ExpectShapeInferred;
using test::ExpectTensor;
using test::ExpectThrows;
using test::Feed;
using test::FeedRange;
using test::RunOp;

std::string GroupNorm(int group, const std::string& order = "NCHW") {
  return R"(type: "GroupNorm" input: "X" input: "g" input: "b" output: "Y" output: "m" output: "i"
            arg { name: "epsilon" f: 1 } arg { name: "group" i: )" +
         std::to_string(group) + R"( } arg { name: "order" s: ")" + order + "\" }";
}

// Two groups of two channels, with two positions each. {1 3 1 3} has mean 2 and variance 1;
// {0 0 0 8} has mean 2 and variance 12.
TEST(GroupNormTest, NormalizesGroupsOfChannels) {
  const float a = 1 / std::sqrt(2.0f), c = 1 / std::sqrt(13.0f);
  Workspace ws;
  Feed<float>(&ws, "g", {4}, {1, 2, 1, 1});
  Feed<float>(&ws, "b", {4}, {0, 5, 0, 0});
  Feed<float>(&ws, "X", {1, 4, 2}, {1, 3, 1, 3, 0, 0, 0, 8});
  RunOp(&ws, GroupNorm(2));
  ExpectTensor<float>(ws, "Y", {1, 4, 2},
                      {-a, a, 5 - 2 * a, 5 + 2 * a, -2 * c, -2 * c, -2 * c, 6 * c}, 1e-6);
  ExpectTensor<float>(ws, "m", {1, 2}, {2, 2}, 1e-6);
  ExpectTensor<float>(ws, "i", {1, 2}, {a, c}, 1e-6);
  ExpectShapeInferred(&ws, GroupNorm(2));

  Feed<float>(&ws, "X", {1, 2, 4}, {1, 1, 0, 0, 3, 3, 0, 8});
  RunOp(&ws, GroupNorm(2, "NHWC"));
  ExpectTensor<float>(ws, "Y", {1, 2, 4},
                      {-a, 5 - 2 * a, -2 * c, -2 * c, a, 5 + 2 * a, -2 * c, 6 * c}, 1e-6);
  ExpectShapeInferred(&ws, GroupNorm(2, "NHWC"));
}

TEST(GroupNormTest, HasThirtyTwoGroupsByDefault) {
  Workspace ws;
  Feed<float>(&ws, "g", {64}, std::vector<float>(64, 1));
  Feed<float>(&ws, "b", {64}, std::vector<float>(64, 0));
  FeedRange<float>(&ws, "X", {1, 64, 1});
  const char* op = R"(type: "GroupNorm" input: "X" input: "g" input: "b"
                      output: "Y" output: "m" output: "i")";
  RunOp(&ws, op);
  EXPECT_EQ(test::DimsOf(ws, "m"), (std::vector<int64_t>{1, 32}));
  ExpectShapeInferred(&ws, op);
}

// The groups of [1, 4, 6] divide 4 channels or, last, 6. The inference of shapes has the same check
// as the operator.
TEST(GroupNormTest, TheChannelsOfTheOrderAreDivided) {
  struct Case {
    const char* order;
    int group;
    const char* error;  // null if the groups fit
  };
  const Case cases[] = {
      {"NCHW", 4, nullptr},
      {"NCHW", 3, "divided by argument group 3"},
      {"NHWC", 3, nullptr},
      {"NHWC", 4, "divided by argument group 4"},
  };
  const std::vector<TensorShape> shapes = {
      CreateTensorShape(std::vector<int64_t>{1, 4, 6}, TensorProto::FLOAT), {}, {}};
  for (const Case& c : cases) {
    SCOPED_TRACE(GroupNorm(c.group, c.order));
    Workspace ws;
    const int64_t channels = std::string(c.order) == "NCHW" ? 4 : 6;
    test::FeedRandom(&ws, "X", {1, 4, 6});
    test::FeedRandom(&ws, "g", {channels});
    test::FeedRandom(&ws, "b", {channels});
    const OperatorDef def = test::ParseOp(GroupNorm(c.group, c.order));
    const OpSchema* const schema = OpSchemaRegistry::Schema("GroupNorm");
    if (c.error == nullptr) {
      RunOp(&ws, GroupNorm(c.group, c.order));
      ExpectShapeInferred(&ws, GroupNorm(c.group, c.order));
    } else {
      ExpectThrows([&] { RunOp(&ws, GroupNorm(c.group, c.order)); }, c.error);
      ExpectThrows([&] { schema->InferTensor(def, shapes); }, c.error);
    }
  }
}

TEST(GroupNormTest, AnEmptyBatchGivesNothing) {
  Workspace ws;
  Feed<float>(&ws, "g", {2}, {1, 1});
  Feed<float>(&ws, "b", {2}, {0, 0});
  Feed<float>(&ws, "X", {0, 2, 3}, {});
  RunOp(&ws, GroupNorm(2));
  ExpectTensor<float>(ws, "Y", {0, 2, 3}, {});
}

TEST(GroupNormTest, NamesWhatDoesNotFit) {
  Workspace ws;
  Feed<float>(&ws, "g", {4}, {1, 1, 1, 1});
  Feed<float>(&ws, "b", {4}, {0, 0, 0, 0});
  FeedRange<float>(&ws, "X", {1, 4, 2});
  ExpectThrows([&] { RunOp(&ws, GroupNorm(3)); }, "divided by argument group 3, want 0");
  ExpectThrows([&] { RunOp(&ws, GroupNorm(0)); }, R"(argument "group" is 0, want above 0)");
  FeedRange<float>(&ws, "X", {1, 2, 2});
  ExpectThrows([&] { RunOp(&ws, GroupNorm(2)); }, "input 1 (gamma) of shape [4]");
  FeedRange<float>(&ws, "X", {4});
  ExpectThrows([&] { RunOp(&ws, GroupNorm(2)); }, "rank of input 0 (X) of shape [4]");
  ExpectThrows(
      [&] {
        RunOp(&ws, R"(type: "GroupNorm" input: "X" input: "g" input: "b" output: "Y" output: "m")");
      },
      "output");
}

std::string Gradient(int group) {
  return R"(type: "GroupNormGradient" input: "dY" input: "X" input: "g" input: "b" input: "m"
            input: "i" output: "dX" output: "dg" output: "db" arg { name: "group" i: )" +
         std::to_string(group) + " }";
}

// One group of two channels with one position each. The normal values are -0.5 and 0.5.
TEST(GroupNormGradientTest, SubtractsTheMeansOfTheGradient) {
  Workspace ws;
  Feed<float>(&ws, "X", {1, 2, 1}, {1, 3});
  Feed<float>(&ws, "dY", {1, 2, 1}, {2, 1});
  Feed<float>(&ws, "g", {2}, {1, 4});
  Feed<float>(&ws, "b", {2}, {0, 0});
  Feed<float>(&ws, "m", {1, 1}, {2});
  Feed<float>(&ws, "i", {1, 1}, {0.5f});
  ExpectShapeInferred(&ws, Gradient(1));
  ExpectTensor<float>(ws, "dg", {2}, {-1, 0.5f}, 1e-6);
  ExpectTensor<float>(ws, "db", {2}, {2, 1}, 1e-6);
  // 0.5 * (gamma * dY - 3 - normal * 0.5)
  ExpectTensor<float>(ws, "dX", {1, 2, 1}, {-0.375f, 0.375f}, 1e-6);
  ExpectThrows([&] { RunOp(&ws, Gradient(2)); }, "elements of input 4 (mean) of shape [1, 1]");
  ExpectThrows([&] { RunOp(&ws, Gradient(3)); }, "divided by argument group 3");
  Feed<float>(&ws, "dY", {1}, {1});
  ExpectThrows([&] { RunOp(&ws, Gradient(1)); }, "elements of input 0 (dY) of shape [1]");
}

TEST(GroupNormGradientTest, AgreesWithDifferences) {
  Workspace ws;
  test::FeedRandom(&ws, "g", {6}, 0.5f, 2, 2);
  test::FeedRandom(&ws, "b", {6}, -1, 1, 3);
  for (const std::string order : {"NCHW", "NHWC"}) {
    if (order == "NCHW") {
      test::FeedRandom(&ws, "X", {1, 6, 3}, -2, 3);
    } else {
      test::FeedRandom(&ws, "X", {1, 3, 6}, -2, 3);
    }
    for (const int group : {1, 2, 6}) {
      test::ExpectGradientMatches(&ws, GroupNorm(group, order),
                                  {.outputs_without_gradient = {"m", "i"}});
    }
  }
  EXPECT_EQ(test::DescribeGradient(GroupNorm(2)),
            "GroupNormGradient(Y_grad,X,g,b,m,i)->X_grad,g_grad,b_grad epsilon=1 group=2 "
            "order=\"NCHW\" | X_grad g_grad b_grad");
  // The gradient needs mean and inverse deviation.
  ExpectThrows(
      [] {
        test::DescribeGradient(R"(type: "GroupNorm" input: "X" input: "g" input: "b" output: "Y")");
      },
      "output");
}

}  // namespace
}  // namespace caffe2rt::group_norm_test
