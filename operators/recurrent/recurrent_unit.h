#pragma once
// What LSTMUnit, GRUUnit and their gradients have in common: arguments, checks of shapes, and the
// inputs that state which rows are valid.

#include "caffe2_core/runtime/operator.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/element_type.h"
#include "operators/common/host_input.h"
#include "operators/recurrent/unit_kernels.h"

namespace caffe2rt {

class OpSchema;

inline constexpr ArgumentSpec<bool> kUnitSequenceLengths{
    "sequence_lengths", true,
    "0: the input with the lengths of the sequences is left out, and every row is valid"};
inline constexpr ArgumentSpec<bool> kUnitDropStates{
    "drop_states", false,
    "1: the states of a sequence that has ended are 0; 0: they keep their last values"};
inline constexpr ArgumentSpec<float> kLstmForgetBias{
    "forget_bias", 0.0f, "added to the forget gate before the logistic function"};

// `lengths` is the index of the input with the lengths, if there is one. The next input is the
// time step, an int32 on the CPU.
template <class Context>
class RecurrentUnitOp : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  RecurrentUnitOp(const OperatorDef& def, Workspace* ws, int lengths)
      : Operator<Context>(def, ws),
        lengths_(lengths),
        has_lengths_(this->ReadArgument(kUnitSequenceLengths)),
        drop_states_(this->ReadArgument(kUnitDropStates)) {}

 protected:
  // The index of the time step.
  int TimeStep() const { return lengths_ + (has_lengths_ ? 1 : 0); }
  // Whether rows that are not valid keep their states.
  bool MayKeepStates() const { return has_lengths_ && !drop_states_; }

  // Takes the shape from the state, input `i`, and checks the gates, which have `count` per element,
  // and the lengths. Call ReadStep when all inputs have been checked.
  UnitRows CheckRows(int i, const char* name, int gates, int count) {
    const Tensor& state = Input(i);
    CAFFE_ENFORCE_GE(state.dim(), 3, "rank of input ", i, " (", name, ") of shape ", state.sizes(),
                     ", want [1, batch, size]");
    UnitRows rows;
    rows.batch = state.dim(1);
    rows.size = state.dim(2);
    CAFFE_ENFORCE_EQ(state.numel(), CheckedMultiply(rows.batch, rows.size), "elements of input ", i,
                     " (", name, ") of shape ", state.sizes(), ", want [1, batch, size]");
    const Tensor& of_gates = Input(gates);
    CAFFE_ENFORCE_GE(of_gates.dim(), 3, "rank of input ", gates, " (gates) of shape ",
                     of_gates.sizes(), ", want [1, batch, ", count, " * size]");
    CAFFE_ENFORCE_EQ(of_gates.dim(2), CheckedMultiply<int64_t>(rows.size, count), "dim 2 of input ",
                     gates, " (gates) of shape ", of_gates.sizes(), ", want ", count,
                     " times dim 2 of input ", i, " (", name, ")");
    CAFFE_ENFORCE_GE(of_gates.numel(), CheckedMultiply<int64_t>(state.numel(), count),
                     "elements of input ", gates, " (gates) of shape ", of_gates.sizes(),
                     ", want [1, ", rows.batch, ", ", of_gates.dim(2), "]");
    const Tensor& step = InputAnywhere(*this, TimeStep());
    CAFFE_ENFORCE_GE(step.numel(), 1, "elements of input ", TimeStep(), " (timestep)");
    RequireElements<int32_t>(step);
    if (has_lengths_) {
      const Tensor& lengths = Input(lengths_);
      CAFFE_ENFORCE_EQ(lengths.numel(), rows.batch, "elements of input ", lengths_,
                       " (seq_lengths), want one for each row of the batch");
      RequireElements<int32_t>(lengths);
    }
    rows.drop_states = drop_states_;
    return rows;
  }

  // Reads the time step and the lengths.
  void ReadStep(UnitRows* rows) {
    rows->step = step_.Read(*this, TimeStep()).template data<int32_t>()[0];
    if (has_lengths_) rows->lengths = Input(lengths_).template data<int32_t>();
  }

  // THROWS unless the gradients of the gates, of `count` elements, are those of the whole input.
  void CheckGates(int gates, int64_t count) {
    CAFFE_ENFORCE_EQ(Input(gates).numel(), count, "elements of input ", gates, " (gates) of shape ",
                     Input(gates).sizes(), ", want those of the whole batch");
  }

  // The elements of input `i`, a gradient or a value of the forward pass with `count` of them.
  const float* ReadAll(int i, const char* name, int64_t count) {
    const Tensor& tensor = Input(i);
    CAFFE_ENFORCE_EQ(tensor.numel(), count, "elements of input ", i, " (", name, ") of shape ",
                     tensor.sizes(), ", want those of the whole batch");
    return tensor.template data<float>();
  }

  // The elements of input `i`, of which `count` are read.
  const float* Read(int i, const char* name, int64_t count) {
    const Tensor& tensor = Input(i);
    CAFFE_ENFORCE_GE(tensor.numel(), count, "elements of input ", i, " (", name, ") of shape ",
                     tensor.sizes(), ", want those of the whole batch");
    return tensor.template data<float>();
  }

 private:
  const int lengths_;
  const bool has_lengths_;
  const bool drop_states_;
  HostInput step_;
};

// The state of a row after its sequence has ended: `from`, or 0 if it drops its states. On the CPU.
void WriteEndedRow(const UnitRows& rows, const float* from, float* to);

// Declares the arguments above, and that the time step is on the CPU. `lengths` is as above.
void DeclareUnit(OpSchema& schema, int lengths);
// Shape inference: the outputs have the shapes of the first inputs.
std::vector<TensorShape> InferUnit(const OperatorDef& def, const std::vector<TensorShape>& in);

}  // namespace caffe2rt
