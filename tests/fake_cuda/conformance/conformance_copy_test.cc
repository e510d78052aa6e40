// CUDA's behaviour: memory and copies.

#include <cstring>
#include <numeric>

#include "conformance/conformance.h"

namespace conformance {
namespace {

std::vector<int> Counting(size_t size) {
  std::vector<int> values(size);
  std::iota(values.begin(), values.end(), 0);
  return values;
}

TEST_F(CudaTest, GivesNoMemoryForNoBytes) {
  void* ptr = &ptr;
  EXPECT_OK(cudaMalloc(&ptr, 0));
  EXPECT_EQ(ptr, nullptr);
  EXPECT_OK(cudaFree(nullptr));
  EXPECT_OK(cudaFreeHost(nullptr));
}

TEST_F(CudaTest, AlignsDeviceMemory) {
  DeviceArray<char> first(1), second(3);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(first.get()) % 256, 0u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(second.get()) % 256, 0u);
}

TEST_F(CudaTest, RejectsMoreMemoryThanTheDeviceHas) {
  size_t free_bytes = 0, total = 0;
  ASSERT_OK(cudaMemGetInfo(&free_bytes, &total));
  void* ptr = nullptr;
  EXPECT_CUDA(cudaErrorMemoryAllocation, cudaMalloc(&ptr, total + (size_t{1} << 30)));
  EXPECT_CUDA(cudaErrorMemoryAllocation, cudaGetLastError());
  EXPECT_CUDA(cudaSuccess, cudaGetLastError());  // it does not stick
}

TEST_F(CudaTest, RejectsFreesOfForeignMemory) {
  DeviceArray<int> data(4);
  int local = 0;
  EXPECT_CUDA(cudaErrorInvalidValue, cudaFree(&local));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaFree(data.get() + 1));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaFreeHost(data.get()));
  cudaGetLastError();
}

TEST_F(CudaTest, CopiesInAllDirections) {
  const std::vector<int> values = Counting(1000);
  DeviceArray<int> first(values), second(1000);
  ASSERT_OK(cudaMemcpy(second.get(), first.get(), first.bytes(), cudaMemcpyDeviceToDevice));
  EXPECT_EQ(second.Read(), values);
  std::vector<int> host(1000);
  ASSERT_OK(cudaMemcpy(host.data(), values.data(), first.bytes(), cudaMemcpyHostToHost));
  EXPECT_EQ(host, values);
  ASSERT_OK(cudaMemset(first.get(), 0, first.bytes()));
  ASSERT_OK(cudaMemcpy(host.data(), first.get(), first.bytes(), cudaMemcpyDefault));
  EXPECT_EQ(host, std::vector<int>(1000, 0));
  EXPECT_OK(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyDefault));
}

TEST_F(CudaTest, LetsThePageableSourceGoWhenTheCallReturns) {
  Stream stream;
  DeviceArray<int> data(256);
  std::vector<int> source = Counting(256);
  Gate gate(stream);
  gate.Open();  // a real device may wait for the stream before it stages
  ASSERT_OK(
      cudaMemcpyAsync(data.get(), source.data(), data.bytes(), cudaMemcpyHostToDevice, stream));
  source.assign(256, -1);
  ASSERT_OK(cudaStreamSynchronize(stream));
  EXPECT_EQ(data.Read(), Counting(256));
}

TEST_F(CudaTest, ReturnsFromACopyToPageableMemoryWhenItIsOver) {
  Stream stream;
  DeviceArray<int> data(Counting(256));
  std::vector<int> target(256, -1);
  ASSERT_OK(
      cudaMemcpyAsync(target.data(), data.get(), data.bytes(), cudaMemcpyDeviceToHost, stream));
  EXPECT_EQ(target, Counting(256));
  ASSERT_OK(cudaStreamSynchronize(stream));
}

TEST_F(CudaTest, CopiesPinnedMemoryInTheBackground) {
  Stream stream;
  DeviceArray<int> data(16);
  PinnedArray<int> source(16, 3), target(16, 0);
  Gate gate(stream);
  ASSERT_OK(
      cudaMemcpyAsync(data.get(), source.get(), data.bytes(), cudaMemcpyHostToDevice, stream));
  ASSERT_OK(
      cudaMemcpyAsync(target.get(), data.get(), data.bytes(), cudaMemcpyDeviceToHost, stream));
  EXPECT_EQ(target[15], 0);  // the call did not wait for the copy
  gate.Open();
  ASSERT_OK(cudaStreamSynchronize(stream));
  EXPECT_EQ(target[15], 3);
}

TEST_F(CudaTest, CopiesRegisteredMemoryInTheBackground) {
  Stream stream;
  DeviceArray<int> data(1024);
  std::vector<int> source(1024, 4);
  ASSERT_OK(cudaHostRegister(source.data(), data.bytes(), cudaHostRegisterDefault));
  EXPECT_CUDA(cudaErrorHostMemoryAlreadyRegistered,
              cudaHostRegister(source.data(), data.bytes(), cudaHostRegisterDefault));
  {
    Gate gate(stream);
    ASSERT_OK(
        cudaMemcpyAsync(data.get(), source.data(), data.bytes(), cudaMemcpyHostToDevice, stream));
    EXPECT_CUDA(cudaErrorNotReady, cudaStreamQuery(stream));
    source[1023] = 5;  // is copied, because the copy has not begun
  }
  ASSERT_OK(cudaStreamSynchronize(stream));
  EXPECT_EQ(data.Read()[1023], 5);
  ASSERT_OK(cudaHostUnregister(source.data()));
  EXPECT_CUDA(cudaErrorHostMemoryNotRegistered, cudaHostUnregister(source.data()));
  cudaGetLastError();
}

TEST_F(CudaTest, CopiesAndFillsRectangles) {
  const std::vector<char> source = {1, 2, 3, 0, 4, 5, 6, 0};  // 2 rows of 3, pitch 4
  char* data = nullptr;
  size_t pitch = 0;
  ASSERT_OK(cudaMallocPitch(reinterpret_cast<void**>(&data), &pitch, 3, 2));
  EXPECT_GE(pitch, 3u);
  ASSERT_OK(cudaMemset2D(data, pitch, 9, 3, 2));
  ASSERT_OK(cudaMemcpy2D(data, pitch, source.data(), 4, 2, 2, cudaMemcpyHostToDevice));
  std::vector<char> target(6, 0);
  ASSERT_OK(cudaMemcpy2D(target.data(), 3, data, pitch, 3, 2, cudaMemcpyDeviceToHost));
  EXPECT_EQ(target, (std::vector<char>{1, 2, 9, 4, 5, 9}));
  EXPECT_CUDA(cudaErrorInvalidPitchValue,
              cudaMemcpy2D(target.data(), 2, data, pitch, 3, 2, cudaMemcpyDeviceToHost));
  EXPECT_OK(cudaFree(data));
  cudaGetLastError();
}

TEST_F(CudaTest, ReportsAttributesOfPointers) {
  DeviceArray<int> data(4);
  PinnedArray<int> pinned(4);
  int local = 0;
  cudaPointerAttributes attributes;
  ASSERT_OK(cudaPointerGetAttributes(&attributes, data.get() + 1));
  EXPECT_EQ(attributes.type, cudaMemoryTypeDevice);
  EXPECT_EQ(attributes.device, 0);
  EXPECT_EQ(attributes.devicePointer, data.get() + 1);
  ASSERT_OK(cudaPointerGetAttributes(&attributes, pinned.get()));
  EXPECT_EQ(attributes.type, cudaMemoryTypeHost);
  EXPECT_EQ(attributes.hostPointer, pinned.get());
  ASSERT_OK(cudaPointerGetAttributes(&attributes, &local));
  EXPECT_EQ(attributes.type, cudaMemoryTypeUnregistered);
}

TEST_F(CudaTest, CopiesBetweenDevices) {
  SKIP_BELOW(2);
  DeviceArray<int> first(Counting(100));
  ASSERT_OK(cudaSetDevice(1));
  DeviceArray<int> second(100), third(100);
  ASSERT_OK(cudaMemcpyPeer(second.get(), 1, first.get(), 0, first.bytes()));
  EXPECT_EQ(second.Read(), Counting(100));
  Stream stream;
  ASSERT_OK(cudaMemcpyPeerAsync(third.get(), 1, first.get(), 0, first.bytes(), stream));
  ASSERT_OK(cudaStreamSynchronize(stream));
  EXPECT_EQ(third.Read(), Counting(100));
}

TEST_F(CudaTest, AllocatesInStreamOrder) {
  int supported = 0;
  ASSERT_OK(cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, 0));
  if (supported == 0) GTEST_SKIP() << "the device has no memory pools";
  Stream stream;
  cudaMemPool_t pool;
  ASSERT_OK(cudaDeviceGetDefaultMemPool(&pool, 0));
  uint64_t threshold = UINT64_MAX;
  ASSERT_OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
  void *first = nullptr, *second = nullptr;
  ASSERT_OK(cudaMallocAsync(&first, 4096, stream));
  ASSERT_OK(cudaMemsetAsync(first, 1, 4096, stream));
  ASSERT_OK(cudaFreeAsync(first, stream));
  ASSERT_OK(cudaMallocAsync(&second, 4096, stream));
  uint64_t used = 0;
  ASSERT_OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
  EXPECT_GE(used, 4096u);
  ASSERT_OK(cudaFreeAsync(second, stream));
  ASSERT_OK(cudaStreamSynchronize(stream));
  uint64_t reserved = 0;
  ASSERT_OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &reserved));
  EXPECT_GE(reserved, 4096u);  // kept: below the threshold
  ASSERT_OK(cudaMemPoolTrimTo(pool, 0));
  ASSERT_OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &reserved));
  EXPECT_EQ(reserved, 0u);
  threshold = 0;
  ASSERT_OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
}

TEST_F(CudaTest, MakesPoolsOfAUsersOwn) {
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id = 0;
  cudaMemPool_t pool;
  ASSERT_OK(cudaMemPoolCreate(&pool, &properties));
  Stream stream;
  void* ptr = nullptr;
  ASSERT_OK(cudaMallocFromPoolAsync(&ptr, 1000, pool, stream));
  ASSERT_OK(cudaMemsetAsync(ptr, 3, 1000, stream));
  ASSERT_OK(cudaFreeAsync(ptr, stream));
  ASSERT_OK(cudaStreamSynchronize(stream));
  EXPECT_OK(cudaMemPoolDestroy(pool));
}

}  // namespace
}  // namespace conformance
