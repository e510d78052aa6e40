// The built-in contexts, and the built-in devices whose libraries are loaded on demand.

#include "caffe2_core/base/flags.h"
#include "caffe2_core/device/context.h"
#include "caffe2_core/device/device_descriptor.h"
#include "caffe2_core/runtime/init.h"
#include "contexts/cpu/cpu_allocator.h"
#include "contexts/cpu/cpu_context.h"
#include "contexts/cuda/cuda_descriptor.h"
#include "contexts/onednn/onednn_context.h"

namespace caffe2rt {

void EnsureBuiltinContexts() {
  RegisterCPUContext();
  RegisterIDEEPContext();
}

std::vector<DeviceDescriptor> BuiltinDeviceDescriptors() { return {CudaDescriptor()}; }

void RegisterContextFlags() {
  CPUMemoryOptions& memory = GlobalCPUMemoryOptions();
  RegisterFlag("caffe2_report_cpu_memory_usage", &memory.report_usage,
               "log each allocation and release at verbosity 1", __FILE__, "memory");
  RegisterFlag("caffe2_cpu_numa_enabled", &memory.numa_enabled,
               "bind new memory to the thread's NUMA node", __FILE__, "memory");
  RegisterFlag(
      {"caffe2_cpu_allocator_do_zero_fill", "bool", "true", "zero new memory", __FILE__, "memory"},
      [&memory](const std::string& text) {
        memory.fill = ParseFlagBool(text) ? CPUMemoryFill::kZero : CPUMemoryFill::kNone;
      });
  RegisterFlag({"caffe2_cpu_allocator_do_junk_fill", "bool", "false",
                "fill new memory with a pattern, to find reads of memory that nothing wrote",
                __FILE__, "memory"},
               [&memory](const std::string& text) {
                 if (ParseFlagBool(text)) {
                   memory.fill = CPUMemoryFill::kJunk;
                 } else if (memory.fill == CPUMemoryFill::kJunk) {
                   memory.fill = CPUMemoryFill::kZero;
                 }
               });
}

}  // namespace caffe2rt
