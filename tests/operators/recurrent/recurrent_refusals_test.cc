// Whole messages of the recurrent operators, and runs after other shapes or a rejected run.
#include <map>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/operators/recurrent/recurrent_nets.h"
#include "tests/support/onnx_case.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"

namespace caffe2rt::test::recurrent_refusals_test {
namespace {

// The operator's own sentence begins after its frame.
void ExpectRejected(Workspace* ws, const std::string& op, const std::string& message) {
  const std::string got = MessageOf([&] { RunOp(ws, op); });
  EXPECT_TRUE(got == message || got.ends_with(": " + message))
      << op << "\ngot:  " << got << "\nwant: " << message;
}

std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  CAFFE_ENFORCE(at != std::string::npos, "\"", from, "\" is not in the text");
  return text.replace(at, from.size(), to);
}

struct LayerRow {
  OnnxCase call;
  std::string message;
};

TEST(RecurrentRefusalsTest, OfLayersNameInputsAndShapes) {
  const OnnxCaseTensor x = F32({2, 1, 3}, {1, 2, 3, 4, 5, 6}), w = F32({1, 1, 3}, {1, 1, 1}),
                       r = F32({1, 1, 1}, {1}), y = F32({}, {});
  const OnnxCaseTensor w4 = F32({1, 4, 3}, std::vector<double>(12)),
                       r4 = F32({1, 4, 1}, std::vector<double>(4)), both = F32({2, 1, 1}, {1, 1}),
                       state = F32({1, 1, 1}, {1}), bias8 = F32({1, 8}, std::vector<double>(8)),
                       length = I32({1}, {2});
  const LayerRow rows[] = {
      {{"RNN", "", {F32({2, 3}, {1, 2, 3, 4, 5, 6}), w, r}, {y}},
       "rank of input 0 (X) of shape [2, 3]: got 2, want 3"},
      {{"RNN", "", {x, w, F32({1, 2, 1}, {1, 1})}, {y}},
       "input 2 (R) has shape [1, 2, 1], want [1, 1 * H, H] for the hidden size H"},
      {{"GRU", "", {x, w, r}, {y}},
       "input 2 (R) has shape [1, 1, 1], want [1, 3 * H, H] for the hidden size H"},
      {{"LSTM", "arg { name: 'direction' s: 'bidirectional' }", {x, w4, r4}, {y}},
       "input 2 (R) has shape [1, 4, 1], want [2, 4 * H, H] for the hidden size H"},
      {{"RNN", "", {x, F32({1, 1, 2}, {1, 1}), r}, {y}},
       "input 1 (W) has shape [1, 1, 2], want [1, 1, 3] for inputs 0 (X) and 2 (R)"},
      {{"RNN", "arg { name: 'direction' s: 'bidirectional' }", {x, w, both}, {y}},
       "input 1 (W) has shape [1, 1, 3], want [2, 1, 3] for inputs 0 (X) and 2 (R)"},
      {{"RNN", "arg { name: 'hidden_size' i: 2 }", {x, w, r}, {y}},
       "argument hidden_size is 2, want 1 as input 2 (R) of shape [1, 1, 1]"},
      {{"RNN", "arg { name: 'direction' s: 'Forward' }", {x, w, r}, {y}},
       "argument direction is \"Forward\", want forward, reverse or bidirectional"},
      {{"RNN", "arg { name: 'layout' i: 2 }", {x, w, r}, {y}},
       "argument \"layout\" is 2, want 0 or 1"},
      {{"LSTM", "arg { name: 'activations' strings: 'Tanh' strings: 'Relu' }", {x, w4, r4}, {y}},
       "names in argument activations: got 2, want 3"},
      {{"RNN", "", {x, w, r, F32({2}, {1, 1})}, {y}}, "input 3 (B) has shape [2], want [1, 2]"},
      {{"RNN", "", {x, w, r, F32({1, 2}, {1, 1}), I32({2}, {1, 1})}, {y}},
       "input 4 (sequence_lens) has shape [2], want [1]"},
      {{"RNN", "", {x, w, r, F32({1, 2}, {1, 1}), I32({1}, {3})}, {y}},
       "input 4 (sequence_lens) is 3 at element 0, want 0 to 2, the time steps of input 0 (X)"},
      {{"RNN", "", {x, w, r, F32({1, 2}, {1, 1}), I32({1}, {-1})}, {y}},
       "input 4 (sequence_lens) is -1 at element 0, want 0 to 2, the time steps of input 0 (X)"},
      {{"RNN", "", {x, w, r, F32({1, 2}, {1, 1}), length, F32({1, 2, 1}, {1, 1})}, {y}},
       "input 5 (initial_h) has shape [1, 2, 1], want [1, 1, 1]"},
      {{"LSTM", "", {x, w4, r4, bias8, length, state, F32({1, 1, 2}, {1, 1})}, {y}},
       "input 6 (initial_c) has shape [1, 1, 2], want [1, 1, 1]"},
      {{"LSTM", "", {x, w4, r4, bias8, length, state, state, F32({1, 4}, {1, 1, 1, 1})}, {y}},
       "input 7 (P) has shape [1, 4], want [1, 3]"}};
  for (const LayerRow& row : rows) {
    Workspace ws;
    FeedOnnxCase(&ws, row.call);
    ExpectRejected(&ws, OnnxCaseOp(row.call), row.message);
  }
}

// One operator over changing shapes gives what a new one gives: no state of a run is left.
TEST(RecurrentRefusalsTest, LayersForgetEarlierRuns) {
  struct Shape {
    int64_t steps, batch, inputs, hidden;
  };
  const Shape shapes[] = {{2, 3, 2, 2}, {4, 5, 3, 4}, {1, 1, 1, 1}, {0, 2, 3, 2},
                          {3, 2, 0, 3}, {2, 0, 2, 2}, {2, 3, 2, 2}};
  const std::map<std::string, int64_t> types = {{"LSTM", 4}, {"GRU", 3}, {"RNN", 1}};
  for (const auto& row : types) {
    const std::string& type = row.first;
    const int64_t gates = row.second;
    const std::string op = "type: '" + type +
                           "' input: 'X' input: 'W' input: 'R' input: 'B' input: 'L' "
                           "output: 'Y' output: 'H' " +
                           (type == "LSTM" ? "output: 'C' " : "") +
                           "arg { name: 'direction' s: 'bidirectional' }";
    Workspace ws;
    std::unique_ptr<OperatorBase> kept;
    uint32_t seed = 1;
    for (const Shape& s : shapes) {
      const auto feed = [&](Workspace* to) {
        FeedRandom(to, "X", {s.steps, s.batch, s.inputs}, -1, 1, seed);
        FeedRandom(to, "W", {2, gates * s.hidden, s.inputs}, -1, 1, seed + 1);
        FeedRandom(to, "R", {2, gates * s.hidden, s.hidden}, -1, 1, seed + 2);
        FeedRandom(to, "B", {2, 2 * gates * s.hidden}, -1, 1, seed + 3);
        std::vector<int32_t> lengths;
        for (int64_t n = 0; n < s.batch; ++n)
          lengths.push_back(static_cast<int32_t>(n % (s.steps + 1)));
        Feed<int32_t>(to, "L", {s.batch}, lengths);
      };
      feed(&ws);
      if (kept == nullptr) kept = CreateOperator(ParseOp(op), &ws);
      ASSERT_TRUE(kept->Run());
      Workspace fresh;
      feed(&fresh);
      ASSERT_TRUE(fresh.RunOperatorOnce(ParseOp(op)));
      for (const std::string name : {"Y", "H", "C"}) {
        if (name == "C" && type != "LSTM") continue;
        ExpectTensor<float>(ws, name, DimsOf(fresh, name), Fetch<float>(fresh, name));
      }
      // The states of a sequence without steps are 0.
      if (s.batch > 0) {
        EXPECT_EQ(Fetch<float>(ws, "H")[0], 0) << type;
      }
      seed += 10;
    }
  }
}

const std::string kLstmGradient = R"(type: "LSTMUnitGradient" input: "h0" input: "c0"
  input: "gates" input: "t" input: "h" input: "c" input: "dh" input: "dc" output: "dh0"
  output: "dc0" output: "dgates" arg { name: "sequence_lengths" i: 0 })";
const std::string kGruGradient = R"(type: "GRUUnitGradient" input: "h0" input: "gru" input: "t"
  input: "h" input: "dh" output: "dh0" output: "dgates" arg { name: "sequence_lengths" i: 0 })";

void FeedUnits(Workspace* ws) {
  for (const char* name : {"h0", "c0", "h", "c", "dh", "dc"}) FeedRandom(ws, name, {1, 2, 3});
  FeedRandom(ws, "gates", {1, 2, 12});
  FeedRandom(ws, "gru", {1, 2, 9});
  Feed<int32_t>(ws, "t", {1}, {0});
}

TEST(RecurrentRefusalsTest, OfTheGradientsOfUnitsNameTheInput) {
  struct UnitRow {
    std::string op, blob;
    std::vector<int64_t> dims;
    std::string message;
  };
  const UnitRow rows[] = {
      {kLstmGradient,
       "h0",
       {1, 2, 2},
       "elements of input 0 (hidden_t_prev) of shape [1, 2, 2], want those of input 1 "
       "(cell_t_prev) of shape [1, 2, 3] (got 4, want 6)"},
      {kLstmGradient,
       "gates",
       {1, 3, 12},
       "elements of input 2 (gates) of shape [1, 3, 12], want those of the whole batch (got 36, "
       "want 24)"},
      {kLstmGradient,
       "c",
       {1, 2, 4},
       "elements of input 5 (cell_t) of shape [1, 2, 4], want those of the whole batch (got 8, "
       "want 6)"},
      {kLstmGradient,
       "dh",
       {1, 1, 3},
       "elements of input 6 (hidden_t_grad) of shape [1, 1, 3], want those of the whole batch (got "
       "3, want 6)"},
      {kLstmGradient,
       "dc",
       {1, 1, 3},
       "elements of input 7 (cell_t_grad) of shape [1, 1, 3], want those of the whole batch (got "
       "3, want 6)"},
      {kGruGradient,
       "gru",
       {1, 3, 9},
       "elements of input 1 (gates) of shape [1, 3, 9], want those of the whole batch (got 27, "
       "want 18)"},
      {kGruGradient,
       "dh",
       {1, 1, 3},
       "elements of input 4 (hidden_grad) of shape [1, 1, 3], want those of the whole batch (got "
       "3, want 6)"},
      {kGruGradient,
       "gru",
       {2, 9},
       "rank of input 1 (gates) of shape [2, 9], want [1, batch, 3 * size] (got 2, want at least "
       "3)"}};
  for (const UnitRow& row : rows) {
    Workspace ws;
    FeedUnits(&ws);
    FeedRandom(&ws, row.blob, row.dims);
    ExpectRejected(&ws, row.op, row.message);
    FeedUnits(&ws);
    RunOp(&ws, row.op);
    EXPECT_EQ(DimsOf(ws, "dh0"), (std::vector<int64_t>{1, 2, 3}));
  }
}

TEST(RecurrentRefusalsTest, OfLinksNameRowsAndShapes) {
  Workspace ws;
  FeedRange<float>(&ws, "rows", {4, 3});
  Feed<float>(&ws, "scalar", {}, {1});
  Feed<float>(&ws, "none", {0, 3}, {});
  Feed<float>(&ws, "grad", {3, 2}, std::vector<float>(6, 1));
  Feed<float>(&ws, "state", {4, 2}, std::vector<float>(8, 0));
  Feed<int32_t>(&ws, "t", {1}, {1});
  Feed<int32_t>(&ws, "late", {1}, {3});
  const auto link = [](const std::string& rows, int offset, int window) {
    return MakeString("type: 'rnn_internal_apply_link' input: 't' input: '", rows,
                      "' output: 'row' output: '", rows, "' arg { name: 'offset' i: ", offset,
                      " } arg { name: 'window' i: ", window, " }");
  };
  const auto add = [](const std::string& t, const std::string& state, int offset) {
    return MakeString("type: 'rnn_internal_accumulate_gradient_input' input: '", t,
                      "' input: 'grad' input: '", state, "' output: '", state,
                      "' arg { name: 'offset' i: ", offset, " }");
  };
  ExpectRejected(&ws, link("rows", 2, 2),
                 "rows 3 to 5 are linked, want rows of input 1 (external) of shape [4, 3]");
  ExpectRejected(&ws, link("scalar", 0, 1), "input 1 (external) of shape [] has no elements");
  ExpectRejected(&ws, add("late", "state", 0),
                 "input 0 (timestep) is 3, want a row of input 1 (output_grad) of shape [3, 2]");
  ExpectRejected(&ws, add("t", "state", 3),
                 "end of row 4 in input 2 (state_grad) of shape [4, 2]: got 10, want at most 8");
  ExpectRejected(&ws, add("t", "none", 0),
                 "input 2 (state_grad) has shape [0, 3], want at least one row");
  ExpectRejected(&ws, add("t", "scalar", 0),
                 "input 2 (state_grad) has shape [], want at least one row");
  ExpectTensor<float>(ws, "state", {4, 2}, std::vector<float>(8, 0));
  RunOp(&ws, add("t", "state", 2));  // the last row
  ExpectTensor<float>(ws, "state", {4, 2}, {0, 0, 0, 0, 0, 0, 1, 1});
  RunOp(&ws, link("rows", 2, 1));
  ExpectTensor<float>(ws, "row", {1, 3}, {9, 10, 11});
}

TEST(RecurrentRefusalsTest, OfNetworksNameListsAndShapes) {
  Workspace ws;
  FeedRange<float>(&ws, "x", {3, 2, 2}, 1);
  Feed<float>(&ws, "init", {1, 2, 2}, {1, 1, 1, 1});
  const std::string network = SumMulNetwork();
  const std::string offsets = "ints: 0 ints: 1 ints: 0 }";
  struct NetworkRow {
    std::string from, to, message;
  };
  const NetworkRow rows[] = {
      {offsets, "ints: 0 ints: 1 }",
       "entries of argument link_offset, want those of argument link_internal (got 2, want 3)"},
      {R"(strings: "states" strings: "states" strings: "x")", R"(strings: "states")",
       "entries of argument link_external, want those of argument link_internal (got 1, want 3)"},
      {offsets, offsets + " arg { name: 'link_window' ints: 1 ints: 1 }",
       "entries of argument link_window, want those of argument link_internal (got 2, want 3)"},
      {offsets, offsets + " arg { name: 'link_window' ints: 1 ints: -2 ints: 1 }",
       "link of blob \"cur\" has offset 1 and window -2, want at least 0"},
      {offsets, "ints: 0 ints: 1 ints: -3 }",
       "link of blob \"input_t\" has offset -3 and window 1, want at least 0"},
      {"ints: 1 ints: -1", "ints: 1",
       "entries of argument alias_offset, want those of argument alias_src (got 1, want 2)"},
      {"ids\" ints: 1", "ids\" ints: 1 ints: 0",
       "entries of argument initial_recurrent_state_ids, want those of argument recurrent_states "
       "(got 2, want 1)"},
      {"ids\" ints: 1", "ids\" ints: 2",
       "argument initial_recurrent_state_ids contains 2, want an input, at most 1"},
      {R"(strings: "all" strings: "last")", R"(strings: "all" strings: "steps")",
       "argument alias_dst contains \"steps\", want an output other than the last"},
      {"ints: 1 ints: -1", "ints: 1 ints: 5",
       "output 1 (last) begins at row 5 of the state \"states\" of shape [4, 2, 2]"},
      {R"(strings: "prev" strings: "cur")", R"(strings: "prev" strings: "prev")",
       "blob \"prev\" of the step net has two links, want one"},
      {R"(strings: "prev" strings: "cur")", R"(strings: "prev" strings: "timestep")",
       "blob \"timestep\" of the step net has two links, want one"},
      {R"(n { name: "step")", R"(s: "" n { )",
       "the net in argument \"step_net\" has no name. Net definition should have a name."}};
  for (const NetworkRow& row : rows)
    ExpectRejected(&ws, Replaced(network, row.from, row.to), row.message);
  RunOp(&ws, network);
  ExpectTensor<float>(ws, "last", {1, 2, 2}, {396, 820, 1584, 2832});
  // A part of a state may be empty.
  RunOp(&ws, Replaced(network, "ints: 1 ints: -1", "ints: 1 ints: 4"));
  ExpectTensor<float>(ws, "last", {0, 2, 2}, {});
  RunOp(&ws, Replaced(network, "ints: 1 ints: -1", "ints: 1 ints: -4"));
  EXPECT_EQ(DimsOf(ws, "last"), (std::vector<int64_t>{4, 2, 2}));
  for (const auto& [dims, message] : std::map<std::vector<int64_t>, std::string>{
           {{3, 2, 2, 1}, "want [D], [N, D] or [1, N, D]"},
           {{3, 2}, "want dim 0 to be 2, as dim 1 of input 0"},
           {{1, 3, 2}, "want dim 1 to be 2, as dim 1 of input 0"}}) {
    FeedRange<float>(&ws, "init", dims);
    ExpectRejected(
        &ws, network,
        MakeString("the initial value \"init\" has shape ", IntArrayRef(dims), ", ", message));
  }
}

TEST(RecurrentRefusalsTest, OfGradientsNameWhatTheForwardRunLeft) {
  const std::string head =
      R"(type: "RecurrentNetwork" input: "x" input: "init" output: "all" output: "last"
    output: "steps")";
  const auto gradient = [&](const std::string& arguments, const std::string& given) {
    return Replaced(SumMulNetwork(arguments), head,
                    R"(type: "RecurrentNetworkGradient" )" + given +
                        R"( input: "x" input: "init" input: "all" input: "last" input: "steps"
      output: "x_grad" output: "init_grad" )");
  };
  const std::string of_all = gradient(SumMulBackward(), R"(input: "all_grad")");
  const std::string of_last =
      gradient(Replaced(SumMulBackward(), "ints: 0 }", "ints: 1 }"), R"(input: "last_grad")");
  Workspace ws;
  const auto feed = [&](int64_t steps) {
    FeedRange<float>(&ws, "x", {steps, 2, 2}, 1);
    Feed<float>(&ws, "init", {1, 2, 2}, {1, 1, 1, 1});
    Feed<float>(&ws, "all_grad", {steps, 2, 2},
                std::vector<float>(static_cast<size_t>(4 * steps), 1));
  };
  feed(5);
  RunOp(&ws, SumMulNetwork(SumMulBackward()));
  feed(3);
  RunOp(&ws, SumMulNetwork(SumMulBackward()));
  feed(6);
  ExpectRejected(&ws, of_all,
                 "workspaces of time steps in input 5 (steps): RecurrentNetwork keeps them if it "
                 "has a backward step net: got 5, want at least 6");
  feed(5);
  ExpectRejected(&ws, of_all, "the state \"states\" has shape [4, 2, 2], want [5 + 1, N, D]");
  feed(3);
  Feed<float>(&ws, "all_grad", {2, 2, 2}, std::vector<float>(8));
  ExpectRejected(&ws, of_all,
                 "elements of input 0 of shape [2, 2, 2], want those of 3 rows of the state "
                 "\"states\" of shape [4, 2, 2] (got 8, want 12)");
  Feed<float>(&ws, "last_grad", {1, 2, 3}, std::vector<float>(6));
  ExpectRejected(&ws, of_last,
                 "elements of input 0 of shape [1, 2, 3], want those of a row of the state "
                 "\"states\" of shape [4, 2, 2] (got 6, want 4)");
  feed(3);
  FeedRange<float>(&ws, "init", {5, 2, 2});
  ExpectRejected(&ws, of_all,
                 "elements of the initial value of state \"states\": got 20, want at most 16");
  ExpectRejected(
      &ws, gradient(SumMulBackward() + "arg { name: 'param' ints: -1 }", R"(input: "all_grad")"),
      "argument param contains -1, want an input of RecurrentNetwork");
  // 4 inputs follow the gradient that is given, from "init" on.
  ExpectRejected(&ws, Replaced(of_all, R"(output: "init_grad" )", ""),
                 "outputs, want one for input 0, for each parameter, and for each state (got 1, "
                 "want 2)");
  feed(3);
  RunOp(&ws, of_all);
  ExpectTensor<float>(ws, "init_grad", {1, 2, 2}, {51, 134, 255, 420});
}

TEST(RecurrentNetworkInferenceTest, OfGradientsHasTheShapesOfParametersAndStates) {
  const OperatorDef network = ParseOp(LstmNetwork("arg { name: 'outputs_with_grads' ints: 0 }"));
  const OperatorDef gradient =
      GetGradientForOp(network, {{.dense_ = "h_all_grad"}, {}, {}, {}, {}}).ops_[0];
  // x has 4 * 2 columns; h0 is one for all sequences, c0 is one for each.
  const std::map<std::string, std::vector<int64_t>> shapes = {{"h_all_grad", {5, 3, 2}},
                                                              {"x", {5, 3, 8}},
                                                              {"h0", {2}},
                                                              {"c0", {3, 2}},
                                                              {"w", {8, 2}},
                                                              {"b", {8}},
                                                              {"lengths", {3}}};
  const auto infer = [&](const std::string& unknown) {
    std::vector<TensorShape> in;
    for (const std::string& name : gradient.input()) {
      const auto found = shapes.find(name);
      in.push_back(found == shapes.end() || name == unknown
                       ? UnknownShape()
                       : CreateTensorShape(found->second, TensorProto::FLOAT));
    }
    std::map<std::string, std::vector<int64_t>> got;
    const auto out = OpSchemaRegistry::Schema(gradient.type())->InferTensor(gradient, in);
    for (int i = 0; i < gradient.output_size(); ++i) {
      const TensorShape& shape = out[static_cast<size_t>(i)];
      if (!shape.unknown_shape()) got[gradient.output(i)] = GetDimsVector(shape);
    }
    return got;
  };
  std::map<std::string, std::vector<int64_t>> want = {{"x_grad", {5, 3, 8}},
                                                      {"w_grad", {8, 2}},
                                                      {"b_grad", {8}},
                                                      {"h0_grad", {2}},
                                                      {"c0_grad", {3, 2}}};
  EXPECT_EQ(infer(""), want);
  want.erase("w_grad");
  EXPECT_EQ(infer("w"), want);
}

TEST(RecurrentNetworkInferenceTest, LeavesUnknownWhatTheRunWouldReject) {
  const auto infer = [](const std::string& op, const std::vector<TensorShape>& in) {
    const OperatorDef def = ParseOp(op);
    return OpSchemaRegistry::Schema(def.type())->InferTensor(def, in);
  };
  const auto floats = [](const std::vector<int64_t>& dims) {
    return CreateTensorShape(dims, TensorProto::FLOAT);
  };
  const std::vector<TensorShape> in = {floats({3, 2, 2}), floats({1, 2, 2})};
  const auto known = infer(SumMulNetwork(), in);
  EXPECT_EQ(GetDimsVector(known[0]), (std::vector<int64_t>{3, 2, 2}));
  EXPECT_EQ(GetDimsVector(known[1]), (std::vector<int64_t>{1, 2, 2}));
  EXPECT_EQ(known[0].data_type(), TensorProto::FLOAT);
  struct InferenceRow {
    std::string from, to;
    bool first_known, last_known;
  };
  const InferenceRow rows[] = {
      {"ints: 1 ints: -1", "ints: 5 ints: 4", false, true},
      {"ints: 1 ints: -1", "ints: 0 ints: -5", true, false},
      {R"("alias_src" strings: "states")", R"("alias_src" strings: "x")", false, true},
      {R"("alias_dst" strings: "all")", R"("alias_dst" strings: "other")", false, true},
      {"ids\" ints: 1", "ids\" ints: 2", false, false},
      {"ids\" ints: 1", "ids\" ints: -1", false, false}};
  for (const InferenceRow& row : rows) {
    const auto out = infer(Replaced(SumMulNetwork(), row.from, row.to), in);
    EXPECT_EQ(!out[0].unknown_shape(), row.first_known) << row.to;
    EXPECT_EQ(!out[1].unknown_shape(), row.last_known) << row.to;
  }
  EXPECT_TRUE(infer(SumMulNetwork(), {in[0], UnknownShape()})[0].unknown_shape());
  EXPECT_TRUE(infer(SumMulNetwork(), {floats({3}), in[1]})[0].unknown_shape());
}

TEST(RecurrentNetworkBlobFetcherTest, FollowsTheStepsAndNamesOtherBlobs) {
  Workspace ws;
  const std::string fetch = R"(type: "RecurrentNetworkBlobFetcher" input: "steps" output: "names")";
  const auto run = [&](int64_t steps) {
    FeedRange<float>(&ws, "x", {steps, 1, 1}, 1);
    Feed<float>(&ws, "init", {1, 1, 1}, {1});
    RunOp(&ws, SumMulNetwork());
    RunOp(&ws, fetch);
  };
  run(1);
  EXPECT_EQ(DimsOf(ws, "names"), std::vector<int64_t>{5});
  run(3);  // two workspaces take turns, so that the last steps are left
  EXPECT_EQ(DimsOf(ws, "names"), std::vector<int64_t>{10});
  ExpectTensor<int32_t>(ws, "rnn_timestep0", {1}, {2});
  ExpectTensor<int32_t>(ws, "rnn_timestep1", {1}, {1});
  RunOp(&ws, Replaced(SumMulNetwork(), R"(op { type: "Sum")",
                      R"(op { type: "CreateCounter" output: "count" } op { type: "Sum")"));
  ExpectRejected(&ws, fetch, "blob \"count\" of time step 0 is not a tensor");
}

}  // namespace
}  // namespace caffe2rt::test::recurrent_refusals_test
