// Whole messages of the operators on queues, what a rejected record leaves, and the statistics.
#include <gtest/gtest.h>

#include <map>

#include "caffe2_core/io/db.h"
#include "caffe2_core/tensor/int8_tensor.h"
#include "operators/queue/blobs_queue.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"

namespace caffe2rt::test::queue_refusals_test {
namespace {

// The operator's own sentence begins after its frame. On the CPU, whose workspace holds any blob.
void ExpectRejected(Workspace* ws, const std::string& op, const std::string& message) {
  const std::string got = MessageOf([&] { (void)ws->RunOperatorOnce(ParseOp(op)); });
  EXPECT_TRUE(got == message || got.ends_with(": " + message))
      << op << "\ngot:  " << got << "\nwant: " << message;
}
void RunHere(Workspace* ws, const std::string& op) {
  ASSERT_TRUE(ws->RunOperatorOnce(ParseOp(op)));
}

void CreateQueue(Workspace* ws, const std::string& name, int num_blobs) {
  RunHere(ws, MakeString("type: 'CreateBlobsQueue' output: '", name,
                         "' arg { name: 'capacity' i: 9 } arg { name: 'num_blobs' i: ", num_blobs,
                         " }"));
}

const std::string kPutPair =
    "type: 'EnqueueBlobs' input: 'q' input: 'x' input: 'y' output: 'x' output: 'y'";
const std::string kTakeTwoPairs =
    "type: 'SafeDequeueBlobs' input: 'q' output: 'a' output: 'b' output: 'status' "
    "arg { name: 'num_records' i: 2 }";

TEST(QueueRefusalsTest, OfJoinsNameTheBlobOfTheRecord) {
  const auto put = [](Workspace* ws, const std::vector<int64_t>& dims, bool whole_numbers) {
    FeedRange<float>(ws, "x", {1, 2});
    if (whole_numbers) {
      FeedRange<int64_t>(ws, "y", dims);
    } else {
      FeedRange<float>(ws, "y", dims);
    }
    RunHere(ws, kPutPair);
  };
  struct JoinRow {
    std::vector<int64_t> first, second;
    bool whole_numbers;
    std::string message;
  };
  const JoinRow rows[] = {
      {{2},
       {},
       false,
       "blob 1 of a record has shape [], and that of the records before has shape [2], want at "
       "least one dimension to join them"},
      {{},
       {2},
       false,
       "blob 1 of a record has shape [2], and that of the records before has shape [], want at "
       "least one dimension to join them"},
      {{2}, {2}, true, "blob 1 of a record is int64, want float, the type in the records before"},
      {{1, 3},
       {2, 2},
       false,
       "elements in a row of blob 1 of a record, want as many as in the records before (got 2, "
       "want 3)"}};
  for (const JoinRow& row : rows) {
    Workspace ws;
    CreateQueue(&ws, "q", 2);
    put(&ws, row.first, false);
    put(&ws, row.second, row.whole_numbers);
    ExpectRejected(&ws, kTakeTwoPairs, row.message);
    put(&ws, {2}, false);
    put(&ws, {1}, false);
    RunHere(&ws, kTakeTwoPairs);  // both records are gone
    ExpectTensor<float>(ws, "a", {2, 2}, {0, 1, 0, 1});
    ExpectTensor<float>(ws, "b", {3}, {0, 1, 0});
    ExpectTensor<bool>(ws, "status", {}, {false});
  }
}

TEST(QueueRefusalsTest, OfUsesNameNumbersOfBlobs) {
  Workspace ws;
  CreateQueue(&ws, "q", 2);
  CreateQueue(&ws, "one", 1);
  Feed<float>(&ws, "x", {1}, {1});
  const auto sample = [](const std::string& rest) {
    return "type: 'WeightedSampleDequeueBlobs' input: 'q' input: 'one' output: 'a' output: 'b' "
           "output: 'status' " +
           rest;
  };
  struct UseRow {
    std::string op, message;
  };
  const UseRow rows[] = {
      {"type: 'EnqueueBlobs' input: 'q' input: 'x' output: 'x'",
       "blobs to enqueue, want as many as a record has (got 1, want 2)"},
      {"type: 'SafeEnqueueBlobs' input: 'q' input: 'x' output: 'x' output: 'status'",
       "blobs to enqueue, want as many as a record has (got 1, want 2)"},
      {"type: 'DequeueBlobs' input: 'q' output: 'a'",
       "outputs, want as many as a record of the queue has blobs (got 1, want 2)"},
      {"type: 'SafeDequeueBlobs' input: 'q' output: 'a' output: 'status'",
       "outputs before the status, want as many as a record of the queue has blobs (got 1, want "
       "2)"},
      {sample("arg { name: 'weights' floats: 0 floats: 1 }"),
       "outputs before the status, want as many as a record of the queue has blobs (got 2, want "
       "1)"},
      {sample("arg { name: 'weights' floats: 1 floats: 1 floats: 1 }"),
       "weights, one for each input: got 3, want 2"},
      {sample("arg { name: 'weights' floats: 1 floats: -0.5 }"),
       "argument \"weights\" contains -0.5, want at least 0"},
      {sample("arg { name: 'weights' floats: 0 floats: 0 }"),
       "the sum of argument \"weights\" is 0, want above 0"},
      {sample("arg { name: 'table_idx_blob' i: 2 }"),
       "argument \"table_idx_blob\", want an output before the status (got 2, want less than 2)"},
      {"type: 'CreateBlobsQueue' output: 'r' arg { name: 'num_blobs' i: 2 } "
       "arg { name: 'field_names' strings: 'a' strings: 'b' strings: 'c' }",
       "argument \"field_names\" has 3 names, want 2, the value of argument \"num_blobs\""},
      {"type: 'CreateBlobsQueue' output: 'q' arg { name: 'enforce_unique_name' i: 1 }",
       "output 0 (queue) already holds a queue, and argument \"enforce_unique_name\" is set"},
      {"type: 'CreateBlobsQueueDB' input: 'q' output: 'r' arg { name: 'key_blob_index' i: 2 }",
       "arguments key_blob_index 2 and value_blob_index 0, want less than the number of blobs of "
       "a record of the queue, 2"},
      {"type: 'CreateBlobsQueueDB' input: 'q' output: 'r' arg { name: 'key_blob_index' i: 1 } "
       "arg { name: 'value_blob_index' i: 3 }",
       "arguments key_blob_index 1 and value_blob_index 3, want less than the number of blobs of "
       "a record of the queue, 2"}};
  for (const UseRow& row : rows) ExpectRejected(&ws, row.op, row.message);
  ExpectTensor<float>(ws, "x", {1}, {1});
  (void)ws.CreateBlob("q")->GetMutable<BlobsQueueBlob>()->reset();
  ExpectRejected(&ws, "type: 'CloseBlobsQueue' input: 'q'", "input 0 (queue) holds no queue");
}

TEST(QueueRefusalsTest, OfReadersOfAQueueNameWhatIsMissing) {
  Workspace ws;
  CreateQueue(&ws, "q", 2);
  RunHere(&ws,
          "type: 'CreateBlobsQueueDB' input: 'q' output: 'r' "
          "arg { name: 'value_blob_index' i: 1 } arg { name: 'key_blob_index' i: 0 }");
  const auto& reader = ws.GetBlob("r")->Get<db::DBReader>();
  std::string key, value;
  const auto read = [&] { reader.Read(&key, &value); };
  Feed<std::string>(&ws, "x", {1, 1, 1}, {"k"});
  *ws.CreateBlob("y")->GetMutable<std::string>() = "v";
  RunHere(&ws, kPutPair);
  read();
  EXPECT_EQ(key + "=" + value, "k=v");
  for (const int64_t strings : {0, 2}) {
    Feed<std::string>(&ws, "x", {strings}, std::vector<std::string>(static_cast<size_t>(strings)));
    *ws.CreateBlob("y")->GetMutable<std::string>() = "v";
    RunHere(&ws, kPutPair);
    const std::string got = MessageOf(read);
    EXPECT_THAT(got,
                testing::HasSubstr("blob 0 of a record of the queue holds an object of type "));
    EXPECT_THAT(got, testing::EndsWith(", want a std::string, or a tensor of one string"));
    reader.cursor()->Next();  // the record is not read again
  }
  EXPECT_THAT(MessageOf([&] { reader.cursor()->Seek("k"); }),
              testing::EndsWith("a queue does not support seeking"));
  RunHere(&ws, "type: 'CloseBlobsQueue' input: 'q'");
  EXPECT_THAT(MessageOf(read),
              testing::EndsWith("the queue has no more records: it is closed and empty, or no "
                                "record came within 0 seconds"));
}

TEST(BlobsQueueRecordsTest, AreWholeOrNotWritten) {
  BlobsQueue queue({.capacity = 1, .num_blobs = 2});
  Blob shared, second;
  Tensor* const tensor = shared.GetMutableTensor(CPU);
  tensor->Resize(2);
  tensor->mutable_data<float>()[0] = 7;
  const Tensor other = *tensor;
  *second.GetMutable<BlobsQueueBlob>() = std::make_shared<BlobsQueue>(BlobsQueue::Options{});
  const std::string got = MessageOf([&] { queue.Write({&shared, &second}); });
  EXPECT_THAT(got, testing::StartsWith("blob 1 of a record holds an object of type "));
  EXPECT_THAT(got, testing::EndsWith(", want one that can leave its workspace: neither a scope nor "
                                     "a queue can enter a queue"));
  EXPECT_EQ(shared.Get<Tensor>().raw_data(), other.raw_data());
  // The place is still free. Of the two blobs, only the one whose memory is shared is copied.
  Tensor* const own = second.GetMutableTensor(CPU);
  own->Resize(1);
  own->mutable_data<float>()[0] = 8;
  const void* const memory = own->raw_data();
  ASSERT_TRUE(queue.Write({&shared, &second}));
  Blob a, b;
  ASSERT_TRUE(queue.Read({&a, &b}));
  EXPECT_NE(a.Get<Tensor>().raw_data(), other.raw_data());
  EXPECT_EQ(a.Get<Tensor>().data<float>()[0], 7);
  EXPECT_EQ(b.Get<Tensor>().raw_data(), memory);
}

TEST(BlobsQueueRecordsTest, KeepScaleAndZeroPointOfACopy) {
  BlobsQueue queue({.capacity = 1, .num_blobs = 1});
  Blob blob;
  auto* const quantized = blob.GetMutable<Int8TensorCPU>();
  quantized->scale = 0.25f;
  quantized->zero_point = 3;
  quantized->t.Resize(2);
  quantized->t.mutable_data<uint8_t>()[0] = 9;
  quantized->t.mutable_data<uint8_t>()[1] = 11;
  Tensor other = quantized->t;
  ASSERT_TRUE(queue.Write({&blob}));
  other.mutable_data<uint8_t>()[0] = 0;
  ASSERT_TRUE(queue.Read({&blob}));
  const auto& got = blob.Get<Int8TensorCPU>();
  EXPECT_EQ(got.scale, 0.25f);
  EXPECT_EQ(got.zero_point, 3);
  EXPECT_EQ(got.t.data<uint8_t>()[0], 9);
  EXPECT_EQ(got.t.data<uint8_t>()[1], 11);
}

// More records than the capacity, so that places are used again.
TEST(BlobsQueueRecordsTest, KeepTheirOrderInAUsedRing) {
  BlobsQueue queue({.capacity = 3, .num_blobs = 1});
  const auto put = [&](int value) {
    Blob blob;
    *blob.GetMutable<int>() = value;
    return queue.Write({&blob});
  };
  const auto take = [&] {
    Blob blob;
    EXPECT_TRUE(queue.Read({&blob}, 1));
    return blob.Get<int>();
  };
  int in = 0, out = 0;
  for (const int records : {2, 1, 3, 1, 2, 3}) {
    for (int i = 0; i < records; ++i) ASSERT_TRUE(put(in++));
    for (int i = 0; i < records; ++i) EXPECT_EQ(take(), out++);
  }
  queue.Close();
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(put(i));
  EXPECT_FALSE(put(3));
}

std::map<std::string, int64_t> Statistics(const std::string& queue) {
  std::map<std::string, int64_t> found;
  for (const ExportedStatValue& stat : StatRegistry::get().publish()) {
    if (stat.key.starts_with(queue + "/")) found[stat.key.substr(queue.size() + 1)] = stat.value;
  }
  return found;
}

TEST(BlobsQueueStatisticsTest, CountRecordsBytesAndCalls) {
  const std::string name = "queue_refusals_test/counted";
  BlobsQueue queue({.capacity = 1, .num_blobs = 2, .name = name, .field_names = {"x", "words"}});
  Blob x, words;
  const auto put = [&] {
    (void)x.GetMutableTensor(CPU)->Resize(3);
    (void)x.GetMutableTensor(CPU)->mutable_data<float>();
    *words.GetMutable<std::string>() = "no tensor";
    return queue.Write({&x, &words});
  };
  const auto expect = [&](std::map<std::string, int64_t> want) {
    std::map<std::string, int64_t> got = Statistics(name);
    for (const char* time : {"read_time_ns/sum", "write_time_ns/sum"}) {
      EXPECT_GE(got[time], 0);
      got.erase(time);
    }
    EXPECT_EQ(got, want);
  };
  ASSERT_TRUE(put());
  expect({{"queue_balance", 1},
          {"queue_dequeued_records", 0},
          {"queue_dequeued_bytes", 0},
          {"queue_dequeued_bytes/x", 0},
          {"queue_dequeued_bytes/words", 0},
          {"read_time_ns/count", 0},
          {"write_time_ns/count", 1}});
  Blob a, b;
  ASSERT_TRUE(queue.Read({&a, &b}));
  ASSERT_TRUE(put());
  ASSERT_TRUE(queue.Read({&a, &b}));
  expect({{"queue_balance", 0},
          {"queue_dequeued_records", 2},
          {"queue_dequeued_bytes", 24},
          {"queue_dequeued_bytes/x", 24},
          {"queue_dequeued_bytes/words", 0},
          {"read_time_ns/count", 2},
          {"write_time_ns/count", 2}});
  queue.Close();
  EXPECT_FALSE(queue.Read({&a, &b}));  // counts in the balance only
  expect({{"queue_balance", -1},
          {"queue_dequeued_records", 2},
          {"queue_dequeued_bytes", 24},
          {"queue_dequeued_bytes/x", 24},
          {"queue_dequeued_bytes/words", 0},
          {"read_time_ns/count", 2},
          {"write_time_ns/count", 2}});
}

// Blobs behind the last field have no counter of their own; fields without a blob count nothing.
TEST(BlobsQueueStatisticsTest, CountTheBytesOfEachField) {
  const auto bytes = [](const std::string& name, const std::vector<std::string>& fields) {
    BlobsQueue queue({.capacity = 2, .num_blobs = 3, .name = name, .field_names = fields});
    Blob a, b, c;
    for (int64_t n = 1; n <= 2; ++n) {
      a.GetMutableTensor(CPU)->Resize(n);
      (void)a.GetMutableTensor(CPU)->mutable_data<float>();  // 4 and 8 bytes
      b.GetMutableTensor(CPU)->Resize(10 * n);
      (void)b.GetMutableTensor(CPU)->mutable_data<int64_t>();  // 80 and 160
      c.GetMutableTensor(CPU)->Resize(100 * n);
      (void)c.GetMutableTensor(CPU)->mutable_data<uint8_t>();  // 100 and 200
      EXPECT_TRUE(queue.Write({&a, &b, &c}));
      EXPECT_TRUE(queue.Read({&a, &b, &c}));
    }
    std::map<std::string, int64_t> got = Statistics(name);
    std::erase_if(got, [](const auto& row) { return !row.first.starts_with("queue_dequeued_b"); });
    return got;
  };
  using Counts = std::map<std::string, int64_t>;
  const std::string all = "queue_dequeued_bytes";
  EXPECT_EQ(bytes("queue_refusals_test/three", {"a", "b", "c"}),
            (Counts{{all, 552}, {all + "/a", 12}, {all + "/b", 240}, {all + "/c", 300}}));
  EXPECT_EQ(bytes("queue_refusals_test/two", {"a", "b"}),
            (Counts{{all, 552}, {all + "/a", 12}, {all + "/b", 240}}));
  EXPECT_EQ(
      bytes("queue_refusals_test/four", {"a", "b", "c", "d"}),
      (Counts{
          {all, 552}, {all + "/a", 12}, {all + "/b", 240}, {all + "/c", 300}, {all + "/d", 0}}));
  EXPECT_EQ(bytes("queue_refusals_test/none", {}), (Counts{{all, 552}}));
}

TEST(BlobsQueueStatisticsTest, CountUnderTheNameOfTheOutput) {
  Workspace ws;
  RunHere(&ws,
          "type: 'CreateBlobsQueue' output: 'queue_refusals_test_q' arg { name: 'field_names' "
          "strings: 'f' }");
  Feed<int64_t>(&ws, "x", {2}, {1, 2});
  RunHere(&ws, "type: 'EnqueueBlobs' input: 'queue_refusals_test_q' input: 'x' output: 'x'");
  RunHere(&ws, "type: 'DequeueBlobs' input: 'queue_refusals_test_q' output: 'x'");
  std::map<std::string, int64_t> got = Statistics("queue_refusals_test_q");
  EXPECT_EQ(got["queue_dequeued_bytes/f"], 16);
  EXPECT_EQ(got["queue_dequeued_bytes"], 16);
  EXPECT_EQ(got["queue_balance"], 0);
}

TEST(RebatchingQueueValuesTest, AreCopiesOfWhatWasEnqueued) {
  Workspace ws;
  RunHere(&ws, "type: 'CreateRebatchingQueue' output: 'q' arg { name: 'capacity' i: 9 }");
  const std::string put = "type: 'EnqueueRebatchingQueue' input: 'q' input: 'x' ";
  const std::string batch = "arg { name: 'enqueue_batch' i: 1 }";
  Feed<float>(&ws, "x", {2}, {1, 2});
  RunHere(&ws, put + batch);
  Feed<float>(&ws, "x", {0}, {});
  RunHere(&ws, put + batch);  // no rows
  Feed<float>(&ws, "x", {}, {3});
  RunHere(&ws, put);
  *ws.GetBlob("x")->GetMutable<Tensor>()->mutable_data<float>() = 9;
  RunHere(
      &ws,
      "type: 'DequeueRebatchingQueue' input: 'q' output: 'y' arg { name: 'num_elements' i: 3 }");
  ExpectTensor<float>(ws, "y", {3}, {1, 2, 3});
  RunHere(&ws, "type: 'CreateRebatchingQueue' output: 'q'");  // an empty queue replaces the old one
  RunHere(&ws, "type: 'CloseRebatchingQueue' input: 'q'");
  EXPECT_FALSE(ws.RunOperatorOnce(ParseOp(put)));
  for (const auto& [arguments, message] : std::map<std::string, std::string>{
           {"arg { name: 'capacity' i: 0 }", "argument \"capacity\" is 0, want above 0"},
           {"arg { name: 'num_blobs' i: -1 }", "argument \"num_blobs\" is -1, want above 0"}}) {
    ExpectRejected(&ws, "type: 'CreateRebatchingQueue' output: 'q' " + arguments, message);
  }
  ExpectRejected(&ws,
                 "type: 'DequeueRebatchingQueue' input: 'q' output: 'y' "
                 "arg { name: 'num_elements' i: 0 }",
                 "argument \"num_elements\" is 0, want above 0");
}

}  // namespace
}  // namespace caffe2rt::test::queue_refusals_test
