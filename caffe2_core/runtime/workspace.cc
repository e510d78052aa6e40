#include "caffe2_core/runtime/workspace.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <new>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/logging.h"
#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/base/signal_handler.h"
#include "caffe2_core/base/suggest.h"
#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/graph/random_streams.h"
#include "caffe2_core/io/file_access.h"
#include "caffe2_core/runtime/debug_options.h"
#include "caffe2_core/runtime/fp_exceptions.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/runtime/output_memory.h"

namespace caffe2rt {
namespace {

uint64_t NextWorkspaceId() {
  static std::atomic<uint64_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

// The net that this thread ran last. Running the same net again takes no lock. The entry is invalid
// if the workspace's version of its nets has changed.
struct LastNet {
  uint64_t workspace_id = 0;
  uint64_t version = 0;
  std::string name;
  std::weak_ptr<NetBase> net;
};
thread_local LastNet t_last_net;

constexpr char kNoOverwrite[] =
    "I respectfully refuse to overwrite an existing net of the same name \"";
constexpr char kOverwrite[] = "\", unless you explicitly specify overwrite=true.";

void PrintBlobSizesAtExit(const Workspace& ws) noexcept {
  try {
    ws.PrintBlobSizes();
  } catch (...) {
    LOG(ERROR) << "cannot print the sizes of a workspace's blobs";
  }
}

}  // namespace

Workspace::Workspace(const std::string& root_folder, const Workspace* shared)
    : root_folder_(root_folder), shared_(shared), id_(NextWorkspaceId()) {}

Workspace::Workspace(const Workspace* shared,
                     const std::unordered_map<std::string, std::string>& forwarded)
    : Workspace(".", nullptr) {
  AddBlobMapping(shared, forwarded);
  SetFileAccess(shared->file_access());
}

Workspace::~Workspace() {
  if (GlobalDebugOptions().print_blob_sizes_at_exit) PrintBlobSizesAtExit(*this);
  // Nets are destroyed before the blobs that their operators use. Their destructors may call the
  // workspace.
  std::map<std::string, std::shared_ptr<NetBase>> nets;
  const WriterLock lock(mutex_);
  nets.swap(nets_);
}

std::shared_ptr<Blob> Workspace::FindBlob(const std::string& name) const {
  const Workspace* next = shared_;
  const std::string* wanted = &name;
  std::string target;
  {
    const ReaderLock lock(mutex_);
    if (const auto it = blobs_.find(name); it != blobs_.end()) return it->second;
    if (const auto it = forwarded_.find(name); it != forwarded_.end()) {
      next = it->second.first;
      target = it->second.second;
      wanted = &target;
    }
  }
  // Without the lock: workspaces may forward names to each other.
  return next != nullptr ? next->FindBlob(*wanted) : nullptr;
}

std::vector<std::string> Workspace::LocalBlobs() const try {
  const ReaderLock lock(mutex_);
  std::vector<std::string> names;
  for (const auto& [name, blob] : blobs_) names.push_back(name);
  return names;
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

std::vector<std::string> Workspace::Blobs() const try {
  std::vector<std::string> names;
  {
    const ReaderLock lock(mutex_);
    for (const auto& [name, blob] : blobs_) names.push_back(name);
    for (const auto& [name, target] : forwarded_) names.push_back(name);
  }
  if (shared_ != nullptr) {
    const std::vector<std::string> inherited = shared_->Blobs();
    names.insert(names.end(), inherited.begin(), inherited.end());
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

const Blob* Workspace::GetBlob(const std::string& name) const {
  const std::shared_ptr<Blob> blob = FindBlob(name);
  if (blob == nullptr) {
    LOG(WARNING) << "blob \"" << name << "\" is not in the workspace; close: "
                 << absl::StrJoin(NearestNames(name, Blobs()), ", ");
  }
  return blob.get();
}

Blob* Workspace::GetBlob(const std::string& name) {
  return const_cast<Blob*>(static_cast<const Workspace*>(this)->GetBlob(name));
}

Blob* Workspace::CreateBlob(const std::string& name) try {
  if (const std::shared_ptr<Blob> found = FindBlob(name)) return found.get();
  const WriterLock lock(mutex_);
  if (const auto it = blobs_.find(name); it != blobs_.end()) return it->second.get();
  if (const auto it = forwarded_.find(name); it != forwarded_.end()) {
    CAFFE_THROW("blob \"", name, "\" is forwarded to \"", it->second.second,
                "\", which no longer exists in the parent workspace");
  }
  return (blobs_[name] = std::make_shared<Blob>()).get();
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

Blob* Workspace::CreateLocalBlob(const std::string& name) try {
  const WriterLock lock(mutex_);
  const auto it = blobs_.find(name);
  if (it != blobs_.end()) return it->second.get();
  return (blobs_[name] = std::make_shared<Blob>()).get();
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

void Workspace::ShareBlob(const std::string& name, std::shared_ptr<Blob> blob) try {
  CAFFE_ENFORCE(blob != nullptr, "argument blob of ShareBlob is null");
  const WriterLock lock(mutex_);
  blobs_[name].swap(blob);  // the old blob is destroyed after the lock is released
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

bool Workspace::RemoveBlob(const std::string& name) {
  std::shared_ptr<Blob> removed;  // destroyed after the lock is released
  const WriterLock lock(mutex_);
  const auto it = blobs_.find(name);
  if (it == blobs_.end()) return false;
  removed = std::move(it->second);
  blobs_.erase(it);
  return true;
}

Blob* Workspace::RenameBlob(const std::string& from, const std::string& to) try {
  const bool is_visible = HasBlob(to);
  const WriterLock lock(mutex_);
  const auto it = blobs_.find(from);
  CAFFE_ENFORCE(it != blobs_.end(), "cannot rename blob \"", from,
                "\": it is not in the workspace");
  CAFFE_ENFORCE(!is_visible && !blobs_.contains(to), "cannot rename blob \"", from, "\" to \"", to,
                "\": that name is taken");
  Blob* const blob = (blobs_[to] = it->second).get();
  blobs_.erase(it);
  return blob;
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

bool Workspace::IsForwardedTo(const Workspace* end, const std::string& end_name,
                              std::string name) const {
  for (const Workspace* next = this; next != nullptr;) {
    const Workspace* const at = next;
    if (at == end && name == end_name) return true;
    const ReaderLock lock(at->mutex_);
    const auto it = at->forwarded_.find(name);
    if (it == at->forwarded_.end()) {
      next = at->shared_;
    } else {
      next = it->second.first;
      name = it->second.second;
    }
  }
  return false;
}

void Workspace::AddBlobMapping(const Workspace* parent,
                               const std::unordered_map<std::string, std::string>& forwarded,
                               bool skip_defined_blobs) try {
  CAFFE_ENFORCE(parent != nullptr && parent != this,
                "argument parent of AddBlobMapping is null or the workspace itself, want another "
                "workspace");
  static Mutex& all_mappings = *new Mutex;
  const MutexLock one_at_a_time(all_mappings);  // two threads could close a cycle
  for (const auto& [name, target] : forwarded) {
    CAFFE_ENFORCE(parent->HasBlob(target), "cannot forward blob \"", name, "\": \"", target,
                  "\" is not in the parent workspace");
    const bool is_cycle = parent->IsForwardedTo(this, name, target);
    const WriterLock lock(mutex_);
    if (blobs_.contains(name) || forwarded_.contains(name)) {
      CAFFE_ENFORCE(skip_defined_blobs, "cannot forward blob \"", name,
                    "\": it is defined already");
      continue;
    }
    CAFFE_ENFORCE(!is_cycle, "cannot forward blob \"", name, "\": \"", target,
                  "\" of the parent workspace is forwarded to it, want a blob of another name");
    forwarded_[name] = {parent, target};
  }
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

void Workspace::CopyForwardedTensors(const std::vector<std::string>& names) try {
  for (const std::string& name : names) {
    {
      const ReaderLock lock(mutex_);
      if (!forwarded_.contains(name)) continue;
    }
    const std::shared_ptr<Blob> source = FindBlob(name);
    CAFFE_ENFORCE(source != nullptr && source->IsType<Tensor>(), "forwarded blob \"", name,
                  "\" is not a tensor");
    const Tensor& tensor = source->Get<Tensor>();
    auto copy = std::make_shared<Blob>();
    copy->GetMutableTensor(tensor.GetDeviceType())->CopyFrom(tensor);
    // The name is forwarded until it has its copy. A blob of that name is destroyed after the lock
    // is released.
    const WriterLock lock(mutex_);
    blobs_[name].swap(copy);
    forwarded_.erase(name);
  }
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

NetBase* Workspace::CreateNet(const NetDef& def, bool overwrite) try {
  return CreateNet(std::make_shared<const NetDef>(def), overwrite);
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

NetBase* Workspace::CreateNet(const std::shared_ptr<const NetDef>& def, bool overwrite) try {
  CAFFE_ENFORCE(def != nullptr, "argument def of CreateNet is null");
  // An empty name is a name, as in Caffe2: files of its model zoo have one.
  CAFFE_ENFORCE(def->has_name(), "Net definition should have a name.");
  std::shared_ptr<NetBase> old;
  {
    const WriterLock lock(mutex_);
    const auto it = nets_.find(def->name());
    if (it != nets_.end()) {
      CAFFE_ENFORCE(overwrite, kNoOverwrite, def->name(), kOverwrite);
      old = std::move(it->second);
      nets_.erase(it);
      nets_version_.fetch_add(1, std::memory_order_release);
    }
  }
  old.reset();
  std::shared_ptr<NetBase> net = caffe2rt::CreateNet(def, this);
  if (net == nullptr) {
    const std::string close =
        absl::StrJoin(NearestNames(def->type(), GetNetRegistry()->Keys()), ", ");
    LOG(ERROR) << "net \"" << def->name() << "\" has type \"" << def->type()
               << "\", which is not known" << (close.empty() ? "" : "; close: ") << close;
    return nullptr;
  }
  // Another thread, or the constructor of an operator, may have created a net of that name
  // meanwhile. The net that is not kept is destroyed after the lock is released.
  const WriterLock lock(mutex_);
  CAFFE_ENFORCE(overwrite || !nets_.contains(def->name()), kNoOverwrite, def->name(), kOverwrite);
  std::shared_ptr<NetBase>& kept = nets_[def->name()];
  kept.swap(net);
  nets_version_.fetch_add(1, std::memory_order_release);
  return kept.get();
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

NetBase* Workspace::GetNet(const std::string& name) {
  const ReaderLock lock(mutex_);
  const auto it = nets_.find(name);
  return it == nets_.end() ? nullptr : it->second.get();
}

void Workspace::DeleteNet(const std::string& name) {
  std::shared_ptr<NetBase> deleted;  // destroyed after the lock is released
  const WriterLock lock(mutex_);
  const auto it = nets_.find(name);
  if (it == nets_.end()) return;
  deleted = std::move(it->second);
  nets_.erase(it);
  nets_version_.fetch_add(1, std::memory_order_release);
}

std::vector<std::string> Workspace::Nets() const try {
  const ReaderLock lock(mutex_);
  std::vector<std::string> names;
  for (const auto& [name, net] : nets_) names.push_back(name);
  return names;
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

std::shared_ptr<NetBase> Workspace::FindNet(const std::string& name) {
  LastNet& last = t_last_net;
  const uint64_t version = nets_version_.load(std::memory_order_acquire);
  if (last.workspace_id == id_ && last.version == version && last.name == name) {
    if (std::shared_ptr<NetBase> net = last.net.lock()) return net;
  }
  std::shared_ptr<NetBase> net;
  {
    const ReaderLock lock(mutex_);
    if (const auto it = nets_.find(name); it != nets_.end()) net = it->second;
  }
  if (net != nullptr) last = {.workspace_id = id_, .version = version, .name = name, .net = net};
  return net;
}

bool Workspace::RunNet(const std::string& name) try {
  const std::shared_ptr<NetBase> net = FindNet(name);
  if (net == nullptr) {
    LOG(ERROR) << "net \"" << name << "\" is not in the workspace";
    return false;
  }
  return net->Run();
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

bool Workspace::RunOperatorOnce(const OperatorDef& def) try {
  RandomRuns runs;
  runs.SetSeed(random_seed());
  const std::unique_ptr<OperatorBase> op = CreateOperator(def, this);
  op->random_place().Set(&runs, RandomKeyOf(RandomStreamNames().Next(def)));
  const TransientWrites scope;
  try {
    SeparateOutputs(op.get());
    return GlobalDebugOptions().throw_if_fp_exceptions ? RunCheckingFpExceptions(op.get(), 0)
                                                       : op->Run();
  } catch (...) {
    RethrowWithFrame(MakeString("operator ", op->Describe()));
  }
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

bool Workspace::RunNetOnce(const NetDef& def) try {
  // The def may hold weights, so the net borrows it instead of copying it. The net does not outlive
  // this function.
  const std::shared_ptr<const NetDef> borrowed(std::shared_ptr<void>(), &def);
  const std::unique_ptr<NetBase> net = caffe2rt::CreateNet(borrowed, this);
  CAFFE_ENFORCE(net != nullptr, "net \"", def.name(), "\" has type \"", def.type(),
                "\", which is not known");
  return net->Run();
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

void Workspace::SetFileAccess(FileAccess access) {
  file_access_ = std::make_shared<const FileAccess>(std::move(access));
}

const FileAccess& Workspace::file_access() const {
  static const FileAccess free_access = FileAccess::Free();
  if (file_access_ != nullptr) return *file_access_;
  return shared_ != nullptr ? shared_->file_access() : free_access;
}

void Workspace::PrintBlobSizes() const {
  std::vector<std::tuple<size_t, size_t, std::string>> sizes;
  {
    const ReaderLock lock(mutex_);
    for (const auto& [name, blob] : blobs_) {
      if (!blob->IsType<Tensor>()) continue;
      const Tensor& tensor = *static_cast<const Tensor*>(blob->GetRaw());
      sizes.emplace_back(tensor.shares_data() ? 0 : tensor.capacity_nbytes(), tensor.nbytes(),
                         name);
    }
  }
  std::sort(sizes.rbegin(), sizes.rend());
  std::string text = "capacity bytes, bytes in use, blob";
  for (const auto& [capacity, used, name] : sizes) {
    absl::StrAppend(&text, "\n", capacity, ";", used, ";", name);
  }
  LogOutput(__FILE__, __LINE__, text);
}

ThreadPool* Workspace::GetThreadPool() { return &ProcessThreadPool(); }

}  // namespace caffe2rt
