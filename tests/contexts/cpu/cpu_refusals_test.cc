// Errors of CPU contexts, events and memory, whole.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "caffe2_core/base/byte_size.h"
#include "caffe2_core/device/event.h"
#include "caffe2rt/caffe2.pb.h"
#include "contexts/cpu/cpu_allocator.h"
#include "contexts/cpu/cpu_context.h"
#include "tests/support/refusals.h"

namespace caffe2rt::cpu_refusals_test {
namespace {

using test::ExpectRefusals;
using test::MessageOf;

TEST(CPURefusalsTest, OfContexts) {
  DeviceOption cuda;
  cuda.set_device_type(CUDA);
  CPUContext context;
  char byte = 5;
  ExpectRefusals({
      {[&] { CPUContext other(cuda); },
       "device type of a CPUContext's device option: got 1, want 0"},
      {[&] { context.CopyBytesSameDevice(2048, nullptr, &byte); }, "copy of 2 KiB from or to null"},
      {[&] { context.CopyBytesSameDevice(1, &byte, nullptr); }, "copy of 1 byte from or to null"},
  });
  context.CopyBytesSameDevice(0, nullptr, nullptr);
  EXPECT_EQ(byte, 5);
}

// A rejected call leaves the event as it was.
TEST(CPURefusalsTest, OfEvents) {
  Event event{DeviceOption()};
  CPUContext context;
  context.Record(&event);
  const std::string twice = "an event is recorded twice: call Reset in between";
  ExpectRefusals({{[&] { context.Record(&event); }, twice},
                  {[&] { context.Record(&event, "an error"); }, twice}});
  EXPECT_EQ(event.Query(), EventStatus::EVENT_SCHEDULED);
  EXPECT_EQ(event.ErrorMessage(), "No error");
  event.SetFinished("the first");
  ExpectRefusals(
      {{[&] { event.SetFinished(); }, "an event is finished twice: call Reset in between"},
       {[&] { event.SetFinished("the second"); },
        "an event is finished twice: call Reset in between"},
       {[&] { context.Record(&event); }, twice}});
  EXPECT_EQ(event.Query(), EventStatus::EVENT_FAILED);
  EXPECT_EQ(event.ErrorMessage(), "the first");
  event.Reset();
  context.Record(&event);
  EXPECT_EQ(event.Query(), EventStatus::EVENT_SCHEDULED);
}

TEST(CPURefusalsTest, OfAllocators) {
  MemoryAllocationReporter reporter;
  int known = 0, unknown = 0;
  reporter.New(&known, 100);
  ExpectRefusals({
      {[] { SetCPUAllocator(nullptr); }, "the CPU allocator cannot be null"},
      {[&] { reporter.Delete(&unknown); },
       MakeString("release of memory that was never reported: ", static_cast<void*>(&unknown))},
  });
  EXPECT_EQ(reporter.allocated(), 100u);
}

#ifndef CAFFE2RT_SANITIZED  // sanitizers end the process at such sizes
// The system has no 4 EiB; the limit, the memory in use and the peak are three different numbers.
TEST(CPURefusalsTest, OfMemoryThatTheSystemLacks) {
  const CPUMemoryOptions before = GlobalCPUMemoryOptions();
  { const DataPtr peak(NewCPUMemory(3 << 20)); }
  const DataPtr held(NewCPUMemory(1 << 20));
  GlobalCPUMemoryOptions().limit_bytes = size_t{7} << 40;
  const CPUMemoryUsage usage = GetCPUMemoryUsage();
  const std::string message = MessageOf([] { (void)DefaultCPUAllocator().New(size_t{1} << 62); });
  GlobalCPUMemoryOptions() = before;
  EXPECT_GE(usage.peak_bytes, usage.in_use_bytes + (2 << 20));
  EXPECT_EQ(message, "out of CPU memory: the system could not allocate 4 EiB, in use " +
                         ByteSizeText(usage.in_use_bytes) + ", limit 7 TiB, peak " +
                         ByteSizeText(usage.peak_bytes));
}
#endif

}  // namespace
}  // namespace caffe2rt::cpu_refusals_test
