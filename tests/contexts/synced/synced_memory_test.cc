#include "contexts/synced/synced_memory.h"

#include <cstring>
#include <random>
#include <thread>
#include <type_traits>

#include "caffe2rt/caffe2.pb.h"
#include "tests/contexts/synced/published_sequence.h"
#include "tests/contexts/synced/synced_device.h"

namespace caffe2rt::test::synced_memory_test {
namespace {

using Head = SyncedMemory::SyncedHead;
using Copies = CopyCounter::Copies;

static_assert(!std::is_copy_constructible_v<SyncedMemory>);
static_assert(!std::is_copy_assignable_v<SyncedMemory>);
static_assert(SyncedMemory::UNINITIALIZED == 0 && SyncedMemory::HEAD_AT_CPU == 1 &&
              SyncedMemory::HEAD_AT_GPU == 2 && SyncedMemory::SYNCED == 3);

constexpr Copies kToDevice = {1, 0, 0};
constexpr Copies kToCpu = {0, 1, 0};

CountingCounts Counts() { return CountingDevice::Get(0).counts(); }

TEST(SyncedMemoryTest, BeginsUninitializedAndTouchesNothing) {
  const CountingCounts before = Counts();
  SyncedMemory memory(10, BothSides());
  EXPECT_EQ(memory.head(), SyncedMemory::UNINITIALIZED);
  EXPECT_EQ(memory.size(), 10u);
  EXPECT_EQ(memory.cpu_buffer(), nullptr);
  EXPECT_EQ(memory.gpu_buffer(), nullptr);
  EXPECT_EQ(Counts().allocations, before.allocations);
  EXPECT_EQ(SyncedMemory(0, BothSides()).size(), 0u);
  EXPECT_EQ(SyncedMemory().size(), 0u);
}

TEST(SyncedMemoryTest, AllocatesZeros) {
  SyncedMemory cpu(10, BothSides());
  EXPECT_EQ(Bytes(cpu.cpu_data(), 10), std::vector<char>(10, 0));
  EXPECT_EQ(cpu.head(), SyncedMemory::HEAD_AT_CPU);
  SyncedMemory device(3000000, BothSides());  // needs more than one piece of zeros
  EXPECT_EQ(OnDevice(static_cast<const char*>(device.gpu_data()), 3000000),
            std::vector<char>(3000000, 0));
  EXPECT_EQ(device.head(), SyncedMemory::HEAD_AT_GPU);
  EXPECT_EQ(device.cpu_buffer(), nullptr);
}

struct Transition {
  Head from;
  const char* call;
  Copies copies;
  Head to;
};
void PrintTo(const Transition& t, std::ostream* out) { *out << t.call << " in state " << t.from; }

class SyncedMemoryTransitionTest : public testing::TestWithParam<Transition> {};

// Every row of the table in the header except UNINITIALIZED, whose zeros are tested above.
TEST_P(SyncedMemoryTransitionTest, CopiesAndMovesTheHeadAsTheTableStates) {
  const Transition& row = GetParam();
  const auto memory = InState(row.from);
  CopyCounter counter;
  const std::string call = row.call;
  const void* cpu = nullptr;
  const void* gpu = nullptr;
  if (call == "cpu_data") cpu = memory->cpu_data();
  if (call == "mutable_cpu_data") cpu = memory->mutable_cpu_data();
  if (call == "gpu_data") gpu = memory->gpu_data();
  if (call == "mutable_gpu_data") gpu = memory->mutable_gpu_data();
  if (call == "async_gpu_push") memory->async_gpu_push(0);
  EXPECT_EQ(counter.Take(), row.copies);
  EXPECT_EQ(memory->head(), row.to);
  const std::vector<char> want(10, 1);
  if (cpu != nullptr) {
    EXPECT_EQ(Bytes(cpu, 10), want);
  }
  if (gpu != nullptr) {
    EXPECT_EQ(OnDevice(static_cast<const char*>(gpu), 10), want);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, SyncedMemoryTransitionTest,
    testing::Values(
        Transition{SyncedMemory::HEAD_AT_CPU, "cpu_data", kNone, SyncedMemory::HEAD_AT_CPU},
        Transition{SyncedMemory::HEAD_AT_CPU, "mutable_cpu_data", kNone, SyncedMemory::HEAD_AT_CPU},
        Transition{SyncedMemory::HEAD_AT_CPU, "gpu_data", kToDevice, SyncedMemory::SYNCED},
        Transition{SyncedMemory::HEAD_AT_CPU, "mutable_gpu_data", kToDevice,
                   SyncedMemory::HEAD_AT_GPU},
        Transition{SyncedMemory::HEAD_AT_CPU, "async_gpu_push", kToDevice, SyncedMemory::SYNCED},
        Transition{SyncedMemory::HEAD_AT_GPU, "gpu_data", kNone, SyncedMemory::HEAD_AT_GPU},
        Transition{SyncedMemory::HEAD_AT_GPU, "mutable_gpu_data", kNone, SyncedMemory::HEAD_AT_GPU},
        Transition{SyncedMemory::HEAD_AT_GPU, "cpu_data", kToCpu, SyncedMemory::SYNCED},
        Transition{SyncedMemory::HEAD_AT_GPU, "mutable_cpu_data", kToCpu,
                   SyncedMemory::HEAD_AT_CPU},
        Transition{SyncedMemory::SYNCED, "cpu_data", kNone, SyncedMemory::SYNCED},
        Transition{SyncedMemory::SYNCED, "gpu_data", kNone, SyncedMemory::SYNCED},
        Transition{SyncedMemory::SYNCED, "mutable_cpu_data", kNone, SyncedMemory::HEAD_AT_CPU},
        Transition{SyncedMemory::SYNCED, "mutable_gpu_data", kNone, SyncedMemory::HEAD_AT_GPU}));

TEST(SyncedMemoryTest, CopiesFourTimesInThePublishedSequence) {
  ExpectFourCopiesInThePublishedSequence<CopyCounter>(BothSides(), kNone, kToDevice, kToCpu);
}

TEST(SyncedMemoryTest, CarriesWhatEachSideWrites) {
  SyncedMemory memory(10, BothSides());
  std::memset(memory.mutable_cpu_data(), 1, 10);
  EXPECT_EQ(OnDevice(static_cast<const char*>(memory.gpu_data()), 10), std::vector<char>(10, 1));
  WriteOnDevice(static_cast<char*>(memory.mutable_gpu_data()), std::vector<char>(10, 2));
  EXPECT_EQ(Bytes(memory.cpu_data(), 10), std::vector<char>(10, 2));
}

TEST(SyncedMemoryTest, SizeZeroGoesThroughTheStatesWithoutBytes) {
  SyncedMemory memory(0, BothSides());
  CopyCounter counter;
  memory.cpu_data();
  EXPECT_EQ(memory.head(), SyncedMemory::HEAD_AT_CPU);
  memory.gpu_data();
  EXPECT_EQ(memory.head(), SyncedMemory::SYNCED);
  memory.mutable_gpu_data();
  memory.cpu_data();
  memory.mutable_cpu_data();
  memory.async_gpu_push(0);
  EXPECT_EQ(memory.head(), SyncedMemory::SYNCED);
  EXPECT_EQ(counter.Take(), kNone);
  SyncedMemory device(0, BothSides());
  device.mutable_gpu_data();
  EXPECT_EQ(device.head(), SyncedMemory::HEAD_AT_GPU);
}

// --- ownership ---

TEST(SyncedMemoryTest, FreesWhatItAllocated) {
  const CountingCounts before = Counts();
  {
    SyncedMemory memory(1000, BothSides());
    memory.gpu_data();
    EXPECT_EQ(Counts().allocations, before.allocations + 1);
    memory.cpu_data();
    memory.mutable_gpu_data();
    EXPECT_EQ(Counts().allocations, before.allocations + 1);
  }
  EXPECT_EQ(Counts().frees, before.frees + 1);
}

TEST(SyncedMemoryTest, UsesTheCallersCpuBufferWithoutFreeingIt) {
  std::vector<char> mine(10, 7);
  {
    SyncedMemory memory(10, BothSides());
    memory.cpu_data();
    memory.set_cpu_data(mine.data());
    EXPECT_EQ(memory.head(), SyncedMemory::HEAD_AT_CPU);
    EXPECT_EQ(memory.cpu_data(), mine.data());
    EXPECT_EQ(OnDevice(static_cast<const char*>(memory.gpu_data()), 10), mine);
    WriteOnDevice(static_cast<char*>(memory.mutable_gpu_data()), std::vector<char>(10, 8));
    EXPECT_EQ(memory.cpu_data(), mine.data());
  }
  EXPECT_EQ(mine, std::vector<char>(10, 8));
}

TEST(SyncedMemoryTest, UsesTheCallersDeviceBufferWithoutFreeingIt) {
  const DataPtr mine(TheCountingStaticContext()->New(10));
  WriteOnDevice(static_cast<char*>(mine.get()), std::vector<char>(10, 7));
  const CountingCounts before = Counts();
  {
    SyncedMemory memory(10, BothSides());
    memory.gpu_data();  // a buffer of its own, freed by set_gpu_data
    memory.set_gpu_data(mine.get());
    EXPECT_EQ(Counts().frees, before.frees + 1);
    EXPECT_EQ(memory.head(), SyncedMemory::HEAD_AT_GPU);
    EXPECT_EQ(memory.gpu_data(), mine.get());
    EXPECT_EQ(Bytes(memory.cpu_data(), 10), std::vector<char>(10, 7));
    std::memset(memory.mutable_cpu_data(), 9, 10);
    EXPECT_EQ(memory.gpu_data(), mine.get());
  }
  EXPECT_EQ(Counts().frees, before.frees + 1);
  EXPECT_EQ(OnDevice(static_cast<const char*>(mine.get()), 10), std::vector<char>(10, 9));
}

TEST(SyncedMemoryTest, SettingOneSideKeepsTheBufferOfTheOther) {
  SyncedMemory memory(10, BothSides());
  const void* gpu = memory.gpu_data();
  std::vector<char> mine(10, 5);
  memory.set_cpu_data(mine.data());
  const CountingCounts before = Counts();
  EXPECT_EQ(memory.gpu_data(), gpu);
  EXPECT_EQ(Counts().allocations, before.allocations);
  EXPECT_EQ(OnDevice(static_cast<const char*>(gpu), 10), mine);
}

TEST(SyncedMemoryTest, BufferThatWasHandedOutStays) {
  std::shared_ptr<const DataPtr> buffer;
  {
    SyncedMemory memory(10, BothSides());
    std::memset(memory.mutable_cpu_data(), 4, 10);
    buffer = memory.cpu_buffer();
  }
  EXPECT_EQ(Bytes(buffer->get(), 10), std::vector<char>(10, 4));
}

TEST(SyncedMemoryTest, RejectsNull) {
  SyncedMemory memory(10, BothSides());
  ExpectThrows([&] { memory.set_cpu_data(nullptr); }, "set_cpu_data of null");
  ExpectThrows([&] { memory.set_gpu_data(nullptr); }, "set_gpu_data of null");
  EXPECT_EQ(memory.head(), SyncedMemory::UNINITIALIZED);
}

// --- without a device ---

TEST(SyncedMemoryTest, WithoutADeviceTheCpuSideWorksAndTheOtherReportsIt) {
  SyncedMemory memory(10, CpuAlone());
  std::memset(memory.mutable_cpu_data(), 3, 10);
  EXPECT_EQ(Bytes(memory.cpu_data(), 10), std::vector<char>(10, 3));
  char buffer[10];
  ExpectThrows([&] { memory.gpu_data(); }, "no device side");
  ExpectThrows([&] { memory.mutable_gpu_data(); }, "no device side");
  ExpectThrows([&] { memory.set_gpu_data(buffer); }, "no device side");
  ExpectThrows([&] { memory.async_gpu_push(0); }, "no device side");
  EXPECT_EQ(memory.head(), SyncedMemory::HEAD_AT_CPU);
  ExpectThrows([] { SyncedMemory none(10, SyncedContexts{}); }, "no context for the CPU side");
}

// --- failures ---

TEST(SyncedMemoryTest, FailedCopyLeavesTheState) {
  SyncedMemory memory(10, BothSides());
  WriteOnDevice(static_cast<char*>(memory.mutable_gpu_data()), std::vector<char>(10, 6));
  CountingContext().Launch([] { CAFFE_THROW("a kernel failed"); });
  ExpectThrows([&] { memory.cpu_data(); }, "a kernel failed");
  EXPECT_EQ(memory.head(), SyncedMemory::HEAD_AT_GPU);
  EXPECT_EQ(memory.cpu_buffer(), nullptr);
  EXPECT_EQ(Bytes(memory.cpu_data(), 10), std::vector<char>(10, 6));
}

TEST(SyncedMemoryTest, FailedAllocationLeavesTheStateUnchanged) {
  SyncedMemory memory(kCountingMemoryBytes + 1, BothSides());
  EXPECT_THROW(memory.gpu_data(), EnforceNotMet);
  EXPECT_EQ(memory.head(), SyncedMemory::UNINITIALIZED);
  memory.mutable_cpu_data();
  EXPECT_THROW(memory.async_gpu_push(0), EnforceNotMet);
  EXPECT_EQ(memory.head(), SyncedMemory::HEAD_AT_CPU);
}

TEST(SyncedMemoryTest, AThousandFailuresLoseNoDataNoMemoryAndNoDevice) {
  const int64_t in_use = Counts().bytes_in_use;
  std::mt19937 random(1);
  for (int i = 0; i < 1000; ++i) {
    const bool at_cpu = random() % 2 == 0, writes = random() % 2 == 0;
    const auto memory = InState(at_cpu ? SyncedMemory::HEAD_AT_CPU : SyncedMemory::HEAD_AT_GPU);
    const auto other_side = [&]() -> const void* {
      if (at_cpu) return writes ? memory->mutable_gpu_data() : memory->gpu_data();
      return writes ? memory->mutable_cpu_data() : memory->cpu_data();
    };
    CountingContext().Launch([] { CAFFE_THROW("injected"); });
    ExpectThrows([&] { other_side(); }, "injected");
    ASSERT_EQ(memory->head(), at_cpu ? SyncedMemory::HEAD_AT_CPU : SyncedMemory::HEAD_AT_GPU);
    const void* data = other_side();
    const auto seen = at_cpu ? OnDevice(static_cast<const char*>(data), 10) : Bytes(data, 10);
    ASSERT_EQ(seen, std::vector<char>(10, 1));
  }
  EXPECT_EQ(Counts().bytes_in_use, in_use);
  EXPECT_EQ(CountingDevice::Current(), 0);
}

}  // namespace
}  // namespace caffe2rt::test::synced_memory_test
