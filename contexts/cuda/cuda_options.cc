#include "contexts/cuda/cuda_options.h"

#include <iterator>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/flags.h"
#include "caffe2_core/base/text.h"

namespace caffe2rt {
namespace {

// Values of the flag, indexed by CudaMemoryPoolType.
constexpr const char* kPoolNames[] = {"none", "cub", "thc", "async"};

}  // namespace

CudaMemoryOptions& GlobalCudaMemoryOptions() {
  static CudaMemoryOptions* const options = new CudaMemoryOptions;
  return *options;
}

CudaLibraryOptions& GlobalCudaLibraryOptions() {
  static CudaLibraryOptions* const options = new CudaLibraryOptions;
  return *options;
}

CudaMemoryPoolType ParseCudaMemoryPoolType(const std::string& name) {
  const std::string lower = AsciiLower(name);
  if (lower.empty()) return CudaMemoryPoolType::NONE;
  for (int type = 0; type < static_cast<int>(std::size(kPoolNames)); ++type) {
    if (lower == kPoolNames[type]) return static_cast<CudaMemoryPoolType>(type);
  }
  CAFFE_THROW("memory pool \"", name, "\" is not known, want none, cub, thc or async",
              lower == "cnmem" ? " (cnmem was removed)" : "");
}

std::vector<Flag> CudaFlags() {
  CudaMemoryOptions& options = GlobalCudaMemoryOptions();
  const char* const file = __FILE__;
  return {
      {{"caffe2_cuda_memory_pool", "string", kPoolNames[static_cast<int>(options.pool)],
        "memory pool of CUDA devices: none (cudaMalloc each time), cub (bins of powers, as "
        "cub::CachingDeviceAllocator), thc (best fit with split and merge, as Torch's), async "
        "(cudaMallocAsync)",
        file},
       [&options](const std::string& text) { options.pool = ParseCudaMemoryPoolType(text); }},
      FlagOf("caffe2_gpu_memory_limit_mb", &options.limit_mb,
             "MiB of memory taken from each CUDA device, 0: no limit", file),
      FlagOf("caffe2_cub_bin_growth", &options.cub_bin_growth, "pool cub: growth of its bins",
             file),
      FlagOf("caffe2_cub_min_bin", &options.cub_min_bin,
             "pool cub: power of the growth that is the smallest bin", file),
      FlagOf("caffe2_cub_max_bin", &options.cub_max_bin,
             "pool cub: power of the growth that is the largest bin", file),
      FlagOf("caffe2_cub_max_managed_mb", &options.cub_max_managed_mb,
             "pool cub: MiB that it may cache on a device", file),
      IdleFlag("caffe2_cub_print_allocation_events", "bool", "false", file),
      FlagOf("caffe2_gpu_memory_tracking", &options.tracking,
             "log the memory of CUDA devices as it grows", file),
      FlagOf("caffe2_gpu_memory_report_interval_mb", &options.report_interval_mb,
             "MiB of growth between two logs of the memory of CUDA devices", file),
      FlagOf("caffe2_cuda_pinned_numa", &options.pinned_numa,
             "take pinned memory from the NUMA node of the thread", file),
      FlagOf("caffe2_cuda_pinned_cpu", &options.pinned_cpu,
             "use pinned memory for the CPU once CUDA has started", file),
      IdleFlag("caffe2_cuda_full_device_control", "bool", "false", file),
      FlagOf("caffe2_allow_tf32", &GlobalCudaLibraryOptions().allow_tf32,
             "let CUDA multiply 32-bit numbers with the precision of TF32", file),
  };
}

}  // namespace caffe2rt
