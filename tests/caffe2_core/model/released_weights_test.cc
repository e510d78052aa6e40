#include "caffe2_core/model/released_weights.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "caffe2_core/model/net_memory.h"
#include "caffe2_core/runtime/net.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::released_weights_test {
namespace {

constexpr char kInit[] = R"(name: "init"
  op { type: "UniformFill" output: "w" arg { name: "shape" ints: 200 ints: 300 }
       device_option { random_seed: 7 } }
  op { type: "UniformFill" output: "b" arg { name: "shape" ints: 200 }
       device_option { random_seed: 8 } })";
constexpr char kFc[] = R"(name: "fc" external_output: "y"
  op { type: "FC" input: "x" input: "w" input: "b" output: "y" } )";
constexpr int64_t kWeightBytes = 200 * 300 * 4;

class ReleasedWeightsTest : public testing::Test {
 protected:
  ReleasedWeightsTest() {
    ws_.RunNetOnce(ParseNet(kInit));
    FeedRandom(&ws_, "x", {64, 300});
    plain_ws_.RunNetOnce(ParseNet(kInit));
    FeedRandom(&plain_ws_, "x", {64, 300});
  }
  // What the net with these operators computes, after its weights were released twice.
  size_t Release(const std::string& ops, int runs = 2) {
    Preparation prepared = PrepareNet(ParseNet(ops), {.inputs = {"x"}}, &ws_);
    PreparedNet net(prepared.net, {}, std::make_shared<ArenaStock>(), &ws_);
    net.PlanAhead(prepared);
    const size_t bytes = ReleaseConstants(prepared.net, prepared.options, {}, &ws_);
    EXPECT_EQ(ReleaseConstants(prepared.net, prepared.options, {}, &ws_), 0u) << "again";
    for (int run = 0; run < runs; ++run) net.Run();
    plain_ws_.RunNetOnce(ParseNet(ops));
    EXPECT_EQ(Fetch<float>(ws_, "y"), Fetch<float>(plain_ws_, "y"));
    return bytes;
  }
  bool IsReleased(const std::string& name) const {
    return ws_.GetBlob(name)->Get<Tensor>().storage()->released();
  }

  Workspace ws_, plain_ws_;
};

TEST_F(ReleasedWeightsTest, AConstantIsReadFromItsForms) {
  EXPECT_EQ(Release(kFc), static_cast<size_t>(kWeightBytes));
  EXPECT_TRUE(IsReleased("w"));
  EXPECT_FALSE(IsReleased("b")) << "it has no forms";
  EXPECT_EQ(Fetch<float>(ws_, "w"), Fetch<float>(plain_ws_, "w")) << "restored";
  EXPECT_FALSE(IsReleased("w"));
}

TEST_F(ReleasedWeightsTest, AWriterOfAConstantGetsACopy) {
  Release(kFc);
  const Tensor held = ws_.GetBlob("w")->Get<Tensor>();
  ws_.GetBlob("w")->GetMutable<Tensor>()->mutable_data<float>()[0] = 42;
  EXPECT_EQ(held.data<float>()[0], Fetch<float>(plain_ws_, "w")[0]);
}

TEST_F(ReleasedWeightsTest, WhatTheNetChangesStays) {
  const std::string changes = kFc + std::string(R"(op { type: "Relu" input: "w" output: "w" })");
  EXPECT_EQ(Release(changes, 1), 0u);
  EXPECT_FALSE(IsReleased("w"));
}

}  // namespace
}  // namespace caffe2rt::test::released_weights_test
