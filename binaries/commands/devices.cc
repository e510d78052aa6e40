// caffe2 devices: lists the devices on which nets can run.

#include <absl/strings/ascii.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>

#include "binaries/commands/command.h"
#include "binaries/json_writer.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/isa.h"
#include "caffe2_core/device/context.h"
#include "caffe2_core/device/device_module.h"
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

// Returns the module's own description, empty if there is no module.
DeviceDescription Describe(DeviceType type) {
  const DeviceModule* const module = LoadDeviceModule(type);
  return module != nullptr && module->describe != nullptr ? module->describe()
                                                          : DeviceDescription();
}

// Writes the state of a device that is loaded on demand, even if it is not available.
void WriteModule(const DeviceDescriptor& device, JsonWriter* json) {
  const DevicePresence& presence = FindDevice(device.type);
  json->Key("state").Value(DeviceStateName(presence.state));
  json->Key("message").Value(presence.message).Key("module").Value(presence.path);
  if (LoadDeviceModule(device.type) == nullptr) return;
  const DeviceDescription description = Describe(device.type);
  json->Key("devices").BeginArray();
  for (const DeviceDescription::Device& one : description.devices) {
    json->BeginObject().Key("name").Value(one.name).Key("memory_bytes").Value(one.memory_bytes);
    for (const auto& [key, value] : one.facts) json->Key(key).Value(value);
    json->EndObject();
  }
  json->EndArray().Key("libraries").BeginArray();
  for (const DeviceDescription::Library& library : description.libraries) {
    json->BeginObject().Key("name").Value(library.name).Key("found").Value(library.found);
    json->Key("detail").Value(library.detail).EndObject();
  }
  json->EndArray();
}

void PrintModule(const DeviceDescriptor& device) {
  const DevicePresence& presence = FindDevice(device.type);
  if (presence.state != DeviceState::kReady) {
    std::cout << presence.message << "; nets that specify it run on the CPU\n";
    return;
  }
  if (!presence.message.empty()) std::cout << presence.message << "\n";
  const DeviceDescription description = Describe(device.type);
  int id = 0;
  for (const DeviceDescription::Device& one : description.devices) {
    std::cout << "  " << absl::AsciiStrToLower(device.name) << ":" << id++ << "  " << one.name
              << ", " << Gibibytes(one.memory_bytes) << " GiB of memory";
    for (DeviceDescription::Fact fact : one.facts) {
      std::replace(fact.key.begin(), fact.key.end(), '_', ' ');
      std::cout << ", " << fact.key << " " << fact.value;
    }
    std::cout << "\n";
  }
  for (const DeviceDescription::Library& library : description.libraries) {
    std::cout << "  " << library.name << ": " << (library.found ? "found" : library.detail) << "\n";
  }
}

// Returns the devices that the library knows but that are not available. Loads all available ones.
std::vector<const DeviceDescriptor*> MissingDevices() {
  std::vector<const DeviceDescriptor*> missing;
  for (const DeviceDescriptor* device : DeviceDescriptors()) {
    if (FindDevice(device->type).state != DeviceState::kReady) missing.push_back(device);
  }
  return missing;
}

void WriteDevices(const std::vector<const DeviceDescriptor*>& missing) {
  JsonWriter json;
  json.BeginArray();
  for (const DeviceType type : RegisteredDeviceTypes()) {
    json.BeginObject().Key("type").Value(static_cast<int>(type));
    json.Key("name").Value(DeviceTypeName(type)).Key("available").Value(true);
    if (type == CPU) WriteCpu(&json);
    if (const DeviceDescriptor* const device = FindDeviceDescriptor(type)) {
      WriteModule(*device, &json);
    }
    json.EndObject();
  }
  for (const DeviceDescriptor* device : missing) {
    json.BeginObject().Key("type").Value(static_cast<int>(device->type));
    json.Key("name").Value(device->name).Key("available").Value(false);
    WriteModule(*device, &json);
    json.EndObject();
  }
  json.EndArray();
  std::cout << json.text() << "\n";
}

void PrintDevices(const std::vector<const DeviceDescriptor*>& missing) {
  for (const DeviceType type : RegisteredDeviceTypes()) {
    std::cout << DeviceTypeName(type) << " (device type " << static_cast<int>(type) << ")";
    if (type == CPU) {
      std::cout << ": " << UsableCores() << " cores, " << IsaName(CpuIsa()) << ", "
                << Gibibytes(MemoryBytes()) << " GiB of memory, of which nets may use "
                << Gibibytes(GetCPUMemoryUsage().limit_bytes) << " GiB (--memory-limit)";
    }
    std::cout << "\n";
    if (const DeviceDescriptor* const device = FindDeviceDescriptor(type)) PrintModule(*device);
  }
  for (const DeviceDescriptor* device : missing) PrintModule(*device);
}

int Devices(const CommandLine& line) {
  CheckPositional(line, 0, 0, "no files");
  const std::vector<const DeviceDescriptor*> missing = MissingDevices();
  line.Has("json") ? WriteDevices(missing) : PrintDevices(missing);
  return 0;
}

}  // namespace

const Command& DevicesCommand() {
  static const Command command = {
      .name = "devices",
      .purpose = "lists the devices on which nets can run",
      .usage = "devices [--module FILE.so] [--json]",
      .examples = "  caffe2 devices\n  caffe2 devices --json\n",
      .options = JoinOptions({{ProcessOptions()[1], ProcessOptions()[2]}, {kJsonOption}}),
      .run = Devices};
  return command;
}

}  // namespace caffe2rt
