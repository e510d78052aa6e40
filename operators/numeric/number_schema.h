#pragma once
// Shape inference of the operators of this folder.

#include <vector>

#include "operators/common/broadcast.h"
#include "operators/common/inference.h"

namespace caffe2rt {

// The shape to which all inputs are broadcast, with the type of input 0.
inline std::vector<TensorShape> InferBroadcastOfAll(const OperatorDef& def,
                                                    const std::vector<TensorShape>& in) {
  if (in.empty() || !AreKnown(in, in.size())) return UnknownOutputs(def);
  std::vector<int64_t> dims = GetDimsVector(in[0]);
  for (size_t i = 1; i < in.size(); ++i) {
    dims = BroadcastShape(dims, GetDimsVector(in[i]), BroadcastArguments());
  }
  return {CreateTensorShape(dims, in[0].data_type())};
}

}  // namespace caffe2rt
