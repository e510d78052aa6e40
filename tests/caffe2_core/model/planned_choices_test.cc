// Choices of nets that are planned before or between their runs, and of the weights that their init
// nets give them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/model/init_net.h"
#include "caffe2_core/model/model_file.h"
#include "caffe2_core/model/net_memory.h"
#include "caffe2_core/model/predictor.h"
#include "caffe2_core/model/preparation.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/tensor/prepared_forms.h"
#include "caffe2_core/tensor/storage.h"
#include "tests/caffe2_core/model/predictor_nets.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::planned_choices_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TensorShape FloatsOf(const std::vector<int64_t>& dims) {
  return CreateTensorShape(dims, TensorProto::FLOAT);
}

// --- plans of several shapes ---

// Tile makes n copies of x, which only a run knows.
constexpr char kCopies[] = R"(
    name: "copies" external_input: "x" external_input: "n" external_output: "y"
    op { type: "Tile" input: "x" input: "n" output: "a" arg { name: "axis" i: 0 } }
    op { type: "Negative" input: "a" output: "b" }
    op { type: "Negative" input: "b" output: "y" })";

// Each shape of x learns its sizes in its first run, and is planned with them when it comes again,
// also if other shapes have run between.
TEST(PlannedChoicesTest, EveryShapeIsPlannedWithWhatItLearned) {
  for (const size_t shapes : {1, 2, 3, 4}) {
    SCOPED_TRACE(shapes);
    Workspace ws;
    Feed<int32_t>(&ws, "n", {1}, {3});
    FeedRandom(&ws, "x", {1});
    NetMemory memory(ws.CreateNet(ParseNet(kCopies)), {}, std::make_shared<ArenaStock>());
    const auto run = [&](size_t shape) {
      const auto size = static_cast<int64_t>(shape + 1) * 50;
      FeedRandom(&ws, "x", {size});
      ASSERT_TRUE(memory.Run());
      std::vector<float> want;
      for (int copy = 0; copy < 3; ++copy) {
        for (const float value : Fetch<float>(ws, "x")) want.push_back(value);
      }
      EXPECT_EQ(Fetch<float>(ws, "y"), want);
    };
    for (size_t shape = 0; shape < shapes; ++shape) {
      run(shape);
      EXPECT_EQ(memory.planned_blobs(), 0u);
    }
    EXPECT_EQ(memory.plans_made(), static_cast<int>(shapes));
    for (int round = 0; round < 2; ++round) {
      for (size_t shape = 0; shape < shapes; ++shape) {
        run(shape);
        EXPECT_EQ(memory.planned_blobs(), 2u) << "a and b, shape " << shape;
        EXPECT_GE(memory.planned_bytes(), (shape + 1) * 50 * 3 * sizeof(float));
      }
      EXPECT_EQ(memory.plans_made(), static_cast<int>(2 * shapes));
    }
  }
}

// --- plans ahead ---

constexpr char kThreeByThree[] = R"(arg { name: "kernel" i: 3 })";

std::string TwoConvs() {
  return MakeString(R"(name: "convs" external_output: "y"
      op { type: "Relu" input: "x" output: "r" }
      op { type: "Conv" input: "r" input: "w" output: "c" )",
                    kThreeByThree, R"( } op { type: "Relu" input: "c" output: "s" }
      op { type: "Conv" input: "s" input: "w" output: "y" )",
                    kThreeByThree, " }");
}

struct AheadNet {
  AheadNet(const std::set<std::string>& inputs, std::shared_ptr<ArenaStock> arenas,
           const std::string& text = TwoConvs()) {
    ws.CreateBlob("x");
    FeedRandom(&ws, "w", {16, 16, 3, 3}, -0.1f, 0.1f, 3);
    preparation = PrepareNet(
        ParseNet(text),
        {.optimize = false, .inputs = inputs, .input_shapes = {{"x", FloatsOf({1, 16, 12, 12})}}},
        &ws);
    net = std::make_unique<PreparedNet>(preparation.net, std::set<std::string>(), arenas, &ws);
  }
  Workspace ws;
  Preparation preparation;
  std::unique_ptr<PreparedNet> net;
};

TEST(PlannedChoicesTest, WithoutMemoryOperatorsWithWeightsAreLeftOut) {
  AheadNet with_memory({"x"}, std::make_shared<ArenaStock>());
  EXPECT_THAT(with_memory.net->PlanAhead(with_memory.preparation), IsEmpty());
  AheadNet without({"x"}, nullptr);
  EXPECT_THAT(without.net->PlanAhead(without.preparation), ElementsAre(1, 3));
  AheadNet no_weights({"x"}, nullptr, R"(name: "relu" external_output: "y"
      op { type: "Relu" input: "x" output: "r" } op { type: "Relu" input: "r" output: "y" })");
  EXPECT_THAT(no_weights.net->PlanAhead(no_weights.preparation), IsEmpty());
}

// The elements of an input are others in each run: nothing is prepared from them ahead. The net is
// too large for a rehearsal: 2 * 64 * 64 * 49 * 78 * 78 multiply-adds or more.
TEST(PlannedChoicesTest, InputsAreNotPreparedAhead) {
  const std::string kernel = R"(arg { name: "kernel" i: 7 })";
  const std::string text = MakeString(R"(name: "large" external_output: "y"
      op { type: "Conv" input: "x" input: "w7" output: "c" )",
                                      kernel, R"( }
      op { type: "Conv" input: "c" input: "w7" output: "y" )",
                                      kernel, " }");
  for (const bool is_input : {false, true}) {
    SCOPED_TRACE(is_input);
    Workspace ws;
    ws.CreateBlob("x");
    FeedRandom(&ws, "w7", {64, 64, 7, 7}, -0.1f, 0.1f, 3);
    PreparationOptions options = {
        .optimize = false, .inputs = {"x"}, .input_shapes = {{"x", FloatsOf({1, 64, 90, 90})}}};
    if (is_input) options.inputs.insert("w7");
    const Preparation preparation = PrepareNet(ParseNet(text), options, &ws);
    PreparedNet net(preparation.net, {}, std::make_shared<ArenaStock>(), &ws);
    const int64_t before = PreparedForms::Count().made;
    net.PlanAhead(preparation);
    EXPECT_EQ(PreparedForms::Count().made - before > 0, !is_input);
  }
}

// Notes whether the output of an operator has a shape when it begins.
class OutputObserver final : public ObserverBase<OperatorBase> {
 public:
  OutputObserver(OperatorBase* op, const Blob& output, std::vector<bool>* shaped)
      : ObserverBase<OperatorBase>(op), output_(output), shaped_(*shaped) {}
  void Start() override {
    shaped_.push_back(output_.IsType<Tensor>() && output_.Get<Tensor>().IsShaped());
  }

 private:
  const Blob& output_;
  std::vector<bool>& shaped_;
};

// The runs of a rehearsal begin as the first run of the net will: without the last results.
TEST(PlannedChoicesTest, RehearsalsForgetTheOutputsOfTheRunBefore) {
  Workspace ws;
  ws.CreateBlob("x");
  const Preparation preparation = PrepareNet(
      ParseNet(R"(name: "n" external_output: "y" op { type: "Relu" input: "x" output: "y" })"),
      {.optimize = false, .inputs = {"x"}, .input_shapes = {{"x", FloatsOf({2, 4})}}}, &ws);
  PreparedNet net(preparation.net, {}, std::make_shared<ArenaStock>(), &ws);
  std::vector<bool> shaped;
  OperatorBase* const op = net.net().GetOperators().at(0);
  op->AttachObserver(std::make_unique<OutputObserver>(op, *ws.GetBlob("y"), &shaped));
  net.PlanAhead(preparation);
  ASSERT_EQ(shaped.size(), 3u);
  EXPECT_FALSE(shaped[1]);
  EXPECT_FALSE(shaped[2]);
}

// --- weights ---

TEST(PlannedChoicesTest, InitNetsAreTakenWithTheirWeights) {
  const auto fill = [](const char* name, const std::vector<float>& values) {
    NetDef net = ParseNet(MakeString("op { type: 'GivenTensorFill' output: '", name,
                                     "' arg { name: 'shape' ints: ", values.size(),
                                     " } arg { name: 'values' } }"));
    for (const float value : values) net.mutable_op(0)->mutable_arg(1)->add_floats(value);
    return net.SerializeAsString();
  };
  Model model = LoadModelFromMemory({fill("a", {2}), fill("b", {3, 4}), fill("c", {5, 6, 7})},
                                    "op { type: 'Relu' input: 'a' output: 'y' }");
  std::vector<NetWithWeights> nets = TakeInitNets(&model);
  ASSERT_EQ(nets.size(), 3u);
  EXPECT_TRUE(model.init_nets.empty());
  EXPECT_TRUE(model.init_weights.empty());
  Workspace ws;
  for (NetWithWeights& net : nets) {
    EXPECT_EQ(net.weights.size(), 1u) << net.net.op(0).output(0);
    RunInitNet(std::move(net), &ws);
  }
  EXPECT_THAT(Fetch<float>(ws, "a"), ElementsAre(2));
  EXPECT_THAT(Fetch<float>(ws, "b"), ElementsAre(3, 4));
  EXPECT_THAT(Fetch<float>(ws, "c"), ElementsAre(5, 6, 7));

  Model written;
  written.init_nets = {ParseNet("op { type: 'ConstantFill' output: 'd' }"),
                       ParseNet("op { type: 'ConstantFill' output: 'e' }")};
  nets = TakeInitNets(&written);
  ASSERT_EQ(nets.size(), 2u);
  EXPECT_EQ(nets[1].net.op(0).output(0), "e");
  EXPECT_TRUE(nets[1].weights.empty());
  EXPECT_THAT(TakeInitNets(&written), IsEmpty());
}

// The parent may use what its weights and those of the init net share.
TEST(PlannedChoicesTest, PredictorsWithAParentKeepTheirWeights) {
  const NetDef init = ParseNet(R"(
      op { type: "UniformFill" output: "w" arg { name: "shape" ints: 200 ints: 300 }
           device_option { random_seed: 7 } }
      op { type: "ConstantFill" output: "b" arg { name: "shape" ints: 200 } })");
  const NetDef net = ParseNet(R"(name: "fc"
      op { type: "FC" input: "x" input: "w" input: "b" output: "y" }
      external_input: "x" external_input: "w" external_input: "b" external_output: "y")");
  for (const bool has_parent : {false, true}) {
    Workspace parent;
    Predictor predictor(init, net, has_parent ? &parent : nullptr);
    Tensor x(std::vector<int64_t>{64, 300}, CPU);
    std::fill_n(x.mutable_data<float>(), x.numel(), 1.0f);
    std::vector<Tensor> outputs;
    ASSERT_TRUE(predictor({x}, &outputs));
    EXPECT_EQ(predictor.ws()->GetBlob("w")->Get<Tensor>().storage()->released(), !has_parent);
  }
}

}  // namespace
}  // namespace caffe2rt::test::planned_choices_test
