#pragma once
// Groups of operator types that have the same color in a drawing.

#include <string>

#include "caffe2_core/graph/operator_traits.h"

namespace caffe2rt {

// The family that the operator type states (OperatorTraits::family). Otherwise a gradient operator
// belongs to the family of its forward operator, an Int8 operator to that of the operator for floats,
// and all others are grouped by parts of their names, so that users' operators get a color too.
OperatorFamily FamilyOf(const std::string& type);

// The name in the legend, such as "convolution", and the name of the CSS class, such as "conv".
const char* FamilyTitle(OperatorFamily family);
const char* FamilyClass(OperatorFamily family);

// Colors "#rrggbb": the fill of the box, and the bar at its left. The bars are Paul Tol's light
// color scheme, which can be told apart by people with impaired color vision.
const char* FamilyFill(OperatorFamily family);
const char* FamilyColor(OperatorFamily family);

}  // namespace caffe2rt
