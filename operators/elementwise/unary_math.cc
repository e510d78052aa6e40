// Unary arithmetic, roots, exponentials and trigonometry. unary_functions.h contains the functions
// and the table of their operators.

#include "operators/elementwise/unary.h"
#include "operators/elementwise/unary_functions.h"

namespace caffe2rt {

void RegisterUnaryMath() { RegisterUnary(kUnaryMath, __FILE__); }

}  // namespace caffe2rt
