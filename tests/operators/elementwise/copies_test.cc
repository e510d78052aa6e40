#include "tests/support/device_run.h"
#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::copies_test {
namespace {

using test::ExpectShapeInferred;
using test::ExpectTensor;
using test::ExpectThrows;
using test::Feed;
using test::RunOp;

class CopyTest : public testing::TestWithParam<const char*> {
 protected:
  std::string Op(const char* output = "Y") const {
    const bool two = std::string(GetParam()) == "CopyOnDeviceLike";
    return std::string("type: \"") + GetParam() + "\" input: \"X\" " +
           (two ? "input: \"L\" " : "") + "output: \"" + output + "\"";
  }
};

TEST_P(CopyTest, GivesShapeTypeAndValuesOfItsInput) {
  Workspace ws;
  Feed<float>(&ws, "L", {1}, {0});
  Feed<float>(&ws, "X", {2, 1}, {1, 2});
  RunOp(&ws, Op());
  ExpectTensor<float>(ws, "Y", {2, 1}, {1, 2});
  ExpectShapeInferred(&ws, Op());
  Feed<std::string>(&ws, "X", {2}, {"a", "b"});
  RunOp(&ws, Op());
  ExpectTensor<std::string>(ws, "Y", {2}, {"a", "b"});
  Feed<int64_t>(&ws, "X", {}, {7});
  RunOp(&ws, Op());
  ExpectTensor<int64_t>(ws, "Y", {}, {7});
  Feed<uint8_t>(&ws, "X", {0, 3}, {});
  RunOp(&ws, Op());
  ExpectTensor<uint8_t>(ws, "Y", {0, 3}, {});
}

TEST_P(CopyTest, RunsInPlaceIfItsSchemaAllowsIt) {
  Workspace ws;
  Feed<float>(&ws, "L", {1}, {0});
  Feed<float>(&ws, "X", {2}, {1, 2});
  const std::string type = GetParam();
  if (type == "StopGradient" || type == "NegateGradient") {
    RunOp(&ws, Op("X"));
    ExpectTensor<float>(ws, "X", {2}, {1, 2});
  } else {
    ExpectThrows([&] { RunOp(&ws, Op("X")); }, "in place");
  }
}

TEST_P(CopyTest, SharesMemoryOnlyAsAnAlias) {
  Workspace ws;
  Feed<float>(&ws, "L", {1}, {0});
  Tensor* X = Feed<float>(&ws, "X", {2}, {1, 2});
  RunOp(&ws, Op());
  const bool shares = ws.GetBlob("Y")->Get<Tensor>().raw_data() == X->raw_data();
  EXPECT_EQ(shares, std::string(GetParam()) == "Alias");
}

INSTANTIATE_TEST_SUITE_P(All, CopyTest,
                         testing::Values("Alias", "Copy", "CopyFromCPUInput", "CopyOnDeviceLike",
                                         "EnsureCPUOutput", "NegateGradient", "StopGradient"),
                         [](const auto& info) { return info.param; });

TEST(AliasWithNameTest, SharesMemoryAndMustHaveAName) {
  Workspace ws;
  const Tensor* const X = Feed<float>(&ws, "X", {2}, {1, 2});
  const std::string op = R"(type: "AliasWithName" input: "X" )";
  const std::string name = R"(arg { name: "name" s: "part" } arg { name: "is_backward" i: 1 } )";
  RunOp(&ws, op + R"(output: "Y" )" + name);
  ExpectTensor<float>(ws, "Y", {2}, {1, 2});
  // On a device, the harness copies the outputs.
  if (test::TestDevice() == CPU) {
    EXPECT_EQ(ws.GetBlob("Y")->Get<Tensor>().raw_data(), X->raw_data());
  }
  RunOp(&ws, op + R"(output: "X" )" + name);
  ExpectTensor<float>(ws, "X", {2}, {1, 2});
  ExpectThrows([&] { RunOp(&ws, op + R"(output: "Y")"); }, "argument \"name\"");
}

TEST(ZeroGradientTest, ReadsItsInputAndWritesNothing) {
  Workspace ws;
  Feed<float>(&ws, "X", {2}, {1, 2});
  RunOp(&ws, R"(type: "ZeroGradient" input: "X")");
  ExpectThrows([&] { RunOp(&ws, R"(type: "ZeroGradient" input: "X" output: "Y")"); }, "output");
}

TEST(CopyGradientTest, IsTheCopyBack) {
  const auto describe = [](const std::string& type) {
    return test::DescribeGradient("type: \"" + type + R"(" input: "X" output: "Y")");
  };
  EXPECT_EQ(describe("Copy"), "CopyOnDeviceLike(Y_grad,X)->X_grad | X_grad");
  EXPECT_EQ(describe("CopyCPUToGPU"), "CopyGPUToCPU(Y_grad)->X_grad | X_grad");
  EXPECT_EQ(describe("CopyGPUToCPU"), "CopyCPUToGPU(Y_grad)->X_grad | X_grad");
  EXPECT_EQ(describe("Alias"), " | Y_grad");
  EXPECT_EQ(describe("StopGradient"), " | -");
  EXPECT_EQ(describe("EnsureCPUOutput"), " | -");
  EXPECT_EQ(describe("NegateGradient"), "Negative(Y_grad)->X_grad | X_grad");
  EXPECT_EQ(test::DescribeGradient(R"(type: "ZeroGradient" input: "X")"),
            "ConstantFill(X)->X_grad value=0 | X_grad");
  for (const char* type : {"CopyFromCPUInput", "CopyOnDeviceLike"}) {
    ExpectThrows([&] { describe(type); }, "not implemented");
  }
}

TEST(CopyGradientTest, CopiesBothPartsOfASparseGradient) {
  EXPECT_EQ(
      test::DescribeGradient(R"(type: "CopyCPUToGPU" input: "X" output: "Y")", {{"", "I", "V"}}),
      "CopyGPUToCPU(I)->X_grad_indices; CopyGPUToCPU(V)->X_grad_values "
      "| X_grad_indices+X_grad_values");
  ExpectThrows(
      [] {
        test::DescribeGradient(R"(type: "Copy" input: "X" output: "Y")", {{"", "I", "V"}});
      },
      "is sparse, want a dense one");
}

TEST(CopyGradientTest, NegatesTheValuesOfASparseGradient) {
  EXPECT_EQ(
      test::DescribeGradient(R"(type: "NegateGradient" input: "X" output: "Y")", {{"", "I", "V"}}),
      "Negative(V)->X_grad_values | I+X_grad_values");
}

TEST(NegateGradientTest, NegatesTheGradientAndZeroGradientClearsIt) {
  Workspace ws;
  Feed<float>(&ws, "X", {2}, {1, 2});
  Feed<float>(&ws, "Y_grad", {2}, {3, -4});
  const auto run = [&](const char* text, const std::vector<GradientWrapper>& given) {
    for (const OperatorDef& op : GetGradientForOp(test::ParseOp(text), given).ops_) RunOp(&ws, op);
  };
  run(R"(type: "NegateGradient" input: "X" output: "Y")", {{"Y_grad", "", ""}});
  ExpectTensor<float>(ws, "X_grad", {2}, {-3, 4});
  run(R"(type: "ZeroGradient" input: "X")", {});
  ExpectTensor<float>(ws, "X_grad", {2}, {0, 0});
}

}  // namespace
}  // namespace caffe2rt::copies_test
