// The operators of the activation functions (operators/primitives/activation_functions.h).

#include "operators/elementwise/unary.h"
#include "operators/primitives/activation_functions.h"

namespace caffe2rt {

void RegisterActivations() {
  RegisterUnary(
      kActivations,
      {.family = OperatorFamily::kActivation, .same_shape = true, .fused_activation = true},
      __FILE__);
}

}  // namespace caffe2rt
