#pragma once
// The nets that an import writes, and what is known of their blobs.

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/import/onnx/onnx_file.h"
#include "caffe2_core/import/onnx/onnx_values.h"
#include "caffe2_core/io/net_weights.h"
#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt {

// Operators whose inputs are all constants go into the init net, and so do the constants that
// operators read. Both happen when an operator is appended.
class OnnxNets {
 public:
  explicit OnnxNets(const OnnxFile* file) : file_(file), target_(&predict) {}
  OnnxNets(const OnnxNets&) = delete;
  OnnxNets& operator=(const OnnxNets&) = delete;

  NetDef init, predict;
  std::vector<OperatorWeights> weights;  // of init
  std::vector<std::string> notes;
  OnnxSymbols symbols;
  // Sequences of tensors, by the blob that stands for them: no operator reads or writes it.
  std::unordered_map<std::string, std::vector<std::string>> sequences;
  std::string fixed_size_node;  // the first that fits only the sizes of the import

  const OnnxFile& file() const { return *file_; }

  // The name, or one with a number behind it if a blob has it, or it is reserved. Takes it.
  std::string UniqueName(const std::string& wanted);
  // The blob of a value of the model's graph, for which its name is reserved.
  std::string NameOfValue(const std::string& value);
  void ReserveName(const std::string& name) { reserved_.insert(name); }
  // Outputs of the model are written by the predict net, even if they are constant.
  void ReserveOutput(const std::string& name) { outputs_.insert(name); }
  bool IsOutput(const std::string& name) const { return outputs_.contains(name); }
  // An output of half precision: its blob is float, and is converted at the end.
  void ReserveHalfOutput(const std::string& name) { half_outputs_.insert(name); }

  bool Has(const std::string& blob) const { return blobs_.contains(blob); }
  OnnxBlob& At(const std::string& blob);
  const OnnxBlob& At(const std::string& blob) const;
  OnnxBlob& Define(const std::string& blob) { return blobs_[blob]; }

  // Appends the operator to the target, or to the init net, and infers the types and shapes of its
  // outputs. With `in_target`, constants do not go into the init net. THROWS if its operator rejects the
  // inputs.
  void Append(OperatorDef op, bool in_target = false);
  // Where operators go: the predict net, or a net inside one of its operators.
  NetDef* target() const { return target_; }
  NetDef* SetTarget(NetDef* target) { return std::exchange(target_, target); }
  // Appends operators that round floats to FLOAT16 or BFLOAT16. Returns the blob, `wanted` if that is
  // free.
  std::string Round(const std::string& blob, int type, const std::string& wanted,
                    const std::string& node);
  // A constant of these elements, which is written if an operator reads it. Returns its name.
  std::string Constant(const std::string& wanted, const OnnxDims& dims, int type,
                       std::shared_ptr<const OnnxContent> content);
  // Defines a constant with the elements of a tensor of the file.
  void DefineTensor(const std::string& blob, const onnx::TensorProto& tensor);
  // The content of a constant or of a followed blob; null if it is not known.
  const OnnxContent* ContentAt(const std::string& blob);

  // Removes operators whose outputs nothing reads, and lists the external inputs and outputs.
  // `inputs` and `outputs` are those of the model.
  void Finish(const std::vector<std::string>& inputs, const std::vector<std::string>& outputs);

 private:
  void Infer(const OperatorDef& op);
  void InferTypes(const OperatorDef& op);
  void Write(const std::string& blob);
  void AddFill(const std::string& blob, int type, Tensor values);
  bool IsConstant(const OperatorDef& op) const;

  const OnnxFile* file_;
  NetDef* target_;
  std::unordered_map<std::string, OnnxBlob> blobs_;
  std::unordered_set<std::string> names_, reserved_, outputs_, half_outputs_;
  std::unordered_map<std::string, int> repetitions_;
};

// The operators that convert between float and FLOAT16 or BFLOAT16.
OperatorDef NarrowingOperator(int type, const std::string& from, const std::string& to);
OperatorDef WideningOperator(int type, const std::string& from, const std::string& to);

}  // namespace caffe2rt
