// Which values of blobs that are overwritten, shared or kept are on IDEEP, under which names.
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/passes/conv_layouts.h"
#include "caffe2_core/graph/passes/onednn_regions.h"
#include "caffe2_core/graph/passes/user_operators.h"
#include "caffe2_core/graph/shape_inference.h"
#include "caffe2_core/model/workspace_constants.h"
#include "tests/caffe2_core/graph/passes/pass_run.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::onednn_values_test {
namespace {

using test::PassRun;
using test::Replaced;
using ::testing::ElementsAre;

// A convolution of 3x3 with padding. `more` holds more inputs and arguments.
std::string PaddedConv(const std::string& x, const std::string& w, const std::string& y,
                       const std::string& more = "") {
  return "op { type: \"Conv\" input: \"" + x + "\" input: \"" + w + "\" output: \"" + y +
         "\" arg { name: \"kernel\" i: 3 } arg { name: \"pad\" i: 1 } " + more + "} ";
}
// The same, which adds `s`.
std::string AddingConv(const std::string& x, const std::string& w, const std::string& s,
                       const std::string& y) {
  return Replaced(PaddedConv(x, w, y, "input: \"" + s + "\" arg { name: \"sum\" i: 1 } "), "Conv",
                  "ConvFusion");
}

class OnednnValuesTest : public testing::Test {
 protected:
  OnednnValuesTest() {
    test::FeedRandom(&run_.ws, "w1", {64, 3, 3, 3}, -0.2f, 0.2f, 1);
    test::FeedRandom(&run_.ws, "w2", {64, 64, 3, 3}, -0.04f, 0.04f, 2);
    test::FeedRandom(&run_.ws, "w3", {64, 64, 3, 3}, -0.04f, 0.04f, 3);
    test::FeedRandom(&run_.ws, "half", {64, 32, 3, 3}, -0.04f, 0.04f, 3);
  }
  std::vector<std::string> Lines(const std::string& text) { return run_(PlaceOnednnRegions, text); }
  // The net, if the pass changes nothing.
  std::vector<std::string> Same(const std::string& text) {
    return test::LinesOf(test::ParseNet(text));
  }
  PassRun run_;
};

TEST_F(OnednnValuesTest, EachValueOfABlobHasItsOwnName) {
  EXPECT_THAT(Lines(PaddedConv("x", "w1", "c") + PaddedConv("c", "w2", "d") +
                    PaddedConv("d", "w3", "c") + PaddedConv("c", "w2", "y")),
              ElementsAre("CopyFromCPUInput(x) -> x_ideep", "Conv(x_ideep w1) -> c_ideep",
                          "Conv(c_ideep w2) -> d_ideep", "Conv(d_ideep w3) -> c_ideep_1",
                          "Conv(c_ideep_1 w2) -> y_ideep", "EnsureCPUOutput(y_ideep) -> y"));
  // One value of c is read on the CPU, the other one is kept.
  run_.kept = {"y", "c"};
  EXPECT_THAT(
      Lines(PaddedConv("x", "w1", "c") + PaddedConv("c", "w2", "d") +
            R"(op { type: "Print" input: "c" })" + PaddedConv("d", "w3", "c") +
            PaddedConv("c", "w2", "y")),
      ElementsAre("CopyFromCPUInput(x) -> x_ideep", "Conv(x_ideep w1) -> c_ideep",
                  "EnsureCPUOutput(c_ideep) -> c", "Conv(c_ideep w2) -> d_ideep", "Print(c) ->",
                  "Conv(d_ideep w3) -> c_ideep_1", "EnsureCPUOutput(c_ideep_1) -> c",
                  "Conv(c_ideep_1 w2) -> y_ideep", "EnsureCPUOutput(y_ideep) -> y"));
}

// The copy on IDEEP is not what the operator overwrites in place. Both readers share it.
TEST_F(OnednnValuesTest, AnInputIsCopiedOnceAndNotOverwritten) {
  EXPECT_THAT(
      Lines(PaddedConv("x", "w2", "a") + R"(op { type: "Relu" input: "x" output: "x" })" +
            PaddedConv("x", "w3", "b") + R"(op { type: "Sum" input: "a" input: "b" output: "y" })"),
      ElementsAre("CopyFromCPUInput(x) -> x_ideep", "Conv(x_ideep w2) -> a_ideep",
                  "Relu(x_ideep) -> x_ideep_1", "EnsureCPUOutput(x_ideep_1) -> x",
                  "Conv(x_ideep_1 w3) -> b_ideep", "Sum(a_ideep b_ideep) -> y_ideep",
                  "EnsureCPUOutput(y_ideep) -> y"));
}

TEST_F(OnednnValuesTest, NamesThatAreInUseAreLeft) {
  test::Feed<float>(&run_.ws, "d_ideep", {1}, {1});
  run_.kept = {"y", "x_ideep"};
  EXPECT_THAT(
      Lines(PaddedConv("x", "w1", "c") + PaddedConv("c", "w2", "d") + PaddedConv("d", "w3", "y") +
            R"(op { type: "Add" input: "c_ideep" input: "d_ideep" output: "c_ideep_1" })"),
      ElementsAre("CopyFromCPUInput(x) -> x_ideep_1", "Conv(x_ideep_1 w1) -> c_ideep_2",
                  "Conv(c_ideep_2 w2) -> d_ideep_1", "Conv(d_ideep_1 w3) -> y_ideep",
                  "EnsureCPUOutput(y_ideep) -> y", "Add(c_ideep d_ideep) -> c_ideep_1"));
}

TEST_F(OnednnValuesTest, PlacedOperatorsAndCopiesHaveDeviceZero) {
  const std::string device = "device_option { device_type: 0 device_id: 1 random_seed: 5 } ";
  (void)Lines("device_option { device_id: 2 } " + PaddedConv("x", "w1", "c", device) +
              PaddedConv("c", "w2", "y"));
  ASSERT_EQ(run_.net.op_size(), 4);
  for (const OperatorDef& op : run_.net.op()) {
    EXPECT_EQ(op.device_option().device_type(), static_cast<int>(IDEEP)) << op.type();
    EXPECT_TRUE(op.device_option().has_device_id()) << op.type();
    EXPECT_EQ(op.device_option().device_id(), 0) << op.type();
  }
  EXPECT_EQ(run_.net.op(1).device_option().random_seed(), 5u);
  EXPECT_EQ(run_.net.device_option().device_id(), 2);
}

// A copy belongs to the operator that reads or computes the value.
TEST_F(OnednnValuesTest, CopiesCarryTheUsersOperators) {
  NetDef net =
      test::ParseNet(PaddedConv("x", "w1", "c", "name: \"first\" ") + PaddedConv("c", "w2", "y"));
  MarkUserOperators(&net);
  (void)Lines(net.DebugString());
  std::string users;
  for (const OperatorDef& op : run_.net.op()) {
    for (const UserOperator& user : UserOperatorsOf(op)) {
      users += MakeString(op.type(), ": ", user.position, " ", user.text, "; ");
    }
  }
  EXPECT_EQ(users,
            "CopyFromCPUInput: 0 Conv \"first\"; Conv: 0 Conv \"first\"; Conv: 1 Conv; "
            "EnsureCPUOutput: 1 Conv; ");
}

// The bias is read on the CPU.
TEST_F(OnednnValuesTest, AValueThatIsAlsoReadOnTheCpuIsCopiedBack) {
  EXPECT_THAT(Lines(PaddedConv("x", "w1", "c") + PaddedConv("c", "w2", "y", "input: \"c\" ")),
              ElementsAre("CopyFromCPUInput(x) -> x_ideep", "Conv(x_ideep w1) -> c_ideep",
                          "EnsureCPUOutput(c_ideep) -> c", "Conv(c_ideep w2 c) -> y_ideep",
                          "EnsureCPUOutput(y_ideep) -> y"));
}

TEST_F(OnednnValuesTest, AllPartsOfASplitAreOnIdeep) {
  const std::string net = PaddedConv("x", "w1", "c") +
                          R"(op { type: "Split" input: "c" output: "s" output: "t" })" +
                          PaddedConv("s", "half", "a") + PaddedConv("t", "half", "b") +
                          R"(op { type: "Sum" input: "a" input: "b" output: "y" })";
  EXPECT_THAT(Lines(net),
              ElementsAre("CopyFromCPUInput(x) -> x_ideep", "Conv(x_ideep w1) -> c_ideep",
                          "Split(c_ideep) -> s_ideep t_ideep", "Conv(s_ideep half) -> a_ideep",
                          "Conv(t_ideep half) -> b_ideep", "Sum(a_ideep b_ideep) -> y_ideep",
                          "EnsureCPUOutput(y_ideep) -> y"));
  const auto relu = Lines(PaddedConv("x", "w1", "c") + R"(
      op { type: "Split" input: "c" output: "s" output: "t" }
      op { type: "Relu" input: "t" output: "u" })" +
                          PaddedConv("u", "half", "y"));
  EXPECT_EQ(relu.at(3), "Relu(t_ideep) -> u_ideep");
  run_.kept = {"y", "t"};
  EXPECT_EQ(Lines(net)[3], "EnsureCPUOutput(t_ideep) -> t");
}

// The sizes of a join are no image. Nothing may read them, or the join stays on the CPU.
TEST_F(OnednnValuesTest, OtherOutputsMayNotBeRead) {
  const std::string net = PaddedConv("x", "w1", "c") + PaddedConv("c", "w2", "d") +
                          R"(op { type: "Concat" input: "c" input: "d" output: "y" output: "i" })";
  EXPECT_EQ(Lines(net).at(3), "Concat(c_ideep d_ideep) -> y_ideep i_ideep");
  EXPECT_EQ(Lines(net + R"(op { type: "Print" input: "i" })").at(5), "Concat(c d) -> y i");
  run_.kept = {"y", "i"};
  EXPECT_EQ(Lines(net).at(5), "Concat(c d) -> y i");
}

// Another blob shares the memory of c: it must not be written while c is in use.
TEST_F(OnednnValuesTest, SharedValuesArePlacedIfNothingWritesThemMeanwhile) {
  const std::string alias = R"(op { type: "Alias" input: "c" output: "v" })";
  EXPECT_THAT(Lines(PaddedConv("x", "w1", "c") + PaddedConv("c", "w2", "y") + alias),
              ElementsAre("CopyFromCPUInput(x) -> x_ideep", "Conv(x_ideep w1) -> c_ideep",
                          "EnsureCPUOutput(c_ideep) -> c", "Conv(c_ideep w2) -> y_ideep",
                          "EnsureCPUOutput(y_ideep) -> y", "Alias(c) -> v"));
  const std::string between = PaddedConv("x", "w1", "c") + alias + PaddedConv("c", "w2", "y");
  EXPECT_EQ(Lines(between), Same(between));
  const std::string written = PaddedConv("x", "w1", "c") +
                              R"(op { type: "Relu" input: "x" output: "v" })" +
                              PaddedConv("c", "w2", "y") + alias;
  EXPECT_EQ(Lines(written), Same(written));
}

// A control input and a nested net see the blob by its name.
TEST_F(OnednnValuesTest, NamedValuesStayOnTheCpu) {
  for (const char* more : {R"(op { type: "Relu" input: "z" output: "u" control_input: "c" })",
                           R"(op { type: "If" input: "z" arg { name: "then_net" n {
                op { type: "Relu" input: "c" output: "u" } } } })"}) {
    const std::string net = PaddedConv("x", "w1", "c") + more;
    EXPECT_EQ(Lines(net), Same(net));
  }
}

TEST_F(OnednnValuesTest, AddsInPlaceOnlyToAValueThatIsReadOnce) {
  const std::string begin = PaddedConv("x", "w1", "c") + PaddedConv("c", "w2", "d");
  const auto fused = [&](const std::string& text) {
    std::string found;
    for (const std::string& line : Lines(text)) {
      if (line.starts_with("ConvFusion")) found = line;
    }
    return found;
  };
  EXPECT_EQ(fused(begin + AddingConv("d", "w3", "c", "y")),
            "ConvFusion(d_ideep w3 c_ideep) -> c_ideep");
  // What the convolution reads it must not overwrite.
  EXPECT_EQ(fused(begin + AddingConv("d", "w3", "d", "y")),
            "ConvFusion(d_ideep w3 d_ideep) -> y_ideep");
  // In place in the net as well.
  EXPECT_EQ(fused(begin + AddingConv("d", "w3", "c", "c") + PaddedConv("c", "w2", "y")),
            "ConvFusion(d_ideep w3 c_ideep) -> c_ideep");
  // A bias is not overwritten.
  test::FeedRandom(&run_.ws, "b", {64});
  EXPECT_EQ(
      fused(begin + Replaced(PaddedConv("d", "w3", "y", "input: \"b\" "), "Conv", "ConvFusion")),
      "ConvFusion(d_ideep w3 b) -> y_ideep");
  // The copy for the CPU was made before.
  run_.kept = {"c", "y"};
  EXPECT_THAT(
      Lines(begin + AddingConv("d", "w3", "c", "y")),
      ElementsAre("CopyFromCPUInput(x) -> x_ideep", "Conv(x_ideep w1) -> c_ideep",
                  "EnsureCPUOutput(c_ideep) -> c", "Conv(c_ideep w2) -> d_ideep",
                  "ConvFusion(d_ideep w3 c_ideep) -> c_ideep", "EnsureCPUOutput(c_ideep) -> y"));
}

// Relu overwrites the value that the convolution adds in the same place.
TEST_F(OnednnValuesTest, AddsElsewhereIfAnotherOperatorOverwritesTheValue) {
  const auto lines = Lines(PaddedConv("x", "w1", "c") + PaddedConv("c", "w2", "d") +
                           AddingConv("d", "w3", "c", "s") +
                           R"(op { type: "Relu" input: "c" output: "c" }
                              op { type: "Sum" input: "c" input: "s" output: "y" })");
  EXPECT_THAT(
      lines, ElementsAre("CopyFromCPUInput(x) -> x_ideep", "Conv(x_ideep w1) -> c_ideep",
                         "Conv(c_ideep w2) -> d_ideep", "ConvFusion(d_ideep w3 c_ideep) -> s_ideep",
                         "Relu(c_ideep) -> c_ideep", "Sum(c_ideep s_ideep) -> y_ideep",
                         "EnsureCPUOutput(y_ideep) -> y"));
}

// What the CPU's own convolutions save by reading NCHW must be more than what the border costs. All
// images have the same size, so that the border is as expensive as the input and output.
TEST_F(OnednnValuesTest, ChannelsBelowSixteenGainNothing) {
  struct Row {
    int in, between, out;
    bool placed;
  };
  for (const Row& row : {Row{16, 16, 16, true}, Row{16, 15, 16, false}, Row{15, 16, 15, true},
                         Row{15, 15, 15, false}, Row{16, 15, 15, false}}) {
    PassRun run;
    test::FeedRandom(&run.ws, "a", {row.between, row.in, 3, 3});
    test::FeedRandom(&run.ws, "b", {row.out, row.between, 3, 3});
    const auto lines =
        run(PlaceOnednnRegions, PaddedConv("x", "a", "c") + PaddedConv("c", "b", "y"));
    EXPECT_EQ(lines.size(), row.placed ? 4u : 2u) << row.in << " " << row.between << " " << row.out;
  }
}

// All inputs of a sum have the same rank; those of Add may have any.
TEST_F(OnednnValuesTest, InputsOfUnknownRankAreImagesIfAllRanksAreEqual) {
  const auto net = [](const std::string& type) {
    return PaddedConv("x", "w1", "c") + "op { type: \"" + type +
           "\" input: \"c\" input: \"u\" output: \"s\" } " + PaddedConv("s", "w2", "t") +
           PaddedConv("t", "w3", "y");
  };
  EXPECT_THAT(Lines(net("Sum")),
              ElementsAre("CopyFromCPUInput(x) -> x_ideep", "Conv(x_ideep w1) -> c_ideep",
                          "CopyFromCPUInput(u) -> u_ideep", "Sum(c_ideep u_ideep) -> s_ideep",
                          "Conv(s_ideep w2) -> t_ideep", "Conv(t_ideep w3) -> y_ideep",
                          "EnsureCPUOutput(y_ideep) -> y"));
  const auto add = Lines(net("Add"));
  EXPECT_THAT(add, testing::Contains("Add(c u) -> s"));
  EXPECT_THAT(add, testing::Contains("CopyFromCPUInput(s) -> s_ideep"));
  // Nothing proves that these are images.
  const std::string relu = R"(op { type: "Sum" input: "u" input: "v" output: "x" })";
  EXPECT_EQ(Lines(relu + PaddedConv("x", "w1", "c") + PaddedConv("c", "w2", "y"))[0],
            "Sum(u v) -> x");
}

std::string ArgumentOf(const OperatorDef& op, const char* name) {
  return ArgumentHelper(op).GetSingleArgument<std::string>(name, "");
}

// In blocks, the first convolution reads three channels in NCHW.
TEST_F(OnednnValuesTest, CopiesHaveTheLayoutOfTheirReader) {
  test::FeedRandom(&run_.ws, "w4", {64, 128, 3, 3}, -0.04f, 0.04f, 7);
  const auto convs = [](const std::string& first) {
    return PaddedConv("x", first, "c") + PaddedConv("c", "w2", "a") + PaddedConv("c", "w3", "b");
  };
  const std::string blocked =
      R"(op { type: "Concat" input: "a" input: "b" output: "j" output: "sizes" })" +
      PaddedConv("j", "w4", "y");
  const std::string plain =
      R"(op { type: "Sum" input: "a" input: "b" output: "s" })" + PaddedConv("s", "w2", "y");
  (void)Lines(convs("w1") + blocked);
  EXPECT_EQ(ArgumentOf(run_.net.op(1), "layout"), "nChw16c");
  EXPECT_EQ(ArgumentOf(run_.net.op(0), "layout"), "");
  (void)Lines(convs("w2") + blocked);
  EXPECT_EQ(ArgumentOf(run_.net.op(1), "layout"), "nChw16c");
  EXPECT_EQ(ArgumentOf(run_.net.op(0), "layout"), "nChw16c");
  (void)Lines(convs("w1") + plain);
  EXPECT_EQ(ArgumentOf(run_.net.op(1), "layout"), "nhwc");
  EXPECT_EQ(ArgumentOf(run_.net.op(0), "layout"), "nhwc");
  // Only convolutions choose a layout; other copies have none.
  for (const OperatorDef& op : run_.net.op()) {
    const bool has = op.type() == "Conv" || op.type() == "CopyFromCPUInput";
    EXPECT_EQ(ArgumentHelper::HasArgument(op, "layout"), has) << op.type();
  }
}

TEST_F(OnednnValuesTest, ConvolutionsKnowThatTheyMustBeDeterministic) {
  for (const bool deterministic : {false, true}) {
    const NetDef net = test::ParseNet(PaddedConv("x", "w1", "c") +
                                      R"(op { type: "Relu" input: "c" output: "r" })" +
                                      PaddedConv("r", "w2", "y"));
    WorkspaceConstants constants(net, {"x"}, run_.kept, &run_.ws);
    PassContext context{.constants = constants};
    context.kept = run_.kept;
    context.has_operator = [](const std::string&, DeviceType) { return true; };
    context.deterministic = deterministic;
    const NetDef placed = PlaceOnednnRegions(net, context);
    for (const OperatorDef& op : placed.op()) {
      EXPECT_EQ(ArgumentHelper(op).GetSingleArgument<int>("deterministic", 0),
                deterministic && op.type() == "Conv")
          << op.type();
    }
  }
}

// So do convolutions with an activation or a sum.
TEST_F(OnednnValuesTest, FusedConvolutionsKnowThatTheyMustBeDeterministicToo) {
  const auto place = [](NetDef net, PassContext& context) {
    context.deterministic = true;
    return PlaceOnednnRegions(std::move(net), context);
  };
  (void)run_(place, PaddedConv("x", "w1", "c") + AddingConv("c", "w2", "c2", "d") +
                        AddingConv("d", "w3", "c", "y"));
  int fused = 0;
  for (const OperatorDef& op : run_.net.op()) {
    if (op.type() != "ConvFusion") continue;
    ++fused;
    EXPECT_EQ(ArgumentHelper(op).GetSingleArgument<int>("deterministic", 0), 1);
  }
  EXPECT_EQ(fused, 2);
}

// The precisions and ranges of all convolutions, pools and joins.
std::string PrecisionsOf(const NetDef& net) {
  std::string text;
  for (const OperatorDef& op : net.op()) {
    if (op.type() == "EnsureCPUOutput" || op.type() == "CopyFromCPUInput") continue;
    const ArgumentHelper args(op);
    text += op.type() + " " + args.GetSingleArgument<std::string>("precision", "-") + " " +
            args.GetSingleArgument<std::string>("output_precision", "-");
    for (const char* name : {"output_min", "output_max", "pooled_min", "pooled_max"}) {
      if (args.HasArgument(name)) {
        text += MakeString(" ", name, " ", args.GetSingleArgument<float>(name, 0));
      }
    }
    text += "; ";
  }
  return text;
}

std::string RangeText(const char* min, const char* max) {
  return MakeString(R"(arg { name: "input_min" f: )", min, R"( } arg { name: "input_max" f: )", max,
                    " } ");
}

TEST_F(OnednnValuesTest, BytesHaveBothEndsOfTheRangeOfTheirReader) {
  if (!WhyNoInt8Convs().empty()) GTEST_SKIP() << WhyNoInt8Convs();
  if (!MultipliesWholeBytes()) GTEST_SKIP() << "without VNNI, bytes do not pay with 64 channels";
  run_.precision = Precision::kInt8;
  (void)Lines(PaddedConv("x", "w1", "a", RangeText("0", "1")) +
              PaddedConv("a", "w2", "y", RangeText("-1.5", "3")));
  EXPECT_EQ(PrecisionsOf(run_.net), "Conv int8 int8 output_min -1.5 output_max 3; Conv int8 -; ");
  (void)Lines(PaddedConv("x", "w1", "a", RangeText("0", "1")) +
              R"(op { type: "AveragePool" input: "a" output: "p" arg { name: "kernel" i: 2 } })" +
              PaddedConv("p", "w2", "y", RangeText("-2", "2")) +
              PaddedConv("a", "w3", "z", RangeText("-4", "3")));
  EXPECT_EQ(PrecisionsOf(run_.net),
            "Conv int8 int8 output_min -4 output_max 3; "
            "AveragePool - int8 pooled_min -2 pooled_max 2; Conv int8 -; Conv int8 -; ");
  // Only a range with two ends, of which the first one is less, is one.
  for (const std::string& range : {RangeText("1", "1"), RangeText("2", "1"), RangeText("nan", "1"),
                                   std::string(R"(arg { name: "input_min" f: -1 } )"),
                                   std::string(R"(arg { name: "input_max" f: 1 } )")}) {
    (void)Lines(PaddedConv("x", "w1", "a", RangeText("0", "1")) +
                PaddedConv("a", "w2", "y", range));
    EXPECT_EQ(PrecisionsOf(run_.net), "Conv int8 bf16; Conv bf16 -; ") << range;
  }
}

// Convolutions of bytes keep NHWC, also if a join would be free in blocks.
TEST_F(OnednnValuesTest, RegionsWithConvolutionsOfBytesAreInNhwc) {
  if (!WhyNoInt8Convs().empty()) GTEST_SKIP() << WhyNoInt8Convs();
  if (!MultipliesWholeBytes()) GTEST_SKIP() << "without VNNI, bytes do not pay with 64 channels";
  test::FeedRandom(&run_.ws, "w4", {64, 128, 3, 3}, -0.04f, 0.04f, 7);
  const auto layouts = [&](const std::string& range) {
    (void)Lines(PaddedConv("x", "w1", "c") + PaddedConv("c", "w2", "a", range) +
                PaddedConv("c", "w3", "b") +
                R"(op { type: "Concat" input: "a" input: "b" output: "j" output: "sizes" })" +
                PaddedConv("j", "w4", "y"));
    std::set<std::string> found;
    for (const OperatorDef& op : run_.net.op()) {
      if (op.type() == "Conv") found.insert(ArgumentOf(op, "layout"));
    }
    return found;
  };
  EXPECT_THAT(layouts(RangeText("0", "1")), ElementsAre("nChw16c"));  // not asked for
  run_.precision = Precision::kInt8;
  EXPECT_THAT(layouts(RangeText("0", "1")), ElementsAre("nhwc"));
  EXPECT_THAT(layouts(""), ElementsAre("nChw16c"));
}

// The pool stays on the CPU, which knows no bf16.
TEST_F(OnednnValuesTest, ValuesOfTheCpuAreNotRounded) {
  test::FeedRandom(&run_.ws, "w4", {64, 128, 3, 3}, -0.04f, 0.04f, 7);
  run_.precision = Precision::kBfloat16;
  const auto precisions = [&](const std::string& pool) {
    (void)Lines(PaddedConv("x", "w1", "a") + PaddedConv("z", "w1", "u") +
                R"(op { type: "MaxPool" input: "u" output: "p" arg { name: "kernel" i: 1 } )" +
                pool + "}" +
                R"(op { type: "Concat" input: "a" input: "p" output: "j" output: "i" })" +
                PaddedConv("j", "w4", "y"));
    return PrecisionsOf(run_.net);
  };
  EXPECT_EQ(precisions(""),
            "Conv bf16 bf16; Conv bf16 bf16; MaxPool - bf16; Concat - bf16; Conv bf16 -; ");
  // Nor does the convolution before the pool gain anything on IDEEP.
  EXPECT_EQ(precisions(R"(engine: "FAST" )"),
            "Conv bf16 -; Conv - -; MaxPool - -; Concat - -; Conv bf16 -; ");
}

// The convolution adds what it reads last, and does not round it.
TEST_F(OnednnValuesTest, AddedValuesAreNeitherRoundedNorInTheBytesOfAFilter) {
  const auto copied = [&](const std::string& net) {
    (void)Lines(net);
    return ArgumentOf(run_.net.op(0), "output_precision");
  };
  run_.precision = Precision::kBfloat16;
  EXPECT_EQ(copied(PaddedConv("x", "w2", "a") + PaddedConv("a", "w3", "y")), "bf16");
  EXPECT_EQ(copied(PaddedConv("x", "w2", "a") + AddingConv("a", "w3", "x", "y")), "");
  if (!WhyNoInt8Convs().empty() || !MultipliesWholeBytes()) return;  // bytes do not pay
  run_.precision = Precision::kInt8;
  const std::string range = RangeText("0", "1");
  EXPECT_EQ(copied(PaddedConv("x", "w2", "a", range) + PaddedConv("a", "w3", "y")), "");
  const auto precisions = [&](const std::string& net) {
    (void)Lines(net);
    return PrecisionsOf(run_.net);
  };
  const auto adding = [&](const std::string& s) {
    return Replaced(
        PaddedConv("d", "w3", "e", "input: \"" + s + "\" arg { name: \"sum\" i: 1 } " + range),
        "Conv", "ConvFusion");
  };
  // c is added: not in bytes, although a convolution of bytes is its only other reader.
  const std::string begin = PaddedConv("x", "w1", "c", range) + PaddedConv("c", "w2", "d", range);
  EXPECT_THAT(precisions(begin + adding("c") + PaddedConv("e", "w2", "y")),
              testing::Not(testing::StartsWith("Conv int8 int8")));
  EXPECT_THAT(precisions(begin + PaddedConv("d", "w3", "y", range)),
              testing::StartsWith("Conv int8 int8 output_min 0 output_max 1; Conv int8 int8"));
  // What a convolution with a sum writes is not in bytes.
  const std::string sum = precisions(begin + adding("c") + PaddedConv("e", "w2", "y", range));
  EXPECT_THAT(sum, testing::HasSubstr("ConvFusion int8"));
  EXPECT_THAT(sum, testing::Not(testing::HasSubstr("ConvFusion int8 int8")));
}

TEST_F(OnednnValuesTest, TheLeastPrecisionIsAllowedItself) {
  const auto precision = [&](const std::string& least) {
    (void)Lines(PaddedConv("x", "w1", "a") +
                PaddedConv("a", "w2", "y",
                           RangeText("0", "1") + "arg { name: \"least_precision\" s: \"" + least +
                               "\" } "));
    return ArgumentOf(run_.net.op(2), "precision");
  };
  run_.precision = Precision::kBfloat16;
  EXPECT_EQ(precision("bf16"), "bf16");
  EXPECT_EQ(precision("f32"), "");
  EXPECT_EQ(precision(""), "bf16");
  EXPECT_EQ(precision("int8"), "bf16");
  if (!WhyNoInt8Convs().empty() || !MultipliesWholeBytes()) return;  // bytes do not pay
  run_.precision = Precision::kInt8;
  EXPECT_EQ(precision("bf16"), "bf16");
  EXPECT_EQ(precision("int8"), "int8");
  EXPECT_EQ(precision(""), "int8");
  EXPECT_EQ(precision("f32"), "");
}

TEST_F(OnednnValuesTest, FiltersOfOneAxisStayOnTheCpu) {
  test::FeedRandom(&run_.ws, "flat", {64, 64, 3}, -0.04f, 0.04f, 3);
  const auto lines =
      Lines(PaddedConv("x", "w1", "a") + PaddedConv("a", "w2", "b") + PaddedConv("b", "flat", "y"));
  EXPECT_EQ(lines.back(), "Conv(b flat) -> y");
}

// Another operator than a convolution reads its copy in the layout of its region.
TEST_F(OnednnValuesTest, CopiesForJoinsAreInTheLayoutOfTheRegion) {
  test::FeedRandom(&run_.ws, "w4", {64, 128, 3, 3}, -0.04f, 0.04f, 7);
  (void)Lines(PaddedConv("x", "w1", "c") + PaddedConv("c", "w2", "a") + PaddedConv("c", "w3", "b") +
              R"(op { type: "Sum" input: "a" input: "u" output: "s" }
                 op { type: "Concat" input: "s" input: "b" output: "j" output: "sizes" })" +
              PaddedConv("j", "w4", "y"));
  std::set<std::string> copies, convs;
  for (const OperatorDef& op : run_.net.op()) {
    if (op.type() == "Conv") convs.insert(ArgumentOf(op, "layout"));
    if (op.type() == "CopyFromCPUInput" && op.input(0) == "u") {
      copies.insert(ArgumentOf(op, "layout"));
    }
  }
  EXPECT_EQ(copies.size(), 1u);
  EXPECT_EQ(copies, convs);
}

}  // namespace
}  // namespace caffe2rt::onednn_values_test
