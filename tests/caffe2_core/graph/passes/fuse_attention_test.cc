#include "caffe2_core/graph/passes/fuse_attention.h"

#include "caffe2_core/graph/arguments.h"
#include "tests/caffe2_core/graph/passes/pass_run.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::fuse_attention_test {
namespace {

using ::testing::ElementsAre;

// Batch 2, 5 queries, 7 keys, 3 heads of 4 columns.
class FuseAttentionTest : public testing::Test {
 protected:
  FuseAttentionTest() {
    test::Feed<float>(&run_.ws, "root", {}, {2});
    test::Feed<float>(&run_.ws, "half", {1}, {0.5f});
    test::Feed<float>(&run_.ws, "zero", {1}, {0});
    test::FeedRandom(&run_.ws, "vector", {7}, -1, 1, 9);
    test::Feed<int64_t>(&run_.ws, "shape", {4}, {0, 0, 3, 4});
  }
  std::vector<std::string> Lines(const std::string& text) { return run_(FuseAttention, text); }
  static std::string With(const std::string& what, const std::string& with,
                          const std::string& text = Net()) {
    return test::Replaced(text, what, with);
  }
  static std::string Without(const std::string& what, const std::string& text = Net()) {
    return With(what, "", text);
  }
  // Runs the net and what the pass makes of it, and expects the same values.
  void ExpectSameValues(const std::string& text,
                        const std::vector<int64_t>& query_dims = {2, 5, 12},
                        const std::vector<int64_t>& key_dims = {2, 7, 12},
                        const std::vector<int64_t>& mask_dims = {2, 1, 1, 7}) {
    SCOPED_TRACE(text);
    for (const char* const name : {"q", "k", "v", "mask"}) run_.ws.RemoveBlob(name);
    Lines(text);
    test::FeedRandom(&run_.ws, "q", query_dims, -2, 2, 1);
    test::FeedRandom(&run_.ws, "k", key_dims, -2, 2, 2);
    test::FeedRandom(&run_.ws, "v", key_dims, -2, 2, 3);
    test::FeedRandom(&run_.ws, "mask", mask_dims, -2, 2, 4);
    run_.ws.RunNetOnce(test::ParseNet(text));
    const auto want = test::Fetch<float>(run_.ws, "y");
    const auto dims = test::DimsOf(run_.ws, "y");
    run_.ws.RunNetOnce(run_.net);
    test::ExpectTensor<float>(run_.ws, "y", dims, want, 3e-6);
  }

  static std::string Split(const std::string& name, const std::string& axes) {
    return "op { type: \"Reshape\" input: \"" + name + "\" output: \"" + name + "4\" output: \"" +
           name + "_old\" arg { name: \"shape\" ints: 0 ints: 0 ints: 3 ints: 4 } }" +
           "op { type: \"Transpose\" input: \"" + name + "4\" output: \"" + name + "t\" " +
           Axes(axes) + " }";
  }
  static std::string Axes(const std::string& axes) {
    std::string arg = "arg { name: \"axes\"";
    for (const char axis : axes) arg += std::string(" ints: ") + axis;
    return arg + " }";
  }
  static std::string Net() {
    return Split("q", "0213") + Split("k", "0231") + Split("v", "0213") + R"(
      op { type: "BatchMatMul" input: "qt" input: "kt" output: "scores" }
      op { type: "Div" input: "scores" input: "root" output: "scaled" }
      op { type: "Add" input: "scaled" input: "mask" output: "masked" }
      op { type: "Softmax" input: "masked" output: "p" arg { name: "axis" i: 3 } }
      op { type: "BatchMatMul" input: "p" input: "vt" output: "c" }
      op { type: "Transpose" input: "c" output: "ct" )" +
           Axes("0213") + R"( }
      op { type: "Reshape" input: "ct" output: "y" output: "y_old"
           arg { name: "shape" ints: 0 ints: 0 ints: 12 } })";
  }
  // The net in which weights that are NaN become 0, as PyTorch's exporters write it.
  static std::string WithoutNans() {
    return With("op { type: \"BatchMatMul\" input: \"p\"", R"(
      op { type: "IsNaN" input: "p" output: "nan" }
      op { type: "Cast" input: "nan" output: "isnan" arg { name: "to" i: 5 } }
      op { type: "ONNXWhere" input: "isnan" input: "zero" input: "p" output: "w" }
      op { type: "BatchMatMul" input: "w")");
  }
  static constexpr size_t kOperators = 13;
  test::PassRun run_;
};

TEST_F(FuseAttentionTest, ReplacesAttentionWithItsReshapes) {
  ExpectSameValues(Net());
  EXPECT_THAT(test::LinesOf(run_.net), ElementsAre("MultiHeadAttention(q k v mask) -> y"));
  EXPECT_EQ(GetArgument(run_.net.op(0), "scale").f(), 0.5f);
}

TEST_F(FuseAttentionTest, ReplacesEverySpelling) {
  const std::string add = R"(op { type: "Add" input: "scaled" input: "mask" output: "masked" })";
  const std::string div = R"(op { type: "Div" input: "scores" input: "root" output: "scaled" })";
  const std::string trans_b =
      With("input: \"kt\"", "input: \"kt\" arg { name: \"trans_b\" i: 1 }",
           Split("q", "0213") + Split("k", "0213") + Net().substr(Net().find(Split("v", "0213"))));
  struct Case {
    std::string text;
    size_t operators = 1;
  };
  const Case cases[] = {
      {trans_b},
      {With("input: \"qt\"", "input: \"qt\" arg { name: \"trans_a\" i: 1 }",
            With(Split("q", "0213"), Split("q", "0231")))},
      {With("input: \"vt\" output", "input: \"vt\" arg { name: \"trans_b\" i: 1 } output",
            With(Split("v", "0213"), Split("v", "0231")))},
      // Two transpositions of the keys.
      {With("input: \"kt\" output: \"scores\"", "input: \"ku\" output: \"scores\"",
            With(Split("k", "0231"), Split("k", "0213") +
                                         "op { type: \"Transpose\" input: \"kt\" output: \"ku\" " +
                                         Axes("0132") + " }"))},
      {With("input: \"scaled\" input: \"mask\"", "input: \"mask\" input: \"scaled\"")},
      {With(add, "", With("input: \"masked\"", "input: \"scaled\""))},
      {With(div, "", With("input: \"scaled\"", "input: \"scores\""))},
      {With("\"Div\" input: \"scores\" input: \"root\"",
            "\"Mul\" input: \"half\" input: \"scores\"")},
      {With("arg { name: \"axis\" i: 3 }", "arg { name: \"axis\" i: -1 }")},
      // Queries and keys are scaled, before and after they are split.
      {With("\"Reshape\" input: \"q\"",
            "\"Mul\" input: \"q\" input: \"half\" output: \"qh\" } "
            "op { type: \"Reshape\" input: \"qh\"")},
      {With("input: \"kt\" output: \"scores\"", "input: \"kh\" output: \"scores\"",
            With("op { type: \"BatchMatMul\" input: \"qt\"",
                 "op { type: \"Mul\" input: \"half\" input: \"kt\" output: \"kh\" }"
                 "op { type: \"BatchMatMul\" input: \"qt\""))},
      // The heads of the result are not joined, or joined with something else.
      {With("op { type: \"Reshape\" input: \"ct\" output: \"y\" output: \"y_old\"\n           "
            "arg { name: \"shape\" ints: 0 ints: 0 ints: 12 } }",
            "op { type: \"Relu\" input: \"ct\" output: \"y\" }"),
       2},
      {With("ints: 0 ints: 0 ints: 12", "ints: -1 ints: 12")},
      {With("ints: 0 ints: 0 ints: 3 ints: 4", "ints: 2 ints: -1 ints: 3 ints: 4")},
      {With("input: \"q\" output: \"q4\" output: \"q_old\" arg { name: \"shape\" ints: 0 ints: 0 "
            "ints: 3 ints: 4 }",
            "input: \"q\" input: \"shape\" output: \"q4\" output: \"q_old\"")},
  };
  for (const Case& c : cases) {
    ExpectSameValues(c.text);
    EXPECT_EQ(static_cast<size_t>(run_.net.op_size()), c.operators) << c.text;
    EXPECT_EQ(run_.net.op(0).type(), "MultiHeadAttention") << c.text;
  }
}

TEST_F(FuseAttentionTest, ReplacesWeightsWhoseNansBecomeZero) {
  ExpectSameValues(WithoutNans());
  EXPECT_THAT(test::LinesOf(run_.net), ElementsAre("MultiHeadAttention(q k v mask) -> y"));
  EXPECT_EQ(GetArgument(run_.net.op(0), "nan_to_zero").i(), 1);
  // Other values than 0, other places, other conditions.
  for (const std::string& text :
       {With("input: \"zero\"", "input: \"half\"", WithoutNans()),
        With("input: \"zero\" input: \"p\"", "input: \"p\" input: \"zero\"", WithoutNans()),
        With("\"IsNaN\" input: \"p\"", "\"IsNaN\" input: \"masked\"", WithoutNans())}) {
    EXPECT_EQ(Lines(text).size(), kOperators + 3) << text;
  }
}

TEST_F(FuseAttentionTest, AcceptsMasksThatBroadcast) {
  for (const auto& dims : std::vector<std::vector<int64_t>>{
           {2, 3, 5, 7}, {1, 1, 5, 7}, {5, 7}, {7}, {2, 1, 1, 7}, {1}}) {
    ExpectSameValues(Net(), {2, 5, 12}, {2, 7, 12}, dims);
  }
}

// [tokens, batch, columns] with the batch merged into the heads: [tokens, batch * heads, size].
TEST_F(FuseAttentionTest, AcceptsHeadsOfThreeDimensions) {
  std::string text = Net();
  for (const char* const name : {"q", "k", "v"}) {
    text = With("ints: 0 ints: 0 ints: 3 ints: 4", "ints: 0 ints: 6 ints: 4", text);
    const bool keys = *name == 'k';
    text = With(Axes(keys ? "0231" : "0213"), Axes(keys ? "120" : "102"), text);
  }
  text = With(Axes("0213"), Axes("102"), text);
  text = With("ints: 0 ints: 0 ints: 12", "ints: 0 ints: 2 ints: 12", text);
  text = With("arg { name: \"axis\" i: 3 }", "arg { name: \"axis\" i: 2 }", text);
  ExpectSameValues(text, {5, 2, 12}, {7, 2, 12}, {6, 1, 7});
  EXPECT_EQ(run_.net.op_size(), 1);
}

// [heads, size, tokens] or [heads, tokens, size], transposed by the multiplication or not.
TEST_F(FuseAttentionTest, AcceptsTransposedHeadsOfThreeDimensions) {
  std::string text = Net();
  for (const char* const name : {"q", "k", "v"}) {
    text = With("ints: 0 ints: 0 ints: 3 ints: 4", "ints: 0 ints: 6 ints: 4", text);
    text = With(Axes(*name == 'k' ? "0231" : "0213"), Axes("102"), text);
  }
  text = With(Axes("0213"), Axes("102"), text);
  text = With("ints: 0 ints: 0 ints: 12", "ints: 0 ints: 2 ints: 12", text);
  text = With("arg { name: \"axis\" i: 3 }", "arg { name: \"axis\" i: 2 }", text);
  EXPECT_EQ(Lines(text).size(), kOperators);  // queries times keys, which do not fit
  text = With("input: \"kt\"", "input: \"kt\" arg { name: \"trans_b\" i: 1 }", text);
  ExpectSameValues(text, {5, 2, 12}, {7, 2, 12}, {6, 1, 7});
  EXPECT_EQ(run_.net.op_size(), 1);
  // The scores have no axis 3.
  EXPECT_EQ(Lines(With("arg { name: \"axis\" i: 2 }", "arg { name: \"axis\" i: 3 }", text)).size(),
            kOperators);
  // A shape of three int32 numbers
  test::Feed<int>(&run_.ws, "three", {3}, {5, 6, 4});
  ExpectSameValues(
      With("input: \"q\" output: \"q4\" output: \"q_old\" arg { name: \"shape\" ints: 0 "
           "ints: 6 ints: 4 }",
           "input: \"q\" input: \"three\" output: \"q4\" output: \"q_old\"", text),
      {5, 2, 12}, {7, 2, 12}, {6, 1, 7});
  EXPECT_EQ(run_.net.op_size(), 1);
  EXPECT_THAT(ArgumentHelper(run_.net.op(0)).GetRepeatedArgument<int64_t>("query_shape"),
              ElementsAre(5, 6, 4));
}

// The scores are scaled twice, and the result is transposed in two steps.
TEST_F(FuseAttentionTest, FollowsSeveralScalingsAndTransposes) {
  ExpectSameValues(With("op { type: \"Add\" input: \"scaled\"",
                        "op { type: \"Mul\" input: \"half\" input: \"scaled\" output: \"less\" } "
                        "op { type: \"Add\" input: \"less\""));
  EXPECT_EQ(run_.net.op_size(), 1);
  EXPECT_EQ(GetArgument(run_.net.op(0), "scale").f(), 0.25f);
  ExpectSameValues(With("op { type: \"Transpose\" input: \"c\" output: \"ct\" " + Axes("0213"),
                        "op { type: \"Transpose\" input: \"c\" output: \"c2\" " + Axes("0132") +
                            " } op { type: \"Transpose\" input: \"c2\" output: \"ct\" " +
                            Axes("0312")));
  EXPECT_EQ(run_.net.op_size(), 1);
  // The other order of the steps gives another result.
  EXPECT_EQ(
      Lines(With("op { type: \"Transpose\" input: \"c\" output: \"ct\" " + Axes("0213"),
                 "op { type: \"Transpose\" input: \"c\" output: \"c2\" " + Axes("0312") +
                     " } op { type: \"Transpose\" input: \"c2\" output: \"ct\" " + Axes("0132")))
          .size(),
      kOperators + 1);
}

// Operands whose heads are split already have shapes of zeros: nothing is reshaped.
TEST_F(FuseAttentionTest, KeepsTheShapeOfOperandsWithHeads) {
  const auto with_heads = [](const std::string& name, const std::string& axes,
                             const std::string& text) {
    return With(Split(name, axes),
                "op { type: \"Transpose\" input: \"" + name + "\" output: \"" + name + "t\" " +
                    Axes(axes) + " }",
                text);
  };
  const auto shape = [&](const char* name) {
    return ArgumentHelper(run_.net.op(0)).GetRepeatedArgument<int64_t>(name);
  };
  const std::string queries = with_heads("q", "0213", Net());
  ExpectSameValues(queries, {2, 5, 3, 4});
  EXPECT_THAT(test::LinesOf(run_.net), ElementsAre("MultiHeadAttention(q k v mask) -> y"));
  EXPECT_THAT(shape("query_shape"), ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(shape("key_shape"), ElementsAre(0, 0, 3, 4));
  EXPECT_THAT(shape("value_shape"), ElementsAre(0, 0, 3, 4));
  ExpectSameValues(with_heads("k", "0231", with_heads("v", "0213", Net())), {2, 5, 12},
                   {2, 7, 3, 4});
  EXPECT_THAT(test::LinesOf(run_.net), ElementsAre("MultiHeadAttention(q k v mask) -> y"));
  EXPECT_THAT(shape("query_shape"), ElementsAre(0, 0, 3, 4));
  EXPECT_THAT(shape("key_shape"), ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(shape("value_shape"), ElementsAre(0, 0, 0, 0));
  ExpectSameValues(with_heads("k", "0231", with_heads("v", "0213", queries)), {2, 5, 3, 4},
                   {2, 7, 3, 4});
  EXPECT_EQ(run_.net.op_size(), 1);
  // The result keeps its heads, too, if nothing joins them.
  ExpectSameValues(With("output: \"ct\"", "output: \"y\"",
                        queries.substr(0, queries.find("op { type: \"Reshape\" input: \"ct\""))),
                   {2, 5, 3, 4});
  EXPECT_EQ(run_.net.op_size(), 1);
  EXPECT_THAT(shape("output_shape"), ElementsAre(0, 0, 0, 0));
}

TEST_F(FuseAttentionTest, LeavesOtherNets) {
  const std::string cases[] = {
      With("arg { name: \"axis\" i: 3 }", "arg { name: \"axis\" i: 2 }"),
      With("arg { name: \"axis\" i: 3 }", ""),
      With("input: \"root\"", "input: \"vector\""),
      With("input: \"root\"", "input: \"unknown\""),
      With("\"Div\" input: \"scores\" input: \"root\"",
           "\"Div\" input: \"root\" input: \"scores\""),
      With("\"Add\" input: \"scaled\"", "\"Mul\" input: \"scaled\""),
      With("input: \"p\" input: \"vt\"", "input: \"vt\" input: \"p\""),
      With("input: \"p\" input: \"vt\"",
           "input: \"p\" input: \"vt\" arg { name: \"trans_a\" i: 1 }"),
      With("input: \"vt\" output", "input: \"vt\" arg { name: \"trans_b\" i: 1 } output"),
      With(Split("k", "0231"), Split("k", "0213")),
      With(Split("q", "0213"), Split("q", "2013")),
      With(Split("q", "0213"), Split("q", "0217")),
      With(Split("q", "0213"), Split("q", "0214")),
      With(Split("v", "0213"), Split("v", "0214")),
      With(Split("v", "0213"), Split("v", "1324")),
      With(Split("v", "0213"), Split("v", "0212")),
      With("input: \"q\" output: \"q4\" output: \"q_old\" arg { name: \"shape\" ints: 0 ints: 0 "
           "ints: 3 ints: 4 }",
           "input: \"q\" input: \"unknown\" output: \"q4\" output: \"q_old\""),
  };
  for (const std::string& text : cases) EXPECT_EQ(Lines(text).size(), kOperators) << text;
}

// Transposes without axes, whose rank is not known, heads of several ranks, shapes of too many
// dimensions, and conditions of other values.
TEST_F(FuseAttentionTest, LeavesWhatOnlyResemblesAttention) {
  const auto reversed = [](const std::string& value) {
    return "op { type: \"Transpose\" input: \"" + value + "\" output: \"r\" } ";
  };
  const std::string multiply = R"(op { type: "BatchMatMul" input: )";
  for (const std::string& text :
       {With(multiply + R"("qt")", reversed("qt") + multiply + R"("r")"),
        With(multiply + R"("qt" input: "kt")", reversed("kt") + multiply + R"("qt" input: "r")"),
        With(multiply + R"("p" input: "vt")", reversed("vt") + multiply + R"("p" input: "r")"),
        With(R"(op { type: "Transpose" input: "c")",
             reversed("c") + R"(op { type: "Transpose" input: "r")")}) {
    EXPECT_EQ(Lines(text).size(), kOperators + 1) << text;
  }
  // BatchMatMul repeats operands of fewer dimensions, MultiHeadAttention does not.
  for (const char* const name : {"q", "k", "v"}) {
    const bool keys = *name == 'k';
    const std::string split = Split(name, keys ? "0231" : "0213");
    const std::string three =
        test::Replaced(test::Replaced(split, "ints: 0 ints: 0 ints: 3", "ints: 0 ints: 3"),
                       Axes(keys ? "0231" : "0213"), Axes(keys ? "120" : "102"));
    EXPECT_EQ(Lines(With(split, three)).size(), kOperators) << name;
  }
  std::string five = Net();
  for (int i = 0; i < 3; ++i) {
    five = With("ints: 0 ints: 0 ints: 3 ints: 4 }", "ints: 0 ints: 0 ints: 3 ints: 4 ints: 1 }",
                five);
  }
  EXPECT_EQ(Lines(five).size(), kOperators);
  // Reshapes to three dimensions before Transposes of four, which are errors when the net runs.
  std::string three = With("arg { name: \"axis\" i: 3 }", "arg { name: \"axis\" i: 2 }");
  for (int i = 0; i < 3; ++i) three = With("ints: 0 ints: 0 ints: 3", "ints: 0 ints: 3", three);
  three = With("output: \"ct\" " + Axes("0213"), "output: \"ct\" " + Axes("102"), three);
  EXPECT_EQ(Lines(three).size(), kOperators);
  // The condition is that of other values, or another one; Where is not ONNXWhere.
  for (const char* const condition : {R"("IsNaN" input: "mask")", R"("Not" input: "mask")"}) {
    EXPECT_EQ(Lines(With(R"("IsNaN" input: "p")", condition, WithoutNans())).size(), kOperators + 3)
        << condition;
  }
  EXPECT_EQ(Lines(With("\"ONNXWhere\"", "\"Where\"", WithoutNans())).size(), kOperators + 3);
  // The shape that joins the heads is not known: that Reshape stays.
  EXPECT_THAT(
      Lines(With("input: \"ct\" output: \"y\" output: \"y_old\"\n           arg { name: "
                 "\"shape\" ints: 0 ints: 0 ints: 12 }",
                 "input: \"ct\" input: \"unknown\" output: \"y\" output: \"y_old\"")),
      ElementsAre("MultiHeadAttention(q k v mask) -> ct", "Reshape(ct unknown) -> y y_old"));
}

// What comes before the heads are split stays as it is, but for scalings.
TEST_F(FuseAttentionTest, BeginsAfterWhatComputesTheOperands) {
  const auto with = [](const std::string& before) {
    return With("\"Reshape\" input: \"q\"",
                before + " input: \"q\" output: \"r\" } op { type: \"Reshape\" input: \"r\"");
  };
  ExpectSameValues(with("\"Relu\""));
  EXPECT_THAT(test::LinesOf(run_.net),
              ElementsAre("Relu(q) -> r", "MultiHeadAttention(r k v mask) -> y"));
  ExpectSameValues(with("\"Transpose\" " + Axes("102")), {5, 2, 12});
  EXPECT_THAT(test::LinesOf(run_.net),
              ElementsAre("Transpose(q) -> r", "MultiHeadAttention(r k v mask) -> y"));
  ExpectSameValues(with("\"Scale\" arg { name: \"scale\" f: 0.25 }"));
  EXPECT_THAT(test::LinesOf(run_.net), ElementsAre("MultiHeadAttention(q k v mask) -> y"));
  EXPECT_EQ(GetArgument(run_.net.op(0), "scale").f(), 0.25f / 2);
}

TEST_F(FuseAttentionTest, LeavesIntermediateResultsThatAreRead) {
  for (const char* const name :
       {"q4", "q_old", "qt", "kt", "vt", "scores", "scaled", "masked", "p", "c"}) {
    run_.kept = {"y", name};
    bool fused = false;
    for (const std::string& line : Lines(Net())) fused |= line.starts_with("MultiHead");
    // If the reshaped queries are read elsewhere, attention begins after the Reshape.
    EXPECT_EQ(fused, std::string(name) == "q4") << name;
  }
  // The old shape of the result stays with its Reshape.
  run_.kept = {"y", "y_old"};
  EXPECT_EQ(Lines(Net()).size(), kOperators);
}

TEST_F(FuseAttentionTest, LeavesOperandsThatAreOverwritten) {
  run_.kept = {"y", "q"};
  EXPECT_EQ(Lines(With("op { type: \"Div\"",
                       "op { type: \"Relu\" input: \"q\" output: \"q\" } op { type: \"Div\""))
                .size(),
            kOperators + 1);
}

// A shape of 32-bit integers counts; one of two dimensions, of floats, or that keeps all dimensions is
// not understood.
TEST_F(FuseAttentionTest, ReadsTheShapesOfReshapes) {
  const auto with = [](const std::string& shape) {
    return With(
        "input: \"q\" output: \"q4\" output: \"q_old\" arg { name: \"shape\" ints: 0 ints: 0 "
        "ints: 3 ints: 4 }",
        "input: \"q\" " + shape + " output: \"q4\" output: \"q_old\"");
  };
  test::Feed<int>(&run_.ws, "ints", {4}, {0, 5, -1, 4});
  test::Feed<int>(&run_.ws, "table", {2, 2}, {0, 0, 3, 4});
  test::Feed<float>(&run_.ws, "floats", {4}, {0, 0, 3, 4});
  test::Feed<int>(&run_.ws, "zeros", {4}, {0, 0, 0, 0});
  test::Feed<int>(&run_.ws, "five", {5}, {0, 0, 3, 4, 1});
  ExpectSameValues(with(R"(input: "ints")"));
  EXPECT_THAT(test::LinesOf(run_.net), ElementsAre("MultiHeadAttention(q k v mask) -> y"));
  const ArgumentHelper args(run_.net.op(0));
  EXPECT_THAT(args.GetRepeatedArgument<int64_t>("query_shape"), ElementsAre(0, 5, -1, 4));
  EXPECT_THAT(args.GetRepeatedArgument<int64_t>("key_shape"), ElementsAre(0, 0, 3, 4));
  EXPECT_THAT(args.GetRepeatedArgument<int64_t>("value_shape"), ElementsAre(0, 0, 3, 4));
  EXPECT_THAT(args.GetRepeatedArgument<int64_t>("output_shape"), ElementsAre(0, 0, 12));
  for (const char* shape : {"table", "floats", "zeros", "five"}) {
    EXPECT_EQ(Lines(with(MakeString("input: \"", shape, "\""))).size(), kOperators) << shape;
  }
}

// Queries and keys may be scaled, but not the values. The scales are multiplied.
TEST_F(FuseAttentionTest, MultipliesTheScalesOfQueriesAndKeys) {
  test::Feed<float>(&run_.ws, "three", {}, {3});
  test::Feed<float>(&run_.ws, "quarter", {}, {0.25f});
  const auto scaled = [](const std::string& name, const std::string& by, const std::string& text) {
    return With("\"Reshape\" input: \"" + name + "\"",
                "\"Mul\" input: \"" + name + "\" input: \"" + by + "\" output: \"" + name +
                    "h\" } op { type: \"Reshape\" input: \"" + name + "h\"",
                text);
  };
  ExpectSameValues(scaled("q", "three", scaled("k", "quarter", Net())));
  EXPECT_THAT(test::LinesOf(run_.net), ElementsAre("MultiHeadAttention(q k v mask) -> y"));
  EXPECT_EQ(GetArgument(run_.net.op(0), "scale").f(), 3 * 0.25f / 2);
  EXPECT_EQ(Lines(scaled("v", "three", Net())).size(), kOperators + 1);
  // Twice on the way of one.
  const std::string once = scaled("q", "three", Net());
  ExpectSameValues(scaled("qh", "quarter", once));
  EXPECT_THAT(test::LinesOf(run_.net), ElementsAre("MultiHeadAttention(q k v mask) -> y"));
  EXPECT_EQ(GetArgument(run_.net.op(0), "scale").f(), 3 * 0.25f / 2);
  // By the older rules, a mask of more dimensions or ones than the scores is an error.
  const std::string flags = R"( arg { name: "broadcast" i: 1 })";
  const std::string masked = R"(output: "masked")";
  EXPECT_EQ(Lines(With(masked, masked + flags)).size(), kOperators);
  EXPECT_EQ(Lines(With(masked, masked + flags + R"( arg { name: "axis" i: 0 })")).size(),
            kOperators);
  EXPECT_EQ(Lines(With(R"(input: "scaled" input: "mask" output: "masked")",
                       R"(input: "mask" input: "scaled" output: "masked")" + flags))
                .size(),
            kOperators);
}

}  // namespace
}  // namespace caffe2rt::fuse_attention_test
