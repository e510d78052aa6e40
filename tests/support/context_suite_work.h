#pragma once
// The tests of context_suite.h for streams and events. Include context_suite.h instead.

#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/context_suite_fixture.h"

namespace caffe2rt::test {

// --- streams ---

TEST_P(ContextSuite, RunsAStreamInOrder) {
  std::vector<int> values(200);
  std::iota(values.begin(), values.end(), 0);
  const DataPtr cell = New(sizeof(int));
  std::vector<int> seen(values.size(), -1);
  for (size_t i = 0; i < values.size(); ++i) {
    context_->CopyFromCPU(1, &values[i], static_cast<int*>(cell.get()));
    context_->CopyToCPU(1, static_cast<int*>(cell.get()), &seen[i]);
  }
  context_->FinishDeviceComputation();
  EXPECT_EQ(seen, values);
}

TEST_P(ContextSuite, SwitchesBetweenStreams) {
  for (const int stream : {0, 1, 5, 0}) {
    context_->SwitchToDevice(stream);
    EXPECT_EQ(BytesOf(NewWith("stream"), 6), "stream");
  }
}

TEST_P(ContextSuite, FinishesWithNothingToDo) {
  context_->FinishDeviceComputation();
  context_->FinishDeviceComputation();
}

TEST_P(AsyncContextSuite, FinishWaitsForHeldWork) {
  const std::string source = "after";
  const DataPtr memory = New(5);
  const auto release = GetParam().hold(*context_);
  context_->CopyBytesFromCPU(5, source.data(), memory.get());
  Event event(option_);
  context_->Record(&event);
  EXPECT_EQ(event.Query(), EventStatus::EVENT_SCHEDULED);  // the host did not wait
  std::thread releaser(release);
  context_->FinishDeviceComputation();
  EXPECT_EQ(event.Query(), EventStatus::EVENT_SUCCESS);
  releaser.join();
  EXPECT_EQ(BytesOf(memory, 5), "after");
}

TEST_P(ContextSuite, CopiesOfSeveralThreadsDoNotMix) {
  std::vector<std::thread> threads;
  std::vector<std::string> seen(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([this, t, &seen] {
      const auto context = statics_->CreateContext(option_);
      context->SwitchToDevice(t);
      const std::string source = Pattern(1000, t);
      std::string back(1000, '?');
      for (int i = 0; i < 20; ++i) {
        const DataPtr memory = New(1000);
        context->CopyBytesFromCPU(1000, source.data(), memory.get());
        context->CopyBytesToCPU(1000, memory.get(), back.data());
        context->FinishDeviceComputation();
      }
      seen[static_cast<size_t>(t)] = back;
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int t = 0; t < 4; ++t) EXPECT_EQ(seen[static_cast<size_t>(t)], Pattern(1000, t));
}

// --- events ---

TEST_P(ContextSuite, EventGoesFromInitializedOverScheduledToSuccess) {
  Event event(option_);
  EXPECT_EQ(event.GetType(), GetParam().type);
  EXPECT_EQ(event.Query(), EventStatus::EVENT_INITIALIZED);
  EXPECT_FALSE(Event::CanSchedule(event, GetParam().type, true));
  context_->Record(&event);
  EXPECT_NE(event.Query(), EventStatus::EVENT_INITIALIZED);
  EXPECT_NE(event.Query(), EventStatus::EVENT_FAILED);
  Complete(&event);
  event.Finish();
  EXPECT_EQ(event.Query(), EventStatus::EVENT_SUCCESS);
  EXPECT_TRUE(event.IsFinished());
  EXPECT_TRUE(Event::CanSchedule(event, HIP, false));
  event.Reset();
  EXPECT_EQ(event.Query(), EventStatus::EVENT_INITIALIZED);
  context_->Record(&event);
  Complete(&event);
  event.Finish();
  EXPECT_EQ(event.Query(), EventStatus::EVENT_SUCCESS);
}

TEST_P(ContextSuite, EventCarriesTheTextOfAnError) {
  Event recorded(option_);
  context_->Record(&recorded, "the kernel failed");
  EXPECT_EQ(recorded.Query(), EventStatus::EVENT_FAILED);
  EXPECT_EQ(recorded.ErrorMessage(), "the kernel failed");
  recorded.Finish();  // does not hang
  EXPECT_FALSE(Event::CanSchedule(recorded, GetParam().type, true));
  recorded.Reset();
  EXPECT_EQ(recorded.Query(), EventStatus::EVENT_INITIALIZED);
  recorded.SetFinished("it was never started");
  EXPECT_EQ(recorded.Query(), EventStatus::EVENT_FAILED);
  EXPECT_EQ(recorded.ErrorMessage(), "it was never started");
}

TEST_P(ContextSuite, EventIsRecordedOnceUntilItIsReset) {
  Event event(option_);
  context_->Record(&event);
  EXPECT_THROW(context_->Record(&event), EnforceNotMet);
  Complete(&event);
  event.Finish();
  EXPECT_THROW(event.SetFinished(), EnforceNotMet);
  event.Reset();
  event.SetFinished();
  EXPECT_EQ(event.Query(), EventStatus::EVENT_SUCCESS);
}

TEST_P(ContextSuite, EventRejectsTheContextOfAnotherDevice) {
  Event event(option_);
  EXPECT_THROW(event.Record(GetParam().type == HIP ? FPGA : HIP, context_.get()), EnforceNotMet);
}

TEST_P(ContextSuite, CpuWaitsForTheDevice) {
  const DataPtr memory = NewWith("from the device");
  std::string host(15, '?');
  context_->CopyBytesToCPU(15, memory.get(), host.data());
  Event event(option_);
  context_->Record(&event);
  Complete(&event);
  cpu_->WaitEvent(event);
  EXPECT_EQ(host, "from the device");
  EXPECT_EQ(event.Query(), EventStatus::EVENT_SUCCESS);
}

TEST_P(ContextSuite, DeviceWaitsForTheCpu) {
  const DataPtr memory = New(3);
  std::string host = "old";
  Event event(cpu_option_);
  cpu_->Record(&event);
  std::thread writer([&] {
    host = "new";
    event.SetFinished();
  });
  context_->WaitEvent(event);
  context_->CopyBytesFromCPU(3, host.data(), memory.get());
  EXPECT_EQ(BytesOf(memory, 3), "new");
  writer.join();
}

TEST_P(ContextSuite, CpuWaitsForTheCpu) {
  int value = 0;
  Event event(cpu_option_);
  std::thread writer([&] {
    value = 1;
    event.SetFinished();
  });
  cpu_->WaitEvent(event);
  EXPECT_EQ(value, 1);
  writer.join();
}

TEST_P(AsyncContextSuite, StreamWaitsForAnotherStream) {
  const std::string source = "over there";
  const DataPtr memory = New(10), copy = NewWith(std::string(10, '?'));
  const auto other = statics_->CreateContext(option_);
  // Copies make what they need, such as staging memory, before a stream is held: a device may make
  // memory only while it is idle.
  other->SwitchToDevice(7);
  other->CopyBytesFromCPU(10, source.data(), memory.get());
  other->CopyBytesSameDevice(10, copy.get(), memory.get());
  other->FinishDeviceComputation();
  const auto release = GetParam().hold(*other);
  other->CopyBytesFromCPU(10, source.data(), memory.get());
  Event event(option_);
  other->Record(&event);
  context_->SwitchToDevice(0);
  context_->WaitEvent(event);
  context_->CopyBytesSameDevice(10, memory.get(), copy.get());
  Event read(option_);
  context_->Record(&read);
  EXPECT_EQ(event.Query(), EventStatus::EVENT_SCHEDULED);
  EXPECT_EQ(read.Query(), EventStatus::EVENT_SCHEDULED);
  EXPECT_TRUE(Event::CanSchedule(event, GetParam().type, true));
  EXPECT_FALSE(Event::CanSchedule(event, GetParam().type, false));
  EXPECT_FALSE(Event::CanSchedule(event, CPU, true));
  release();
  EXPECT_EQ(BytesOf(copy, 10), "over there");
  other->FinishDeviceComputation();
}

}  // namespace caffe2rt::test
