#pragma once
// Do: runs a net in a workspace of its own.
//   blobs to bind, scope  ->  blobs to bind, scope (the same blob)
//
// The scope holds the workspaces (workspace_stack.h). The net sees only the bound blobs and those
// that it or an earlier net in the same workspace has written. A name that an earlier operator has
// bound must be bound again, so that the operator lists every blob outside that it uses. The net
// may also write blobs that the operator lists as inputs only (nested_nets.h finds them). Three
// modes:
//
//   forward            a workspace is put on the scope's stack, where the gradient operator finds
//                      the values that the net has computed
//   reuse_workspace    the last workspace of the scope is used again, if there is one
//   is_gradient_op     the last workspace is taken off the stack. Names that are bound there already
//                      stay bound, and must denote the same blobs
//
// With copy_external_blobs the workspace afterwards holds copies of the bound tensors, for gradient
// operators that run when the tensors have been overwritten, as in loops.
//
// The operator keeps one net for each depth of the stack. Once all of them exist, a run takes no
// memory and no lock, if the net takes none.

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "caffe2_core/graph/nested_nets.h"
#include "caffe2_core/runtime/operator.h"
#include "operators/control/do_bindings.h"
#include "operators/control/workspace_stack.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<bool> kDoCopyExternalBlobs{
    "copy_external_blobs", false,
    "1: keep copies of the bound tensors in the workspace after the run, for the gradient"};
inline constexpr ArgumentSpec<bool> kDoReuseWorkspace{
    "reuse_workspace", false,
    "1: run in the last workspace of the scope, if it has one, instead of in a further one"};
inline constexpr RepeatedArgumentSpec<std::string> kDoSavedFwdBlobs{
    "saved_fwd_blobs",
    "of a gradient operator: the blobs of the forward workspace that its net reads; not used"};

// A number that no other Do operator of the process has.
[[gnu::visibility("default")]] uint64_t NextDoOperatorId();

template <class Context>
class DoOp final : public Operator<Context> {
 public:
  DoOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        bindings_(ReadDoBindings(def)),
        is_gradient_(def.is_gradient_op()),
        copies_(this->ReadArgument(kDoCopyExternalBlobs)),
        reuses_(this->ReadArgument(kDoReuseWorkspace)) {
    CAFFE_ENFORCE(!reuses_ || !is_gradient_, "argument \"", kDoReuseWorkspace.name,
                  "\" is 1 for a gradient operator, want 0: it takes a workspace off the stack");
    CAFFE_ENFORCE(!reuses_ || !copies_, "arguments \"", kDoReuseWorkspace.name, "\" and \"",
                  kDoCopyExternalBlobs.name, "\" are both 1, want at most one of them");
    CAFFE_ENFORCE(!RequireNet(def, kDoNet).name().empty(), "the net in argument \"", kDoNet.name,
                  "\" has no name");
    // A workspace on the stack that holds the stack itself would never be destroyed.
    const Blob* const scope = this->OutputBlob(this->OutputSize() - 1);
    for (const DoBinding& binding : bindings_) {
      CAFFE_ENFORCE(Bound(binding).get() != scope, "blob \"", binding.outer,
                    "\" is the scope under another name, want another blob");
    }
  }

  // A net waits for its devices when it has run.
  bool HasAsyncPart() const override { return false; }

  bool RunOnDevice() override {
    auto* const stack = OperatorBase::Output<WorkspaceStack>(this->OutputSize() - 1);
    const std::shared_ptr<WorkspaceStack::Scope> scope = Enter(stack);
    const size_t index = is_gradient_ ? stack->depth() : stack->depth() - 1;
    if (index >= inner_.size()) inner_.resize(index + 1);
    Inner& inner = inner_[index];
    if (inner.ws != scope->ws || inner.net == nullptr) Create(*scope, &inner);
    if (!RunInnerNet(inner.net.get())) return false;
    if (copies_ && !is_gradient_) Copy(*scope, &inner);
    return true;
  }

 private:
  // The net for one depth of the stack.
  struct Inner {
    std::shared_ptr<Workspace> ws;  // shared with the stack, which may drop it first
    std::unique_ptr<NetBase> net;
    std::vector<std::shared_ptr<Blob>> copies;  // by binding; null if the blob was not copied yet
  };

  // Shared ownership of the outer blob: the owners of the inputs are followed by those of the
  // outputs.
  const std::shared_ptr<Blob>& Bound(const DoBinding& binding) const {
    return this->input_owner(binding.position);
  }

  std::shared_ptr<WorkspaceStack::Scope> Enter(WorkspaceStack* stack) {
    if (!is_gradient_) {
      if (reuses_ && !stack->empty()) return stack->Top();
      return stack->Push(id_, *this->workspace());
    }
    CAFFE_ENFORCE(!stack->empty(), "the scope \"", this->debug_def().input(this->InputSize() - 1),
                  "\" holds no workspace, want one in which the forward operator has run");
    return stack->Pop();
  }

  void Create(WorkspaceStack::Scope& scope, Inner* inner) {
    inner->net.reset();  // before the workspace that it uses
    inner->copies.assign(bindings_.size(), nullptr);
    inner->ws = scope.ws;
    for (const DoBinding& binding : bindings_) {
      const std::shared_ptr<Blob>& blob = Bound(binding);
      const auto [known, fresh] = scope.bound.try_emplace(binding.inner, blob.get());
      if (!fresh) {
        CAFFE_ENFORCE(known->second == blob.get(), "inner blob \"", binding.inner,
                      "\" cannot denote \"", binding.outer,
                      "\": in this workspace it denotes another blob");
      } else if (scope.ws->HasBlob(binding.inner)) {
        scope.bound.erase(known);  // the workspace has a blob of its own, such as a copy
      } else {
        CheckHasOneName(scope, known);
        scope.ws->ShareBlob(binding.inner, blob);
      }
    }
    CheckBindsAll(scope);
    inner->net = CreateInnerNet(*this, kDoNet, scope.ws.get());
  }

  // THROWS if the net uses a name that another operator has bound in the workspace.
  void CheckBindsAll(const WorkspaceStack::Scope& scope) const {
    const NestedBlobs used = BlobsOf(RequireNet(this->debug_def(), kDoNet));
    for (const std::vector<std::string>* names : {&used.read, &used.written}) {
      for (const std::string& name : *names) {
        const bool is_listed =
            std::any_of(bindings_.begin(), bindings_.end(),
                        [&](const DoBinding& binding) { return binding.inner == name; });
        CAFFE_ENFORCE(is_listed || !scope.bound.contains(name), "inner blob \"", name,
                      "\" denotes a blob outside, which an operator that ran in this workspace "
                      "before has bound, want it among ",
                      kDoInnerBlobs.name);
      }
    }
  }

  // THROWS if another name in the workspace denotes the blob of `bound` too. Operators tell by the
  // names whether they work in place.
  static void CheckHasOneName(WorkspaceStack::Scope& scope,
                              std::map<std::string, const Blob*>::iterator bound) {
    for (const auto& [name, blob] : scope.bound) {
      if (blob != bound->second || name == bound->first) continue;
      const std::string inner = bound->first;
      scope.bound.erase(bound);
      CAFFE_THROW("inner blob \"", inner, "\" and inner blob \"", name,
                  "\" of an operator that ran in this workspace before denote the same blob, want "
                  "one name");
    }
  }

  // Replaces the bound tensors in the workspace by copies. The net keeps using the originals.
  void Copy(WorkspaceStack::Scope& scope, Inner* inner) {
    this->context_.SwitchToDevice(0);  // the net may have switched to another one
    for (size_t i = 0; i < bindings_.size(); ++i) {
      const Blob& from = *Bound(bindings_[i]);
      if (!from.IsType<Tensor>()) continue;
      std::shared_ptr<Blob>& copy = inner->copies[i];
      if (copy == nullptr) {
        copy = std::make_shared<Blob>();
        scope.ws->ShareBlob(bindings_[i].inner, copy);
        scope.bound.erase(bindings_[i].inner);
      }
      const Tensor& source = from.Get<Tensor>();
      const DeviceType device = source.GetDeviceType();
      copy->GetMutableTensor(device)->CopyFrom(
          source, device == Context::GetDeviceType() ? &this->context_ : nullptr);
    }
    this->context_.FinishDeviceComputation();
  }

  const uint64_t id_ = NextDoOperatorId();
  const std::vector<DoBinding> bindings_;
  const bool is_gradient_;
  const bool copies_;
  const bool reuses_;
  std::vector<Inner> inner_;  // by depth
};

}  // namespace caffe2rt
