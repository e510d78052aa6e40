#pragma once
// Gradient makers of operators that run nets, such as If and While. Their gradient operators run
// the backward passes of those nets.
//
// Only the backward pass of a net (backward_pass.h) uses these makers. As in Caffe2, where its
// Python layer has them, GetGradientForOp reports such a type as one without a gradient maker.
//
// The registry is thread safe.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "caffe2_core/graph/gradient.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

// The registry of the process. The built-in makers are registered on return.
GradientRegistryType* NetGradientRegistry();

// Like RegisterGradient. The maker sets the device options and the arguments of the operators
// itself, and all fields that mark which of them are gradient operators.
bool RegisterNetGradient(std::string_view op_type, GradientCreator* creator, const char* file);
template <class Maker>
bool RegisterNetGradient(std::string_view op_type, const char* file) {
  return RegisterNetGradient(op_type, internal::MakeGradientMaker<Maker>, file);
}

// Like GetGradientForOp, but knows the types that run nets.
GradientOpsMeta GetGradientInNet(const OperatorDef& def,
                                 const std::vector<GradientWrapper>& g_output);

}  // namespace caffe2rt
#pragma GCC visibility pop
