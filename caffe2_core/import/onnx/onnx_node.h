#pragma once
// What a row of the table sees of a node, and what it writes.
//
//   void TranslateTile(OnnxNode* n) {
//     n->Emit("Tile", {n->In(0)}, {n->Out(0)}, {MakeArgument("repeats", n->Ints(1))});
//   }
//
// Blobs are known by their names: In(i) and what Value returns. Rows see nodes in the form of the
// newest opset (upgrades.h). A row throws if the node cannot be translated; the message gets the name
// and the type of the node in front.

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/import/onnx/onnx_nets.h"

namespace caffe2rt {

class OnnxTranslator;

// A node whose inputs and outputs are blobs.
struct OnnxNodeData {
  std::string type, domain = {};  // the domain "" is "ai.onnx"
  std::string name;               // of its first output if the file has none
  int64_t version = 0;            // of the domain
  std::vector<std::string> inputs = {},
                           outputs = {};  // "" is absent; none at the end of the inputs
  std::map<std::string, const onnx::AttributeProto*, std::less<>> attributes = {};
  std::map<size_t, std::string> forwards = {};  // outputs that are other blobs
  // Attributes that upgrades wrote.
  std::vector<std::shared_ptr<onnx::AttributeProto>> own = {};

  bool Has(std::string_view attribute) const { return attributes.contains(attribute); }
  void Set(const onnx::AttributeProto& attribute);
  void SetInt(const std::string& name, int64_t value);
};

// Attributes for OnnxNode::Call.
onnx::AttributeProto OnnxInt(const std::string& name, int64_t value);
onnx::AttributeProto OnnxInts(const std::string& name, const std::vector<int64_t>& values);
onnx::AttributeProto OnnxFloat(const std::string& name, float value);
onnx::AttributeProto OnnxText(const std::string& name, const std::string& value);

class OnnxNode {
 public:
  OnnxNode(OnnxNodeData* data, OnnxNets* nets, OnnxTranslator* translator)
      : data_(*data), nets_(*nets), translator_(translator) {}

  OnnxNodeData& data() { return data_; }
  OnnxNets& nets() { return nets_; }
  const OnnxNets& nets() const { return nets_; }
  OnnxTranslator* translator() { return translator_; }
  const std::string& type() const { return data_.type; }
  int64_t version() const { return data_.version; }

  // --- inputs and outputs ---
  size_t inputs() const { return data_.inputs.size(); }
  size_t outputs() const { return data_.outputs.size(); }
  bool Has(size_t i) const { return i < data_.inputs.size() && !data_.inputs[i].empty(); }
  bool HasOut(size_t i) const { return i < data_.outputs.size() && !data_.outputs[i].empty(); }
  // THROWS if the node has no such input.
  const std::string& In(size_t i) const;
  std::vector<std::string> Ins() const { return data_.inputs; }
  // The blob to write for an output; a fresh name for one that the node leaves out.
  std::string Out(size_t i);
  std::vector<std::string> Outs();

  // --- attributes: the default if absent; THROW if they have another type ---
  bool HasAttr(std::string_view name) const { return data_.Has(name); }
  const std::map<std::string, const onnx::AttributeProto*, std::less<>>& attributes() const {
    return data_.attributes;
  }
  int64_t Int(std::string_view name, int64_t missing) const;
  float Float(std::string_view name, float missing) const;
  std::string Text(std::string_view name, const std::string& missing = "") const;
  std::vector<int64_t> IntList(std::string_view name,
                               const std::vector<int64_t>& missing = {}) const;
  std::vector<float> FloatList(std::string_view name, const std::vector<float>& missing = {}) const;
  std::vector<std::string> TextList(std::string_view name) const;
  const onnx::TensorProto* TensorAttr(std::string_view name) const;  // null if absent
  const onnx::GraphProto* GraphAttr(std::string_view name) const;

  // --- what is known of a blob ---
  // An onnx::TensorProto::DataType; FLOAT if it is not known.
  int Type(const std::string& blob) const;
  bool KnowsType(const std::string& blob) const { return nets_.At(blob).type != 0; }
  bool HasBlob(const std::string& blob) const { return nets_.Has(blob); }
  // Whether dims are known, of which some may depend on symbols.
  bool HasRank(const std::string& blob) const { return nets_.At(blob).has_dims; }
  // Whether the number of dims is known, also without them.
  bool KnowsRank(const std::string& blob) const {
    return HasRank(blob) || nets_.At(blob).rank >= 0;
  }
  // THROWS if the rank is not known.
  int64_t Rank(const std::string& blob) const;
  bool HasDims(const std::string& blob) const { return nets_.At(blob).IsFixed(); }
  // THROWS if a dimension is not known; the error names its symbol and what to give.
  OnnxDims Dims(const std::string& blob) const;
  // The same for a node whose operators then fit only these sizes.
  OnnxDims FixedDims(const std::string& blob);
  int64_t FixedDim(const std::string& blob, int64_t axis);
  // The dims in a world, for rows that compute shapes. REQUIRES: HasRank.
  const OnnxDims& DimsIn(const std::string& blob, size_t world) const;
  // The axis in 0 .. rank - 1; a negative one counts from the end. THROWS if it is out of range.
  int64_t Axis(const std::string& blob, int64_t axis) const;
  static int64_t AxisOf(int64_t axis, int64_t rank);
  // States what inference does not know.
  void SetDims(const std::string& blob, const OnnxDims& dims);
  void SetDims(const std::string& blob, const InOnnxWorlds<OnnxDims>& dims);
  void SetType(const std::string& blob, int type) { nets_.At(blob).type = type; }

  // --- contents that are known: constants, and what is computed from shapes ---
  bool IsKnown(size_t i) const;  // whether the elements of input i are known and fixed
  // THROWS if they are not known: the error asks for a constant.
  std::vector<int64_t> Ints(size_t i) const;
  std::vector<double> Reals(size_t i) const;
  std::vector<float> Floats(size_t i) const;
  int64_t IntAt(size_t i) const;  // of one element
  float FloatAt(size_t i) const;
  // The same, or `missing` if the node has no such input.
  std::vector<int64_t> IntsOr(size_t i, const std::vector<int64_t>& missing) const;
  int64_t IntOr(size_t i, int64_t missing) const { return Has(i) ? IntAt(i) : missing; }
  float FloatOr(size_t i, float missing) const { return Has(i) ? FloatAt(i) : missing; }
  // Also with symbols; null if it is not known.
  const OnnxContent* Content(const std::string& blob) const { return nets_.ContentAt(blob); }

  // --- operators ---
  // Appends an operator. THROWS if the shapes of its inputs do not fit.
  void Emit(const std::string& type, const std::vector<std::string>& inputs,
            const std::vector<std::string>& outputs, const std::vector<Argument>& args = {});
  // The same in the net that is written now, even if all inputs are constants.
  void EmitHere(const std::string& type, const std::vector<std::string>& inputs,
                const std::vector<std::string>& outputs, const std::vector<Argument>& args = {});
  // Output i is the blob itself: no operator is written for it.
  void Forward(size_t i, const std::string& blob);
  // The same for an operator whose first output gets a name of its own, which is returned. Further
  // outputs (`more`) are not read.
  std::string Value(const std::string& type, const std::vector<std::string>& inputs,
                    const std::vector<Argument>& args = {}, int more = 0);
  std::string NewName(const std::string& label);
  // Constants. They are written only if an operator reads them.
  std::string FloatConst(const std::string& label, const OnnxDims& dims,
                         const std::vector<float>& values);
  std::string FloatConst(const std::string& label, float value) {
    return FloatConst(label, {}, {value});
  }
  std::string IntConst(const std::string& label, const std::vector<int64_t>& values);  // a list
  // One element of any type; rank 0.
  std::string ScalarConst(const std::string& label, double value, int type);
  std::string Const(const std::string& label, const OnnxDims& dims, int type,
                    const std::vector<double>& values);

  // --- steps that many rows need ---
  // Emits an operator whose inputs all have one type. If its kernels do not have the type of the
  // inputs, they are cast to one that holds all their values, and the output is cast back, unless it
  // has another type (a comparison). THROWS if there is none.
  void EmitTyped(const std::string& type, const std::vector<std::string>& inputs,
                 const std::string& output, const std::vector<Argument>& args = {});
  std::string TypedValue(const std::string& type, const std::vector<std::string>& inputs,
                         const std::vector<Argument>& args = {});
  std::string Cast(const std::string& blob, int onnx_type);  // the blob itself if it has the type
  std::string Reshape(const std::string& blob, const OnnxDims& dims);  // with 0 and -1
  void EmitReshape(const std::string& blob, const OnnxDims& dims, const std::string& out);
  std::string Transpose(const std::string& blob, const std::vector<int64_t>& axes);
  // Translates a node of ONNX's newest opset, as a part of this one, by its row, and computes it here if
  // its inputs are known. Returns its outputs. Inputs "" are absent.
  std::vector<std::string> CallAll(const std::string& type, const std::vector<std::string>& inputs,
                                   const std::vector<onnx::AttributeProto>& attributes,
                                   size_t outputs);
  std::string Call(const std::string& type, const std::vector<std::string>& inputs,
                   const std::vector<onnx::AttributeProto>& attributes = {}) {
    return CallAll(type, inputs, attributes, 1)[0];
  }
  void Note(const std::string& text);

 private:
  const onnx::AttributeProto* Attr(std::string_view name, int type) const;
  // `to`, whose elements are those of `from`: it gets the type if blobs do not have it.
  std::string Moved(const std::string& from, std::string to);
  // uint64 as int64 in the same order: the smallest number becomes the smallest.
  std::vector<std::string> OrderedAsSigned(const std::vector<std::string>& inputs);

  OnnxNodeData& data_;
  OnnxNets& nets_;
  OnnxTranslator* translator_;
};

}  // namespace caffe2rt
