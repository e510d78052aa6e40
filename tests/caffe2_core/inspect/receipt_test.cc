#include "caffe2_core/inspect/receipt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "caffe2_core/base/content_sum.h"
#include "caffe2_core/base/random_stream.h"
#include "caffe2_core/runtime/workspace.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::receipt_test {
namespace {

using test::ExpectThrows;
using test::Feed;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class ReceiptTest : public testing::Test {
 protected:
  ReceiptRow Row(const std::string& name) { return ReceiptRowOf(name, *ws_.GetBlob(name)); }
  Workspace ws_;
};

TEST_F(ReceiptTest, RowsHaveTypeShapeAndContentSum) {
  const std::vector<float> values = {1, 2, 3, 4};
  Feed<float>(&ws_, "x", {2, 2}, values);
  const ReceiptRow row = Row("x");
  EXPECT_EQ(row.type, "float");
  EXPECT_THAT(row.shape, ElementsAre(2, 2));
  EXPECT_EQ(row.sum, ContentSum(values.data(), 16));
  Feed<float>(&ws_, "y", {4}, values);
  EXPECT_FALSE(row.SameValue(Row("y"))) << "another shape";
  Feed<float>(&ws_, "x", {2, 2}, {1, 2, 3, 5});
  EXPECT_FALSE(row.SameValue(Row("x")));
}

TEST_F(ReceiptTest, RowsOfStringsAndOfOtherObjects) {
  Feed<std::string>(&ws_, "s", {2}, {"ab", "c"});
  const ReceiptRow row = Row("s");
  EXPECT_EQ(row.type, "string");
  ASSERT_TRUE(row.sum.has_value());
  Feed<std::string>(&ws_, "s", {2}, {"a", "bc"});
  EXPECT_FALSE(row.SameValue(Row("s")));
  *ws_.CreateBlob("o")->GetMutable<std::vector<int>>() = {1};
  EXPECT_FALSE(Row("o").sum.has_value());
  ws_.CreateBlob("t")->GetMutable<Tensor>();
  EXPECT_FALSE(Row("t").sum.has_value()) << "a tensor without data";
  Tensor* const objects = ws_.CreateBlob("objects")->GetMutable<Tensor>();
  objects->Resize(2);
  objects->mutable_data<std::vector<int>>()[1] = {7};
  const ReceiptRow several = Row("objects");
  EXPECT_THAT(several.shape, ElementsAre(2));
  EXPECT_FALSE(several.sum.has_value()) << "a tensor of objects";
}

TEST_F(ReceiptTest, RecorderKeepsWhatEveryOperatorWroteInTheLastRun) {
  Feed<float>(&ws_, "x", {1}, {-2});
  for (const char* type : {"simple", "async_scheduling"}) {
    NetDef def = test::ParseNet(R"(name: "n"
      op { type: "Abs" input: "x" output: "y" name: "size" debug_info: "model.py:3" }
      op { type: "Sqr" input: "y" output: "y" })");
    def.set_type(type);
    const auto net = CreateNet(def, &ws_);
    ReceiptRecorder recorder(net.get());
    Feed<float>(&ws_, "x", {1}, {-5});
    ASSERT_TRUE(net->Run());
    Feed<float>(&ws_, "x", {1}, {-2});
    ASSERT_TRUE(net->Run());
    const std::vector<ReceiptRow> rows = recorder.Take();
    ASSERT_THAT(rows, SizeIs(2));
    const float want[] = {2, 4};
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(rows[static_cast<size_t>(i)].blob, "y");
      EXPECT_EQ(rows[static_cast<size_t>(i)].position, i);
      EXPECT_EQ(rows[static_cast<size_t>(i)].sum, ContentSum(want + i, 4));
    }
    EXPECT_EQ(rows[0].op, "0 Abs \"size\"");
    EXPECT_EQ(rows[0].debug_info, "model.py:3");
    EXPECT_EQ(rows[1].op, "1 Sqr");
  }
}

// y = |x|, then three times: y = y^2, in the net of a While inside an If.
TEST_F(ReceiptTest, RecordsNetsInsideOperators) {
  constexpr char kNet[] = R"(name: "n"
    op { type: "Abs" input: "x" output: "y" }
    op { type: "If" input: "yes" output: "y" arg { name: "then_net" n { name: "then"
      op { type: "While" input: "more" arg { name: "loop_net" n { name: "loop"
        op { type: "Sqr" input: "y" output: "y" debug_info: "model.py:5" }
        op { type: "Add" input: "count" input: "one" output: "count" }
        op { type: "LT" input: "count" input: "most" output: "more" } } } } } } })";
  for (const char* type : {"simple", "async_scheduling"}) {
    SCOPED_TRACE(type);
    Workspace ws;
    Feed<bool>(&ws, "yes", {}, {true});
    Feed<int>(&ws, "one", {}, {1});
    Feed<int>(&ws, "most", {}, {3});
    NestedReceipts nested;
    NetDef def = test::ParseNet(kNet);
    def.set_type(type);
    Feed<float>(&ws, "x", {1}, {-2});
    Feed<int>(&ws, "count", {}, {0});
    Feed<bool>(&ws, "more", {}, {true});
    const auto net = CreateNet(def, &ws);
    ReceiptRecorder recorder(net.get(), &nested);
    std::vector<std::vector<ReceiptRow>> receipts;
    for (int run = 0; run < 2; ++run) {
      Feed<int>(&ws, "count", {}, {0});
      Feed<bool>(&ws, "more", {}, {true});
      ASSERT_TRUE(net->Run());
      receipts.push_back(recorder.Take());
    }
    std::vector<std::string> operators;
    for (const ReceiptRow& row : receipts[0]) operators.push_back(row.op + " -> " + row.blob);
    EXPECT_THAT(operators, ElementsAre("0 Abs -> y", "1.0.0 Sqr -> y", "1.0.1 Add -> count",
                                       "1.0.2 LT -> more", "1 If -> y"));
    const ReceiptRow& square = receipts[0].at(1);
    EXPECT_EQ(square.debug_info, "model.py:5");
    EXPECT_EQ(square.position, 1);
    uint64_t sum = 0;
    for (const float value : {4.f, 16.f, 256.f}) {
      const uint64_t own = ContentSum(&value, 4);
      sum = value == 4 ? own : MixRandomKeys(sum, own);
    }
    EXPECT_EQ(square.sum, sum) << "of all its results";
    for (size_t i = 0; i < receipts[0].size(); ++i)
      EXPECT_TRUE(receipts[0][i].SameValue(receipts[1].at(i))) << "each run begins anew: " << i;
  }
}

Receipt Example() {
  Receipt receipt = {.net = "n", .seed = 18446744073709551615u, .runs = 2};
  receipt.inputs = {{.blob = "x", .type = "float", .shape = {2}, .sum = 1}};
  receipt.weights = {.blob = "weights", .type = "3 blobs", .sum = 7};
  receipt.version = "0.1.0";
  receipt.instruction_set = "AVX2";
  receipt.executor = "simple";
  receipt.threads = 2;
  receipt.passes = {"fold_constants"};
  receipt.outputs = {{.blob = "y", .type = "float", .shape = {2}, .sum = 0xab}};
  receipt.operators = {
      {.blob = "h", .type = "float", .shape = {2}, .sum = 3, .position = 0, .op = "0 Relu"},
      {.blob = "h",
       .type = "float",
       .shape = {2},
       .sum = 4,
       .position = 1,
       .op = "1 Dropout",
       .debug_info = "model.py:7"},
      {.blob = "y", .type = "float", .shape = {2}, .sum = 0xab, .position = 2, .op = "2 Sqr"}};
  return receipt;
}

TEST_F(ReceiptTest, IsTheSameAfterJson) {
  const Receipt receipt = Example();
  const std::string json = ReceiptAsJson(receipt);
  EXPECT_THAT(json, testing::HasSubstr("\"hash\": \"00000000000000ab\""));
  const Receipt read = ReceiptFromJson(json, "file");
  EXPECT_EQ(ReceiptAsJson(read), json);
  const ReceiptComparison found = CompareReceipts(receipt, read);
  EXPECT_TRUE(found.equal());
  EXPECT_TRUE(found.has_operators);
  EXPECT_THAT(found.conditions, IsEmpty());
}

TEST_F(ReceiptTest, RejectsWhatIsNoReceipt) {
  for (const char* text : {"", "{", "[]", "{}", "7", R"({"receipt": "x"})", R"({"receipt": 1})"}) {
    ExpectThrows([&] { ReceiptFromJson(text, "file \"a\""); }, "file \"a\" is not a receipt");
  }
  for (const char* text : {"[]", "{}", "7"})
    ExpectThrows([&] { ReceiptFromJson(text, "f"); }, "it has no field \"receipt\"");
  std::string later = ReceiptAsJson(Example());
  later.replace(later.find("\"receipt\": 1"), 12, "\"receipt\": 2");
  ExpectThrows([&] { ReceiptFromJson(later, "f"); }, "format of the receipt");
  std::string damaged = ReceiptAsJson(Example());
  damaged.replace(damaged.find("00000000000000ab"), 16, "00000000000000zz");
  ExpectThrows([&] { ReceiptFromJson(damaged, "f"); }, "want 16 hexadecimal digits");
}

TEST_F(ReceiptTest, ComparisonFindsTheFirstOperatorInTheOrderOfTheNet) {
  const Receipt first = Example();
  Receipt second = Example();
  second.outputs[0].sum = 1;
  second.operators[1].sum = second.operators[2].sum = 1;
  const ReceiptComparison found = CompareReceipts(first, second);
  EXPECT_FALSE(found.equal());
  ASSERT_THAT(found.operators, SizeIs(2));
  EXPECT_EQ(found.operators[0].first, &first.operators[1]);
  EXPECT_EQ(found.operators[0].second, &second.operators[1]);
  ASSERT_THAT(found.outputs, SizeIs(1));
}

TEST_F(ReceiptTest, ComparisonReportsRowsThatOneReceiptLacks) {
  const Receipt first = Example();
  Receipt second = Example();
  second.outputs[0].blob = "z";
  second.operators.clear();
  const ReceiptComparison found = CompareReceipts(first, second);
  EXPECT_FALSE(found.has_operators);
  ASSERT_THAT(found.outputs, SizeIs(2));
  EXPECT_EQ(found.outputs[0].second, nullptr);
  EXPECT_EQ(found.outputs[1].first, nullptr);
}

TEST_F(ReceiptTest, ComparisonListsWhatElseDiffers) {
  const Receipt first = Example();
  Receipt second = Example();
  second.net = "m";
  second.seed.reset();
  second.runs = 3;
  second.inputs[0].sum = 2;
  second.inputs.push_back({.blob = "extra", .type = "float"});
  second.weights.sum = 8;
  second.version = "0.2.0";
  second.instruction_set = "AVX-512";
  second.threads = 4;
  second.executor = "dag";
  second.deterministic = true;
  second.passes.clear();
  const ReceiptComparison found = CompareReceipts(first, second);
  EXPECT_TRUE(found.equal()) << "the results are the same";
  EXPECT_THAT(found.conditions,
              ElementsAre("net: n and m", "seed: 18446744073709551615 and none", "runs: 2 and 3",
                          "input \"x\"", "input \"extra\", only in the second", "weights",
                          "version: 0.1.0 and 0.2.0", "instruction set: AVX2 and AVX-512",
                          "threads: 2 and 4", "executor: simple and dag", "deterministic: 0 and 1",
                          "passes: fold_constants and none"));
}

}  // namespace
}  // namespace caffe2rt::receipt_test
