// Records at the bounds of queues: full, closed, empty and stopped ones, and what each leaves.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>

#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/waiting.h"
#include "operators/queue/rebatching_queue.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::queue_records_test {
namespace {

using RowsOfNumbers = std::vector<RebatchingQueue::Row>;

RowsOfNumbers NumberRows(const std::vector<int>& values) {
  RowsOfNumbers rows;
  for (const int value : values) {
    RebatchingQueue::Row row;
    row.emplace_back(CPU).Resize(1);
    *row[0].mutable_data<int>() = value;
    rows.push_back(std::move(row));
  }
  return rows;
}
std::vector<int> NumbersOf(const RowsOfNumbers& rows) {
  std::vector<int> values;
  for (const RebatchingQueue::Row& row : rows) values.push_back(*row[0].data<int>());
  return values;
}

TEST(RebatchingQueueBoundsTest, AStoppedWriterLeavesTheRowsThatFit) {
  RebatchingQueue queue({.capacity = 2, .num_blobs = 1});
  const std::atomic<bool> stopped = true;
  {
    const StopScope scope(stopped);
    EXPECT_TRUE(queue.Write(NumberRows({1})));  // fits without waiting
    EXPECT_THROW(queue.Write(NumberRows({2, 3, 4})), RunStopped);
  }
  queue.Close();
  RowsOfNumbers rows;
  EXPECT_TRUE(queue.Read(9, &rows));
  EXPECT_EQ(NumbersOf(rows), (std::vector<int>{1, 2}));
}

TEST(RebatchingQueueBoundsTest, AClosedQueueAcceptsOnlyNothing) {
  RebatchingQueue queue({.capacity = 2, .num_blobs = 1});
  EXPECT_TRUE(queue.Write(NumberRows({1, 2})));  // exactly full
  queue.Close();
  EXPECT_FALSE(queue.Write(NumberRows({3})));
  EXPECT_TRUE(queue.Write({}));
  RowsOfNumbers rows = NumberRows({7});
  EXPECT_TRUE(queue.Read(1, &rows));  // adds to the rows
  EXPECT_TRUE(queue.Read(1, &rows));
  EXPECT_FALSE(queue.Read(1, &rows));
  EXPECT_EQ(NumbersOf(rows), (std::vector<int>{7, 1, 2}));
  EXPECT_FALSE(queue.Write(NumberRows({3})));  // although there is room
}

TEST(RebatchingQueueBoundsTest, AStoppedReaderTakesWhatIsThere) {
  RebatchingQueue queue({.capacity = 3, .num_blobs = 1});
  EXPECT_TRUE(queue.Write(NumberRows({1, 2, 3})));
  const std::atomic<bool> stopped = true;
  const StopScope scope(stopped);
  RowsOfNumbers rows;
  EXPECT_TRUE(queue.Read(2, &rows));
  EXPECT_THROW(queue.Read(2, &rows), RunStopped);
  EXPECT_EQ(NumbersOf(rows), (std::vector<int>{1, 2}));
  EXPECT_TRUE(queue.Read(1, &rows));
  EXPECT_EQ(NumbersOf(rows), (std::vector<int>{1, 2, 3}));
}

// Of three rows at most two have a place before the queue is closed.
TEST(RebatchingQueueBoundsTest, AWriteThatIsCutByClosingFails) {
  RebatchingQueue queue({.capacity = 1, .num_blobs = 1});
  bool written = true;
  std::thread writer([&] { written = queue.Write(NumberRows({1, 2, 3})); });
  RowsOfNumbers rows;
  EXPECT_TRUE(queue.Read(1, &rows));
  queue.Close();
  writer.join();
  EXPECT_FALSE(written);
  EXPECT_EQ(NumbersOf(rows), std::vector<int>{1});
}

class QueueRecordsTest : public testing::Test {
 protected:
  bool RunIt(const std::string& op) { return ws_.RunOperatorOnce(ParseOp(op)); }
  void CreateQueue(const std::string& name, int num_blobs) {
    ASSERT_TRUE(RunIt(MakeString(
        "type: 'CreateBlobsQueue' output: '", name,
        "' arg { name: 'capacity' i: 60 } arg { name: 'num_blobs' i: ", num_blobs, " }")));
  }
  template <class T>
  void Put(const std::string& queue, const std::vector<int64_t>& dims,
           const std::vector<T>& values) {
    Feed<T>(&ws_, "x", dims, values);
    ASSERT_TRUE(RunIt("type: 'EnqueueBlobs' input: '" + queue + "' input: 'x' output: 'x'"));
  }
  Workspace ws_;
};

TEST_F(QueueRecordsTest, JoinsOfThreeKeepOrderTypesAndEmptyTensors) {
  const std::string take =
      "type: 'SafeDequeueBlobs' input: 'q' output: 'y' output: 'status' "
      "arg { name: 'num_records' i: 3 }";
  CreateQueue("q", 1);
  Put<std::string>("q", {1}, {"a"});
  Put<std::string>("q", {2}, {"bc", "d"});
  Put<std::string>("q", {1}, {"e"});
  ASSERT_TRUE(RunIt(take));
  EXPECT_EQ(Fetch<std::string>(ws_, "y"), (std::vector<std::string>{"a", "bc", "d", "e"}));
  // The empty one is in the middle, then at the end.
  for (const bool at_end : {false, true}) {
    Put<int64_t>("q", {1, 2}, {1, 2});
    if (!at_end) Put<int64_t>("q", {0, 2}, {});
    Put<int64_t>("q", {2, 1, 2}, {3, 4, 5, 6});  // rows of two numbers, in another shape
    if (at_end) Put<int64_t>("q", {0, 2}, {});
    ASSERT_TRUE(RunIt(take));
    ExpectTensor<int64_t>(ws_, "y", {3, 2}, {1, 2, 3, 4, 5, 6});
  }
  // Records beyond those that are asked for stay.
  for (int i = 0; i < 4; ++i) Put<float>("q", {1}, {static_cast<float>(i)});
  ASSERT_TRUE(RunIt(take));
  ExpectTensor<float>(ws_, "y", {3}, {0, 1, 2});
  ExpectTensor<bool>(ws_, "status", {}, {false});
  ASSERT_TRUE(RunIt("type: 'DequeueBlobs' input: 'q' output: 'z'"));
  ExpectTensor<float>(ws_, "z", {1}, {3});
  // Without a record the outputs are unchanged.
  ASSERT_TRUE(RunIt("type: 'CloseBlobsQueue' input: 'q'"));
  ASSERT_TRUE(RunIt(take));
  ExpectTensor<bool>(ws_, "status", {}, {true});
  ExpectTensor<float>(ws_, "y", {3}, {0, 1, 2});
}

TEST_F(QueueRecordsTest, AFailedReadLeavesTheOutputs) {
  CreateQueue("q", 1);
  Feed<float>(&ws_, "y", {2}, {5, 6});
  EXPECT_FALSE(
      RunIt("type: 'DequeueBlobs' input: 'q' output: 'y' arg { name: 'timeout_secs' f: 0.001 }"));
  ExpectTensor<float>(ws_, "y", {2}, {5, 6});
  ASSERT_TRUE(RunIt("type: 'CloseBlobsQueue' input: 'q'"));
  EXPECT_FALSE(RunIt("type: 'DequeueBlobs' input: 'q' output: 'y'"));
  ASSERT_TRUE(RunIt("type: 'SafeDequeueBlobs' input: 'q' output: 'y' output: 'status'"));
  ExpectTensor<float>(ws_, "y", {2}, {5, 6});
  ExpectTensor<bool>(ws_, "status", {}, {true});
}

TEST_F(QueueRecordsTest, OutputsOfARebatchingQueueExistEvenIfItIsClosed) {
  ASSERT_TRUE(RunIt("type: 'CreateRebatchingQueue' output: 'q' arg { name: 'num_blobs' i: 2 }"));
  ASSERT_TRUE(RunIt("type: 'CloseRebatchingQueue' input: 'q'"));
  ASSERT_TRUE(RunIt("type: 'CloseRebatchingQueue' input: 'q'"));
  EXPECT_FALSE(RunIt("type: 'DequeueRebatchingQueue' input: 'q' output: 'a' output: 'b'"));
  for (const char* name : {"a", "b"}) {
    ASSERT_TRUE(ws_.GetBlob(name)->IsType<Tensor>()) << name;
  }
}

TEST_F(QueueRecordsTest, RowsOfABatchKeepTheirDims) {
  ASSERT_TRUE(
      RunIt("type: 'CreateRebatchingQueue' output: 'q' arg { name: 'num_blobs' i: 2 } "
            "arg { name: 'capacity' i: 5 }"));
  FeedRange<float>(&ws_, "x", {3, 2, 1});
  Feed<bool>(&ws_, "m", {3, 0}, {});
  ASSERT_TRUE(
      RunIt("type: 'EnqueueRebatchingQueue' input: 'q' input: 'x' input: 'm' "
            "arg { name: 'enqueue_batch' i: 1 }"));
  const std::string take = "type: 'DequeueRebatchingQueue' input: 'q' output: 'a' output: 'b' ";
  ASSERT_TRUE(RunIt(take + "arg { name: 'num_elements' i: 1 }"));
  ExpectTensor<float>(ws_, "a", {1, 2, 1}, {0, 1});
  ASSERT_TRUE(RunIt(take + "arg { name: 'num_elements' i: 2 }"));
  ExpectTensor<float>(ws_, "a", {2, 2, 1}, {2, 3, 4, 5});
  ExpectTensor<bool>(ws_, "b", {2, 0}, {});
}

// A tensor that nothing has written has a shape and no type.
TEST_F(QueueRecordsTest, JoinsTensorsWithoutAType) {
  CreateQueue("q", 1);
  for (int i = 0; i < 2; ++i) {
    ws_.CreateBlob("x")->Reset();
    ws_.GetBlob("x")->GetMutableTensor(CPU)->Resize(2, 3);
    ASSERT_TRUE(
        ws_.RunOperatorOnce(ParseOp("type: 'EnqueueBlobs' input: 'q' input: 'x' output: 'x'")));
  }
  ASSERT_TRUE(ws_.RunOperatorOnce(
      ParseOp("type: 'SafeDequeueBlobs' input: 'q' output: 'y' output: 'status' "
              "arg { name: 'num_records' i: 2 }")));
  EXPECT_EQ(DimsOf(ws_, "y"), (std::vector<int64_t>{2, 3}));
  ExpectTensor<bool>(ws_, "status", {}, {false});
}

// A scope holds blobs of its own, so it stays where it is.
TEST_F(QueueRecordsTest, ScopesNeitherEnterNorAreGivenBack) {
  CreateQueue("q", 1);
  const std::string enqueue = "type: 'EnqueueBlobs' input: 'q' input: 'x' output: 'x'";
  const auto run = [this](const std::string& op) { return ws_.RunOperatorOnce(ParseOp(op)); };
  ASSERT_TRUE(run("type: 'CreateScope' output: 'x'"));
  const std::string type(ws_.GetBlob("x")->TypeName());
  ExpectThrows([&] { (void)run(enqueue); },
               "blob 0 of a record holds an object of type " + type +
                   ", want one that can leave its workspace: neither a scope nor a queue can enter "
                   "a queue");
  EXPECT_EQ(ws_.GetBlob("x")->TypeName(), type);
  Feed<float>(&ws_, "v", {1}, {4});
  ASSERT_TRUE(run("type: 'EnqueueBlobs' input: 'q' input: 'v' output: 'v'"));
  ASSERT_TRUE(run("type: 'DequeueBlobs' input: 'q' output: 'x'"));  // replaces the scope
  ExpectTensor<float>(ws_, "x", {1}, {4});
  // The queue has 60 places; the one that was used holds nothing of the reader's.
  for (int i = 0; i < 60; ++i) {
    Feed<float>(&ws_, "v", {1}, {5});
    ASSERT_TRUE(run("type: 'EnqueueBlobs' input: 'q' input: 'v' output: 'v'"));
    EXPECT_TRUE(ws_.GetBlob("v")->IsEmpty()) << i;
  }
}

// The schema lists 64 queues; an operator on more may use any blob.
TEST(WeightedSampleDequeueBlobsSchemaTest, KnowsTheQueuesOfLargeOperatorsToo) {
  const OpSchema* const schema = OpSchemaRegistry::Schema("WeightedSampleDequeueBlobs");
  ASSERT_NE(schema, nullptr);
  OperatorDef def = ParseOp("type: 'WeightedSampleDequeueBlobs' output: 'y' output: 'status'");
  for (int i = 0; i < 64; ++i) {
    def.add_input("q" + std::to_string(i));
    EXPECT_TRUE(schema->input_is_synchronized(i)) << i;
    EXPECT_TRUE(schema->modifies_input(i)) << i;
  }
  EXPECT_FALSE(schema->has_effect(Effect::kEverything, def));
  def.add_input("more");
  EXPECT_TRUE(schema->has_effect(Effect::kEverything, def));
  EXPECT_TRUE(schema->has_effect(Effect::kRandom, def));
}

// Each weight of three in turn, and proportions that differ.
TEST_F(QueueRecordsTest, WeightsBelongToTheirQueues) {
  for (const char* name : {"q0", "q1", "q2"}) CreateQueue(name, 1);
  const std::string sample =
      "type: 'WeightedSampleDequeueBlobs' input: 'q0' input: 'q1' input: 'q2' output: 'y' "
      "output: 'status' ";
  const auto fill = [&] {
    for (int queue = 0; queue < 3; ++queue)
      Put<float>(MakeString("q", queue), {1}, {static_cast<float>(queue)});
  };
  for (int chosen = 0; chosen < 3; ++chosen) {
    fill();
    std::string weights;
    for (int i = 0; i < 3; ++i) weights += MakeString(" floats: ", i == chosen ? 0.5 : 0.0);
    ASSERT_TRUE(RunIt(sample + "arg { name: 'weights'" + weights + " }"));
    ExpectTensor<float>(ws_, "y", {1}, {static_cast<float>(chosen)});
    ExpectTensor<bool>(ws_, "status", {}, {false});
  }
  // Of 50 draws with weights 1, 0 and 9 about 5 are of the first: 21 would be seven deviations off.
  std::array<int, 3> counts = {};
  for (int i = 0; i < 50; ++i) fill();
  for (int seed = 1; seed <= 50; ++seed) {
    ASSERT_TRUE(RunIt(sample + MakeString("device_option { random_seed: ", seed,
                                          " } arg { name: 'weights' floats: 1 floats: 0 floats: "
                                          "9 }")));
    ++counts[static_cast<size_t>(Fetch<float>(ws_, "y")[0])];
  }
  EXPECT_EQ(counts[1], 0);
  EXPECT_LT(counts[0], 21);
  EXPECT_GT(counts[2], 29);
}

}  // namespace
}  // namespace caffe2rt::test::queue_records_test
