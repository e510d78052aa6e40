// Operators on queues that run several times, readers of queues, and waits that end with their run.
#include <gtest/gtest.h>

#include <atomic>

#include "caffe2_core/io/db.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/waiting.h"
#include "operators/queue/blobs_queue.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::queue_again_test {
namespace {

class QueueAgainTest : public testing::Test {
 protected:
  void Run(const std::string& op) { ASSERT_TRUE(ws_.RunOperatorOnce(ParseOp(op))); }
  void Create(int blobs) {
    Run(
        MakeString("type: 'CreateBlobsQueue' output: 'q' arg { name: 'capacity' i: 8 } "
                   "arg { name: 'num_blobs' i: ",
                   blobs, " }"));
  }
  void Put(const std::vector<int32_t>& x, const std::vector<float>& y) {
    Feed<int32_t>(&ws_, "x", {static_cast<int64_t>(x.size())}, x);
    Feed<float>(&ws_, "y", {static_cast<int64_t>(y.size())}, y);
    Run("type: 'EnqueueBlobs' input: 'q' input: 'x' input: 'y' output: 'x' output: 'y'");
  }
  NetBase* Net(const std::string& op) {
    return ws_.CreateNet(ParseNet("name: 'n' op { " + op + " }"), /*overwrite=*/true);
  }
  void ExpectRecord(const std::vector<int32_t>& a, const std::vector<float>& b, bool ended) {
    ExpectTensor<int32_t>(ws_, "a", {static_cast<int64_t>(a.size())}, a);
    ExpectTensor<float>(ws_, "b", {static_cast<int64_t>(b.size())}, b);
    ExpectTensor<bool>(ws_, "s", {}, {ended});
  }
  Workspace ws_;
};

TEST_F(QueueAgainTest, JoinsRecordsOfTwoBlobsInEachRun) {
  Create(2);
  NetBase* const net =
      Net("type: 'SafeDequeueBlobs' input: 'q' output: 'a' output: 'b' output: 's' "
          "arg { name: 'num_records' i: 2 }");
  Put({1}, {2, 3});
  Put({4, 5}, {6});
  ASSERT_TRUE(net->Run());
  ExpectRecord({1, 4, 5}, {2, 3, 6}, false);
  Put({7}, {});
  Put({8}, {9});
  ASSERT_TRUE(net->Run());
  ExpectRecord({7, 8}, {9}, false);
  Put({10, 11, 12}, {13});
  Run("type: 'CloseBlobsQueue' input: 'q'");
  ASSERT_TRUE(net->Run());
  ExpectRecord({10, 11, 12}, {13}, false);
  ASSERT_TRUE(net->Run());
  ExpectRecord({10, 11, 12}, {13}, true);
}

TEST_F(QueueAgainTest, TakesOneRecordOfTwoBlobsInEachRun) {
  Create(2);
  NetBase* const safe =
      Net("type: 'SafeDequeueBlobs' input: 'q' output: 'a' output: 'b' output: 's'");
  for (const int32_t i : {1, 2, 3}) {
    Put({i, i}, {static_cast<float>(10 * i)});
    ASSERT_TRUE(safe->Run());
    ExpectRecord({i, i}, {static_cast<float>(10 * i)}, false);
  }
  NetBase* const plain = Net("type: 'DequeueBlobs' input: 'q' output: 'a' output: 'b'");
  for (const int32_t i : {4, 5}) {
    Put({i}, {});
    ASSERT_TRUE(plain->Run());
    ExpectRecord({i}, {}, false);
  }
}

// A timeout that is not above 0 is none. A run that is stopped shows that the operator would wait.
TEST_F(QueueAgainTest, WaitsForItsTimeoutUnlessItsRunEnds) {
  Create(1);
  const std::atomic<bool> stopped = true;
  for (const char* const timeout : {"100", "1e30", "0", "-1"}) {
    SCOPED_TRACE(timeout);
    const StopScope scope(stopped);
    EXPECT_THROW(
        (void)ws_.RunOperatorOnce(ParseOp(MakeString("type: 'DequeueBlobs' input: 'q' output: 'a' "
                                                     "arg { name: 'timeout_secs' f: ",
                                                     timeout, " }"))),
        RunStopped);
  }
  const StopScope scope(stopped);
  EXPECT_THROW(Run("type: 'SafeDequeueBlobs' input: 'q' output: 'a' output: 's'"), RunStopped);
}

TEST_F(QueueAgainTest, AReaderTakesARecordForItsKeyOrItsValue) {
  Create(2);
  Run("type: 'CreateBlobsQueueDB' input: 'q' output: 'r' arg { name: 'key_blob_index' i: 1 }");
  const auto put = [this](const std::string& value, const std::string& key) {
    Feed<std::string>(&ws_, "x", {1}, {value});
    Feed<std::string>(&ws_, "y", {1}, {key});
    Run("type: 'EnqueueBlobs' input: 'q' input: 'x' input: 'y' output: 'x' output: 'y'");
  };
  put("1", "a");
  put("2", "b");
  put("3", "c");
  db::Cursor* const cursor = ws_.GetBlob("r")->Get<db::DBReader>().cursor();
  EXPECT_TRUE(cursor->Valid());
  EXPECT_EQ(cursor->value(), "1");
  EXPECT_EQ(cursor->value(), "1");
  EXPECT_EQ(cursor->key(), "a");
  cursor->Next();
  EXPECT_EQ(cursor->key(), "b");
  EXPECT_EQ(cursor->value(), "2");
  cursor->SeekToFirst();
  cursor->Next();
  EXPECT_TRUE(cursor->Valid());
  EXPECT_EQ(cursor->value(), "3");
  ExpectThrows([&] { cursor->Seek("a"); }, "a queue does not support seeking");
}

}  // namespace
}  // namespace caffe2rt::test::queue_again_test
