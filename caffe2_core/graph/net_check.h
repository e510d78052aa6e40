#pragma once
// Checks of a NetDef that need neither a workspace nor a device, and what goes into a net and comes
// out of it, by name. net_blobs.h has the same operator by operator.

#include <string>
#include <vector>

#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt {

struct NetProblem {
  int op = -1;       // position of the operator; -1: the net as a whole
  std::string text;  // one line, in the original's words where it has some
};

// What the original refuses when a net is made: a node_name, an input that is neither declared nor
// made earlier (when external_input is not empty), an external_output that is never made. Reports
// all; empty when there are none.
std::vector<NetProblem> CheckNetDataflow(const NetDef& net);

// Inputs read before any operator of the net writes them, in order of first use; external_input
// first.
std::vector<std::string> InputsOf(const NetDef& net);
// Those of them that no operator of the init nets writes: what a caller has to feed.
std::vector<std::string> UnfilledInputsOf(const NetDef& net,
                                          const std::vector<const NetDef*>& init_nets);
// external_output, or where the net names none the blobs that are written last and nobody reads, in
// order.
std::vector<std::string> OutputsOf(const NetDef& net);
// Blobs that operators of the net write, in order of the first writes.
std::vector<std::string> NamesWrittenBy(const NetDef& net);

}  // namespace caffe2rt
