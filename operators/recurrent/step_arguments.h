#pragma once
// The arguments of RecurrentNetwork and RecurrentNetworkGradient.
//
// A name that is followed by ".rename" in an argument's name, as in "x.rename", stands for the value
// of that argument. Caffe2's memory optimizer adds such arguments when it renames inputs and outputs,
// and so does the pass that inserts copies between devices. They apply to the lists of names, and to
// the blobs that a step net reads from the workspace.

#include <string>
#include <vector>

#include "caffe2_core/graph/arguments.h"

#pragma GCC visibility push(default)  // for libcaffe2_cuda
namespace caffe2rt {

class OpSchema;

inline constexpr ArgumentSpec<std::string> kStepNet{
    "step_net", "", "the net that runs once for each time step, as a message or as text"};
inline constexpr ArgumentSpec<std::string> kBackwardStepNet{
    "backward_step_net", "",
    "the net that computes the gradients of a time step, as a message or as text"};
inline constexpr ArgumentSpec<std::string> kTimestep{
    "timestep", "timestep", "blob of the step net that holds the number of the time step"};
inline constexpr RepeatedArgumentSpec<std::string> kRecurrentStates{
    "recurrent_states", "blobs for the states of all time steps, [T + 1, N, D] floats each"};
inline constexpr RepeatedArgumentSpec<int> kInitialStateIds{
    "initial_recurrent_state_ids", "for each state, the index of the input with its initial value"};
inline constexpr RepeatedArgumentSpec<std::string> kLinkInternal{
    "link_internal", "blobs of the step net that are rows of other blobs"};
inline constexpr RepeatedArgumentSpec<std::string> kLinkExternal{
    "link_external", "for each link, the blob that holds the rows of all time steps"};
inline constexpr RepeatedArgumentSpec<int> kLinkOffset{
    "link_offset", "for each link, the first row at time step 0"};
inline constexpr RepeatedArgumentSpec<int> kLinkWindow{
    "link_window", "for each link, the number of rows; 1 if the argument is missing"};
inline constexpr RepeatedArgumentSpec<std::string> kBackwardLinkInternal{
    "backward_link_internal", "link_internal of the backward step net"};
inline constexpr RepeatedArgumentSpec<std::string> kBackwardLinkExternal{
    "backward_link_external", "link_external of the backward step net"};
inline constexpr RepeatedArgumentSpec<int> kBackwardLinkOffset{
    "backward_link_offset", "link_offset of the backward step net"};
inline constexpr RepeatedArgumentSpec<std::string> kAliasSource{
    "alias_src", "for each output but the last, the state that it is a part of"};
inline constexpr RepeatedArgumentSpec<std::string> kAliasTarget{"alias_dst",
                                                                "the names of these outputs"};
inline constexpr RepeatedArgumentSpec<int> kAliasOffset{
    "alias_offset", "for each of them, its first row in the state; negative: from the end"};
inline constexpr RepeatedArgumentSpec<std::string> kRecomputeBlobs{
    "recompute_blobs_on_backward",
    "blobs of the step net that all time steps share, because the backward step net computes them "
    "again"};
inline constexpr RepeatedArgumentSpec<int> kOutputsWithGrads{
    "outputs_with_grads", "the outputs whose gradients are given"};
inline constexpr RepeatedArgumentSpec<int> kRecurrentParam{
    "param", "the inputs that are parameters of the step net and get gradients"};
inline constexpr RepeatedArgumentSpec<std::string> kRecurrentParamGrads{
    "param_grads", "for each parameter, its gradient in the backward step net"};
inline constexpr ArgumentSpec<bool> kEnableRnnExecutor{"enable_rnn_executor", false,
                                                       "has no effect"};

// At time step t, the blob `internal` of the step net is rows [t + offset, t + offset + window) of
// `external`.
struct StepLink {
  std::string internal;
  std::string external;
  int offset = 0;
  int window = 1;
};

// Output `target` is the rows of state `source` from `offset` on.
struct StateAlias {
  std::string source;
  std::string target;
  int offset = 0;
};

struct StepArguments {
  std::string timestep;
  std::vector<std::string> states;
  std::vector<int> initial_ids;  // one for each state
  std::vector<StepLink> links;
  std::vector<StateAlias> aliases;
  std::vector<int> outputs_with_grads;
  std::vector<int> params;
  std::vector<std::string> param_grads;
  std::vector<std::string> recomputed;
};

// THROWS if lists that belong together differ in length.
StepArguments ReadStepArguments(const OperatorDef& def);
// The links of the backward step net. THROWS if the lists differ in length.
std::vector<StepLink> ReadBackwardLinks(const OperatorDef& def);

// Whether the argument holds a net, and the net. A net that names no device gets that of the
// operator. ReadStepNet THROWS if the argument is missing, is
// text that does not parse, or is a net without a name.
bool HasStepNet(const OperatorDef& def, const ArgumentSpec<std::string>& spec);
NetDef ReadStepNet(const OperatorDef& def, const ArgumentSpec<std::string>& spec);

// Declares all arguments above.
void DeclareStepArguments(OpSchema& schema);

}  // namespace caffe2rt
#pragma GCC visibility pop
