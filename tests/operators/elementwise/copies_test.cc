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

TEST_P(CopyTest, RunsInPlaceWhereItsSchemaSaysSo) {
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

TEST(ZeroGradientTest, TakesItsInputAndGivesNothing) {
  Workspace ws;
  Feed<float>(&ws, "X", {2}, {1, 2});
  RunOp(&ws, R"(type: "ZeroGradient" input: "X")");
  ExpectThrows([&] { RunOp(&ws, R"(type: "ZeroGradient" input: "X" output: "Y")"); }, "output");
}

}  // namespace
}  // namespace caffe2rt::copies_test
