#pragma once
// Adding up the gradients that several readers of a blob contribute (backward_pass.h describes the
// names). Used by the backward pass only.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "caffe2_core/graph/gradient.h"
#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt {

// Output `index` of operator `op` of the backward pass.
struct GradientOutput {
  size_t op;
  int index;
};

// One of the gradients that a blob receives. A name without an origin was not made by a gradient
// operator: the maker returned a gradient of an output, or an input, unchanged.
struct GradientPart {
  GradientWrapper gradient;
  std::optional<GradientOutput> dense;    // the origin of gradient.dense_
  std::optional<GradientOutput> indices;  // the origin of gradient.indices_
  std::optional<GradientOutput> values;   // the origin of gradient.values_
  std::optional<DeviceOption> device;
};

// Appends the operators that add up `parts`, the gradients of `blob`, to `ops`, and returns the
// total. Renames outputs of the operators in `ops` that `parts` refers to. REQUIRES: `parts` has at
// least two elements.
// THROWS if the gradients are partly sparse and partly dense or on different devices, or if a
// gradient that no operator made has the name of the total.
GradientWrapper AddUpGradients(const std::string& blob, const std::vector<GradientPart>& parts,
                               std::vector<OperatorDef>* ops);

}  // namespace caffe2rt
