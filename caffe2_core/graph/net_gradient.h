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
#include <vector>

#include "caffe2_core/graph/gradient.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

namespace internal {
// For registration. The registry may not contain the built-in makers yet.
GradientRegistryType* NetGradientMakers();
}  // namespace internal

// The registry of the process. The built-in makers are registered on return.
GradientRegistryType* NetGradientRegistry();

// Maker is a class like that of RegisterGradient. It sets the device options and the arguments of
// the operators itself, and all fields that mark which of them are gradient operators.
template <class Maker>
bool RegisterNetGradient(const std::string& op_type, const char* file) {
  return internal::NetGradientMakers()->Register(
      op_type,
      [](const OperatorDef& def, const std::vector<GradientWrapper>& g_output) {
        return std::unique_ptr<GradientMakerBase>(new Maker(def, g_output));
      },
      file);
}

// Like GetGradientForOp, but knows the types that run nets.
GradientOpsMeta GetGradientInNet(const OperatorDef& def,
                                 const std::vector<GradientWrapper>& g_output);

}  // namespace caffe2rt
#pragma GCC visibility pop
