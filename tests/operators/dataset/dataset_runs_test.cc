// Operators on datasets that run several times, with other inputs than before: what a run leaves
// behind must not reach the next one.
#include <utility>

#include "caffe2_core/runtime/net.h"
#include "tests/operators/dataset/dataset.h"
#include "tests/support/refusals.h"

namespace caffe2rt::test::dataset_runs_test {
namespace {

using Ints = std::vector<int32_t>;
using Longs = std::vector<int64_t>;

// A net of one operator, which is created once.
class OneOperator {
 public:
  OneOperator(Workspace* ws, const std::string& op) : net_(CreateNet(NetOf(op), ws)) {}
  void Run() const { EXPECT_TRUE(net_->Run()); }
  std::string Error() const {
    return MessageOf([&] { net_->Run(); });
  }

 private:
  static NetDef NetOf(const std::string& op) {
    NetDef net;
    net.set_name("n");
    *net.add_op() = ParseOp(op);
    return net;
  }
  const std::unique_ptr<NetBase> net_;
};

void FeedNested(Workspace* ws, const Ints& l, const Ints& m, const std::vector<float>& v) {
  Feed<int32_t>(ws, "l", {static_cast<int64_t>(l.size())}, l);
  Feed<int32_t>(ws, "m", {static_cast<int64_t>(m.size())}, m);
  Feed<float>(ws, "v", {static_cast<int64_t>(v.size())}, v);
}
const std::string kNestedInputs = " input: 'l' input: 'm' input: 'v' ";
std::string NestedFields() {
  return FieldsArgument({"a:lengths", "a:values:lengths", "a:values:values"});
}

TEST(DatasetRunsTest, PackedRecordsBeginAtTheFirstRow) {
  for (const int single : {0, 1}) {
    Workspace ws;
    FeedNested(&ws, {1, 2}, {2, 0, 1}, {1, 2, 3});
    const OneOperator pack(
        &ws, "type: 'PackRecords'" + kNestedInputs + "output: 'p'" + NestedFields() +
                 MakeString("arg { name: 'pack_to_single_shared_ptr' i: ", single, " }"));
    pack.Run();
    const OneOperator unpack(
        &ws,
        "type: 'UnPackRecords' input: 'p' output: 'l1' output: 'm1' output: 'v1'" + NestedFields());
    unpack.Run();
    ExpectTensor<float>(ws, "v1", {3}, {1, 2, 3});
    FeedNested(&ws, {2}, {1, 3}, {5, 6, 7, 8});
    pack.Run();
    EXPECT_EQ(DimsOf(ws, "p"), Longs{1});
    unpack.Run();
    ExpectTensor<int32_t>(ws, "l1", {1}, {2});
    ExpectTensor<int32_t>(ws, "m1", {2}, {1, 3});
    ExpectTensor<float>(ws, "v1", {4}, {5, 6, 7, 8});
    pack.Run();
    unpack.Run();
    ExpectTensor<float>(ws, "v1", {4}, {5, 6, 7, 8});
    // Lengths that reach too far leave the operator as it was.
    FeedNested(&ws, {2}, {1, 4}, {5, 6, 7, 8});
    EXPECT_NE(pack.Error().find("reach row 5"), std::string::npos) << pack.Error();
    FeedNested(&ws, {0, 1}, {1}, {9});
    pack.Run();
    unpack.Run();
    ExpectTensor<int32_t>(ws, "l1", {2}, {0, 1});
    ExpectTensor<float>(ws, "v1", {1}, {9});
  }
}

TEST(DatasetRunsTest, PackedRecordsAreCopies) {
  Workspace ws;
  Feed<float>(&ws, "x", {2, 2}, {1, 2, 3, 4});
  RunOp(&ws, "type: 'PackRecords' input: 'x' output: 'p'" + FieldsArgument({"f"}));
  Feed<float>(&ws, "x", {2, 2}, {5, 6, 7, 8});
  RunOp(&ws, "type: 'UnPackRecords' input: 'p' output: 'y'" + FieldsArgument({"f"}));
  ExpectTensor<float>(ws, "y", {2, 2}, {1, 2, 3, 4});
}

TEST(DatasetRunsTest, PrototypesGiveTypesAndShapesOfNoRecords) {
  Workspace ws;
  Feed<float>(&ws, "x", {0, 2}, {});
  Feed<int64_t>(&ws, "z", {0}, {});
  const std::string fields = FieldsArgument({"f", "g"});
  RunOp(&ws, "type: 'PackRecords' input: 'x' input: 'z' output: 'p'" + fields);
  EXPECT_EQ(DimsOf(ws, "p"), Longs{0});
  Feed<float>(&ws, "like_x", {7, 2}, std::vector<float>(14, 1));
  Feed<int64_t>(&ws, "like_z", {3}, {1, 2, 3});
  RunOp(&ws,
        "type: 'UnPackRecords' input: 'p' input: 'like_x' input: 'like_z' output: 'x1' output: "
        "'z1'" +
            fields);
  ExpectTensor<float>(ws, "x1", {0, 2}, {});
  ExpectTensor<int64_t>(ws, "z1", {0}, {});
  // With records, prototypes are what they must look like.
  Feed<float>(&ws, "x", {1, 2}, {3, 4});
  Feed<int64_t>(&ws, "z", {1}, {5});
  RunOp(&ws, "type: 'PackRecords' input: 'x' input: 'z' output: 'p'" + fields);
  const std::string swapped =
      "type: 'UnPackRecords' input: 'p' input: 'like_z' input: 'like_x' output: 'x1' output: 'z1'" +
      fields;
  EXPECT_TRUE(MessageOf([&] { RunOp(&ws, swapped); })
                  .ends_with("field \"f\" of record 0 is float [1, 2], want int64 [3] except in "
                             "dimension 0, as in its prototype"));
  EXPECT_TRUE(MessageOf([&] {
                RunOp(&ws,
                      "type: 'UnPackRecords' input: 'p' input: 'like_x' output: 'x1' output: "
                      "'z1'" +
                          fields);
              }).ends_with("inputs are 2, want 1, or 3 with one prototype for each output"));
}

TEST(DatasetRunsTest, TensorsThatAreNotPackedAreCopied) {
  Workspace ws;
  Feed<int64_t>(&ws, "x", {2, 1}, {1, 2});
  const OneOperator unpack(&ws,
                           "type: 'UnPackRecords' input: 'x' output: 'y'" + FieldsArgument({"f"}));
  unpack.Run();
  ExpectTensor<int64_t>(ws, "y", {2, 1}, {1, 2});
  Feed<float>(&ws, "f", {1}, {3});
  RunOp(&ws, "type: 'PackRecords' input: 'f' output: 'x'" + FieldsArgument({"f"}));
  unpack.Run();
  ExpectTensor<float>(ws, "y", {1}, {3});
  Feed<int64_t>(&ws, "x", {1}, {9});
  unpack.Run();
  ExpectTensor<int64_t>(ws, "y", {1}, {9});
}

TEST(DatasetRunsTest, TrimmingCountsFromTheBeginInEachRun) {
  Workspace ws;
  Feed<int32_t>(&ws, "l", {3}, {1, 2, 3});
  FeedRange<float>(&ws, "v", {6});
  const OneOperator trim(&ws, "type: 'TrimDataset' input: 'l' input: 'v' output: 'l' output: 'v'" +
                                  FieldsArgument({"a:lengths", "a:values"}) +
                                  " arg { name: 'multiple_of' i: 2 }");
  trim.Run();
  ExpectTensor<float>(ws, "v", {3}, {0, 1, 2});
  trim.Run();
  ExpectTensor<float>(ws, "v", {3}, {0, 1, 2});
  Feed<int32_t>(&ws, "l", {5}, {2, 0, 1, 1, 4});
  FeedRange<float>(&ws, "v", {8});
  trim.Run();
  ExpectTensor<int32_t>(ws, "l", {4}, {2, 0, 1, 1});
  ExpectTensor<float>(ws, "v", {4}, {0, 1, 2, 3});
  // The record behind what is left must be valid, too; nothing is trimmed otherwise.
  Feed<int32_t>(&ws, "l", {3}, {1, 1, 5});
  FeedRange<float>(&ws, "v", {6});
  EXPECT_NE(trim.Error().find("reach row 7"), std::string::npos) << trim.Error();
  EXPECT_EQ(DimsOf(ws, "l"), Longs{3});
  EXPECT_EQ(DimsOf(ws, "v"), Longs{6});
}

TEST(DatasetRunsTest, ConsistencyIsCheckedFromTheBegin) {
  Workspace ws;
  Feed<int32_t>(&ws, "l", {2}, {1, 2});
  FeedRange<float>(&ws, "v", {3});
  const OneOperator check(&ws, "type: 'CheckDatasetConsistency' input: 'l' input: 'v'" +
                                   FieldsArgument({"a:lengths", "a:values"}));
  check.Run();
  check.Run();
  FeedRange<float>(&ws, "v", {4});
  EXPECT_TRUE(check.Error().ends_with(
      "sum of field \"a:lengths\", want the number of rows that it splits (got 3, want 4)"))
      << check.Error();
  Feed<int32_t>(&ws, "l", {2}, {0, 4});
  check.Run();
}

TEST(DatasetRunsTest, OffsetsContinueFromTheCursorAndResetIt) {
  Workspace ws;
  FeedLists(&ws);
  CreateListCursor(&ws);
  const OneOperator offsets(
      &ws, "type: 'ComputeOffset' input: 'cursor' input: 'l' input: 'v' input: 'b' output: 'o'");
  const Longs all = {0, 0, 1, 1, 2, 3, 3, 3, 4, 6};
  for (int run = 0; run < 2; ++run) {
    offsets.Run();
    ExpectTensor<int64_t>(ws, "o", {5, 2}, all);
  }
  Feed<int32_t>(&ws, "l", {1}, {2});
  FeedRange<float>(&ws, "v", {2});
  Feed<int64_t>(&ws, "b", {1}, {1});
  offsets.Run();
  ExpectTensor<int64_t>(ws, "o", {2, 2}, {0, 0, 1, 2});
}

TEST(DatasetRunsTest, RandomBatchesLoopOverTheOrder) {
  for (const bool enforced : {false, true}) {
    Workspace ws;
    FeedLists(&ws);
    CreateListCursor(&ws);
    const std::string fields = " input: 'l' input: 'v' input: 'b' ";
    RunOp(&ws, "type: 'ComputeOffset' input: 'cursor'" + fields + "output: 'o'");
    RunOp(&ws, "type: 'ResetCursor' input: 'cursor'");
    Feed<int64_t>(&ws, "order", {3}, {3, 1, 0});
    const OneOperator read(
        &ws, "type: 'ReadRandomBatch' input: 'cursor' input: 'order' input: 'o'" + fields +
                 "output: 'l1' output: 'v1' output: 'b1' arg { name: 'batch_size' i: 2 } "
                 "arg { name: 'loop_over' i: 1 }" +
                 MakeString("arg { name: 'enforce_batch_size' i: ", enforced ? 1 : 0, " }"));
    const auto next = [&] {
      read.Run();
      return Fetch<int64_t>(ws, "b1");
    };
    EXPECT_EQ(next(), (Longs{4, 2}));
    ExpectTensor<float>(ws, "v1", {5}, {3, 4, 5, 1, 2});
    if (!enforced) {
      EXPECT_EQ(next(), Longs{1});
      ExpectTensor<float>(ws, "v1", {1}, {0});
    }
    EXPECT_EQ(next(), (Longs{4, 2}));
    // The order has become shorter than the position: it begins again.
    Feed<int64_t>(&ws, "order", {2}, {2, 0});
    EXPECT_EQ(next(), (Longs{3, 1}));
    ExpectTensor<float>(ws, "v1", {1}, {0});
    ExpectTensor<int32_t>(ws, "l1", {2}, {0, 1});
  }
}

TEST(DatasetRunsTest, NoRecordsAreReadForABatchOfNone) {
  Workspace ws;
  FeedLists(&ws);
  CreateListCursor(&ws);
  const std::string fields =
      " input: 'l' input: 'v' input: 'b' output: 'l1' output: 'v1' "
      "output: 'b1' ";
  RunOp(&ws, "type: 'ComputeOffset' input: 'cursor' input: 'l' input: 'v' input: 'b' output: 'o'");
  Feed<int64_t>(&ws, "order", {1}, {3});
  const std::string next = "type: 'ReadNextBatch' input: 'cursor'" + fields,
                    random = "type: 'ReadRandomBatch' input: 'cursor' input: 'order' input: 'o'" +
                             fields;
  for (const auto& [read, size] :
       std::vector<std::pair<std::string, int>>{{next, 0}, {random, 0}, {random, -3}}) {
    RunOp(&ws, "type: 'ResetCursor' input: 'cursor'");
    RunOp(&ws, read + MakeString("arg { name: 'batch_size' i: ", size, " }"));
    ExpectTensor<int64_t>(ws, "b1", {0}, {});
    EXPECT_EQ(DimsOf(ws, "v1"), Longs{0});
    RunOp(&ws, "type: 'GetCursorOffset' input: 'cursor' output: 'position'");
    for (const int32_t at : Fetch<int32_t>(ws, "position")) EXPECT_EQ(at, 0);
  }
}

// The batch reads the order by its own rows; a wrong record or offset is named.
TEST(DatasetRunsTest, RandomBatchesCheckRecordsAndOffsets) {
  Workspace ws;
  FeedLists(&ws);
  CreateListCursor(&ws);
  const std::string read =
      "type: 'ReadRandomBatch' input: 'cursor' input: 'order' input: 'o' input: 'l' input: 'v' "
      "input: 'b' output: 'l1' output: 'v1' output: 'b1'";
  const auto error = [&](const Longs& order, const std::vector<int64_t>& dims,
                         const Longs& offsets) {
    Feed<int64_t>(&ws, "order", {static_cast<int64_t>(order.size())}, order);
    Feed<int64_t>(&ws, "o", dims, offsets);
    RunOp(&ws, "type: 'ResetCursor' input: 'cursor'");
    const std::string got = MessageOf([&] { RunOp(&ws, read); });
    const size_t at = got.rfind(": input ");
    return at == std::string::npos ? got : got.substr(at + 2);
  };
  const Longs good = {0, 0, 1, 1, 2, 3, 3, 3, 4, 6};
  for (const int64_t record : {-1, 4})
    EXPECT_TRUE(error({record}, {5, 2}, good)
                    .ends_with(MakeString("input 1 (order) has ", record,
                                          " at position 0, want 0 to 3, as input 2 (offsets) has "
                                          "5 rows")));
  EXPECT_TRUE(error({0}, {10, 1}, good).find("has shape [10, 1], want two dimensions") !=
              std::string::npos);
  EXPECT_TRUE(error({0}, {10}, good).find("has shape [10], want two dimensions") !=
              std::string::npos);
  const auto states = [](const std::string& got, const std::string& rows) {
    return got.find("record 0 has rows " + rows + " of input 4 (a:values), which has shape [6]") !=
           std::string::npos;
  };
  EXPECT_TRUE(states(error({0}, {2, 2}, {0, 0, 1, 7}), "0 to 7"));
  EXPECT_TRUE(states(error({0}, {2, 2}, {0, -1, 1, 1}), "-1 to 1"));
  EXPECT_TRUE(states(error({0}, {2, 2}, {0, 3, 1, 2}), "3 to 2"));
  // More columns than domains, and a record up to the last row, are valid.
  EXPECT_EQ(error({0}, {2, 3}, {0, 5, 9, 1, 6, 9}), "(nothing was thrown)");
  ExpectTensor<float>(ws, "v1", {1}, {5});
}

TEST(DatasetRunsTest, ListsAreJoinedInEachRun) {
  Workspace ws;
  RunOp(&ws, "type: 'CreateTensorVector' output: 'v'");
  Feed<float>(&ws, "x", {1, 2}, {1, 2});
  const OneOperator collect(&ws,
                            "type: 'CollectTensor' input: 'v' input: 'x' output: 'v' "
                            "arg { name: 'num_to_collect' i: 3 }");
  const OneOperator join(&ws, "type: 'ConcatTensorVector' input: 'v' output: 'y'");
  const OneOperator size(&ws, "type: 'TensorVectorSize' input: 'v' output: 'n'");
  collect.Run();
  join.Run();
  ExpectTensor<float>(ws, "y", {1, 2}, {1, 2});
  Feed<float>(&ws, "x", {2, 2}, {3, 4, 5, 6});
  collect.Run();
  join.Run();
  ExpectTensor<float>(ws, "y", {3, 2}, {1, 2, 3, 4, 5, 6});
  size.Run();
  ExpectTensor<int32_t>(ws, "n", {}, {2});
  // A new list has other tensors.
  const OneOperator create(&ws, "type: 'CreateTensorVector' output: 'v'");
  create.Run();
  size.Run();
  ExpectTensor<int32_t>(ws, "n", {}, {0});
  Feed<int64_t>(&ws, "x", {1}, {7});
  collect.Run();
  join.Run();
  ExpectTensor<int64_t>(ws, "y", {1}, {7});
}

TEST(DatasetRunsTest, AWindowIsFilledRunByRun) {
  Workspace ws;
  ws.CreateBlob("B");
  Feed<int32_t>(&ws, "N", {}, {0});
  Feed<int64_t>(&ws, "V", {1}, {0});
  RunOp(&ws, "type: 'CreateMutex' output: 'M'");
  Feed<float>(&ws, "X", {2, 1}, {1, 2});
  const OneOperator window(&ws, R"(type: "LastNWindowCollector" input: "B" input: "N" input: "X"
      input: "M" input: "V" output: "B" output: "N" output: "V"
      arg { name: "num_to_collect" i: 3 })");
  const std::pair<std::vector<float>, int32_t> wants[] = {
      {{1, 2}, 2}, {{2, 2, 1}, 1}, {{2, 1, 2}, 0}, {{1, 2, 2}, 2}};
  for (int run = 0; run < 4; ++run) {
    window.Run();
    const auto& [rows, next] = wants[run];
    ExpectTensor<float>(ws, "B", {static_cast<int64_t>(rows.size()), 1}, rows);
    ExpectTensor<int32_t>(ws, "N", {}, {next});
    ExpectTensor<int64_t>(ws, "V", {1}, {2 * (run + 1)});
  }
  // Nothing changes if an input is wrong.
  Feed<int64_t>(&ws, "V", {2}, {5, 6});
  EXPECT_NE(window.Error().find("elements of input 4 (NUM_VISITED)"), std::string::npos);
  ExpectTensor<int32_t>(ws, "N", {}, {2});
  ExpectTensor<int64_t>(ws, "V", {2}, {5, 6});
  Feed<int64_t>(&ws, "V", {1}, {5});
  Feed<int32_t>(&ws, "N", {}, {3});
  EXPECT_NE(window.Error().find("input 1 (next cursor) is 3"), std::string::npos);
  ExpectTensor<int64_t>(ws, "V", {1}, {5});
}

}  // namespace
}  // namespace caffe2rt::test::dataset_runs_test
