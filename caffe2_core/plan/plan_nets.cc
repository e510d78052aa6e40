#include "caffe2_core/plan/plan_nets.h"

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/random_stream.h"
#include "caffe2_core/graph/net_blobs.h"
#include "caffe2_core/graph/net_check.h"
#include "caffe2_core/runtime/net_copies.h"
#include "caffe2_core/runtime/workspace.h"

namespace caffe2rt {
namespace {

// Separates the seeds of parts from the keys that RandomRuns derives from a seed.
constexpr uint64_t kPart = 0x70617274;

// The blobs that copies between devices add to the net.
std::vector<std::string> BlobsOfCopies(const std::shared_ptr<const NetDef>& def,
                                       const Workspace& ws) {
  const std::shared_ptr<const NetDef> with_copies = WithDeviceCopies(def, ws);
  std::vector<std::string> added;
  if (with_copies == def) return added;
  const NetBlobs listed(*def);
  for (std::string& output : NamesWrittenBy(*with_copies)) {
    if (listed.Find(output) == NetBlobs::kNone) added.push_back(std::move(output));
  }
  return added;
}

// Creates the blobs of the copies as local blobs of `ws`. No step lists their names, so the search
// for conflicts would miss them.
void HideCopies(const std::shared_ptr<const NetDef>& def, Workspace* ws) {
  for (const std::string& name : BlobsOfCopies(def, *ws)) ws->CreateLocalBlob(name);
}

}  // namespace

std::optional<uint64_t> SeedOfPart(std::optional<uint64_t> seed, uint64_t number) {
  if (seed.has_value()) seed = MixRandomKeys(MixRandomKeys(*seed, kPart), number);
  return seed;
}

NetPool::NetPool(const PlanNetDefs* defs, Workspace* ws, Keep keep)
    : defs_(*defs), ws_(ws), keep_(keep), seed_(ws->random_seed()) {}

NetPool::NetPool(NetPool* parent, uint64_t number)
    : defs_(parent->defs_),
      ws_(parent->ws_),
      keep_(parent->keep_),
      parent_(parent),
      seed_(SeedOfPart(parent->seed_, number)) {}

NetPool::~NetPool() {
  own_.clear();  // before the blobs in copies_
  for (const std::string& name : borrowed_) parent_->TakeBack(name);
}

NetBase* NetPool::Get(const std::string& name) {
  const MutexLock lock(mutex_);
  return GetLocked(name);
}

NetBase* NetPool::GetLocked(const std::string& name) {
  const auto it = defs_.find(name);
  CAFFE_ENFORCE(it != defs_.end(), "network \"", name, "\" not found in the plan");
  NetBase* net = nullptr;
  if (parent_ == nullptr) {
    const bool first = keep_ == Keep::kInWorkspace && made_.insert(name).second;
    if (!first) net = ws_->GetNet(name);
    if (net == nullptr) {
      if (keep_ == Keep::kInChildWorkspace) HideCopies(it->second, ws_);
      net = ws_->CreateNet(it->second, true);
    }
  } else {
    if (const auto known = nets_.find(name); known != nets_.end()) return known->second;
    const bool borrows = !seed_.has_value() && BlobsOfCopies(it->second, *ws_).empty();
    net = borrows ? parent_->Lend(name) : nullptr;
    if (net != nullptr) borrowed_.insert(name);
    if (net == nullptr) net = MakeOwn(it->second);
    if (net != nullptr) {
      nets_[name] = net;
      if (seed_.has_value()) net->SetRandomSeed(seed_);
    }
  }
  CAFFE_ENFORCE(net != nullptr, "network \"", name, "\" has type \"", it->second->type(),
                "\", which is not known");
  return net;
}

NetBase* NetPool::MakeOwn(const std::shared_ptr<const NetDef>& def) {
  Workspace* ws = ws_;
  if (!BlobsOfCopies(def, *ws_).empty()) {
    if (copies_ == nullptr) copies_ = std::make_unique<Workspace>(ws_->RootFolder(), ws_);
    ws = copies_.get();
    HideCopies(def, ws);
  }
  std::unique_ptr<NetBase> net = CreateNet(def, ws);
  return net == nullptr ? nullptr : (own_[def->name()] = std::move(net)).get();
}

NetBase* NetPool::Lend(const std::string& name) {
  if (parent_ != nullptr) return nullptr;
  const MutexLock lock(mutex_);
  if (!lent_.insert(name).second) return nullptr;
  try {
    return GetLocked(name);
  } catch (...) {
    lent_.erase(name);
    throw;
  }
}

void NetPool::TakeBack(const std::string& name) {
  const MutexLock lock(mutex_);
  lent_.erase(name);
}

}  // namespace caffe2rt
