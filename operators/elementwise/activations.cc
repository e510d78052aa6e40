// The activation functions of neural nets. Their functions and the table of their operators are in
// activation_functions.h.

#include "operators/elementwise/activation_functions.h"
#include "operators/elementwise/unary.h"

namespace caffe2rt {

void RegisterActivations() { RegisterUnary(kActivations, __FILE__); }

}  // namespace caffe2rt
