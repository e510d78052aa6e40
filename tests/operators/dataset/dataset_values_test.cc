// Values, defaults and positions of the operators on datasets and lists of tensors, and the
// messages that dataset_refusals_test.cc leaves out.
#include <algorithm>

#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/runtime/net.h"
#include "operators/dataset/tree_cursor.h"
#include "tests/operators/dataset/dataset.h"
#include "tests/support/refusals.h"

namespace caffe2rt::test::dataset_values_test {
namespace {

// The operator's own sentence begins after its frame.
void ExpectRejected(Workspace* ws, const std::string& op, const std::string& message) {
  const std::string got = MessageOf([&] { RunOp(ws, op); });
  EXPECT_TRUE(got == message || got.ends_with(": " + message))
      << op << "\ngot:  " << got << "\nwant: " << message;
}

const std::string kFieldInputs = " input: 'l' input: 'v' input: 'b'";
const std::string kFieldOutputs = " output: 'l1' output: 'v1' output: 'b1' ";

void ExpectPosition(Workspace* ws, const std::vector<int32_t>& want) {
  RunOp(ws, "type: 'GetCursorOffset' input: 'cursor' output: 'position'");
  ExpectTensor<int32_t>(*ws, "position", {static_cast<int64_t>(want.size())}, want);
}

TEST(DatasetValuesTest, ReadersTakeOneRecordByDefault) {
  Workspace ws;
  FeedLists(&ws);
  CreateListCursor(&ws);
  RunOp(&ws, "type: 'ReadNextBatch' input: 'cursor'" + kFieldInputs + kFieldOutputs);
  ExpectTensor<int32_t>(ws, "l1", {1}, {1});
  ExpectPosition(&ws, {1, 1});
  RunOp(&ws, "type: 'ComputeOffset' input: 'cursor'" + kFieldInputs + " output: 'o'");
  ExpectTensor<int64_t>(ws, "o", {5, 2}, {1, 1, 2, 3, 3, 3, 4, 6, 4, 6});
  ExpectPosition(&ws, {0, 0});
  RunOp(&ws, "type: 'ComputeOffset' input: 'cursor'" + kFieldInputs + " output: 'o'");
  Feed<int64_t>(&ws, "order", {2}, {3, 1});
  const std::string read = "type: 'ReadRandomBatch' input: 'cursor' input: 'order' input: 'o'" +
                           kFieldInputs + kFieldOutputs;
  RunOp(&ws, read);
  ExpectTensor<int64_t>(ws, "b1", {1}, {4});
  ExpectPosition(&ws, {1});  // of the order
  RunOp(&ws, read);
  ExpectTensor<int64_t>(ws, "b1", {1}, {2});
  RunOp(&ws, read);  // behind the end
  ExpectTensor<int64_t>(ws, "b1", {0}, {});
  ExpectPosition(&ws, {3});
  RunOp(&ws, "type: 'ResetCursor' input: 'cursor'");
  RunOp(&ws, read);
  ExpectTensor<int64_t>(ws, "b1", {1}, {4});
}

TEST(DatasetValuesTest, AnEnforcedSizeAcceptsAFullBatchOnly) {
  for (const bool random : {false, true}) {
    Workspace ws;
    FeedLists(&ws);
    CreateListCursor(&ws);
    RunOp(&ws, "type: 'ComputeOffset' input: 'cursor'" + kFieldInputs + " output: 'o'");
    Feed<int64_t>(&ws, "order", {4}, {0, 1, 2, 3});
    RunOp(&ws, "type: 'ResetCursor' input: 'cursor'");
    const auto read = [&](int size) {
      RunOp(&ws, (random ? "type: 'ReadRandomBatch' input: 'cursor' input: 'order' input: 'o'"
                         : "type: 'ReadNextBatch' input: 'cursor'") +
                     kFieldInputs + kFieldOutputs +
                     MakeString("arg { name: 'enforce_batch_size' i: 1 } "
                                "arg { name: 'batch_size' i: ",
                                size, " }"));
      return Fetch<int64_t>(ws, "b1");
    };
    EXPECT_EQ(read(2), (std::vector<int64_t>{1, 2}));
    EXPECT_EQ(read(2), (std::vector<int64_t>{3, 4}));  // exactly what is left
    EXPECT_EQ(read(1), (std::vector<int64_t>{}));
    RunOp(&ws, "type: 'ResetCursor' input: 'cursor'");
    EXPECT_EQ(read(3), (std::vector<int64_t>{1, 2, 3}));
    EXPECT_EQ(read(2), (std::vector<int64_t>{}));
    EXPECT_EQ(DimsOf(ws, "v1"), std::vector<int64_t>{0});
    ExpectPosition(&ws, random ? std::vector<int32_t>{5} : std::vector<int32_t>{4, 6});
  }
}

TEST(DatasetValuesTest, ReadersAcceptFurtherOutputsAndReportTooFew) {
  Workspace ws;
  FeedLists(&ws);
  CreateListCursor(&ws);
  RunOp(&ws, "type: 'ComputeOffset' input: 'cursor'" + kFieldInputs + " output: 'o'");
  Feed<int64_t>(&ws, "order", {1}, {1});
  for (const std::string& read :
       {std::string("type: 'ReadNextBatch' input: 'cursor'"),
        std::string("type: 'ReadRandomBatch' input: 'cursor' input: 'order' input: 'o'")}) {
    RunOp(&ws, "type: 'ResetCursor' input: 'cursor'");
    ExpectRejected(&ws, read + kFieldInputs + " output: 'l1' output: 'v1'",
                   "outputs, want at least one for each field of the cursor (got 2, want at least "
                   "3)");
    RunOp(&ws, read + kFieldInputs + kFieldOutputs + " output: 'more'");
    EXPECT_EQ(DimsOf(ws, "b1"), std::vector<int64_t>{1});
  }
}

// A cursor from a file may be anywhere.
TEST(DatasetValuesTest, PositionsOfFilesAreChecked) {
  Workspace ws;
  FeedLists(&ws);
  CreateListCursor(&ws);
  RunOp(&ws, "type: 'ComputeOffset' input: 'cursor'" + kFieldInputs + " output: 'o'");
  Feed<int64_t>(&ws, "order", {1}, {1});
  BlobProto saved;
  ASSERT_TRUE(saved.ParseFromString(SerializeBlob(*ws.GetBlob("cursor"), "cursor")));
  saved.clear_tensor();
  const auto move_to = [&](const std::vector<int64_t>& position) {
    BlobProto moved = saved;
    TensorProto* const offsets = moved.mutable_tensor();
    offsets->Clear();
    offsets->add_dims(static_cast<int64_t>(position.size()));
    offsets->set_data_type(TensorProto::INT64);
    for (const int64_t row : position) offsets->add_int64_data(row);
    DeserializeBlob(moved, ws.CreateBlob("cursor"));
  };
  const std::string next = "type: 'ReadNextBatch' input: 'cursor'" + kFieldInputs + kFieldOutputs;
  const std::string random = "type: 'ReadRandomBatch' input: 'cursor' input: 'order' input: 'o'" +
                             kFieldInputs + kFieldOutputs;
  move_to({-1, 0});
  ExpectRejected(&ws, next, "position of the cursor: got -1, want at least 0");
  move_to({1, INT64_MAX});
  ExpectRejected(&ws, next,
                 "position of the cursor is 9223372036854775807 in what field \"a:lengths\" "
                 "splits, want 0 to 6");
  move_to({1, 5});
  ExpectRejected(&ws, next,
                 "lengths in field \"a:lengths\" reach row 7 of what they split, which has 6 rows");
  move_to({1, -2});
  ExpectRejected(&ws, next, "rows -2 to 0 of field \"a:values\" are read, which has shape [6]");
  move_to({1});
  ExpectRejected(&ws, next,
                 "numbers in the position of the cursor, want one for each domain: the dataset has "
                 "another structure, or ReadRandomBatch moved the cursor (got 1, want 2)");
  move_to({-1});
  ExpectRejected(&ws, random, "position of the cursor is -1, want at least 0");
  move_to({INT64_MAX});
  ExpectRejected(&ws, random, "position of the cursor is 9223372036854775807, want at least 0");
  move_to({99, 6});  // behind the end
  ExpectRejected(&ws, next, "rows 99 to 99 of field \"a:lengths\" are read, which has shape [4]");
  move_to({4, 6});  // the end
  RunOp(&ws, next);
  ExpectTensor<int64_t>(ws, "b1", {0}, {});
  ExpectPosition(&ws, {4, 6});
  BlobProto wrong = saved;
  wrong.mutable_tensor()->add_dims(1);
  wrong.mutable_tensor()->add_dims(1);
  wrong.mutable_tensor()->set_data_type(TensorProto::INT64);
  wrong.mutable_tensor()->add_int64_data(0);
  ExpectThrows([&] { DeserializeBlob(wrong, ws.CreateBlob("cursor")); },
               "the record of cursor \"cursor\" has offsets of type int64 and shape [1, 1], want "
               "int64 and one dimension");
  wrong = saved;
  wrong.mutable_tensor()->add_dims(1);
  wrong.mutable_tensor()->set_data_type(TensorProto::FLOAT);
  wrong.mutable_tensor()->add_float_data(0);
  ExpectThrows([&] { DeserializeBlob(wrong, ws.CreateBlob("cursor")); },
               "has offsets of type float and shape [1], want int64 and one dimension");
  (void)ws.CreateBlob("none")->GetMutable<TreeCursorBlob>();
  ExpectThrows([&] { (void)SerializeBlob(*ws.GetBlob("none"), "none"); },
               "blob \"none\" holds no cursor");
}

TEST(DatasetValuesTest, TrimmingKeepsWholeRecordsOfNestedLists) {
  const std::string op =
      "type: 'TrimDataset' input: 'l' input: 'm' input: 'v' output: 'l' output: 'm' output: 'v'" +
      FieldsArgument({"a:lengths", "a:values:lengths", "a:values:values"});
  Workspace ws;
  const auto feed = [&] {
    Feed<int32_t>(&ws, "l", {3}, {1, 2, 1});
    Feed<int32_t>(&ws, "m", {4}, {2, 0, 1, 3});
    FeedRange<float>(&ws, "v", {6, 2});
  };
  feed();
  RunOp(&ws, op);  // a multiple of 1
  EXPECT_EQ(DimsOf(ws, "l"), std::vector<int64_t>{3});
  RunOp(&ws, op + " arg { name: 'multiple_of' i: 3 }");
  EXPECT_EQ(DimsOf(ws, "v"), (std::vector<int64_t>{6, 2}));
  RunOp(&ws, op + " arg { name: 'multiple_of' i: 2 }");
  ExpectTensor<int32_t>(ws, "l", {2}, {1, 2});
  ExpectTensor<int32_t>(ws, "m", {3}, {2, 0, 1});
  ExpectTensor<float>(ws, "v", {3, 2}, {0, 1, 2, 3, 4, 5});
  feed();
  RunOp(&ws, op + " arg { name: 'multiple_of' i: 4 }");
  for (const char* name : {"l", "m"}) EXPECT_EQ(DimsOf(ws, name), std::vector<int64_t>{0});
  EXPECT_EQ(DimsOf(ws, "v"), (std::vector<int64_t>{0, 2}));
  ExpectRejected(&ws, op + " arg { name: 'multiple_of' i: 0 }",
                 "argument \"multiple_of\" is 0, want above 0");
}

TEST(DatasetValuesTest, SortingUsesFieldOneByDefault) {
  Workspace ws;
  CreateCursor(&ws, {"a", "b"});
  Feed<int32_t>(&ws, "a", {3}, {3, 2, 1});
  Feed<int32_t>(&ws, "b", {3}, {5, 9, 7});
  const std::string op = "type: 'SortAndShuffle' input: 'cursor' input: 'a' input: 'b' output: 'o'";
  RunOp(&ws, op + " arg { name: 'batch_size' i: 3 }");
  ExpectTensor<int64_t>(ws, "o", {3}, {0, 2, 1});
  // batch_size 1, shuffle_size 1: the sorted records 0, 2, 1 as batches of one, shuffled to the
  // positions 2, 0, 1 as in SortAndShuffleTest.
  RunOp(&ws, op);
  ExpectTensor<int64_t>(ws, "o", {3}, {1, 0, 2});
  CreateCursor(&ws, {});
  ExpectRejected(&ws,
                 "type: 'SortAndShuffle' input: 'cursor' output: 'o' arg { name: "
                 "'sort_by_field_idx' i: -1 }",
                 "the cursor has no fields, want at least one");
}

TEST(DatasetValuesTest, RecordsKeepNestedListsAndTheirOrder) {
  const std::string fields =
      FieldsArgument({"a:lengths", "a:values:lengths", "a:values:values", "s"});
  for (const int single : {0, 1}) {
    Workspace ws;
    Feed<int32_t>(&ws, "l", {2}, {1, 2});
    Feed<int32_t>(&ws, "m", {3}, {2, 0, 1});
    FeedRange<float>(&ws, "v", {3, 2});
    Feed<std::string>(&ws, "s", {2}, {"x", "yy"});
    RunOp(&ws, "type: 'PackRecords' input: 'l' input: 'm' input: 'v' input: 's' output: 'p'" +
                   fields +
                   MakeString(" arg { name: 'pack_to_single_shared_ptr' i: ", single, " }"));
    const auto unpack = [&](const std::string& packed) {
      return "type: 'UnPackRecords' input: '" + packed +
             "' output: 'l1' output: 'm1' output: 'v1' output: 's1'" + fields;
    };
    RunOp(&ws, unpack("p"));
    ExpectTensor<int32_t>(ws, "l1", {2}, {1, 2});
    ExpectTensor<int32_t>(ws, "m1", {3}, {2, 0, 1});
    ExpectTensor<float>(ws, "v1", {3, 2}, {0, 1, 2, 3, 4, 5});
    ExpectTensor<std::string>(ws, "s1", {2}, {"x", "yy"});
    Feed<int32_t>(&ws, "order", {3},
                  single == 1 ? std::vector<int32_t>{0, 0, 0} : std::vector<int32_t>{1, 0, 1});
    RunOp(&ws, "type: 'Gather' input: 'p' input: 'order' output: 'g'");
    if (single == 1) {
      ExpectRejected(&ws, unpack("g"), "elements of input 0 (packed): got 3, want 1");
      continue;
    }
    RunOp(&ws, unpack("g"));
    ExpectTensor<int32_t>(ws, "l1", {3}, {2, 1, 2});
    ExpectTensor<int32_t>(ws, "m1", {5}, {0, 1, 2, 0, 1});
    ExpectTensor<float>(ws, "v1", {4, 2}, {4, 5, 0, 1, 2, 3, 4, 5});
    ExpectTensor<std::string>(ws, "s1", {3}, {"yy", "x", "yy"});
  }
}

TEST(DatasetValuesTest, RecordsOfSeveralShapesNameTheFirstThatDiffers) {
  Workspace ws;
  Feed<float>(&ws, "x", {1, 2}, {1, 2});
  Feed<float>(&ws, "y", {1, 3}, {3, 4, 5});
  for (const char* name : {"x", "y"}) {
    RunOp(&ws, MakeString("type: 'PackRecords' input: '", name, "' output: 'p", name, "'",
                          FieldsArgument({"f"})));
  }
  RunOp(&ws,
        "type: 'Concat' input: 'px' input: 'py' output: 'p' output: 'dims' "
        "arg { name: 'axis' i: 0 }");
  const std::string unpack = "type: 'UnPackRecords' input: 'p' ";
  ExpectRejected(&ws, unpack + "output: 'z'" + FieldsArgument({"f"}),
                 "field \"f\" of record 1 is float [1, 3], want float [1, 2] except in dimension "
                 "0, as in the first record");
  Feed<float>(&ws, "scalar", {}, {1});
  ExpectRejected(&ws, unpack + "input: 'scalar' output: 'z'" + FieldsArgument({"f"}),
                 "dimensions of field \"f\": got 0, want more than 0");
  // A scalar has no rows: there is no record.
  RunOp(&ws, "type: 'PackRecords' input: 'scalar' output: 'p'" + FieldsArgument({"f"}));
  EXPECT_EQ(DimsOf(ws, "p"), std::vector<int64_t>{0});
}

const std::string kWindow = R"(type: "LastNWindowCollector" input: "B" input: "N" input: "X"
  output: "B" output: "N" arg { name: "num_to_collect" i: 4 })";

TEST(DatasetValuesTest, AWindowWrapsAroundItsEnd) {
  struct WindowRow {
    std::vector<float> buffer;
    int32_t next;
    std::vector<float> data, want;
    int32_t want_next;
  };
  const WindowRow rows[] = {
      {{1, 2, 3, 4}, 1, {5, 6, 7, 8}, {8, 5, 6, 7}, 1},  // as many as it holds
      {{1, 2, 3, 4}, 0, {5, 6, 7, 8}, {5, 6, 7, 8}, 0},
      {{1, 2, 3, 4}, 2, {5, 6, 7, 8, 9}, {6, 7, 8, 9}, 0},
      {{1, 2, 3, 4}, 3, {5}, {1, 2, 3, 5}, 0},
      {{1, 2, 3}, 3, {5, 6}, {6, 2, 3, 5}, 1},
      {{}, 0, {1, 2, 3, 4}, {1, 2, 3, 4}, 0},
      {{}, 0, {1, 2, 3, 4, 5}, {2, 3, 4, 5}, 0}};
  for (const WindowRow& row : rows) {
    Workspace ws;
    Feed<float>(&ws, "B", {static_cast<int64_t>(row.buffer.size())}, row.buffer);
    Feed<int32_t>(&ws, "N", {}, {row.next});
    Feed<float>(&ws, "X", {static_cast<int64_t>(row.data.size())}, row.data);
    RunOp(&ws, kWindow);
    ExpectTensor<float>(ws, "B", {static_cast<int64_t>(row.want.size())}, row.want);
    ExpectTensor<int32_t>(ws, "N", {}, {row.want_next});
  }
}

TEST(DatasetValuesTest, AWindowHoldsRowsOfAnyShapeAndType) {
  Workspace ws;
  ws.CreateBlob("B");
  Feed<int32_t>(&ws, "N", {}, {0});
  Feed<std::string>(&ws, "X", {3, 2}, {"a", "b", "c", "d", "e", "f"});
  RunOp(&ws, kWindow);
  RunOp(&ws, kWindow);
  ExpectTensor<std::string>(ws, "B", {4, 2}, {"c", "d", "e", "f", "e", "f", "a", "b"});
  ExpectTensor<int32_t>(ws, "N", {}, {2});
  for (const char* name : {"B", "X"}) Feed<float>(&ws, name, {0, 3}, {});
  Feed<int32_t>(&ws, "N", {}, {99});  // is not used without rows
  // The inferred shape is that of a full buffer if that of input 0 is not known.
  ASSERT_TRUE(ws.RunOperatorOnce(ParseOp(kWindow)));
  ExpectTensor<float>(ws, "B", {0, 3}, {});
  ExpectTensor<int32_t>(ws, "N", {}, {99});
}

TEST(DatasetValuesTest, AWindowInfersItsRows) {
  const auto floats = [](const std::vector<int64_t>& dims) {
    return CreateTensorShape(dims, TensorProto::FLOAT);
  };
  const TensorShape next = CreateTensorShape(std::vector<int64_t>{}, TensorProto::INT32);
  const TensorShape visited = CreateTensorShape(std::vector<int64_t>{1}, TensorProto::INT64);
  const auto infer = [&](const TensorShape& buffer, const TensorShape& data) {
    const OperatorDef def = ParseOp(R"(type: "LastNWindowCollector" input: "B" input: "N" input: "X"
      input: "M" input: "V" output: "B" output: "N" output: "V"
      arg { name: "num_to_collect" i: 4 })");
    return OpSchemaRegistry::Schema(def.type())
        ->InferTensor(def, {buffer, next, data, UnknownShape(), visited});
  };
  using Dims = std::vector<int64_t>;
  struct InferenceRow {
    TensorShape buffer;
    Dims data, want;
  };
  const InferenceRow rows[] = {{floats({0, 2}), {3, 2}, {3, 2}}, {floats({0}), {3, 2}, {3, 2}},
                               {floats({1, 2}), {2, 2}, {3, 2}}, {floats({3, 2}), {2, 2}, {4, 2}},
                               {floats({0, 2}), {9, 2}, {4, 2}}, {floats({3, 0}), {1, 0}, {1, 0}},
                               {UnknownShape(), {1, 2}, {4, 2}}};
  for (const InferenceRow& row : rows) {
    const auto out = infer(row.buffer, floats(row.data));
    EXPECT_EQ(GetDimsVector(out[0]), row.want);
    EXPECT_EQ(out[0].data_type(), TensorProto::FLOAT);
    EXPECT_EQ(GetDimsVector(out[1]), Dims{});
    EXPECT_EQ(GetDimsVector(out[2]), Dims{1});
    EXPECT_EQ(out[2].data_type(), TensorProto::INT64);
  }
  EXPECT_TRUE(infer(floats({1, 2}), UnknownShape())[0].unknown_shape());
}

TEST(DatasetValuesTest, AppendingNamesInputsAndShapes) {
  Workspace ws;
  RunOp(&ws, "type: 'CreateMutex' output: 'mutex'");
  FeedRange<float>(&ws, "x", {2, 2});
  FeedRange<float>(&ws, "y", {2, 3});
  const auto append = [](const std::string& inputs, const std::string& outputs) {
    return "type: 'AtomicAppend' input: 'mutex' " + inputs + " " + outputs;
  };
  FeedRange<float>(&ws, "x1", {1, 2}, 8);
  FeedRange<float>(&ws, "wide", {1, 4});
  FeedRange<int32_t>(&ws, "int", {1, 3});
  Feed<float>(&ws, "scalar", {}, {1});
  const std::string both = "output: 'x' output: 'y'";
  ExpectRejected(&ws, append("input: 'x' input: 'y' input: 'x1' input: 'wide'", both),
                 "input 4 has shape [1, 4], want that of input 2, [2, 3], except in dimension 0");
  ExpectRejected(&ws, append("input: 'x' input: 'y' input: 'x1' input: 'int'", both),
                 "input 4 is int32, want float, as input 2");
  ExpectRejected(&ws, append("input: 'x' input: 'y' input: 'x1' input: 'scalar'", both),
                 "dimensions of input 4 (rows to append): got 0, want more than 0");
  ExpectRejected(&ws, append("input: 'x' input: 'y' input: 'x1'", "output: 'x'"),
                 "the operator has 4 inputs and 1 output, want a mutex, the outputs, and as many "
                 "tensors to append to them");
  ExpectRejected(&ws, append("input: 'x' input: 'x1'", "output: 'y'"),
                 "input 1 and output 0 are different blobs, want the same");
  ExpectTensor<float>(ws, "x", {2, 2}, {0, 1, 2, 3});
  for (int i = 0; i < 3; ++i) RunOp(&ws, append("input: 'x' input: 'x1'", "output: 'x'"));
  ExpectTensor<float>(ws, "x", {5, 2}, {0, 1, 2, 3, 8, 9, 8, 9, 8, 9});
  Feed<float>(&ws, "x1", {0, 2}, {});
  RunOp(&ws, append("input: 'x' input: 'x1'", "output: 'x'"));
  EXPECT_EQ(DimsOf(ws, "x"), (std::vector<int64_t>{5, 2}));
}

TEST(DatasetValuesTest, ListsOfOneOperatorKeepCopiesOfTheSameRuns) {
  Workspace ws;
  ws.SetRandomSeed(5);
  for (const char* list : {"v", "w"}) {
    RunOp(&ws, MakeString("type: 'CreateTensorVector' output: '", list, "'"));
  }
  for (const char* name : {"x", "y"}) ws.CreateBlob(name);
  NetBase* const net = ws.CreateNet(ParseNet(R"(name: "n" op { type: "CollectTensor" input: "v"
    input: "w" input: "x" input: "y" output: "v" output: "w"
    arg { name: "num_to_collect" i: 3 } })"));
  const auto join = [&](const std::string& list) {
    RunOp(&ws, "type: 'ConcatTensorVector' input: '" + list + "' output: 'joined'");
    return Fetch<float>(ws, "joined");
  };
  for (int i = 0; i < 30; ++i) {
    const float value = static_cast<float>(i);
    Feed<float>(&ws, "x", {1}, {value});
    Feed<float>(&ws, "y", {1}, {100 + value});
    ASSERT_TRUE(net->Run());
    if (i == 2) {
      EXPECT_EQ(join("v"), (std::vector<float>{0, 1, 2}));
    }
    std::vector<float> same = join("v");
    for (float& v : same) v += 100;
    ASSERT_EQ(join("w"), same) << i;
    EXPECT_EQ(same.size(), static_cast<size_t>(std::min(i + 1, 3)));
  }
  // That neither of these places has been used again has a probability of about 1/100.
  const std::vector<float> kept = join("v");
  EXPECT_NE((std::vector<float>{kept[1], kept[2]}), (std::vector<float>{1, 2}));
  Feed<float>(&ws, "scalar", {}, {1});
  RunOp(&ws, "type: 'CreateTensorVector' output: 'v'");
  ExpectRejected(&ws, "type: 'ConcatTensorVector' input: 'v' output: 'joined'",
                 "input 0 (list of tensors) is empty, want at least one tensor");
  RunOp(&ws,
        "type: 'CollectTensor' input: 'v' input: 'scalar' output: 'v' "
        "arg { name: 'num_to_collect' i: 1 }");
  ExpectRejected(&ws, "type: 'ConcatTensorVector' input: 'v' output: 'joined'",
                 "dimensions of the tensors in input 0: got 0, want more than 0");
  RunOp(&ws, "type: 'TensorVectorSize' input: 'v' output: 'n'");
  ExpectTensor<int32_t>(ws, "n", {}, {1});
}

}  // namespace
}  // namespace caffe2rt::test::dataset_values_test
