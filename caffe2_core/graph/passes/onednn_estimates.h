#pragma once
// Estimates for the placement of a net on IDEEP: the sizes of its convolutions and blobs, as far as
// they are known or can be guessed.

#include <cstdint>
#include <string>
#include <vector>

#include "caffe2_core/graph/passes/conv_layouts.h"
#include "caffe2_core/graph/passes/net_pass.h"

namespace caffe2rt {

class OnednnEstimates {
 public:
  // Infers the shapes of the net. Inputs of convolutions whose shapes are not known count as one
  // image of 224 x 224. REQUIRES: `net` outlives this object.
  OnednnEstimates(const NetDef& net, const PassContext& context);

  // The elements of the first output of an operator, or a guess if its shape is not known.
  double OutputCount(size_t op) const;
  // The elements of input `i`.
  double InputCount(size_t op, size_t i) const;
  // The size of a convolution with a constant filter. REQUIRES: PlaceOnOnednn accepts it.
  ConvSize SizeOfConv(size_t op) const;
  // Whether input `i` is a float tensor known to have rank 4.
  bool IsImage(size_t op, size_t i) const;

 private:
  const NetDef& net_;
  const PassContext& context_;
  std::vector<OpShapes> shapes_;
};

}  // namespace caffe2rt
