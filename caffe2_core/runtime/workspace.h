#pragma once
// Workspace: a set of named blobs, and the nets that run on them.
//
//   Workspace ws;
//   ws.RunNetOnce(init_net);                          // fills the weights
//   Tensor* data = BlobGetMutableTensor(ws.CreateBlob("data"), CPU);
//   data->Resize(1, 3, 224, 224);
//   std::copy(pixels.begin(), pixels.end(), data->mutable_data<float>());
//   ws.CreateNet(predict_net);
//   ws.RunNet(predict_net.name());
//   const Tensor& y = ws.GetBlob("softmaxout")->Get<Tensor>();
//
// Ownership: a workspace owns its nets. It shares ownership of its blobs with the operators that
// use them. A blob that is removed from the workspace stays alive, at the same address, as long as
// an operator uses it.
//
// Parents: a workspace may have a parent, whose blobs are visible in the child without being
// copied. A workspace may also forward a name to a blob of another workspace. A name is looked up
// first among the workspace's own blobs, then among the forwarded names, then in the parent. A
// workspace must not outlive its parent, or a workspace to which it forwards names.
//
// Thread safety: several threads may create, look up and remove blobs, and may run different nets,
// at the same time. A net may be run by only one thread at a time. The contents of blobs are not
// synchronized.

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "caffe2_core/base/mutex.h"
#include "caffe2_core/tensor/blob.h"
#include "caffe2rt/caffe2.pb.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

class FileAccess;
class NetBase;
class ThreadPool;
struct PlanOptions;
struct PreparationOptions;

class Workspace {
 public:
  // Called before each iteration of each step of a plan, with the iteration's number. Returning
  // false ends the step.
  using ShouldContinue = std::function<bool(int)>;

  Workspace() : Workspace(".") {}
  explicit Workspace(const std::string& root_folder) : Workspace(root_folder, nullptr) {}
  explicit Workspace(const Workspace* shared) : Workspace(".", shared) {}
  Workspace(const std::string& root_folder, const Workspace* shared);
  // Forwards names to blobs of `shared`; all other blobs of `shared` stay invisible. `forwarded`
  // maps each name in the new workspace to a name in `shared`. The file access policy of `shared`
  // is copied. THROWS if a blob is missing in `shared`.
  Workspace(const Workspace* shared, const std::unordered_map<std::string, std::string>& forwarded);
  ~Workspace();
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  // --- blobs ---
  // Names of the workspace's own blobs, sorted.
  std::vector<std::string> LocalBlobs() const;
  // All visible names: local, forwarded and those of the parent. Sorted.
  std::vector<std::string> Blobs() const;
  bool HasBlob(const std::string& name) const { return FindBlob(name) != nullptr; }
  // Returns null and logs a warning if the blob does not exist.
  const Blob* GetBlob(const std::string& name) const;
  Blob* GetBlob(const std::string& name);
  // Returns the visible blob of that name, or creates a local one. THROWS if the name is forwarded
  // to a blob that no longer exists.
  Blob* CreateBlob(const std::string& name);
  // Returns the local blob of that name, or creates it. The local blob hides a blob of the same
  // name in the parent.
  Blob* CreateLocalBlob(const std::string& name);
  // Makes the local name denote `blob`, which several workspaces then share. Replaces a local blob of
  // that name, which stays alive as long as an operator uses it. THROWS if `blob` is null.
  void ShareBlob(const std::string& name, std::shared_ptr<Blob> blob);
  // Removes a local blob. Returns false if there is none of that name.
  bool RemoveBlob(const std::string& name);
  // Renames a local blob. THROWS if there is none named `from`, or if a blob named `to` is visible.
  Blob* RenameBlob(const std::string& from, const std::string& to);
  // Forwards names to blobs of `parent`. THROWS if a blob is missing in `parent`, if it is itself
  // forwarded to the name, or if a name is already local or forwarded. With `skip_defined_blobs`, the
  // latter names are skipped instead.
  void AddBlobMapping(const Workspace* parent,
                      const std::unordered_map<std::string, std::string>& forwarded,
                      bool skip_defined_blobs = false);
  // Replaces each forwarded tensor in `names` by a local copy. Other names are ignored. THROWS if a
  // forwarded blob does not hold a tensor.
  void CopyForwardedTensors(const std::vector<std::string>& names);
  template <class Context>
  void CopyForwardedTensors(const std::vector<std::string>& names) {
    CopyForwardedTensors(names);
  }
  // Shared ownership of a visible blob, or null if it does not exist. Logs nothing.
  std::shared_ptr<Blob> FindBlob(const std::string& name) const;

  // --- nets ---
  // Creates a net, which the workspace owns. Returns null and logs an error if the net type is
  // unknown. THROWS if `def` has no name, if a net of that name exists and `overwrite` is false, or
  // if the net cannot be built.
  NetBase* CreateNet(const NetDef& def, bool overwrite = false);
  NetBase* CreateNet(const std::shared_ptr<const NetDef>& def, bool overwrite = false);
  // The same for a net that is prepared first: graph passes and choices of its operators
  // (model/preparation.h, where it is defined). The workspace must hold the weights.
  NetBase* CreateNet(const NetDef& def, const PreparationOptions& options, bool overwrite = false);
  // Null if there is no such net.
  NetBase* GetNet(const std::string& name);
  // Does nothing if there is no such net.
  void DeleteNet(const std::string& name);
  std::vector<std::string> Nets() const;
  // Runs a net and waits for it. Returns false and logs an error if there is no such net. THROWS if
  // the net fails. Running the same net again on the same thread takes no lock. A net that is
  // deleted or overwritten while this function runs it is destroyed when the run has ended.
  bool RunNet(const std::string& name);
  // Creates an operator, runs it and destroys it. Returns false if the operator reports a failure.
  // THROWS if the operator cannot be created, or if it throws.
  bool RunOperatorOnce(const OperatorDef& def);
  // Creates a net, runs it and destroys it. THROWS if the net cannot be created, or if it fails.
  bool RunNetOnce(const NetDef& def);
  // Runs a plan. If `should_continue` is empty, the plan runs until it ends or the process receives
  // SIGINT or SIGHUP. Defined in plan_executor.cc.
  bool RunPlan(const PlanDef& plan, ShouldContinue should_continue = {});
  bool RunPlan(const PlanDef& plan, const PlanOptions& options);

  // The folder to which operators resolve relative paths.
  const std::string& RootFolder() const { return root_folder_; }
  // The policy that decides which files operators may open (caffe2_core/io/file_access.h). A
  // workspace whose policy is not set uses its parent's. Without a parent, access is free, as in
  // Caffe2. Set the policy before nets are created.
  void SetFileAccess(FileAccess access);
  const FileAccess& file_access() const;
  // The seed of the random numbers of nets, and of operators that run once, that are created
  // afterwards (NetBase::SetRandomSeed). What runs once is run 0 of a net: RunOperatorOnce and
  // RunNetOnce give the same numbers whenever they are called with the same def. A workspace whose seed
  // is not set uses its parent's. Without a seed, the numbers differ in every process.
  void SetRandomSeed(std::optional<uint64_t> seed) { random_seed_ = seed; }
  std::optional<uint64_t> random_seed() const {
    return random_seed_.has_value() || shared_ == nullptr ? random_seed_ : shared_->random_seed();
  }
  // The parent, or null.
  const Workspace* shared() const { return shared_; }
  // Prints the local tensors, largest first, with their sizes in bytes to stderr or the log sink.
  void PrintBlobSizes() const;
  // The thread pool for operators. All workspaces use the one pool of the process.
  ThreadPool* GetThreadPool();

  // The net position of the operator that failed last, whether in its constructor or in a run. -1
  // if none has failed.
  std::atomic<int> last_failed_op_net_position{-1};

 private:
  // Whether the look-up of `name` reaches the name `end_name` of `end`.
  bool IsForwardedTo(const Workspace* end, const std::string& end_name, std::string name) const;
  std::shared_ptr<NetBase> FindNet(const std::string& name);  // shared with a run

  const std::string root_folder_;
  const Workspace* const shared_;
  std::shared_ptr<const FileAccess> file_access_;  // null if not set; see file_access()
  std::optional<uint64_t> random_seed_;            // see random_seed()
  mutable SharedMutex mutex_;
  std::map<std::string, std::shared_ptr<Blob>> blobs_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, std::pair<const Workspace*, std::string>> forwarded_
      ABSL_GUARDED_BY(mutex_);
  std::map<std::string, std::shared_ptr<NetBase>> nets_ ABSL_GUARDED_BY(mutex_);
  const uint64_t id_;                      // unique within the process, unlike an address
  std::atomic<uint64_t> nets_version_{0};  // incremented when a net is created or deleted
};

}  // namespace caffe2rt
#pragma GCC visibility pop
