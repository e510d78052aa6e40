#pragma once
// FindNaNOrigin: runs a net again, operator by operator, to find where a NaN in its output began.
//
//   Workspace again;                       // with the inputs and weights of the run that had a NaN
//   const auto origin = FindNaNOrigin(net_def, "prob", 1, &again);
//   if (origin.has_value()) std::cerr << origin->Text();

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "caffe2_core/tensor/blob.h"
#include "caffe2rt/caffe2.pb.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

class Workspace;

// Where a NaN began: the blob in which it was first, and the operator that wrote it.
struct NaNOrigin {
  std::string blob = {};
  // The operator in the net as it was given; -1 if the blob came from outside the net with a NaN.
  int position = -1;
  std::string op = {};  // `Log "log_1"`
  int64_t run = 1;      // the run in which the output had a NaN
  // The inputs of the operator that had infinite elements, a frequent cause.
  std::vector<std::string> infinite_inputs = {};

  // `blob "y", written by operator 3 (Log "log_1")`, or `blob "data", before the net runs`.
  std::string Text() const;
};

// Runs `net` in `ws`, at most `runs` times, until blob `output` has a NaN. Then follows the NaN
// back through the inputs that had one, to the earliest operators whose inputs had none, and
// returns the first of these in the order of the net. Returns nothing if no run gives the output a
// NaN: for example, if random numbers made it. Operators without outputs that print or write files
// do not run. The workspace is changed as by Workspace::RunNet.
// REQUIRES: `ws` has no net with the name of `net`. THROWS if the net fails.
std::optional<NaNOrigin> FindNaNOrigin(const NetDef& net, const std::string& output, int64_t runs,
                                       Workspace* ws);

}  // namespace caffe2rt
#pragma GCC visibility pop
