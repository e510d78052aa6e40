#pragma once
// StepNet: runs the step net of a RecurrentNetwork, or its backward step net, in the workspaces of
// the time steps.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "caffe2_core/runtime/net.h"
#include "operators/recurrent/step_arguments.h"
#include "operators/recurrent/step_workspaces.h"

#pragma GCC visibility push(default)  // for libcaffe2_cuda
namespace caffe2rt {

// Tensors that share the rows of another tensor: view t is rows [t + offset, t + offset + window).
// They keep the memory of the rows alive.
class RowViews {
 public:
  // Makes `count` views of `rows`. Does nothing if they exist already. Returns whether it made
  // views. THROWS, with the names of the link, if the rows do not exist or there are no elements.
  bool Make(const StepLink& link, const Tensor& rows, int64_t count);
  const Tensor& operator[](size_t i) const { return views_[i]; }

 private:
  std::vector<Tensor> views_;
  // What the views were made of.
  std::shared_ptr<Storage> storage_;
  std::vector<int64_t> dims_;
  TypeMeta type_;
};

// A tensor that shares rows [first, first + count) of `rows`. THROWS if they do not exist.
Tensor ViewOfRows(const Tensor& rows, int64_t first, int64_t count);

// One such tensor, which is made again only if the memory or the shape has changed.
class RowsView {
 public:
  const Tensor& Of(const Tensor& rows, int64_t first, int64_t count);

 private:
  Tensor view_;
  // What the view was made of.
  std::shared_ptr<Storage> storage_;
  std::vector<int64_t> dims_;
  int64_t first_ = 0, count_ = 0;
};

// A second run over the same workspaces, shapes and memory allocates nothing.
//
// Not thread safe. REQUIRES: the parent of the workspaces outlives this object.
class StepNet {
 public:
  // `results` are blobs that the caller reads after a step. Linked blobs are tensors on `device`.
  // `random` is the place of the operator that runs the net, and outlives this object.
  StepNet(NetDef net, std::vector<StepLink> links, std::string timestep,
          std::vector<std::string> results, DeviceType device, RandomPlace* random);

  const NetDef& net() const { return *net_; }
  // To be called before the first step of a run, with the number of steps. Finds the linked blobs
  // and their rows. THROWS if a blob or a row is missing.
  void Prepare(const std::shared_ptr<StepWorkspaces>& spaces, int64_t steps);
  // The observers of the operator that runs the net. The operators of the net get copies of them
  // (ObserverBase::rnnCopy), which are detached when `observers` no longer has them. To be called
  // before the first step of a run. REQUIRES: the observers outlive the run.
  using Observer = ObserverBase<OperatorBase>;
  void SetObservers(const std::vector<std::unique_ptr<Observer>>& observers);
  // Runs the net for time step `step` in workspace `space`. Creates it if it does not exist there.
  // What the net writes to linked blobs is in the rows afterwards; on a device, the work may still
  // be on stream 0 of the thread. THROWS what the net throws, and if a linked blob has another size
  // than its rows.
  void Run(size_t space, int64_t step);
  // Result `i` of the last step that ran in the workspace. THROWS if it is not a tensor of `floats`
  // floats on the device.
  const Tensor& Result(size_t space, size_t i, int64_t floats) const;

 private:
  // The net in one workspace.
  struct Step {
    std::vector<std::shared_ptr<Blob>> linked;   // by link
    std::vector<std::shared_ptr<Blob>> results;  // by result
    std::shared_ptr<Blob> time;
    std::unique_ptr<NetBase> net;
    // The operators of the net if all of them run on the device of this object, on one stream. They
    // are then started without a wait after each step.
    std::vector<OperatorBase*> on_stream;
    uint64_t observers = 0;  // the version of `observers_` that its operators have copies of
    std::vector<std::pair<OperatorBase*, const Observer*>> copies;
  };
  void Create(size_t space, int64_t step);
  void SetInputs(Step& step, int64_t t);
  void CopyObservers(Step& step, int64_t t);
  void RunNet(Step& step);
  void StoreRows(Step& step, int64_t t);

  const std::shared_ptr<const NetDef> net_;
  const std::vector<StepLink> links_;
  const std::string timestep_;
  const std::vector<std::string> result_names_;
  const DeviceType device_;
  RandomPlace* const random_;
  std::vector<bool> is_written_;  // by link: whether the net writes the blob
  std::vector<std::shared_ptr<Blob>> rows_;
  std::vector<RowViews> views_;
  std::vector<const Observer*> observers_;
  uint64_t observers_version_ = 0;
  std::shared_ptr<StepWorkspaces> spaces_;
  std::vector<Step>
      steps_;  // by workspace. Destroyed before `spaces_`, to which the nets are bound.
};

}  // namespace caffe2rt
#pragma GCC visibility pop
