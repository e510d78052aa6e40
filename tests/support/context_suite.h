#pragma once
// The tests that every context must pass, whatever its device: memory, copies in every direction,
// order within a stream, events between devices, error propagation, tensors and serialization. The
// test program of a context includes this file once and instantiates the suite for its device, in
// addition to its own tests:
//
//   INSTANTIATE_TEST_SUITE_P(MyDevice, ContextSuite,
//                            testing::Values(ContextSuiteDevice{.type = kMine}));
//
// A device whose work is asynchronous sets ContextSuiteDevice::hold and instantiates
// AsyncContextSuite too.
//
// The suite uses BaseStaticContext, BaseContext and Event alone, and reads device memory only by
// copies.

#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/tensor/blob.h"
#include "caffe2_core/tensor/tensor.h"
#include "tests/support/context_suite_fixture.h"
#include "tests/support/context_suite_work.h"

namespace caffe2rt::test {

// --- identity ---

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

TEST_P(ContextSuite, RejectsTheOptionOfAnotherDevice) {
  option_.set_device_type(GetParam().type == HIP ? FPGA : HIP);
  EXPECT_THROW(statics_->CreateContext(option_), EnforceNotMet);
}

TEST_P(ContextSuite, ReportsTheDeviceOfItsMemory) {
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

TEST_P(ContextSuite, FreesMemory) {
  // 2 GiB in total if it were not freed.
  for (int i = 0; i < 512; ++i) ASSERT_NE(New(size_t{4} << 20).get(), nullptr);
}

TEST_P(ContextSuite, FreesMemoryOnAnotherThread) {
  DataPtr memory = NewWith("some");
  std::thread([block = std::move(memory)]() mutable { block.Reset(); }).join();
  EXPECT_EQ(BytesOf(NewWith("more"), 4), "more");
}

TEST_P(ContextSuite, AcceptsZeroBytes) {
  { const DataPtr memory = New(0); }
  context_->CopyBytesFromCPU(0, nullptr, nullptr);
  context_->CopyBytesToCPU(0, nullptr, nullptr);
  context_->CopyBytesSameDevice(0, nullptr, nullptr);
  context_->FinishDeviceComputation();
}

TEST_P(ContextSuite, ReportsOutOfMemory) {
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

TEST_P(ContextSuite, AcceptsElementsWithConstructorsOnlyIfSupported) {
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

// --- tensors and serialization ---

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
