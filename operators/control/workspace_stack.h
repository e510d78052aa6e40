#pragma once
// WorkspaceStack: the object in a scope blob, which CreateScope makes and Do uses. It holds the
// workspaces in which Do operators have run, so that their gradient operators can run in the same
// workspaces, in reverse order.
//
//   CreateScope  S empty
//   Do           S [1]          runs in workspace 1
//   Do           S [1, 2]       runs in workspace 2
//   Do (grad.)   S [1]          runs in workspace 2
//   Do (grad.)   S empty        runs in workspace 1
//
// A workspace that is no longer on the stack is kept. The operator that filled it gets it back when
// it runs at the same depth again; for another operator it is replaced by a new one.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "caffe2_core/runtime/workspace.h"
#include "caffe2_core/tensor/blob_holders.h"

namespace caffe2rt {

// Not thread safe.
class [[gnu::visibility("default")]] WorkspaceStack {
 public:
  // One workspace, which sees no blobs but its own and the bound ones.
  struct Scope {
    uint64_t owner = 0;             // the operator that entered it
    std::shared_ptr<Workspace> ws;  // shared with the operators whose nets use it
    // The names that denote blobs of another workspace, and these blobs, each of them once.
    std::map<std::string, const Blob*> bound;
  };

  WorkspaceStack() = default;
  WorkspaceStack(const WorkspaceStack&) = delete;
  WorkspaceStack& operator=(const WorkspaceStack&) = delete;

  bool empty() const { return depth_ == 0; }
  // The number of workspaces on the stack.
  size_t depth() const { return depth_; }
  // Takes all workspaces off the stack.
  void Clear() { depth_ = 0; }
  // Puts a workspace on the stack: the one that the same owner used at this depth, or a new one with
  // the root folder and the file policy of `parent`. Shared, because the net that runs in the
  // workspace may destroy the stack.
  std::shared_ptr<Scope> Push(uint64_t owner, const Workspace& parent);
  // The last workspace. REQUIRES: the stack is not empty.
  std::shared_ptr<Scope> Top() const { return scopes_[depth_ - 1]; }
  // Takes the last workspace off the stack. REQUIRES: the stack is not empty.
  std::shared_ptr<Scope> Pop() { return scopes_[--depth_]; }
  // Visits the blobs of all workspaces, also of those that are no longer on the stack, except bound
  // ones.
  void VisitOwnBlobs(const BlobVisitor& visit) const;

 private:
  std::vector<std::shared_ptr<Scope>> scopes_;
  size_t depth_ = 0;
};

}  // namespace caffe2rt
