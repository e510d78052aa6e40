#pragma once
// The built-in net types. A type is a row of policy: in which order and on how many threads the
// operators of its nets run.

#include <memory>
#include <string>

#include "caffe2rt/caffe2.pb.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

enum class NetOrder {
  kUnknown,         // a user's type
  kOrderOfNet,      // one operator after the other, in the order of the net
  kByDependencies,  // operators may run at the same time, as their dependencies allow
};

// Of the nets of this type; an empty type is `simple`.
NetOrder OrderOfType(const std::string& type);

// Names the remedy if the net, run as `executor`, asks for more workers than the pool has threads; else
// "".
std::string TooManyWorkers(const NetDef& net, const std::string& executor);

// Whether nets of this type free blobs while they run (refcount_net.h).
bool FreesBlobs(const std::string& type);

// The net with `executor` as its type, or `def` itself if that is its type, or a user's. THROWS if
// `executor` is not the type of a built-in net.
std::shared_ptr<const NetDef> WithExecutor(std::shared_ptr<const NetDef> def,
                                           const std::string& executor);

}  // namespace caffe2rt
#pragma GCC visibility pop
