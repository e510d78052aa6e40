// Reading ahead, by the operator TensorProtosDBInput.
#include "operators/io/batch_ahead.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>

#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/runtime/waiting.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/io/tensor_protos_db_input.h"
#include "tests/caffe2_core/io/records.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/no_new_threads.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"
#include "tests/support/wait_for.h"

namespace caffe2rt::test::batch_ahead_test {
namespace {

using db::DBReader;
using ::testing::ElementsAre;

std::string Record(int i) {
  TensorProtos record;
  TensorProto* const x = record.add_protos();
  x->set_data_type(TensorProto::INT32);
  x->add_int32_data(i);
  return record.SerializeAsString();
}

Records RecordsUpTo(int count) {
  Records records;
  for (int i = 0; i < count; ++i) records[MakeString("key", i)] = Record(i);
  return records;
}

const char* const kInput =
    "type: 'TensorProtosDBInput' input: 'reader' output: 'x' arg { name: 'batch_size' i: 2 } ";

// A database of six records in memory that counts what is read, and can block.
struct Gate {
  Mutex mutex;
  ConditionVariable changed;
  int reads ABSL_GUARDED_BY(mutex) = 0;
  int allowed ABSL_GUARDED_BY(mutex) = INT_MAX;  // further reads wait
  bool can_return = true;
  std::atomic<int> lost_offset = -1;  // the record whose offset is a failure

  void Reset(bool returns) {
    const MutexLock lock(mutex);
    reads = 0;
    allowed = INT_MAX;
    can_return = returns;
    lost_offset = -1;
  }
  void Pass() {
    const MutexLock lock(mutex);
    while (reads >= allowed) changed.Wait(mutex);
    ++reads;
    changed.NotifyAll();
  }
  void Allow(int count) {
    const MutexLock lock(mutex);
    allowed = count;
    changed.NotifyAll();
  }
  int Reads() {
    const MutexLock lock(mutex);
    return reads;
  }
  void AwaitReads(int count) {
    const MutexLock lock(mutex);
    while (reads < count) changed.Wait(mutex);
  }
};
Gate& TheGate() {
  static Gate gate;
  return gate;
}

class GatedCursor final : public db::Cursor {
 public:
  void Seek(const std::string&) override { CAFFE_THROW("no seek"); }
  bool SupportsOffsets() override { return TheGate().can_return; }
  int64_t Offset() override {
    if (at_ == TheGate().lost_offset) throw std::runtime_error("the offset is lost");
    return at_;
  }
  void SeekToOffset(int64_t offset) override { at_ = offset; }
  void SeekToFirst() override { at_ = 0; }
  void Next() override { ++at_; }
  bool Valid() override { return at_ < 6; }
  std::string key() override { return std::to_string(at_); }
  std::string value() override {
    TheGate().Pass();
    return Record(static_cast<int>(at_));
  }

 private:
  int64_t at_ = 0;
};
class GatedDB final : public db::DB {
 public:
  using DB::DB;
  void Close() override {}
  std::unique_ptr<db::Cursor> NewCursor() override { return std::make_unique<GatedCursor>(); }
  std::unique_ptr<db::Transaction> NewTransaction() override { return nullptr; }
};
REGISTER_CAFFE2_DB(gated, GatedDB);

class BatchAheadTest : public testing::Test {
 protected:
  std::unique_ptr<OperatorBase> Create(const std::string& more = "") {
    return CreateOperator(ParseOp(kInput + more), &ws_);
  }
  DBReader* Open(const std::string& type, const Records& records,
                 const db::DBReaderOptions& options = {}) {
    const std::string path = dir_.path(MakeString("db", databases_++));
    Put(type, path, db::NEW, records);
    auto* const reader = ws_.CreateBlob("reader")->GetMutable<DBReader>();
    reader->Open(type, path, options);
    return reader;
  }
  DBReader* OpenGated(bool can_return) {
    TheGate().Reset(can_return);
    auto* const reader = ws_.CreateBlob("reader")->GetMutable<DBReader>();
    reader->Open("gated", "x");
    return reader;
  }
  std::vector<int> Run(OperatorBase* op) {
    EXPECT_TRUE(op->Run());
    return Fetch<int32_t>(ws_, "x");
  }
  const TempDir dir_;
  int databases_ = 0;
  Workspace ws_;
};

TEST_F(BatchAheadTest, BeginsInTheSecondRunAndStaysOneBatchAhead) {
  const DBReader* const reader = OpenGated(true);
  const auto op = Create();
  EXPECT_THAT(Run(op.get()), ElementsAre(0, 1));
  EXPECT_EQ(TheGate().Reads(), 2);
  EXPECT_THAT(Run(op.get()), ElementsAre(2, 3));
  TheGate().AwaitReads(6);
  EXPECT_EQ(reader->position().record, 4);
  EXPECT_THAT(Run(op.get()), ElementsAre(4, 5));
  TheGate().AwaitReads(8);
  EXPECT_EQ(reader->position().epoch, 1);
  EXPECT_EQ(TheGate().Reads(), 8);
}

TEST_F(BatchAheadTest, ReadsNothingAheadIfItMayNotOrCannot) {
  for (const bool can_return : {true, false}) {
    const DBReader* const reader = OpenGated(can_return);
    const auto op = Create(can_return ? "arg { name: 'no_prefetch' i: 1 }" : "");
    for (int i = 0; i < 4; ++i) Run(op.get());
    EXPECT_EQ(reader->position().record, 2);
    EXPECT_EQ(TheGate().Reads(), 8);
  }
}

// The run that waits ends, and its batch comes in the next run.
TEST_F(BatchAheadTest, AStoppedRunLosesNoBatch) {
  OpenGated(true);
  const auto op = Create();
  TheGate().Allow(5);
  Run(op.get());
  Run(op.get());
  const std::atomic<bool> stopped = true;
  {
    const StopScope scope(stopped);
    EXPECT_THROW(op->Run(), RunStopped);
  }
  TheGate().Allow(INT_MAX);
  EXPECT_THAT(Run(op.get()), ElementsAre(4, 5));
  EXPECT_THAT(Run(op.get()), ElementsAre(0, 1));
}

TEST_F(BatchAheadTest, GivesWhatRunsThatReadGive) {
  for (const char* const type : {"minidb", "leveldb", "lmdb"}) {
    for (const bool shuffle : {false, true}) {
      std::vector<int> batches[2];
      for (const int no_prefetch : {0, 1}) {
        const DBReader* const reader =
            Open(type, RecordsUpTo(7), {.shuffle = shuffle, .shuffle_seed = 3});
        const auto op = Create(MakeString("arg { name: 'no_prefetch' i: ", no_prefetch, " }"));
        for (int run = 1; run <= 20; ++run) {
          for (const int x : Run(op.get())) batches[no_prefetch].push_back(x);
          EXPECT_EQ(reader->position().epoch * 7 + reader->position().record, 2 * run);
        }
      }
      EXPECT_EQ(batches[0], batches[1]) << type << shuffle;
    }
  }
}

TEST_F(BatchAheadTest, ASavedReaderContinuesBehindTheLastRun) {
  for (const char* const type : {"minidb", "leveldb", "lmdb"}) {
    for (const bool shuffle : {false, true}) {
      Open(type, RecordsUpTo(7), {.shuffle = shuffle, .shuffle_seed = 3});
      const auto op = Create();
      std::string saved;
      std::vector<int> want;
      for (int run = 0; run < 16; ++run) {
        if (run == 9) saved = SerializeBlob(*ws_.GetBlob("reader"), "reader");
        for (const int x : Run(op.get())) {
          if (run >= 9) want.push_back(x);
        }
      }
      // Into the same operator, and into a new one.
      for (const bool anew : {false, true}) {
        DeserializeBlob(saved, ws_.GetBlob("reader"));
        const auto fresh = Create();
        std::vector<int> got;
        for (int run = 9; run < 16; ++run) {
          for (const int x : Run(anew ? fresh.get() : op.get())) got.push_back(x);
        }
        EXPECT_EQ(got, want) << type << shuffle << anew;
      }
    }
  }
}

TEST_F(BatchAheadTest, OperatorsShareAReaderInTheOrderOfTheNet) {
  Open("lmdb", RecordsUpTo(9));
  const auto first = Create(), second = Create();
  // The first one reads ahead when the second one begins.
  EXPECT_THAT(Run(first.get()), ElementsAre(0, 1));
  EXPECT_THAT(Run(first.get()), ElementsAre(2, 3));
  EXPECT_THAT(Run(second.get()), ElementsAre(4, 5));
  EXPECT_THAT(Run(first.get()), ElementsAre(6, 7));
  EXPECT_THAT(Run(second.get()), ElementsAre(8, 0));
  EXPECT_THAT(Run(second.get()), ElementsAre(1, 2));
  EXPECT_THAT(Run(second.get()), ElementsAre(3, 4));
  EXPECT_THAT(Run(first.get()), ElementsAre(5, 6));
}

TEST_F(BatchAheadTest, PutsItsBatchBackWhenItEnds) {
  Open("minidb", RecordsUpTo(9));
  for (int i = 0; i < 2; ++i) {
    const auto op = Create();
    for (int run = 0; run < 3; ++run) {
      const int first = 6 * i + 2 * run;
      EXPECT_THAT(Run(op.get()), ElementsAre(first % 9, (first + 1) % 9));
    }
  }
}

TEST_F(BatchAheadTest, FollowsAReaderThatIsOpenedAgainReplacedOrMoved) {
  const auto records = RecordsUpTo(9);
  DBReader* reader = Open("minidb", records);
  const auto op = Create();
  for (int i = 0; i < 3; ++i) Run(op.get());
  reader->SeekToFirst();
  EXPECT_THAT(Run(op.get()), ElementsAre(0, 1));
  for (int i = 0; i < 3; ++i) Run(op.get());
  Open("minidb", records);
  EXPECT_THAT(Run(op.get()), ElementsAre(0, 1));
  for (int i = 0; i < 3; ++i) Run(op.get());
  ws_.GetBlob("reader")->Reset();
  ExpectThrows([&] { op->Run(); }, "reader");
  Open("leveldb", records);
  EXPECT_THAT(Run(op.get()), ElementsAre(0, 1));
}

TEST_F(BatchAheadTest, TheBatchOfADamagedRecordFailsAndTheNextFollows) {
  for (const char* const type : {"minidb", "leveldb", "lmdb"}) {
    Records records = RecordsUpTo(9);
    records["key6"] = "\xff damaged";
    const DBReader* const reader = Open(type, records);
    const auto op = Create();
    for (int run = 0; run < 3; ++run) {
      EXPECT_THAT(Run(op.get()), ElementsAre(2 * run, 2 * run + 1));
    }
    ExpectThrows([&] { op->Run(); }, "record key6");
    EXPECT_EQ(reader->position().record, 7);
    EXPECT_THAT(Run(op.get()), ElementsAre(7, 8));
  }
}

// The place behind a batch belongs to the batch: the run that takes it has the error, and the records behind
// it come next.
TEST_F(BatchAheadTest, ThrowsWhatFailsBehindTheRecordsOfABatch) {
  OpenGated(true);
  const auto op = Create();
  TheGate().lost_offset = 0;  // behind the third batch, where the epoch ends
  EXPECT_THAT(Run(op.get()), ElementsAre(0, 1));
  EXPECT_THAT(Run(op.get()), ElementsAre(2, 3));
  EXPECT_EQ(MessageOf([&] { op->Run(); }), "(another type of exception) the offset is lost");
  TheGate().lost_offset = -1;
  EXPECT_THAT(Run(op.get()), ElementsAre(0, 1));
  EXPECT_THAT(Run(op.get()), ElementsAre(2, 3));
}

// A system that allows no more threads costs time only.
TEST_F(BatchAheadTest, ReadsInItsRunsIfNoThreadCanStart) {
  const DBReader* const reader = OpenGated(true);
  const auto op = Create();
  const NoNewThreads none;
  for (int run = 0; run < 5; ++run) {
    const int first = 2 * run % 6;
    EXPECT_THAT(Run(op.get()), ElementsAre(first, first + 1));
    EXPECT_EQ(reader->position().record + 6 * reader->position().epoch, 2 * run + 2);
    EXPECT_EQ(TheGate().Reads(), 2 * run + 2);
  }
}

TEST_F(BatchAheadTest, LeavesDamagedRecordsOut) {
  Records records = RecordsUpTo(9);
  for (const char* const key : {"key0", "key5", "key6"}) records[key] = "\xff damaged";
  TensorProtos other;
  other.add_protos()->set_data_type(TensorProto::FLOAT);  // and no number
  records["key2"] = other.SerializeAsString();
  Open("lmdb", records);
  const auto op = Create("arg { name: 'on_error' s: 'skip' }");
  EXPECT_THAT(Run(op.get()), ElementsAre(1, 3));
  EXPECT_THAT(Run(op.get()), ElementsAre(4, 7));
  EXPECT_THAT(Run(op.get()), ElementsAre(8, 1));
  EXPECT_GE(dynamic_cast<TensorProtosDBInputOp<CPUContext>&>(*op).skipped(), 5);
  Open("lmdb", {{"a", "\xff"}});
  ExpectThrows([&] { op->Run(); }, "record a");
}

TEST_F(BatchAheadTest, AWarmRunAllocatesNothing) {
  if (!AllocationCounter::kCounts) GTEST_SKIP() << "allocations are not counted";
  Open("minidb", RecordsUpTo(9));
  const auto op = Create();
  for (int i = 0; i < 12; ++i) Run(op.get());
  for (int i = 0; i < 12; ++i) {
    const AllocationCounter counter;
    ASSERT_TRUE(op->Run());
    EXPECT_EQ(counter.Counts().allocations, 0) << i;
  }
}

}  // namespace
}  // namespace caffe2rt::test::batch_ahead_test
