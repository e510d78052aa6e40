#pragma once
// Graph passes: functions from NetDef to NetDef that make a net faster or smaller and keep its
// results.
//
//   PassContext context = ...;
//   for (const NetPassInfo& pass : NetPasses()) net = pass.run(std::move(net), context);
//
// model/preparation.h applies the passes to the nets of predictors and programs. Workspace::CreateNet
// runs a net as it is written unless it is given options.
//
// A pass returns a net that computes the same values for every blob in PassContext::kept. It may
// remove or rename all other blobs that the net writes. It must not change a net that it does not
// understand completely. Nets are user input and may be hostile: a pass runs in nearly linear time,
// and leaves errors of the net for the operators to report. A pass that merges operators keeps the
// user's names of them (user_operators.h).

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "caffe2_core/base/machine.h"
#include "caffe2_core/device/device_type.h"
#include "caffe2_core/graph/precision.h"
#include "caffe2_core/graph/shape_inference.h"
#include "caffe2_core/tensor/tensor.h"
#include "caffe2rt/caffe2.pb.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

// The constant blobs of a net: blobs that were filled before the net runs and that neither the net
// nor its caller writes. Not thread safe.
class NetConstants {
 public:
  virtual ~NetConstants() = default;
  // The value of a constant blob, a tensor on the CPU, or null if the blob is not constant. Valid
  // until the object is destroyed.
  virtual const Tensor* Find(std::string_view name) const = 0;
  // Adds a constant and returns its name: `name`, or a name derived from it if that is in use.
  virtual std::string Add(const std::string& name, Tensor value) = 0;
  // The outputs of `op`, all of whose inputs are constants, or an empty list if it cannot run.
  virtual std::vector<Tensor> Evaluate(const OperatorDef& op) = 0;
};

// What a pass may know besides the net.
struct PassContext {
  NetConstants& constants;
  // Blobs whose values are read after the net has run: its outputs and all fetched blobs.
  std::set<std::string> kept = {};
  // The shapes and types of inputs as far as they are known, and those of constants. A pass that
  // needs more infers them. Inputs may have other shapes when the net runs: use their shapes to
  // choose what is fast, never for what must be correct.
  ShapeMap input_shapes = {};
  // Whether an implementation of an operator type is registered for a device type.
  std::function<bool(const std::string& type, DeviceType device)> has_operator = {};
  // Whether only algorithms with reproducible results may be chosen (no Winograd).
  bool deterministic = false;
  // What operators may round to.
  Precision precision = Precision::kFloat32;
  // Whether convolutions may round to bfloat16 where `precision` allows it: not on a machine that has it for
  // fully connected layers only.
  bool bf16_convs = true;
  // The machine that will run the net. If `deterministic` is set, choices must not depend on its
  // number of threads.
  Machine machine = {};
  // Whether the results must be the same bytes on all machines.
  bool ForAnyMachine() const { return deterministic && precision == Precision::kInt8; }
  // The machine by whose speed passes choose.
  Machine MachineOfChoices() const {
    if (ForAnyMachine()) return Machine::Any();
    return deterministic ? machine.WithOneThread() : machine;
  }
  // Whether an engine other than the default one runs the operator, whose device option is complete.
  // If not set, this is every operator that names an engine.
  std::function<bool(const OperatorDef& op)> uses_engine = {};
};

struct NetPassInfo {
  const char* name;  // as in --without-pass NAME
  const char* doc;   // one sentence
  NetDef (*run)(NetDef net, PassContext& context);
  bool same_bits;  // whether all kept blobs keep their bits; if false, only up to rounding
};

// All passes, in the order in which they are applied.
const std::vector<NetPassInfo>& NetPasses();

}  // namespace caffe2rt
#pragma GCC visibility pop
