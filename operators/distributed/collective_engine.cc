#include "operators/distributed/collective_engine.h"

#include <absl/strings/ascii.h>
#include <dlfcn.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/mutex.h"
#include "caffe2_core/device/module_library.h"

#ifndef CAFFE2RT_HAS_GLOO
#define CAFFE2RT_HAS_GLOO 0
#endif

namespace caffe2rt {
namespace {

// What `caffe2 devices` looks for. A net may name others.
constexpr const char* kBuiltinEngines[] = {"GLOO"};

using Entry = const CollectiveEngine* (*)();

struct Loaded {
  const CollectiveEngine* engine = nullptr;
  std::string path = "";
  std::string why = "";  // there is no engine
};

class EngineTable {
 public:
  const Loaded& Find(const std::string& name) {
    const RecursiveMutexLock lock(mutex_);
    const auto [found, is_new] = engines_.try_emplace(name);
    if (is_new) found->second = Load(name);
    return found->second;
  }

  void Register(const std::string& name, const CollectiveEngine* engine) {
    const RecursiveMutexLock lock(mutex_);
    engines_[name] = {.engine = engine};
  }

  std::vector<std::string> Names() {
    const RecursiveMutexLock lock(mutex_);
    std::vector<std::string> names(std::begin(kBuiltinEngines), std::end(kBuiltinEngines));
    for (const auto& [name, loaded] : engines_) {
      if (std::find(names.begin(), names.end(), name) == names.end() && loaded.engine != nullptr) {
        names.push_back(name);
      }
    }
    return names;
  }

 private:
  static Loaded Load(const std::string& name) {
    Loaded loaded;
    try {
      Open(name, &loaded);
    } catch (const OutOfMemory&) {
      throw;
    } catch (const EnforceNotMet& error) {
      loaded.engine = nullptr;
      loaded.why = error.message();
    }
    return loaded;
  }

  static void Open(const std::string& name, Loaded* loaded) {
    constexpr char kUsable[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
    const std::string stem = absl::AsciiStrToLower(name);
    CAFFE_ENFORCE(!stem.empty() && stem.find_first_not_of(kUsable) == std::string::npos,
                  "engine \"", name,
                  "\" of collectives, want letters, digits and underscores, such as GLOO");
    const OpenedLibrary library =
        OpenModuleLibrary({.subject = "engine " + name,
                           .file_name = "libcaffe2_" + stem + ".so",
                           .variable = "CAFFE2_" + absl::AsciiStrToUpper(name) + "_MODULE",
                           .in_this_build = name != "GLOO" || CAFFE2RT_HAS_GLOO != 0});
    loaded->path = library.path;
    CAFFE_ENFORCE(library.handle != nullptr, library.message);
    const std::string symbol = "caffe2rt_" + stem + "_engine";
    const auto entry = reinterpret_cast<Entry>(dlsym(library.handle, symbol.c_str()));
    CAFFE_ENFORCE(entry != nullptr, "engine ", name, ": \"", library.path, "\" does not export ",
                  symbol, ": it is not libcaffe2_", stem);
    loaded->engine = entry();
    CAFFE_ENFORCE(loaded->engine != nullptr, "engine ", name, ": \"", library.path,
                  "\" returns no engine");
    CAFFE_ENFORCE_EQ(loaded->engine->interface, kCollectiveEngineInterface, "engine ", name, ": \"",
                     library.path, "\" was built with another version of this library");
    CAFFE_ENFORCE(loaded->engine->connect != nullptr, "engine ", name, ": \"", library.path,
                  "\" cannot connect");
  }

  RecursiveMutex mutex_;  // a module that is being loaded may register engines
  std::map<std::string, Loaded> engines_ ABSL_GUARDED_BY(mutex_);
};

EngineTable& Engines() {
  static EngineTable* const table = new EngineTable;
  return *table;
}

}  // namespace

const CollectiveEngine& EnforceCollectiveEngine(const std::string& name) {
  CAFFE_ENFORCE(!name.empty(),
                "the operator names no engine, want one that connects processes, such as GLOO");
  const Loaded& loaded = Engines().Find(name);
  CAFFE_ENFORCE(loaded.engine != nullptr, loaded.why);
  return *loaded.engine;
}

void RegisterCollectiveEngine(const std::string& name, const CollectiveEngine* engine) {
  Engines().Register(name, engine);
}

std::vector<CollectiveEnginePresence> FindCollectiveEngines() {
  std::vector<CollectiveEnginePresence> found;
  for (const std::string& name : Engines().Names()) {
    const Loaded& loaded = Engines().Find(name);
    const bool available = loaded.engine != nullptr;
    const bool described = available && loaded.engine->describe != nullptr;
    found.push_back(
        {name, available, described ? loaded.engine->describe() : loaded.why, loaded.path});
  }
  return found;
}

}  // namespace caffe2rt
