#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::momentum_sgd_test {
namespace {

constexpr char kUpdate[] = R"( input: "G" input: "M" input: "L" input: "P" output: "G" output: "M"
    output: "P" arg { name: "momentum" f: 0.5 })";
constexpr char kSparse[] = R"(type: "SparseMomentumSGDUpdate" input: "G" input: "M" input: "L"
    input: "P" input: "I" output: "S" output: "M" output: "P" arg { name: "momentum" f: 0.5 })";

void FeedState(Workspace* ws) {
  Feed<float>(ws, "G", {2}, {1, 2});
  Feed<float>(ws, "M", {2}, {4, -2});
  Feed<float>(ws, "L", {1}, {0.5f});
  Feed<float>(ws, "P", {2}, {10, 20});
}

TEST(MomentumSGDTest, ComputesTheStep) {
  struct Case {
    const char* nesterov;
    std::vector<float> step;
  };
  // m' = 0.5 m + 0.5 g = {2.5, 0}; with nesterov, the step is 1.5 m' - 0.5 m.
  for (const Case& c : {Case{"0", {2.5f, 0}}, Case{"1", {1.75f, 1}}}) {
    Workspace ws;
    FeedState(&ws);
    const std::string op = std::string(R"(type: "MomentumSGD" input: "G" input: "M" input: "L"
        output: "S" output: "N" arg { name: "momentum" f: 0.5 } arg { name: "nesterov" i: )") +
                           c.nesterov + " }";
    RunOp(&ws, op);
    ExpectTensor<float>(ws, "S", {2}, c.step);
    ExpectTensor<float>(ws, "N", {2}, {2.5f, 0});
    ExpectShapeInferred(&ws, op);
  }
}

TEST(MomentumSGDUpdateTest, SubtractsTheStepInPlace) {
  Workspace ws;
  FeedState(&ws);
  RunOp(&ws, std::string(R"(type: "MomentumSGDUpdate")") + kUpdate);
  ExpectTensor<float>(ws, "G", {2}, {2.5f, 0});
  ExpectTensor<float>(ws, "M", {2}, {2.5f, 0});
  ExpectTensor<float>(ws, "P", {2}, {7.5f, 20});
}

TEST(MomentumSGDUpdateTest, LeavesAParameterThatIsNotInPlace) {
  Workspace ws;
  FeedState(&ws);
  const char* op = R"(type: "MomentumSGDUpdate" input: "G" input: "M" input: "L" input: "P"
                      output: "S" output: "N" output: "Q")";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "S", {2}, {0.5f, 1});
  ExpectTensor<float>(ws, "P", {2}, {10, 20});
  ExpectTensor<float>(ws, "Q", {0}, {});
  ExpectShapeInferred(&ws, op);
  // It is empty whatever the inputs are.
  const TensorShape left =
      OpSchemaRegistry::Schema("MomentumSGDUpdate")->InferTensor(ParseOp(op), {}).at(2);
  EXPECT_FALSE(left.unknown_shape());
  EXPECT_EQ(GetDimsVector(left), std::vector<int64_t>{0});
}

TEST(FP32MomentumSGDUpdateTest, AddsTheDecayOfTheWeights) {
  Workspace ws;
  FeedState(&ws);
  // d = g + 0.1 p = {2, 4}, m' = {3, 1}.
  RunOp(&ws, std::string(R"(type: "FP32MomentumSGDUpdate" arg { name: "weight_decay" f: 0.1 })") +
                 kUpdate);
  ExpectTensor<float>(ws, "M", {2}, {3, 1}, 1e-6);
  ExpectTensor<float>(ws, "P", {2}, {7, 19}, 1e-6);
}

TEST(FP16MomentumSGDUpdateTest, RoundsToHalf) {
  Workspace ws;
  Feed<float16>(&ws, "G", {2}, {1.0f, 2.0f});
  Feed<float16>(&ws, "M", {2}, {4.0f, -2.0f});
  Feed<float>(&ws, "L", {1}, {0.5f});
  Feed<float16>(&ws, "P", {2}, {10.0f, 2050.0f});
  // d = g + 0.5 p = {6, 1027}, m' = 0.5 m + 0.5 d = {5, 512.5}, the step 1.5 m' - 0.5 m.
  RunOp(&ws, std::string(R"(type: "FP16MomentumSGDUpdate" arg { name: "weight_decay" f: 0.5 }
                            arg { name: "nesterov" i: 1 })") +
                 kUpdate);
  const auto bits = [](const std::vector<float16>& values) {
    return std::vector<uint16_t>{values[0].x, values[1].x};
  };
  EXPECT_EQ(bits(Fetch<float16>(ws, "M")), bits({5.0f, 512.5f}));
  EXPECT_EQ(bits(Fetch<float16>(ws, "G")), bits({5.5f, 769.75f}));
  EXPECT_EQ(bits(Fetch<float16>(ws, "P")), bits({4.5f, 1280.25f}));
}

// No half is near 2^-30, but 2^14 times that is one.
TEST(FP16MomentumSGDUpdateTest, HasARateOfFullPrecision) {
  Workspace ws;
  Feed<float16>(&ws, "G", {1}, {16384.0f});
  Feed<float16>(&ws, "M", {1}, {0.0f});
  Feed<float>(&ws, "L", {1}, {0x1p-30f});
  Feed<float16>(&ws, "P", {1}, {0.0f});
  RunOp(&ws, std::string(R"(type: "FP16MomentumSGDUpdate" )") + kUpdate);
  EXPECT_EQ(Fetch<float16>(ws, "M")[0].x, float16(0x1p-16f).x);
  EXPECT_EQ(Fetch<float16>(ws, "P")[0].x, float16(-0x1p-16f).x);
}

TEST(SparseMomentumSGDUpdateTest, UpdatesARowOnceForEachOfItsIndices) {
  Workspace ws;
  Feed<float>(&ws, "G", {3, 1}, {1, 2, 3});
  Feed<float>(&ws, "M", {3, 1}, {4, -2, 8});
  Feed<float>(&ws, "L", {1}, {0.5f});
  Feed<float>(&ws, "P", {3, 1}, {10, 20, 30});
  Feed<int32_t>(&ws, "I", {3}, {2, 0, 2});
  RunOp(&ws, kSparse);
  ExpectTensor<float>(ws, "S", {3, 1}, {4.5f, 3, 3.75f});
  ExpectTensor<float>(ws, "M", {3, 1}, {3, -2, 3.75f});
  ExpectTensor<float>(ws, "P", {3, 1}, {7, 20, 21.75f});
  ExpectShapeInferred(&ws, kSparse);

  Feed<int64_t>(&ws, "I", {3}, {2, 0, 3});
  ExpectThrows([&] { RunOp(&ws, kSparse); },
               "index 3 at position 2 is out of range, want at least 0 and below 3");
  Feed<int64_t>(&ws, "I", {0}, {});
  Feed<float>(&ws, "G", {0, 1}, {});
  RunOp(&ws, kSparse);
  ExpectTensor<float>(ws, "S", {0, 1}, {});
}

TEST(SparseMomentumSGDUpdateTest, ChangesNothingIfAnIndexIsOutOfRange) {
  Workspace ws;
  FeedState(&ws);
  Feed<int64_t>(&ws, "I", {2}, {0, -1});
  ExpectThrows([&] { RunOp(&ws, kSparse); }, "index -1 at position 1 is out of range");
  ExpectTensor<float>(ws, "P", {2}, {10, 20});
  ExpectTensor<float>(ws, "M", {2}, {4, -2});
}

TEST(MomentumSGDTest, AcceptsEmptyTensorsAndRejectsOtherSizes) {
  Workspace ws;
  FeedState(&ws);
  Feed<float>(&ws, "Z", {0}, {});
  RunOp(&ws, R"(type: "MomentumSGD" input: "Z" input: "Z" input: "L" output: "S" output: "N")");
  ExpectTensor<float>(ws, "S", {0}, {});
  Feed<float>(&ws, "W", {3}, {1, 2, 3});
  Feed<int32_t>(&ws, "I", {2}, {0, 1});
  const auto rejects = [&](const char* op, const char* part) {
    ExpectThrows([&] { RunOp(&ws, op); }, part);
  };
  rejects(R"(type: "MomentumSGD" input: "G" input: "W" input: "L" output: "S" output: "N")",
          "elements of input 0 (grad) of shape [2], want as many as input 1 (moment) of shape [3]");
  rejects(R"(type: "MomentumSGD" input: "G" input: "M" input: "M" output: "S" output: "N")",
          "elements of input 2 (lr) of shape [2]");
  rejects(R"(type: "MomentumSGDUpdate" input: "G" input: "M" input: "L" input: "W" output: "S"
             output: "N" output: "W")",
          "elements of input 3 (param) of shape [3], want as many as input 0 (grad)");
  rejects(R"(type: "SparseMomentumSGDUpdate" input: "W" input: "M" input: "L" input: "P" input: "I"
             output: "S" output: "M" output: "P")",
          "input 0 (grad) has shape [3], want 1 elements, as a row of input 3 (param)");
}

TEST(MomentumSGDTest, HasNoGradient) {
  for (const char* type : {"MomentumSGD", "MomentumSGDUpdate", "SparseMomentumSGDUpdate"}) {
    ExpectThrows(
        [&] {
          DescribeGradient(std::string("type: \"") + type +
                           R"(" input: "G" input: "M" input: "L" input: "P" input: "I"
                             output: "G" output: "M" output: "P")");
        },
        type);
  }
}

}  // namespace
}  // namespace caffe2rt::test::momentum_sgd_test
