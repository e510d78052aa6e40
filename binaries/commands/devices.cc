// caffe2 devices: where nets can run.

#include <sched.h>
#include <unistd.h>

#include <iostream>

#include "binaries/commands/command.h"
#include "binaries/json_writer.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/isa.h"
#include "caffe2_core/device/context.h"
#include "caffe2_core/device/cuda_module.h"
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

uint64_t MemoryBytes() {
  return static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

double Gibibytes(uint64_t bytes) { return static_cast<double>(bytes >> 20) / 1024; }

void WriteCpu(JsonWriter* json) {
  json->Key("cores").Value(UsableCores()).Key("memory_bytes").Value(MemoryBytes());
  json->Key("memory_limit_bytes").Value(static_cast<uint64_t>(GetCPUMemoryUsage().limit_bytes));
  json->Key("instruction_set").Value(IsaName(CpuIsa()));
}

// What there is of CUDA, also where nothing is.
void WriteCuda(const CudaPresence& presence, JsonWriter* json) {
  json->Key("state").Value(CudaStateName(presence.state));
  json->Key("message").Value(presence.message).Key("module").Value(presence.path);
  const CudaModule* const module = LoadCudaModule();
  if (module == nullptr) return;
  json->Key("devices").BeginArray();
  for (const CudaModule::Device& device : module->devices()) {
    json->BeginObject()
        .Key("name")
        .Value(device.name)
        .Key("memory_bytes")
        .Value(device.memory_bytes)
        .Key("compute_capability")
        .Value(MakeString(device.major, ".", device.minor))
        .EndObject();
  }
  json->EndArray().Key("libraries").BeginArray();
  for (const CudaModule::Library& library : module->libraries()) {
    json->BeginObject().Key("name").Value(library.name).Key("found").Value(library.found);
    json->Key("detail").Value(library.detail).EndObject();
  }
  json->EndArray();
}

void PrintCuda(const CudaPresence& presence) {
  if (presence.state != CudaState::kReady) {
    std::cout << presence.message << "; nets that ask for it run on the CPU\n";
    return;
  }
  if (!presence.message.empty()) std::cout << presence.message << "\n";
  const CudaModule* const module = LoadCudaModule();
  if (module == nullptr) return;
  int id = 0;
  for (const CudaModule::Device& device : module->devices()) {
    std::cout << "  cuda:" << id++ << "  " << device.name << ", " << Gibibytes(device.memory_bytes)
              << " GiB of memory, compute capability " << device.major << "." << device.minor
              << "\n";
  }
  for (const CudaModule::Library& library : module->libraries()) {
    std::cout << "  " << library.name << ": " << (library.found ? "found" : library.detail) << "\n";
  }
}

int Devices(const CommandLine& line) {
  CheckPositional(line, 0, 0, "no files");
  const CudaPresence& cuda = FindCuda();
  std::vector<DeviceType> types = RegisteredDeviceTypes();
  if (line.Has("json")) {
    JsonWriter json;
    json.BeginArray();
    for (const DeviceType type : types) {
      json.BeginObject().Key("type").Value(static_cast<int>(type));
      json.Key("name").Value(DeviceTypeName(type)).Key("available").Value(true);
      if (type == CPU) WriteCpu(&json);
      if (type == CUDA) WriteCuda(cuda, &json);
      json.EndObject();
    }
    if (cuda.state != CudaState::kReady) {
      json.BeginObject().Key("type").Value(static_cast<int>(CUDA));
      json.Key("name").Value(DeviceTypeName(CUDA)).Key("available").Value(false);
      WriteCuda(cuda, &json);
      json.EndObject();
    }
    json.EndArray();
    std::cout << json.text() << "\n";
    return 0;
  }
  for (const DeviceType type : types) {
    std::cout << DeviceTypeName(type) << " (device type " << static_cast<int>(type) << ")";
    if (type == CPU) {
      std::cout << ": " << UsableCores() << " cores, " << IsaName(CpuIsa()) << ", "
                << Gibibytes(MemoryBytes()) << " GiB of memory, of which nets may take "
                << Gibibytes(GetCPUMemoryUsage().limit_bytes) << " GiB (--memory-limit)";
    }
    std::cout << "\n";
    if (type == CUDA) PrintCuda(cuda);
  }
  if (cuda.state != CudaState::kReady) PrintCuda(cuda);
  return 0;
}

}  // namespace

const Command& DevicesCommand() {
  static const Command command = {
      .name = "devices",
      .purpose = "lists the devices that nets can run on here",
      .usage = "devices [--module FILE.so] [--json]",
      .examples = "  caffe2 devices\n  caffe2 devices --json\n",
      .options = JoinOptions({{ProcessOptions()[1], ProcessOptions()[2]}, {kJsonOption}}),
      .run = Devices};
  return command;
}

}  // namespace caffe2rt
