#pragma once
// Checks of a NetDef that need neither a workspace nor a device, and the names of a net's inputs
// and outputs. net_blobs.h reports the inputs and outputs of each operator.

#include <string>
#include <vector>

#include "caffe2rt/caffe2.pb.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

struct NetProblem {
  int op = -1;       // position of the operator, or -1 for the net as a whole
  std::string text;  // one line; Caffe2's message where Caffe2 has one
};

// Reports the dataflow problems for which Caffe2 rejects a net when it is created:
//   - an operator with a node_name,
//   - an input that is neither an external_input nor written by an earlier operator; not checked if
//     the net lists no external_input. The first of these problems names all such inputs,
//   - an external_output that is neither written nor an external_input; only the first is reported.
// The result is empty if there are none.
std::vector<NetProblem> CheckNetDataflow(const NetDef& net);

// An output that a later operator overwrites before any operator reads it: its value has no effect.
struct OverwrittenOutput {
  int op = 0;  // position of the operator that writes the lost value
  int by = 0;  // position of the operator that overwrites it
  std::string output;
};
// In the order of `by`. An operator with nested nets reads all blobs that they read.
std::vector<OverwrittenOutput> OverwrittenOutputsOf(const NetDef& net);

// The external_input list of the net, followed by the other blobs that are read before any operator
// writes them, in order of first use.
std::vector<std::string> InputsOf(const NetDef& net);
// The inputs that no operator of the init nets writes. A caller must feed these.
std::vector<std::string> UnfilledInputsOf(const NetDef& net,
                                          const std::vector<const NetDef*>& init_nets);
// The external_output list of the net. If it is empty, the blobs that no operator reads after their
// last write, in order of their first writes.
std::vector<std::string> OutputsOf(const NetDef& net);
// The blobs that operators of the net write, in order of their first writes.
std::vector<std::string> NamesWrittenBy(const NetDef& net);

}  // namespace caffe2rt
#pragma GCC visibility pop
