#pragma once
// Workspace: named blobs, and the nets that run over them.
//
//   Workspace ws;
//   ws.RunNetOnce(init_net);                                        // fills the weights
//   Tensor* data = BlobGetMutableTensor(ws.CreateBlob("data"), CPU);
//   data->Resize(1, 3, 224, 224); ...
//   ws.CreateNet(predict_net);
//   ws.RunNet(predict_net.name());
//   const Tensor& y = ws.GetBlob("softmaxout")->Get<Tensor>();
//
// A workspace owns its blobs and nets. A shared parent's blobs are visible here, not copied. Names
// are looked up here first, then among forwarded ones, then in the parent. A blob's address is
// stable; removing a name leaves the blob to the nets that use it.
//
// Thread safety: blobs may be created, looked up and removed by several threads, which may run
// different nets at the same time. One net is run by one thread at a time. Parents must outlive
// their children.

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "caffe2_core/tensor/blob.h"
#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt {

class FileAccess;
class NetBase;
class ThreadPool;
struct PlanOptions;

class Workspace {
 public:
  using ShouldContinue = std::function<bool(int)>;

  Workspace() : Workspace(".") {}
  explicit Workspace(const std::string& root_folder) : Workspace(root_folder, nullptr) {}
  explicit Workspace(const Workspace* shared) : Workspace(".", shared) {}
  Workspace(const std::string& root_folder, const Workspace* shared);
  // Sees blobs of `shared` under other names: forwarded maps a name here to one there. THROWS when
  // one is missing.
  Workspace(const Workspace* shared, const std::unordered_map<std::string, std::string>& forwarded);
  ~Workspace();
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  // --- blobs ---
  std::vector<std::string> LocalBlobs() const;
  // Own, forwarded and shared names.
  std::vector<std::string> Blobs() const;
  bool HasBlob(const std::string& name) const { return FindBlob(name) != nullptr; }
  // Null (and a warning) when there is none.
  const Blob* GetBlob(const std::string& name) const;
  Blob* GetBlob(const std::string& name);
  // The visible blob of that name, or a new local one. THROWS when a forwarded blob was removed by
  // its parent.
  Blob* CreateBlob(const std::string& name);
  // A local blob, hiding a parent's of that name.
  Blob* CreateLocalBlob(const std::string& name);
  // Local names only; whether it was there.
  bool RemoveBlob(const std::string& name);
  // Local names only. THROWS when `from` is missing or `to` is visible.
  Blob* RenameBlob(const std::string& from, const std::string& to);
  // Forwards names to blobs of `parent`. THROWS when one is missing, or redefines a name unless
  // skip_defined_blobs.
  void AddBlobMapping(const Workspace* parent,
                      const std::unordered_map<std::string, std::string>& forwarded,
                      bool skip_defined_blobs = false);
  // Replaces forwarded tensors by local copies.
  void CopyForwardedTensors(const std::vector<std::string>& names);
  template <class Context>
  void CopyForwardedTensors(const std::vector<std::string>& names) {
    CopyForwardedTensors(names);
  }
  // Shared ownership of a visible blob; null when there is none. Silent.
  std::shared_ptr<Blob> FindBlob(const std::string& name) const;

  // --- nets ---
  // THROWS when the name is missing, taken (unless overwrite), or the net cannot be built. Returns
  // null and logs for an unknown net type. The net belongs to the workspace.
  NetBase* CreateNet(const NetDef& def, bool overwrite = false);
  NetBase* CreateNet(const std::shared_ptr<const NetDef>& def, bool overwrite = false);
  NetBase* GetNet(const std::string& name);
  void DeleteNet(const std::string& name);
  std::vector<std::string> Nets() const;
  // False (and an error line) when there is no such net. Failures in the net THROW. A thread that
  // runs the same net again takes no lock. REQUIRES: nobody deletes or overwrites the net
  // meanwhile.
  bool RunNet(const std::string& name);
  bool RunOperatorOnce(const OperatorDef& def);
  bool RunNetOnce(const NetDef& def);
  // Runs a plan (plan_executor.h). Without `should_continue` it stops on SIGINT or SIGHUP.
  bool RunPlan(const PlanDef& plan, ShouldContinue should_continue = {});
  bool RunPlan(const PlanDef& plan, const PlanOptions& options);

  const std::string& RootFolder() const { return root_folder_; }
  // The policy for files that operators open (caffe2_core/io/file_access.h). A workspace without a
  // policy of its own follows its parent; the default is free access, as in Caffe2. Set it before
  // nets are created.
  void SetFileAccess(FileAccess access);
  const FileAccess& file_access() const;
  const Workspace* shared() const { return shared_; }
  void PrintBlobSizes() const;
  // The pool that operators of this workspace may use; made on first use, shared with the process's
  // default.
  ThreadPool* GetThreadPool();

  // The net position of the operator that failed last, in construction or in a run; -1: none.
  std::atomic<int> last_failed_op_net_position{-1};

 private:
  std::shared_ptr<Blob> FindLocked(const std::string& name) const;
  NetBase* FindNet(const std::string& name);

  const std::string root_folder_;
  const Workspace* const shared_;
  std::shared_ptr<const FileAccess> file_access_;  // null: the parent's, or free; set once
  mutable std::shared_mutex mutex_;  // guards the maps, not what is in the blobs
  std::map<std::string, std::shared_ptr<Blob>> blobs_;
  std::map<std::string, std::pair<const Workspace*, std::string>> forwarded_;
  std::map<std::string, std::shared_ptr<NetBase>> nets_;
  const uint64_t id_;                      // never used twice in a process, unlike an address
  std::atomic<uint64_t> nets_version_{0};  // moves when a net is made or deleted
};

}  // namespace caffe2rt
