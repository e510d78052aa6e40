// SyncedMemory: async_gpu_push, and the check of the current device.
#include <cstring>
#include <functional>
#include <future>
#include <string>
#include <thread>
#include <utility>

#include "caffe2_core/base/logging.h"
#include "caffe2rt/caffe2.pb.h"
#include "contexts/synced/synced_memory.h"
#include "tests/contexts/synced/synced_device.h"

namespace caffe2rt::test::synced_push_test {
namespace {

using Head = SyncedMemory::SyncedHead;

// --- async_gpu_push ---

class AsyncPushTest : public testing::Test {
 protected:
  AsyncPushTest() : memory_(std::make_unique<SyncedMemory>(10, BothSides())) {
    std::memset(memory_->mutable_cpu_data(), 1, 10);
    stream_.SwitchToDevice(9);
  }
  std::unique_ptr<SyncedMemory> memory_;
  CountingContext stream_;
};

TEST_F(AsyncPushTest, ReturnsBeforeTheCopyAndCallsItSynced) {
  const auto release = Hold(stream_);
  memory_->async_gpu_push(9);
  EXPECT_EQ(memory_->head(), SyncedMemory::SYNCED);
  EXPECT_FALSE(stream_.stream().IsFree());
  CopyCounter counter;
  const char* device = static_cast<const char*>(memory_->gpu_data());
  EXPECT_EQ(counter.Take(), kNone);
  release();
  stream_.FinishDeviceComputation();
  EXPECT_EQ(OnDevice(device, 10), std::vector<char>(10, 1));
}

TEST_F(AsyncPushTest, WorkOnTheSameStreamSeesTheCopy) {
  memory_->async_gpu_push(stream_);
  const char* device = static_cast<const char*>(memory_->gpu_data());
  std::vector<char> seen(10);
  stream_.CopyBytesToCPU(10, device, seen.data());
  stream_.FinishDeviceComputation();
  EXPECT_EQ(seen, std::vector<char>(10, 1));
}

// A context whose copies to the device wait until Open is called.
class SlowLink final : public CountingContext {
 public:
  ~SlowLink() override { Open(); }
  void CopyBytesFromCPU(size_t nbytes, const void* src, void* dst) override {
    stream().Then([this](const std::string&) {
      reached_.set_value();
      opened_.get_future().wait();
    });
    CountingContext::CopyBytesFromCPU(nbytes, src, dst);
  }
  void Record(Event* event, const char* error) const override {
    CountingContext::Record(event, error);
    recorded_ = event;
  }
  // Returns when the copy is the next operation of the stream.
  void AwaitCopy() { reached_.get_future().wait(); }
  void Open() {
    if (!std::exchange(is_open_, true)) opened_.set_value();
    FinishDeviceComputation();
  }
  const Event* recorded() const { return recorded_; }

 private:
  std::promise<void> reached_, opened_;
  bool is_open_ = false;
  mutable const Event* recorded_ = nullptr;
};

TEST_F(AsyncPushTest, ItsEventIsBehindTheCopy) {
  SlowLink link;
  link.SwitchToDevice(9);
  memory_->async_gpu_push(link);
  link.AwaitCopy();
  ASSERT_NE(link.recorded(), nullptr);
  EXPECT_EQ(link.recorded()->Query(), EventStatus::EVENT_SCHEDULED);
  link.Open();
  EXPECT_EQ(link.recorded()->Query(), EventStatus::EVENT_SUCCESS);
  EXPECT_EQ(OnDevice(static_cast<const char*>(memory_->gpu_data()), 10), std::vector<char>(10, 1));
}

// Calls that write or free memory that the copy reads or writes.
TEST_F(AsyncPushTest, CallsThatDisturbTheCopyWaitForIt) {
  std::vector<char> mine(10, 9);
  const DataPtr theirs(TheCountingStaticContext()->New(10));
  const std::function<void()> calls[] = {[&] { memory_->mutable_cpu_data(); },
                                         [&] { memory_->set_cpu_data(mine.data()); },
                                         [&] { memory_->set_gpu_data(theirs.get()); },
                                         [&] {
                                           memory_->mutable_gpu_data();
                                           memory_->cpu_data();
                                         }};
  for (const auto& call : calls) {
    SlowLink link;
    link.SwitchToDevice(9);
    memory_->mutable_cpu_data();
    memory_->async_gpu_push(link);
    link.AwaitCopy();
    std::thread opener([&] {
      for (int i = 0; i < 1000; ++i) std::this_thread::yield();  // gives the call time to return
      link.Open();
    });
    call();
    EXPECT_EQ(link.recorded()->Query(), EventStatus::EVENT_SUCCESS);
    opener.join();
  }
}

TEST_F(AsyncPushTest, NamesTheStreamOfAnotherDeviceAsAUserOfItsMemory) {
  DeviceOption option;
  option.set_device_type(kCounting);
  option.set_device_id(1);
  CountingContext far(option);
  const int64_t uses = CountingDevice::Get(0).counts().uses;
  memory_->async_gpu_push(far);
  far.FinishDeviceComputation();
  EXPECT_EQ(CountingDevice::Of(memory_->gpu_data()), 0);
  EXPECT_EQ(CountingDevice::Get(0).counts().uses, uses + 1);
  EXPECT_EQ(OnDevice(static_cast<const char*>(memory_->gpu_data()), 10), std::vector<char>(10, 1));
}

TEST_F(AsyncPushTest, WaitsForWhatItsNewMemoryWasUsedForBefore) {
  CountingContext current;  // memory is allocated for its stream
  current.SwitchToDevice(0);
  const auto release = Hold(current);
  memory_->async_gpu_push(stream_);
  const int64_t pushed = stream_.stream().enqueued();
  EXPECT_FALSE(stream_.stream().IsPast(pushed));
  release();
  stream_.FinishDeviceComputation();
  std::memset(memory_->mutable_cpu_data(), 2, 10);
  const auto again = Hold(current);
  // The memory is not new, so the caller is responsible for waiting.
  memory_->async_gpu_push(stream_);
  stream_.FinishDeviceComputation();
  again();
  EXPECT_EQ(OnDevice(static_cast<const char*>(memory_->gpu_data()), 10), std::vector<char>(10, 2));
}

TEST_F(AsyncPushTest, FailureLeavesTheState) {
  class Broken final : public CountingContext {
   public:
    void CopyBytesFromCPU(size_t, const void*, void*) override { CAFFE_THROW("no link"); }
  } broken;
  ExpectThrows([&] { memory_->async_gpu_push(broken); }, "no link");
  EXPECT_EQ(memory_->head(), SyncedMemory::HEAD_AT_CPU);
  EXPECT_EQ(memory_->gpu_buffer(), nullptr);
  memory_->async_gpu_push(stream_);
  stream_.FinishDeviceComputation();
  EXPECT_EQ(OnDevice(static_cast<const char*>(memory_->gpu_data()), 10), std::vector<char>(10, 1));
}

TEST_F(AsyncPushTest, RejectsEveryStateButHeadAtCpu) {
  for (const Head head :
       {SyncedMemory::UNINITIALIZED, SyncedMemory::HEAD_AT_GPU, SyncedMemory::SYNCED}) {
    const auto memory = InState(head);
    ExpectThrows([&] { memory->async_gpu_push(0); }, "want HEAD_AT_CPU");
    EXPECT_EQ(memory->head(), head);
  }
}

TEST_F(AsyncPushTest, RejectsTheContextOfAnotherDevice) {
  const auto cpu = GetStaticContext(CPU)->CreateContext();
  ExpectThrows([&] { memory_->async_gpu_push(*cpu); }, "on a context of CPU, want one of COUNTING");
}

TEST_F(AsyncPushTest, WriterOfTheCpuSideWaitsForTheCopy) {
  const auto release = Hold(stream_);
  memory_->async_gpu_push(9);
  std::thread releaser(release);
  std::memset(memory_->mutable_cpu_data(), 2, 10);  // the copy does not read these bytes
  EXPECT_EQ(memory_->head(), SyncedMemory::HEAD_AT_CPU);
  EXPECT_EQ(OnDevice(static_cast<const char*>(memory_->gpu_buffer()->get()), 10),
            std::vector<char>(10, 1));
  releaser.join();
  memory_->async_gpu_push(9);  // the event is reused
  stream_.FinishDeviceComputation();
  EXPECT_EQ(OnDevice(static_cast<const char*>(memory_->gpu_data()), 10), std::vector<char>(10, 2));
}

TEST_F(AsyncPushTest, DestructorWaitsForTheCopy) {
  const auto release = Hold(stream_);
  memory_->async_gpu_push(9);
  std::thread releaser(release);
  memory_.reset();
  EXPECT_TRUE(stream_.stream().IsPast(2));  // at least the gate and the copy
  releaser.join();
}

TEST_F(AsyncPushTest, FailedCopyIsReportedToTheNextWriterWithTheHeadBackAtTheCpu) {
  stream_.Launch([] { CAFFE_THROW("the link is down"); });
  memory_->async_gpu_push(9);
  ExpectThrows([&] { memory_->mutable_cpu_data(); }, "async_gpu_push failed: the link is down");
  EXPECT_EQ(memory_->head(), SyncedMemory::HEAD_AT_CPU);
  EXPECT_THROW(stream_.FinishDeviceComputation(), EnforceNotMet);
  EXPECT_EQ(OnDevice(static_cast<const char*>(memory_->gpu_data()), 10), std::vector<char>(10, 1));
}

// The call that finds the failure changes nothing else, and the next one works.
TEST_F(AsyncPushTest, FailedCopyLeavesTheBuffersOfTheCallThatFindsIt) {
  std::vector<char> mine(10, 9);
  const DataPtr theirs(TheCountingStaticContext()->New(10));
  const void* const cpu = memory_->cpu_data();
  for (const bool device : {false, true}) {
    memory_->mutable_cpu_data();
    stream_.Launch([] { CAFFE_THROW("the link is down"); });
    memory_->async_gpu_push(9);
    const auto set = [&] {
      if (device) {
        memory_->set_gpu_data(theirs.get());
      } else {
        memory_->set_cpu_data(mine.data());
      }
    };
    ExpectThrows(set, "async_gpu_push failed: the link is down");
    EXPECT_THROW(stream_.FinishDeviceComputation(), EnforceNotMet);
    EXPECT_EQ(memory_->head(), SyncedMemory::HEAD_AT_CPU);
    EXPECT_EQ(memory_->cpu_data(), device ? mine.data() : cpu);
    EXPECT_NE(memory_->gpu_data(), theirs.get());
    set();
    EXPECT_EQ(memory_->head(), device ? SyncedMemory::HEAD_AT_GPU : SyncedMemory::HEAD_AT_CPU);
    if (device) {
      EXPECT_EQ(memory_->gpu_data(), theirs.get());
    } else {
      EXPECT_EQ(memory_->cpu_data(), mine.data());
    }
  }
}

TEST_F(AsyncPushTest, FailedCopyDoesNotLeaveTheDestructor) {
  std::vector<std::string> texts;
  SetLogSink([&](const LogEntry& entry) {
    texts.push_back(MakeString(entry.severity, " ", std::string(entry.text)));
  });
  stream_.Launch([] { CAFFE_THROW("the link is down"); });
  memory_->async_gpu_push(9);
  memory_.reset();
  SetLogSink(nullptr);
  EXPECT_THAT(texts, testing::ElementsAre(testing::AllOf(
                         testing::StartsWith("2 destructor of synced memory: "),
                         testing::HasSubstr("async_gpu_push failed: the link is down"))));
  EXPECT_THROW(stream_.FinishDeviceComputation(), EnforceNotMet);
}

// --- the device check ---

class DeviceCheckTest : public testing::Test {
 protected:
  DeviceCheckTest() : before_(GlobalSyncedOptions()) { GlobalSyncedOptions().check_device = true; }
  ~DeviceCheckTest() override {
    CountingDevice::SetCurrent(0);
    GlobalSyncedOptions() = before_;
  }
  const SyncedOptions before_;
};

TEST_F(DeviceCheckTest, RemembersTheCurrentDevice) {
  EXPECT_EQ(SyncedMemory(1, BothSides()).device_id(), 0);
  CountingDevice::SetCurrent(1);
  EXPECT_EQ(SyncedMemory(1, BothSides()).device_id(), 1);
  EXPECT_EQ(SyncedMemory(1, CpuAlone()).device_id(), -1);
}

TEST_F(DeviceCheckTest, RejectsCallsWhileAnotherDeviceIsCurrent) {
  SyncedMemory memory(10, BothSides());
  memory.mutable_gpu_data();
  CountingDevice::SetCurrent(1);
  char buffer[10] = {};
  for (const std::function<void()>& call : std::vector<std::function<void()>>{
           [&] { memory.cpu_data(); }, [&] { memory.gpu_data(); },
           [&] { memory.mutable_cpu_data(); }, [&] { memory.mutable_gpu_data(); },
           [&] { memory.set_cpu_data(buffer); }, [&] { memory.set_gpu_data(buffer); }}) {
    ExpectThrows(call, "current device");
  }
  EXPECT_EQ(memory.head(), SyncedMemory::HEAD_AT_GPU);
  CountingDevice::SetCurrent(0);
  memory.cpu_data();
}

TEST_F(DeviceCheckTest, RejectsOwnedMemoryOnAnotherDevice) {
  GlobalSyncedOptions().check_device = false;
  SyncedMemory memory(10, BothSides());
  CountingDevice::SetCurrent(1);
  memory.gpu_data();
  CountingDevice::SetCurrent(0);
  GlobalSyncedOptions().check_device = true;
  ExpectThrows([&] { memory.gpu_data(); }, "device of the memory that synced memory owns");
  GlobalSyncedOptions().check_device = false;  // or the destructor would fail
}

// Memory that the caller passed to set_gpu_data may be on any device.
TEST_F(DeviceCheckTest, LeavesTheCallersMemoryAlone) {
  for (const bool owned_before : {false, true}) {
    const DataPtr foreign(CountingDevice::Get(1).New(10));
    WriteOnDevice(static_cast<char*>(foreign.get()), std::vector<char>(10, 7));
    SyncedMemory memory(10, BothSides());
    if (owned_before) memory.gpu_data();
    memory.set_gpu_data(foreign.get());
    EXPECT_EQ(memory.gpu_data(), foreign.get());
    EXPECT_EQ(memory.mutable_gpu_data(), foreign.get());
    EXPECT_EQ(Bytes(memory.cpu_data(), 10), std::vector<char>(10, 7));
    std::memset(memory.mutable_cpu_data(), 8, 10);
    EXPECT_EQ(memory.gpu_data(), foreign.get());  // the data was copied there
    EXPECT_EQ(OnDevice(static_cast<const char*>(memory.gpu_data()), 10), std::vector<char>(10, 8));
    memory.mutable_cpu_data();
    memory.async_gpu_push(0);
    EXPECT_EQ(memory.gpu_data(), foreign.get());
    memory.mutable_cpu_data();
    std::vector<char> mine(10, 9);
    memory.set_cpu_data(mine.data());
    EXPECT_EQ(memory.gpu_data(), foreign.get());
    EXPECT_EQ(OnDevice(static_cast<const char*>(memory.gpu_data()), 10), mine);
  }
}

TEST_F(DeviceCheckTest, JudgesOwnMemoryAfterEveryWayToGetIt) {
  enum class Way { kRead, kPush, kNone };
  for (const Way first : {Way::kRead, Way::kPush}) {
    for (const Way second : {Way::kRead, Way::kPush, Way::kNone}) {
      GlobalSyncedOptions().check_device = false;
      SyncedMemory memory(10, BothSides());
      CountingDevice::SetCurrent(1);
      for (const Way way : {first, second}) {
        if (way == Way::kNone) continue;
        memory.mutable_cpu_data();
        if (way == Way::kPush) {
          memory.async_gpu_push(0);
        } else {
          memory.gpu_data();
        }
      }
      CountingDevice::SetCurrent(0);
      GlobalSyncedOptions().check_device = true;
      ExpectThrows([&] { memory.gpu_data(); }, "device of the memory that synced memory owns");
      GlobalSyncedOptions().check_device = false;  // or the destructor would fail
    }
  }
}

TEST_F(DeviceCheckTest, IsOffOnRequest) {
  GlobalSyncedOptions().check_device = false;
  SyncedMemory memory(10, BothSides());
  memory.mutable_gpu_data();
  CountingDevice::SetCurrent(1);
  memory.gpu_data();
}

TEST_F(DeviceCheckTest, LeavesTheCpuAloneInPeace) {
  SyncedMemory memory(10, CpuAlone());
  CountingDevice::SetCurrent(1);
  memory.cpu_data();
}

}  // namespace
}  // namespace caffe2rt::test::synced_push_test
