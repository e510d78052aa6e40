// Arithmetic, roots, exponentials and trigonometry of one number. Their functions and the table of
// their operators are in unary_functions.h.

#include "operators/elementwise/unary.h"
#include "operators/elementwise/unary_functions.h"

namespace caffe2rt {

void RegisterUnaryMath() { RegisterUnary(kUnaryMath, __FILE__); }

}  // namespace caffe2rt
