#pragma once
// ModelBuilder: describes a net layer by layer, with its parameters, for a training.
//
//   ModelBuilder model("lenet");
//   std::string x = model.Conv("data", "conv1", 1, 20, {.kernel = 5});
//   x = model.MaxPool(x, "pool1", {.kernel = 2, .stride = 2});
//   x = model.Relu(model.FC(x, "fc1", 20 * 12 * 12, 10));
//   model.SoftmaxLoss(x, "label");
//   model.Optimizer().set_rate(0.05f);
//   const TrainingNets nets = MakeTrainingNets(model.def());     // training_nets.h
//
// Layers return the name of their output blob, which is the layer's own name. A layer with weights has
// the parameters NAME_w and NAME_b. What has no function here is added with Op and Param. binaries/demo
// has LeNet with its training.

#include <cstdint>
#include <string>
#include <vector>

#include "caffe2rt/caffe2.pb.h"
#include "caffe2rt/train.pb.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

struct WindowOptions {
  int kernel = 1;
  int stride = 1;
  int pad = 0;
  int dilation = 1;                 // convolutions
  int group = 1;                    // convolutions
  bool bias = true;                 // convolutions
  bool global = false;              // pooling: the whole image; `kernel` is not used
  const char* fill = "XavierFill";  // convolutions: the operator that fills the filter
};

struct LstmOptions {
  int64_t steps = 1;  // length of the sequence
  int64_t batch_size = 1;
  int64_t inputs = 1;  // numbers for each step
  int64_t units = 1;   // of the hidden state
  float forget_bias = 0;
  // Whether a batch continues the sequences of the batch before; else the states start at 0.
  bool keeps_state = false;
};

class ModelBuilder {
 public:
  explicit ModelBuilder(const std::string& name);

  // --- layers ---
  std::string Conv(const std::string& x, const std::string& name, int64_t inputs, int64_t outputs,
                   const WindowOptions& options = {});
  // Flattens all dimensions after the first.
  std::string FC(const std::string& x, const std::string& name, int64_t inputs, int64_t outputs,
                 const char* fill = "XavierFill");
  std::string MaxPool(const std::string& x, const std::string& name, const WindowOptions& options);
  std::string AveragePool(const std::string& x, const std::string& name,
                          const WindowOptions& options);
  // In place.
  std::string Relu(const std::string& x) { return Op("Relu", {x}, x); }
  std::string SpatialBN(const std::string& x, const std::string& name, int64_t channels,
                        float momentum = 0.9f);
  std::string Dropout(const std::string& x, const std::string& name, float ratio = 0.5f);
  // The sum of two blobs of one shape, as residual connections have it.
  std::string Add(const std::string& a, const std::string& b, const std::string& name) {
    return Op("Add", {a, b}, name);
  }
  // Rows of a table of `rows` rows: x has indices, the output one more dimension.
  std::string Embedding(const std::string& x, const std::string& name, int64_t rows, int64_t width);
  // A long short-term memory, one operator for each step. x is [steps, batch_size, inputs], the output
  // [steps * batch_size, units].
  std::string Lstm(const std::string& x, const std::string& name, const LstmOptions& options);
  // Any operator with one output, whose name it returns.
  std::string Op(const std::string& type, const std::vector<std::string>& inputs,
                 const std::string& output, const std::vector<Argument>& args = {});
  // Any operator.
  OperatorDef* AddOp(const std::string& type, const std::vector<std::string>& inputs,
                     const std::vector<std::string>& outputs,
                     const std::vector<Argument>& args = {});

  // --- parameters ---
  // Adds a parameter, and returns its name. `args` are those of the operator `fill`.
  std::string Param(const std::string& name, const std::vector<int64_t>& dims,
                    const std::string& fill = "ConstantFill",
                    const std::vector<Argument>& args = {});
  // The same for a blob that the optimizer does not update.
  std::string Constant(const std::string& name, const std::vector<int64_t>& dims, float value);

  // --- the end of the net ---
  // Probabilities, the loss and the accuracy of classes: blobs "softmax", "loss" and "accuracy".
  void SoftmaxLoss(const std::string& scores, const std::string& label);
  // Half the mean squared distance of each row: blob "loss".
  void SquaredLoss(const std::string& y, const std::string& label);
  // The loss, if neither of these computes it.
  void SetLoss(const std::string& blob) { def_.set_loss(blob); }
  OptimizerDef& Optimizer() { return *def_.mutable_optimizer(); }
  InputDef& Input() { return *def_.mutable_input(); }

  const TrainDef& def() const { return def_; }

 private:
  TrainDef def_;
};

}  // namespace caffe2rt
#pragma GCC visibility pop
