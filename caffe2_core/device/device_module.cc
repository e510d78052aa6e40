#include "caffe2_core/device/device_module.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_join.h>
#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <filesystem>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/mutex.h"
#include "caffe2_core/base/own_library.h"
#include "caffe2_core/device/context.h"

namespace caffe2rt {

// caffe2_core/runtime/module_links.h, which this folder may not include.
void CheckModuleLinks(const std::string& file);

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

std::string LastLoaderError() {
  const char* const why = dlerror();
  return why != nullptr ? why : "unknown reason";
}

// RTLD_NODELETE keeps the module loaded: its operators and contexts are used until the process
// ends.
void* Open(const std::string& file, int more = 0) {
  return dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE | more);
}

// THROWS if the file would bring a second copy of the library.
void* OpenNew(const DeviceDescriptor& device, const std::string& file) {
  try {
    CheckModuleLinks(file);
  } catch (const OutOfMemory&) {
    throw;
  } catch (const EnforceNotMet& error) {
    CAFFE_THROW(device.name, ": ", error.message());
  }
  ExportOwnLibrary();
  return Open(file);
}

// Sets the state to kBroken and the message to the loader's error. Returns null.
void* Broken(const DeviceDescriptor& device, const std::string& file, DevicePresence* presence) {
  const std::string why = LastLoaderError();
  presence->state = DeviceState::kBroken;
  presence->path = file;
  presence->message = MakeString(device.name, ": cannot load \"", file, "\": ", why);
  if (why.find("undefined symbol") != std::string::npos) {
    presence->message +=
        "; the program must export all symbols of the static library, or use the shared library";
  }
  return nullptr;
}

// Searches for the module in the order that device_module.h states. Returns its handle, or null
// with the state and the reason in `presence`.
void* OpenModule(const DeviceDescriptor& device, DevicePresence* presence) {
  const std::string& file_name = device.module_file;
  const std::string variable = VariableOf(device);
  if (void* const handle = Open(file_name, RTLD_NOLOAD); handle != nullptr) return handle;
  const char* const named = std::getenv(variable.c_str());
  if (named != nullptr && named[0] != '\0') {
    presence->path = named;
    void* const handle = OpenNew(device, named);
    return handle != nullptr ? handle : Broken(device, named, presence);
  }
  std::vector<std::string> searched;
  if (const std::filesystem::path own = OwnLibraryFolder(); !own.empty()) {
    for (const std::filesystem::path& folder : {own, own.parent_path() / "lib"}) {
      const std::string file = (folder / file_name).string();
      searched.push_back(folder.string());
      if (access(file.c_str(), F_OK) != 0) continue;
      presence->path = file;
      void* const handle = OpenNew(device, file);
      return handle != nullptr ? handle : Broken(device, file, presence);
    }
  }
  if (void* const handle = OpenNew(device, file_name); handle != nullptr) return handle;
  const std::string why = LastLoaderError();
  // If the loader's error names another file, the module exists, but a library that it needs is
  // missing.
  if (why.find(file_name + ": cannot open shared object") == std::string::npos) {
    presence->state = DeviceState::kBroken;
    presence->message = device.name + ": cannot load " + why;
    return nullptr;
  }
  presence->state = DeviceState::kNoModule;
  presence->message = MakeString(device.name, device.in_this_build ? ": " : ": not in this build; ",
                                 file_name, " is not in ", absl::StrJoin(searched, ", "),
                                 " or in the loader's search path; set ", variable, " to its path");
  return nullptr;
}

void PathOf(void* handle, std::string* path) {
  link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map != nullptr) *path = map->l_name;
}

const DeviceModule* OpenAndCheck(const DeviceDescriptor& device, DevicePresence* presence) {
  const DeviceModule* module = device.linked != nullptr ? device.linked() : nullptr;
  if (module == nullptr) {
    void* const handle = OpenModule(device, presence);
    if (handle == nullptr) return nullptr;
    PathOf(handle, &presence->path);
    const std::string symbol = EntryOf(device);
    const auto entry = reinterpret_cast<Entry>(dlsym(handle, symbol.c_str()));
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
