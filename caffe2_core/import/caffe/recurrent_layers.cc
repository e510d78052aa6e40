// Recurrent layers, over a sequence x [T, N, ...] and cont [T, N], which is 0 where a sequence begins
// and 1 where it goes on: it multiplies the states of the step before.

#include <utility>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/import/caffe/layer_table.h"

namespace caffe2rt {
namespace {

// Appends an operator to a step net.
void AddStepOp(NetDef* net, const char* type, const std::vector<std::string>& inputs,
               const std::vector<std::string>& outputs, const std::vector<Argument>& args = {}) {
  *net->add_op() = CreateOperatorDef(type, "", inputs, outputs, args);
}

// A layer that is being translated.
struct Recurrence {
  CaffeLayerContext* c;
  int64_t outputs = 0;      // D
  bool has_static = false;  // an input for all steps
  bool exposes_state = false;
  size_t next_blob = 0;    // behind those of the input
  std::string gates = {};  // what the input adds to the gates of all steps, [T, N, gates]
  std::string cont = {};   // [T, N, 1]
};

// W x, flattened from `axis` on, with the blobs at `*blob`. Without `bias` there is one blob.
std::string Product(Recurrence* r, const std::string& x, int64_t axis, int64_t rows,
                    const std::string& label, bool bias) {
  CaffeLayerContext* c = r->c;
  const CaffeMessage& param = c->Param("recurrent_param");
  const CaffeDims dims = c->Dims(x);
  CAFFE_ENFORCE(static_cast<int64_t>(dims.size()) >= axis, "a bottom has ", dims.size(),
                " axes, want at least ", axis);
  const int64_t columns = CheckedProduct(CaffeDims(dims.begin() + axis, dims.end()));
  const std::string w =
      c->Parameter(r->next_blob++, "w_" + label, {rows, columns}, param.Message("weight_filler"));
  const std::string b =
      bias ? c->Parameter(r->next_blob++, "b_" + label, {rows}, param.Message("bias_filler"))
           : c->Zeros("zeros_" + label, rows);
  return c->Value("FC", {x, w, b}, {MakeArgument("axis", axis)});
}

// `gates` is the number of gates, `states` that of the states.
Recurrence StartRecurrence(CaffeLayerContext* c, int64_t gates, size_t states) {
  const CaffeMessage& param = c->Param("recurrent_param");
  Recurrence r = {.c = c, .outputs = param.Integer("num_output", 0)};
  CAFFE_ENFORCE(r.outputs > 0 && r.outputs <= (1 << 28), "num_output is ", r.outputs,
                ", want 1 to ", 1 << 28);
  r.exposes_state = param.Bool("expose_hidden", false);
  const size_t plain = 2 + (r.exposes_state ? states : 0);
  CAFFE_ENFORCE(c->bottoms() == plain || c->bottoms() == plain + 1, "it has ",
                CountText(c->bottoms(), "bottom"), ", want ", plain, ", or ", plain + 1,
                " with a static input");
  r.has_static = c->bottoms() == plain + 1;
  r.gates = Product(&r, c->Bottom(0), 2, gates * r.outputs, "x", true);
  if (r.has_static) {
    const std::string constant = Product(&r, c->Bottom(2), 1, gates * r.outputs, "static", false);
    r.gates = c->Value("Add", {r.gates, constant});
  }
  r.cont = c->Value("ExpandDims", {c->Bottom(1)}, {MakeArgument("dims", CaffeDims{2})});
  return r;
}

// The blob with the first value of state i.
std::string InitialState(const Recurrence& r, size_t i) {
  if (r.exposes_state) return r.c->Bottom(2 + (r.has_static ? 1 : 0) + i);
  return r.c->Zeros(MakeString("state", i), r.outputs);
}

void AddNet(const NetDef& step, std::vector<Argument>* args) {
  Argument argument;
  argument.set_name("step_net");
  *argument.mutable_n() = step;
  args->push_back(std::move(argument));
}

// The arguments that connect the blobs of a step net with rows of blobs for all steps, and the outputs
// with rows of the states.
struct Links {
  std::vector<std::string> internal, external, sources, outputs;
  std::vector<int64_t> offsets, output_offsets;

  void Add(const std::string& inner, const std::string& outer, int64_t offset) {
    internal.push_back(inner);
    external.push_back(outer);
    offsets.push_back(offset);
  }
  void AddOutput(const std::string& name, const std::string& state, int64_t offset) {
    outputs.push_back(name);
    sources.push_back(state);
    output_offsets.push_back(offset);
  }
  std::vector<Argument> Arguments() const {
    return {MakeArgument("alias_src", sources),           MakeArgument("alias_dst", outputs),
            MakeArgument("alias_offset", output_offsets), MakeArgument("link_internal", internal),
            MakeArgument("link_external", external),      MakeArgument("link_offset", offsets)};
  }
};

// Writes the operator. State i is called `states[i]` in the step net, and `states[i]`_prev before the
// step. The first state of all steps becomes `top`, the last rows of all states the further tops.
void EmitRecurrence(const Recurrence& r, const NetDef& step, const std::vector<std::string>& states,
                    const std::vector<std::string>& parameters, const std::string& top) {
  CaffeLayerContext* c = r.c;
  Links links;
  std::vector<std::string> inputs = {r.gates}, names;
  std::vector<int64_t> ids;
  for (size_t i = 0; i < states.size(); ++i) {
    names.push_back(MakeString(c->layer().name, "/", states[i], "_states"));
    ids.push_back(static_cast<int64_t>(inputs.size()));
    inputs.push_back(InitialState(r, i));
    links.Add(states[i] + "_prev", names[i], 0);
    links.Add(states[i], names[i], 1);
  }
  links.Add("gates_t", r.gates, 0);
  links.Add("cont_t", r.cont, 0);
  inputs.push_back(r.cont);
  inputs.insert(inputs.end(), parameters.begin(), parameters.end());
  links.AddOutput(top, names[0], 1);
  for (size_t i = 0; r.exposes_state && i < states.size(); ++i) {
    links.AddOutput(c->Top(1 + i), names[i], -1);
  }
  std::vector<Argument> args = links.Arguments();
  args.push_back(MakeArgument("recurrent_states", names));
  args.push_back(MakeArgument("initial_recurrent_state_ids", ids));
  AddNet(step, &args);
  std::vector<std::string> outputs = links.outputs;
  outputs.push_back(c->Top(0) + "/steps");
  c->Emit("RecurrentNetwork", inputs, outputs, args);
  const CaffeDims gates = c->Dims(r.gates);
  c->SetDims(top, {gates[0], gates[1], r.outputs});
}

// The recurrent part of the gates: W (cont * state).
void AddRecurrentProduct(const Recurrence& r, const std::string& state, const std::string& w,
                         const std::string& zeros, NetDef* step) {
  AddStepOp(step, "Mul", {state + "_prev", "cont_t"}, {"kept"});
  AddStepOp(step, "FC", {"kept", w, zeros}, {"gates_h"}, {MakeArgument("axis", 2)});
  AddStepOp(step, "Add", {"gates_h", "gates_t"}, {"gates"});
  step->set_name(r.c->layer().name);
}

// Gates in the order input, forget, output, candidate.
void TranslateLstm(CaffeLayerContext* c) {
  Recurrence r = StartRecurrence(c, 4, 2);
  const int64_t rows = 4 * r.outputs;
  const std::string w = c->Parameter(r.next_blob, "w_h", {rows, r.outputs},
                                     c->Param("recurrent_param").Message("weight_filler"));
  const std::string zeros = c->Zeros("zeros", rows);
  NetDef step;
  AddRecurrentProduct(r, "h", w, zeros, &step);
  AddStepOp(&step, "Split", {"gates"}, {"i_in", "f_in", "o_in", "g_in"}, {MakeArgument("axis", 2)});
  AddStepOp(&step, "Sigmoid", {"i_in"}, {"i"});
  AddStepOp(&step, "Sigmoid", {"f_in"}, {"f"});
  AddStepOp(&step, "Sigmoid", {"o_in"}, {"o"});
  AddStepOp(&step, "Tanh", {"g_in"}, {"g"});
  AddStepOp(&step, "Mul", {"f", "cont_t"}, {"f_cont"});
  AddStepOp(&step, "Mul", {"f_cont", "c_prev"}, {"c_kept"});
  AddStepOp(&step, "Mul", {"i", "g"}, {"c_new"});
  AddStepOp(&step, "Sum", {"c_kept", "c_new"}, {"c"});
  AddStepOp(&step, "Tanh", {"c"}, {"c_tanh"});
  AddStepOp(&step, "Mul", {"o", "c_tanh"}, {"h"});
  EmitRecurrence(r, step, {"h", "c"}, {w, zeros}, c->Top(0));
}

// h = tanh(W_xh x + b_h + W_hh (cont * h)), and the output tanh(W_ho h + b_o).
void TranslateRnn(CaffeLayerContext* c) {
  Recurrence r = StartRecurrence(c, 1, 1);
  const CaffeMessage& filler = c->Param("recurrent_param").Message("weight_filler");
  const std::string w = c->Parameter(r.next_blob++, "w_h", {r.outputs, r.outputs}, filler);
  const std::string zeros = c->Zeros("zeros", r.outputs);
  NetDef step;
  AddRecurrentProduct(r, "h", w, zeros, &step);
  AddStepOp(&step, "Tanh", {"gates"}, {"h"});
  const std::string hidden = c->Top(0) + "/hidden";
  EmitRecurrence(r, step, {"h"}, {w, zeros}, hidden);
  c->Emit("Tanh", {Product(&r, hidden, 2, r.outputs, "o", true)}, {c->Top(0)});
}

}  // namespace

std::vector<CaffeLayerRow> CaffeRecurrentLayers() {
  using enum CaffeLayerKind;
  return {
      {"LSTM", kTranslated, TranslateLstm},
      {"RNN", kTranslated, TranslateRnn},
  };
}

}  // namespace caffe2rt
