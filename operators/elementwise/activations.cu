// Activation functions on CUDA.

#include "contexts/cuda/cuda_context.h"
#include "operators/elementwise/activation_functions.h"
#include "operators/elementwise/map.cuh"
#include "operators/elementwise/unary.h"

namespace caffe2rt {

void RegisterActivationsCuda() {
  RegisterUnaryCuda<Relu, float>("Relu", __FILE__);
  RegisterUnaryCuda<ReluN, float>("ReluN", __FILE__);
  RegisterUnaryCuda<LeakyRelu, float>("LeakyRelu", __FILE__);
  RegisterUnaryCuda<ThresholdedRelu, float>("ThresholdedRelu", __FILE__);
  RegisterUnaryCuda<Elu, float>("Elu", __FILE__);
  RegisterUnaryCuda<Selu, float>("Selu", __FILE__);
  RegisterUnaryCuda<Sigmoid, float>("Sigmoid", __FILE__);
  RegisterUnaryCuda<HardSigmoid, float>("HardSigmoid", __FILE__);
  RegisterUnaryCuda<Tanh, float>("Tanh", __FILE__);
  RegisterUnaryCuda<Swish, float>("Swish", __FILE__);
  RegisterUnaryCuda<Softplus, float>("Softplus", __FILE__);
  RegisterUnaryCuda<Softsign, float>("Softsign", __FILE__);
  RegisterUnaryCuda<Gelu, float>("Gelu", __FILE__);
  RegisterUnaryCuda<Mish, float, double>("Mish", __FILE__);
  RegisterUnaryCuda<Clip, float>("Clip", __FILE__);
  RegisterUnaryCuda<StumpFunc, float>("StumpFunc", __FILE__);
  RegisterUnaryCuda<Logit, float>("Logit", __FILE__);
}

}  // namespace caffe2rt
