#pragma once
// The backward step net of a RecurrentNetwork that has none, derived from its step net.

#include "operators/recurrent/step_arguments.h"

namespace caffe2rt {

// The arguments that the derived net needs, for the gradient operator of `def`: backward_step_net,
// its links, param and param_grads. The parameters are those of `def`, or, if it does not name any,
// all inputs with a gradient that are neither linked nor initial values.
//
// Each linked blob that the step net reads has a link of its gradient to the gradient of the rows,
// "<external>_grad"; each linked blob that it writes starts the backward pass with a gradient that
// is linked in the same way.
//
// THROWS if a gradient operator of the step net does not exist, if a link has a window other than 1,
// if the step net reads a blob through two links, or if it reads a linked blob or an initial value under
// its own name (unless `def` names its parameters).
std::vector<Argument> DeriveBackwardStep(const OperatorDef& def);

}  // namespace caffe2rt
