#pragma once
// The result of `caffe2 compare`, and how it is printed.

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "caffe2_core/inspect/net_comparison.h"
#include "caffe2_core/tensor/tensor_difference.h"
#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt {

struct Comparison {
  std::string first = {}, second = {};  // paths
  Tolerance tolerance = {};
  std::vector<ComparedValue> values = {};
  std::optional<NetDef> first_net = {}, second_net = {};  // of those that are nets
  // Of two nets: the blobs whose last values must be in both. All other values may be in one of them
  // alone.
  std::set<std::string> outputs = {};

  // Whether the value is a difference.
  bool Fails(const ComparedValue& value) const;
  std::vector<const ComparedValue*> Having(ComparedValue::Presence presence) const;
  // `operator 3 (Conv "c1")`, or "" if no operator of the first net writes the value.
  std::string OperatorOf(const ComparedValue& value) const;
};

// Prints the comparison. Returns the exit code: 1 if there are differences.
int Report(const Comparison& comparison, bool json);

}  // namespace caffe2rt
