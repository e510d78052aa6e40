#include "contexts/cuda/cuda_options.h"

#include <absl/strings/ascii.h>

#include <iterator>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/flags.h"

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
  const std::string lower = absl::AsciiStrToLower(name);
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
        "memory pool of CUDA devices: none (cudaMalloc on every call), cub (sizes rounded up to "
        "powers, as in cub::CachingDeviceAllocator), thc (best fit with splitting and merging, as "
        "in Torch), async (cudaMallocAsync)",
        file, "CUDA"},
       [&options](const std::string& text) { options.pool = ParseCudaMemoryPoolType(text); }},
      FlagOf("caffe2_gpu_memory_limit_mb", &options.limit_mb,
             "limit of memory on each CUDA device in MiB, 0: no limit", file, "CUDA"),
      FlagOf("caffe2_cub_bin_growth", &options.cub_bin_growth,
             "pool cub: block sizes are powers of this number", file, "CUDA"),
      FlagOf("caffe2_cub_min_bin", &options.cub_min_bin,
             "pool cub: exponent of the smallest block size", file, "CUDA"),
      FlagOf("caffe2_cub_max_bin", &options.cub_max_bin,
             "pool cub: exponent of the largest cached block size", file, "CUDA"),
      FlagOf("caffe2_cub_max_managed_mb", &options.cub_max_managed_mb,
             "pool cub: limit of cached memory on each device in MiB", file, "CUDA"),
      IdleFlag("caffe2_cub_print_allocation_events", "bool", "false", file),
      FlagOf("caffe2_gpu_memory_tracking", &options.tracking,
             "log the memory in use on CUDA devices as it grows", file, "CUDA"),
      FlagOf("caffe2_gpu_memory_report_interval_mb", &options.report_interval_mb,
             "growth of CUDA memory between two log messages in MiB", file, "CUDA"),
      FlagOf("caffe2_cuda_pinned_numa", &options.pinned_numa,
             "allocate pinned memory on the NUMA node of the calling thread", file, "CUDA"),
      FlagOf("caffe2_cuda_pinned_cpu", &options.pinned_cpu,
             "use pinned memory for the CPU once CUDA has started", file, "CUDA"),
      IdleFlag("caffe2_cuda_full_device_control", "bool", "false", file),
      FlagOf("caffe2_allow_tf32", &GlobalCudaLibraryOptions().allow_tf32,
             "allow CUDA to multiply 32-bit floats with TF32 precision", file, "CUDA"),
      FlagOf("caffe2_cudnn_graph", &GlobalCudaLibraryOptions().cudnn_graph,
             "run convolutions by cuDNN's backend (graph) API; false: by its legacy API", file,
             "CUDA"),
      FlagOf("caffe2_cuda_library_path", &GlobalCudaLibraryOptions().library_path,
             "folders, toolkits or Python environments that contain cuBLAS, cuDNN and cuRAND, "
             "separated by colons",
             file, "CUDA"),
  };
}

}  // namespace caffe2rt
