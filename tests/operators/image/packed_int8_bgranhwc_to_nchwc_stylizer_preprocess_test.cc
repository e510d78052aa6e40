#include "caffe2_core/runtime/net.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::packed_int8_bgranhwc_to_nchwc_stylizer_preprocess_test {
namespace {

using namespace test;  // used throughout this file

constexpr char kNoise[] = "__CAFFE2_STYLIZER_NOISE__";
constexpr char kUnpack[] = R"(type: "PackedInt8BGRANHWCToNCHWCStylizerPreprocess" input: "X"
                              input: "mean" output: "Y")";

TEST(StylizerPreprocessTest, SubtractsTheMeanAndDropsAlpha) {
  Workspace ws;
  Feed<uint8_t>(&ws, "X", {1, 1, 2, 4}, {10, 20, 30, 40, 50, 60, 255, 80});
  Feed<float>(&ws, "mean", {3}, {1, 2, 3});
  const std::string op = std::string(kUnpack) + R"( arg { name: "noise_std" f: 0 })";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {1, 3, 1, 2}, {9, 49, 18, 58, 27, 252});
  ExpectShapeInferred(&ws, op);
}

// The noise 0 .. 6 repeats every 7 values. Every image begins with value 0 again.
TEST(StylizerPreprocessTest, AddsTheWorkspacesNoiseFromTheStartOfEachImage) {
  Workspace ws;
  FeedRange<float>(&ws, kNoise, {7});
  Feed<uint8_t>(&ws, "X", {2, 5, 4, 4}, std::vector<uint8_t>(160, 100));
  Feed<float>(&ws, "mean", {3}, {100, 100, 100});
  RunOp(&ws, kUnpack);
  std::vector<float> want;
  for (int n = 0; n < 2; ++n) {
    for (int c = 0; c < 3; ++c) {
      for (int p = 0; p < 20; ++p) want.push_back(static_cast<float>((3 * p + c) % 7));
    }
  }
  ExpectTensor<float>(ws, "Y", {2, 3, 5, 4}, want);
}

TEST(StylizerPreprocessTest, TheFirstOperatorOfAWorkspaceMakesTheNoise) {
  Workspace ws;
  Feed<uint8_t>(&ws, "X", {1, 1, 1, 4}, {0, 0, 0, 0});
  Feed<float>(&ws, "mean", {3}, {0, 0, 0});
  RunOp(&ws, std::string(kUnpack) + R"( arg { name: "noise_size" i: 1000 })");
  const std::vector<float> noise = Fetch<float>(ws, kNoise);
  ASSERT_EQ(noise.size(), 1000u);
  double sum = 0, squares = 0;
  for (const float value : noise) sum += value, squares += value * value;
  EXPECT_NEAR(sum / 1000, 0, 1.5);  // five standard deviations of the mean
  EXPECT_NEAR(std::sqrt(squares / 1000), 10, 1.2);
  RunOp(&ws, std::string(kUnpack) + R"( arg { name: "noise_std" f: 0 })");
  EXPECT_EQ(Fetch<float>(ws, kNoise), noise);
}

TEST(StylizerPreprocessTest, NoiseHas491ValuesByDefault) {
  Workspace ws;
  Feed<uint8_t>(&ws, "X", {1, 1, 1, 4}, {0, 0, 0, 0});
  Feed<float>(&ws, "mean", {3}, {0, 0, 0});
  RunOp(&ws, kUnpack);
  EXPECT_EQ(DimsOf(ws, kNoise), std::vector<int64_t>{491});
}

// The noise is that of the workspace's seed, whatever other random numbers are drawn.
TEST(StylizerPreprocessTest, NoiseFollowsTheSeedOfTheWorkspace) {
  const auto noise_of = [](uint64_t seed, bool after_others) {
    Workspace ws;
    ws.SetRandomSeed(seed);
    Feed<uint8_t>(&ws, "X", {1, 1, 1, 4}, {0, 0, 0, 0});
    Feed<float>(&ws, "mean", {3}, {0, 0, 0});
    if (after_others) RunOp(&ws, "type: 'GaussianFill' output: 'z' arg { name: 'shape' ints: 9 }");
    RunOp(&ws, std::string(kUnpack) + R"( name: "a" arg { name: "noise_size" i: 20 })");
    return Fetch<float>(ws, kNoise);
  };
  const std::vector<float> noise = noise_of(3, false);
  EXPECT_EQ(noise_of(3, false), noise);
  EXPECT_EQ(noise_of(3, true), noise);
  EXPECT_NE(noise_of(4, false), noise);
}

TEST(StylizerPreprocessTest, LaterRunsFollowTheSizeOfTheImage) {
  Workspace ws;
  FeedRange<float>(&ws, kNoise, {4});
  Feed<float>(&ws, "mean", {3}, {0, 0, 0});
  Feed<uint8_t>(&ws, "X", {1, 1, 5, 4}, std::vector<uint8_t>(20, 0));
  NetDef def;
  def.set_name("unpack");
  *def.add_op() = ParseOp(kUnpack);
  NetBase* const net = ws.CreateNet(def);
  ASSERT_TRUE(net->Run());
  ExpectTensor<float>(ws, "Y", {1, 3, 1, 5}, {0, 3, 2, 1, 0, 1, 0, 3, 2, 1, 2, 1, 0, 3, 2});
  Feed<uint8_t>(&ws, "X", {2, 1, 1, 4}, std::vector<uint8_t>(8, 0));
  ASSERT_TRUE(net->Run());
  ExpectTensor<float>(ws, "Y", {2, 3, 1, 1}, {0, 1, 2, 0, 1, 2});
  Feed<float>(&ws, "mean", {4}, {0, 0, 0, 0});
  ExpectThrows([&] { net->Run(); }, "elements of input 1 (mean)");
}

TEST(StylizerPreprocessTest, EmptyImagesStayEmpty) {
  Workspace ws;
  Feed<uint8_t>(&ws, "X", {1, 0, 3, 4}, {});
  Feed<float>(&ws, "mean", {3}, {0, 0, 0});
  RunOp(&ws, kUnpack);
  ExpectTensor<float>(ws, "Y", {1, 3, 0, 3}, {});
}

TEST(StylizerPreprocessTest, NamesWhatDoesNotFit) {
  Workspace ws;
  Feed<float>(&ws, "mean", {3}, {0, 0, 0});
  FeedRange<uint8_t>(&ws, "X", {1, 1, 1, 3});
  ExpectThrows([&] { RunOp(&ws, kUnpack); }, "input 0 (X) has shape [1, 1, 1, 3]");
  FeedRange<float>(&ws, "X", {1, 1, 1, 4});
  ExpectThrows([&] { RunOp(&ws, kUnpack); }, "float");
  ExpectThrows([&] { RunOp(&ws, std::string(kUnpack) + R"(arg { name: "noise_size" i: 0 })"); },
               "argument \"noise_size\" is 0, want above 0");
  ExpectThrows([&] { RunOp(&ws, std::string(kUnpack) + R"(arg { name: "noise_std" f: -1 })"); },
               "argument \"noise_std\" is -1, want at least 0");
  FeedRange<uint8_t>(&ws, "X", {1, 1, 1, 4});
  Feed<float>(&ws, kNoise, {0}, {});
  ExpectThrows([&] { RunOp(&ws, kUnpack); }, kNoise);
}

}  // namespace
}  // namespace caffe2rt::packed_int8_bgranhwc_to_nchwc_stylizer_preprocess_test
