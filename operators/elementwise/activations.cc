// The activation functions. activation_functions.h contains the functions and the table of their
// operators.

#include "operators/elementwise/activation_functions.h"
#include "operators/elementwise/unary.h"

namespace caffe2rt {

void RegisterActivations() { RegisterUnary(kActivations, OperatorFamily::kActivation, __FILE__); }

}  // namespace caffe2rt
