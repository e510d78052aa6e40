#pragma once
// The constants of a net whose weights are in a workspace, for graph passes.

#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "caffe2_core/graph/passes/net_pass.h"
#include "caffe2_core/graph/shape_inference.h"
#include "caffe2_core/tensor/blob.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

class Workspace;

// Constants are tensors on the CPU in local blobs of the workspace that the net uses but does not
// write, including operators and nets in arguments that modify a blob as an input. Blobs of a
// parent are not constants, because others may write them.
class WorkspaceConstants final : public NetConstants {
 public:
  // `inputs` are not constants, and `reserved` are names that Add does not return. REQUIRES: `ws`
  // outlives this object, and nothing changes its blobs meanwhile.
  WorkspaceConstants(const NetDef& net, const std::set<std::string>& inputs,
                     const std::set<std::string>& reserved, Workspace* ws);

  const Tensor* Find(std::string_view name) const override;
  std::string Add(const std::string& name, Tensor value) override;
  // Runs the operator in a workspace of its own, without access to files.
  std::vector<Tensor> Evaluate(const OperatorDef& op) override;

  // The shapes and types of the constants of the workspace.
  ShapeMap Shapes() const;
  // The names of the constants of the workspace.
  std::vector<std::string> Names() const;
  // Releases the pages of constants that are mapped from a file, after all have been read.
  void ReleasePages() const;
  // Moves those of the added constants that `net` reads to the workspace. Returns their names.
  std::vector<std::string> Store(const NetDef& net);

 private:
  Workspace* const ws_;
  std::map<std::string, std::shared_ptr<Blob>, std::less<>> found_;  // in the workspace
  std::map<std::string, Tensor, std::less<>> added_;
  std::unordered_set<std::string> used_names_;
  int64_t next_number_ = 2;  // makes added names unique
};

// The names of all blobs that operators of the net and nets in their arguments use.
std::unordered_set<std::string> NamesUsedBy(const NetDef& net);

}  // namespace caffe2rt
#pragma GCC visibility pop
