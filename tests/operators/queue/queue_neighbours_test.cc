// Records of several blobs that share memory, rows of one size and several shapes, and readers of
// queues at their bounds.
#include <gtest/gtest.h>

#include "caffe2_core/io/db.h"
#include "operators/queue/blobs_queue.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"

namespace caffe2rt::test::queue_neighbours_test {
namespace {

Blob BlobOfFloats(const std::vector<float>& values) {
  Blob blob;
  Tensor* const tensor = blob.GetMutableTensor(CPU);
  tensor->Resize(static_cast<int64_t>(values.size()));
  for (size_t i = 0; i < values.size(); ++i) tensor->mutable_data<float>()[i] = values[i];
  return blob;
}
std::vector<float> FloatsIn(const Blob& blob) {
  const Tensor& tensor = blob.Get<Tensor>();
  return {tensor.data<float>(), tensor.data<float>() + tensor.numel()};
}

// Of four blobs, three share their memory; the other one moves.
TEST(QueueNeighboursTest, EachSharedBlobOfARecordIsCopied) {
  BlobsQueue queue({.capacity = 1, .num_blobs = 4});
  Blob in[4] = {BlobOfFloats({1, 2}), BlobOfFloats({3}), BlobOfFloats({4, 5, 6}),
                BlobOfFloats({7})};
  Tensor others[3] = {in[0].Get<Tensor>(), in[2].Get<Tensor>(), in[3].Get<Tensor>()};
  const void* const moved = in[1].Get<Tensor>().raw_data();
  ASSERT_TRUE(queue.Write({&in[0], &in[1], &in[2], &in[3]}));
  for (const Blob& blob : in) EXPECT_TRUE(blob.IsEmpty());
  for (Tensor& other : others) {
    EXPECT_EQ(other.storage().use_count(), 1);
    other.mutable_data<float>()[0] = 99;
  }
  Blob out[4];
  ASSERT_TRUE(queue.Read({&out[0], &out[1], &out[2], &out[3]}));
  EXPECT_EQ(FloatsIn(out[0]), (std::vector<float>{1, 2}));
  EXPECT_EQ(FloatsIn(out[1]), (std::vector<float>{3}));
  EXPECT_EQ(FloatsIn(out[2]), (std::vector<float>{4, 5, 6}));
  EXPECT_EQ(FloatsIn(out[3]), (std::vector<float>{7}));
  EXPECT_EQ(out[1].Get<Tensor>().raw_data(), moved);
}

// A blob that may not enter leaves the others where they are, also those that would be copied.
TEST(QueueNeighboursTest, ARejectedRecordStaysWithItsWriter) {
  const auto inner = std::make_shared<BlobsQueue>(BlobsQueue::Options{.capacity = 1});
  BlobsQueue queue({.capacity = 1, .num_blobs = 3});
  Blob in[3] = {BlobOfFloats({1}), BlobOfFloats({2}), Blob()};
  const Tensor other = in[0].Get<Tensor>();
  *in[2].GetMutable<BlobsQueueBlob>() = inner;
  const std::string got = MessageOf([&] { queue.Write({&in[0], &in[1], &in[2]}); });
  EXPECT_TRUE(got.starts_with("blob 2 of a record holds an object of type ")) << got;
  EXPECT_EQ(in[0].Get<Tensor>().raw_data(), other.raw_data());
  EXPECT_EQ(FloatsIn(in[1]), (std::vector<float>{2}));
  in[2] = BlobOfFloats({3});
  ASSERT_TRUE(queue.Write({&in[0], &in[1], &in[2]}));  // the queue is still empty
  Blob out[3];
  ASSERT_TRUE(queue.Read({&out[0], &out[1], &out[2]}));
  EXPECT_EQ(FloatsIn(out[2]), (std::vector<float>{3}));
}

class RowNeighboursTest : public testing::Test {
 protected:
  RowNeighboursTest() {
    Run("type: 'CreateRebatchingQueue' output: 'q' arg { name: 'num_blobs' i: 2 } "
        "arg { name: 'capacity' i: 9 }");
  }
  void Run(const std::string& op) { ASSERT_TRUE(ws_.RunOperatorOnce(ParseOp(op))); }
  void Put(bool batch) {
    Run(
        MakeString("type: 'EnqueueRebatchingQueue' input: 'q' input: 'x' input: 'y' "
                   "arg { name: 'enqueue_batch' i: ",
                   batch ? 1 : 0, " }"));
  }
  static std::string Take(int rows) {
    return MakeString("type: 'DequeueRebatchingQueue' input: 'q' output: 'a' output: 'b' ",
                      "arg { name: 'num_elements' i: ", rows, " }");
  }
  Workspace ws_;
};

TEST_F(RowNeighboursTest, RowsAreCopiesOfAllTensors) {
  for (const bool batch : {false, true}) {
    Feed<float>(&ws_, "x", {1, 2}, {1, 2});
    Feed<int64_t>(&ws_, "y", {1, 1}, {3});
    Put(batch);
    // In the same memory.
    Feed<float>(&ws_, "x", {1, 2}, {7, 8});
    Feed<int64_t>(&ws_, "y", {1, 1}, {9});
    Run(Take(1));
    ExpectTensor<float>(ws_, "a",
                        batch ? std::vector<int64_t>{1, 2} : std::vector<int64_t>{1, 1, 2}, {1, 2});
    ExpectTensor<int64_t>(ws_, "b",
                          batch ? std::vector<int64_t>{1, 1} : std::vector<int64_t>{1, 1, 1}, {3});
  }
}

// As many elements do not make the same shape, and as many bytes not the same type.
TEST_F(RowNeighboursTest, RowsOfOneSizeAndSeveralShapesAreNotStacked) {
  const auto put = [&](const std::vector<int64_t>& dims) {
    Feed<float>(&ws_, "x", dims, {1, 2, 3, 4, 5, 6});
    Feed<float>(&ws_, "y", {1}, {1});
    Put(false);
  };
  const auto error = [&](int rows) {
    return MessageOf([&] { (void)ws_.RunOperatorOnce(ParseOp(Take(rows))); });
  };
  put({2, 3});
  put({3, 2});
  std::string got = error(2);
  EXPECT_TRUE(
      got.ends_with("tensor 0 of a row is float [3, 2], want float [2, 3], as in the row before"))
      << got;
  put({6});
  put({6, 1});
  got = error(2);
  EXPECT_TRUE(
      got.ends_with("tensor 0 of a row is float [6, 1], want float [6], as in the row before"))
      << got;
  put({6});
  Feed<int32_t>(&ws_, "x", {6}, {1, 2, 3, 4, 5, 6});
  Put(false);
  got = error(2);
  EXPECT_TRUE(got.ends_with("tensor 0 of a row is int32 [6], want float [6], as in the row before"))
      << got;
  put({6});
  put({6});
  Run(Take(2));
  EXPECT_EQ(DimsOf(ws_, "a"), (std::vector<int64_t>{2, 6}));
}

// Values are strings, or tensors of one string; keys come from any blob, also the first one.
TEST(QueueReaderNeighboursTest, KeysAndValuesAreBlobsOfTheRecord) {
  Workspace ws;
  const auto run = [&](const std::string& op) { ASSERT_TRUE(ws.RunOperatorOnce(ParseOp(op))); };
  run("type: 'CreateBlobsQueue' output: 'q' arg { name: 'capacity' i: 9 } "
      "arg { name: 'num_blobs' i: 3 }");
  for (int key = -2; key < 3; ++key) {
    for (int value = 0; value < 3; ++value) {
      Feed<std::string>(&ws, "x", {1}, {"0"});
      *ws.CreateBlob("y")->GetMutable<std::string>() = "1";
      Feed<std::string>(&ws, "z", {1, 1}, {"2"});
      run("type: 'EnqueueBlobs' input: 'q' input: 'x' input: 'y' input: 'z' output: 'x' "
          "output: 'y' output: 'z'");
      run(
          MakeString("type: 'CreateBlobsQueueDB' input: 'q' output: 'r' arg { name: "
                     "'key_blob_index' i: ",
                     key, " } arg { name: 'value_blob_index' i: ", value, " }"));
      std::string got_key = "old", got_value;
      ws.GetBlob("r")->Get<db::DBReader>().Read(&got_key, &got_value);
      EXPECT_EQ(got_key, key < 0 ? "" : MakeString(key));
      EXPECT_EQ(got_value, MakeString(value));
    }
  }
  // One string in a tensor, not two and none.
  for (const size_t strings : {0u, 2u}) {
    Feed<std::string>(&ws, "x", {static_cast<int64_t>(strings)},
                      std::vector<std::string>(strings, "s"));
    *ws.CreateBlob("y")->GetMutable<std::string>() = "1";
    Feed<std::string>(&ws, "z", {1}, {"2"});
    run("type: 'EnqueueBlobs' input: 'q' input: 'x' input: 'y' input: 'z' output: 'x' output: 'y' "
        "output: 'z'");
    run("type: 'CreateBlobsQueueDB' input: 'q' output: 'r'");
    std::string key, value;
    const std::string got =
        MessageOf([&] { ws.GetBlob("r")->Get<db::DBReader>().Read(&key, &value); });
    EXPECT_TRUE(got.starts_with("blob 0 of a record of the queue holds an object of type ")) << got;
    EXPECT_TRUE(got.ends_with(", want a std::string, or a tensor of one string")) << got;
  }
}

}  // namespace
}  // namespace caffe2rt::test::queue_neighbours_test
