#pragma once

// An activation and its gradient, for one element.

#include "cudnn/descriptors.h"

namespace fakecuda {

double Activate(const cudnnActivationStruct& activation, double x);
// dx from the result y, its gradient dy and the input x.
double ActivateGradient(const cudnnActivationStruct& activation, double y, double dy, double x);

}  // namespace fakecuda
