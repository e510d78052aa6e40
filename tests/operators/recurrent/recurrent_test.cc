// What Recurrent and its parameters take and infer. The operators themselves run on CUDA only.
#include "operators/recurrent/recurrent.h"

#include "caffe2_core/graph/gradient.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"

namespace caffe2rt::test::recurrent_test {
namespace {

using Dims = std::vector<int64_t>;

std::string Arguments(const std::string& mode, const std::string& input_mode = "linear",
                      const std::string& more = "") {
  return R"(arg { name: "hidden_size" i: 3 } arg { name: "num_layers" i: 2 }
    arg { name: "rnn_mode" s: ")" +
         mode + R"(" } arg { name: "input_mode" s: ")" + input_mode + R"(" } )" + more;
}
std::string Forward(const std::string& arguments) {
  return R"(type: "Recurrent" input: "x" input: "h" input: "c" input: "w" output: "y"
    output: "h_last" output: "c_last" output: "scratch" output: "dropout" )" +
         arguments;
}
const std::string kBothDirections = R"(arg { name: "bidirectional" i: 1 } )";

TensorShape Floats(const Dims& dims) { return CreateTensorShape(dims, TensorProto::FLOAT); }

std::vector<TensorShape> Infer(const std::string& op, const std::vector<TensorShape>& in) {
  const OperatorDef def = ParseOp(op);
  return OpSchemaRegistry::Schema(def.type())->InferTensor(def, in);
}

TEST(RecurrentTest, InfersStatesOfAllLayersAndDirections) {
  const std::vector<TensorShape> in = {Floats({5, 2, 4}), Floats({2, 2, 3}), Floats({2, 2, 3}),
                                       Floats({99})};
  for (const char* mode : {"lstm", "gru", "relu", "tanh"}) {
    const auto one = Infer(Forward(Arguments(mode)), in);
    ASSERT_EQ(one.size(), 5u);
    EXPECT_EQ(GetDimsVector(one[0]), (Dims{5, 2, 3}));
    EXPECT_EQ(GetDimsVector(one[1]), (Dims{2, 2, 3}));
    EXPECT_EQ(GetDimsVector(one[2]), (Dims{2, 2, 3}));
    const auto both = Infer(Forward(Arguments(mode, "linear", kBothDirections)), in);
    EXPECT_EQ(GetDimsVector(both[0]), (Dims{5, 2, 6}));
    EXPECT_EQ(GetDimsVector(both[1]), (Dims{4, 2, 3}));
    EXPECT_EQ(GetDimsVector(both[2]), (Dims{4, 2, 3}));
    for (const auto* out : {&one, &both}) {
      for (size_t i = 0; i < 3; ++i) EXPECT_EQ((*out)[i].data_type(), TensorProto::FLOAT);
      EXPECT_TRUE((*out)[3].unknown_shape());
      EXPECT_TRUE((*out)[4].unknown_shape());
    }
  }
  for (const TensorShape& shape :
       Infer(Forward(Arguments("gru")), {UnknownShape(), in[1], in[2], in[3]})) {
    EXPECT_TRUE(shape.unknown_shape());
  }
}

TEST(RecurrentTest, InfersGradientsLikeTheInputs) {
  const std::string gradient = R"(type: "RecurrentGradient" input: "x" input: "h" input: "c"
    input: "w" input: "scratch" input: "y" input: "dy" output: "dx" output: "dh" output: "dc"
    output: "dw" output: "dropout" output: "scratch" )" +
                               Arguments("lstm");
  std::vector<TensorShape> in = {Floats({5, 2, 4}), Floats({2, 2, 3}), Floats({2, 2, 3}),
                                 Floats({99}),      Floats({7}),       Floats({5, 2, 3}),
                                 Floats({5, 2, 3})};
  auto out = Infer(gradient, in);
  ASSERT_EQ(out.size(), 6u);
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(GetDimsVector(out[i]), GetDimsVector(in[i])) << i;
  EXPECT_TRUE(out[4].unknown_shape());
  EXPECT_EQ(GetDimsVector(out[5]), (Dims{7}));
  in[4] = UnknownShape();
  out = Infer(gradient, in);
  EXPECT_EQ(GetDimsVector(out[3]), (Dims{99}));
  EXPECT_TRUE(out[5].unknown_shape());
  in[3] = UnknownShape();
  for (const TensorShape& shape : Infer(gradient, in)) EXPECT_TRUE(shape.unknown_shape());
}

TEST(RecurrentTest, MakesOneGradientOperatorThatReusesTheScratch) {
  const GradientOpsMeta gradient =
      GetGradientForOp(ParseOp(Forward(Arguments("lstm"))), {{.dense_ = "dy"}, {}, {}, {}, {}});
  ASSERT_EQ(gradient.ops_.size(), 1u);
  const OperatorDef& op = gradient.ops_[0];
  EXPECT_EQ(op.type(), "RecurrentGradient");
  EXPECT_THAT(op.input(), testing::ElementsAre("x", "h", "c", "w", "scratch", "y", "dy"));
  EXPECT_THAT(op.output(),
              testing::ElementsAre("x_grad", "h_grad", "c_grad", "w_grad", "dropout", "scratch"));
  for (size_t i = 0; i < 4; ++i)
    EXPECT_EQ(gradient.g_input_[i].dense_, op.output(static_cast<int>(i)));
}

RecurrentSizes SizesOf(const std::string& arguments) {
  return ReadRecurrent(ArgumentHelper(ParseOp(Forward(arguments))));
}

TEST(RecurrentTest, ReadsItsArguments) {
  const RecurrentSizes plain = SizesOf(Arguments("tanh"));
  EXPECT_EQ(plain.layers, 2);
  EXPECT_EQ(plain.hidden, 3);
  EXPECT_EQ(plain.directions, 1);
  EXPECT_FALSE(plain.skips_input);
  EXPECT_EQ(plain.keep, 1.0f);
  EXPECT_EQ(plain.seed, 0);
  EXPECT_FALSE(plain.drops());
  EXPECT_FALSE(plain.has_cells());
  EXPECT_EQ(plain.gates(), 1);
  const RecurrentSizes full =
      SizesOf(Arguments("lstm", "skip", kBothDirections + R"(arg { name: "dropout" f: 0.5 }
                                             arg { name: "seed" i: 8 })"));
  EXPECT_EQ(full.directions, 2);
  EXPECT_TRUE(full.skips_input);
  EXPECT_EQ(full.keep, 0.5f);
  EXPECT_EQ(full.seed, 8);
  EXPECT_TRUE(full.drops());
  EXPECT_TRUE(full.has_cells());
  EXPECT_EQ(full.gates(), 4);
  EXPECT_EQ(SizesOf(Arguments("gru")).gates(), 3);
  RecurrentSizes one_layer = full;
  one_layer.layers = 1;  // nothing is between two layers
  EXPECT_FALSE(one_layer.drops());
}

TEST(RecurrentTest, NamesWhatDoesNotFitTheInput) {
  RecurrentSizes sizes = SizesOf(Arguments("lstm"));
  RecurrentSizes skips = SizesOf(Arguments("lstm", "skip"));
  const auto set = [](RecurrentSizes* to, const Dims& x) {
    return [to, x] { SetRecurrentSizes(x, to); };
  };
  ExpectRefusals(
      {{set(&sizes, {5, 2}),
        "rank of input 0 (X) of shape [5, 2], want 3: steps, batch, columns (got 2, want 3)"},
       {set(&sizes, {5, 2, 0}),
        "columns of input 0 (X) of shape [5, 2, 0]: got 0, want more than 0"},
       {set(&skips, {5, 2, 4}),
        "input 0 (X) has shape [5, 2, 4], want 3 columns, those of argument hidden_size, because "
        "argument input_mode is \"skip\""},
       {[] {
          CheckRecurrentInput(1, "hidden_input", Dims{1, 2}, Dims{2, 1});
        },
        "input 1 (hidden_input) has shape [1, 2], want [2, 1]"}});
  for (const size_t dim : {0, 1, 2}) {
    Dims x = {5, 2, 4};
    x[dim] = int64_t{1} << 31;
    ExpectThrows(set(&sizes, x), "a dimension of input 0 (X)");
  }
  // 4 gates of 3 units for each row: 2^31 * 2^30 * 12 is above 2^63.
  EXPECT_THROW(SetRecurrentSizes(Dims{INT32_MAX, INT32_MAX, 1}, &sizes), EnforceNotMet);
  SetRecurrentSizes(Dims{INT32_MAX, 1, 1}, &sizes);
  EXPECT_EQ(sizes.steps, INT32_MAX);
  SetRecurrentSizes(Dims{0, 0, 3}, &skips);
  EXPECT_EQ(skips.input, 3);
  SetRecurrentSizes(Dims{5, 2, 4}, &sizes);
  EXPECT_EQ(sizes.steps, 5);
  EXPECT_EQ(sizes.batch, 2);
  EXPECT_EQ(sizes.input, 4);
  CheckRecurrentInput(1, "hidden_input", Dims{2, 1}, Dims{2, 1});
}

struct ParameterRow {
  std::string mode, type, input_type;
  int layer;
  int transform;
  bool is_bias = false;
};

RecurrentParameter Parameter(const ParameterRow& row, const std::string& more = "") {
  const OperatorDef def =
      ParseOp(MakeString(Forward(Arguments(row.mode, "linear", more)),
                         " arg { name: 'layer' i: ", row.layer, " } arg { name: 'param_type' s: '",
                         row.type, "' } arg { name: 'input_type' s: '", row.input_type, "' }"));
  const ArgumentHelper args(def);
  return ReadRecurrentParameter(args, ReadRecurrent(args));
}

TEST(RecurrentTest, NumbersParametersInTheOrderOfCudnn) {
  const ParameterRow rows[] = {{"lstm", "input_gate_w", "input", 0, 0},
                               {"lstm", "forget_gate_w", "input", 1, 1},
                               {"lstm", "cell_w", "input", 0, 2},
                               {"lstm", "output_gate_b", "input", 0, 3, true},
                               {"lstm", "input_gate_b", "recurrent", 0, 4, true},
                               {"lstm", "output_gate_w", "recurrent", 1, 7},
                               {"gru", "reset_gate_w", "input", 0, 0},
                               {"gru", "update_gate_w", "input", 0, 1},
                               {"gru", "cell_b", "recurrent", 1, 5, true},
                               {"relu", "cell_w", "input", 0, 0},
                               {"tanh", "cell_b", "recurrent", 0, 1, true}};
  for (const ParameterRow& row : rows) {
    const RecurrentParameter got = Parameter(row);
    EXPECT_EQ(got.layer, row.layer) << row.mode << " " << row.type;
    EXPECT_EQ(got.transform, row.transform) << row.mode << " " << row.type;
    EXPECT_EQ(got.is_bias, row.is_bias) << row.mode << " " << row.type;
  }
  EXPECT_EQ(Parameter({"gru", "cell_w", "input", 3, 2}, kBothDirections).layer, 3);
}

TEST(RecurrentTest, HasAtMost1024Layers) {
  for (const auto& [layers, accepted] :
       {std::pair(0, false), {1, true}, {1024, true}, {1025, false}}) {
    OperatorDef def = ParseOp(Forward(Arguments("lstm")));
    for (Argument& arg : *def.mutable_arg()) {
      if (arg.name() == "num_layers") arg.set_i(layers);
    }
    std::vector<std::string> want;
    if (!accepted)
      want = {MakeString("argument \"num_layers\" is ", layers, ", want from 1 to 1024")};
    EXPECT_EQ(OpSchemaRegistry::Schema("Recurrent")->ArgumentProblems(def), want) << layers;
  }
}

TEST(RecurrentTest, NamesUnknownParameters) {
  const auto read = [](const ParameterRow& row, const std::string& more = "") {
    return [row, more] { (void)Parameter(row, more); };
  };
  ExpectRefusals(
      {{read({"gru", "cell_w", "input", 2, 0}),
        "argument layer is 2, want at least 0 and below 2, num_layers times the number of "
        "directions"},
       {read({"gru", "cell_w", "input", -1, 0}),
        "argument layer is -1, want at least 0 and below 2, num_layers times the number of "
        "directions"},
       {read({"gru", "cell_w", "input", 4, 0}, kBothDirections),
        "argument layer is 4, want at least 0 and below 4, num_layers times the number of "
        "directions"},
       {read({"gru", "input_gate_w", "input", 0, 0}),
        "argument param_type is \"input_gate_w\", want one of reset_gate_w, update_gate_w, "
        "cell_w, or a bias with _b in place of _w, because argument rnn_mode is \"gru\""},
       {read({"relu", "cell", "input", 0, 0}),
        "argument param_type is \"cell\", want one of cell_w, or a bias with _b in place of _w, "
        "because argument rnn_mode is \"relu\""},
       {read({"gru", "cell_w", "state", 0, 0}),
        "argument \"input_type\" is \"state\", want input or recurrent"}});
}

}  // namespace
}  // namespace caffe2rt::test::recurrent_test
