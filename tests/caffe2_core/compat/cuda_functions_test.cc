// The CUDA functions that sources compiled without CUDA reach through the table of libcaffe2_cuda.
// Two devices of the fake CUDA are used.
#include "caffe2_core/compat/caffe2rt_cuda/cuda_functions.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "caffe2/core/common_cudnn.h"
#include "caffe2/core/common_gpu.h"
#include "caffe2/core/context_gpu.h"
#include "tests/support/shared.h"

namespace {

using testing::HasSubstr;
using testing::SizeIs;

class Machine final : public testing::Environment {
 public:
  void SetUp() override {
    setenv("CAFFE2_CUDA_MODULE", caffe2rt::test::BuildPath(CAFFE2_CUDA_MODULE_ON_FAKE).c_str(), 1);
    setenv("FAKECUDA_DEVICES", "2", 1);
  }
};
const testing::Environment* const machine = testing::AddGlobalTestEnvironment(new Machine);

template <class F>
std::string ErrorOf(F act) {
  try {
    act();
  } catch (const caffe2::EnforceNotMet& error) {
    return error.what();
  }
  return "";
}

// Must be the first test, because others use device 0.
TEST(CudaFunctionsTest, GuardInitializesNoDeviceThatWasNotSelected) {
  ASSERT_EQ(caffe2::NumCudaDevices(), 2);  // loads the module and the fake CUDA
  void* const fake = dlopen("libcudart.so.13", RTLD_NOW | RTLD_NOLOAD);
  ASSERT_NE(fake, nullptr);
  const auto has_context =
      reinterpret_cast<int (*)(int device)>(dlsym(fake, "fakecuda_has_context"));
  ASSERT_NE(has_context, nullptr);
  { const caffe2::DeviceGuard guard(1); }
  EXPECT_EQ(caffe2::CaffeCudaGetDevice(), 0);
  EXPECT_TRUE(has_context(1));
  EXPECT_FALSE(has_context(0));
}

TEST(CudaFunctionsTest, FactsComeFromTheModule) {
  EXPECT_TRUE(caffe2::HasCudaRuntime());
  EXPECT_TRUE(caffe2::HasCudaGPU());
  EXPECT_EQ(caffe2::NumCudaDevices(), 2);
  EXPECT_GE(caffe2::CudaVersion(), 11000);
  EXPECT_THAT(caffe2::DeviceQuery(1), HasSubstr("1"));
  std::vector<std::vector<bool>> pattern;
  EXPECT_TRUE(caffe2::GetCudaPeerAccessPattern(&pattern));
  EXPECT_THAT(pattern, SizeIs(2));
  EXPECT_EQ(caffe2::GetCudaMemoryPoolType(), caffe2::CudaMemoryPoolType::THC);
  EXPECT_EQ(caffe2::GetBuildOptions().at("USE_CUDA"), "1");
}

TEST(CudaFunctionsTest, DeviceOfTheThreadCanBeSet) {
  EXPECT_EQ(caffe2::CaffeCudaGetDevice(), 0);
  {
    const caffe2::DeviceGuard guard(1);
    EXPECT_EQ(caffe2::CaffeCudaGetDevice(), 1);
  }
  EXPECT_EQ(caffe2::CaffeCudaGetDevice(), 0);
}

TEST(CudaFunctionsTest, ContextHasDeviceAndHandles) {
  caffe2::CUDAContext context(1);
  EXPECT_EQ(context.device_id(), 1);
  EXPECT_NE(context.cublas_handle(), nullptr);
  EXPECT_NE(static_cast<void*>(context.cublas_handle()), static_cast<void*>(context.cuda_stream()));
  EXPECT_EQ(context.cuda_stream(), caffe2::CUDAContext::cuda_stream(1, 0));
  EXPECT_NE(context.cuda_stream(), caffe2::CUDAContext::cuda_stream(1, 1));
  context.FinishDeviceComputation();
  caffe2::DeviceOption option;
  option.set_device_type(caffe2::CUDA);
  option.set_device_id(1);
  EXPECT_TRUE(caffe2::CUDAContext::IsStreamFree(option, 0));
  context.SwitchToDevice();
  const auto [data, free] = caffe2::CUDAContext::New(4096);
  EXPECT_EQ(caffe2::GetGPUIDForPointer(data), 1);
  EXPECT_EQ(caffe2::GetGPUIDForPointer(&context), -1);
  EXPECT_GE(caffe2::CUDAContext::TotalMemoryByGpu().at(1), 4096);
  EXPECT_GE(caffe2::CUDAContext::MaxMemoryByGpu().at(1), 4096);
  EXPECT_EQ(caffe2::CUDAContext::TotalMemoryByGpu().at(0), 0);
  free(data);
  caffe2::CaffeCudaSetDevice(0);
}

TEST(CudaFunctionsTest, HandlesAreOfContextsOfCudaAlone) {
  const auto& cuda = caffe2rt::EnforceCudaFunctions();
  const auto cpu = caffe2rt::GetStaticContext(caffe2rt::CPU)->CreateContext();
  EXPECT_THAT(ErrorOf([&] { cuda.device_of(*cpu); }), HasSubstr("want one of CUDA"));
}

TEST(CudaFunctionsTest, AnotherVersionIsAnError) {
  static const caffe2rt::CudaFunctions newer = {.version = caffe2rt::kCudaFunctionsVersion + 1};
  caffe2rt::DeviceModule module;
  EXPECT_THAT(ErrorOf([&] { caffe2rt::CudaFunctionsOf(module); }),
              HasSubstr("does not provide the functions"));
  module.extension = [](std::string_view) -> const void* { return nullptr; };
  EXPECT_THAT(ErrorOf([&] { caffe2rt::CudaFunctionsOf(module); }),
              HasSubstr("does not provide the functions"));
  module.extension = [](std::string_view name) -> const void* {
    return name == caffe2rt::kCudaFunctionsName ? &newer : nullptr;
  };
  EXPECT_THAT(ErrorOf([&] { caffe2rt::CudaFunctionsOf(module); }),
              HasSubstr("built with another version of the headers"));
}

}  // namespace
