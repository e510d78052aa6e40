#pragma once
// The inputs of a model: which of them its init nets fill with zeros only, and which nothing fills.
// `caffe2 run`, `caffe2 bench` and `caffe2 check` decide by these functions.

#include <functional>
#include <string>
#include <vector>

#include "caffe2_core/graph/shape_inference.h"
#include "caffe2_core/model/model_file.h"
#include "caffe2rt/caffe2.pb.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

// Returns the inputs of the predict net that hold no data although an init net fills them
// (ZeroPlaceholder): the blob must exist when the original creates the net, so its exporters let the
// init net fill it with zeros. The result depends on the nets alone:
//   - The last operator of the init nets that writes the blob fills it with zeros: a ConstantFill
//     without inputs whose value is 0 or not given. The predict net does not write the blob.
//   - If an init net fills one of the inputs in `listed`, which a predictor's database has, the blob
//     is one of them.
//   - Otherwise all inputs that operators read are filled, or else those that are not are the data.
//     The blob is the first external input, or the first input of the first operator, and it is read
//     first as the first input of an operator. Weights and biases are not.
//   - Caffe2's mobile exporter marks each input instead: it is a GivenTensorFill of one zero with the
//     shape [1, 1].
// `init_weights` is empty or as in Model.
std::vector<ZeroPlaceholder> ZeroPlaceholdersOf(
    const NetDef& net, const std::vector<const NetDef*>& init_nets,
    const std::vector<std::vector<OperatorWeights>>& init_weights,
    const std::vector<std::string>& listed);

// Removes the blobs of model->zero_placeholders from `ws`, so that UnfilledInputs reports those that
// the caller does not give. In a packed model, such a blob is found by its elements, which are all
// zero, and is added to the list. Call it after RunInitNets.
void RemoveZeroPlaceholders(Model* model, Workspace* ws);

// The blobs that operators of the net read, that no earlier operator writes, and for which
// `is_filled` returns false, in order of first use.
std::vector<std::string> UnfilledInputs(const NetDef& net,
                                        const std::function<bool(const std::string&)>& is_filled);

// Returns `input "data" was not given; the net suggests the shape float [N, 3, H, W]`, or the same
// for several inputs, of which it names the first ten. The shape is that of the zeros in `placeholders`, or the one that the first
// operator needs to fit its weights, whose shapes are in `shapes`; nothing if neither is known.
// REQUIRES: `names` is not empty.
std::string InputsNotGivenText(const NetDef& net, const std::vector<std::string>& names,
                               const std::vector<ZeroPlaceholder>& placeholders,
                               const ShapeMap& shapes);

// THROWS if no operator of the nets reads the blob `name` and no net declares it as an external
// input. The error names the inputs whose names are closest. If an operator may read blobs that it
// does not list, only a name that is close to one of an input is an error.
void CheckInputName(const std::vector<const NetDef*>& nets, const std::string& name);

}  // namespace caffe2rt
#pragma GCC visibility pop
