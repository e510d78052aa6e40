#pragma once
// Compares the gradients of a net with difference quotients, to find a wrong gradient operator or
// gradient maker.
//
//   Workspace ws;                       // with the inputs of the net
//   for (const CheckedGradient& checked : CheckGradients(net, {"loss"}, {}, &ws)) {
//     if (checked.wrong > 0) ...        // checked.worst shows the largest difference
//   }
//
// The function that is differentiated is the sum of w[i] * loss[i] over the elements of all losses,
// where w is 1 for a loss of one element, and pseudo-random otherwise.

#include <cstdint>
#include <string>
#include <vector>

#include "caffe2rt/caffe2.pb.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

class Workspace;

struct GradientCheckOptions {
  // The blobs whose gradients are checked. Empty: all inputs of the net of float or double that
  // have one. An output of an operator at the beginning of the net without inputs counts as an
  // input.
  std::vector<std::string> wrt = {};
  // The distance between an element and its neighbours; for a float at least 2^-19 of its value.
  double step = 1.0 / 64;
  // An element is wrong if it differs from the difference quotient by more than `tolerance` times
  // the largest absolute value in the gradient, and by more than rounding explains.
  double tolerance = 1e-2;
  // The most elements of a blob that are checked, evenly spaced. Each takes four runs of the net.
  int64_t most_elements = 100;
};

struct GradientElement {
  int64_t index = 0;
  double computed = 0;  // by the gradient operators
  double quotient = 0;
};

struct CheckedGradient {
  std::string blob;
  std::string gradient;  // its name; of a sparse gradient that of the values
  int64_t elements = 0;  // checked
  int64_t wrong = 0;
  // Not compared, because the function has a kink at or near the element, as Relu at 0 and MaxPool
  // where two elements are nearly equal.
  int64_t not_smooth = 0;
  GradientElement worst = {};  // the largest difference
};

// Runs the net with its backward pass, and then the net alone for each element. The inputs are in
// `ws` and have their values again afterwards. The net must give the same result in each run.
//
// THROWS if the net or its backward pass fails, if a gradient has another shape than its blob, if a
// blob of `wrt` is not an input or has no gradient, if no gradient could be checked, or if two runs
// of the net give different losses, as those with random operators do.
std::vector<CheckedGradient> CheckGradients(const NetDef& net,
                                            const std::vector<std::string>& losses,
                                            const GradientCheckOptions& options, Workspace* ws);

}  // namespace caffe2rt
#pragma GCC visibility pop
