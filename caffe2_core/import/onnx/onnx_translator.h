#pragma once
// Walks over the nodes of graphs, in order, and lets the rows of the table translate them.

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "caffe2_core/import/onnx/onnx_nets.h"
#include "caffe2_core/import/onnx/onnx_node.h"

namespace caffe2rt {

// What names denote in a graph, or in the body of a function.
struct OnnxScope {
  const OnnxScope* parent = nullptr;  // whose names are seen too; null for a function
  std::unordered_map<std::string, std::string> blobs = {};
  std::string prefix = {};                     // of the blobs that this graph defines
  std::map<std::string, int64_t> opsets = {};  // by domain; "" is ai.onnx
  // Of the call of a function: the attributes of the node.
  const OnnxNodeData* call = nullptr;
};

class OnnxTranslator {
 public:
  explicit OnnxTranslator(OnnxNets* nets);

  // Defines the initializers. A name that is in the scope already is an input, which overrides it.
  void AddInitializers(const onnx::GraphProto& graph, OnnxScope* scope);
  // THROWS at the first node that cannot be translated; the error names it.
  void TranslateNodes(const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes,
                      OnnxScope* scope);
  // The blob that a name denotes. THROWS if there is none yet.
  static const std::string& Find(const OnnxScope& scope, const std::string& name);

  // Translates a node whose inputs are blobs already. Returns its outputs.
  std::vector<std::string> TranslateCall(OnnxNodeData* data);

  // The scope of the node that is translated now.
  OnnxScope* scope() { return scope_; }
  OnnxNets& nets() { return nets_; }
  // The first blob that each node wrote, by the name of the node.
  const std::map<std::string, std::string>& node_blobs() const { return node_blobs_; }

  // THROWS one error about all nodes whose operators are not known.
  void CheckSupported(const onnx::ModelProto& model, const std::map<std::string, int64_t>& opsets,
                      bool tolerant) const;

 private:
  void TranslateNode(const onnx::NodeProto& node, OnnxScope* scope);
  void TranslateFunction(const onnx::FunctionProto& function, OnnxNode* node);
  OnnxNodeData DataOf(const onnx::NodeProto& node, const OnnxScope& scope);
  void RunRow(OnnxNode* node);
  void TranslateRounded(OnnxNode* node);
  bool Fold(OnnxNode* node);
  void TakeForwards(OnnxNode* node, const onnx::NodeProto& proto, OnnxScope* scope);

  OnnxNets& nets_;
  std::map<std::pair<std::string, std::string>, const onnx::FunctionProto*> functions_;
  std::map<std::string, std::string> node_blobs_;
  OnnxScope* scope_ = nullptr;
  int depth_ = 0;
  int64_t inner_nodes_ = 0;  // translated in functions, branches and bodies
  int64_t folded_ = 0;       // elements computed here, in all worlds
};

// The domains of a model or function with their versions; "ai.onnx" becomes "".
std::map<std::string, int64_t> OnnxOpsetsOf(
    const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto>& imports);

}  // namespace caffe2rt
