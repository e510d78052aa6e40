// Whole messages of the operators on datasets, and that a rejected run changes nothing.
#include "tests/operators/dataset/dataset.h"
#include "tests/support/refusals.h"

namespace caffe2rt::test::dataset_refusals_test {
namespace {

struct RejectedRun {
  std::string op;
  std::string message;
};

// The operator's own sentence begins after its frame.
void ExpectRejectedRuns(Workspace* ws, const std::vector<RejectedRun>& rows) {
  for (const RejectedRun& row : rows) {
    const std::string got = MessageOf([&] { RunOp(ws, row.op); });
    EXPECT_TRUE(got == row.message || got.ends_with(": " + row.message))
        << row.op << "\ngot:  " << got << "\nwant: " << row.message;
  }
}

std::string Fields() { return kListFields; }

TEST(DatasetRefusalsTest, OfRecordsNameFieldsAndTypes) {
  Workspace ws;
  FeedLists(&ws);
  RunOp(&ws, "type: 'PackRecords' input: 'l' input: 'v' input: 'b' output: 'p'" + Fields());
  Feed<float>(&ws, "scalar", {}, {1});
  Feed<float>(&ws, "plain", {1}, {1});
  Feed<float>(&ws, "wide", {6, 1}, {0, 1, 2, 3, 4, 5});
  const std::string unpack = "type: 'UnPackRecords' input: 'p' ";
  const std::string three = "output: 'l1' output: 'v1' output: 'b1'";
  ExpectRejectedRuns(
      &ws,
      {{"type: 'PackRecords' input: 'l' input: 'v' output: 'p2'" + Fields(),
        "inputs, want one for each name in argument \"fields\" (got 2, want 3)"},
       {unpack + "output: 'l1' output: 'v1'" + Fields(),
        "outputs, want one for each name in argument \"fields\" (got 2, want 3)"},
       {unpack + "input: 'l' input: 'v' " + three + Fields(),
        "inputs are 3, want 1, or 4 with one prototype for each output"},
       {unpack + "output: 'x' output: 'y'" + FieldsArgument({"x", "y"}),
        "fields of record 0, want as many as argument \"fields\" names (got 3, want 2)"},
       {unpack + "input: 'l' input: 'wide' input: 'b' " + three + Fields(),
        "field \"a:values\" of record 0 is float [1], want float [6, 1] except in dimension 0, as "
        "in its prototype"},
       {"type: 'UnPackRecords' input: 'plain' output: 'x' output: 'y'" + FieldsArgument({"x", "y"}),
        "outputs, want one, because input 0 is not packed (got 2, want 1)"}});
}

TEST(DatasetRefusalsTest, OfRecordsOfSeveralShapesNameTheRecord) {
  Workspace ws;
  FeedLists(&ws);
  FeedRange<float>(&ws, "v", {6, 2});
  for (const int single : {0, 1}) {
    const std::string how =
        MakeString(" arg { name: 'pack_to_single_shared_ptr' i: ", single, " }");
    Feed<float>(&ws, "v", {0, 2}, {});
    Feed<int32_t>(&ws, "l", {0}, {});
    Feed<int64_t>(&ws, "b", {0}, {});
    RunOp(&ws,
          "type: 'PackRecords' input: 'l' input: 'v' input: 'b' output: 'none'" + Fields() + how);
    ExpectRejectedRuns(
        &ws, {{"type: 'UnPackRecords' input: 'none' output: 'x' output: 'y' output: 'z'" + Fields(),
               "input 0 (packed) has no records, and there are no prototypes, from which the types "
               "and shapes of the outputs would come"}});
  }
}

TEST(DatasetRefusalsTest, OfDatasetsThatDoNotFitNameTheNumbers) {
  Workspace ws;
  FeedLists(&ws);
  Feed<int64_t>(&ws, "three", {3}, {1, 2, 3});
  Feed<int32_t>(&ws, "short", {4}, {1, 2, 0, 2});
  Feed<int32_t>(&ws, "long", {4}, {1, 2, 0, 4});
  Feed<int64_t>(&ws, "wrong", {4}, {1, 2, 0, 3});
  Feed<float>(&ws, "scalar", {}, {1});
  const std::string check = "type: 'CheckDatasetConsistency' ";
  ExpectRejectedRuns(
      &ws, {{check + "input: 'l' input: 'v'" + Fields(),
             "inputs, want one for each name in argument \"fields\" (got 2, want 3)"},
            {check + "input: 'l' input: 'v' input: 'three'" + Fields(),
             "rows of field \"a:lengths\", want as many as other fields of its domain have (got 4, "
             "want 3)"},
            {check + "input: 'short' input: 'v' input: 'b'" + Fields(),
             "sum of field \"a:lengths\", want the number of rows that it splits (got 5, want 6)"},
            {check + "input: 'long' input: 'v' input: 'b'" + Fields(),
             "lengths in field \"a:lengths\" reach row 7 of what they split, which has 6 rows"},
            {check + "input: 'wrong' input: 'v' input: 'b'" + Fields(),
             "input 0 (a:lengths) is int64, want int32"},
            {check + "input: 'l' input: 'scalar' input: 'b'" + Fields(),
             "input 1 (a:values) has no dimension, want one for its rows"},
            {"type: 'TrimDataset' input: 'l' input: 'v' output: 'l' output: 'v'" + Fields(),
             "inputs, want one for each name in argument \"fields\" (got 2, want 3)"}});
}

TEST(DatasetRefusalsTest, OfCursorsLeaveThemWhereTheyAre) {
  Workspace ws;
  FeedLists(&ws);
  CreateListCursor(&ws);
  Feed<int32_t>(&ws, "long", {4}, {1, 6, 0, 3});
  const std::string read = "type: 'ReadNextBatch' input: 'cursor' ";
  const std::string out = "output: 'l1' output: 'v1' output: 'b1'";
  RunOp(&ws, read + "input: 'l' input: 'v' input: 'b' " + out);
  ExpectRejectedRuns(
      &ws,
      {{read + "input: 'l' input: 'v' " + out,
        "inputs for the fields of the dataset, want one for each field of the cursor (got 2, want "
        "3)"},
       {read + "input: 'long' input: 'v' input: 'b' " + out,
        "lengths in field \"a:lengths\" reach row 7 of what they split, which has 6 rows"}});
  // The second record follows, as if nothing had been rejected.
  RunOp(&ws, read + "input: 'l' input: 'v' input: 'b' " + out);
  ExpectTensor<int32_t>(ws, "l1", {1}, {2});
  ExpectTensor<float>(ws, "v1", {2}, {1, 2});
  ExpectTensor<int64_t>(ws, "b1", {1}, {2});
}

TEST(DatasetRefusalsTest, OfRandomBatchesNameThePositionInTheOrder) {
  Workspace ws;
  FeedLists(&ws);
  CreateListCursor(&ws);
  Feed<int64_t>(&ws, "order", {4}, {3, 0, 4, -1});
  Feed<int64_t>(&ws, "offsets", {5, 2}, {0, 0, 1, 1, 2, 3, 3, 3, 4, 6});
  Feed<int64_t>(&ws, "narrow", {5, 1}, {0, 1, 3, 3, 6});
  Feed<int64_t>(&ws, "flat", {10}, {0, 0, 1, 1, 2, 3, 3, 3, 4, 6});
  const auto read = [](const std::string& offsets, int count) {
    return "type: 'ReadRandomBatch' input: 'cursor' input: 'order' input: '" + offsets +
           "' input: 'l' input: 'v' input: 'b' output: 'l1' output: 'v1' output: 'b1' " +
           MakeString("arg { name: 'batch_size' i: ", count, " }");
  };
  const std::string want =
      ", want two dimensions, and at least 2 columns, as ComputeOffset makes them";
  ExpectRejectedRuns(&ws, {{read("narrow", 1), "input 2 (offsets) has shape [5, 1]" + want},
                           {read("flat", 1), "input 2 (offsets) has shape [10]" + want}});
  // Records 0 and 3 are the first and the last.
  RunOp(&ws, read("offsets", 2));
  ExpectTensor<int32_t>(ws, "l1", {2}, {3, 1});
  ExpectTensor<float>(ws, "v1", {4}, {3, 4, 5, 0});
  ExpectTensor<int64_t>(ws, "b1", {2}, {4, 1});
  Feed<float>(&ws, "v", {}, {1});
  ExpectRejectedRuns(
      &ws, {{read("offsets", 0), "dimensions of input 4 (a:values): got 0, want more than 0"}});
  ExpectRejectedRuns(&ws, {{read("offsets", 1),
                            "input 1 (order) has 4 at position 2, want 0 to 3, as input 2 "
                            "(offsets) has 5 rows"}});
}

TEST(DatasetRefusalsTest, OfSortingNameTheField) {
  Workspace ws;
  FeedLists(&ws);
  CreateListCursor(&ws);
  Feed<int32_t>(&ws, "five", {5}, {1, 2, 0, 3, 0});
  Feed<int32_t>(&ws, "three", {3}, {1, 2, 0});
  Feed<int32_t>(&ws, "none", {}, {4});
  const auto sort = [](const std::string& lengths, const std::string& last, int field) {
    return "type: 'SortAndShuffle' input: 'cursor' input: '" + lengths + "' input: 'v' input: '" +
           last + "' output: 'o' " +
           MakeString("arg { name: 'sort_by_field_idx' i: ", field,
                      " } arg { name: 'batch_size' i: 4 }");  // one batch, which is not shuffled
  };
  ExpectRejectedRuns(
      &ws, {{sort("l", "b", 3),
             "argument \"sort_by_field_idx\" is 3, want it below 3, the number of fields"},
            {sort("l", "b", 1),
             "domain of field \"a:values\", by which the records are sorted: got 1, want 0"},
            {sort("five", "three", 2),
             "elements of field \"b\", by which the records are sorted, want one for each record "
             "(got 3, want at least 5)"},
            {sort("none", "b", -1), "dimensions of input 1 (a:lengths): got 0, want more than 0"}});
  RunOp(&ws, sort("l", "five", 2));  // more keys than records are no harm
  ExpectTensor<int64_t>(ws, "o", {4}, {2, 0, 1, 3});
}

TEST(DatasetRefusalsTest, OfTheWindowLeaveTheBufferAndTheCount) {
  Workspace ws;
  RunOp(&ws, R"(type: "CreateMutex" output: "M")");
  const std::string collect =
      R"(type: "LastNWindowCollector" input: "B" input: "N" input: "X" input: "M" input: "V"
         output: "B" output: "N" output: "V" arg { name: "num_to_collect" i: 4 })";
  Feed<float>(&ws, "B", {2}, {8, 9});
  Feed<int64_t>(&ws, "V", {1}, {5});
  Feed<float>(&ws, "X", {1}, {1});
  for (const int next : {-1, 3}) {
    Feed<int32_t>(&ws, "N", {}, {next});
    ExpectRejectedRuns(&ws, {{collect, MakeString("input 1 (next cursor) is ", next,
                                                  ", want at least 0 and less than 3, because the "
                                                  "buffer has 2 rows")}});
    ExpectTensor<float>(ws, "B", {2}, {8, 9});
    ExpectTensor<int32_t>(ws, "N", {}, {next});
    ExpectTensor<int64_t>(ws, "V", {1}, {5});
  }
  Feed<int32_t>(&ws, "N", {}, {2});  // the last that is accepted
  RunOp(&ws, collect);
  ExpectTensor<float>(ws, "B", {3}, {8, 9, 1});
  ExpectTensor<int32_t>(ws, "N", {}, {3});
  ExpectTensor<int64_t>(ws, "V", {1}, {6});
  Feed<int64_t>(&ws, "V", {2}, {5, 6});
  ExpectRejectedRuns(&ws, {{collect, "elements of input 4 (NUM_VISITED): got 2, want 1"}});
  Feed<int32_t>(&ws, "V", {1}, {5});  // of another type
  Feed<float>(&ws, "B", {2}, {8, 9});
  Feed<int32_t>(&ws, "N", {}, {1});
  EXPECT_THROW(RunOp(&ws, collect), EnforceNotMet);
  ExpectTensor<float>(ws, "B", {2}, {8, 9});
  ExpectTensor<int32_t>(ws, "N", {}, {1});
  Feed<int64_t>(&ws, "V", {1}, {5});
  Feed<float>(&ws, "B", {5}, {1, 2, 3, 4, 5});
  ExpectRejectedRuns(&ws, {{collect,
                            "rows of input 0 (last-N buffer), want at most num_to_collect (got 5, "
                            "want at most 4)"}});
  Feed<float>(&ws, "X", {}, {1});
  ExpectRejectedRuns(&ws, {{collect, "rank of input 2 (DATA): got 0, want at least 1"}});
}

}  // namespace
}  // namespace caffe2rt::test::dataset_refusals_test
