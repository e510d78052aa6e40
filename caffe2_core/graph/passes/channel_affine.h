#pragma once
// Operators that compute y = x * factor[c] + term[c] for each channel c with constant numbers: those
// that state an AffineForm, such as SpatialBN in test mode and Mul with a constant.

#include <cstdint>
#include <optional>
#include <vector>

#include "caffe2_core/base/storage_order.h"
#include "caffe2_core/graph/passes/net_pass.h"
#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt {

// The numbers of each channel, in double precision so that a chain of operators rounds once.
struct ChannelAffine {
  std::vector<double> factor, term;

  // The identity.
  explicit ChannelAffine(size_t channels) : factor(channels, 1.0), term(channels, 0.0) {}
  // Appends an operator that is applied after those so far.
  void Append(const ChannelAffine& next);
};

// What is known about the tensor x.
struct AffineInput {
  int64_t channels = 0;
  int rank = 0;
  int channel_axis = 1;
};

// The numbers of `op`, applied to input `x_index`; nothing if the operator is of another kind, if a
// number is not constant, or if the result has another shape than x.
std::optional<ChannelAffine> ReadChannelAffine(const OperatorDef& op, int x_index,
                                               const AffineInput& x, NetConstants* constants);

}  // namespace caffe2rt
