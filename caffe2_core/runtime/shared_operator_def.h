#pragma once
// SharedOperatorDef: makes an operator share its def with the caller. An operator copies the def
// that it is constructed from, but the def of an init net's operator holds the weights.
//
//   const auto def = std::make_shared<const OperatorDef>(std::move(*net.mutable_op(0)));
//   const SharedOperatorDef scope(def);
//   const std::unique_ptr<OperatorBase> op = CreateOperator(*def, ws);   // shares *def

#include <memory>

#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt {

// While one lives, operators that the thread constructs from `*def` share `def`. Operators that are
// constructed from another def, in the constructor of such an operator too, copy theirs. Scopes
// nest; on the stack only.
class SharedOperatorDef {
 public:
  // REQUIRES: nobody changes `*def` any more.
  explicit SharedOperatorDef(std::shared_ptr<const OperatorDef> def);
  ~SharedOperatorDef();
  SharedOperatorDef(const SharedOperatorDef&) = delete;
  SharedOperatorDef& operator=(const SharedOperatorDef&) = delete;

  // The owner of `def` when a scope of this thread shares it, else that of a copy.
  static std::shared_ptr<const OperatorDef> ShareOrCopy(const OperatorDef& def);

 private:
  const std::shared_ptr<const OperatorDef> def_;  // shared with the operators
  const SharedOperatorDef* const outer_;
};

}  // namespace caffe2rt
