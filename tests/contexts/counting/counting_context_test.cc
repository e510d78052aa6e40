// The counting device: the shared suite first, then its own behaviour.
#include "tests/contexts/counting/counting_context.h"

#include <unistd.h>

#include <cerrno>

#include "tests/contexts/counting/gate.h"
#include "tests/support/context_suite.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::counting_context_test {
namespace {

const ContextSuiteDevice kDevice = {
    .type = kCounting,
    .alignment = 256,
    .events_finish_alone = true,
    .hold = [](BaseContext& context) { return Hold(static_cast<CountingContext&>(context)); }};
INSTANTIATE_TEST_SUITE_P(Counting, ContextSuite, testing::Values(kDevice));
INSTANTIATE_TEST_SUITE_P(Counting, AsyncContextSuite, testing::Values(kDevice));

DeviceOption Device(int id) {
  DeviceOption option;
  option.set_device_type(kCounting);
  option.set_device_id(id);
  return option;
}

// Returns whether the CPU may read the memory. The operating system reports this without a signal.
bool IsReadable(const void* data) {
  int ends[2];
  CAFFE_ENFORCE_EQ(pipe(ends), 0, "making a pipe");
  const ssize_t written = write(ends[1], data, 1);
  const bool fault = written < 0 && errno == EFAULT;
  close(ends[0]);
  close(ends[1]);
  return !fault;
}

TEST(CountingContextTest, CpuCannotReadDeviceMemory) {
  CountingContext context;
  const DataPtr memory(TheCountingStaticContext()->New(64));
  context.FinishDeviceComputation();
  const char here = 1;
  EXPECT_TRUE(IsReadable(&here));
  EXPECT_FALSE(IsReadable(memory.get()));
  bool inside = false;
  context.Launch([&] { inside = IsReadable(memory.get()); });
  context.FinishDeviceComputation();
  EXPECT_TRUE(inside);
  EXPECT_FALSE(IsReadable(memory.get()));
}

TEST(CountingContextTest, EventsHaveNoCallbacks) {
  Event event(Device(0));
  EXPECT_FALSE(event.SupportsCallback());
  ExpectThrows([&] { event.SetCallback([] {}); }, "events of COUNTING have no callbacks");
}

TEST(CountingContextTest, MemoryThatAnotherDeviceUsesIsNotGivenOutAgain) {
  CountingContext there(Device(1));
  CountingDevice::SetCurrent(0);
  const size_t nbytes = (40u << 20) + 1;  // two blocks of this size do not fit
  const auto memory = TheCountingStaticContext()->New(nbytes);
  TheCountingStaticContext()->RecordUse(memory.second, there);
  const auto release = Hold(there);
  memory.second(memory.first);
  EXPECT_THROW(TheCountingStaticContext()->New(nbytes), EnforceNotMet);
  release();
  there.FinishDeviceComputation();
  const DataPtr again(TheCountingStaticContext()->New(nbytes));
  EXPECT_EQ(again.get(), memory.first);
}

TEST(CountingContextDeathTest, HostCodeThatTouchesDeviceMemoryDies) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        const DataPtr memory(TheCountingStaticContext()->New(64));
        static_cast<volatile char*>(memory.get())[0] = 1;
      },
      "");
}

TEST(CountingContextTest, NewMemoryHoldsJunk) {
  CountingContext context;
  const DataPtr memory(TheCountingStaticContext()->New(1));
  unsigned char byte = 0;
  context.CopyBytesToCPU(1, memory.get(), &byte);
  context.FinishDeviceComputation();
  EXPECT_EQ(byte, 0xCC);
}

TEST(CountingContextTest, CountsWhatItDoes) {
  CountingContext context(Device(0));
  const CountingCounts before = context.device().counts();
  {
    const DataPtr memory(context.device().New(300));
    EXPECT_EQ(context.device().counts().bytes_in_use, before.bytes_in_use + 512);
    char host[300] = {};
    context.CopyBytesFromCPU(300, host, memory.get());
    context.CopyBytesSameDevice(100, memory.get(), static_cast<char*>(memory.get()) + 150);
    context.CopyBytesToCPU(300, memory.get(), host);
    context.FinishDeviceComputation();
  }
  const CountingCounts after = context.device().counts();
  EXPECT_EQ(after.allocations, before.allocations + 1);
  EXPECT_EQ(after.frees, before.frees + 1);
  EXPECT_EQ(after.bytes_in_use, before.bytes_in_use);
  EXPECT_EQ(after.copies_from_cpu, before.copies_from_cpu + 1);
  EXPECT_EQ(after.copies_same_device, before.copies_same_device + 1);
  EXPECT_EQ(after.copies_to_cpu, before.copies_to_cpu + 1);
  EXPECT_EQ(after.operations, before.operations + 3);
  EXPECT_EQ(after.waits, before.waits + 1);
}

TEST(CountingContextTest, MemoryFreedUnderWorkIsKeptUntilTheWorkIsOver) {
  CountingContext context(Device(0));
  CountingDevice& device = context.device();
  context.FinishDeviceComputation();
  char source = 1;
  const auto release = Hold(context);
  void* first = nullptr;
  {
    const DataPtr memory(device.New(4096));
    first = memory.get();
    context.CopyBytesFromCPU(1, &source, first);
  }
  const DataPtr second(device.New(4096));
  EXPECT_NE(second.get(), first);
  release();
  context.FinishDeviceComputation();
  const DataPtr third(device.New(4096));
  EXPECT_EQ(third.get(), first);
}

TEST(CountingContextTest, ErrorOfAKernelComesOutOfFinishOnceAndOfEvents) {
  CountingContext context(Device(0));
  Event before(Device(0)), after(Device(0));
  bool ran = false;
  context.Record(&before);
  context.Launch([] { CAFFE_THROW("the kernel divides by ", 0); });
  context.Launch([&] { ran = true; });
  context.Record(&after);
  EXPECT_THROW(
      {
        try {
          context.FinishDeviceComputation();
        } catch (const EnforceNotMet& error) {
          EXPECT_NE(error.message().find("the kernel divides by 0"), std::string::npos);
          throw;
        }
      },
      EnforceNotMet);
  EXPECT_FALSE(ran);
  EXPECT_EQ(before.Query(), EventStatus::EVENT_SUCCESS);
  EXPECT_EQ(after.Query(), EventStatus::EVENT_FAILED);
  EXPECT_EQ(after.ErrorMessage(), "the kernel divides by 0");
  context.FinishDeviceComputation();  // reported only once
  context.Launch([&] { ran = true; });
  context.FinishDeviceComputation();
  EXPECT_TRUE(ran);
}

TEST(CountingContextTest, ErrorGoesOnToTheStreamThatWaitsForIt) {
  CountingContext source(Device(0)), waiter(Device(1));
  source.SwitchToDevice(3);
  waiter.SwitchToDevice(4);
  source.Launch([] { CAFFE_THROW("broken upstream"); });
  Event event(Device(0));
  source.Record(&event);
  waiter.WaitEvent(event);
  bool ran = false;
  waiter.Launch([&] { ran = true; });
  EXPECT_THROW(waiter.FinishDeviceComputation(), EnforceNotMet);
  EXPECT_FALSE(ran);
  EXPECT_THROW(source.FinishDeviceComputation(), EnforceNotMet);
  CountingDevice::SetCurrent(0);
}

TEST(CountingContextTest, WaitKeepsToTheRecordItSaw) {
  CountingContext first(Device(0)), second(Device(0));
  second.SwitchToDevice(2);
  Event event(Device(0));
  const auto release = Hold(first);
  first.Record(&event);
  second.WaitEvent(event);
  event.Reset();  // the wait keeps the first record
  Event waited(Device(0));
  second.Record(&waited);
  EXPECT_EQ(waited.Query(), EventStatus::EVENT_SCHEDULED);
  release();
  second.FinishDeviceComputation();
  EXPECT_EQ(waited.Query(), EventStatus::EVENT_SUCCESS);
  EXPECT_EQ(event.Query(), EventStatus::EVENT_INITIALIZED);
}

TEST(CountingContextTest, WaitForAnEventBlocksUntilItIsRecorded) {
  CountingContext context(Device(0));
  Event event(Device(0));
  int value = 0;
  std::thread recorder([&] {
    value = 1;
    CountingContext other(Device(0));
    other.SwitchToDevice(5);
    other.Record(&event);
  });
  event.Finish();
  EXPECT_EQ(value, 1);
  recorder.join();
  context.WaitEvent(event);
  context.FinishDeviceComputation();
}

TEST(CountingContextTest, CopiesBetweenItsTwoDevices) {
  CountingContext zero(Device(0)), one(Device(1));
  const DataPtr there(one.device().New(4)), here(zero.device().New(4));
  char host[] = "ab\n", back[] = "???";
  one.CopyBytesFromCPU(4, host, there.get());
  one.FinishDeviceComputation();
  zero.CopyBytesSameDevice(4, there.get(), here.get());
  zero.CopyBytesToCPU(4, here.get(), back);
  zero.FinishDeviceComputation();
  EXPECT_STREQ(back, "ab\n");
  DeviceOption found;
  TheCountingStaticContext()->ExtractDeviceOption(&found, there.get());
  EXPECT_EQ(found.device_id(), 1);
  TheCountingStaticContext()->ExtractDeviceOption(&found, here.get());
  EXPECT_EQ(found.device_id(), 0);
}

TEST(CountingContextTest, AllocatesOnTheCurrentDevice) {
  CountingContext one(Device(1));
  one.SwitchToDevice();
  const DataPtr memory(TheCountingStaticContext()->New(1));
  EXPECT_EQ(CountingDevice::Of(memory.get()), 1);
  EXPECT_EQ(CountingContext().device().id(), 1);
  CountingContext(Device(0)).SwitchToDevice();
  EXPECT_EQ(CountingContext().device().id(), 0);
}

TEST(CountingContextTest, RejectsAMissingDevice) {
  ExpectThrows([] { CountingContext context(Device(2)); }, "counting device 2");
}

TEST(CountingContextTest, KnowsWhetherAStreamIsFree) {
  CountingContext context(Device(0));
  context.SwitchToDevice(6);
  EXPECT_TRUE(CountingContext::IsStreamFree(Device(0), 6));
  const auto release = Hold(context);
  EXPECT_FALSE(CountingContext::IsStreamFree(Device(0), 6));
  release();
  context.FinishDeviceComputation();
  EXPECT_TRUE(CountingContext::IsStreamFree(Device(0), 6));
}

}  // namespace
}  // namespace caffe2rt::test::counting_context_test
