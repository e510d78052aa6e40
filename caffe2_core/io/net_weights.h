#pragma once
// Reads binary NetDefs whose operators hold weights, without the message in between.
//
//   std::optional<NetWithWeights> read = ReadNetWithWeights("init_net.pb");
//   if (!read) net = LoadNet("init_net.pb");       // text, a pipe, damaged: protobuf's parser
//
// The elements in argument `values` of GivenTensorFill and its siblings are decoded straight into
// tensors, in one pass over the file; the NetDef has the rest. Memory never holds an element twice.
//
// What is read directly is what Caffe2's exporters write: fields in the order of their numbers and
// canonical varints; `values` has its name and then one list, either packed in one run or not
// packed. An operator encoded in any other way stays in the NetDef as a whole, and protobuf's
// parser decides what it means. RestoreWeights then yields the NetDef that the parser reads from
// the whole bytes.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "caffe2_core/tensor/tensor.h"
#include "caffe2rt/caffe2.pb.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

// The elements of argument `arg` of operator `op`, whose list in the NetDef is empty.
struct OperatorWeights {
  int op = 0, arg = 0;
  Tensor values;  // of rank 1, with the element type of the operator's output
};

struct NetWithWeights {
  NetDef net;
  std::vector<OperatorWeights> weights = {};  // in the order of the operators, at most one for each
};

// Returns nothing if the file is not a NetDef in binary format, evidently of another kind
// (file_kind.h) or not a regular file, and if reading it in this way would save no memory; errors
// are left to the caller's parser. THROWS if reading fails, or OutOfMemory.
std::optional<NetWithWeights> ReadNetWithWeights(const std::string& path);
// The same for a file in memory. The weights are copied out of the bytes.
std::optional<NetWithWeights> ReadNetWithWeightsFromMemory(std::string_view bytes);

// Moves the weights back into the operators' arguments and frees them. Doubles that come from
// elsewhere and are no floats get further operators (double_fills.h), so that the net still fills
// them exactly.
void RestoreWeights(NetWithWeights* net);
// Copies the weights into the argument of `op`. Doubles are rounded to floats.
void RestoreValues(const OperatorWeights& weights, OperatorDef* op);

// Adds an operator that fills the blob with the elements of a CPU tensor, whose memory the weights
// share. Returns false if there is none for elements of this type.
[[nodiscard]] bool AddFill(const std::string& blob, const Tensor& tensor, NetWithWeights* net);

}  // namespace caffe2rt
#pragma GCC visibility pop
