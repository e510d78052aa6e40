#pragma once
// Store: keys and values that the processes of a run share, by which they find each other. Blobs of
// the store operators and of CreateCommonWorld hold a StoreBlob.
//
//   const StoreBlob store = MakeFileStore("/nfs/run", "run-7", FileAccess::Free());
//   store->Set("model", bytes);                       // in one process
//   store->Get("model", std::chrono::seconds(30));    // in another one
//
// All functions are thread safe, and are atomic among processes. A value is complete: a reader never
// sees a part of it.

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/io/file_access.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

// A key did not appear in time.
class StoreTimeout : public EnforceNotMet {
 public:
  using EnforceNotMet::EnforceNotMet;
};

class Store {
 public:
  using Duration = std::chrono::milliseconds;
  static constexpr Duration kDefaultTimeout{30000};

  Store() = default;
  virtual ~Store() = default;
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  // Sets the value of a key, whether it exists or not.
  virtual void Set(const std::string& key, const std::string& value) = 0;
  // Sets the value of a key that does not exist. Returns false if it exists.
  virtual bool SetNew(const std::string& key, const std::string& value) = 0;
  // The value, or nothing if there is no such key.
  virtual std::optional<std::string> Find(const std::string& key) = 0;
  // Adds to a number, which is 0 at first, and returns the sum. Get returns it as a decimal number.
  virtual int64_t Add(const std::string& key, int64_t value) = 0;
  // Removes a key; has no effect if there is no such key.
  virtual void Erase(const std::string& key) = 0;
  // What error messages call it: "folder \"/nfs/run/run-7\"".
  virtual std::string Describe() const = 0;

  // Waits until the keys exist. THROWS StoreTimeout, which names the missing keys, after `timeout`,
  // and RunStopped if the run of the calling thread is stopped (caffe2_core/runtime/waiting.h).
  void Wait(const std::vector<std::string>& keys, Duration timeout = kDefaultTimeout);
  // Waits until the key exists, and returns its value. THROWS as Wait does.
  std::string Get(const std::string& key, Duration timeout = kDefaultTimeout);
};

// What the output of FileStoreHandlerCreate holds.
using StoreBlob = std::shared_ptr<Store>;  // worlds keep it, to remove their keys

// A store in the folder `path`/`prefix`, which all processes of a run must see (NFS will do). Creates
// it if `path` exists, and removes it at the end if it is empty. `prefix` identifies the run; it may
// be empty. Each key is a file. THROWS if `access` forbids to write there.
StoreBlob MakeFileStore(const std::string& path, const std::string& prefix,
                        const FileAccess& access);

}  // namespace caffe2rt
#pragma GCC visibility pop
