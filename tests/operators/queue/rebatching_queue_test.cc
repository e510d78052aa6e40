// Rebatching queues and their operators. The values are those of Caffe2 1.8.
#include "operators/queue/rebatching_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>

#include "caffe2_core/runtime/waiting.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"

namespace caffe2rt::test::rebatching_queue_test {
namespace {

class RebatchingQueueTest : public ::testing::Test {
 protected:
  void Create(int capacity, int num_blobs) {
    RunOp(&ws_, MakeString("type: 'CreateRebatchingQueue' output: 'q' arg { name: 'capacity' i: ",
                           capacity, " } arg { name: 'num_blobs' i: ", num_blobs, " }"));
  }
  void Enqueue(const std::string& inputs, bool batch) {
    RunOp(&ws_, "type: 'EnqueueRebatchingQueue' input: 'q' " + inputs +
                    (batch ? " arg { name: 'enqueue_batch' i: 1 }" : ""));
  }
  void Dequeue(int count, const std::string& outputs) {
    RunOp(&ws_, MakeString("type: 'DequeueRebatchingQueue' input: 'q' ", outputs,
                           " arg { name: 'num_elements' i: ", count, " }"));
  }
  void Close() { RunOp(&ws_, "type: 'CloseRebatchingQueue' input: 'q'"); }
  Workspace ws_;
};

TEST_F(RebatchingQueueTest, JoinsRowsOfBatchesAndSingleRows) {
  Create(10, 2);
  Feed<float>(&ws_, "x", {3, 2}, {0, 1, 2, 3, 4, 5});
  Feed<int32_t>(&ws_, "y", {3}, {7, 8, 9});
  Enqueue("input: 'x' input: 'y'", true);
  Dequeue(2, "output: 'a' output: 'b'");
  ExpectTensor<float>(ws_, "a", {2, 2}, {0, 1, 2, 3});
  ExpectTensor<int32_t>(ws_, "b", {2}, {7, 8});
  Enqueue("input: 'x' input: 'y'", false);
  Dequeue(1, "output: 'a' output: 'b'");
  ExpectTensor<float>(ws_, "a", {1, 2}, {4, 5});
  Dequeue(1, "output: 'a' output: 'b'");
  ExpectTensor<float>(ws_, "a", {1, 3, 2}, {0, 1, 2, 3, 4, 5});
  ExpectTensor<int32_t>(ws_, "b", {1, 3}, {7, 8, 9});
}

TEST_F(RebatchingQueueTest, GivesWhatIsLeftWhenItIsClosed) {
  Create(10, 1);
  Feed<int32_t>(&ws_, "s", {}, {3});
  Enqueue("input: 's'", false);
  Close();
  Dequeue(5, "output: 'a'");
  ExpectTensor<int32_t>(ws_, "a", {1}, {3});
  ExpectThrows([&] { Dequeue(5, "output: 'a'"); }, "DequeueRebatchingQueue");
  ExpectThrows([&] { Enqueue("input: 's'", false); }, "EnqueueRebatchingQueue");
}

TEST_F(RebatchingQueueTest, HoldsStringsAndEmptyTensors) {
  Create(10, 1);
  Feed<std::string>(&ws_, "st", {2}, {"ab", "c"});
  Enqueue("input: 'st'", true);
  Dequeue(2, "output: 'a'");
  EXPECT_EQ(Fetch<std::string>(ws_, "a"), (std::vector<std::string>{"ab", "c"}));
  Feed<float>(&ws_, "none", {0, 2}, {});
  Enqueue("input: 'none'", true);  // no rows
  Enqueue("input: 'none'", false);
  Dequeue(1, "output: 'a'");
  ExpectTensor<float>(ws_, "a", {1, 0, 2}, {});
}

TEST_F(RebatchingQueueTest, ReportsRowsThatDoNotFit) {
  Create(10, 2);
  Feed<float>(&ws_, "x", {3}, {0, 1, 2});
  Feed<float>(&ws_, "y", {2}, {0, 1});
  Feed<float>(&ws_, "s", {}, {0});
  ExpectThrows([&] { Enqueue("input: 'x' input: 'y'", true); }, "rows of input 2, want as many");
  ExpectThrows([&] { Enqueue("input: 's' input: 's'", true); }, "dimensions of input 1");
  ExpectThrows([&] { Enqueue("input: 'x'", true); }, "want as many as a row of the queue has");
  Enqueue("input: 'x' input: 'x'", false);
  ExpectThrows([&] { Dequeue(1, "output: 'a'"); }, "want as many as a row of the queue has");
  Enqueue("input: 'x' input: 'y'", false);
  ExpectThrows([&] { Dequeue(2, "output: 'a' output: 'b'"); },
               "tensor 1 of a row is float [2], want float [3]");
  ExpectThrows([&] { Create(0, 1); }, "above 0");
  ExpectThrows([&] { Create(1, 0); }, "above 0");
}

TEST_F(RebatchingQueueTest, IsUnchangedAfterRejectedRows) {
  Create(10, 2);
  Feed<float>(&ws_, "x", {3}, {0, 1, 2});
  Feed<float>(&ws_, "y", {2}, {3, 4});
  Feed<float>(&ws_, "s", {}, {0});
  Feed<int32_t>(&ws_, "i", {2}, {5, 6});
  const auto expect = [](const std::function<void()>& act, const std::string& message) {
    const std::string got = MessageOf(act);
    EXPECT_TRUE(got.ends_with(": " + message)) << got << "\nwant: " << message;
  };
  expect([&] { Enqueue("input: 'x' input: 'y'", true); },
         "rows of input 2, want as many as input 1 has (got 2, want 3)");
  expect([&] { Enqueue("input: 'y' input: 's'", true); },
         "dimensions of input 2, a batch of rows: got 0, want more than 0");
  expect([&] { Enqueue("input: 'x'", true); },
         "tensors to enqueue, want as many as a row of the queue has (got 1, want 2)");
  Enqueue("input: 'x' input: 'y'", false);
  expect([&] { Dequeue(1, "output: 'a'"); },
         "outputs, want as many as a row of the queue has tensors (got 1, want 2)");
  Dequeue(1, "output: 'a' output: 'b'");  // the first row, which is still there
  ExpectTensor<float>(ws_, "a", {1, 3}, {0, 1, 2});
  ExpectTensor<float>(ws_, "b", {1, 2}, {3, 4});
  Enqueue("input: 'x' input: 'y'", false);
  Enqueue("input: 'x' input: 'i'", false);
  expect([&] { Dequeue(2, "output: 'a' output: 'b'"); },
         "tensor 1 of a row is int32 [2], want float [2], as in the row before");
}

TEST_F(RebatchingQueueTest, HoldsOneRowOfOneTensorAndReadsOneByDefault) {
  RunOp(&ws_, "type: 'CreateRebatchingQueue' output: 'q'");
  Feed<float>(&ws_, "x", {2, 1}, {4, 5});
  Enqueue("input: 'x'", false);  // a batch would be two rows, which do not fit
  RunOp(&ws_, "type: 'DequeueRebatchingQueue' input: 'q' output: 'a'");
  ExpectTensor<float>(ws_, "a", {1, 2, 1}, {4, 5});
}

RebatchingQueue::Row RowOf(int value) {
  RebatchingQueue::Row row;
  row.emplace_back(CPU).Resize(1);
  *row[0].mutable_data<int>() = value;
  return row;
}

TEST(RebatchingQueueThreadsTest, EveryRowIsReadOnceAndInTheOrderOfItsWriter) {
  constexpr int kWriters = 3, kReaders = 2, kRows = 200;
  RebatchingQueue queue({.capacity = 4, .num_blobs = 1});
  std::vector<std::thread> writers, readers;
  std::vector<std::vector<int>> read(kReaders);
  for (int w = 0; w < kWriters; ++w) {
    writers.emplace_back([&queue, w] {
      std::mt19937 random(static_cast<uint32_t>(w));
      for (int i = 0; i < kRows;) {
        std::vector<RebatchingQueue::Row> rows;
        for (size_t n = 1 + random() % 9; n > 0 && i < kRows; --n) {
          rows.push_back(RowOf(w * kRows + i++));
        }
        EXPECT_TRUE(queue.Write(std::move(rows)));
      }
    });
  }
  for (int r = 0; r < kReaders; ++r) {
    readers.emplace_back([&queue, &values = read[static_cast<size_t>(r)]] {
      for (size_t count = 1;; count = count % 7 + 1) {
        std::vector<RebatchingQueue::Row> rows;
        if (!queue.Read(count, &rows)) return;
        for (const auto& row : rows) values.push_back(*row[0].data<int>());
      }
    });
  }
  for (std::thread& thread : writers) thread.join();
  queue.Close();
  for (std::thread& thread : readers) thread.join();
  std::vector<int> times(kWriters * kRows);
  for (const auto& values : read) {
    std::vector<int> last(kWriters, -1);
    for (const int value : values) {
      ++times[static_cast<size_t>(value)];
      EXPECT_GT(value, last[static_cast<size_t>(value / kRows)]);
      last[static_cast<size_t>(value / kRows)] = value;
    }
  }
  EXPECT_EQ(times, std::vector<int>(kWriters * kRows, 1));
}

TEST(RebatchingQueueThreadsTest, AStoppedReaderPutsItsRowsBack) {
  RebatchingQueue queue({.capacity = 4, .num_blobs = 1});
  std::vector<RebatchingQueue::Row> rows;
  for (int i = 0; i < 3; ++i) rows.push_back(RowOf(i));
  EXPECT_TRUE(queue.Write(std::move(rows)));
  rows.clear();
  const std::atomic<bool> stopped = true;
  {
    const StopScope scope(stopped);
    EXPECT_THROW(queue.Read(4, &rows), RunStopped);
  }
  ASSERT_TRUE(queue.Read(3, &rows));
  ASSERT_EQ(rows.size(), 3u);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(*rows[static_cast<size_t>(i)][0].data<int>(), i);
}

}  // namespace
}  // namespace caffe2rt::test::rebatching_queue_test
