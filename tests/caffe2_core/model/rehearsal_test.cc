#include "caffe2_core/model/rehearsal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "caffe2_core/model/model_file.h"
#include "caffe2_core/model/net_memory.h"
#include "caffe2_core/model/predictor.h"
#include "caffe2_core/model/preparation.h"
#include "caffe2_core/runtime/net.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::rehearsal_test {
namespace {

using test::Feed;
using test::FeedRandom;
using test::Fetch;
using test::ParseNet;

class CountingObserver final : public ObserverBase<OperatorBase> {
 public:
  CountingObserver(OperatorBase* op, int* runs) : ObserverBase<OperatorBase>(op), runs_(runs) {}
  void Start() override { ++*runs_; }

 private:
  int* const runs_;
};

TensorShape Floats(const std::vector<int64_t>& dims) {
  return CreateTensorShape(dims, TensorProto::FLOAT);
}

struct Rehearsed {
  Rehearsed(const std::string& ops, Workspace* ws, const ShapeMap& shapes)
      : preparation(PrepareNet(ParseNet("name: \"n\" external_output: \"y\" " + ops),
                               {.optimize = false, .inputs = {"x", "l"}, .input_shapes = shapes},
                               ws)),
        net(preparation.net, {}, std::make_shared<ArenaStock>(), ws) {
    const std::vector<OperatorBase*> operators = net.net().GetOperators();
    runs.resize(operators.size(), 0);
    for (size_t i = 0; i < operators.size(); ++i)
      operators[i]->AttachObserver(std::make_unique<CountingObserver>(operators[i], &runs[i]));
    net.PlanAhead(preparation);
  }
  std::vector<int> runs;  // by operator
  Preparation preparation;
  PreparedNet net;
};

// The number of runs of each operator in PlanAhead.
std::vector<int> RunsAhead(const std::string& ops, const ShapeMap& shapes) {
  Workspace ws;
  for (const char* input : {"x", "l"}) ws.CreateBlob(input);
  FeedRandom(&ws, "w", {3, 4});
  FeedRandom(&ws, "large", {1024, 1024});
  FeedRandom(&ws, "b", {3});
  FeedRandom(&ws, "large_b", {1024});
  return Rehearsed(ops, &ws, shapes).runs;
}

constexpr char kRelu[] = R"(op { type: "Relu" input: "x" output: "y" } )";

TEST(RehearsalTest, RunsCheapOperatorsThatOnlyCompute) {
  const ShapeMap small = {{"x", Floats({2, 4})}};
  const std::string fc = R"(op { type: "FC" input: "x" input: "w" input: "b" output: "y" })";
  EXPECT_EQ(RunsAhead(fc, small), std::vector<int>({3}));
  EXPECT_EQ(RunsAhead(R"(op { type: "Relu" input: "x" output: "h" }
                         op { type: "Sigmoid" input: "h" output: "h" }
                         op { type: "Sum" input: "h" input: "x" output: "y" })",
                      small),
            std::vector<int>({3, 3, 3}));
  // 256 million multiply-adds
  EXPECT_EQ(RunsAhead(R"(op { type: "FC" input: "x" input: "large" input: "large_b" output: "y" })",
                      {{"x", Floats({256, 1024})}}),
            std::vector<int>({1}));
  // It reads a blob that is not listed, and was filled when the operator was created.
  EXPECT_EQ(
      RunsAhead(R"(op { type: "PackedInt8BGRANHWCToNCHWCStylizerPreprocess"
                              input: "x" input: "b" output: "y" })",
                {{"x", CreateTensorShape(std::vector<int64_t>{1, 2, 2, 4}, TensorProto::UINT8)}}),
      std::vector<int>({3}));
}

TEST(RehearsalTest, RunsNoOtherOperator) {
  const ShapeMap small = {{"x", Floats({2, 4})}};
  struct Case {
    const char* why;
    std::string ops;
    ShapeMap shapes;
    std::vector<int> runs;
  };
  const std::string relu = kRelu;
  for (
      const Case& c : {
          Case{"the shape of the input is not known", relu, {}, {0}},
          Case{"prints", R"(op { type: "Print" input: "x" })" + relu, small, {0, 3}},
          Case{"draws random numbers",
               relu + R"(op { type: "UniformFill" output: "r" arg { name: "shape" ints: 2 } }
                          op { type: "Relu" input: "r" output: "r2" })",
               small,
               {3, 0, 3}},
          Case{"changes a weight",
               relu + R"(op { type: "Relu" input: "b" output: "b" })",
               small,
               {3, 0}},
          Case{"changes an input",
               R"(op { type: "Relu" input: "x" output: "x" })" + relu,
               small,
               {0, 0}},
          Case{"two billion multiply-adds",
               R"(op { type: "FC" input: "x" input: "large" input: "large_b" output: "y" })",
               {{"x", Floats({2048, 1024})}},
               {0}},
          Case{
              "144 MiB of outputs",
              R"(op { type: "Tile" input: "x" output: "y" arg { name: "tiles" i: 9 } arg { name: "axis" i: 0 } })",
              {{"x", Floats({4096, 1024})}},
              {0}},
      }) {
    EXPECT_EQ(RunsAhead(c.ops, c.shapes), c.runs) << c.why;
  }
}

// Zeros are no valid lengths of the segments: the rehearsal fails, and nothing else.
TEST(RehearsalTest, IgnoresErrorsOfZeros) {
  Workspace ws;
  for (const char* input : {"x", "l"}) ws.CreateBlob(input);
  Rehearsed rehearsed(R"(op { type: "LengthsSum" input: "x" input: "l" output: "y" })", &ws,
                      {{"x", Floats({3, 2})},
                       {"l", CreateTensorShape(std::vector<int64_t>{2}, TensorProto::INT32)}});
  EXPECT_EQ(rehearsed.runs, std::vector<int>({1}));
  Feed<float>(&ws, "x", {3, 2}, {1, 2, 3, 4, 5, 6});
  Feed<int32_t>(&ws, "l", {2}, {1, 2});
  rehearsed.net.Run();
  EXPECT_EQ(Fetch<float>(ws, "y"), std::vector<float>({1, 2, 8, 10}));
}

TEST(RehearsalTest, LeavesBlobsAsTheyWere) {
  Workspace ws;
  for (const char* input : {"x", "l"}) ws.CreateBlob(input);
  const Rehearsed rehearsed(kRelu, &ws, {{"x", Floats({2, 4})}});
  EXPECT_EQ(rehearsed.runs, std::vector<int>({3}));
  EXPECT_TRUE(ws.GetBlob("x")->IsEmpty());
  EXPECT_TRUE(!ws.HasBlob("y") || ws.GetBlob("y")->IsEmpty());
}

// It is called on zeros, which no call may read.
TEST(RehearsalTest, APredictorForgetsTheZeros) {
  PredictorOptions options;
  options.input_shapes = {{"x", Floats({2, 4})}};
  const std::string net = R"(name: "n" external_input: "x" external_input: "b" external_output: "y"
    op { type: "Add" input: "x" input: "b" output: "y" arg { name: "broadcast" i: 1 } })";
  Predictor predictor(ParseNet(R"(op { type: "GivenTensorFill" output: "b"
                                       arg { name: "shape" ints: 4 }
                                       arg { name: "values" floats: 1 floats: 2 floats: 3 floats: 4 } })"),
                      ParseNet(net), nullptr, options);
  std::vector<Tensor> outputs;
  EXPECT_THROW((void)predictor(std::vector<Tensor>(), &outputs), EnforceNotMet);
  Tensor x(std::vector<int64_t>{1, 4}, CPU);
  std::fill_n(x.mutable_data<float>(), 4, 10.0f);
  ASSERT_TRUE(predictor({x}, &outputs));
  EXPECT_EQ(std::vector<float>(outputs[0].data<float>(), outputs[0].data<float>() + 4),
            std::vector<float>({11, 12, 13, 14}));
}

// Keeps the shapes of the first inputs with which operators run.
class ShapeKeepingObserver final : public ObserverBase<OperatorBase> {
 public:
  ShapeKeepingObserver(OperatorBase* op, std::set<std::vector<int64_t>>* seen)
      : ObserverBase<OperatorBase>(op), op_(*op), seen_(*seen) {}
  void Start() override { seen_.insert(op_.Input<Tensor>(0).dims()); }

 private:
  const OperatorBase& op_;
  std::set<std::vector<int64_t>>& seen_;
};

TEST(RehearsalTest, ShapesThatTheCallerStatesComeBeforeThoseOfTheFile) {
  const struct {
    std::vector<int64_t> of_file, of_caller, want;
  } rows[] = {{{2, 4}, {}, {2, 4}}, {{}, {3, 4}, {3, 4}}, {{2, 4}, {3, 4}, {3, 4}}};
  for (const auto& row : rows) {
    std::set<std::vector<int64_t>> seen;
    AddGlobalNetObserverCreator([&](NetBase* net) -> std::unique_ptr<ObserverBase<NetBase>> {
      for (OperatorBase* op : net->GetOperators())
        op->AttachObserver(std::make_unique<ShapeKeepingObserver>(op, &seen));
      return nullptr;
    });
    Model model;
    model.predict_net = ParseNet(R"(name: "n" external_input: "x" external_output: "y"
        op { type: "Relu" input: "x" output: "y" })");
    model.inputs = {"x"};
    model.outputs = {"y"};
    if (!row.of_file.empty()) model.input_shapes["x"] = row.of_file;
    PredictorOptions options;
    if (!row.of_caller.empty()) options.input_shapes = {{"x", Floats(row.of_caller)}};
    const Predictor predictor(std::move(model), options);
    ClearGlobalNetObservers();
    EXPECT_EQ(seen, std::set<std::vector<int64_t>>{row.want});
  }
}

}  // namespace
}  // namespace caffe2rt::rehearsal_test
