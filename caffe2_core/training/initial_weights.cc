#include "caffe2_core/training/initial_weights.h"

#include <absl/strings/str_join.h>

#include <memory>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/net_blobs.h"
#include "caffe2_core/graph/net_check.h"
#include "caffe2_core/graph/net_file.h"
#include "caffe2_core/graph/operator_traits.h"
#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/io/db.h"
#include "caffe2_core/io/file_access.h"
#include "caffe2_core/io/file_kind.h"
#include "caffe2_core/runtime/workspace.h"
#include "caffe2_core/tensor/tensor.h"
#include "caffe2_core/training/input_nets.h"
#include "caffe2_core/training/optimizer_nets.h"

namespace caffe2rt {
namespace {

// The tensors of a database that are parameters.
void LoadFromDatabase(const std::string& type, const std::string& file,
                      const std::vector<std::string>& wanted, Workspace* ws) {
  const std::unique_ptr<db::DB> database = db::OpenDB(type, file, db::READ);
  const std::unique_ptr<db::Cursor> cursor = database->NewCursor();
  for (; cursor->Valid(); cursor->Next()) {
    const std::string name = BlobNameFromKey(cursor->key());
    for (const std::string& blob : wanted) {
      if (blob == name) DeserializeBlob(cursor->value(), ws->CreateBlob(name));
    }
  }
}

const Tensor* TensorNamed(const Workspace& ws, const std::string& name) {
  const Blob* const blob = ws.FindBlob(name).get();
  return blob != nullptr && blob->IsType<Tensor>() ? &blob->Get<Tensor>() : nullptr;
}

// `wanted`, or a longer name if the net has such a blob.
std::string NewBlob(const NetDef& net, const std::string& wanted) {
  const NetBlobs blobs(net);
  std::string name = wanted;
  while (blobs.Reads(name) || blobs.Writes(name)) name += "_of_loss";
  return name;
}

// A SoftmaxWithLoss of the output. It takes the place of a Softmax that writes the output.
OperatorDef TakeSoftmax(const std::string& output, const std::string& label, NetDef* net) {
  OperatorDef loss = CreateOperatorDef("SoftmaxWithLoss", "", {output, label},
                                       {NewBlob(*net, "softmax"), NewBlob(*net, "loss")});
  for (int i = net->op_size() - 1; i >= 0; --i) {
    const OperatorDef op = net->op(i);
    if (!HasOutput(op, output)) continue;
    if (op.type() != "Softmax") break;
    loss.set_input(0, op.input(0));
    if (op.input(0) != output) loss.set_output(0, output);
    if (const Argument* const axis = GetArgumentPtr(op, "axis")) *loss.add_arg() = *axis;
    net->mutable_op()->DeleteSubrange(i, 1);
    break;
  }
  return loss;
}

std::string ShapeText(const Tensor& tensor) {
  return "[" + absl::StrJoin(tensor.dims(), ", ") + "]";
}

}  // namespace

void UseFreshFills(NetDef* init) {
  for (OperatorDef& op : *init->mutable_op()) {
    if (TraitsOf(op.type()).fill != FillForm::kGivenFloats || op.output_size() != 1) continue;
    const auto shape = ArgumentHelper(op).GetRepeatedArgument<int64_t>("shape");
    if (shape.empty()) continue;  // not a weight
    op = CreateOperatorDef(shape.size() >= 2 ? "XavierFill" : "ConstantFill", op.name(),
                           std::vector<std::string>{}, {op.output(0)},
                           {MakeArgument("shape", shape)});
  }
}

void AddLoss(const std::string& loss, TrainDef* def) {
  def->set_loss(loss);
  if (loss != "softmax" && loss != "squared") return;
  const std::vector<std::string> outputs = OutputsOf(def->net());
  CAFFE_ENFORCE(outputs.size() == 1, "net \"", def->name(), "\" has the outputs ",
                absl::StrJoin(outputs, ", "), ", want one, to which the loss is added");
  const std::string label = LabelBlob(def->input());
  CAFFE_ENFORCE(!label.empty(), "the input has no label, want at least two blobs");
  NetDef* const net = def->mutable_net();
  const auto add = [&](const OperatorDef& op) { *net->add_op() = op; };
  if (loss == "softmax") {
    const OperatorDef softmax = TakeSoftmax(outputs[0], label, net);
    const std::string accuracy = NewBlob(*net, "accuracy");
    add(softmax);
    add(CreateOperatorDef("Accuracy", "", {softmax.output(0), label}, {accuracy}));
    def->set_loss(softmax.output(1));
    def->set_accuracy(accuracy);
  } else {
    const std::string distance = NewBlob(*net, "distance");
    def->set_loss(NewBlob(*net, "loss"));
    add(CreateOperatorDef("SquaredL2Distance", "", {outputs[0], label}, {distance}));
    add(CreateOperatorDef("AveragedLoss", "", {distance}, {def->loss()}));
  }
}

InitialWeights CollectInitialWeights(const std::string& file, const TrainingNets& nets,
                                     const std::string& target) {
  Workspace loaded, filled;
  const std::string type = DBTypeOfKind(DetectFileKind(file).kind);
  if (type.empty()) {
    loaded.SetFileAccess(FileAccess::Off());
    loaded.RunNetOnce(LoadNet(file));
  } else {
    LoadFromDatabase(type, file, nets.parameters, &loaded);
  }
  filled.SetRandomSeed(0);
  filled.RunNetOnce(nets.init);
  InitialWeights weights;
  const std::unique_ptr<db::DB> database = db::OpenDB("minidb", target, db::NEW);
  const std::unique_ptr<db::Transaction> transaction = database->NewTransaction();
  for (const std::string& name : nets.parameters) {
    const Tensor* const want = TensorNamed(filled, name);
    const Tensor* const got = TensorNamed(loaded, name);
    if (want == nullptr) continue;
    if (got == nullptr) {
      weights.not_found.push_back(name);
    } else if (got->dims() != want->dims() || got->meta() != want->meta()) {
      weights.not_found.push_back(
          MakeString(name, " (has ", ShapeText(*got), ", want ", ShapeText(*want), ")"));
    } else {
      SerializeBlob(
          *loaded.FindBlob(name), name,
          [&](const std::string& key, const std::string& value) { transaction->Put(key, value); });
      weights.found.push_back(name);
    }
  }
  CAFFE_ENFORCE(
      !weights.found.empty(), "\"", file,
      "\" has none of the parameters with its shape: ", absl::StrJoin(weights.not_found, ", "));
  transaction->Commit();
  return weights;
}

}  // namespace caffe2rt
