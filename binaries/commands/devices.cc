// caffe2 devices: where nets can run.

#include <sched.h>
#include <unistd.h>

#include <iostream>

#include "binaries/commands/command.h"
#include "binaries/json_writer.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/isa.h"
#include "caffe2_core/device/context.h"
#include "contexts/cpu/cpu_allocator.h"
#include "contexts/cpu/numa.h"

namespace caffe2rt {
namespace {

int UsableCores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return 1;
  return CPU_COUNT(&set);
}

double Gibibytes(uint64_t bytes) { return static_cast<double>(bytes >> 20) / 1024; }

int Devices(const CommandLine& line) {
  CheckPositional(line, 0, 0, "no files");
  const uint64_t memory =
      static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const bool cuda = FindStaticContext(CUDA) != nullptr;
  if (line.Has("json")) {
    JsonWriter json;
    json.BeginArray();
    for (const DeviceType type : RegisteredDeviceTypes()) {
      json.BeginObject()
          .Key("type")
          .Value(static_cast<int>(type))
          .Key("name")
          .Value(DeviceTypeName(type));
      if (type == CPU) {
        json.Key("cores").Value(UsableCores()).Key("memory_bytes").Value(memory);
        json.Key("memory_limit_bytes")
            .Value(static_cast<uint64_t>(GetCPUMemoryUsage().limit_bytes));
        json.Key("instruction_set").Value(IsaName(CpuIsa()));
      }
      json.EndObject();
    }
    json.EndArray();
    std::cout << json.text() << "\n";
    return 0;
  }
  for (const DeviceType type : RegisteredDeviceTypes()) {
    std::cout << DeviceTypeName(type) << " (device type " << static_cast<int>(type) << ")";
    if (type == CPU) {
      std::cout << ": " << UsableCores() << " cores, " << IsaName(CpuIsa()) << ", "
                << Gibibytes(memory) << " GiB of memory, of which nets may take "
                << Gibibytes(GetCPUMemoryUsage().limit_bytes) << " GiB (--memory-limit)";
    }
    std::cout << "\n";
  }
  if (!cuda) std::cout << "CUDA: not in this build; nets that ask for it run on the CPU\n";
  return 0;
}

}  // namespace

const Command& DevicesCommand() {
  static const Command command = {.name = "devices",
                                  .purpose = "lists the devices that nets can run on here",
                                  .usage = "devices [--json]",
                                  .examples = "  caffe2 devices\n  caffe2 devices --json\n",
                                  .options = JoinOptions({{ProcessOptions()[1]}, {kJsonOption}}),
                                  .run = Devices};
  return command;
}

}  // namespace caffe2rt
