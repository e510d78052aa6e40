#include "caffe2_core/device/device_module.h"

#include <absl/strings/ascii.h>
#include <dlfcn.h>

#include <array>
#include <atomic>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/mutex.h"
#include "caffe2_core/device/context.h"
#include "caffe2_core/device/module_library.h"

namespace caffe2rt {

namespace {

using Entry = const DeviceModule* (*)();

enum Stage { kNotTried, kLoaded, kAsked };

// One mutex for all device types, so that modules that look up each other's devices cannot
// deadlock. It is recursive, because a module that is being loaded may itself look up a device.
// Loader::busy detects this case, and the lookup then returns the current state.
RecursiveMutex& LoadMutex() {
  static RecursiveMutex* const mutex = new RecursiveMutex;
  return *mutex;
}

struct Loader {
  std::atomic<int> stage{kNotTried};
  std::atomic<const DeviceModule*> module{nullptr};
  // The module is being loaded or queried.
  bool busy ABSL_GUARDED_BY(LoadMutex()) = false;
  // Written under the lock. Does not change after kAsked, and is then read without it.
  DevicePresence presence;
};

Loader& LoaderOf(DeviceType type) {
  static auto* const loaders = new std::array<Loader, kMaxDeviceTypes>;
  return (*loaders)[static_cast<size_t>(type)];
}

struct Busy {
  Loader& loader;
  explicit Busy(Loader& l) : loader(l) { loader.busy = true; }
  ~Busy() { loader.busy = false; }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;
};

std::string VariableOf(const DeviceDescriptor& device) {
  return "CAFFE2_" + absl::AsciiStrToUpper(device.name) + "_MODULE";
}
std::string EntryOf(const DeviceDescriptor& device) {
  return "caffe2rt_" + absl::AsciiStrToLower(device.name) + "_module";
}
// "libcaffe2_counting" for the module file "libcaffe2_counting.so.0".
std::string LibraryOf(const DeviceDescriptor& device) {
  return device.module_file.substr(0, device.module_file.find(".so"));
}

const DeviceModule* OpenAndCheck(const DeviceDescriptor& device, DevicePresence* presence) {
  const DeviceModule* module = device.linked != nullptr ? device.linked() : nullptr;
  if (module == nullptr) {
    const OpenedLibrary library = OpenModuleLibrary(
        {device.name, device.module_file, VariableOf(device), device.in_this_build});
    presence->path = library.path;
    presence->message = library.message;
    if (library.is_broken) presence->state = DeviceState::kBroken;
    if (library.handle == nullptr) return nullptr;
    const std::string symbol = EntryOf(device);
    const auto entry = reinterpret_cast<Entry>(dlsym(library.handle, symbol.c_str()));
    CAFFE_ENFORCE(entry != nullptr, device.name, ": \"", presence->path, "\" does not export ",
                  symbol, ": it is not ", LibraryOf(device));
    module = entry();
  }
  CAFFE_ENFORCE(module != nullptr, device.name, ": \"", presence->path, "\" returns no module");
  CAFFE_ENFORCE_EQ(module->interface, kDeviceModuleInterface, device.name, ": \"", presence->path,
                   "\" was built with another version of this library");
  CAFFE_ENFORCE(module->register_context != nullptr, device.name, ": \"", presence->path,
                "\" has no function that registers its context");
  return module;
}

// Registers the flags first: an invalid value throws, which makes the module unusable.
void RegisterParts(const DeviceDescriptor& device, const DeviceModule& module) {
  if (device.flags != nullptr) {
    for (Flag& flag : device.flags()) RegisterFlag(std::move(flag.info), std::move(flag.set));
  }
  if (module.register_operators != nullptr) module.register_operators();
}

// Whether the device has a static context. A program may have registered one without a module, as
// tests do.
bool IsRegistered(DeviceType type) {
  for (const DeviceType known : RegisteredDeviceTypes()) {
    if (known == type) return true;
  }
  return false;
}

const DevicePresence& PresenceWithoutModule(DeviceType type) {
  static const DevicePresence* const missing = new DevicePresence;
  static const DevicePresence* const ready = new DevicePresence{.state = DeviceState::kReady};
  return IsRegistered(type) ? *ready : *missing;
}

// Runs `step`. An exception sets the state to kBroken and becomes its message.
template <class F>
void Guarded(const DeviceDescriptor& device, Loader& loader, F step)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(LoadMutex()) {
  const Busy busy(loader);
  try {
    step();
    return;
  } catch (const EnforceNotMet& error) {
    loader.presence.message = error.message();
  } catch (const std::exception& error) {
    loader.presence.message = MakeString(device.name, ": cannot start: ", error.what());
  }
  loader.module = nullptr;
  loader.presence.state = DeviceState::kBroken;
}

}  // namespace

const char* DeviceStateName(DeviceState state) {
  switch (state) {
    case DeviceState::kNoModule:
      return "no module";
    case DeviceState::kBroken:
      return "broken module";
    case DeviceState::kNoDriver:
      return "no driver";
    case DeviceState::kNoDevice:
      return "no device";
    case DeviceState::kUnavailable:
      return "driver does not start";
    case DeviceState::kReady:
      return "ready";
  }
  return "unknown";
}

const DeviceModule* LoadDeviceModule(DeviceType type) {
  const DeviceDescriptor* const device = FindDeviceDescriptor(type);
  if (device == nullptr) return nullptr;
  Loader& loader = LoaderOf(type);
  if (loader.stage.load(std::memory_order_acquire) != kNotTried) return loader.module;
  const RecursiveMutexLock lock(LoadMutex());
  if (loader.busy || loader.stage.load() != kNotTried) return loader.module;
  if (IsRegistered(type)) return nullptr;
  Guarded(*device, loader, [&] {
    const DeviceModule* const module = OpenAndCheck(*device, &loader.presence);
    if (module != nullptr) RegisterParts(*device, *module);
    loader.module = module;
  });
  loader.stage.store(kLoaded, std::memory_order_release);
  return loader.module;
}

const DevicePresence& FindDevice(DeviceType type) {
  const DeviceDescriptor* const device = FindDeviceDescriptor(type);
  if (device == nullptr) return PresenceWithoutModule(type);
  Loader& loader = LoaderOf(type);
  if (loader.stage.load(std::memory_order_acquire) == kAsked) return loader.presence;
  const RecursiveMutexLock lock(LoadMutex());
  if (loader.busy || loader.stage.load() == kAsked) return loader.presence;
  if (const DeviceModule* const module = LoadDeviceModule(type); module != nullptr) {
    Guarded(*device, loader, [&loader, device, module] {
      std::string path = loader.presence.path;
      loader.presence = module->register_context();
      loader.presence.path = std::move(path);
      CAFFE_ENFORCE(
          loader.presence.state != DeviceState::kReady || IsRegistered(device->type), device->name,
          ": its module reports that the device is ready, but did not register a context for it");
    });
  } else if (loader.stage.load() == kNotTried) {
    return PresenceWithoutModule(type);  // registered by the program; not cached
  }
  loader.stage.store(kAsked, std::memory_order_release);
  return loader.presence;
}

const DeviceModule& EnforceDeviceModule(DeviceType type) {
  const DeviceDescriptor* const device = FindDeviceDescriptor(type);
  CAFFE_ENFORCE(device != nullptr, "device ", DeviceTypeName(type), " has no module");
  const DevicePresence& presence = FindDevice(type);
  const DeviceModule* const module = LoadDeviceModule(type);
  CAFFE_ENFORCE(presence.state == DeviceState::kReady, presence.message, "; run on the CPU");
  CAFFE_ENFORCE(module != nullptr, device->name,
                ": this program registered the device itself and did not load ",
                LibraryOf(*device));
  return *module;
}

}  // namespace caffe2rt
