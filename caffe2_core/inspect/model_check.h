#pragma once
// Finds what `caffe2 run` would reject in a net together with its init nets and inputs, without
// running anything. Used by `caffe2 check` and `caffe2 inspect`.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "caffe2_core/graph/shape_inference.h"
#include "caffe2_core/inspect/net_validation.h"
#include "caffe2_core/model/model_file.h"
#include "caffe2_core/tensor/tensor.h"
#include "caffe2rt/caffe2.pb.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

// What is known about the blobs that a net reads.
struct ModelToCheck {
  // The nets that run before, in this order.
  std::vector<const NetDef*> init_nets = {};
  // Blobs that something else than an init net fills, such as a packed model, and those that init
  // nets load from a database, with their shapes as far as they are known.
  ShapeMap filled = {};
  // The inputs that the caller gives, with their shapes as far as they are known.
  ShapeMap given = {};
  // The values of inputs, with the shapes and types of `given`, as far as they are known.
  std::map<std::string, const Tensor*> values = {};
  // Whether the element types of `given` are known. If not, wrong types are not reported.
  bool types_are_known = true;
  // Inputs that an init net fills with zeros instead of data (model_inputs.h).
  std::vector<ZeroPlaceholder> zero_placeholders = {};
  // Whether `given` has all inputs. If not, data may still be given when the net runs: an external
  // input that nothing fills is then a note, not an error, unless it is a weight.
  bool given_is_complete = false;
  // Whether anything above is known. If not, inputs are only checked if the net declares no
  // external_input.
  bool has_surroundings = false;
};

// Returns the findings of ValidateNet, and those about the inputs, errors first:
//   - a blob that is read before an operator writes it, in a net without external_input;
//   - inputs and weights that nothing fills;
//   - operators that do not accept the shapes or types of their inputs, by shape inference and by
//     the checks of built-in operators, with the values that are known (input_check.h).
// Does not throw, whatever the nets contain, except when memory runs out.
std::vector<NetFinding> ValidateModel(const NetDef& net, const ModelToCheck& model);

// Returns the findings of ValidateNet, and those about shapes and types. An init net may read what
// an earlier one fills, so inputs are not checked.
std::vector<NetFinding> ValidateInitNet(const NetDef& net);

// Only the findings about shapes and types.
std::vector<NetFinding> ValidateShapes(const NetDef& net, const ModelToCheck& model);

}  // namespace caffe2rt
#pragma GCC visibility pop
