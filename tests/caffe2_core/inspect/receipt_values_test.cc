// Every field of receipts: in JSON and back, in comparisons, and in the rows of blobs and operators.
#include <absl/strings/str_replace.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "caffe2_core/base/content_sum.h"
#include "caffe2_core/base/random_stream.h"
#include "caffe2_core/graph/passes/user_operators.h"
#include "caffe2_core/inspect/receipt.h"
#include "caffe2_core/runtime/workspace.h"
#include "caffe2_core/tensor/int8_tensor.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"

namespace caffe2rt::test::receipt_values_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Words = std::vector<std::string>;

// No field has its default.
Receipt FullReceipt() {
  Receipt receipt = {.net = "n \"1\"", .seed = 5, .runs = uint64_t{1} << 40};
  receipt.inputs = {{.blob = "a", .type = "float", .shape = {2, 0}, .sum = 0},
                    {.blob = "b", .type = "text"}};
  receipt.weights = {.blob = "weights", .type = "3 blobs", .sum = UINT64_MAX};
  receipt.version = "1.2";
  receipt.instruction_set = "AVX2";
  receipt.executor = "dag";
  receipt.threads = 7;
  receipt.deterministic = true;
  receipt.passes = {"p", "q"};
  receipt.outputs = {{.blob = "y", .type = "int", .shape = {int64_t{1} << 33}, .sum = 16}};
  receipt.operators = {
      {.blob = "h", .type = "float", .shape = {}, .sum = 3, .position = 0, .op = "0 Relu"},
      {.blob = "y", .type = "map", .position = 1, .op = "1 Sqr", .debug_info = "model.py:7"}};
  return receipt;
}

void ExpectSameRow(const ReceiptRow& got, const ReceiptRow& want) {
  SCOPED_TRACE(want.blob);
  EXPECT_EQ(got.blob, want.blob);
  EXPECT_EQ(got.type, want.type);
  EXPECT_EQ(got.shape, want.shape);
  EXPECT_EQ(got.sum, want.sum);
  EXPECT_EQ(got.position, want.position);
  EXPECT_EQ(got.op, want.op);
  EXPECT_EQ(got.debug_info, want.debug_info);
}

TEST(ReceiptValuesTest, JsonKeepsEveryField) {
  const Receipt want = FullReceipt();
  const Receipt got = ReceiptFromJson(ReceiptAsJson(want), "file");
  EXPECT_EQ(got.net, want.net);
  EXPECT_EQ(got.seed, want.seed);
  EXPECT_EQ(got.runs, want.runs);
  EXPECT_EQ(got.version, want.version);
  EXPECT_EQ(got.instruction_set, want.instruction_set);
  EXPECT_EQ(got.executor, want.executor);
  EXPECT_EQ(got.threads, 7);
  EXPECT_TRUE(got.deterministic);
  EXPECT_EQ(got.passes, want.passes);
  ExpectSameRow(got.weights, want.weights);
  using Rows = std::vector<ReceiptRow>;
  for (const auto& [read, written] :
       std::vector<std::pair<Rows, Rows>>{{got.inputs, want.inputs},
                                          {got.outputs, want.outputs},
                                          {got.operators, want.operators}}) {
    ASSERT_EQ(read.size(), written.size());
    for (size_t i = 0; i < read.size(); ++i) ExpectSameRow(read[i], written[i]);
  }
}

TEST(ReceiptValuesTest, JsonHasNullForWhatIsNotThere) {
  Receipt receipt = FullReceipt();
  receipt.seed.reset();
  receipt.operators.clear();
  const std::string json = ReceiptAsJson(receipt);
  EXPECT_TRUE(json.starts_with("{\n  \"receipt\": 1,\n")) << json;
  EXPECT_TRUE(json.ends_with("\n}\n")) << json;
  EXPECT_THAT(json, HasSubstr("\"seed\": null"));
  EXPECT_THAT(json, HasSubstr("\"hash\": null"));
  EXPECT_THAT(json, HasSubstr("\"hash\": \"ffffffffffffffff\""));
  EXPECT_THAT(json, HasSubstr("\"hash\": \"0000000000000010\""));
  for (const char* key : {"operators", "position", "operator", "debug_info"})
    EXPECT_THAT(json, Not(HasSubstr(MakeString("\"", key, "\""))));
  const Receipt read = ReceiptFromJson(json, "file");
  EXPECT_FALSE(read.seed.has_value());
  EXPECT_THAT(read.operators, IsEmpty());
  EXPECT_EQ(read.outputs.at(0).position, -1);
  // Of the operators, the first one has no debug_info.
  const std::string whole = ReceiptAsJson(FullReceipt());
  EXPECT_EQ(whole.find("debug_info"), whole.rfind("debug_info"));
}

TEST(ReceiptValuesTest, JsonWithoutAFieldIsNoReceipt) {
  const std::string json = ReceiptAsJson(FullReceipt());
  const std::string start = "file \"a\" is not a receipt of `caffe2 run --receipt`: ";
  for (const char* key :
       {"net", "seed", "runs", "version", "instruction_set", "threads", "executor", "deterministic",
        "passes", "inputs", "weights", "outputs", "blob", "type", "shape", "hash"}) {
    const std::string without =
        absl::StrReplaceAll(json, {{MakeString("\"", key, "\":"), "\"other\":"}});
    EXPECT_NE(without, json) << key;
    EXPECT_TRUE(MessageOf([&] { ReceiptFromJson(without, "file \"a\""); }).starts_with(start))
        << key;
  }
  for (const char* hash : {"000000000000010", "00000000000000010", "-000000000000010",
                           "0x00000000000010", " 000000000000010", "000000000000001g"}) {
    const std::string damaged = absl::StrReplaceAll(json, {{"0000000000000010", hash}});
    EXPECT_EQ(MessageOf([&] { ReceiptFromJson(damaged, "file \"a\""); }),
              start + "hash \"" + hash + "\", want 16 hexadecimal digits");
  }
  Receipt empty = FullReceipt();
  empty.inputs.clear();
  const std::string object =
      absl::StrReplaceAll(ReceiptAsJson(empty), {{"inputs\": []", "inputs\": {}"}});
  EXPECT_EQ(MessageOf([&] { ReceiptFromJson(object, "file \"a\""); }),
            start + "a list of blobs is object, want an array");
}

TEST(ReceiptValuesTest, ComparisonNamesEachConditionAlone) {
  struct ConditionRow {
    std::function<void(Receipt*)> change;
    Words lines;
  };
  const ConditionRow rows[] = {
      {[](Receipt*) {}, {}},
      {[](Receipt* r) { r->net = "m"; }, {"net: n \"1\" and m"}},
      {[](Receipt* r) { r->seed = 6; }, {"seed: 5 and 6"}},
      {[](Receipt* r) { r->seed.reset(); }, {"seed: 5 and none"}},
      {[](Receipt* r) { r->runs = 1; }, {"runs: 1099511627776 and 1"}},
      {[](Receipt* r) {
         r->inputs[0].shape = {0, 2};
       },
       {"input \"a\""}},
      {[](Receipt* r) { r->inputs[1].type = "int"; }, {"input \"b\""}},
      {[](Receipt* r) { r->inputs[1].sum = 0; }, {"input \"b\""}},
      {[](Receipt* r) { r->inputs.pop_back(); }, {"input \"b\", only in the first"}},
      {[](Receipt* r) { r->inputs[0].blob = "c"; },
       {"input \"a\", only in the first", "input \"c\", only in the second"}},
      {[](Receipt* r) { std::swap(r->inputs[0], r->inputs[1]); }, {}},
      {[](Receipt* r) { r->weights.sum = 0; }, {"weights"}},
      {[](Receipt* r) { r->weights.type = "4 blobs"; }, {"weights"}},
      {[](Receipt* r) { r->version = "1.3"; }, {"version: 1.2 and 1.3"}},
      {[](Receipt* r) { r->instruction_set = ""; }, {"instruction set: AVX2 and "}},
      {[](Receipt* r) { r->threads = 1; }, {"threads: 7 and 1"}},
      {[](Receipt* r) { r->executor = "simple"; }, {"executor: dag and simple"}},
      {[](Receipt* r) { r->deterministic = false; }, {"deterministic: 1 and 0"}},
      {[](Receipt* r) {
         r->passes = {"q", "p"};
       },
       {"passes: p q and q p"}},
      {[](Receipt* r) { r->passes.clear(); }, {"passes: p q and none"}},
      {[](Receipt* r) { r->operators[0].op = "0 Abs"; }, {}}};
  const Receipt first = FullReceipt();
  for (const ConditionRow& row : rows) {
    Receipt second = FullReceipt();
    row.change(&second);
    const ReceiptComparison found = CompareReceipts(first, second);
    EXPECT_EQ(found.conditions, row.lines);
    EXPECT_TRUE(found.equal() && found.has_operators);
  }
}

TEST(ReceiptValuesTest, ComparisonKeepsOrderAndSides) {
  Receipt first = FullReceipt(), second = FullReceipt();
  const auto row = [](const char* blob, uint64_t sum) {
    return ReceiptRow{.blob = blob, .type = "float", .shape = {1}, .sum = sum};
  };
  first.outputs = {row("c", 1), row("a", 1), row("b", 1)};
  second.outputs = {row("e", 1), row("b", 1), row("a", 2), row("d", 1)};
  const ReceiptComparison found = CompareReceipts(first, second);
  Words names;
  for (const ReceiptDifference& difference : found.outputs)
    names.push_back(MakeString(difference.first ? difference.first->blob : "-", " ",
                               difference.second ? difference.second->blob : "-"));
  EXPECT_EQ(names, (Words{"c -", "a a", "- e", "- d"}));
  EXPECT_EQ(found.outputs[1].first, &first.outputs[1]);
  EXPECT_EQ(found.outputs[1].second, &second.outputs[2]);
  // Operators are compared only if both have them.
  second = FullReceipt();
  second.operators[1].sum = 9;
  first = FullReceipt();
  EXPECT_THAT(CompareReceipts(first, second).outputs, IsEmpty());
  ASSERT_EQ(CompareReceipts(first, second).operators.size(), 1u);
  EXPECT_FALSE(CompareReceipts(first, second).equal());
  first.operators.clear();
  for (const bool swapped : {false, true}) {
    const ReceiptComparison without =
        swapped ? CompareReceipts(second, first) : CompareReceipts(first, second);
    EXPECT_FALSE(without.has_operators);
    EXPECT_TRUE(without.equal());
  }
}

TEST(ReceiptValuesTest, RowsOfStringsCountEachOfThem) {
  Workspace ws;
  const auto row = [&] { return ReceiptRowOf("s", *ws.GetBlob("s")); };
  const auto sum_of = [](const Words& strings) {
    uint64_t sum = strings.size();
    for (const std::string& text : strings)
      sum = MixRandomKeys(sum, ContentSum(text.data(), text.size()));
    return sum;
  };
  *ws.CreateBlob("s")->GetMutable<std::string>() = "ab";
  EXPECT_EQ(row().sum, sum_of({"ab"}));
  EXPECT_THAT(row().shape, IsEmpty());
  Feed<std::string>(&ws, "s", {2}, {"ab", ""});
  EXPECT_EQ(row().sum, sum_of({"ab", ""}));
  EXPECT_THAT(row().shape, ElementsAre(2));
  Feed<std::string>(&ws, "s", {0, 3}, {});
  EXPECT_EQ(row().sum, 0u);
  EXPECT_THAT(row().shape, ElementsAre(0, 3));
  Feed<float>(&ws, "s", {0, 3}, {});
  EXPECT_EQ(row().sum, ContentSum(nullptr, 0));
  EXPECT_EQ(row().blob, "s");
}

TEST(ReceiptValuesTest, RowsOfQuantizedTensorsCoverScaleAndZeroPoint) {
  Blob blob;
  auto* const content = blob.GetMutable<Int8TensorCPU>();
  content->scale = 0.5f;
  content->zero_point = 3;
  content->t.Resize(3);
  const uint8_t bytes[] = {1, 2, 3};
  std::copy(bytes, bytes + 3, content->t.mutable_data<uint8_t>());
  const ReceiptRow row = ReceiptRowOf("q", blob);
  content->t.Reshape({3, 1});
  EXPECT_FALSE(row.SameValue(ReceiptRowOf("q", blob)));
  content->t.Reshape({3});
  EXPECT_TRUE(row.SameValue(ReceiptRowOf("q", blob)));
  EXPECT_TRUE(row.type.starts_with("quantized ")) << row.type;
  EXPECT_EQ(row.sum,
            MixRandomKeys(MixRandomKeys(ContentSum(bytes, 3), ContentSum(&content->scale, 4)), 3));
  content->zero_point = 4;
  EXPECT_FALSE(row.SameValue(ReceiptRowOf("q", blob)));
  content->zero_point = 3;
  content->scale = 0.25f;
  EXPECT_FALSE(row.SameValue(ReceiptRowOf("q", blob)));
}

class RecorderTest : public testing::Test {
 protected:
  Words Written(const std::vector<ReceiptRow>& rows) const {
    Words words;
    for (const ReceiptRow& row : rows) words.push_back(row.op + " -> " + row.blob);
    return words;
  }
  Workspace ws_;
};

TEST_F(RecorderTest, HasEachOutputOfTheRunsItHasSeen) {
  FeedRange<float>(&ws_, "x", {4, 2});
  NetBase* const net = ws_.CreateNet(ParseNet(R"(name: "n"
      op { type: "Split" input: "x" output: "a" output: "b" arg { name: "axis" i: 0 } }
      op { type: "Relu" input: "a" output: "a" })"));
  {
    ReceiptRecorder recorder(net);
    EXPECT_THAT(recorder.Take(), IsEmpty());
    net->Run();
    net->Run();
    EXPECT_EQ(Written(recorder.Take()), (Words{"0 Split -> a", "0 Split -> b", "1 Relu -> a"}));
    EXPECT_THAT(recorder.Take(), IsEmpty());
    // Of a run that fails, what was written before.
    Feed<float>(&ws_, "x", {4, 2}, std::vector<float>(8, 1));
    net->Run();
    FeedRange<int32_t>(&ws_, "x", {4, 2});  // Relu is for floats
    EXPECT_ANY_THROW(net->Run());
    EXPECT_EQ(Written(recorder.Take()), (Words{"0 Split -> a", "0 Split -> b"}));
  }
  for (OperatorBase* op : net->GetOperators()) EXPECT_EQ(op->NumObservers(), 0u);
  EXPECT_EQ(MessageOf([] { ReceiptRecorder recorder(nullptr); }),
            "argument net of ReceiptRecorder is null");
}

TEST_F(RecorderTest, NamesTheOperatorsOfTheUser) {
  FeedRange<float>(&ws_, "x", {2});
  NetDef def = ParseNet(R"(name: "n" op { type: "Copy" input: "x" output: "y" name: "c" }
      op { type: "Relu" input: "y" output: "z" })");
  MarkUserOperators(&def);
  AddUserOperators(def.op(0), def.mutable_op(1));
  *def.mutable_op(0) = ParseOp(R"(type: "Abs" input: "x" output: "y" name: "made")");
  NetBase* const net = ws_.CreateNet(def);
  ReceiptRecorder recorder(net);
  net->Run();
  EXPECT_EQ(Written(recorder.Take()), (Words{"0 Abs \"made\" -> y", "0 Copy \"c\", 1 Relu -> z"}));
}

// Two operators with nets of their own: each one's rows stand before its own.
TEST_F(RecorderTest, NestedRowsBelongToTheirOperator) {
  Feed<bool>(&ws_, "yes", {}, {true});
  Feed<bool>(&ws_, "no", {}, {false});
  FeedRange<float>(&ws_, "x", {2});
  const auto branch = [](const char* condition, const char* output) {
    return MakeString("op { type: \"If\" input: \"", condition, "\" output: \"", output,
                      "\" arg { name: \"then_net\" n { name: \"", condition, output,
                      "\" op { type: \"Relu\" input: \"x\" output: \"", output, "\" debug_info: \"",
                      output, ".py\" } } } } ");
  };
  const std::string text =
      "name: \"n\" " + branch("yes", "a") + branch("no", "b") + branch("yes", "c") +
      R"(external_input: "yes" external_input: "no" external_input: "b" external_input: "x")";
  FeedRange<float>(&ws_, "b", {1});
  NestedReceipts nested;
  NetBase* const net = ws_.CreateNet(ParseNet(text));
  ReceiptRecorder recorder(net, &nested);
  net->Run();
  const std::vector<ReceiptRow> rows = recorder.Take();
  EXPECT_EQ(Written(rows),
            (Words{"0.0 Relu -> a", "0 If -> a", "1 If -> b", "2.0 Relu -> c", "2 If -> c"}));
  EXPECT_EQ(rows[3].position, 2);
  EXPECT_EQ(rows[3].debug_info, "c.py");
  EXPECT_EQ(rows[4].debug_info, "");
  Feed<bool>(&ws_, "yes", {}, {false});
  net->Run();
  EXPECT_EQ(Written(recorder.Take()), (Words{"0 If -> a", "1 If -> b", "2 If -> c"}));
  Feed<bool>(&ws_, "yes", {}, {true});
  ReceiptRecorder outer(net);
  net->Run();
  EXPECT_EQ(Written(outer.Take()), (Words{"0 If -> a", "1 If -> b", "2 If -> c"}));
}

}  // namespace
}  // namespace caffe2rt::test::receipt_values_test
