#include "caffe2_core/device/cuda_module.h"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <mutex>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/device/context.h"

namespace caffe2rt {
namespace {

constexpr char kFileName[] = "libcaffe2_cuda.so.0";  // its SONAME
constexpr char kEntry[] = "caffe2rt_cuda_module";
constexpr char kVariable[] = "CAFFE2_CUDA_MODULE";
using Entry = const CudaModule* (*)();

enum Stage { kNotTried, kLoaded, kAsked };

struct Loader {
  std::atomic<int> stage{kNotTried};
  // Held while the module is opened, which may look things up itself: then `busy` answers.
  std::recursive_mutex mutex;
  bool busy = false;
  const CudaModule* module = nullptr;
  CudaPresence presence;
};

Loader& TheLoader() {
  static Loader* const loader = new Loader;
  return *loader;
}

struct Busy {
  Loader& loader;
  explicit Busy(Loader& l) : loader(l) { loader.busy = true; }
  ~Busy() { loader.busy = false; }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;
};

// The folder of the image that holds this code: libcaffe2rt, or the program.
std::filesystem::path OwnFolder() {
  Dl_info info{};
  link_map* map = nullptr;
  std::error_code error;
  std::filesystem::path file = "/proc/self/exe";
  if (dladdr1(reinterpret_cast<void*>(&OwnFolder), &info, reinterpret_cast<void**>(&map),
              RTLD_DL_LINKMAP) != 0 &&
      map != nullptr && map->l_name != nullptr && map->l_name[0] != '\0') {
    file = map->l_name;
  }
  return std::filesystem::canonical(file, error).parent_path();
}

std::string LastLoaderError() {
  const char* const why = dlerror();
  return why != nullptr ? why : "unknown reason";
}

// Also makes sure that it stays: its operators and contexts live as long as the process.
void* Open(const std::string& file, int more = 0) {
  return dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE | more);
}

void* Broken(const std::string& file, CudaPresence* presence) {
  const std::string why = LastLoaderError();
  presence->state = CudaState::kBroken;
  presence->path = file;
  presence->message = MakeString("CUDA: cannot load \"", file, "\": ", why);
  if (why.find("undefined symbol") != std::string::npos) {
    presence->message +=
        "; the program must export all of the static library, or use the shared one";
  }
  return nullptr;
}

// Null, with the reason in `presence`, when there is none.
void* OpenModule(CudaPresence* presence) {
  if (void* const handle = Open(kFileName, RTLD_NOLOAD); handle != nullptr) return handle;
  const char* const named = std::getenv(kVariable);
  if (named != nullptr && named[0] != '\0') {
    presence->path = named;
    void* const handle = Open(named);
    return handle != nullptr ? handle : Broken(named, presence);
  }
  std::vector<std::string> searched;
  if (const std::filesystem::path own = OwnFolder(); !own.empty()) {
    for (const std::filesystem::path& folder : {own, own.parent_path() / "lib"}) {
      const std::string file = (folder / kFileName).string();
      searched.push_back(folder.string());
      if (access(file.c_str(), F_OK) != 0) continue;
      presence->path = file;
      void* const handle = Open(file);
      return handle != nullptr ? handle : Broken(file, presence);
    }
  }
  if (void* const handle = Open(kFileName); handle != nullptr) return handle;
  const std::string why = LastLoaderError();
  // The loader names the file that is missing first; another name is a library that this one needs.
  if (why.find(std::string(kFileName) + ": cannot open shared object") == std::string::npos) {
    presence->state = CudaState::kBroken;
    presence->message = "CUDA: cannot load " + why;
    return nullptr;
  }
  presence->state = CudaState::kNoModule;
  presence->message = MakeString(CudaIsInThisBuild() ? "CUDA: " : "CUDA: not in this build; ",
                                 kFileName, " is not in ", Join(", ", searched),
                                 " or where the loader looks (", kVariable, " may name the file)");
  return nullptr;
}

void PathOf(void* handle, std::string* path) {
  link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map != nullptr) *path = map->l_name;
}

const CudaModule* OpenAndCheck(CudaPresence* presence) {
  if (const CudaModule* const linked = LinkedCudaModule(); linked != nullptr) return linked;
  void* const handle = OpenModule(presence);
  if (handle == nullptr) return nullptr;
  PathOf(handle, &presence->path);
  const auto entry = reinterpret_cast<Entry>(dlsym(handle, kEntry));
  CAFFE_ENFORCE(entry != nullptr, "CUDA: \"", presence->path, "\" has no ", kEntry,
                ": it is no libcaffe2_cuda");
  const CudaModule* const module = entry();
  CAFFE_ENFORCE_EQ(module->interface, kCudaModuleInterface, "CUDA: \"", presence->path,
                   "\" was built with another version of this library");
  return module;
}

// A program may bring CUDA by itself, as tests do.
bool IsRegistered() {
  const std::vector<DeviceType> known = RegisteredDeviceTypes();
  return std::find(known.begin(), known.end(), CUDA) != known.end();
}

// Runs `step`; what it throws becomes the state.
template <class F>
void Guarded(Loader& loader, F step) {
  const Busy busy(loader);
  try {
    step();
  } catch (const EnforceNotMet& error) {
    loader.module = nullptr;
    loader.presence.state = CudaState::kBroken;
    loader.presence.message = error.message();
  } catch (const std::exception& error) {
    loader.module = nullptr;
    loader.presence.state = CudaState::kBroken;
    loader.presence.message = MakeString("CUDA: cannot start: ", error.what());
  }
}

}  // namespace

const char* CudaStateName(CudaState state) {
  switch (state) {
    case CudaState::kNoModule:
      return "no module";
    case CudaState::kBroken:
      return "broken module";
    case CudaState::kNoDriver:
      return "no driver";
    case CudaState::kNoDevice:
      return "no device";
    case CudaState::kUnavailable:
      return "driver does not start";
    case CudaState::kReady:
      return "ready";
  }
  return "unknown";
}

const CudaModule* LoadCudaModule() {
  Loader& loader = TheLoader();
  if (loader.stage.load(std::memory_order_acquire) != kNotTried) return loader.module;
  const std::lock_guard<std::recursive_mutex> lock(loader.mutex);
  if (loader.busy || loader.stage.load() != kNotTried) return loader.module;
  if (IsRegistered()) return nullptr;
  Guarded(loader, [&loader] {
    loader.module = OpenAndCheck(&loader.presence);
    if (loader.module != nullptr) loader.module->register_operators();
  });
  loader.stage.store(kLoaded, std::memory_order_release);
  return loader.module;
}

const CudaPresence& FindCuda() {
  Loader& loader = TheLoader();
  if (loader.stage.load(std::memory_order_acquire) == kAsked) return loader.presence;
  const std::lock_guard<std::recursive_mutex> lock(loader.mutex);
  if (loader.busy || loader.stage.load() == kAsked) return loader.presence;
  if (LoadCudaModule() != nullptr) {
    Guarded(loader, [&loader] {
      std::string path = std::move(loader.presence.path);
      loader.presence = loader.module->register_context();
      loader.presence.path = std::move(path);
    });
  } else if (loader.stage.load() == kNotTried) {
    // Registered by the program: it knows. Asked again the next time.
    loader.presence.state = CudaState::kReady;
    return loader.presence;
  }
  loader.stage.store(kAsked, std::memory_order_release);
  return loader.presence;
}

const CudaModule& EnforceCudaModule() {
  const CudaPresence& presence = FindCuda();
  const CudaModule* const module = LoadCudaModule();
  CAFFE_ENFORCE(presence.state == CudaState::kReady, presence.message, "; run on the CPU");
  CAFFE_ENFORCE(module != nullptr,
                "CUDA: this program registered the device by itself and has no libcaffe2_cuda");
  return *module;
}

}  // namespace caffe2rt
