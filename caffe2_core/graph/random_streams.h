#pragma once
// The names of the random streams of a net's operators. With the seed and the number of the run, the
// name determines the random numbers of an operator (base/random_stream.h).
//
// The stream of an operator is named by the blob that it writes, its first output; the k-th operator
// of a net that writes the blob, from k = 1 on, adds "#k". So an operator keeps its numbers if others
// are added, removed or reordered, and two layers have different ones:
//
//   op { type: "GaussianFill" output: "w" }                 "w"
//   op { type: "Dropout" input: "x" output: "x" }           "x#1", if an operator before it writes x
//   op { type: "Dropout" input: "y" output: "z" arg { name: "random_stream" s: "drop" } }     "drop"
//
// The argument random_stream sets the name. Graph passes and the insertion of device copies may rename
// blobs, and then keep the name of the stream in this argument.

#include <string>
#include <unordered_map>

#include "caffe2rt/caffe2.pb.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

inline constexpr char kRandomStream[] = "random_stream";

class RandomStreamNames {
 public:
  // The name of the stream of the next operator of the net.
  std::string Next(const OperatorDef& op);

 private:
  std::unordered_map<std::string, int> writers_;  // of each first output so far
};

// Sets the argument of each operator without it that draws random numbers, by its schema, or whose
// nets may. Nested nets stay as they are.
void NameRandomStreams(NetDef* net);
// Removes the arguments that set the name that the operator has without them.
void RemoveNeedlessStreamNames(NetDef* net);

}  // namespace caffe2rt
#pragma GCC visibility pop
