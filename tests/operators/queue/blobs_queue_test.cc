#include "operators/queue/blobs_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <thread>

#include "caffe2_core/runtime/waiting.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::blobs_queue_test {
namespace {

Blob Holding(int value) {
  Blob blob;
  *blob.GetMutable<int>() = value;
  return blob;
}

TEST(BlobsQueueTest, HandsOnRecordsInOrder) {
  BlobsQueue queue({.capacity = 3, .num_blobs = 2});
  for (int i = 0; i < 3; ++i) {
    Blob a = Holding(i), b = Holding(10 * i);
    EXPECT_TRUE(queue.Write({&a, &b}));
    EXPECT_TRUE(a.IsEmpty());
  }
  for (int i = 0; i < 3; ++i) {
    Blob a, b;
    EXPECT_TRUE(queue.Read({&a, &b}));
    EXPECT_EQ(a.Get<int>(), i);
    EXPECT_EQ(b.Get<int>(), 10 * i);
  }
}

TEST(BlobsQueueTest, GivesWritersWhatReadersHeldBefore) {
  BlobsQueue queue({.capacity = 1, .num_blobs = 1});
  Blob written = Holding(1), read = Holding(2);
  queue.Write({&written});
  queue.Read({&read});
  EXPECT_EQ(read.Get<int>(), 1);
  written = Holding(3);
  queue.Write({&written});
  EXPECT_EQ(written.Get<int>(), 2);
}

// Regression: the tensor in the queue shared its memory with one outside, so that two threads wrote
// it at the same time.
TEST(BlobsQueueTest, CopiesMemoryThatOthersShare) {
  BlobsQueue queue({.capacity = 4, .num_blobs = 1});
  Blob written, read;
  Tensor* const tensor = written.GetMutableTensor(CPU);
  tensor->Resize(2);
  tensor->mutable_data<float>()[0] = 1;
  tensor->mutable_data<float>()[1] = 2;
  Tensor other = *tensor;
  const void* const memory = other.raw_data();
  EXPECT_TRUE(queue.Write({&written}));
  EXPECT_TRUE(written.IsEmpty());
  other.mutable_data<float>()[0] = 9;
  EXPECT_TRUE(queue.Read({&read}));
  EXPECT_NE(read.Get<Tensor>().raw_data(), memory);
  EXPECT_EQ(read.Get<Tensor>().data<float>()[0], 1);
  EXPECT_EQ(read.Get<Tensor>().data<float>()[1], 2);
  // Memory that nobody else uses moves.
  const void* const own = read.Get<Tensor>().raw_data();
  EXPECT_TRUE(queue.Write({&read}));
  EXPECT_TRUE(queue.Read({&written}));
  EXPECT_EQ(written.Get<Tensor>().raw_data(), own);
}

TEST(BlobsQueueTest, CopiesMemoryThatItDoesNotOwn) {
  BlobsQueue queue({.capacity = 1, .num_blobs = 1});
  float external[2] = {1, 2};
  Blob blob;
  Tensor* const tensor = blob.GetMutableTensor(CPU);
  tensor->Resize(2);
  tensor->ShareExternalPointer(external);
  EXPECT_TRUE(queue.Write({&blob}));
  external[0] = 9;
  EXPECT_TRUE(queue.Read({&blob}));
  EXPECT_EQ(blob.Get<Tensor>().data<float>()[0], 1);
}

TEST(BlobsQueueTest, DoesNotGiveBackMemoryThatOthersShare) {
  BlobsQueue queue({.capacity = 1, .num_blobs = 1});
  Blob written, read;
  for (Blob* blob : {&written, &read}) {
    blob->GetMutableTensor(CPU)->Resize(2);
    (void)blob->GetMutableTensor(CPU)->mutable_data<float>();
  }
  const Tensor other = read.Get<Tensor>();
  EXPECT_TRUE(queue.Write({&written}));
  EXPECT_TRUE(queue.Read({&read}));
  EXPECT_TRUE(queue.Write({&read}));
  EXPECT_TRUE(read.IsEmpty());
  EXPECT_EQ(other.storage().use_count(), 1);
}

TEST(BlobsQueueTest, RejectsQueues) {
  const auto queue = std::make_shared<BlobsQueue>(BlobsQueue::Options{.capacity = 1});
  Blob blob;
  *blob.GetMutable<BlobsQueueBlob>() = queue;
  ExpectThrows([&] { queue->Write({&blob}); }, "blob 0 of a record holds an object of type");
  // A reader that replaces a queue does not put it into the other one.
  Blob number = Holding(1);
  EXPECT_TRUE(queue->Write({&number}));
  EXPECT_TRUE(queue->Read({&blob}));
  EXPECT_EQ(queue.use_count(), 1);
}

TEST(BlobsQueueTest, IsReadToTheEndAfterItWasClosed) {
  BlobsQueue queue({.capacity = 2, .num_blobs = 1});
  Blob blob = Holding(1);
  queue.Write({&blob});
  queue.Close();
  EXPECT_TRUE(queue.Write({&blob}));  // there is still room
  EXPECT_FALSE(queue.Write({&blob}));
  EXPECT_TRUE(queue.Read({&blob}));
  EXPECT_TRUE(queue.Read({&blob}));
  EXPECT_FALSE(queue.Read({&blob}));
}

TEST(BlobsQueueTest, WakesThoseThatWaitWhenItIsClosed) {
  BlobsQueue empty({.capacity = 1, .num_blobs = 1}), full({.capacity = 0, .num_blobs = 1});
  std::thread reader([&] {
    Blob blob;
    EXPECT_FALSE(empty.Read({&blob}));
  });
  std::thread writer([&] {
    Blob blob;
    EXPECT_FALSE(full.Write({&blob}));
  });
  empty.Close();
  full.Close();
  reader.join();
  writer.join();
}

TEST(BlobsQueueTest, GivesUpReadingAfterATimeout) {
  BlobsQueue queue({.capacity = 1, .num_blobs = 1});
  Blob blob;
  EXPECT_FALSE(queue.Read({&blob}, 0.001f));
  blob = Holding(1);
  queue.Write({&blob});
  EXPECT_TRUE(queue.Read({&blob}, std::numeric_limits<float>::infinity()));
  queue.Write({&blob});
  EXPECT_TRUE(queue.Read({&blob}, -1));
}

TEST(BlobsQueueTest, ThrowsIfTheRunIsStoppedWhileItWaits) {
  BlobsQueue queue({.capacity = 1, .num_blobs = 1});
  std::atomic<bool> stopped{false};
  std::thread reader([&] {
    const StopScope scope([&] { return stopped.load(); });
    Blob blob;
    EXPECT_THROW(queue.Read({&blob}), RunStopped);
  });
  stopped = true;
  reader.join();
}

TEST(BlobsQueueTest, RejectsRecordsOfAnotherSize) {
  BlobsQueue queue({.capacity = 1, .num_blobs = 2});
  Blob blob;
  EXPECT_THROW(queue.Write({&blob}), EnforceNotMet);
  EXPECT_THROW(queue.Read({&blob}), EnforceNotMet);
}

TEST(BlobsQueueTest, LosesNothingBetweenManyThreads) {
  constexpr int kThreads = 3, kRecords = 200;
  BlobsQueue queue({.capacity = 4, .num_blobs = 1});
  std::vector<std::thread> writers, readers;
  std::atomic<int> sum{0}, count{0};
  for (int t = 0; t < kThreads; ++t) {
    writers.emplace_back([&] {
      for (int i = 1; i <= kRecords; ++i) {
        Blob blob = Holding(i);
        EXPECT_TRUE(queue.Write({&blob}));
      }
    });
    readers.emplace_back([&] {
      Blob blob;
      while (queue.Read({&blob})) {
        sum += blob.Get<int>();
        ++count;
      }
    });
  }
  for (std::thread& thread : writers) thread.join();
  queue.Close();
  for (std::thread& thread : readers) thread.join();
  EXPECT_EQ(count, kThreads * kRecords);
  EXPECT_EQ(sum, kThreads * kRecords * (kRecords + 1) / 2);
}

}  // namespace
}  // namespace caffe2rt::test::blobs_queue_test
