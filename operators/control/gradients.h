#pragma once
// The gradient makers of If, While and Do. The gradient of each is an operator of the same type, whose
// nets are the backward passes of the forward nets. The names are Caffe2's.

#include <functional>
#include <string>
#include <vector>

#include "caffe2_core/graph/backward_pass.h"
#include "caffe2_core/graph/gradient.h"

namespace caffe2rt {

// The given gradients of an operator's outputs as the start of a backward pass. THROWS if one is
// sparse, or if there is none.
GradientStart GivenGradients(const OperatorDef& def, const std::vector<GradientWrapper>& g_output);

// The gradient of a Do. `name_of` returns the name of the gradient of an outer blob.
GradientOpsMeta GradientOfDo(const OperatorDef& def, const std::vector<GradientWrapper>& g_output,
                             const std::function<std::string(const std::string&)>& name_of);

class GetDoGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;
  GradientOpsMeta Get() override;
};

class GetIfGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;
  GradientOpsMeta Get() override;
};

class GetWhileGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;
  GradientOpsMeta Get() override;
};

}  // namespace caffe2rt
