#pragma once
// The workspaces of the time steps of a RecurrentNetwork. They hold what the step net computes, so
// that the backward step net can use it.

#include <cstddef>
#include <memory>
#include <vector>

#include "caffe2_core/runtime/workspace.h"

namespace caffe2rt {

// The blobs of `parent` are visible in every workspace. Not thread safe.
// REQUIRES: `parent` outlives every use of the workspaces.
class StepWorkspaces {
 public:
  explicit StepWorkspaces(Workspace* parent)
      : parent_(parent), shared_(parent->RootFolder(), parent) {}
  StepWorkspaces(const StepWorkspaces&) = delete;
  StepWorkspaces& operator=(const StepWorkspaces&) = delete;

  Workspace* parent() const { return parent_; }
  // Holds blobs that all time steps share. It is the parent of the workspaces of the steps.
  Workspace& shared_blobs() { return shared_; }
  // The operator that chose the shared blobs. Only compared.
  const void* shared_by() const { return shared_by_; }
  void set_shared_by(const void* op) { shared_by_ = op; }
  size_t size() const { return steps_.size(); }
  Workspace& operator[](size_t i) { return *steps_.at(i); }
  // Adds workspaces until there are `count`. Keeps those that exist.
  void Grow(size_t count) {
    while (steps_.size() < count) {
      steps_.push_back(std::make_unique<Workspace>(parent_->RootFolder(), &shared_));
    }
  }

 private:
  Workspace* const parent_;
  Workspace shared_;
  std::vector<std::unique_ptr<Workspace>> steps_;
  const void* shared_by_ = nullptr;
};

// The last output of RecurrentNetwork. The operators that use the workspaces share ownership: their
// nets are bound to the workspaces, and another operator may replace the blob.
struct ScratchWorkspaces {
  std::shared_ptr<StepWorkspaces> steps;
};

}  // namespace caffe2rt
