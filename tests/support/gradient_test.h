#pragma once
// Compares the gradient of an operator with central differences, and shows what its gradient maker
// returns.
//
//   Workspace ws;
//   FeedRandom(&ws, "X", {2, 3});
//   ExpectGradientMatches(&ws, R"(type: "Tanh" input: "X" output: "Y")");
//
// The function whose gradient is compared is the sum of dY[i] * Y[i] over the outputs, with fixed
// pseudo-random dY. GetGradientForOp provides the gradient operators. The forward operator runs four
// times for each element of an input, so inputs should have at most a few hundred elements.

#include <string>
#include <vector>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/workspace.h"

namespace caffe2rt::test {

struct GradientCheck {
  // The inputs whose gradients are compared. Empty: every input of floats or doubles that has one.
  std::vector<std::string> inputs = {};
  // Outputs that receive no gradient. Outputs of other types than float and double never do.
  std::vector<std::string> outputs_without_gradient = {};
  // The distance between an element and its neighbours. The function must be smooth between them.
  double step = 1.0 / 64;
  // A gradient may differ from the difference quotient by tolerance * max(1, |quotient|), and in
  // addition by the effect of the rounding of Y.
  double tolerance = 1e-3;
};

// Runs the operator and its gradient operators over the blobs of `ws`, as RunOp does, so with
// CAFFE2_TEST_DEVICE=cuda on CUDA. Fails if a gradient has another shape than its input or differs
// from the difference quotients, if no gradient was compared, or if the function is not smooth
// there. Afterwards the inputs have their values again. A sparse gradient is compared after the
// values of equal indices are added up. REQUIRES: inputs are CPU tensors with different names; the
// operator is deterministic. THROWS what the operators and the maker throw.
void ExpectGradientMatches(Workspace* ws, const std::string& text, const GradientCheck& check = {});

// What the maker of an operator returns: its operators and then the gradients of its inputs, "-" for
// an input without gradient and "indices+values" for a sparse one, for example
//   "Scale(Y_grad)->X_grad scale=2; Mul(X_grad,X)->X_grad | X_grad"
// If `given` is empty, each output has the dense gradient <output>_grad. THROWS what the maker
// throws.
std::string DescribeGradient(const std::string& text, std::vector<GradientWrapper> given = {});

}  // namespace caffe2rt::test
