// The data of a page as whole texts: what the details of each node show.
#include <gtest/gtest.h>

#include <string>

#include "caffe2_core/graph/net_drawing.h"
#include "caffe2_core/graph/net_summary.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::page_text_test {
namespace {

std::string PageOf(const NetDrawing& drawing) { return drawing.Html(drawing.PlainLayout()); }

// The text between the first occurrences of `begin` and, after it, `end`.
std::string Between(const std::string& text, const std::string& begin, const std::string& end) {
  const size_t from = text.find(begin);
  if (from == std::string::npos) return "no " + begin;
  const size_t first = from + begin.size();
  return text.substr(first, text.find(end, first) - first);
}

std::string DataOf(const NetDrawing& drawing) {
  return Between(PageOf(drawing), "<script type=\"application/json\" id=\"data\">", "</script>");
}

TensorShape FloatsOfDims(const std::vector<int64_t>& dims) {
  return CreateTensorShape(dims, TensorProto::FLOAT);
}

class PageTextTest : public ::testing::Test {
 protected:
  void SetUp() override { EnsureBuiltinOperators(); }
};

TEST_F(PageTextTest, StatesAllFactsOfOperators) {
  const NetDef net = ParseNet(R"(external_output: "y"
      op { type: "Conv" name: "c1" engine: "E" input: "x" input: "w" output: "c"
           arg { name: "kernel" i: 3 } arg { name: "order" s: "NCHW" } }
      op { type: "NoSuch" input: "c" output: "u" output: "y" })");
  const NetSummary summary = SummarizeNet(
      {}, net, {{"x", FloatsOfDims({1, 2, 4, 4})}, {"w", FloatsOfDims({5, 2, 3, 3})}}, {"w"});
  EXPECT_EQ(
      DataOf(NetDrawing({{&net, &summary, "n"}}, {.title = "t"})),
      R"({"nodes":[{"kind":"operator","title":"Conv","position":0,"name":"c1","engine":"E",)"
      R"("arguments":[["kernel","3"],["order","\"NCHW\""]],)"
      R"("inputs":[["x","float [1, 2, 4, 4]"],["w","float [5, 2, 3, 3]"]],)"
      R"("outputs":[["c","float [1, 5, 2, 2]"]],"parameters":90,"multiply_adds":360,)"
      R"("output_bytes":80},)"
      R"({"kind":"input","title":"x","lines":[["input: float [1, 2, 4, 4]",""]]},)"
      R"({"kind":"operator","title":"NoSuch","position":1,"problem":"no schema","arguments":[],)"
      R"("inputs":[["c","float [1, 5, 2, 2]"]],"outputs":[["u","?"],["y","?"]]},)"
      R"({"kind":"output","title":"y","lines":[["output",""]]}],)"
      R"("edges":[[1,0,"x"],[0,2,"c"],[2,3,"y"]]})");
}

// Long names end in dots: the page must not grow with them.
TEST_F(PageTextTest, ShortensNamesOfOperatorsAndEngines) {
  const std::string text(5000, 'e');
  NetDef net = ParseNet(R"(op { type: "Relu" input: "x" output: "y" })");
  const auto grown = [&](void (*change)(OperatorDef*, const std::string&)) {
    const NetSummary plain_summary = SummarizeNet({}, net, {});
    const size_t plain = DataOf(NetDrawing({{&net, &plain_summary, "n"}}, {})).size();
    NetDef changed = net;
    change(changed.mutable_op(0), text);
    const NetSummary summary = SummarizeNet({}, changed, {});
    return DataOf(NetDrawing({{&changed, &summary, "n"}}, {})).size() - plain;
  };
  EXPECT_LT(grown([](OperatorDef* op, const std::string& name) { op->set_name(name); }), 300u);
  EXPECT_LT(grown([](OperatorDef* op, const std::string& name) { op->set_engine(name); }), 300u);
}

// The operators that one node stands for, each with its first output and its name; all inputs of a
// joined node; and the nets of a plan.
TEST_F(PageTextTest, StatesWhatANodeStandsFor) {
  std::string text;
  for (int i = 0; i < 5; ++i) {
    text += MakeString("op { type: \"Add\" name: \"add", i, "\" input: \"h", i, "\" input: \"x", i,
                       "\" output: \"h", i + 1, "\" } ");
  }
  const NetDef net = ParseNet(text), other = ParseNet(R"(op { type: "Print" input: "h5" })");
  const NetSummary summary = SummarizeNet({}, net, {}), of_other = SummarizeNet({}, other, {});
  EXPECT_EQ(
      DataOf(NetDrawing({{&net, &summary, "a"}, {&other, &of_other, "b"}}, {.fold = true})),
      R"({"nodes":[{"kind":"operator","title":"Add","net":"a","position":0,"name":"add0",)"
      R"("problem":"the shape of input \"h0\" is not known","arguments":[],)"
      R"("inputs":[["h0","?"],["x0","?"]],"outputs":[["h1","?"]],)"
      R"("others":[["h1","add0"],["h2","add1"],["h3","add2"],["h4","add3"],["h5","add4"]]},)"
      R"({"kind":"input","title":"h0","net":"a","lines":[["input",""]]},)"
      R"({"kind":"input","title":"5 inputs","net":"a",)"
      R"("lines":[["x0",""],["x1",""],["x2",""],["x3",""],["x4",""]]},)"
      R"({"kind":"operator","title":"Print","net":"b","position":0,)"
      R"("problem":"the shape of input \"h5\" is not known","arguments":[],)"
      R"("inputs":[["h5","?"]],"outputs":[]}],)"
      R"("edges":[[1,0,"h0"],[2,0,"x0, x1, x2, x3, x4"],[0,0,"h1, h2, h3, h4"],[0,3,"h5"]]})");
}

TEST_F(PageTextTest, HoldsItsTitleAndItsImage) {
  const NetDef net = ParseNet(R"(op { type: "Relu" input: "x" output: "y" })");
  const NetSummary summary = SummarizeNet({}, net, {});
  const NetDrawing drawing({{&net, &summary, "a & b"}}, {}),
      named({{&net, &summary, "a"}}, {.title = "<c>"});
  const std::string page = PageOf(drawing);
  EXPECT_EQ(Between(page, "<title>", "</title>"), "a &amp; b");
  EXPECT_EQ(Between(PageOf(named), "<title>", "</title>"), "&lt;c&gt;");
  EXPECT_EQ(Between(page, "<main id=\"view\" tabindex=\"0\">\n", "</main>"),
            drawing.Svg(drawing.PlainLayout()));
  EXPECT_EQ(page.substr(0, 15), "<!DOCTYPE html>");
  EXPECT_TRUE(page.ends_with("</script>\n</body>\n</html>\n"));
}

// The problem of an operator is cut after 400 bytes; a folded operator has the numbers of the first.
TEST_F(PageTextTest, StatesWholeProblemsAndNumbersOfFoldedOperators) {
  std::string text;
  for (int i = 0; i < 5; ++i) {
    text += MakeString("op { type: \"Relu\" input: \"h", i, "\" output: \"h", i + 1, "\" } ");
  }
  const NetDef net = ParseNet(text);
  NetSummary summary = SummarizeNet({}, net, {{"h0", FloatsOfDims({2, 3})}});
  summary.ops[0].problem = std::string(399, 'p') + "q";
  const std::string data = DataOf(NetDrawing({{&net, &summary, "n"}}, {.fold = true}));
  EXPECT_EQ(Between(data, "\"problem\":\"", "\""), summary.ops[0].problem);
  EXPECT_EQ(Between(data, "\"output_bytes\":", ","), "24");
  EXPECT_EQ(Between(data, "\"others\":[[\"", "\""), "h1");
  summary.ops[0].problem += 'r';
  EXPECT_EQ(
      Between(DataOf(NetDrawing({{&net, &summary, "n"}}, {.fold = true})), "\"problem\":\"", "\""),
      std::string(397, 'p') + "...");
}

// Long texts are cut: names after 200 bytes, values of arguments after 400.
TEST_F(PageTextTest, CutsLongTexts) {
  const std::string name(500, 'n'), value(1000, 'v');
  const NetDef net =
      ParseNet("op { type: \"T\" name: \"" + name + "\" input: \"" + name +
               "\" output: \"y\" arg { name: \"" + name + "\" s: \"" + value + "\" } }");
  const NetSummary summary = SummarizeNet({}, net, {});
  const std::string data = DataOf(NetDrawing({{&net, &summary, "n"}}, {}));
  const auto letters = [](const std::string& text, char letter) {
    size_t count = 0;
    while (count < text.size() && text[count] == letter) ++count;
    return count;
  };
  const size_t of_name = letters(Between(data, "\"name\":\"", "\""), 'n'),
               of_input = letters(Between(data, "\"inputs\":[[\"", "\""), 'n'),
               of_argument = letters(Between(data, "\"arguments\":[[\"", "\""), 'n'),
               of_value = letters(data.substr(data.find("vvv")), 'v');
  for (const size_t count : {of_name, of_input, of_argument}) {
    EXPECT_LE(count, 200u);
    EXPECT_GE(count, 190u);
  }
  EXPECT_LE(of_value, 400u);
  EXPECT_GE(of_value, 390u);
}

}  // namespace
}  // namespace caffe2rt::test::page_text_test
