// caffe2 devices: lists the devices on which nets can run, and the engines of collectives.

#include <absl/strings/ascii.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "binaries/commands/command.h"
#include "binaries/json_output.h"
#include "binaries/terminal.h"
#include "caffe2_core/base/byte_size.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/isa.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/device/context.h"
#include "caffe2_core/device/device_module.h"
#include "contexts/cpu/cpu_allocator.h"
#include "contexts/cpu/numa.h"
#include "operators/distributed/collective_engine.h"

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

// The engines whose collectives exchange tensors of the CPU.
Json CollectiveEngines() {
  Json engines = Json::array();
  for (const CollectiveEnginePresence& engine : FindCollectiveEngines()) {
    engines.emplace_back() = {{"name", engine.name},
                              {"available", engine.available},
                              {engine.available ? "detail" : "message", engine.detail},
                              {"module", engine.path}};
  }
  return engines;
}

void WriteCpu(Json* json) {
  (*json)["cores"] = UsableCores();
  (*json)["memory_bytes"] = MemoryBytes();
  (*json)["memory_limit_bytes"] = GetCPUMemoryUsage().limit_bytes;
  (*json)["instruction_set"] = IsaName(CpuIsa());
  (*json)["collective_engines"] = CollectiveEngines();
}

// Returns the module's own description, empty if there is no module.
DeviceDescription Describe(DeviceType type) {
  const DeviceModule* const module = LoadDeviceModule(type);
  return module != nullptr && module->describe != nullptr ? module->describe()
                                                          : DeviceDescription();
}

// Writes the state of a device that is loaded on demand, even if it is not available.
void WriteModule(const DeviceDescriptor& device, Json* json) {
  const DevicePresence& presence = FindDevice(device.type);
  (*json)["state"] = DeviceStateName(presence.state);
  (*json)["message"] = presence.message;
  (*json)["module"] = presence.path;
  if (LoadDeviceModule(device.type) == nullptr) return;
  const DeviceDescription description = Describe(device.type);
  Json devices = Json::array(), libraries = Json::array();
  for (const DeviceDescription::Device& one : description.devices) {
    Json& entry = devices.emplace_back();
    entry["name"] = one.name;
    entry["memory_bytes"] = one.memory_bytes;
    for (const auto& [key, value] : one.facts) entry[key] = value;
  }
  for (const DeviceDescription::Library& library : description.libraries) {
    libraries.emplace_back() = {
        {"name", library.name}, {"found", library.found}, {"detail", library.detail}};
  }
  (*json)["devices"] = std::move(devices);
  (*json)["libraries"] = std::move(libraries);
}

void PrintModule(const DeviceDescriptor& device) {
  const DevicePresence& presence = FindDevice(device.type);
  if (presence.state != DeviceState::kReady) {
    PrintParagraph(presence.message + "; nets that specify it run on the CPU", 4);
    return;
  }
  if (!presence.message.empty()) PrintParagraph(presence.message, 4);
  const DeviceDescription description = Describe(device.type);
  int id = 0;
  for (const DeviceDescription::Device& one : description.devices) {
    std::string text = MakeString("  ", absl::AsciiStrToLower(device.name), ":", id++, "  ",
                                  one.name, ", ", ByteSizeText(one.memory_bytes), " of memory");
    for (DeviceDescription::Fact fact : one.facts) {
      std::replace(fact.key.begin(), fact.key.end(), '_', ' ');
      text += MakeString(", ", fact.key, " ", fact.value);
    }
    PrintParagraph(text, 6);
  }
  for (const DeviceDescription::Library& library : description.libraries) {
    PrintParagraph(
        MakeString("  ", library.name, ": ", library.found ? "found, " : "", library.detail), 6);
  }
}

// Returns the devices that the library knows, by type: null if the device is available, otherwise its
// descriptor. Loads all available ones.
std::map<DeviceType, const DeviceDescriptor*> KnownDevices() {
  std::map<DeviceType, const DeviceDescriptor*> devices;
  for (const DeviceDescriptor* device : DeviceDescriptors()) {
    if (FindDevice(device->type).state != DeviceState::kReady) devices[device->type] = device;
  }
  for (const DeviceType type : RegisteredDeviceTypes()) devices[type] = nullptr;
  return devices;
}

void WriteDevices(const std::map<DeviceType, const DeviceDescriptor*>& devices) {
  const JsonDocument json = NewJson();
  *json = Json::array();
  for (const auto& [type, missing] : devices) {
    Json& entry = json->emplace_back();
    entry = {{"type", static_cast<int>(type)},
             {"name", missing != nullptr ? missing->name : DeviceTypeName(type)},
             {"available", missing == nullptr}};
    if (type == CPU) WriteCpu(&entry);
    if (const DeviceDescriptor* const device = FindDeviceDescriptor(type)) {
      WriteModule(*device, &entry);
    }
  }
  PrintJson(*json);
}

void PrintDevices(const std::map<DeviceType, const DeviceDescriptor*>& devices) {
  for (const auto& [type, missing] : devices) {
    if (missing != nullptr) {
      PrintModule(*missing);
      continue;
    }
    std::string text =
        MakeString(DeviceTypeName(type), " (device type ", static_cast<int>(type), ")");
    if (type == CPU) {
      const int cores = UsableCores();
      text += MakeString(": ", CountText(cores, "core"), ", ", IsaName(CpuIsa()), ", ",
                         ByteSizeText(MemoryBytes()), " of memory, of which nets may use ",
                         ByteSizeText(GetCPUMemoryUsage().limit_bytes), " (--memory-limit)");
    }
    PrintParagraph(text, 4);
    if (const DeviceDescriptor* const device = FindDeviceDescriptor(type)) PrintModule(*device);
  }
}

void PrintEngines() {
  for (const CollectiveEnginePresence& engine : FindCollectiveEngines()) {
    PrintParagraph(engine.available
                       ? MakeString("engine ", engine.name, " of collectives: ", engine.detail)
                       : MakeString(engine.detail, "; collectives that name it fail"),
                   4);
  }
}

int Devices(const CommandLine& line) {
  CheckPositional(line, 0, 0, "no files");
  line.Has("json") ? WriteDevices(KnownDevices()) : PrintDevices(KnownDevices());
  if (!line.Has("json")) PrintEngines();
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
