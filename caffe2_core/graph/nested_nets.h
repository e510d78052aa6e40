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
// operator does not list, as z above. Do and ONNXWhile run theirs in workspaces of their own. This
// header does not make the difference: analyses treat the names in all nested nets as blobs of the
// enclosing net, which is safe.

#include <string>
#include <vector>

#include "caffe2rt/caffe2.pb.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

bool HasNestedNets(const OperatorDef& op);

// The names that the nets in the arguments of an operator use, without duplicates, in order of
// first use. Nets nested more than kMaxNetDepth deep are ignored: creating them is an error.
struct NestedBlobs {
  std::vector<std::string> read;
  std::vector<std::string> written;
};
NestedBlobs NestedBlobsOf(const OperatorDef& op);

// The depth to which nets are nested in `net`: 1 if its operators have no nets. Stops counting at
// `limit`.
int NestingDepthOf(const NetDef& net, int limit);

// Renames output `index` of an operator. The nets of If and While write the blobs of the operator's
// own workspace, so they are changed too: all uses of the name, or, in a net that reads a value
// from outside under this name, the last write and the uses after it.
void RenameOutput(OperatorDef* op, int index, const std::string& name);

}  // namespace caffe2rt
#pragma GCC visibility pop
