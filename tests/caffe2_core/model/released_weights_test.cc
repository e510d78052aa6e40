// Which weights a net needs no more, and that their readers get them exactly.
#include "caffe2_core/model/released_weights.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "caffe2_core/graph/passes/conv_layouts.h"
#include "caffe2_core/graph/shape_inference.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2_core/model/model_file.h"
#include "caffe2_core/model/net_memory.h"
#include "caffe2_core/model/predictor.h"
#include "caffe2_core/model/preparation.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/workspace.h"
#include "caffe2_core/tensor/storage.h"
#include "tests/support/operator_test.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::released_weights_test {
namespace {

constexpr size_t kBytes = 20000 * sizeof(float);

std::vector<float> FloatsOf(const Tensor& tensor) {
  return {tensor.data<float>(), tensor.data<float>() + tensor.numel()};
}

// A weight of 20,000 floats with a form that restores it.
void FeedWeight(const std::string& name, Workspace* ws) {
  const TransientWrites scope;
  Feed<float>(ws, name, {20000}, std::vector<float>(20000, 3));
  const Tensor& weight = ws->GetBlob(name)->Get<Tensor>();
  weight.storage()->forms().Get(
      "form", 1, [](void*) {},
      {.offset = 0, .nbytes = kBytes, .restore = [](const void*, void* data) {
         std::fill_n(static_cast<float*>(data), 20000, 3.0f);
       }});
}

TEST(ReleasedWeightsTest, AreThoseThatOnlyTheNetReads) {
  const std::string net = R"(name: "n" op { type: "Add" input: "x" input: "w" output: "y" })";
  struct Case {
    const char *name, *rest;
    std::set<std::string> kept;
    std::function<void(Workspace*)> change;
    size_t want;
  };
  const auto nothing = [](Workspace*) {};
  const Case cases[] = {
      {"read", "", {}, nothing, kBytes},
      {"kept", "", {"w"}, nothing, 0},
      {"an output", R"(external_output: "w")", {}, nothing, 0},
      {"written", R"(op { type: "Relu" input: "w" output: "w" })", {}, nothing, 0},
      {"a view is written",
       R"(op { type: "Alias" input: "w" output: "v" } op { type: "Relu" input: "v" output: "v" })",
       {},
       nothing,
       0},
      {"another blob, not of the net, has the memory",
       "",
       {},
       [](Workspace* ws) {
         *ws->CreateBlob("other")->GetMutableTensor(CPU) = ws->GetBlob("w")->Get<Tensor>();
       },
       0},
      {"without a form",
       "",
       {},
       [](Workspace* ws) { Feed<float>(ws, "w", {20000}, std::vector<float>(20000, 3)); },
       0},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Workspace ws;
    FeedWeight("w", &ws);
    FeedWeight("unused", &ws);
    c.change(&ws);
    EXPECT_EQ(ReleaseWeights(ParseNet(net + c.rest), c.kept, &ws), c.want);
    EXPECT_EQ(FloatsOf(ws.GetBlob("w")->Get<Tensor>()), std::vector<float>(20000, 3));
  }
}

TEST(ReleasedWeightsTest, AreNotThoseOfAParent) {
  Workspace parent;
  FeedWeight("w", &parent);
  Workspace ws(&parent);
  EXPECT_EQ(ReleaseWeights(ParseNet(R"(op { type: "Relu" input: "w" output: "y" })"), {}, &ws), 0u);
}

constexpr char kConvNet[] = R"(name: "conv"
  op { type: "Conv" input: "x" input: "w" output: "y" arg { name: "kernel" i: 3 }
       arg { name: "input_min" f: -1 } arg { name: "input_max" f: 1 } }
  op { type: "Conv" input: "y" input: "w" output: "z" arg { name: "kernel" i: 3 }
       arg { name: "input_min" f: -4 } arg { name: "input_max" f: 4 } }
  external_input: "x" external_input: "w" external_output: "z")";

// A filter in int8 or bf16 cannot restore the floats, the file can.
TEST(ReleasedWeightsTest, OfAFileAreExactWhereFiltersAreRounded) {
  const TempDir dir;
  NetDef init = ParseNet(
      R"(op { type: "GivenTensorFill" output: "w" arg { name: "shape" ints: [64, 64, 3, 3] }
              arg { name: "values" } })");
  std::vector<float> weight(64 * 64 * 9);
  for (size_t i = 0; i < weight.size(); ++i) {
    weight[i] = static_cast<float>(i * 7919 % 10007) / 100000 - 0.05f;
    init.mutable_op(0)->mutable_arg(1)->add_floats(weight[i]);
  }
  const ModelFileOptions files = {.init_nets = {dir.Write("init.pb", init.SerializeAsString())},
                                  .predict_net = dir.Write("net.pbtxt", kConvNet)};
  Tensor x(std::vector<int64_t>{1, 64, 28, 28}, CPU);
  for (int64_t i = 0; i < x.numel(); ++i)
    x.mutable_data<float>()[i] = static_cast<float>(i * 37 % 201) / 100 - 1;
  const auto answer = [&](Predictor* predictor) {
    std::vector<Tensor> outputs;
    EXPECT_TRUE((*predictor)({x}, &outputs));
    return FloatsOf(outputs.at(0));
  };
  Predictor plain(LoadModel(files));
  const std::vector<float> exact = answer(&plain);
  for (const Precision precision : {Precision::kInt8, Precision::kBfloat16}) {
    const std::string why_not = precision == Precision::kInt8 ? WhyNoInt8Convs() : WhyNoBf16Convs();
    if (!why_not.empty()) continue;
    SCOPED_TRACE(PrecisionName(precision));
    // With `deterministic`, the choice of int8 does not depend on the instruction set.
    PredictorOptions options{.deterministic = precision == Precision::kInt8,
                             .precision = precision};
    options.input_shapes["x"] = CreateTensorShape(x.dims(), TensorProto::FLOAT);
    Predictor predictor(LoadModel(files), options);
    const std::vector<float> got = answer(&predictor);
    EXPECT_NE(got, exact);
    const Tensor& held = predictor.ws()->GetBlob("w")->Get<Tensor>();
    if (precision == Precision::kInt8) {
      EXPECT_TRUE(held.storage()->released());
    }
    EXPECT_EQ(FloatsOf(held), weight);
    EXPECT_EQ(answer(&predictor), got);
  }
}

constexpr char kInit[] = R"(name: "init"
  op { type: "UniformFill" output: "w" arg { name: "shape" ints: 200 ints: 300 }
       device_option { random_seed: 7 } }
  op { type: "UniformFill" output: "b" arg { name: "shape" ints: 200 }
       device_option { random_seed: 8 } })";
constexpr char kFc[] = R"(name: "fc" external_output: "y"
  op { type: "FC" input: "x" input: "w" input: "b" output: "y" } )";
constexpr int64_t kWeightBytes = 200 * 300 * 4;

class ReleasedWeightsOfRunTest : public testing::Test {
 protected:
  ReleasedWeightsOfRunTest() {
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
    const size_t bytes = ReleaseWeights(prepared.net, {}, &ws_);
    EXPECT_EQ(ReleaseWeights(prepared.net, {}, &ws_), 0u) << "again";
    for (int run = 0; run < runs; ++run) net.Run();
    // The same net with its weights.
    Preparation plain = PrepareNet(ParseNet(ops), {.inputs = {"x"}}, &plain_ws_);
    PreparedNet plain_net(plain.net, {}, std::make_shared<ArenaStock>(), &plain_ws_);
    plain_net.PlanAhead(plain);
    for (int run = 0; run < runs; ++run) plain_net.Run();
    EXPECT_EQ(Fetch<float>(ws_, "y"), Fetch<float>(plain_ws_, "y"));
    return bytes;
  }
  bool IsReleased(const std::string& name) const {
    return ws_.GetBlob(name)->Get<Tensor>().storage()->released();
  }

  Workspace ws_, plain_ws_;
};

TEST_F(ReleasedWeightsOfRunTest, AConstantIsReadFromItsForms) {
  EXPECT_EQ(Release(kFc), static_cast<size_t>(kWeightBytes));
  EXPECT_TRUE(IsReleased("w"));
  EXPECT_FALSE(IsReleased("b")) << "it has no forms";
  EXPECT_EQ(Fetch<float>(ws_, "w"), Fetch<float>(plain_ws_, "w")) << "restored";
  EXPECT_FALSE(IsReleased("w"));
}

TEST_F(ReleasedWeightsOfRunTest, AWriterOfAConstantGetsACopy) {
  Release(kFc);
  const Tensor held = ws_.GetBlob("w")->Get<Tensor>();
  ws_.GetBlob("w")->GetMutable<Tensor>()->mutable_data<float>()[0] = 42;
  EXPECT_EQ(held.data<float>()[0], Fetch<float>(plain_ws_, "w")[0]);
}

TEST_F(ReleasedWeightsOfRunTest, WhatTheNetChangesStays) {
  const std::string changes = kFc + std::string(R"(op { type: "Relu" input: "w" output: "w" })");
  EXPECT_EQ(Release(changes, 1), 0u);
  EXPECT_FALSE(IsReleased("w"));
}

}  // namespace
}  // namespace caffe2rt::test::released_weights_test
