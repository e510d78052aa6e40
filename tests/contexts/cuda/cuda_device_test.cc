#include "contexts/cuda/cuda_device.h"

#include <stdexcept>

#include "tests/contexts/cuda/cuda_testing.h"

namespace caffe2rt::test::cuda_device_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

using CudaErrorTest = CudaTest;
using CudaDeviceTest = CudaTest;
using DeviceGuardTest = CudaTest;

TEST_F(CudaErrorTest, NamesDeviceCallCodeAndText) {
  const auto failing = [] { CUDA_ENFORCE(cudaSetDevice(12345), "device of ", "a test"); };
  EXPECT_THAT(ErrorOf(failing),
              AllOf(HasSubstr("CUDA 0: cudaSetDevice: invalid device ordinal"),
                    HasSubstr("(error 101, cudaErrorInvalidDevice): device of a test")));
}

TEST_F(CudaErrorTest, CarriesTheCodeAndClearsTheLastError) {
  try {
    CUDA_ENFORCE(cudaSetDevice(12345));
    FAIL() << "no error";
  } catch (const CudaError& e) {
    EXPECT_EQ(e.code(), cudaErrorInvalidDevice);
  }
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
}

TEST_F(CudaErrorTest, LogsWithoutThrowing) {
  EXPECT_TRUE(LogCudaError(cudaSuccess, "cudaFree"));
  EXPECT_FALSE(LogCudaError(cudaSetDevice(12345), "cudaSetDevice(12345)"));
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
}

TEST_F(CudaDeviceTest, ReportsThatTheMachineIsReady) {
  const CudaMachine machine = QueryCudaMachine();
  EXPECT_EQ(machine.devices, NumCudaDevices());
  EXPECT_EQ(machine.found, machine.devices);
  EXPECT_EQ(machine.message, "");
}

TEST_F(CudaDeviceTest, ListsTheDevicesIfAnotherIsRequested) {
  const std::string last = std::to_string(NumCudaDevices() - 1);
  EXPECT_EQ(ErrorOf([] { EnforceCudaDevice(99); }),
            "CUDA device 99 is not on this machine, want 0 to " + last);
  EXPECT_NE(ErrorOf([] { EnforceCudaDevice(-1); }), "");
  EXPECT_NE(ErrorOf([] { CaffeCudaSetDevice(99); }), "");
  EXPECT_NE(ErrorOf([] { GetDeviceProperty(99); }), "");
  EXPECT_NE(ErrorOf([] { GetDeviceAttribute(99, cudaDevAttrWarpSize); }), "");
  EXPECT_NE(ErrorOf([] { EnableCudaPeerAccess(0, 99); }), "");
}

TEST_F(CudaDeviceTest, DistinguishesDeviceMemoryFromOther) {
  void* device = nullptr;
  ASSERT_EQ(cudaMalloc(&device, 16), cudaSuccess);
  void* pinned = nullptr;
  ASSERT_EQ(cudaMallocHost(&pinned, 16), cudaSuccess);
  int local = 0;
  EXPECT_EQ(GetGPUIDForPointer(device), 0);
  EXPECT_EQ(GetGPUIDForPointer(pinned), -1);
  EXPECT_EQ(GetGPUIDForPointer(&local), -1);
  EXPECT_EQ(GetGPUIDForPointer(nullptr), -1);
  EXPECT_EQ(cudaFree(device), cudaSuccess);
  EXPECT_EQ(cudaFreeHost(pinned), cudaSuccess);
}

TEST_F(CudaDeviceTest, ReportsPropertiesOfADevice) {
  const cudaDeviceProp& facts = GetDeviceProperty(0);
  EXPECT_EQ(&facts, &GetDeviceProperty(0));  // queried only once
  EXPECT_EQ(facts.warpSize, 32);
  EXPECT_EQ(GetDeviceAttribute(0, cudaDevAttrWarpSize), 32);
  EXPECT_EQ(GetDeviceAttribute(0, cudaDevAttrComputeCapabilityMajor), facts.major);
  EXPECT_THAT(DeviceQuery(0), AllOf(HasSubstr(facts.name), HasSubstr("compute capability ")));
  EXPECT_EQ(TensorCoreAvailable(), facts.major >= 7);
}

TEST_F(CudaDeviceTest, EnablesPeersOnlyWhereThePatternAllowsThem) {
  std::vector<std::vector<bool>> pattern;
  ASSERT_TRUE(GetCudaPeerAccessPattern(&pattern));
  ASSERT_EQ(pattern.size(), static_cast<size_t>(NumCudaDevices()));
  EXPECT_TRUE(pattern[0][0]);
  EXPECT_TRUE(EnableCudaPeerAccess(0, 0));
  SKIP_BELOW_DEVICES(2);
  const bool both = pattern[0][1] && pattern[1][0];
  EXPECT_EQ(EnableCudaPeerAccess(0, 1), both);
  EXPECT_EQ(EnableCudaPeerAccess(1, 0), both);  // known from the first call
}

TEST_F(DeviceGuardTest, GoesBackAtTheEndOfTheScope) {
  SKIP_BELOW_DEVICES(2);
  {
    const DeviceGuard guard(1);
    EXPECT_EQ(CaffeCudaGetDevice(), 1);
  }
  EXPECT_EQ(CaffeCudaGetDevice(), 0);
}

TEST_F(DeviceGuardTest, GoesBackAfterAFailureInTheScope) {
  SKIP_BELOW_DEVICES(2);
  const auto failing = [] {
    const DeviceGuard guard(1);
    throw std::runtime_error("in the scope");
  };
  EXPECT_THROW(failing(), std::runtime_error);
  EXPECT_EQ(CaffeCudaGetDevice(), 0);
}

TEST_F(DeviceGuardTest, GoesBackWhenTheScopeWentElsewhere) {
  SKIP_BELOW_DEVICES(2);
  {
    const DeviceGuard guard(0);
    CaffeCudaSetDevice(1);
  }
  EXPECT_EQ(CaffeCudaGetDevice(), 0);
}

TEST_F(DeviceGuardTest, KeepsTheCurrentDeviceIfTheRequestedOneIsMissing) {
  EXPECT_THROW(DeviceGuard guard(99), EnforceNotMet);
  EXPECT_EQ(CaffeCudaGetDevice(), 0);
}

}  // namespace
}  // namespace caffe2rt::test::cuda_device_test
