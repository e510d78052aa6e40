#include <gtest/gtest.h>

#include "caffe2_core/io/db.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/waiting.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::create_blobs_queue_db_test {
namespace {

class CreateBlobsQueueDBTest : public ::testing::Test {
 protected:
  CreateBlobsQueueDBTest() {
    RunOp(&ws_,
          "type: 'CreateBlobsQueue' output: 'q' arg { name: 'capacity' i: 9 } "
          "arg { name: 'num_blobs' i: 2 }");
  }
  void Create(const std::string& arguments) {
    RunOp(&ws_, "type: 'CreateBlobsQueueDB' input: 'q' output: 'r' " + arguments);
  }
  // A record of a tensor and a string.
  void Put(const std::string& first, const std::string& second) {
    Feed<std::string>(&ws_, "x", {1}, {first});
    *ws_.CreateBlob("y")->GetMutable<std::string>() = second;
    Enqueue();
  }
  void Enqueue() {
    RunOp(&ws_, "type: 'EnqueueBlobs' input: 'q' input: 'x' input: 'y' output: 'x' output: 'y'");
  }
  std::string Read() {
    std::string key, value;
    ws_.GetBlob("r")->Get<db::DBReader>().Read(&key, &value);
    return key + "=" + value;
  }
  Workspace ws_;
};

TEST_F(CreateBlobsQueueDBTest, ReadsEachRecordOnce) {
  Create("arg { name: 'key_blob_index' i: 0 } arg { name: 'value_blob_index' i: 1 }");
  Put("a", "1");
  Put("b", "2");
  EXPECT_EQ(Read(), "a=1");
  EXPECT_EQ(ws_.GetBlob("r")->Get<db::DBReader>().ToProto("r").key(), "");
  EXPECT_EQ(Read(), "b=2");
  Put("c", "3");
  RunOp(&ws_, "type: 'CloseBlobsQueue' input: 'q'");
  EXPECT_EQ(Read(), "c=3");
  ExpectThrows([&] { Read(); }, "the queue has no more records");
  ExpectThrows([&] { Read(); }, "the queue has no more records");
}

TEST_F(CreateBlobsQueueDBTest, HasNoKeysByDefaultAndWaitsForItsTime) {
  Create("arg { name: 'timeout_secs' f: 0.01 }");
  Put("a", "1");
  EXPECT_EQ(Read(), "=a");
  ExpectThrows([&] { Read(); }, "no record came within");
  Put("b", "2");
  EXPECT_EQ(Read(), "=b");
}

TEST_F(CreateBlobsQueueDBTest, EndsWithItsRun) {
  Create("");
  const std::atomic<bool> stopped = true;
  const StopScope scope(stopped);
  EXPECT_THROW(Read(), RunStopped);
}

TEST_F(CreateBlobsQueueDBTest, FeedsTensorProtosDBInput) {
  Create("");
  for (int i = 0; i < 4; ++i) {
    TensorProtos record;
    record.add_protos()->set_data_type(TensorProto::INT32);
    record.mutable_protos(0)->add_int32_data(i);
    Put(record.SerializeAsString(), "");
  }
  const OperatorDef def =
      ParseOp("type: 'TensorProtosDBInput' input: 'r' output: 'z' arg { name: 'batch_size' i: 2 }");
  NetDef net;
  *net.add_op() = def;
  net.set_name("n");
  NetBase* const created = ws_.CreateNet(net);
  ASSERT_TRUE(created->Run());
  ExpectTensor<int32_t>(ws_, "z", {2}, {0, 1});
  ASSERT_TRUE(created->Run());
  ExpectTensor<int32_t>(ws_, "z", {2}, {2, 3});
}

TEST_F(CreateBlobsQueueDBTest, ReportsWrongUse) {
  ExpectThrows([&] { Create("arg { name: 'value_blob_index' i: 2 }"); },
               "want less than the number of blobs of a record of the queue, 2");
  ExpectThrows([&] { Create("arg { name: 'key_blob_index' i: 2 }"); }, "key_blob_index 2");
  ExpectThrows([&] { Create("arg { name: 'value_blob_index' i: -1 }"); }, "at least 0");
  Create("");
  Feed<float>(&ws_, "x", {1}, {0});
  *ws_.CreateBlob("y")->GetMutable<std::string>() = "";
  Enqueue();
  ExpectThrows([&] { Read(); }, "want a std::string, or a tensor of one string");
}

}  // namespace
}  // namespace caffe2rt::test::create_blobs_queue_db_test
