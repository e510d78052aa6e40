#pragma once
// Nets in the arguments of operators, such as the branches of If and the body of While.
//
//   If   c x -> y     then_net { Scale x -> t; Add t z -> y }
//
//   HasNestedNets(op);            // true
//   NestedBlobsOf(op).read;       // {"x", "t", "z"}
//   NestedBlobsOf(op).written;    // {"t", "y"}
//
// An operator usually runs such a net in its own workspace, so that the net may use blobs which the
// operator does not list, as z above. Do runs its net in a workspace that its scope keeps. There,
// only the names in the argument inner_blobs denote blobs outside, under other names. ONNXWhile runs
// its net in a workspace of its own too, but analyses treat its names as blobs of the enclosing net,
// which is safe.

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "caffe2_core/graph/operator_traits.h"
#include "caffe2rt/caffe2.pb.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

bool HasNestedNets(const OperatorDef& op);

// What a name in a nested net denotes: a blob of the net around the outermost operator, or a blob
// that a scope holds and that has no name outside.
struct NestedName {
  std::string name;  // of the blob, or of the scope that holds it
  bool is_held = false;
};

// What the names in one nested net denote.
class NestedNames {
 public:
  // The names in the outermost net, which denote themselves.
  NestedNames() = default;
  // The names in the nets of operator `op` of a net whose names are `around`. Bindings of Do that its
  // constructor would reject are ignored.
  NestedNames(const OperatorDef& op, const NestedNames& around);
  NestedName Find(const std::string& name) const;

 private:
  std::optional<std::string> scope_;  // of the innermost Do; nullopt if there is none
  std::map<std::string, NestedName> bound_;
};

// The blobs that the nets in the arguments of an operator use, without duplicates, in order of first
// use, by their names in the net around the operator. Nets nested more than kMaxNetDepth deep are
// ignored: creating them is an error.
struct NestedBlobs {
  std::vector<std::string> read;
  std::vector<std::string> written;  // includes inputs that schemas declare as modified
  // The queues among `written` that these nets only use by QueueUse, not otherwise.
  std::vector<std::pair<std::string, QueueUse>> queues;
  // Pairs of blobs that may share memory after the nets have run. The name of a scope stands for
  // the blobs that it keeps.
  std::vector<std::pair<std::string, std::string>> same_memory;
};
NestedBlobs NestedBlobsOf(const OperatorDef& op);
// Whether the operator, or one in the nets in its arguments, may wait (OperatorTraits::waits).
bool MayWait(const OperatorDef& op);
// The same for the operators of a net and the nets in their arguments, by their names in this net.
NestedBlobs BlobsOf(const NetDef& net);

// The depth to which nets are nested in `net`: 1 if its operators have no nets. Stops counting at
// `limit`.
int NestingDepthOf(const NetDef& net, int limit);

// The stack that creating or running one level of nested nets takes, at most.
inline constexpr size_t kStackBytesPerNet = 6 << 10;
// THROWS if the stack of this thread is too small to create nets nested `depth` deep.
void CheckStackForNets(int depth);
// THROWS if it is too small to run a net inside another one.
void CheckStackForNestedRun();

// Renames output `index` of an operator. The nets of If and While write the blobs of the operator's
// own workspace, so they are changed too: all uses of the name, or, in a net that reads a value
// from outside under this name, the last write and the uses after it.
void RenameOutput(OperatorDef* op, int index, const std::string& name);

}  // namespace caffe2rt
#pragma GCC visibility pop
