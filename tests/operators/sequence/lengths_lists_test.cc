#include "caffe2_core/runtime/net.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::lengths_lists_test {
namespace {

const char* const kGather = R"(type: "LengthsGather" input: "X" input: "L" input: "I" output: "Y")";
const char* const kPad = R"(type: "LengthsPad" input: "X" input: "L" output: "Y"
                            arg { name: "target_length" i: 2 } arg { name: "padding_value" f: 9 })";
const char* const kMerge = R"(type: "MergeIdLists" input: "L" input: "X" input: "K" input: "Z"
                              output: "N" output: "Y")";

std::string Dropout(const char* ratio) {
  return std::string(
             R"(type: "SparseDropoutWithReplacement" input: "X" input: "L" output: "Y" output: "N"
                        arg { name: "replacement_value" i: -1 } arg { name: "ratio" f: )") +
         ratio + " }";
}

TEST(LengthsGatherTest, GathersLists) {
  Workspace ws;
  Feed<float>(&ws, "X", {4}, {1, 2, 3, 4});
  Feed<int32_t>(&ws, "L", {3}, {2, 0, 2});
  Feed<int64_t>(&ws, "I", {3}, {2, 1, 0});
  RunOp(&ws, kGather);
  ExpectTensor<float>(ws, "Y", {4}, {3, 4, 1, 2});
  ExpectShapeInferred(&ws, kGather, true);
  Feed<int64_t>(&ws, "I", {0}, {});
  RunOp(&ws, kGather);
  ExpectTensor<float>(ws, "Y", {0}, {});
  Feed<int32_t>(&ws, "I", {1}, {3});
  ExpectThrows([&] { RunOp(&ws, kGather); }, "element 0 of input 2 (INDICES) is 3");
  Feed<int32_t>(&ws, "L", {1}, {3});
  ExpectThrows([&] { RunOp(&ws, kGather); }, "sum of the lengths, want the rows of input 0");
}

TEST(LengthsPadTest, PadsEachList) {
  Workspace ws;
  Feed<int32_t>(&ws, "X", {2, 2}, {1, 2, 3, 4});
  Feed<int32_t>(&ws, "L", {3}, {1, 0, 1});
  RunOp(&ws, kPad);
  ExpectTensor<int32_t>(ws, "Y", {6, 2}, {1, 2, 9, 9, 9, 9, 9, 9, 3, 4, 9, 9});
  ExpectShapeInferred(&ws, kPad);
  Feed<int32_t>(&ws, "L", {1}, {3});
  ExpectThrows([&] { RunOp(&ws, kPad); }, "longest of input 1 (LENGTHS)");
  Feed<int32_t>(&ws, "L", {1}, {1});
  ExpectThrows([&] { RunOp(&ws, kPad); }, "sum of the lengths, want the rows of input 0");
  ExpectThrows([&] { RunOp(&ws, R"(type: "LengthsPad" input: "X" input: "L" output: "Y")"); },
               "target_length");
}

TEST(MergeIdListsTest, MergesListsInOrder) {
  Workspace ws;
  Feed<int32_t>(&ws, "L", {2}, {2, 1});
  Feed<int64_t>(&ws, "X", {3}, {9, 1, 5});
  Feed<int32_t>(&ws, "K", {2}, {2, 0});
  Feed<int64_t>(&ws, "Z", {2}, {4, 9});
  RunOp(&ws, kMerge);
  ExpectTensor<int32_t>(ws, "N", {2}, {3, 1});
  ExpectTensor<int64_t>(ws, "Y", {4}, {1, 4, 9, 5});
  ExpectShapeInferred(&ws, kMerge, true);
  Feed<int32_t>(&ws, "K", {1}, {2});
  ExpectThrows([&] { RunOp(&ws, kMerge); }, "elements of input 2 (lengths), want those of input 0");
  Feed<int32_t>(&ws, "K", {2}, {1, 0});
  ExpectThrows([&] { RunOp(&ws, kMerge); }, "sum of the lengths of input 2");
  ExpectThrows(
      [&] {
        RunOp(&ws, R"(type: "MergeIdLists" input: "L" input: "X" input: "K" output: "N"
                      output: "Y")");
      },
      "it has 3 inputs");
}

TEST(SparseDropoutWithReplacementTest, ReplacesNoneOrAll) {
  Workspace ws;
  Feed<int64_t>(&ws, "X", {3}, {1, 2, 3});
  Feed<int32_t>(&ws, "L", {3}, {2, 0, 1});
  RunOp(&ws, Dropout("0"));
  ExpectTensor<int64_t>(ws, "Y", {3}, {1, 2, 3});
  ExpectTensor<int32_t>(ws, "N", {3}, {2, 0, 1});
  RunOp(&ws, Dropout("1"));
  ExpectTensor<int64_t>(ws, "Y", {3}, {-1, -1, -1});
  ExpectTensor<int32_t>(ws, "N", {3}, {1, 1, 1});
  ExpectShapeInferred(&ws, Dropout("1"), true);
  ExpectThrows([&] { RunOp(&ws, Dropout("1.5")); }, "want from 0 to 1");
  Feed<int32_t>(&ws, "L", {1}, {2});
  ExpectThrows([&] { RunOp(&ws, Dropout("0")); },
               "sum of the lengths, want the elements of input 0");
}

// Lists of 0, 1 and 2 numbers: what is kept is the list itself, whatever was replaced before it.
TEST(SparseDropoutWithReplacementTest, KeepsOrReplacesEachListAsAWhole) {
  constexpr int32_t kLists = 3000;
  Workspace ws;
  std::vector<int32_t> lengths;
  for (int32_t s = 0; s < kLists; ++s) lengths.push_back(s % 3);
  Feed<int32_t>(&ws, "L", {kLists}, lengths);
  FeedRange<int64_t>(&ws, "X", {kLists}, 7);  // as many as the lengths add up to
  const std::string op = Dropout("0.25") + " device_option { random_seed: 3 }";
  RunOp(&ws, op);
  const std::vector<int64_t> values = Fetch<int64_t>(ws, "Y");
  const std::vector<int32_t> counts = Fetch<int32_t>(ws, "N");
  ASSERT_EQ(counts.size(), lengths.size());
  int replaced[3] = {};
  size_t at = 0;
  int64_t next = 7;
  for (int32_t s = 0; s < kLists; ++s) {
    const int32_t count = counts[static_cast<size_t>(s)], length = s % 3;
    ASSERT_LE(at + static_cast<size_t>(count), values.size());
    if (count == 1 && values[at] == -1) {
      ++replaced[length];
    } else {
      ASSERT_EQ(count, length) << "list " << s;
      for (int32_t i = 0; i < count; ++i) ASSERT_EQ(values[at + static_cast<size_t>(i)], next + i);
    }
    at += static_cast<size_t>(count);
    next += length;
  }
  EXPECT_EQ(at, values.size());
  // 250 of 1000 on average, with a standard deviation of 13.7.
  for (const int number : replaced) {
    EXPECT_GT(number, 180);
    EXPECT_LT(number, 320);
  }
  RunOp(&ws, op);
  ExpectTensor<int32_t>(ws, "N", {kLists}, counts);  // of the same seed
}

TEST(SparseDropoutWithReplacementTest, DrawsInEachRun) {
  Workspace ws;
  Feed<int32_t>(&ws, "L", {64}, std::vector<int32_t>(64, 2));
  FeedRange<int64_t>(&ws, "X", {128});
  NetDef def = ParseNet("name: 'n' op { " + Dropout("0.5") + " }");
  NetBase* const net = ws.CreateNet(def);
  ASSERT_TRUE(net->Run());
  const std::vector<int32_t> first = Fetch<int32_t>(ws, "N");
  ASSERT_TRUE(net->Run());
  EXPECT_NE(Fetch<int32_t>(ws, "N"), first);
  Feed<int32_t>(&ws, "L", {0}, {});
  Feed<int64_t>(&ws, "X", {0}, {});
  ASSERT_TRUE(net->Run());
  ExpectTensor<int64_t>(ws, "Y", {0}, {});
  ExpectTensor<int32_t>(ws, "N", {0}, {});
}

TEST(SparseDropoutWithReplacementTest, HasNoRatioAndZerosByDefault) {
  Workspace ws;
  FeedRange<int64_t>(&ws, "X", {100}, 1);
  Feed<int32_t>(&ws, "L", {100}, std::vector<int32_t>(100, 1));
  const std::string op =
      "type: 'SparseDropoutWithReplacement' input: 'X' input: 'L' output: 'Y' output: 'N' ";
  RunOp(&ws, op);
  EXPECT_EQ(Fetch<int64_t>(ws, "Y"), Fetch<int64_t>(ws, "X"));
  RunOp(&ws, op + "arg { name: 'ratio' f: 1 }");
  ExpectTensor<int64_t>(ws, "Y", {100}, std::vector<int64_t>(100, 0));
}

}  // namespace
}  // namespace caffe2rt::test::lengths_lists_test
