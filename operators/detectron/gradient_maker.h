#pragma once
// The gradient maker of most operators of this family: <Type>Gradient with the inputs, all outputs
// but the first, and the gradient of the first output, which gives the gradient of the first input.

#include <string>
#include <vector>

#include "caffe2_core/graph/gradient.h"

namespace caffe2rt {

class GetDetectronGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    std::vector<std::string> inputs;
    for (int i = 0; i < def_.input_size(); ++i) inputs.push_back(I(i));
    for (int i = 1; i < def_.output_size(); ++i) inputs.push_back(O(i));
    inputs.push_back(GO(0));
    return SingleGradientDef(def_.type() + "Gradient", "", inputs, std::vector<std::string>{GI(0)});
  }
};

}  // namespace caffe2rt
