#include "tests/support/operator_test.h"

namespace caffe2rt::logic_test {
namespace {

using test::ExpectShapeInferred;
using test::ExpectTensor;
using test::ExpectThrows;
using test::Feed;
using test::RunOp;

std::string Op(const std::string& type, const std::string& output = "Y") {
  return "type: \"" + type + R"(" input: "A" input: "B" output: ")" + output + "\"";
}

struct LogicCase {
  const char* type;
  const char* bitwise;
  std::vector<bool> want;  // results for 0 0, 0 1, 1 0, 1 1
};
class LogicTest : public testing::TestWithParam<LogicCase> {};

TEST_P(LogicTest, FollowsItsTruthTable) {
  for (const char* type : {GetParam().type, GetParam().bitwise}) {
    Workspace ws;
    Feed<bool>(&ws, "A", {2, 2}, {false, false, true, true});
    Feed<bool>(&ws, "B", {2}, {false, true});
    RunOp(&ws, Op(type));
    ExpectTensor<bool>(ws, "Y", {2, 2}, GetParam().want);
    ExpectShapeInferred(&ws, Op(type));
    RunOp(&ws, Op(type, "A"));
    ExpectTensor<bool>(ws, "A", {2, 2}, GetParam().want);
    ExpectThrows([&] { RunOp(&ws, Op(type, "B")); }, "in place");
  }
}

TEST_P(LogicTest, RunsOnTheBitsOfIntegers) {
  const std::vector<bool>& w = GetParam().want;
  const int want = w[0] * 8 + w[1] * 4 + w[2] * 2 + w[3];  // bitwise, for 0011 and 0101
  Workspace ws;
  Feed<int32_t>(&ws, "A", {1}, {3});
  Feed<int32_t>(&ws, "B", {1}, {5});
  RunOp(&ws, Op(GetParam().bitwise));
  ExpectTensor<int32_t>(ws, "Y", {1}, {want});
  Feed<int64_t>(&ws, "A", {1}, {int64_t{3} << 40});
  Feed<int64_t>(&ws, "B", {1}, {int64_t{5} << 40});
  RunOp(&ws, Op(GetParam().bitwise));
  ExpectTensor<int64_t>(ws, "Y", {1}, {int64_t{want} << 40});
  ExpectThrows([&] { RunOp(&ws, Op(GetParam().type)); }, "want bool");
}

TEST_P(LogicTest, RejectsFloats) {
  Workspace ws;
  Feed<float>(&ws, "A", {0}, {});
  Feed<float>(&ws, "B", {0}, {});
  ExpectThrows([&] { RunOp(&ws, Op(GetParam().bitwise)); },
               "input 0 (A) has elements of type float");
}

INSTANTIATE_TEST_SUITE_P(
    All, LogicTest,
    testing::Values(LogicCase{"And", "BitwiseAnd", {false, false, false, true}},
                    LogicCase{"Or", "BitwiseOr", {false, true, true, true}},
                    LogicCase{"Xor", "BitwiseXor", {false, true, true, false}}),
    [](const auto& info) { return info.param.type; });

TEST(BitwiseTest, AcceptsIntegersOfEveryWidth) {
  Workspace ws;
  Feed<uint8_t>(&ws, "A", {3}, {12, 255, 170});
  Feed<uint8_t>(&ws, "B", {3}, {10, 15, 85});
  RunOp(&ws, R"(type: "BitwiseAnd" input: "A" input: "B" output: "Y")");
  ExpectTensor<uint8_t>(ws, "Y", {3}, {8, 15, 0});
  Feed<int16_t>(&ws, "A", {2}, {-1, 300});
  Feed<int16_t>(&ws, "B", {1}, {255});
  RunOp(&ws, R"(type: "BitwiseXor" input: "A" input: "B" output: "Y")");
  ExpectTensor<int16_t>(ws, "Y", {2}, {-256, 467});
  Feed<int8_t>(&ws, "A", {1}, {-128});
  Feed<int8_t>(&ws, "B", {1}, {1});
  RunOp(&ws, R"(type: "BitwiseOr" input: "A" input: "B" output: "Y")");
  ExpectTensor<int8_t>(ws, "Y", {1}, {-127});
}

}  // namespace
}  // namespace caffe2rt::logic_test
