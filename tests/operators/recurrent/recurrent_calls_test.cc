// Calls of the operators of recurrent networks next to their bounds, and repeated ones.
#include <memory>

#include "caffe2_core/runtime/operator_registry.h"
#include "tests/operators/recurrent/recurrent_nets.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"

namespace caffe2rt::test::recurrent_calls_test {
namespace {

void ExpectMessage(Workspace* ws, const std::string& op, const std::string& message) {
  const std::string got = MessageOf([&] { RunOp(ws, op); });
  EXPECT_TRUE(got == message || got.ends_with(": " + message))
      << "got:  " << got << "\nwant: " << message;
}

TEST(RecurrentCallsTest, AccumulationNeedsATimeStepAndARow) {
  Workspace ws;
  FeedRange<float>(&ws, "rows", {4, 3});
  FeedRange<float>(&ws, "grad", {4, 3});
  const std::string accumulate = R"(type: "rnn_internal_accumulate_gradient_input" input: "t"
      input: "rows" input: "grad" arg { name: "offset" i: 1 } )";
  Feed<int32_t>(&ws, "t", {0}, {});
  ExpectMessage(&ws, accumulate + R"(output: "grad")",
                "elements of input 0 (timestep): got 0, want at least 1");
  Feed<int32_t>(&ws, "t", {1}, {0});
  Feed<float>(&ws, "grad", {}, {1});
  ExpectMessage(&ws, accumulate + R"(output: "grad")",
                "input 2 (state_grad) has shape [], want at least one row");
  Feed<float>(&ws, "grad", {0, 3}, {});
  ExpectMessage(&ws, accumulate + R"(output: "grad")",
                "input 2 (state_grad) has shape [0, 3], want at least one row");
}

// Rows of other numbers of elements than the state has: those of the gradient count.
TEST(RecurrentCallsTest, AccumulatesRowsAtBothEnds) {
  Workspace ws;
  FeedRange<float>(&ws, "y_grad", {3, 2}, 1);
  for (const int t : {0, 2}) {
    Feed<float>(&ws, "grad", {5, 1, 2}, std::vector<float>(10, 0));
    Feed<int32_t>(&ws, "t", {1}, {t});
    RunOp(&ws,
          R"(type: "rnn_internal_accumulate_gradient_input" input: "t" input: "y_grad" input: "grad"
                  output: "grad" arg { name: "offset" i: 2 })");
    std::vector<float> want(10, 0);
    want[static_cast<size_t>(2 * (t + 2))] = static_cast<float>(2 * t + 1);
    want[static_cast<size_t>(2 * (t + 2) + 1)] = static_cast<float>(2 * t + 2);
    ExpectTensor<float>(ws, "grad", {5, 1, 2}, want);
  }
}

TEST(RecurrentCallsTest, FetchersNameTheBlobsOfTheirRun) {
  Workspace ws;
  FeedRange<float>(&ws, "x", {2, 1, 1}, 1);
  Feed<float>(&ws, "init", {1, 1, 1}, {1});
  RunOp(&ws, SumMulNetwork(SumMulBackward()));
  const std::unique_ptr<OperatorBase> fetcher = CreateOperator(
      ParseOp(R"(type: "RecurrentNetworkBlobFetcher" input: "steps" output: "names")"), &ws);
  for (int run = 0; run < 3; ++run) {
    ASSERT_TRUE(fetcher->Run());
    EXPECT_EQ(DimsOf(ws, "names"), std::vector<int64_t>{10});
    EXPECT_EQ(Fetch<std::string>(ws, "names")[9], "rnn_timestep1");
  }
}

// The inputs of the gradient of SumMulNetwork. `more` follows the arguments.
std::string SumMulGradientOp(const std::string& more) {
  std::string text = SumMulNetwork(SumMulBackward());
  const std::string head =
      R"(type: "RecurrentNetwork" input: "x" input: "init" output: "all" output: "last"
    output: "steps")";
  return R"(type: "RecurrentNetworkGradient" input: "all_grad" input: "x" input: "init" input: "all" input: "last"
            input: "steps" output: "x_grad" output: "init_grad" )" +
         text.substr(head.size()) + more;
}

void RunSumMul(Workspace* ws, int64_t steps) {
  FeedRange<float>(ws, "x", {steps, 1, 1}, 1);
  Feed<float>(ws, "init", {1, 1, 1}, {1});
  RunOp(ws, SumMulNetwork(SumMulBackward()));
  FeedRange<float>(ws, "all_grad", {steps, 1, 1}, 1);
}

// cur = x (x + prev), so 1 * 2 = 2 and 2 * (2 + 2) = 8. dcur1 = 2, dprev1 = 2 * 2 = 4, dx1 = 2 * (2 * 2 + 2) = 12;
// dcur0 = 1 + 4, dinit = 5 * 1, dx0 = 5 * (2 * 1 + 1) = 15.
TEST(RecurrentCallsTest, GradientsRunAgainWithOtherNumbersOfSteps) {
  Workspace ws;
  RunSumMul(&ws, 2);
  const std::unique_ptr<OperatorBase> gradient = CreateOperator(ParseOp(SumMulGradientOp("")), &ws);
  for (const int64_t steps : {2, 1, 0, 2}) {
    SCOPED_TRACE(steps);
    RunSumMul(&ws, steps);
    ASSERT_TRUE(gradient->Run());
    if (steps == 2) {
      ExpectTensor<float>(ws, "x_grad", {2, 1, 1}, {15, 12});
      ExpectTensor<float>(ws, "init_grad", {1, 1, 1}, {5});
    } else if (steps == 1) {
      ExpectTensor<float>(ws, "x_grad", {1, 1, 1}, {3});
      ExpectTensor<float>(ws, "init_grad", {1, 1, 1}, {1});
    } else {
      ExpectTensor<float>(ws, "x_grad", {0, 1, 1}, {});
      ExpectTensor<float>(ws, "init_grad", {1, 1, 1}, {0});
    }
  }
}

TEST(RecurrentCallsTest, GradientsCheckTheGradientsOfOutputs) {
  for (const int64_t steps : {0, 2}) {
    Workspace ws;
    RunSumMul(&ws, steps);
    Feed<double>(&ws, "all_grad", {steps, 1, 1},
                 std::vector<double>(static_cast<size_t>(steps), 1));
    ExpectMessage(&ws, SumMulGradientOp(""),
                  "the tensor holds elements of type double, want float");
    for (const int64_t other : {steps + 1, steps + 5}) {
      FeedRange<float>(&ws, "all_grad", {other, 1, 1}, 1);
      ExpectMessage(&ws, SumMulGradientOp(""),
                    MakeString("elements of input 0 of shape [", other, ", 1, 1], want those of ",
                               steps, " rows of the state \"states\" of shape [", steps + 1,
                               ", 1, 1] (got ", other, ", want ", steps, ")"));
    }
  }
}

// Input 0 is the gradient of the last row here.
TEST(RecurrentCallsTest, GradientsCheckTheGradientOfTheLastRow) {
  std::string text = SumMulGradientOp("");
  const std::string all = R"("outputs_with_grads" ints: 0)";
  text.replace(text.find(all), all.size(), R"("outputs_with_grads" ints: 1)");
  for (const int64_t steps : {0, 1, 2}) {
    Workspace ws;
    RunSumMul(&ws, steps);
    for (const int64_t elements : {0, 2, 3}) {
      FeedRange<float>(&ws, "all_grad", {elements, 1, 1}, 1);
      ExpectMessage(&ws, text,
                    MakeString("elements of input 0 of shape [", elements,
                               ", 1, 1], want those of a row of the state \"states\" of shape [",
                               steps + 1, ", 1, 1] (got ", elements, ", want 1)"));
    }
    Feed<float>(&ws, "all_grad", {1, 1, 1}, {1});
    RunOp(&ws, text);
    ExpectTensor<float>(ws, "init_grad", {1, 1, 1}, {steps == 2 ? 2.0f : 1.0f});
  }
}

TEST(RecurrentCallsTest, GradientsCheckTheirIds) {
  Workspace ws;
  RunSumMul(&ws, 2);
  for (const char* const id : {"99", "-1", "5"}) {
    std::string text = SumMulGradientOp("");
    const std::string ids = R"("initial_recurrent_state_ids" ints: 1)";
    text.replace(text.find(ids), ids.size(),
                 R"("initial_recurrent_state_ids" ints: )" + std::string(id));
    ExpectMessage(&ws, text,
                  MakeString("argument initial_recurrent_state_ids contains ", id,
                             ", want an input of RecurrentNetwork"));
  }
}

// The states are the initial value 1, then 2 and 8.
TEST(RecurrentCallsTest, OutputsBeginAtAnyRowOfAState) {
  struct Row {
    int offset;
    std::vector<float> rows;
  };
  const Row rows[] = {{0, {1, 2, 8}}, {-3, {1, 2, 8}}, {1, {2, 8}}, {2, {8}},
                      {-1, {8}},      {-2, {2, 8}},    {3, {}}};
  for (const Row& row : rows) {
    SCOPED_TRACE(row.offset);
    Workspace ws;
    FeedRange<float>(&ws, "x", {2, 1, 1}, 1);
    Feed<float>(&ws, "init", {1, 1, 1}, {1});
    std::string text = SumMulNetwork();
    const std::string offsets = R"("alias_offset" ints: 1 ints: -1)";
    text.replace(text.find(offsets), offsets.size(),
                 MakeString(R"("alias_offset" ints: 1 ints: )", row.offset));
    RunOp(&ws, text);
    ExpectTensor<float>(ws, "all", {2, 1, 1}, {2, 8});
    ExpectTensor<float>(ws, "last", {static_cast<int64_t>(row.rows.size()), 1, 1}, row.rows);
    const auto shapes = InferShapes(ws, ParseOp(text));
    EXPECT_EQ(GetDimsVector(shapes.at(1)), DimsOf(ws, "last"));
  }
  for (const int offset : {4, -4}) {
    Workspace ws;
    FeedRange<float>(&ws, "x", {2, 1, 1}, 1);
    Feed<float>(&ws, "init", {1, 1, 1}, {1});
    std::string text = SumMulNetwork();
    const std::string offsets = R"("alias_offset" ints: 1 ints: -1)";
    text.replace(text.find(offsets), offsets.size(),
                 MakeString(R"("alias_offset" ints: 1 ints: )", offset));
    ExpectMessage(&ws, text,
                  MakeString("output 1 (last) begins at row ", offset,
                             " of the state \"states\" of shape [3, 1, 1]"));
  }
}

// Only what the step net reads from the workspace, not what it has written itself.
TEST(RecurrentCallsTest, StepNetsReadRenamedInputs) {
  Workspace ws;
  FeedRange<float>(&ws, "x", {2, 1, 1}, 1);
  Feed<float>(&ws, "init", {1, 1, 1}, {1});
  Feed<float>(&ws, "w", {1, 1, 1}, {100});
  Feed<float>(&ws, "w2", {1, 1, 1}, {3});
  std::string text =
      SumMulNetwork(R"(arg { name: "w.rename" s: "w2" } arg { name: "sum.rename" s: "w2" })");
  const auto replace = [&](const std::string& from, const std::string& to) {
    text.replace(text.find(from), from.size(), to);
  };
  replace(R"(input: "init")", R"(input: "init" input: "w" input: "w2")");
  replace(R"(input: "input_t" input: "sum")", R"(input: "w" input: "sum")");
  RunOp(&ws, text);
  // (1 + 1) * 3 and (2 + 6) * 3
  ExpectTensor<float>(ws, "all", {2, 1, 1}, {6, 24});
}

}  // namespace
}  // namespace caffe2rt::test::recurrent_calls_test
