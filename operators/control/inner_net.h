#pragma once
// The nets in the arguments of the operators of this family.
//
//   inline constexpr NetArgument kIfThenNet{"then_net", "the net to run if ...", true};
//
//   then_net_(CreateInnerNet(*this, kIfThenNet, ws))     // in the operator's constructor
//   RunInnerNet(then_net_.get())
//
// An inner net is created once and run by the thread that runs its operator. Its errors get the
// frame of the inner net, and then those of the operator and the outer nets.

#include <memory>

#include "caffe2_core/graph/nested_nets.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/net.h"

namespace caffe2rt {

// The declaration of an argument that holds a net.
struct NetArgument {
  const char* name;
  const char* doc;
  bool required = false;
};

// Adds the argument to the documentation of a schema.
inline OpSchema& DeclareNet(OpSchema& schema, const NetArgument& argument) {
  return schema.Arg(std::string(argument.name), std::string(argument.doc), argument.required);
}

// The net in the argument, or null if it is missing. THROWS if it is required and missing, if the
// argument holds something else, or if nets are nested too deep in it.
[[gnu::visibility("default")]] const NetDef* FindNet(const OperatorDef& def,
                                                     const NetArgument& argument);
// The net in a required argument.
[[gnu::visibility("default")]] const NetDef& RequireNet(const OperatorDef& def,
                                                        const NetArgument& argument);

// Creates the net in the argument over the blobs of `ws`; null if the argument is missing. Operators
// of the net that set no device run on the device of `op`, unless that is the CPU.
// REQUIRES: `op` and `ws` outlive the net.
// THROWS like FindNet, and if the net cannot be created.
[[gnu::visibility("default")]] std::unique_ptr<NetBase> CreateInnerNet(const OperatorBase& op,
                                                                       const NetArgument& argument,
                                                                       Workspace* ws);

// Runs an inner net. THROWS if it fails, or if the stack of the thread has no room for it.
inline bool RunInnerNet(NetBase* net) {
  CheckStackForNestedRun();
  return net->Run();
}

}  // namespace caffe2rt
