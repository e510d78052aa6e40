// Inputs beside the usual ones of operators on datasets: blobs without a type or rows, types of one
// size, several lists, and cursors at the end.
#include <memory>
#include <mutex>

#include "caffe2_core/runtime/net.h"
#include "operators/dataset/tree_cursor.h"
#include "tests/operators/dataset/dataset.h"
#include "tests/support/refusals.h"

namespace caffe2rt::test::dataset_neighbours_test {
namespace {

void RunOnce(Workspace* ws, const std::string& op) {
  ASSERT_TRUE(ws->RunOperatorOnce(ParseOp(op)));
}
std::string ErrorOf(Workspace* ws, const std::string& op) {
  return MessageOf([&] { (void)ws->RunOperatorOnce(ParseOp(op)); });
}

const std::string kWindowOfThree = R"(type: "LastNWindowCollector" input: "B" input: "N" input: "X"
  output: "B" output: "N" arg { name: "num_to_collect" i: 3 })";

// Without rows, the buffer has the type and the columns of the data, and the next run fills it.
TEST(DatasetNeighboursTest, AnEmptyFirstBatchGivesTheBufferItsTypeAndColumns) {
  Workspace ws;
  ws.CreateBlob("B");
  Feed<int32_t>(&ws, "N", {}, {0});
  Feed<float>(&ws, "X", {0, 2}, {});
  RunOnce(&ws, kWindowOfThree);
  ExpectTensor<float>(ws, "B", {0, 2}, {});
  ExpectTensor<int32_t>(ws, "N", {}, {0});
  Feed<int64_t>(&ws, "X", {0, 3, 2}, {});  // another one, because there are no rows yet
  RunOnce(&ws, kWindowOfThree);
  ExpectTensor<int64_t>(ws, "B", {0, 3, 2}, {});
  Feed<float>(&ws, "X", {2, 1}, {5, 6});
  RunOnce(&ws, kWindowOfThree);
  ExpectTensor<float>(ws, "B", {2, 1}, {5, 6});
  Feed<float>(&ws, "X", {0, 1}, {});
  RunOnce(&ws, kWindowOfThree);
  ExpectTensor<float>(ws, "B", {2, 1}, {5, 6});
  ExpectTensor<int32_t>(ws, "N", {}, {2});
}

TEST(DatasetNeighboursTest, AWindowOfRowsWithoutElementsCountsThem) {
  Workspace ws;
  RunOnce(&ws, "type: 'CreateMutex' output: 'M'");
  ws.CreateBlob("B");
  Feed<int32_t>(&ws, "N", {}, {0});
  Feed<int64_t>(&ws, "V", {1}, {10});
  Feed<float>(&ws, "X", {2, 0}, {});
  RunOnce(&ws, R"(type: "LastNWindowCollector" input: "B" input: "N" input: "X" input: "M"
    input: "V" output: "B" output: "N" output: "V" arg { name: "num_to_collect" i: 3 })");
  ExpectTensor<float>(ws, "B", {2, 0}, {});
  ExpectTensor<int32_t>(ws, "N", {}, {2});
  ExpectTensor<int64_t>(ws, "V", {1}, {12});
}

TEST(DatasetNeighboursTest, AWindowNamesTheTypesAndShapesThatDiffer) {
  Workspace ws;
  Feed<float>(&ws, "B", {1, 2}, {1, 2});
  Feed<int32_t>(&ws, "N", {}, {0});
  const auto ends = [&](const std::string& want) {
    const std::string got = ErrorOf(&ws, kWindowOfThree);
    EXPECT_TRUE(got.ends_with(want)) << got;
    ExpectTensor<float>(ws, "B", {1, 2}, {1, 2});
    ExpectTensor<int32_t>(ws, "N", {}, {0});
  };
  Feed<int32_t>(&ws, "X", {1, 2}, {3, 4});  // of the same size
  ends("input 2 (DATA) has elements of type int32, want that of the buffer, float");
  Feed<float>(&ws, "X", {1, 2, 1}, {3, 4});
  ends(
      "input 2 (DATA) has shape [1, 2, 1], want that of the buffer, [1, 2], except in dimension 0");
  Feed<float>(&ws, "X", {2, 1}, {3, 4});
  ends("input 2 (DATA) has shape [2, 1], want that of the buffer, [1, 2], except in dimension 0");
  Feed<float>(&ws, "X", {1, 2}, {3, 4});
  Feed<int32_t>(&ws, "N", {1}, {0});
  const std::string got = ErrorOf(&ws, kWindowOfThree);
  EXPECT_TRUE(got.ends_with("rank of input 1 (next cursor), want a scalar (got 1, want 0)")) << got;
}

// All rows that came count, also those of a batch that the window cannot hold.
TEST(DatasetNeighboursTest, AWindowCountsTheRowsThatItLeavesOut) {
  Workspace ws;
  RunOnce(&ws, "type: 'CreateMutex' output: 'M'");
  ws.CreateBlob("B");
  Feed<int32_t>(&ws, "N", {}, {0});
  Feed<int64_t>(&ws, "V", {1}, {int64_t{1} << 40});
  int64_t visited = int64_t{1} << 40;
  for (const int64_t rows : {5, 3, 0, 4, 1}) {
    FeedRange<float>(&ws, "X", {rows}, 10);
    RunOnce(&ws, R"(type: "LastNWindowCollector" input: "B" input: "N" input: "X" input: "M"
      input: "V" output: "B" output: "N" output: "V" arg { name: "num_to_collect" i: 3 })");
    visited += rows;
    ExpectTensor<int64_t>(ws, "V", {1}, {visited});
  }
  // Of 10 to 13 the last three, then 10 in the place of the first.
  ExpectTensor<float>(ws, "B", {3}, {10, 12, 13});
  ExpectTensor<int32_t>(ws, "N", {}, {1});
}

const std::string kAppendTwo =
    "type: 'AtomicAppend' input: 'mutex' input: 'x' input: 'y' input: 'x1' input: 'y1' output: 'x' "
    "output: 'y'";

TEST(DatasetNeighboursTest, RowsOfAnotherTypeOfTheSameSizeAreNotAppended) {
  Workspace ws;
  RunOnce(&ws, "type: 'CreateMutex' output: 'mutex'");
  Feed<float>(&ws, "x", {1}, {1});
  Feed<int32_t>(&ws, "y", {1}, {2});
  Feed<float>(&ws, "x1", {1}, {3});
  const auto ends = [&](const std::string& want) {
    const std::string got = ErrorOf(&ws, kAppendTwo);
    EXPECT_TRUE(got.ends_with(want)) << got;
    ExpectTensor<float>(ws, "x", {1}, {1});
    ExpectTensor<int32_t>(ws, "y", {1}, {2});
  };
  Feed<float>(&ws, "y1", {1}, {4});
  ends("input 4 is float, want int32, as input 2");
  Feed<float>(&ws, "y1", {0}, {});  // also without rows
  ends("input 4 is float, want int32, as input 2");
  Feed<int32_t>(&ws, "y1", {0, 1}, {});
  ends("input 4 has shape [0, 1], want that of input 2, [1], except in dimension 0");
  Feed<int32_t>(&ws, "y1", {0}, {});
  RunOnce(&ws, kAppendTwo);
  ExpectTensor<float>(ws, "x", {2}, {1, 3});
  ExpectTensor<int32_t>(ws, "y", {1}, {2});
  *ws.GetBlob("mutex")->GetMutable<std::unique_ptr<std::mutex>>() = nullptr;
  const std::string got = ErrorOf(&ws, kAppendTwo);
  EXPECT_TRUE(got.ends_with("input 0 (mutex) holds no mutex")) << got;
  ExpectTensor<float>(ws, "x", {2}, {1, 3});
}

// Each tensor grows by its own rows, whose numbers differ.
TEST(DatasetNeighboursTest, TensorsOfSeveralShapesAreAppendedTo) {
  Workspace ws;
  RunOnce(&ws, "type: 'CreateMutex' output: 'mutex'");
  Feed<int64_t>(&ws, "x", {1, 2}, {1, 2});
  ws.CreateBlob("y")->GetMutableTensor(CPU)->Resize(0, 7);
  for (int run = 0; run < 3; ++run) {
    Feed<int64_t>(&ws, "x1", {2, 2}, {run, run, 10 + run, 10 + run});
    Feed<float>(&ws, "y1", {1, 3}, {1, 2, static_cast<float>(run)});
    RunOnce(&ws, kAppendTwo);
  }
  ExpectTensor<int64_t>(ws, "x", {7, 2}, {1, 2, 0, 0, 10, 10, 1, 1, 11, 11, 2, 2, 12, 12});
  ExpectTensor<float>(ws, "y", {3, 3}, {1, 2, 0, 1, 2, 1, 1, 2, 2});
}

// A tensor without rows, of any type and shape, becomes a copy of the rows, also of no rows.
TEST(DatasetNeighboursTest, ATensorWithoutRowsBecomesTheRows) {
  for (const std::vector<int64_t>& empty :
       std::vector<std::vector<int64_t>>{{0}, {0, 2}, {0, 3, 5}}) {
    for (const std::vector<int64_t>& rows :
         std::vector<std::vector<int64_t>>{{0}, {0, 2}, {4, 0}, {3}, {1, 2}}) {
      SCOPED_TRACE(testing::PrintToString(empty) + testing::PrintToString(rows));
      Workspace ws;
      RunOnce(&ws, "type: 'CreateMutex' output: 'mutex'");
      FeedRange<int64_t>(&ws, "x", empty);
      FeedRange<float>(&ws, "y", empty);
      FeedRange<float>(&ws, "x1", rows, 3);
      FeedRange<float>(&ws, "y1", rows, 5);
      RunOnce(&ws, kAppendTwo);
      ExpectTensor<float>(ws, "x", rows, Fetch<float>(ws, "x1"));
      ExpectTensor<float>(ws, "y", rows, Fetch<float>(ws, "y1"));
    }
  }
}

// All lists of an operator keep the tensors of the same runs.
TEST(DatasetNeighboursTest, ListsOfOneOperatorKeepTheSameRuns) {
  Workspace ws;
  ws.SetRandomSeed(5);
  for (const char* list : {"v", "w"})
    RunOnce(&ws, MakeString("type: 'CreateTensorVector' output: '", list, "'"));
  for (const char* name : {"x", "y"}) ws.CreateBlob(name);
  NetBase* const net = ws.CreateNet(
      ParseNet("name: 'n' op { type: 'CollectTensor' input: 'v' input: 'w' input: 'x' input: 'y' "
               "output: 'v' output: 'w' arg { name: 'num_to_collect' i: 4 } }"));
  for (int i = 0; i < 40; ++i) {
    Feed<float>(&ws, "x", {1}, {static_cast<float>(i)});
    Feed<int32_t>(&ws, "y", {1, 2}, {i, -i});
    ASSERT_TRUE(net->Run());
  }
  RunOnce(&ws, "type: 'ConcatTensorVector' input: 'v' output: 'vs'");
  RunOnce(&ws, "type: 'ConcatTensorVector' input: 'w' output: 'ws'");
  const std::vector<float> kept = Fetch<float>(ws, "vs");
  ASSERT_EQ(kept.size(), 4u);
  std::vector<int32_t> want;
  for (const float i : kept) {
    want.push_back(static_cast<int32_t>(i));
    want.push_back(-static_cast<int32_t>(i));
  }
  ExpectTensor<int32_t>(ws, "ws", {4, 2}, want);
}

// A list holds copies, and what it gives is a copy as well.
TEST(DatasetNeighboursTest, CollectedTensorsDoNotChangeWithTheirInputs) {
  Workspace ws;
  RunOnce(&ws, "type: 'CreateTensorVector' output: 'v'");
  Feed<std::string>(&ws, "x", {2}, {"a", "b"});
  NetBase* const net = ws.CreateNet(
      ParseNet("name: 'n' op { type: 'CollectTensor' input: 'v' input: 'x' output: 'v' arg { name: "
               "'num_to_collect' i: 2 } }"));
  ASSERT_TRUE(net->Run());
  Feed<std::string>(&ws, "x", {1}, {"c"});
  ASSERT_TRUE(net->Run());
  Feed<std::string>(&ws, "x", {1}, {"d"});
  RunOnce(&ws, "type: 'ConcatTensorVector' input: 'v' output: 'y'");
  ExpectTensor<std::string>(ws, "y", {3}, {"a", "b", "c"});
}

TEST(DatasetNeighboursTest, ABlobWithoutAListIsNamed) {
  Workspace ws;
  Feed<float>(&ws, "x", {1}, {1});
  for (const char* list : {"v", "w"}) {
    RunOnce(&ws, "type: 'CreateTensorVector' output: 'v'");
    RunOnce(&ws, "type: 'CreateTensorVector' output: 'w'");
    *ws.GetBlob(list)->GetMutable<std::unique_ptr<std::vector<Tensor>>>() = nullptr;
    const std::string got =
        ErrorOf(&ws,
                "type: 'CollectTensor' input: 'v' input: 'w' input: 'x' input: 'x' output: 'v' "
                "output: 'w' arg { name: 'num_to_collect' i: 2 }");
    EXPECT_TRUE(
        got.ends_with(MakeString("input ", list[0] == 'v' ? 0 : 1, " holds no list of tensors")))
        << got;
  }
}

// The cursor stands behind what was read, also if nothing was returned.
TEST(DatasetNeighboursTest, ASmallBatchIsPassedWithoutBeingReturned) {
  Workspace ws;
  FeedLists(&ws);
  CreateListCursor(&ws);
  const auto read = [&](int size, const std::string& more) {
    RunOnce(&ws,
            "type: 'ReadNextBatch' input: 'cursor' input: 'l' input: 'v' input: 'b' output: 'l1' "
            "output: 'v1' output: 'b1'" +
                MakeString(" arg { name: 'batch_size' i: ", size, " } ", more));
    return Fetch<int64_t>(ws, "b1");
  };
  const std::string enforce = "arg { name: 'enforce_batch_size' i: 1 }";
  EXPECT_EQ(read(3, enforce), (std::vector<int64_t>{1, 2, 3}));
  EXPECT_EQ(read(2, enforce), std::vector<int64_t>{});
  ExpectTensor<float>(ws, "v1", {0}, {});
  EXPECT_EQ(read(1, ""), std::vector<int64_t>{});  // record 4 was passed
  EXPECT_EQ(read(0, enforce), std::vector<int64_t>{});
}

// The number of records is that of the shortest field of domain 0, whichever it is.
TEST(DatasetNeighboursTest, TheShortestFieldOfADomainGivesItsRows) {
  const std::vector<std::string> names = {"a", "b", "c"};
  const std::string inputs = " input: 'a' input: 'b' input: 'c' ",
                    outputs = " output: 'a1' output: 'b1' output: 'c1' ";
  for (size_t shortest = 0; shortest < 3; ++shortest) {
    SCOPED_TRACE(shortest);
    Workspace ws;
    const auto feed = [&] {
      for (size_t i = 0; i < 3; ++i)
        FeedRange<float>(&ws, names[i], {i == shortest ? 3 : 5 + static_cast<int64_t>(i)});
    };
    feed();
    CreateCursor(&ws, names);
    RunOnce(&ws, "type: 'ComputeOffset' input: 'cursor'" + inputs + "output: 'o'");
    ExpectTensor<int64_t>(ws, "o", {4, 1}, {0, 1, 2, 3});
    for (const int64_t rows : {2, 1, 0}) {
      RunOnce(&ws, "type: 'ReadNextBatch' input: 'cursor'" + inputs + outputs +
                       "arg { name: 'batch_size' i: 2 }");
      for (const char* name : {"a1", "b1", "c1"})
        EXPECT_EQ(DimsOf(ws, name), std::vector<int64_t>{rows});
    }
    RunOnce(&ws, "type: 'PackRecords'" + inputs + "output: 'p'" + FieldsArgument(names));
    EXPECT_EQ(DimsOf(ws, "p"), std::vector<int64_t>{3});
    // The first field that differs from the shortest one is named.
    const size_t other = shortest == 0 ? 1 : 0;
    const std::string got =
        ErrorOf(&ws, "type: 'CheckDatasetConsistency'" + inputs + FieldsArgument(names));
    EXPECT_TRUE(got.ends_with(MakeString(
        "rows of field \"", names[other],
        "\", want as many as other fields of its domain have (got ", 5 + other, ", want 3)")))
        << got;
    RunOnce(&ws, "type: 'TrimDataset'" + inputs + " output: 'a' output: 'b' output: 'c'" +
                     FieldsArgument(names) + " arg { name: 'multiple_of' i: 2 }");
    for (const std::string& name : names) EXPECT_EQ(DimsOf(ws, name), std::vector<int64_t>{2});
  }
}

// The offsets of a dataset without records are one row, and the cursor is at the begin again.
TEST(DatasetNeighboursTest, OffsetsWithoutRecordsMoveTheCursorToo) {
  Workspace ws;
  FeedLists(&ws);
  CreateListCursor(&ws);
  RunOnce(&ws,
          "type: 'ReadNextBatch' input: 'cursor' input: 'l' input: 'v' input: 'b' output: 'l1' "
          "output: 'v1' output: 'b1' arg { name: 'batch_size' i: 2 }");
  Feed<int32_t>(&ws, "l", {0}, {});
  Feed<float>(&ws, "v", {0}, {});
  Feed<int64_t>(&ws, "b", {0}, {});
  RunOnce(&ws,
          "type: 'ComputeOffset' input: 'cursor' input: 'l' input: 'v' input: 'b' output: 'o'");
  ExpectTensor<int64_t>(ws, "o", {1, 2}, {2, 3});  // from the cursor on
  RunOnce(&ws, "type: 'GetCursorOffset' input: 'cursor' output: 'p'");
  ExpectTensor<int32_t>(ws, "p", {2}, {0, 0});
}

// Tensors that were never written have shapes, but no type.
TEST(DatasetNeighboursTest, FieldsWithoutATypeKeepTheirShapes) {
  Workspace ws;
  CreateCursor(&ws, {"a"});
  ws.CreateBlob("a")->GetMutableTensor(CPU)->Resize(3, 2);
  const auto expect = [&](const std::string& name, const std::vector<int64_t>& dims) {
    const Tensor& tensor = ws.GetBlob(name)->Get<Tensor>();
    EXPECT_EQ(tensor.dims(), dims);
    EXPECT_FALSE(tensor.dtype().IsSet());
  };
  RunOnce(&ws,
          "type: 'ReadNextBatch' input: 'cursor' input: 'a' output: 'a1' "
          "arg { name: 'batch_size' i: 2 }");
  expect("a1", {2, 2});
  RunOnce(&ws, "type: 'ResetCursor' input: 'cursor'");
  Feed<int64_t>(&ws, "order", {2}, {2, 0});
  Feed<int64_t>(&ws, "o", {4, 1}, {0, 1, 2, 3});
  RunOnce(&ws,
          "type: 'ReadRandomBatch' input: 'cursor' input: 'order' input: 'o' input: 'a' output: "
          "'a2' arg { name: 'batch_size' i: 1 }");
  expect("a2", {1, 2});
  RunOnce(&ws, "type: 'PackRecords' input: 'a' output: 'p'" + FieldsArgument({"a"}));
  EXPECT_EQ(DimsOf(ws, "p"), std::vector<int64_t>{3});
  RunOnce(&ws, "type: 'UnPackRecords' input: 'p' output: 'a3'" + FieldsArgument({"a"}));
  expect("a3", {3, 2});
}

}  // namespace
}  // namespace caffe2rt::test::dataset_neighbours_test
