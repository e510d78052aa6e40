#include "caffe2_core/graph/passes/onednn_joins.h"

#include <cmath>
#include <memory>

#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/passes/conv_layouts.h"
#include "caffe2_core/graph/passes/onednn_regions.h"
#include "caffe2_core/model/net_memory.h"
#include "caffe2_core/runtime/net.h"
#include "contexts/onednn/onednn_tensor.h"
#include "tests/caffe2_core/graph/passes/pass_run.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::onednn_joins_test {
namespace {

using test::PassRun;
using test::Replaced;

constexpr char kRange[] = R"(arg { name: "input_min" f: 0 } arg { name: "input_max" f: 3 } )";

std::string Conv(const std::string& x, const std::string& w, const std::string& y) {
  return "op { type: \"Conv\" input: \"" + x + "\" input: \"" + w + "\" output: \"" + y +
         "\" arg { name: \"kernel\" i: 3 } arg { name: \"pad\" i: 1 } " + kRange + "} ";
}

std::string Join(const std::string& x, const std::string& z, const std::string& y) {
  return "op { type: \"Concat\" input: \"" + x + "\" input: \"" + z + "\" output: \"" + y +
         "\" output: \"" + y + "_split\" } ";
}

// SpatialBN of x, whose parameters end in `channels`, with Relu and a convolution to 32 channels.
std::string Dense(const std::string& x, const std::string& channels, const std::string& y) {
  std::string text = "op { type: \"SpatialBNFusion\" input: \"" + x + "\" ";
  for (const char* name : {"s", "b", "m", "v"}) {
    text += MakeString("input: \"", name, channels, "\" ");
  }
  return text + "output: \"" + y + "_n\" arg { name: \"is_test\" i: 1 } " +
         R"(arg { name: "activation" s: "Relu" } } )" + Conv(y + "_n", "w" + channels, y);
}

// As a block of DenseNet.
const std::string kChain = Conv("x", "w3", "a") + Dense("a", "32", "c1") + Join("a", "c1", "j1") +
                           Dense("j1", "64", "c2") + Join("j1", "c2", "j2") +
                           Dense("j2", "96", "y");

class OnednnJoinsTest : public testing::Test {
 protected:
  OnednnJoinsTest() {
    uint32_t seed = 0;
    for (const int64_t channels : {3, 32, 64, 96}) {
      const std::string name = MakeString(channels);
      const float most = 1 / std::sqrt(static_cast<float>(9 * channels));
      test::FeedRandom(&run_.ws, "w" + name, {32, channels, 3, 3}, -most, most, ++seed);
      test::FeedRandom(&run_.ws, "b" + name, {channels}, 0, 1, ++seed);
      for (const char* other : {"s", "m", "v"}) {
        test::FeedRandom(&run_.ws, other + name, {channels}, 0.5f, 1, ++seed);
      }
    }
    run_.precision = Precision::kInt8;
  }

  // The argument of each Concat; "-" if it has none.
  std::string BlockedInputs(const std::string& text) {
    (void)run_(PlaceOnednnRegions, text);
    std::string found;
    for (const OperatorDef& op : run_.net.op()) {
      if (op.type() != "Concat") continue;
      const Argument* const blocked = GetArgumentPtr(op, "blocked_inputs");
      found += blocked == nullptr ? "-" : MakeString(blocked->i());
    }
    return found;
  }

  PassRun run_;
};

TEST_F(OnednnJoinsTest, BlocksChainsThatOnlyNormalizationToBytesReads) {
  if (!WhyNoInt8Convs().empty()) GTEST_SKIP() << WhyNoInt8Convs();
  if (!MultipliesWholeBytes()) GTEST_SKIP() << "without VNNI, bytes do not pay with 64 channels";
  EXPECT_EQ(BlockedInputs(kChain), "01");
  // What a file says does not hold for this placement.
  const std::string stated = R"(output: "j2" output: "j2_split" )";
  EXPECT_EQ(
      BlockedInputs(Replaced(kChain, stated, stated + R"(arg { name: "blocked_inputs" i: 2 } )")),
      "01");
  run_.precision = Precision::kFloat32;
  EXPECT_EQ(BlockedInputs(kChain), "--");
  EXPECT_EQ(
      BlockedInputs(Replaced(kChain, stated, stated + R"(arg { name: "blocked_inputs" i: 2 } )")),
      "--1");
}

TEST_F(OnednnJoinsTest, LeavesJoinsThatSomethingElseReads) {
  if (!WhyNoInt8Convs().empty()) GTEST_SKIP() << WhyNoInt8Convs();
  // A convolution, the caller, and no other join.
  EXPECT_EQ(BlockedInputs(kChain + Conv("j2", "w96", "z")), "--");
  run_.kept = {"y", "j1"};
  EXPECT_EQ(BlockedInputs(kChain), "--");
  run_.kept = {"y"};
  EXPECT_EQ(BlockedInputs(Conv("x", "w3", "a") + Dense("a", "32", "c1") + Join("a", "c1", "j1") +
                          Dense("j1", "64", "y")),
            "-");
  // The first join is read as the second input of the other one.
  EXPECT_EQ(
      BlockedInputs(Replaced(kChain, R"(input: "j1" input: "c2")", R"(input: "c2" input: "j1")")),
      "--");
}

TEST_F(OnednnJoinsTest, ComputesNearlyTheSameValues) {
  if (!WhyNoInt8Convs().empty()) GTEST_SKIP() << WhyNoInt8Convs();
  const std::string text = R"(name: "n" )" + kChain;
  test::FeedRandom(&run_.ws, "x", {1, 3, 9, 7}, 0, 1, 99);
  ASSERT_TRUE(run_.ws.RunNetOnce(test::ParseNet(text)));
  const std::vector<float> exact = test::Fetch<float>(run_.ws, "y");
  for (const char* name : {"a", "c1_n", "c1", "j1", "c2_n", "c2", "j2", "y_n", "y"}) {
    run_.ws.RemoveBlob(name);
  }
  (void)run_(PlaceOnednnRegions, text);
  NetMemory memory(run_.ws.CreateNet(run_.net), {}, std::make_shared<ArenaStock>());
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(memory.Run());
  const auto joined = [&](const char* name) -> const Tensor& {
    return run_.ws.GetBlob(name)->Get<Tensor>();
  };
  for (const char* name : {"j1_ideep", "j2_ideep"}) {
    EXPECT_EQ(FormatOf(joined(name)), OnednnFormat::kBlocked16) << name;
  }
  EXPECT_EQ(OnednnMemory(joined("j1_ideep")), OnednnMemory(joined("j2_ideep"))) << "copied";
  const std::vector<float> y = test::Fetch<float>(run_.ws, "y");
  ASSERT_EQ(y.size(), exact.size());
  double signal = 0, noise = 0;
  for (size_t i = 0; i < y.size(); ++i) {
    signal += exact[i] * exact[i];
    noise += (y[i] - exact[i]) * (y[i] - exact[i]);
  }
  EXPECT_LT(noise, 1e-3 * signal);  // above 30 dB
}

}  // namespace
}  // namespace caffe2rt::onednn_joins_test
