#pragma once
// What every context must do, whatever the device: memory, copies in every direction, streams in
// order, events in all directions, errors carried, tensors and records. A context's test program
// includes this file once and says for which device it runs, before it tests what is special to
// that device:
//
//   INSTANTIATE_TEST_SUITE_P(MyDevice, ContextSuite, testing::Values(ContextSuiteDevice{.type =
//   kMine, ...}));
//
// It goes through BaseStaticContext, BaseContext and Event alone, and reads device memory by copies
// only.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "caffe2_core/device/context.h"
#include "caffe2_core/device/event.h"
#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/tensor/blob.h"
#include "caffe2_core/tensor/tensor.h"
#include "caffe2rt/caffe2.pb.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test {

struct ContextSuiteDevice {
  DeviceType type = CPU;
  // Memory of New begins at a multiple of this.
  size_t alignment = 64;
  // Whether a recorded event finishes by itself when the work before it is over (devices), or when
  // somebody calls SetFinished (the CPU).
  bool events_finish_alone = true;
  // Keeps a context's stream from going on until the returned function is called. Empty where work
  // is done at once.
  std::function<std::function<void()>(BaseContext&)> hold = {};
};

inline void PrintTo(const ContextSuiteDevice& device, std::ostream* out) {
  *out << DeviceTypeName(device.type);
}

class ContextSuite : public testing::TestWithParam<ContextSuiteDevice> {
 protected:
  ContextSuite()
      : statics_(GetStaticContext(GetParam().type)),
        context_(statics_->CreateContext()),
        cpu_(GetStaticContext(CPU)->CreateContext()) {
    option_.set_device_type(GetParam().type);
    cpu_option_.set_device_type(CPU);
    context_->SwitchToDevice();
  }

  DataPtr New(size_t nbytes) const { return DataPtr(statics_->New(nbytes)); }
  // Device memory with these bytes.
  DataPtr NewWith(const std::string& bytes) {
    DataPtr memory = New(bytes.size());
    context_->CopyBytesFromCPU(bytes.size(), bytes.data(), memory.get());
    context_->FinishDeviceComputation();
    return memory;
  }
  std::string BytesOf(const DataPtr& memory, size_t nbytes) {
    std::string bytes(nbytes, '?');
    context_->CopyBytesToCPU(nbytes, memory.get(), bytes.data());
    context_->FinishDeviceComputation();
    return bytes;
  }
  // What the device does by itself, or nobody does for the CPU.
  void Complete(Event* event) const {
    if (!GetParam().events_finish_alone) event->SetFinished();
  }
  static std::string Pattern(size_t nbytes, int seed) {
    std::string bytes(nbytes, '\0');
    for (size_t i = 0; i < nbytes; ++i) {
      bytes[i] = static_cast<char>(i * 31 + i / 251 + static_cast<size_t>(seed));
    }
    return bytes;
  }

  BaseStaticContext* const statics_;
  const std::unique_ptr<BaseContext> context_;
  const std::unique_ptr<BaseContext> cpu_;
  DeviceOption option_;
  DeviceOption cpu_option_;
};

// What devices do beside whose work outlasts the call; needs `hold`.
class AsyncContextSuite : public ContextSuite {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(AsyncContextSuite);

// --- what it is ---

TEST_P(ContextSuite, IsRegisteredForItsType) {
  EXPECT_EQ(statics_->GetDeviceType(), GetParam().type);
  EXPECT_THAT(RegisteredDeviceTypes(), testing::Contains(GetParam().type));
  EXPECT_EQ(context_->GetStaticContext(), statics_);
  EXPECT_EQ(context_->device_type(), GetParam().type);
  EXPECT_EQ(context_->GetDevicetype(), GetParam().type);
  EXPECT_EQ(DeviceTypeName(GetParam().type).find("device type"), std::string::npos);
}

TEST_P(ContextSuite, MakesContextsFromOptions) {
  EXPECT_EQ(statics_->CreateContext(option_)->device_type(), GetParam().type);
  option_.set_random_seed(3);
  EXPECT_EQ(statics_->CreateContext(option_)->device_type(), GetParam().type);
}

TEST_P(ContextSuite, RefusesTheOptionOfAnotherDevice) {
  option_.set_device_type(GetParam().type == HIP ? FPGA : HIP);
  EXPECT_THROW(statics_->CreateContext(option_), EnforceNotMet);
}

TEST_P(ContextSuite, TellsTheDeviceOfItsMemory) {
  const DataPtr memory = New(16);
  DeviceOption found;
  statics_->ExtractDeviceOption(&found, memory.get());
  EXPECT_EQ(found.device_type(), GetParam().type);
  EXPECT_EQ(statics_->CreateContext(found)->device_type(), GetParam().type);
}

// --- memory ---

TEST_P(ContextSuite, GivesAlignedMemoryThatDoesNotOverlap) {
  const std::vector<size_t> sizes = {1, 3, 64, 255, 4097, size_t{1} << 20};
  std::vector<DataPtr> blocks;
  for (size_t i = 0; i < sizes.size(); ++i) {
    blocks.push_back(NewWith(Pattern(sizes[i], static_cast<int>(i))));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(blocks[i].get()) % GetParam().alignment, 0u);
  }
  for (size_t i = 0; i < sizes.size(); ++i) {
    EXPECT_EQ(BytesOf(blocks[i], sizes[i]), Pattern(sizes[i], static_cast<int>(i)));
  }
}

TEST_P(ContextSuite, TakesMemoryBack) {
  // 2 GiB in all, were it not freed.
  for (int i = 0; i < 512; ++i) ASSERT_NE(New(size_t{4} << 20).get(), nullptr);
}

TEST_P(ContextSuite, FreesMemoryOnAnotherThread) {
  DataPtr memory = NewWith("some");
  std::thread([block = std::move(memory)]() mutable { block.Reset(); }).join();
  EXPECT_EQ(BytesOf(NewWith("more"), 4), "more");
}

TEST_P(ContextSuite, TakesNoBytesAtAll) {
  { const DataPtr memory = New(0); }
  context_->CopyBytesFromCPU(0, nullptr, nullptr);
  context_->CopyBytesToCPU(0, nullptr, nullptr);
  context_->CopyBytesSameDevice(0, nullptr, nullptr);
  context_->FinishDeviceComputation();
}

TEST_P(ContextSuite, SaysThatThereIsNoMoreMemory) {
  EXPECT_THROW(New(size_t{1} << 60), EnforceNotMet);
  EXPECT_EQ(BytesOf(NewWith("still"), 5), "still");
}

// --- copies ---

TEST_P(ContextSuite, CopiesBytesInEveryDirection) {
  for (const size_t nbytes : {size_t{1}, size_t{7}, size_t{4096}, (size_t{3} << 20) + 5}) {
    const std::string source = Pattern(nbytes, 9);
    const DataPtr first = NewWith(source);
    const DataPtr second = New(nbytes);
    context_->CopyBytesSameDevice(nbytes, first.get(), second.get());
    EXPECT_EQ(BytesOf(second, nbytes), source);
  }
}

TEST_P(ContextSuite, CopiesToADeviceByItsType) {
  const DataPtr source = NewWith("abcd");
  const DataPtr same = New(4);
  context_->CopyBytesToDevice(4, source.get(), same.get(), GetParam().type);
  EXPECT_EQ(BytesOf(same, 4), "abcd");
  std::string host(4, '?');
  context_->CopyBytesToDevice(4, source.get(), host.data(), CPU);
  context_->FinishDeviceComputation();
  EXPECT_EQ(host, "abcd");
  EXPECT_THROW(context_->CopyBytesToDevice(4, source.get(), host.data(), HIP), EnforceNotMet);
}

TEST_P(ContextSuite, CopiesElements) {
  const std::vector<double> source = {1.5, -2, 3e300};
  const DataPtr first = New(sizeof(double) * 3), second = New(sizeof(double) * 3);
  std::vector<double> back(3);
  context_->CopyFromCPU(3, source.data(), static_cast<double*>(first.get()));
  context_->CopySameDevice(3, static_cast<double*>(first.get()),
                           static_cast<double*>(second.get()));
  context_->CopyToCPU(3, static_cast<double*>(second.get()), back.data());
  context_->FinishDeviceComputation();
  EXPECT_EQ(back, source);
}

TEST_P(ContextSuite, TakesElementsWithConstructorsOnlyWhereTheyCanLive) {
  const std::vector<std::string> source = {"a", std::string(100, 'b')};
  std::vector<std::string> copy(2);
  if (context_->SupportsNonFundamentalTypes()) {
    context_->CopySameDevice(2, source.data(), copy.data());
    EXPECT_EQ(copy, source);
    return;
  }
  EXPECT_THROW(context_->CopyFromCPU(2, source.data(), copy.data()), EnforceNotMet);
  EXPECT_THROW(context_->CopyToCPU(2, source.data(), copy.data()), EnforceNotMet);
  EXPECT_THROW(context_->CopySameDevice(2, source.data(), copy.data()), EnforceNotMet);
  Tensor tensor({2}, GetParam().type);
  EXPECT_THROW(tensor.mutable_data<std::string>(), EnforceNotMet);
}

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
  EXPECT_EQ(event.Query(), EventStatus::EVENT_SCHEDULED);  // the host went on
  std::thread releaser(release);
  context_->FinishDeviceComputation();
  EXPECT_EQ(event.Query(), EventStatus::EVENT_SUCCESS);
  releaser.join();
  EXPECT_EQ(BytesOf(memory, 5), "after");
}

TEST_P(ContextSuite, WorksFromSeveralThreads) {
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

TEST_P(ContextSuite, EventRefusesTheContextOfAnotherDevice) {
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
  std::string host(10, '?');
  const DataPtr memory = New(10);
  const auto other = statics_->CreateContext(option_);
  other->SwitchToDevice(7);
  const auto release = GetParam().hold(*other);
  other->CopyBytesFromCPU(10, source.data(), memory.get());
  Event event(option_);
  other->Record(&event);
  context_->SwitchToDevice(0);
  context_->WaitEvent(event);
  context_->CopyBytesToCPU(10, memory.get(), host.data());
  Event read(option_);
  context_->Record(&read);
  EXPECT_EQ(event.Query(), EventStatus::EVENT_SCHEDULED);
  EXPECT_EQ(read.Query(), EventStatus::EVENT_SCHEDULED);
  EXPECT_TRUE(Event::CanSchedule(event, GetParam().type, true));
  EXPECT_FALSE(Event::CanSchedule(event, GetParam().type, false));
  EXPECT_FALSE(Event::CanSchedule(event, CPU, true));
  release();
  context_->FinishDeviceComputation();
  EXPECT_EQ(host, "over there");
  other->FinishDeviceComputation();
}

// --- tensors and records ---

TEST_P(ContextSuite, TensorsMoveBothWays) {
  Tensor host({2, 3}, CPU);
  float* values = host.mutable_data<float>();
  std::iota(values, values + 6, 1.f);
  Tensor device(host, GetParam().type);
  EXPECT_EQ(device.GetDeviceType(), GetParam().type);
  const Tensor twin = device.Clone();
  Tensor back(CPU);
  back.CopyFrom(twin);
  EXPECT_THAT(std::vector<float>(back.data<float>(), back.data<float>() + 6),
              testing::ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_EQ(back.dims(), host.dims());
}

TEST_P(ContextSuite, TensorKeepsItsDataWhenItGrows) {
  Tensor host({2}, CPU);
  host.mutable_data<int>()[0] = 5;
  host.mutable_data<int>()[1] = 6;
  Tensor device(host, GetParam().type);
  device.Extend(3, 100);
  EXPECT_EQ(device.dim(0), 5);
  const Tensor back(device, CPU);
  EXPECT_EQ(back.data<int>()[0], 5);
  EXPECT_EQ(back.data<int>()[1], 6);
}

TEST_P(ContextSuite, ReadOnlyTensorIsCopiedBeforeItIsWritten) {
  Tensor host({1000}, CPU);
  for (int i = 0; i < 1000; ++i) host.mutable_data<int>()[i] = i;
  Tensor device(host, GetParam().type);
  device.MarkReadOnly();
  const Tensor shared = device;
  EXPECT_NE(device.mutable_data<int>(), shared.data<int>());
  const Tensor back(device, CPU);
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(back.data<int>()[i], i);
}

TEST_P(ContextSuite, EmptyTensorsMoveBothWays) {
  Tensor host({0, 4}, CPU);
  host.mutable_data<float>();
  const Tensor back(Tensor(host, GetParam().type), CPU);
  EXPECT_EQ(back.dims(), host.dims());
  EXPECT_TRUE(back.IsType<float>());
}

TEST_P(ContextSuite, RecordsNameTheDeviceAndComeBackOnIt) {
  Tensor host({3}, CPU);
  for (int i = 0; i < 3; ++i) host.mutable_data<int64_t>()[i] = int64_t{1} << (20 * i);
  Blob blob;
  blob.GetMutableTensor(GetParam().type)->CopyFrom(host);
  const std::string record = SerializeBlob(blob, "weights");
  BlobProto proto;
  ASSERT_TRUE(proto.ParseFromString(record));
  EXPECT_EQ(proto.tensor().device_detail().device_type(), GetParam().type);
  Blob read;
  DeserializeBlob(record, &read);
  ASSERT_TRUE(read.IsTensor(GetParam().type));
  const Tensor back(read.Get<Tensor>(), CPU);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(back.data<int64_t>()[i], int64_t{1} << (20 * i));
}

}  // namespace caffe2rt::test
