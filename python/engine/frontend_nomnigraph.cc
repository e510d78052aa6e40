// nomnigraph: nets as graphs that the front end changes. The names are the original's; a node keeps its
// graph alive, and a deleted one throws where the original crashes.
#include <nanobind/nanobind.h>
#include <nanobind/operators.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "python/engine/frontend_operators.h"
#include "python/engine/net_graph.h"
#include "python/engine/text.h"

namespace caffe2rt {
namespace {

namespace nb = nanobind;

using GraphPtr = std::shared_ptr<NetGraph>;

// A node, of one graph.
struct NodeRef {
  GraphPtr graph;
  std::shared_ptr<NetNode> node;

  bool operator==(const NodeRef& other) const { return node == other.node; }
  NetNode* get() const {
    CAFFE_ENFORCE(!node->is_deleted, "node \"", node->name, "\" was deleted from its graph");
    return node.get();
  }
  NetNode* of(bool is_operator) const {
    CAFFE_ENFORCE(get()->is_operator == is_operator, "node \"", node->name, "\" is ",
                  is_operator ? "a tensor, want an operator" : "an operator, want a tensor");
    return node.get();
  }
};
using NodeRefs = std::vector<NodeRef>;

NodeRef Ref(const GraphPtr& graph, NetNode* node) { return {graph, node->shared_from_this()}; }

NodeRefs Refs(const GraphPtr& graph, const std::vector<NetNode*>& nodes) {
  NodeRefs refs;
  for (NetNode* const node : nodes) refs.push_back(Ref(graph, node));
  return refs;
}

NetNode* NodeOf(const GraphPtr& graph, const NodeRef& ref) {
  CAFFE_ENFORCE(ref.graph == graph, "node \"", ref.node->name, "\" belongs to another graph");
  return ref.get();
}

std::vector<NetNode*> NodesOf(const GraphPtr& graph, const NodeRefs& refs) {
  std::vector<NetNode*> nodes;
  for (const NodeRef& ref : refs) nodes.push_back(NodeOf(graph, ref));
  return nodes;
}

enum class Which { kAll, kOperators, kTensors };

template <Which kWhich>
NodeRefs NodesIn(const GraphPtr& graph) {
  NodeRefs refs;
  for (const auto& node : graph->nodes()) {
    if (kWhich == Which::kAll || node->is_operator == (kWhich == Which::kOperators))
      refs.push_back({graph, node});
  }
  return refs;
}

// Operators that write what an operator reads, or read what it writes.
template <std::vector<NetNode*> NetNode::*kList>
NodeRefs Neighbours(const NodeRef& ref) {
  NodeRefs refs;
  for (NetNode* const tensor : ref.of(true)->*kList) {
    for (NetNode* const node : tensor->*kList) refs.push_back(Ref(ref.graph, node));
  }
  return refs;
}

template <std::vector<NetNode*> NetNode::*kList, bool kOfOperator>
NodeRefs EdgesOf(const NodeRef& ref) {
  return Refs(ref.graph, ref.of(kOfOperator)->*kList);
}

NodeRef Producer(const NodeRef& ref) {
  const NetNode* const tensor = ref.of(false);
  CAFFE_ENFORCE(!tensor->inputs.empty(), "no operator writes tensor \"", tensor->name,
                "\": ask hasProducer");
  return Ref(ref.graph, tensor->inputs.front());
}

// --- messages ---

// A message of Python's protobuf as one of the library's.
template <class Message>
Message FromPython(const nb::object& message, const char* subject) {
  CAFFE_ENFORCE(nb::hasattr(message, "SerializeToString"), subject, " is a ",
                nb::cast<std::string>(message.type().attr("__name__")),
                ", want a protobuf message");
  const nb::object bytes = message.attr("SerializeToString")();
  return Parsed<Message>(nb::cast<Text>(bytes), subject);
}

nb::object ToPython(const google::protobuf::Message& message, const char* type) {
  nb::object result = nb::module_::import_("caffe2.proto.caffe2_pb2").attr(type)();
  result.attr("ParseFromString")(Serialized(message));
  return result;
}

// --- annotations ---

// Holds the nodes' graph, which weak pointers to them do not.
struct AnnotationRef {
  std::shared_ptr<NetAnnotation> annotation = std::make_shared<NetAnnotation>();
  GraphPtr graph;
};

AnnotationRef AnnotationOf(const NodeRef& ref) { return {ref.get()->annotation, ref.graph}; }
void SetAnnotation(const NodeRef& ref, const AnnotationRef& annotation) {
  *ref.get()->annotation = NetAnnotation(*annotation.annotation);
}

template <std::weak_ptr<NetNode> NetAnnotation::*kNode>
NodeRef AnnotatedNode(const AnnotationRef& ref) {
  std::shared_ptr<NetNode> node = (*ref.annotation.*kNode).lock();
  CAFFE_ENFORCE(node != nullptr, "the annotation has no such node: it was not set, or deleted");
  return {ref.graph, std::move(node)};
}
template <std::weak_ptr<NetNode> NetAnnotation::*kNode>
void SetAnnotatedNode(AnnotationRef& ref, const NodeRef& node) {
  *ref.annotation.*kNode = node.node;
  ref.graph = node.graph;
}

nb::object AnnotatedDevice(const AnnotationRef& ref) {
  const auto& op = ref.annotation->op;
  CAFFE_ENFORCE(op && op->has_device_option(),
                "the annotation has no device_option: ask hasDeviceOption");
  return ToPython(op->device_option(), "DeviceOption");
}
void SetAnnotatedDevice(const AnnotationRef& ref, const nb::object& device) {
  auto& op = ref.annotation->op;
  if (!op) op.emplace();
  *op->mutable_device_option() = FromPython<DeviceOption>(device, "device_option");
}

nb::object AnnotatedOperator(const AnnotationRef& ref) {
  CAFFE_ENFORCE(ref.annotation->op.has_value(), "the annotation has no operator_def");
  return ToPython(*ref.annotation->op, "OperatorDef");
}
void SetAnnotatedOperator(const AnnotationRef& ref, const nb::object& op) {
  ref.annotation->op = FromPython<OperatorDef>(op, "operator_def");
}

template <auto kMember, class Value>
void SetMember(const AnnotationRef& ref, Value value) {
  *ref.annotation.*kMember = std::move(value);
}
template <auto kMember>
auto Member(const AnnotationRef& ref) {
  return *ref.annotation.*kMember;
}

void BindAnnotation(nb::module_& m) {
  nb::class_<AnnotationRef>(m, "Annotation", "What is noted at a node.")
      .def(nb::init<>())
      .def("setDevice", &SetMember<&NetAnnotation::device, std::string>)
      .def("getDevice", &Member<&NetAnnotation::device>)
      .def("setDeviceType", &SetMember<&NetAnnotation::device_type, int>)
      .def("getDeviceType", &Member<&NetAnnotation::device_type>)
      .def("setComponentLevels",
           &SetMember<&NetAnnotation::component_levels, std::vector<std::string>>)
      .def("getComponentLevels", &Member<&NetAnnotation::component_levels>)
      .def("setKeyNode", &SetAnnotatedNode<&NetAnnotation::key_node>)
      .def("getKeyNode", &AnnotatedNode<&NetAnnotation::key_node>)
      .def("setLengthNode", &SetAnnotatedNode<&NetAnnotation::length_node>)
      .def("getLengthNode", &AnnotatedNode<&NetAnnotation::length_node>)
      .def("hasDeviceOption",
           [](const AnnotationRef& ref) {
             return ref.annotation->op && ref.annotation->op->has_device_option();
           })
      .def_prop_rw("device_option", &AnnotatedDevice, &SetAnnotatedDevice)
      .def_prop_rw("operator_def", &AnnotatedOperator, &SetAnnotatedOperator);
}

// --- nodes ---

struct OperatorName {
  std::string name;
};
struct DataName {
  std::string name;
};

template <class Name, bool kIsOperator>
Name NameOf(const NodeRef& ref) {
  return {ref.of(kIsOperator)->name};
}
std::string NodeName(const NodeRef& ref) { return ref.get()->name; }
const char* NodeType(const NodeRef& ref) { return ref.get()->is_operator ? "Operator" : "Tensor"; }

void BindNodes(nb::module_& m) {
  nb::class_<OperatorName>(m, "NeuralNetOperator", "The type of an operator.")
      .def("__init__",
           [](OperatorName* self, const Text& name) { new (self) OperatorName{name.str()}; })
      .def("getName", [](const OperatorName& self) { return self.name; });
  nb::class_<DataName>(m, "NeuralNetData", "The name of a tensor.")
      .def("__init__", [](DataName* self, const Text& name) { new (self) DataName{name.str()}; })
      .def("getName", [](const DataName& self) { return self.name; });
  nb::class_<NodeRef>(m, "NodeRef", "An operator or a tensor in a graph.")
      .def("__eq__",
           [](const NodeRef& a, const nb::object& b) {
             return nb::isinstance<NodeRef>(b) && a == nb::cast<NodeRef>(b);
           })
      .def("__hash__", [](const NodeRef& a) { return std::hash<const NetNode*>()(a.node.get()); })
      .def("isOperator", [](const NodeRef& ref) { return ref.get()->is_operator; })
      .def("isTensor", [](const NodeRef& ref) { return !ref.get()->is_operator; })
      .def("getName", &NodeName)
      .def_prop_ro("name", &NodeName)
      .def("getType", &NodeType)
      .def_prop_ro("type", &NodeType)
      .def("getOperator", &NameOf<OperatorName, true>)
      .def_prop_ro("operator", &NameOf<OperatorName, true>)
      .def("getTensor", &NameOf<DataName, false>)
      .def_prop_ro("tensor", &NameOf<DataName, false>)
      .def("getInputs", &EdgesOf<&NetNode::inputs, true>)
      .def_prop_ro("inputs", &EdgesOf<&NetNode::inputs, true>)
      .def("getOutputs", &EdgesOf<&NetNode::outputs, true>)
      .def_prop_ro("outputs", &EdgesOf<&NetNode::outputs, true>)
      .def("getConsumers", &EdgesOf<&NetNode::outputs, false>)
      .def_prop_ro("consumers", &EdgesOf<&NetNode::outputs, false>)
      .def("hasProducer", [](const NodeRef& ref) { return !ref.get()->inputs.empty(); })
      .def("getProducer", &Producer)
      .def_prop_ro("producer", &Producer)
      .def("getOperatorPredecessors", &Neighbours<&NetNode::inputs>)
      .def("getOperatorSuccessors", &Neighbours<&NetNode::outputs>)
      .def("getAnnotation", &AnnotationOf)
      .def("setAnnotation", &SetAnnotation)
      .def_prop_rw("annotation", &AnnotationOf, &SetAnnotation);
}

// --- subgraphs and patterns ---

struct SubgraphRef {
  GraphPtr graph;
  NodeRefs nodes;
  bool has_edges = false;

  void Add(const NodeRef& ref) {
    (void)ref.get();
    if (graph == nullptr) graph = ref.graph;
    CAFFE_ENFORCE(ref.graph == graph, "node \"", ref.node->name, "\" belongs to another graph");
    if (!Has(ref)) nodes.push_back(ref);
  }
  bool Has(const NodeRef& ref) const {
    return std::find(nodes.begin(), nodes.end(), ref) != nodes.end();
  }
  std::string Dot() const {
    NetSubgraph subgraph{NodesOf(graph, nodes), {}};
    if (has_edges) InduceEdges(&subgraph);
    return ToDot(subgraph);
  }
};

struct PatternNode {
  std::shared_ptr<NetPattern> pattern;
  size_t position;
};

PatternNode AddToPattern(const std::shared_ptr<NetPattern>& pattern,
                         std::optional<bool> is_operator, const std::string& name, bool strict) {
  pattern->nodes.push_back({is_operator, name, strict, {}, false});
  return {pattern, pattern->nodes.size() - 1};
}

void ConnectPattern(const std::shared_ptr<NetPattern>& pattern, const PatternNode& from,
                    const PatternNode& to) {
  CAFFE_ENFORCE(from.pattern == pattern && to.pattern == pattern,
                "a node belongs to another pattern");
  pattern->nodes[from.position].outputs.push_back(to.position);
  pattern->nodes[to.position].has_inputs = true;
}

std::vector<PatternNode> PatternNodes(const std::shared_ptr<NetPattern>& pattern) {
  std::vector<PatternNode> nodes;
  for (size_t i = 0; i < pattern->nodes.size(); ++i) nodes.push_back({pattern, i});
  return nodes;
}

std::optional<SubgraphRef> Match(const NodeRef& start, const NetPattern& pattern) {
  std::optional<NetSubgraph> found = MatchPattern(start.get(), pattern);
  if (!found) return std::nullopt;
  return SubgraphRef{start.graph, Refs(start.graph, found->nodes), true};
}

void BindSubgraphs(nb::module_& m) {
  nb::class_<SubgraphRef>(m, "NNSubgraph", "Nodes of one graph.")
      .def(nb::init<>())
      .def("addNode", &SubgraphRef::Add)
      .def("hasNode", &SubgraphRef::Has)
      .def("induceEdges", [](SubgraphRef& self) { self.has_edges = true; })
      .def_prop_ro("nodes", [](const SubgraphRef& self) { return self.nodes; })
      .def("__len__", [](const SubgraphRef& self) { return self.nodes.size(); })
      .def("__repr__", &SubgraphRef::Dot);
  nb::class_<PatternNode>(m, "MatchPredicateRef", "A node of a pattern.");
  using PatternPtr = std::shared_ptr<NetPattern>;
  nb::class_<NetPattern>(m, "NNMatchGraph", "A pattern of nodes.")
      .def(nb::init<>())
      .def(
          "createNode",
          [](const PatternPtr& p, const OperatorName& node, bool strict) {
            return AddToPattern(p, true, node.name, strict);
          },
          nb::arg("node"), nb::arg("strict") = false)
      .def(
          "createNode",
          [](const PatternPtr& p, const DataName& node, bool strict) {
            return AddToPattern(p, false, node.name, strict);
          },
          nb::arg("tensor"), nb::arg("strict") = false)
      .def(
          "createNode",
          [](const PatternPtr& p, bool strict) {
            return AddToPattern(p, std::nullopt, "", strict);
          },
          nb::arg("strict") = false)
      .def("createEdge", &ConnectPattern)
      .def("getMutableNodes", &PatternNodes);
  m.def("matchSubgraph", &Match);
}

// --- graphs and modules ---

struct Module {
  GraphPtr graph = std::make_shared<NetGraph>();
};

NodeRef CreateFromMessage(const GraphPtr& graph, const nb::object& op) {
  return Ref(graph, graph->AddOperator(FromPython<OperatorDef>(op, "node")));
}
NodeRef CreateOperator(const GraphPtr& graph, const OperatorName& name) {
  OperatorDef op;
  op.set_type(name.name);
  return Ref(graph, graph->AddOperator(op));
}
NodeRef CreateTensor(const GraphPtr& graph, const DataName& name) {
  return Ref(graph, graph->AddTensor(name.name));
}

// A function of the graph that takes two nodes.
template <void (NetGraph::*kFunction)(NetNode*, NetNode*)>
void OnNodes(const GraphPtr& graph, const NodeRef& a, const NodeRef& b) {
  (graph.get()->*kFunction)(NodeOf(graph, a), NodeOf(graph, b));
}
template <void (NetGraph::*kFunction)(NetNode*, NetNode*)>
void OnPair(const NodeRef& a, const NodeRef& b) {
  OnNodes<kFunction>(a.graph, a, b);
}

std::string DotOf(const GraphPtr& graph) {
  NetSubgraph all{NodesOf(graph, NodesIn<Which::kAll>(graph)), {}};
  InduceEdges(&all);
  return ToDot(all);
}

void BindGraph(nb::module_& m) {
  nb::class_<NetGraph>(m, "NNGraph", "The operators and tensors of a net.")
      .def("createNode", &CreateOperator)
      .def("createNode", &CreateTensor)
      .def("createNode", &CreateFromMessage)
      .def("deleteNode",
           [](const GraphPtr& graph, const NodeRef& ref) { graph->Delete(NodeOf(graph, ref)); })
      .def("createEdge", &OnNodes<&NetGraph::Connect>)
      .def("deleteEdge", &OnNodes<&NetGraph::Disconnect>)
      .def("replaceNode", &OnNodes<&NetGraph::Replace>)
      .def("getMutableNodes", &NodesIn<Which::kAll>)
      .def_prop_ro("nodes", &NodesIn<Which::kAll>)
      .def_prop_ro("operators", &NodesIn<Which::kOperators>)
      .def_prop_ro("tensors", &NodesIn<Which::kTensors>)
      .def("__repr__", &DotOf);
  m.def("replaceAllUsesWith", &OnPair<&NetGraph::ReplaceUses>);
  m.def("replaceAsConsumer", &OnPair<&NetGraph::ReplaceReader>);
  m.def("replaceProducer", &OnPair<&NetGraph::ReplaceWriter>);
}

void ReplaceSubgraph(const Module& self, const SubgraphRef& subgraph, const NodeRef& node,
                     const NodeRefs& inputs, const NodeRefs& outputs) {
  self.graph->ReplaceNodes(NodesOf(self.graph, subgraph.nodes), NodeOf(self.graph, node),
                           NodesOf(self.graph, inputs), NodesOf(self.graph, outputs));
}
void DeleteSubgraph(const Module& self, const SubgraphRef& subgraph) {
  for (NetNode* const node : NodesOf(self.graph, subgraph.nodes)) self.graph->Delete(node);
}

Module ModuleOf(const Text& net) {
  return {std::make_shared<NetGraph>(Parsed<NetDef>(net, "net"))};
}

std::pair<Module, NodeRefs> ModuleAndOperators(const Text& net) {
  Module module = ModuleOf(net);
  return {module, NodesIn<Which::kOperators>(module.graph)};
}
Module DistributedModule(const Text& net, const std::map<Text, Text>& devices) {
  Module module = ModuleOf(net);
  std::vector<std::pair<std::string, DeviceOption>> options;
  for (const auto& [blob, option] : devices)
    options.emplace_back(blob.str(), Parsed<DeviceOption>(option, "device"));
  module.graph->AddDeclarations(options);
  return module;
}

void BindModule(nb::module_& m) {
  nb::class_<Module>(m, "NNModule", "A net whose graph can be changed.")
      .def(nb::init<>())
      .def("dataFlow", [](const Module& self) { return self.graph; })
      .def("getExecutionOrder",
           [](const Module& self) { return Refs(self.graph, self.graph->ExecutionOrder()); })
      .def("createUniqueDataNode",
           [](const Module& self, const Text& prefix) {
             return Ref(self.graph, self.graph->AddUniqueTensor(prefix.str()));
           })
      .def("replaceSubgraph", &ReplaceSubgraph)
      .def("deleteSubgraph", &DeleteSubgraph)
      .def("convertToCaffe2Proto", [](const Module& self, const nb::object& base) {
        return Serialized(self.graph->ToNet(FromPython<NetDef>(base, "net")));
      });
  m.def("NNModuleFromProtobuf", &ModuleAndOperators);
  m.def("NNModuleFromProtobufDistributed", &DistributedModule);
}

// --- graphs of anything, for drawings ---

struct PlainNode {
  size_t position;
};
struct PlainEdge {};

// Draws nodes by the text of the objects that they were made of.
class PlainGraph {
 public:
  PlainNode CreateNode(const nb::object& value) {
    nodes_.push_back(std::make_shared<NetNode>());
    nodes_.back()->name = nb::cast<std::string>(nb::str(value));
    return {nodes_.size() - 1};
  }
  PlainEdge CreateEdge(const PlainNode& from, const PlainNode& to) {
    edges_.emplace_back(nodes_.at(from.position).get(), nodes_.at(to.position).get());
    return {};
  }
  std::string Dot() const {
    NetSubgraph subgraph{{}, edges_};
    for (const auto& node : nodes_) subgraph.nodes.push_back(node.get());
    return ToDot(subgraph);
  }

 private:
  std::vector<std::shared_ptr<NetNode>> nodes_;
  std::vector<std::pair<NetNode*, NetNode*>> edges_;
};

void BindPlainGraph(nb::module_& m) {
  nb::class_<PlainNode>(m, "Node", "A node of a graph of anything.");
  nb::class_<PlainEdge>(m, "Edge", "An edge of a graph of anything.");
  nb::class_<PlainGraph>(m, "Graph", "A graph of anything, to be drawn.")
      .def(nb::init<>())
      .def("createNode", &PlainGraph::CreateNode, nb::arg().none())
      .def("createEdge", &PlainGraph::CreateEdge)
      .def("__repr__", &PlainGraph::Dot);
}

}  // namespace

void BindFrontendNomnigraph(nb::module_& m) {
  BindAnnotation(m);
  BindNodes(m);
  BindSubgraphs(m);
  BindGraph(m);
  BindModule(m);
  BindPlainGraph(m);
}

}  // namespace caffe2rt
