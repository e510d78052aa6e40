// The CUDA parts of the CPU library. These tests run without CUDA.
#include "contexts/cuda/cuda_options.h"

#include "contexts/cuda/cuda_descriptor.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::cuda_options_test {
namespace {

using test::ExpectThrows;
using ::testing::ElementsAre;

TEST(CudaOptionsTest, NamesPoolsAsTheFlagDoes) {
  EXPECT_EQ(ParseCudaMemoryPoolType(""), CudaMemoryPoolType::NONE);
  EXPECT_EQ(ParseCudaMemoryPoolType("none"), CudaMemoryPoolType::NONE);
  EXPECT_EQ(ParseCudaMemoryPoolType("CUB"), CudaMemoryPoolType::CUB);
  EXPECT_EQ(ParseCudaMemoryPoolType("thc"), CudaMemoryPoolType::THC);
  EXPECT_EQ(ParseCudaMemoryPoolType("async"), CudaMemoryPoolType::ASYNC);
  ExpectThrows(
      [] { ParseCudaMemoryPoolType("cnmem"); },
      "memory pool \"cnmem\" is not known, want none, cub, thc or async (cnmem was removed)");
}

// The expected defaults must not change. They equal Caffe2's, except for the pool.
TEST(CudaOptionsTest, FlagsHaveTheDefaultsOfTheOptions) {
  std::vector<std::string> defaults;
  for (const Flag& flag : CudaFlags()) {
    defaults.push_back(flag.info.name + " " + flag.info.type + " " + flag.info.default_value);
    EXPECT_NE(flag.info.help, "");
  }
  EXPECT_THAT(
      defaults,
      ElementsAre(
          "caffe2_cuda_memory_pool string thc", "caffe2_gpu_memory_limit_mb int64 0",
          "caffe2_cub_bin_growth int 8", "caffe2_cub_min_bin int 3", "caffe2_cub_max_bin int 10",
          "caffe2_cub_max_managed_mb int64 10240", "caffe2_cub_print_allocation_events bool false",
          "caffe2_gpu_memory_tracking bool false", "caffe2_gpu_memory_report_interval_mb int 128",
          "caffe2_cuda_pinned_numa bool false", "caffe2_cuda_pinned_cpu bool false",
          "caffe2_cuda_full_device_control bool false", "caffe2_allow_tf32 bool false",
          "caffe2_cudnn_graph bool true",
          "caffe2_cuda_library_path string "));
}

TEST(CudaOptionsTest, DescriptorHasTheNamesThatUsersKnow) {
  const DeviceDescriptor* const device = FindDeviceDescriptor(CUDA);
  ASSERT_NE(device, nullptr);
  EXPECT_EQ(device->name, "CUDA");
  EXPECT_EQ(FindDeviceDescriptor("cuda"), device);
  EXPECT_EQ(FindDeviceDescriptor("gpu"), device);
  EXPECT_THAT(device->module_file, testing::StartsWith("libcaffe2_cuda.so."));
  EXPECT_THAT(device->engines, ElementsAre("CUDNN"));
  EXPECT_EQ(FindDeviceOfCopy("CopyCPUToGPU"), device);
  EXPECT_EQ(FindDeviceOfCopy("CopyGPUToCPU"), device);
  EXPECT_EQ(device->flags().size(), CudaFlags().size());
}

TEST(CudaOptionsTest, EachHasItsFlag) {
  for (Flag& flag : CudaFlags()) RegisterFlag(std::move(flag.info), std::move(flag.set));
  CudaMemoryOptions& options = GlobalCudaMemoryOptions();
  const CudaMemoryOptions before = options;
  for (const auto& [name, text] : std::initializer_list<std::pair<const char*, const char*>>{
           {"caffe2_cuda_memory_pool", "cub"},
           {"caffe2_gpu_memory_limit_mb", "77"},
           {"caffe2_cub_bin_growth", "4"},
           {"caffe2_cub_min_bin", "2"},
           {"caffe2_cub_max_bin", "9"},
           {"caffe2_cub_max_managed_mb", "55"},
           {"caffe2_gpu_memory_tracking", "true"},
           {"caffe2_gpu_memory_report_interval_mb", "11"},
           {"caffe2_cuda_pinned_numa", "true"},
           {"caffe2_cuda_pinned_cpu", "true"}}) {
    SetFlag(name, text);
  }
  EXPECT_EQ(options.pool, CudaMemoryPoolType::CUB);
  EXPECT_EQ(options.limit_mb, 77);
  EXPECT_EQ(options.cub_bin_growth, 4);
  EXPECT_EQ(options.cub_min_bin, 2);
  EXPECT_EQ(options.cub_max_bin, 9);
  EXPECT_EQ(options.cub_max_managed_mb, 55);
  EXPECT_TRUE(options.tracking);
  EXPECT_EQ(options.report_interval_mb, 11);
  EXPECT_TRUE(options.pinned_numa);
  EXPECT_TRUE(options.pinned_cpu);
  options = before;
  ExpectThrows([] { SetFlag("caffe2_cuda_memory_pool", "best"); }, "want none, cub, thc or async");
  SetFlag("caffe2_cub_print_allocation_events", "true");  // accepted, but has no effect
  ExpectThrows([] { SetFlag("caffe2_cuda_full_device_control", "full"); },
               "neither true nor false");
  SetFlag("caffe2_allow_tf32", "true");
  EXPECT_TRUE(GlobalCudaLibraryOptions().allow_tf32);
  SetFlag("caffe2_cudnn_graph", "false");
  EXPECT_FALSE(GlobalCudaLibraryOptions().cudnn_graph);
  SetFlag("caffe2_cudnn_graph", "true");
  EXPECT_TRUE(GlobalCudaLibraryOptions().cudnn_graph);
  SetFlag("caffe2_cuda_library_path", "/opt/cuda:/opt/venv");
  EXPECT_EQ(GlobalCudaLibraryOptions().library_path, "/opt/cuda:/opt/venv");
  SetFlag("caffe2_cuda_library_path", "");
  SetFlag("caffe2_allow_tf32", "false");
  EXPECT_FALSE(GlobalCudaLibraryOptions().allow_tf32);
}

}  // namespace
}  // namespace caffe2rt::cuda_options_test
