#pragma once
// The gradient maker of operators that split input 0 into their outputs along a dimension: a Concat.

#include <string>
#include <vector>

#include "caffe2_core/graph/gradient.h"

namespace caffe2rt {

// Joins the gradients of the outputs. As in Caffe2, an output without gradient is left out, so that
// the result is too short.
class GetSplitGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    std::vector<std::string> pieces;
    for (int i = 0; i < def_.output_size(); ++i) {
      if (!GradOut(i).IsEmpty()) pieces.push_back(GO(i));
    }
    if (pieces.empty()) return {};
    const std::string joined = GI(0);
    return SingleGradientDef("Concat", "", pieces, {joined, "_" + joined + "_dims"});
  }
};

}  // namespace caffe2rt
