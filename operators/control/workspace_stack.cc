#include "operators/control/workspace_stack.h"

#include "caffe2_core/io/file_access.h"

namespace caffe2rt {

std::shared_ptr<WorkspaceStack::Scope> WorkspaceStack::Push(uint64_t owner,
                                                            const Workspace& parent) {
  if (depth_ == scopes_.size()) scopes_.push_back(nullptr);
  std::shared_ptr<Scope>& scope = scopes_[depth_];
  if (scope == nullptr || scope->owner != owner) {
    scope = std::make_shared<Scope>();  // an operator that is running may still use the other one
    scope->ws = std::make_shared<Workspace>(parent.RootFolder());
    scope->ws->SetFileAccess(parent.file_access());
    scope->owner = owner;
  }
  return scopes_[depth_++];
}

void WorkspaceStack::VisitOwnBlobs(const BlobVisitor& visit) const {
  for (const std::shared_ptr<Scope>& scope : scopes_) {
    if (scope == nullptr) continue;
    for (const std::string& name : scope->ws->LocalBlobs()) {
      if (scope->bound.contains(name)) continue;
      if (const std::shared_ptr<Blob> blob = scope->ws->FindBlob(name)) visit(*blob);
    }
  }
}

}  // namespace caffe2rt
