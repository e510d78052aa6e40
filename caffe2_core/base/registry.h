#pragma once
// Registry: maps a key to a function that creates an object. The names are Caffe2's.
//
//   Registry<std::string, std::unique_ptr<Animal>, int> zoo("animal");
//   zoo.Register("cat", [](int age) { return std::make_unique<Cat>(age); }, __FILE__);
//   std::unique_ptr<Animal> cat = zoo.Create("cat", 3);   // nullptr for an unknown key
//
// Thread safe. A static registration (by a user's macro) cannot throw, so a second creator for a
// key is recorded as a conflict that names both files; ThrowConflicts reports it. A lookup acquires
// a lock: look up once, not in every run of a net.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "caffe2_core/base/conflicts.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/mutex.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

template <class Key, class ObjectPtr, class... Args>
class Registry {
 public:
  using Creator = std::function<ObjectPtr(Args...)>;

  // `subject` is what the messages call a key.
  explicit Registry(std::string subject = "key") : subject_(std::move(subject)) {}
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  // Registers a creator. `file` is named in conflicts and listings. Returns whether the key was
  // new; if it was not, the first creator stays and a conflict is recorded.
  bool Register(const Key& key, Creator creator, const std::string& file = "",
                const std::string& help = "") {
    const MutexLock lock(mutex_);
    auto [it, inserted] = entries_.try_emplace(key, Entry{std::move(creator), file, help});
    if (!inserted) {
      conflicts_.push_back(MakeString(subject_, " \"", key, "\" is registered twice: in ",
                                      it->second.file, " and in ", file));
    }
    return inserted;
  }

  bool Has(const Key& key) const {
    const MutexLock lock(mutex_);
    return entries_.contains(key);
  }

  // Creates an object; null for an unknown key. The creator runs without the lock.
  ObjectPtr Create(const Key& key, Args... args) const {
    Creator creator;
    {
      const MutexLock lock(mutex_);
      const auto it = entries_.find(key);
      if (it == entries_.end()) return nullptr;
      creator = it->second.creator;
    }
    return creator(std::forward<Args>(args)...);
  }

  std::vector<Key> Keys() const {
    const MutexLock lock(mutex_);
    std::vector<Key> keys;
    for (const auto& [key, entry] : entries_) keys.push_back(key);
    return keys;
  }

  // The file that registered `key`; empty for an unknown key.
  std::string File(const Key& key) const {
    const MutexLock lock(mutex_);
    const auto it = entries_.find(key);
    return it == entries_.end() ? std::string() : it->second.file;
  }

  std::string HelpMessage(const Key& key) const {
    const MutexLock lock(mutex_);
    const auto it = entries_.find(key);
    return it == entries_.end() ? std::string() : it->second.help;
  }

  // THROWS EnforceNotMet with the recorded conflicts and clears them. Does nothing if there are
  // none.
  void ThrowConflicts() {
    std::vector<std::string> conflicts;
    {
      const MutexLock lock(mutex_);
      conflicts.swap(conflicts_);
    }
    ThrowAny(conflicts);
  }

 private:
  struct Entry {
    Creator creator;
    std::string file;
    std::string help;
  };
  const std::string subject_;
  mutable Mutex mutex_;
  std::map<Key, Entry> entries_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::string> conflicts_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace caffe2rt
#pragma GCC visibility pop
