// Datasets whose inner lengths do not fit, batches larger than what there is, records of several
// numbers of fields, and orders whose last batch is not full.
#include <algorithm>
#include <numeric>

#include "tests/operators/dataset/dataset.h"
#include "tests/support/refusals.h"

namespace caffe2rt::test::dataset_edges_test {
namespace {

void RunEdge(Workspace* ws, const std::string& op) {
  ASSERT_TRUE(ws->RunOperatorOnce(ParseOp(op)));
}
// The operator's own sentence, behind its frame.
void ExpectSentence(Workspace* ws, const std::string& op, const std::string& want) {
  const std::string got = MessageOf([&] { (void)ws->RunOperatorOnce(ParseOp(op)); });
  EXPECT_TRUE(got == want || got.ends_with(": " + want)) << "got:  " << got << "\nwant: " << want;
}

// l splits m, which splits v; n splits w. All lengths must add up, of each domain.
TEST(DatasetEdgesTest, ConsistencyCoversEveryDomain) {
  const std::string op =
      "type: 'CheckDatasetConsistency' input: 'l' input: 'm' input: 'v' input: 'n' input: 'w'" +
      FieldsArgument({"a:lengths", "a:values:lengths", "a:values:values", "b:lengths", "b:values"});
  struct LengthsRow {
    std::vector<int32_t> l, m, n;
    const char* want;  // null if they fit
  };
  const LengthsRow rows[] = {
      {{1, 2}, {2, 0, 1}, {0, 4}, nullptr},
      {{1, 2},
       {2, 0, 0},
       {0, 4},
       "sum of field \"a:values:lengths\", want the number of rows that it splits (got 2, want 3)"},
      {{1, 2},
       {2, 0, 1},
       {0, 3},
       "sum of field \"b:lengths\", want the number of rows that it splits (got 3, want 4)"},
      {{1, 1},
       {2, 0, 1},
       {0, 4},
       "sum of field \"a:lengths\", want the number of rows that it splits (got 2, want 3)"},
      {{1, 2},
       {2, 0, 2},
       {0, 4},
       "lengths in field \"a:values:lengths\" reach row 4 of what they split, which has 3 rows"},
      {{1, 2},
       {2, 0, 1},
       {1, 4},
       "lengths in field \"b:lengths\" reach row 5 of what they split, which has 4 rows"},
      {{0, 3}, {3, 0, 0}, {4, 0}, nullptr}};
  for (const LengthsRow& row : rows) {
    Workspace ws;
    Feed<int32_t>(&ws, "l", {2}, row.l);
    Feed<int32_t>(&ws, "m", {3}, row.m);
    FeedRange<float>(&ws, "v", {3});
    Feed<int32_t>(&ws, "n", {2}, row.n);
    FeedRange<float>(&ws, "w", {4, 2});
    ExpectSentence(&ws, op, row.want == nullptr ? "(nothing was thrown)" : row.want);
  }
}

// With enforce_batch_size, also the first batch must be full.
TEST(DatasetEdgesTest, AnEnforcedSizeAboveAllRecordsReturnsNone) {
  const std::string fields =
      " input: 'l' input: 'v' input: 'b' output: 'l1' output: 'v1' output: 'b1' ";
  for (const bool random : {false, true}) {
    for (const int size : {3, 4, 5, 9}) {
      for (const bool enforced : {false, true}) {
        SCOPED_TRACE(MakeString(random, size, enforced));
        Workspace ws;
        FeedLists(&ws);
        CreateListCursor(&ws);
        RunEdge(&ws,
                "type: 'ComputeOffset' input: 'cursor' input: 'l' input: 'v' input: 'b' output: "
                "'o'");
        RunEdge(&ws, "type: 'ResetCursor' input: 'cursor'");
        Feed<int64_t>(&ws, "order", {4}, {0, 1, 2, 3});
        RunEdge(&ws,
                (random ? "type: 'ReadRandomBatch' input: 'cursor' input: 'order' input: 'o'"
                        : "type: 'ReadNextBatch' input: 'cursor'") +
                    fields +
                    MakeString("arg { name: 'batch_size' i: ", size,
                               " } arg { name: 'enforce_batch_size' i: ", enforced ? 1 : 0, " }"));
        std::vector<int64_t> want;
        for (int i = 1; i <= std::min(size, 4) && !(enforced && size > 4); ++i) want.push_back(i);
        EXPECT_EQ(Fetch<int64_t>(ws, "b1"), want);
        EXPECT_EQ(DimsOf(ws, "l1"), std::vector<int64_t>{static_cast<int64_t>(want.size())});
      }
    }
  }
}

// Records packed with other fields are named by their number.
TEST(DatasetEdgesTest, EachRecordHasTheFieldsOfTheArgument) {
  Workspace ws;
  Feed<float>(&ws, "x", {2}, {1, 2});
  Feed<float>(&ws, "y", {1}, {3});
  RunEdge(&ws, "type: 'PackRecords' input: 'x' output: 'p'" + FieldsArgument({"f"}));
  RunEdge(&ws,
          "type: 'PackRecords' input: 'y' input: 'y' output: 'q'" + FieldsArgument({"f", "g"}));
  const auto join = [&](const std::string& first, const std::string& second) {
    RunEdge(&ws, "type: 'Concat' input: '" + first + "' input: '" + second +
                     "' output: 'all' output: 'dims' arg { name: 'axis' i: 0 }");
  };
  const std::string want = ", want as many as argument \"fields\" names ";
  const std::string one = "type: 'UnPackRecords' input: 'all' output: 'z'" + FieldsArgument({"f"});
  join("p", "q");
  ExpectSentence(&ws, one, "fields of record 2" + want + "(got 2, want 1)");
  join("q", "p");
  ExpectSentence(&ws, one, "fields of record 0" + want + "(got 2, want 1)");
  ExpectSentence(
      &ws,
      "type: 'UnPackRecords' input: 'all' output: 'z' output: 'u'" + FieldsArgument({"f", "g"}),
      "fields of record 1" + want + "(got 1, want 2)");
  join("p", "p");
  RunEdge(&ws, one);
  ExpectTensor<float>(ws, "z", {4}, {1, 2, 1, 2});
}

// The records behind the last full batch keep their sorted order at the end.
TEST(DatasetEdgesTest, RecordsBehindTheLastBatchStayInOrder) {
  for (const int64_t records : {5, 6, 7, 8, 11}) {
    for (const int batch : {3, 4, 100}) {
      SCOPED_TRACE(MakeString(records, " ", batch));
      Workspace ws;
      CreateCursor(&ws, {"k"});
      std::vector<int32_t> keys;  // 0, 1, 2, ... backward
      for (int64_t i = records; i-- > 0;) keys.push_back(static_cast<int32_t>(i));
      Feed<int32_t>(&ws, "k", {records}, keys);
      RunEdge(&ws, MakeString("type: 'SortAndShuffle' input: 'cursor' input: 'k' output: 'o' arg { "
                              "name: 'sort_by_field_idx' i: 0 } arg { name: 'batch_size' i: ",
                              batch, " }"));
      const std::vector<int64_t> order = Fetch<int64_t>(ws, "o");
      ASSERT_EQ(order.size(), static_cast<size_t>(records));
      const int64_t full = records / batch * batch;
      for (int64_t i = full; i < records; ++i)
        EXPECT_EQ(order[static_cast<size_t>(i)], records - 1 - i);
      std::vector<int64_t> sorted = order, all(order.size());
      std::sort(sorted.begin(), sorted.end());
      std::iota(all.begin(), all.end(), int64_t{0});
      EXPECT_EQ(sorted, all);
    }
  }
}

// A saved cursor has a position in each domain.
TEST(DatasetEdgesTest, CursorsOfNestedListsReadEachDomainInTurn) {
  Workspace ws;
  CreateCursor(&ws, {"a:lengths", "a:values:lengths", "a:values:values", "b"});
  Feed<int32_t>(&ws, "l", {3}, {2, 0, 1});
  Feed<int32_t>(&ws, "m", {3}, {1, 2, 1});
  FeedRange<float>(&ws, "v", {4});
  FeedRange<int64_t>(&ws, "b", {3}, 10);
  const std::vector<std::vector<float>> values = {{0, 1, 2}, {}, {3}, {}};
  const std::vector<std::vector<int32_t>> lengths = {{1, 2}, {}, {1}, {}};
  const std::vector<std::vector<int32_t>> positions = {{1, 2, 3}, {2, 2, 3}, {3, 3, 4}, {3, 3, 4}};
  for (size_t i = 0; i < values.size(); ++i) {
    RunEdge(&ws,
            "type: 'ReadNextBatch' input: 'cursor' input: 'l' input: 'm' input: 'v' input: 'b' "
            "output: 'l1' output: 'm1' output: 'v1' output: 'b1'");
    ExpectTensor<float>(ws, "v1", {static_cast<int64_t>(values[i].size())}, values[i]);
    ExpectTensor<int32_t>(ws, "m1", {static_cast<int64_t>(lengths[i].size())}, lengths[i]);
    RunEdge(&ws, "type: 'GetCursorOffset' input: 'cursor' output: 'p'");
    ExpectTensor<int32_t>(ws, "p", {3}, positions[i]);
  }
}

}  // namespace
}  // namespace caffe2rt::test::dataset_edges_test
