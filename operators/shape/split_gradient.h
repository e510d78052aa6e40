#pragma once
// The gradient maker of operators that split input 0 into their outputs along a dimension: a Concat.

#include <algorithm>
#include <string>
#include <vector>

#include "caffe2_core/graph/gradient.h"

namespace caffe2rt {

class GetSplitGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    if (std::all_of(g_output_.begin(), g_output_.end(),
                    [](const GradientWrapper& gradient) { return gradient.IsEmpty(); }))
      return {};
    const std::string joined = GI(0);
    std::vector<OperatorDef> ops;
    std::vector<std::string> pieces;
    for (int i = 0; i < def_.output_size(); ++i) {
      if (!GradOut(i).IsEmpty()) {
        pieces.push_back(GO(i));
        continue;
      }
      // Without zeros for a piece that nothing reads, the others would be joined at wrong places.
      pieces.push_back(MakeString(joined, "_zero_", i));
      ops.push_back(CreateOperatorDef("ConstantFill", "", {O(i)}, {pieces.back()}));
    }
    ops.push_back(CreateOperatorDef("Concat", "", pieces, {joined, "_" + joined + "_dims"}));
    return ops;
  }
};

}  // namespace caffe2rt
