// Layers whose batch comes first, ended sequences in outputs that hold something else, one time step,
// and workspaces, observers and arguments beside those of a usual run.
#include <map>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/observer.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/operators/recurrent/recurrent_nets.h"
#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"

namespace caffe2rt::test::recurrent_edges_test {
namespace {

std::string Changed(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  CAFFE_ENFORCE(at != std::string::npos, "\"", from, "\" is not in the text");
  return text.replace(at, from.size(), to);
}

void ExpectEnds(const std::string& got, const std::string& want) {
  EXPECT_TRUE(got == want || got.ends_with(": " + want)) << "got:  " << got << "\nwant: " << want;
}

// With layout 1, the batch is the first dimension of initial states as well.
TEST(RecurrentEdgesTest, InitialStatesHaveTheLayoutOfTheInput) {
  struct StateRow {
    int layout, input;
    const char* name;
    std::vector<int64_t> dims;
    const char* want;  // the shape, or null if it is accepted
  };
  const StateRow rows[] = {{0, 5, "H0", {2, 3, 2}, nullptr},
                           {0, 5, "H0", {3, 2, 2}, "[2, 3, 2]"},
                           {1, 5, "H0", {3, 2, 2}, nullptr},
                           {1, 5, "H0", {2, 3, 2}, "[3, 2, 2]"},
                           {1, 5, "H0", {3, 2, 1}, "[3, 2, 2]"},
                           {0, 6, "C0", {3, 2, 2}, "[2, 3, 2]"},
                           {1, 6, "C0", {2, 3, 2}, "[3, 2, 2]"},
                           {1, 6, "C0", {3, 2, 2, 1}, "[3, 2, 2]"},
                           {1, 3, "B", {16, 2}, "[2, 16]"},
                           {1, 7, "P", {6, 2}, "[2, 6]"},
                           {1, 4, "L", {2}, "[3]"},
                           {1, 4, "L", {3, 1}, "[3]"}};
  const std::map<std::string, std::string> names = {
      {"H0", "initial_h"}, {"C0", "initial_c"}, {"B", "B"}, {"P", "P"}, {"L", "sequence_lens"}};
  for (const StateRow& row : rows) {
    SCOPED_TRACE(MakeString(row.layout, " ", row.name, " ", IntArrayRef(row.dims)));
    Workspace ws;
    const std::vector<int64_t> state =
        row.layout == 1 ? std::vector<int64_t>{3, 2, 2} : std::vector<int64_t>{2, 3, 2};
    FeedRandom(&ws, "X",
               row.layout == 1 ? std::vector<int64_t>{3, 4, 5} : std::vector<int64_t>{4, 3, 5});
    FeedRandom(&ws, "W", {2, 8, 5});
    FeedRandom(&ws, "R", {2, 8, 2});
    FeedRandom(&ws, "B", {2, 16});
    Feed<int32_t>(&ws, "L", {3}, {4, 1, 0});
    FeedRandom(&ws, "H0", state);
    FeedRandom(&ws, "C0", state);
    FeedRandom(&ws, "P", {2, 6});
    if (row.input == 4) {
      Feed<int32_t>(&ws, "L", row.dims, std::vector<int32_t>(row.dims.size() == 1 ? 2 : 3, 1));
    } else {
      FeedRandom(&ws, row.name, row.dims);
    }
    const std::string op = MakeString(
        "type: 'LSTM' input: 'X' input: 'W' input: 'R' input: 'B' input: 'L' input: 'H0' input: "
        "'C0' input: 'P' output: 'Y' output: 'H' output: 'C' arg { name: 'direction' s: "
        "'bidirectional' } arg { name: 'layout' i: ",
        row.layout, " }");
    if (row.want == nullptr) {
      ASSERT_TRUE(ws.RunOperatorOnce(ParseOp(op)));
      EXPECT_EQ(DimsOf(ws, "H"), state);
      EXPECT_EQ(DimsOf(ws, "C"), state);
      continue;
    }
    ExpectEnds(MessageOf([&] { (void)ws.RunOperatorOnce(ParseOp(op)); }),
               MakeString("input ", row.input, " (", names.at(row.name), ") has shape ",
                          IntArrayRef(row.dims), ", want ", row.want));
  }
}

// Y is 0 behind the end of a sequence, whatever the memory of the output held before.
TEST(RecurrentEdgesTest, OutputsBehindTheEndOfASequenceAreZero) {
  for (const char* direction : {"forward", "reverse", "bidirectional"}) {
    for (const int layout : {0, 1}) {
      SCOPED_TRACE(MakeString(direction, layout));
      const int64_t d = std::string(direction) == "bidirectional" ? 2 : 1;
      Workspace ws;
      FeedRandom(&ws, "X",
                 layout == 1 ? std::vector<int64_t>{2, 3, 1} : std::vector<int64_t>{3, 2, 1}, 0.5f,
                 1);
      FeedRandom(&ws, "W", {d, 1, 1}, 0.5f, 1);
      FeedRandom(&ws, "R", {d, 1, 1}, 0.5f, 1);
      Feed<int32_t>(&ws, "L", {2}, {1, 0});
      Feed<float>(&ws, "Y", {6 * d}, std::vector<float>(static_cast<size_t>(6 * d), 9));
      ASSERT_TRUE(ws.RunOperatorOnce(ParseOp(MakeString(
          "type: 'RNN' input: 'X' input: 'W' input: 'R' input: 'L' output: 'Y' output: 'H' arg { "
          "name: 'omitted_inputs' ints: 3 } arg { name: 'direction' s: '",
          direction, "' } arg { name: 'layout' i: ", layout, " }"))));
      const std::vector<float> y = Fetch<float>(ws, "Y"), h = Fetch<float>(ws, "H");
      ASSERT_EQ(y.size(), static_cast<size_t>(6 * d));
      for (int64_t t = 0; t < 3; ++t) {
        for (int64_t i = 0; i < d; ++i) {
          for (int64_t n = 0; n < 2; ++n) {
            const int64_t at = layout == 1 ? (n * 3 + t) * d + i : (t * d + i) * 2 + n;
            const int64_t state = layout == 1 ? n * d + i : i * 2 + n;
            const float got = y[static_cast<size_t>(at)];
            if (t == 0 && n == 0) {
              EXPECT_EQ(got, h[static_cast<size_t>(state)]);
              EXPECT_GT(got, 0);
            } else {
              EXPECT_EQ(got, 0) << t << " " << i << " " << n;
            }
          }
        }
      }
    }
  }
}

// The second of two sequences has ended: its gradients are passed on, or dropped, and its gates have none.
TEST(RecurrentEdgesTest, GradientsOfEndedSequencesReplaceWhatOutputsHeld) {
  for (const bool drop : {false, true}) {
    SCOPED_TRACE(drop);
    Workspace ws;
    for (const char* name : {"h0", "c0", "h", "c"}) FeedRandom(&ws, name, {1, 2, 2});
    FeedRandom(&ws, "gates", {1, 2, 8});
    FeedRandom(&ws, "gru", {1, 2, 6});
    Feed<float>(&ws, "dh", {1, 2, 2}, {1, 2, 3, 4});
    Feed<float>(&ws, "dc", {1, 2, 2}, {5, 6, 7, 8});
    Feed<int32_t>(&ws, "lengths", {2}, {2, 1});
    Feed<int32_t>(&ws, "t", {1}, {1});
    const std::string more = MakeString("arg { name: 'drop_states' i: ", drop ? 1 : 0, " }");
    const auto dirty = [&](const char* name, int64_t columns) {
      Feed<float>(&ws, name, {1, 2, columns},
                  std::vector<float>(static_cast<size_t>(2 * columns), 99));
    };
    const auto ended = [&](const char* name) {  // the second half
      const std::vector<float> all = Fetch<float>(ws, name);
      return std::vector<float>(all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2),
                                all.end());
    };
    using Row = std::vector<float>;
    for (const char* name : {"dh0", "dc0"}) dirty(name, 2);
    dirty("dgates", 8);
    ASSERT_TRUE(ws.RunOperatorOnce(ParseOp(
        R"(type: "LSTMUnitGradient" input: "h0" input: "c0" input: "gates" input: "lengths"
           input: "t" input: "h" input: "c" input: "dh" input: "dc" output: "dh0" output: "dc0"
           output: "dgates" )" +
        more)));
    EXPECT_EQ(ended("dh0"), drop ? Row({0, 0}) : Row({3, 4}));
    EXPECT_EQ(ended("dc0"), drop ? Row({0, 0}) : Row({7, 8}));
    EXPECT_EQ(ended("dgates"), Row(8, 0.0f));
    EXPECT_EQ(Fetch<float>(ws, "dh0")[0], 0);  // h0 itself has no part in a valid row
    EXPECT_EQ(Fetch<float>(ws, "dh0")[1], 0);
    dirty("dh0", 2);
    dirty("dgates", 6);
    ASSERT_TRUE(ws.RunOperatorOnce(ParseOp(
        R"(type: "GRUUnitGradient" input: "h0" input: "gru" input: "lengths" input: "t" input: "h"
           input: "dh" output: "dh0" output: "dgates" )" +
        more)));
    EXPECT_EQ(ended("dh0"), drop ? Row({0, 0}) : Row({3, 4}));
    EXPECT_EQ(ended("dgates"), Row(6, 0.0f));
    EXPECT_EQ(Fetch<float>(ws, "dgates")[0], 0);  // the reset gate
    EXPECT_EQ(Fetch<float>(ws, "dgates")[1], 0);
  }
}

// Without a link to the input's gradient, it is 0 over any number of steps.
TEST(RecurrentEdgesTest, GradientsWithoutALinkOfTheInputAreZeroInOldMemory) {
  const std::string arguments =
      Changed(Changed(Changed(SumMulBackward(), R"( strings: "input_t_grad")", ""),
                      R"( strings: "x_grad")", ""),
              "ints: 1 ints: 0 ints: 0", "ints: 1 ints: 0");
  const std::string forward = SumMulNetwork(arguments);
  const std::string gradient =
      R"(type: "RecurrentNetworkGradient" input: "all_grad" input: "x" input: "init" input: "all"
         input: "last" input: "steps" output: "x_grad" output: "init_grad" )" +
      forward.substr(forward.find("arg"));
  for (const int64_t steps : {1, 2, 3, 0}) {
    SCOPED_TRACE(steps);
    Workspace ws;
    FeedRange<float>(&ws, "x", {steps, 1, 1}, 1);
    Feed<float>(&ws, "init", {1, 1, 1}, {1});
    FeedRange<float>(&ws, "all_grad", {steps, 1, 1}, 1);
    Feed<float>(&ws, "x_grad", {steps, 1, 1}, std::vector<float>(static_cast<size_t>(steps), 7));
    ASSERT_TRUE(ws.RunOperatorOnce(ParseOp(forward)));
    ASSERT_TRUE(ws.RunOperatorOnce(ParseOp(gradient)));
    ExpectTensor<float>(ws, "x_grad", {steps, 1, 1},
                        std::vector<float>(static_cast<size_t>(steps), 0));
  }
}

void FeedLstmSteps(Workspace* ws, int64_t steps) {
  FeedRandom(ws, "x", {steps, 2, 8}, -1, 1, 1);
  FeedRandom(ws, "h0", {1, 2, 2}, -1, 1, 2);
  FeedRandom(ws, "c0", {1, 2, 2}, -1, 1, 3);
  FeedRandom(ws, "w", {8, 2}, -1, 1, 4);
  FeedRandom(ws, "b", {8}, -1, 1, 5);
  Feed<int32_t>(ws, "lengths", {2}, {static_cast<int32_t>(steps), 1});
}

// The gradients of the weights are computed after the steps, for one step as for several.
TEST(RecurrentEdgesTest, WeightsHaveTheGradientOfASingleStep) {
  for (const int64_t steps : {1, 2}) {
    Workspace ws;
    FeedLstmSteps(&ws, steps);
    ExpectGradientMatches(&ws, LstmNetwork("arg { name: 'outputs_with_grads' ints: 0 ints: 2 }"),
                          {.outputs_without_gradient = {"steps", "h_last", "c_last"}});
  }
}

// "flat" is the first of two outputs of its operator. The workspaces of the steps are those of the operator
// before, but a blob is shared by the steps only if it is computed again.
TEST(RecurrentEdgesTest, OperatorsOfSeveralOutputsAreComputedAgain) {
  const std::string old = R"(op { type: "Sum" input: "input_t" input: "prev" output: "sum" }
      op { type: "Mul" input: "input_t" input: "sum" output: "cur" })";
  const std::string reshape = R"(op { type: "Reshape" input: "input_t" output: "flat" output: "old"
        arg { name: "shape" ints: 1 ints: 2 ints: 2 } }
      op { type: "Mul" input: "flat" input: "prev" output: "cur" })";
  Workspace ws;
  FeedRandom(&ws, "x", {3, 2, 2}, 0.5f, 1, 1);
  FeedRandom(&ws, "init", {1, 2, 2}, 0.5f, 1, 2);
  for (const char* blobs : {"strings: 'flat'", "strings: 'none' strings: 'flat'", ""}) {
    SCOPED_TRACE(blobs);
    ExpectGradientMatches(
        &ws,
        Changed(SumMulNetwork(MakeString("arg { name: 'outputs_with_grads' ints: 0 } arg { name: "
                                         "'recompute_blobs_on_backward' ",
                                         blobs, " }")),
                old, reshape),
        {.outputs_without_gradient = {"steps", "last"}});
  }
}

// Two operators take turns with the same workspaces of steps; one of them computes "sum" again. The
// gradient of the last one is that of an operator that ran alone.
TEST(RecurrentEdgesTest, OperatorsThatTakeTurnsHaveTheirOwnGradients) {
  const std::string grads = "arg { name: 'outputs_with_grads' ints: 0 } ";
  const OperatorDef defs[] = {
      ParseOp(SumMulNetwork(grads)),
      ParseOp(SumMulNetwork(grads + "arg { name: 'recompute_blobs_on_backward' strings: 'sum' }"))};
  struct Turn {
    size_t op;
    int64_t steps;
  };
  const auto gradient = [&](const std::vector<Turn>& turns) {
    Workspace ws;
    FeedRandom(&ws, "init", {1, 2, 2}, 0.5f, 1, 1);
    std::unique_ptr<OperatorBase> ops[2];
    for (const Turn& turn : turns) {
      FeedRandom(&ws, "x", {turn.steps, 2, 2}, 0.5f, 1, 2);
      std::unique_ptr<OperatorBase>& op = ops[turn.op];
      if (op == nullptr) op = CreateOperator(defs[turn.op], &ws);
      EXPECT_TRUE(op->Run());
    }
    FeedRandom(&ws, "all_grad", {turns.back().steps, 2, 2}, -1, 1, 3);
    const auto maker = GetGradientForOp(defs[turns.back().op], {{.dense_ = "all_grad"}, {}, {}});
    for (const OperatorDef& def : maker.ops_) EXPECT_TRUE(ws.RunOperatorOnce(def));
    return Fetch<float>(ws, maker.g_input_.at(0).dense_);
  };
  for (const size_t last : {0u, 1u}) {
    const size_t other = 1 - last;
    for (const int64_t steps : {1, 2, 3, 5}) {
      const std::vector<float> want = gradient({{last, steps}});
      EXPECT_EQ(gradient({{last, 2}, {other, 2}, {last, steps}}), want) << last << " " << steps;
      EXPECT_EQ(gradient({{other, 3}, {last, 2}, {other, 1}, {last, steps}}), want)
          << last << " " << steps;
      EXPECT_EQ(gradient({{last, 1}, {other, 4}, {last, 2}, {other, 2}, {last, steps}}), want)
          << last << " " << steps;
    }
  }
}

// What the maker derives replaces nothing else of the operator.
TEST(RecurrentEdgesTest, DerivedGradientsKeepTheOtherArguments) {
  const std::string network = R"(arg { name: 'timestep' s: 'clock' }
      arg { name: 'enable_rnn_executor' i: 0 } arg { name: 'outputs_with_grads' ints: 0 ints: 3 }
      arg { name: 'recompute_blobs_on_backward' strings: 'gates' })";
  std::string text = LstmNetwork(network);
  text = Changed(text, R"(input: "timestep")", R"(input: "clock")");
  const OperatorDef def = ParseOp(text);
  const OperatorDef gradient =
      GetGradientForOp(def, {{.dense_ = "a"}, {}, {}, {.dense_ = "b"}, {}}).ops_.at(0);
  std::map<std::string, std::string> got;
  for (const Argument& arg : gradient.arg()) {
    EXPECT_TRUE(got.emplace(arg.name(), arg.ShortDebugString()).second) << arg.name();
  }
  for (const Argument& arg : def.arg()) {
    EXPECT_EQ(got[arg.name()], arg.ShortDebugString()) << arg.name();
  }
  for (const char* derived :
       {"backward_step_net", "backward_link_internal", "backward_link_external",
        "backward_link_offset", "param", "param_grads"}) {
    EXPECT_TRUE(got.contains(derived)) << derived;
  }
  Workspace ws;
  FeedLstmSteps(&ws, 3);
  ExpectGradientMatches(&ws, text, {.outputs_without_gradient = {"steps", "h_last", "c_all"}});
}

// The rows that a step net leaves must have the type of the state.
TEST(RecurrentEdgesTest, StepNetsKeepTheTypeOfLinkedBlobs) {
  Workspace ws;
  FeedRange<float>(&ws, "x", {2, 1, 1}, 1);
  Feed<float>(&ws, "init", {1, 1, 1}, {1});
  const auto network = [](int type) {
    return Changed(
        SumMulNetwork(), R"(op { type: "Mul" input: "input_t" input: "sum" output: "cur" })",
        MakeString(R"(op { type: "Cast" input: "sum" output: "cur" arg { name: "to" i: )", type,
                   " } }"));
  };
  ASSERT_TRUE(ws.RunOperatorOnce(ParseOp(network(1))));
  ExpectTensor<float>(ws, "all", {2, 1, 1}, {2, 4});
  ExpectEnds(
      MessageOf([&] { (void)ws.RunOperatorOnce(ParseOp(network(2))); }),
      "blob \"cur\" of the step net has shape [1, 1, 1] and type int32, want shape [1, 1, 1] "
      "and type float, as the rows of blob \"states\"");
}

// The output with the workspaces may come from a run in another workspace.
TEST(RecurrentEdgesTest, StepsKeepTheWorkspacesOfTheirRun) {
  Workspace outer;
  FeedRange<float>(&outer, "x", {2, 1, 1}, 1);
  Feed<float>(&outer, "init", {1, 1, 1}, {1});
  const OperatorDef network = ParseOp(SumMulNetwork());
  ASSERT_TRUE(outer.RunOperatorOnce(network));
  ExpectTensor<float>(outer, "all", {2, 1, 1}, {2, 8});
  Workspace child(&outer);
  child.CreateLocalBlob("x");
  FeedRange<float>(&child, "x", {2, 1, 1}, 3);
  ASSERT_TRUE(child.RunOperatorOnce(network));  // 3 * (3 + 1), 4 * (4 + 12)
  ExpectTensor<float>(child, "all", {2, 1, 1}, {12, 64});
  ASSERT_TRUE(outer.RunOperatorOnce(network));
  ExpectTensor<float>(outer, "all", {2, 1, 1}, {2, 8});
}

class EdgesCounter final : public ObserverBase<OperatorBase> {
 public:
  EdgesCounter(OperatorBase* op, int* starts) : ObserverBase<OperatorBase>(op), starts_(starts) {}
  void Start() override { ++*starts_; }
  std::unique_ptr<ObserverBase<OperatorBase>> rnnCopy(OperatorBase* op, int) const override {
    return copies ? std::make_unique<EdgesCounter>(op, starts_) : nullptr;
  }
  bool copies = true;

 private:
  int* const starts_;
};

// Each of several observers is copied to the operators of each step; one may want no copies.
TEST(RecurrentEdgesTest, CopiesEachOfSeveralObservers) {
  Workspace ws;
  FeedRange<float>(&ws, "x", {3, 1, 1}, 1);
  Feed<float>(&ws, "init", {1, 1, 1}, {1});
  for (const char* arguments : {"", "arg { name: 'outputs_with_grads' ints: 0 }"}) {
    int starts[3] = {};
    const auto op = CreateOperator(ParseOp(SumMulNetwork(arguments)), &ws);
    for (int i = 0; i < 3; ++i) {
      auto observer = std::make_unique<EdgesCounter>(op.get(), &starts[i]);
      observer->copies = i != 1;
      (void)op->AttachObserver(std::move(observer));
    }
    for (int run = 1; run <= 2; ++run) {
      ASSERT_TRUE(op->Run());
      EXPECT_EQ(starts[0], run * (1 + 3 * 2));
      EXPECT_EQ(starts[1], run);
      EXPECT_EQ(starts[2], run * (1 + 3 * 2));
    }
  }
}

}  // namespace
}  // namespace caffe2rt::test::recurrent_edges_test
