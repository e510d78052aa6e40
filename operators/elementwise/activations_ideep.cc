#include "operators/primitives/activation_functions.h"
#include "operators/elementwise/unary_ideep.h"

namespace caffe2rt {

void RegisterActivationsIdeep() { RegisterUnaryOnednn(kActivations, __FILE__); }

}  // namespace caffe2rt
