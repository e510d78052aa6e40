#pragma once
// The backward pass of a net: the operators that compute the gradients of some of its blobs.
//
//   FC   x w b -> y        with loss {"loss", {}}:
//   Loss y t   -> loss
//
//   ConstantFill  loss              -> loss_autogen_grad       value: 1
//   LossGradient  loss_autogen_grad -> y_grad
//   FCGradient    x w y_grad        -> w_grad b_grad x_grad
//
//   NetDef net = ...;
//   const GradientMap gradients = AddGradientOperators(&net, {{"loss", {}}});
//   gradients.at("w").dense_;    // "w_grad"
//
// The algorithm and the names are those of Caffe2's Net.AddGradientOperators, so that the blob
// names in saved training nets keep their meaning:
//
// - The forward operators are processed in reverse order. An operator none of whose outputs has a
//   gradient is skipped, except ZeroGradient. The makers (gradient.h) provide the operators.
// - Each write of a blob creates a new version of it. A gradient operator may only use a value that
//   is still in its blob when the forward operators have finished, and only the gradient of the
//   version that the forward operator wrote.
// - Operators that run nets (If, While, Do) have makers that only a backward pass uses
//   (net_gradient.h).
// - If several gradients of one version of a blob exist, they are added up after the gradient
//   operators of the first operator that reads the version. Dense gradients: the first keeps its
//   name, output k of the others is renamed to `_<name>_autosplit_<k>`, and `Sum` writes the total
//   to the name of the first. Sparse gradients: all are renamed, and two `Concat` operators write
//   `<name>_indices_concat` and `<name>_values_concat`; equal indices stay separate entries.
// - If gradients are added up, values that the operators of one maker pass on to each other in the
//   blob of a gradient move to `_<name>_autogen_step`.
// - Control inputs only order operators: they have no gradient, and gradient operators do not
//   inherit them. The makers' operators have the device option of their forward operator. A
//   ConstantFill has that of the operator that writes its blob, the operators that add up gradients
//   have that of the first gradient.
//
// As in Caffe2, a gradient that the caller provides for a blob is not added to those that the
// readers of the blob contribute: they replace it.

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "caffe2_core/graph/gradient.h"
#include "caffe2rt/caffe2.pb.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

// The gradient of each blob that has one, by the blob's name.
using GradientMap = std::map<std::string, GradientWrapper>;

// The blobs to differentiate, in the order in which their ConstantFill operators are created. If
// the gradient of a blob is empty, it is a tensor of ones, `<blob>_autogen_grad`.
using GradientStart = std::vector<std::pair<std::string, GradientWrapper>>;

struct BackwardPass {
  std::vector<OperatorDef> ops;  // in execution order
  GradientMap gradients;
  // The blobs whose gradient is that of the value which the operators get from outside, and not that
  // of a value which they write.
  std::set<std::string> from_outside;
};

// Time and memory are linear in the size of the operators, up to a logarithmic factor.
// THROWS if
// - a maker throws, or returns operators that use a blob that is neither an input, an output nor a
//   gradient of its operator nor an output of one of the returned operators before it;
// - a value or a gradient that a gradient operator needs was overwritten, by a later operator, by its
//   own forward operator or by another gradient operator; the message names the operator that did so;
// - the gradients to add up are partly sparse and partly dense, or on different devices;
// - the output of a StopGradient is not an input of any operator;
// - `start` contains a blob twice, or a sparse gradient without indices or values.
BackwardPass GetBackwardPass(const google::protobuf::RepeatedPtrField<OperatorDef>& ops,
                             const GradientStart& start);

struct BackwardPassOptions {
  // The number of operators at the beginning of the net that are not differentiated.
  size_t skip = 0;
  // If not empty, only the gradients of these blobs are returned, and operators that none of them
  // needs are left out. Other gradients, and partial results, may still be computed.
  std::vector<std::string> wrt = {};
};

// Appends the backward pass of the net's operators to the net.
// THROWS like GetBackwardPass, and if `skip` exceeds the number of operators or a blob of `wrt` has
// no gradient; the net is unchanged then.
GradientMap AddGradientOperators(NetDef* net, const GradientStart& start,
                                 const BackwardPassOptions& options = {});

}  // namespace caffe2rt
#pragma GCC visibility pop
