// Layers without lengths that run again on other steps, the arguments of each layer, and what the step
// nets of a gradient get: observers, and the time step beside external inputs.
#include <set>

#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/observer.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/operators/recurrent/recurrent_nets.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::recurrent_runs_test {
namespace {

// Each run has other steps and another batch; a new operator gives the same, and the last step counts.
TEST(RecurrentRunsTest, LayersWithoutLengthsRunOverAllSteps) {
  struct Sizes {
    int64_t steps, batch;
  };
  const std::pair<const char*, int64_t> types[] = {{"LSTM", 4}, {"GRU", 3}, {"RNN", 1}};
  for (const auto& [type, gates] : types) {
    const std::string op =
        MakeString("type: '", type, "' input: 'X' input: 'W' input: 'R' output: 'Y' output: 'H'");
    Workspace ws;
    for (const char* name : {"X", "W", "R", "Y", "H"}) ws.CreateBlob(name);
    const auto kept = CreateOperator(ParseOp(op), &ws);
    uint32_t seed = 1;
    for (const Sizes& s : {Sizes{2, 2}, Sizes{5, 2}, Sizes{1, 3}, Sizes{3, 4}}) {
      SCOPED_TRACE(MakeString(type, " ", s.steps, " ", s.batch));
      Workspace fresh;
      for (Workspace* to : {&ws, &fresh}) {
        FeedRandom(to, "X", {s.steps, s.batch, 2}, 0.5f, 1, seed);
        FeedRandom(to, "W", {1, gates * 3, 2}, 0.5f, 1, seed + 1);
        FeedRandom(to, "R", {1, gates * 3, 3}, 0.5f, 1, seed + 2);
      }
      ASSERT_TRUE(kept->Run());
      ASSERT_TRUE(fresh.RunOperatorOnce(ParseOp(op)));
      const std::vector<float> y = Fetch<float>(ws, "Y"), h = Fetch<float>(ws, "H");
      ExpectTensor<float>(fresh, "Y", {s.steps, 1, s.batch, 3}, y);
      // Y_h is the last step of Y, which is not 0 for inputs and weights above 0.
      EXPECT_EQ(h, std::vector<float>(y.end() - static_cast<std::ptrdiff_t>(h.size()), y.end()));
      for (const float value : h) EXPECT_GT(value, 0);
      seed += 3;
    }
  }
}

TEST(RecurrentRunsTest, EachLayerHasTheArgumentsOfItsCell) {
  for (const char* type : {"LSTM", "GRU", "RNN"}) {
    const OpSchema* const schema = OpSchemaRegistry::Schema(type);
    ASSERT_NE(schema, nullptr);
    std::set<std::string> names;
    for (const OpSchema::Argument& arg : schema->args()) names.insert(arg.name);
    EXPECT_EQ(names.contains("input_forget"), std::string(type) == "LSTM") << type;
    EXPECT_EQ(names.contains("linear_before_reset"), std::string(type) == "GRU") << type;
    for (const char* of_all : {"direction", "layout", "clip", "hidden_size", "activations",
                               "activation_alpha", "activation_beta"})
      EXPECT_TRUE(names.contains(of_all)) << type << " " << of_all;
  }
}

// Counts the starts of operators, also of those of step nets.
class RecurrentRunsCounter final : public ObserverBase<OperatorBase> {
 public:
  RecurrentRunsCounter(OperatorBase* op, std::vector<int>* times, int time)
      : ObserverBase<OperatorBase>(op), times_(times), time_(time) {}
  void Start() override { times_->push_back(time_); }
  std::unique_ptr<ObserverBase<OperatorBase>> rnnCopy(OperatorBase* op, int time) const override {
    return std::make_unique<RecurrentRunsCounter>(op, times_, time);
  }

 private:
  std::vector<int>* const times_;
  const int time_;
};

// The backward step net has two operators, and runs from the last step to the first.
TEST(RecurrentRunsTest, ObserversOfAGradientAreCopiedToItsStepNets) {
  Workspace ws;
  FeedRange<float>(&ws, "x", {3, 2, 2}, 1);
  Feed<float>(&ws, "init", {1, 2, 2}, {1, 1, 1, 1});
  Feed<float>(&ws, "all_grad", {3, 2, 2}, std::vector<float>(12, 1));
  for (const char* name : {"x_grad", "init_grad"}) ws.CreateBlob(name);
  const std::string forward = SumMulNetwork(SumMulBackward());
  ASSERT_TRUE(ws.RunOperatorOnce(ParseOp(forward)));
  const std::string head =
      R"(type: "RecurrentNetwork" input: "x" input: "init" output: "all" output: "last"
    output: "steps")";
  ASSERT_TRUE(forward.starts_with(head));
  const auto op = CreateOperator(
      ParseOp(R"(type: "RecurrentNetworkGradient" input: "all_grad" input: "x" input: "init"
                 input: "all" input: "last" input: "steps" output: "x_grad" output: "init_grad" )" +
              forward.substr(head.size())),
      &ws);
  std::vector<int> times;
  const auto* const observer =
      op->AttachObserver(std::make_unique<RecurrentRunsCounter>(op.get(), &times, -1));
  ASSERT_TRUE(op->Run());
  EXPECT_EQ(times, (std::vector<int>{-1, 2, 2, 1, 1, 0, 0}));
  (void)op->DetachObserver(observer);
  times.clear();
  ASSERT_TRUE(op->Run());
  EXPECT_EQ(times, std::vector<int>{});
}

// A step net that lists its external inputs need not list the time step and the linked blobs.
TEST(RecurrentRunsTest, StepNetsMayListOtherExternalInputs) {
  std::string network = LstmNetwork();
  const std::string name = R"(n { name: "lstm")";
  const size_t at = network.find(name);
  ASSERT_NE(at, std::string::npos);
  const auto run = [](const std::string& op) {
    Workspace ws;
    FeedRandom(&ws, "x", {2, 3, 8}, -1, 1, 1);
    FeedRandom(&ws, "h0", {1, 3, 2}, -1, 1, 2);
    FeedRandom(&ws, "c0", {1, 3, 2}, -1, 1, 3);
    FeedRandom(&ws, "w", {8, 2}, -1, 1, 4);
    FeedRandom(&ws, "b", {8}, -1, 1, 5);
    Feed<int32_t>(&ws, "lengths", {3}, {2, 1, 2});
    EXPECT_TRUE(ws.RunOperatorOnce(ParseOp(op)));
    return Fetch<float>(ws, "h_all");
  };
  const std::vector<float> want = run(network);
  network.insert(at + name.size(),
                 R"( external_input: "w" external_input: "b" external_input: "lengths" )");
  EXPECT_EQ(run(network), want);
}

}  // namespace
}  // namespace caffe2rt::test::recurrent_runs_test
