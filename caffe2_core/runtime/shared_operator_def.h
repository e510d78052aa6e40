#pragma once
// SharedOperatorDef: lets an operator share its def with the caller instead of copying it. The defs
// of an init net hold the weights, so copying them would need as much memory again.
//
//   const auto def = std::make_shared<const OperatorDef>(std::move(*net.mutable_op(0)));
//   const SharedOperatorDef scope(def);
//   const std::unique_ptr<OperatorBase> op = CreateOperator(*def, ws);   // shares *def

#include <memory>

#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt {

// During the life of this object, operators that the same thread constructs from `*def` share
// `def`. Operators that are constructed from another def copy it, even inside the constructor of an
// operator that shares its own. Objects may be nested. Create them on the stack only.
class SharedOperatorDef {
 public:
  // REQUIRES: `*def` does not change any more.
  explicit SharedOperatorDef(std::shared_ptr<const OperatorDef> def);
  ~SharedOperatorDef();
  SharedOperatorDef(const SharedOperatorDef&) = delete;
  SharedOperatorDef& operator=(const SharedOperatorDef&) = delete;

  // A pointer to `def` itself if an object of this thread shares it, otherwise to a copy.
  static std::shared_ptr<const OperatorDef> ShareOrCopy(const OperatorDef& def);

 private:
  const std::shared_ptr<const OperatorDef> def_;  // shared with the operators
  const SharedOperatorDef* const outer_;
};

}  // namespace caffe2rt
