#include "operators/recurrent/lstm_unit.h"

#include "caffe2_core/graph/device_inference.h"
#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::lstm_unit_test {
namespace {

float Sigmoid(float x) { return 1 / (1 + std::exp(-x)); }

// One element, with the formulas of the paper.
struct Expected {
  std::vector<float> h, c;
};
Expected Reference(int64_t n, int64_t d, const std::vector<float>& c_before,
                   const std::vector<float>& gates, float forget_bias) {
  Expected want;
  for (int64_t row = 0; row < n; ++row) {
    for (int64_t i = 0; i < d; ++i) {
      const float* x = gates.data() + row * 4 * d + i;
      const float old = c_before[static_cast<size_t>(row * d + i)];
      const float c = Sigmoid(x[d] + forget_bias) * old + Sigmoid(x[0]) * std::tanh(x[3 * d]);
      want.c.push_back(c);
      want.h.push_back(Sigmoid(x[2 * d]) * std::tanh(c));
    }
  }
  return want;
}

constexpr char kUnit[] = R"(type: "LSTMUnit" input: "h0" input: "c0" input: "gates" input: "lengths"
    input: "t" output: "h" output: "c" )";
constexpr char kWithoutLengths[] = R"(type: "LSTMUnit" input: "h0" input: "c0" input: "gates"
    input: "t" output: "h" output: "c" arg { name: "sequence_lengths" i: 0 } )";

class LSTMUnitTest : public testing::Test {
 protected:
  void FeedAll(int64_t n, int64_t d) {
    FeedRandom(&ws_, "h0", {1, n, d}, -1, 1, 1);
    FeedRandom(&ws_, "c0", {1, n, d}, -2, 2, 2);
    FeedRandom(&ws_, "gates", {1, n, 4 * d}, -3, 3, 3);
    Feed<int32_t>(&ws_, "t", {1}, {1});
  }
  Workspace ws_;
};

TEST_F(LSTMUnitTest, ComputesOneElementByHand) {
  Feed<float>(&ws_, "h0", {1, 1, 1}, {7});
  Feed<float>(&ws_, "c0", {1, 1, 1}, {2});
  Feed<float>(&ws_, "gates", {1, 1, 4}, {0, 0, 0, 0.5f});
  Feed<int32_t>(&ws_, "lengths", {1}, {1});
  Feed<int32_t>(&ws_, "t", {1}, {0});
  RunOp(&ws_, kUnit);
  // c = 0.5 * 2 + 0.5 * tanh(0.5), h = 0.5 * tanh(c)
  ExpectTensor<float>(ws_, "c", {1, 1, 1}, {1.2310586f}, 1e-6);
  ExpectTensor<float>(ws_, "h", {1, 1, 1}, {0.4214431f}, 1e-6);
}

TEST_F(LSTMUnitTest, AgreesWithTheFormulas) {
  for (const int64_t d : {1, 3, 16, 37}) {
    FeedAll(5, d);
    for (const float bias : {0.0f, 1.0f}) {
      RunOp(&ws_, MakeString(kWithoutLengths, "arg { name: 'forget_bias' f: ", bias, " }"));
      const Expected want =
          Reference(5, d, Fetch<float>(ws_, "c0"), Fetch<float>(ws_, "gates"), bias);
      ExpectTensor<float>(ws_, "h", {1, 5, d}, want.h, 1e-6);
      ExpectTensor<float>(ws_, "c", {1, 5, d}, want.c, 1e-6);
    }
  }
}

TEST_F(LSTMUnitTest, KeepsOrDropsTheStatesOfSequencesThatHaveEnded) {
  FeedAll(3, 2);
  Feed<int32_t>(&ws_, "lengths", {3}, {1, 2, -4});
  const std::vector<float> h0 = Fetch<float>(ws_, "h0"), c0 = Fetch<float>(ws_, "c0");
  const Expected all = Reference(3, 2, c0, Fetch<float>(ws_, "gates"), 0);
  RunOp(&ws_, kUnit);
  ExpectTensor<float>(ws_, "h", {1, 3, 2}, {h0[0], h0[1], all.h[2], all.h[3], h0[4], h0[5]}, 1e-6);
  ExpectTensor<float>(ws_, "c", {1, 3, 2}, {c0[0], c0[1], all.c[2], all.c[3], c0[4], c0[5]}, 1e-6);
  RunOp(&ws_, MakeString(kUnit, "arg { name: 'drop_states' i: 1 }"));
  ExpectTensor<float>(ws_, "h", {1, 3, 2}, {0, 0, all.h[2], all.h[3], 0, 0}, 1e-6);
  ExpectTensor<float>(ws_, "c", {1, 3, 2}, {0, 0, all.c[2], all.c[3], 0, 0}, 1e-6);
}

TEST_F(LSTMUnitTest, AcceptsEmptyBatchesAndStates) {
  FeedAll(0, 3);
  RunOp(&ws_, kWithoutLengths);
  ExpectTensor<float>(ws_, "h", {1, 0, 3}, {});
  FeedAll(2, 0);
  RunOp(&ws_, kWithoutLengths);
  ExpectTensor<float>(ws_, "c", {1, 2, 0}, {});
  Feed<float>(&ws_, "h0", {2, 0, 2}, {});
  Feed<float>(&ws_, "c0", {2, 0, 2}, {});
  Feed<float>(&ws_, "gates", {2, 0, 8}, {});
  RunOp(&ws_, kWithoutLengths);
  ExpectTensor<float>(ws_, "h", {2, 0, 2}, {});
}

TEST_F(LSTMUnitTest, InfersTheShapeOfTheStates) {
  FeedAll(3, 2);
  ExpectShapeInferred(&ws_, kWithoutLengths);
}
TEST_F(LSTMUnitTest, HasTheGradientOfTheFormulas) {
  FeedAll(3, 2);
  Feed<int32_t>(&ws_, "lengths", {3}, {2, 1, 3});
  for (const int drop : {0, 1}) {
    ExpectGradientMatches(&ws_, MakeString(kUnit, "arg { name: 'drop_states' i: ", drop,
                                           " } arg { name: 'forget_bias' f: 0.5 }"));
  }
  ExpectGradientMatches(&ws_, kWithoutLengths);
}

// The time step, which comes behind the lengths if there are any, is on the CPU.
TEST(LSTMUnitDevicesTest, TheTimeStepAloneIsOnTheCpu) {
  struct UnitRow {
    const char* type;
    int inputs, outputs, lengths;  // without the input of the lengths, and where that would be
  };
  for (const UnitRow& row : {UnitRow{"LSTMUnit", 4, 2, 3}, UnitRow{"LSTMUnitGradient", 8, 3, 3},
                             UnitRow{"GRUUnit", 3, 1, 2}, UnitRow{"GRUUnitGradient", 5, 2, 2}}) {
    for (const bool has_lengths : {true, false}) {
      SCOPED_TRACE(MakeString(row.type, has_lengths));
      OperatorDef def =
          ParseOp(MakeString("type: '", row.type, "' device_option { device_type: 1 device_id: 3 }",
                             has_lengths ? "" : " arg { name: 'sequence_lengths' i: 0 }"));
      for (int i = 0; i < row.inputs + (has_lengths ? 1 : 0); ++i)
        def.add_input(MakeString("i", i));
      for (int i = 0; i < row.outputs; ++i) def.add_output(MakeString("o", i));
      const auto [inputs, outputs] = InferOpInputOutputDevice(def);
      ASSERT_EQ(static_cast<int>(inputs.size()), def.input_size());
      for (int i = 0; i < def.input_size(); ++i) {
        const bool on_cpu = i == row.lengths + (has_lengths ? 1 : 0);
        EXPECT_EQ(inputs[static_cast<size_t>(i)].device_type(), on_cpu ? CPU : CUDA) << i;
        if (!on_cpu) {
          EXPECT_EQ(inputs[static_cast<size_t>(i)].device_id(), 3);
        }
      }
      ASSERT_EQ(static_cast<int>(outputs.size()), row.outputs);
      for (const DeviceOption& output : outputs) EXPECT_EQ(output.device_type(), CUDA);
    }
  }
}

TEST_F(LSTMUnitTest, MakesOneGradientOperator) {
  EXPECT_EQ(DescribeGradient(kWithoutLengths),
            "LSTMUnitGradient(h0,c0,gates,t,h,c,h_grad,c_grad)->h0_grad,c0_grad,gates_grad "
            "sequence_lengths=0 | h0_grad c0_grad gates_grad -");
}

// With drop_states, or without lengths, nothing of the hidden state before is kept.
TEST_F(LSTMUnitTest, NeedsTheHiddenStateOnlyToKeepIt) {
  FeedAll(2, 3);
  FeedRandom(&ws_, "h0", {1, 1, 3});
  Feed<int32_t>(&ws_, "lengths", {2}, {1, 2});
  RunOp(&ws_, kWithoutLengths);
  const std::vector<float> c = Fetch<float>(ws_, "c");
  RunOp(&ws_, MakeString(kUnit, "arg { name: 'drop_states' i: 1 }"));
  const std::vector<float> dropped = Fetch<float>(ws_, "c");
  EXPECT_EQ(dropped, (std::vector<float>{0, 0, 0, c[3], c[4], c[5]}));
  ExpectThrows([&] { RunOp(&ws_, kUnit); }, "elements of input 0 (hidden_t_prev)");
}

TEST_F(LSTMUnitTest, NamesWhatDoesNotFit) {
  FeedAll(2, 3);
  Feed<int32_t>(&ws_, "lengths", {2}, {1, 2});
  const auto fails = [&](const std::string& part) {
    ExpectThrows([&] { RunOp(&ws_, kUnit); }, part);
    Feed<int32_t>(&ws_, "lengths", {2}, {1, 2});
    FeedAll(2, 3);
  };
  FeedRandom(&ws_, "gates", {1, 2, 11});
  fails("dim 2 of input 2 (gates) of shape [1, 2, 11], want 4 times dim 2 of input 1");
  FeedRandom(&ws_, "gates", {1, 1, 12});
  fails("elements of input 2 (gates) of shape [1, 1, 12]");
  FeedRandom(&ws_, "gates", {24});
  fails("rank of input 2 (gates) of shape [24]");
  FeedRandom(&ws_, "c0", {2, 2, 3});
  fails("elements of input 1 (cell_t_prev) of shape [2, 2, 3], want [1, batch, size]");
  FeedRandom(&ws_, "c0", {2, 3});
  fails("rank of input 1 (cell_t_prev) of shape [2, 3], want [1, batch, size]");
  FeedRandom(&ws_, "h0", {1, 1, 3});
  fails("elements of input 0 (hidden_t_prev) of shape [1, 1, 3], want those of the whole batch");
  Feed<int32_t>(&ws_, "lengths", {3}, {1, 2, 3});
  fails("elements of input 3 (seq_lengths), want one for each row of the batch");
  Feed<int64_t>(&ws_, "lengths", {2}, {1, 2});
  fails("want int");
  Feed<int32_t>(&ws_, "t", {0}, {});
  fails("elements of input 4 (timestep)");
}

// The gradient does not need the hidden state after the step, but it is an input of floats.
TEST_F(LSTMUnitTest, HasAGradientOfFloatsOnly) {
  FeedAll(2, 3);
  FeedRandom(&ws_, "c", {1, 2, 3}, -1, 1, 4);
  FeedRandom(&ws_, "dh", {1, 2, 3}, -1, 1, 5);
  FeedRandom(&ws_, "dc", {1, 2, 3}, -1, 1, 6);
  const char* const gradient = R"(type: "LSTMUnitGradient" input: "h0" input: "c0" input: "gates"
      input: "t" input: "h" input: "c" input: "dh" input: "dc" output: "dh0" output: "dc0"
      output: "dgates" arg { name: "sequence_lengths" i: 0 })";
  FeedRandom(&ws_, "h", {1, 2, 3}, -1, 1, 7);
  RunOp(&ws_, gradient);
  Feed<double>(&ws_, "h", {1, 2, 3}, std::vector<double>(6));
  ExpectThrows([&] { RunOp(&ws_, gradient); }, "double");
}

}  // namespace
}  // namespace caffe2rt::test::lstm_unit_test
