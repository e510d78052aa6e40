#pragma once
// Transforms: classes that find patterns of operators in a net and replace them.
//
//   class DropCopies : public Transform {
//    protected:
//     bool PatternRule(const transform::Graph& g, const std::vector<int>& subgraph, int i) override;
//     bool ValidatorRule(const transform::Graph& g, const std::vector<int>& subgraph) override;
//     bool ReplaceRule(const std::vector<int>& subgraph, transform::Graph* g) override;
//   };
//   REGISTER_TRANSFORM(DropCopies, DropCopies);
//   NetDef faster = ApplyTransform("DropCopies", net);
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "c10/util/Registry.h"
#include "caffe2/core/common.h"
#include "caffe2/core/graph.h"
#include "caffe2/core/net.h"
#include "caffe2/core/workspace.h"
#include "caffe2/proto/caffe2_pb.h"
#include "caffe2/utils/proto_utils.h"
#include "caffe2_core/graph/net_transforms.h"

namespace caffe2 {

class Transform {
 public:
  Transform() = default;
  virtual ~Transform() = default;
  Transform(const Transform&) = delete;
  Transform& operator=(const Transform&) = delete;

  NetDef ApplyTo(const NetDef& net) {
    transform::Graph graph(net);
    ReplacePattern(PatternMatch(graph), &graph);
    return graph.GetNetDef();
  }

  // How a subgraph grows: by neighbors of its nodes, by later nodes, or by any node.
  enum PatternMatchType { CONNECTED_SUBGRAPH, SORTED_WRT_EXECUTION_ORDER, GENERAL };

  // The largest valid subgraph that starts at each node, in order. No node is in two of them.
  std::vector<std::vector<int>> PatternMatch(const transform::Graph& graph) {
    std::vector<bool> matched(graph.size(), false);
    std::vector<std::vector<int>> matches;
    for (size_t i = 0; i < graph.size(); ++i) {
      std::vector<int> subgraph, best;
      TryNode(graph, static_cast<int>(i), matched, &subgraph, &best);
      if (best.empty()) continue;
      for (const int index : best) matched[static_cast<size_t>(index)] = true;
      matches.push_back(std::move(best));
    }
    return matches;
  }

  // Replaces the matches of which all nodes are still active.
  void ReplacePattern(const std::vector<std::vector<int>>& matches, transform::Graph* graph) {
    for (const std::vector<int>& match : matches) {
      const bool active = std::all_of(match.begin(), match.end(), [graph](int index) {
        return graph->is_node_active(static_cast<size_t>(index));
      });
      if (active) CAFFE_ENFORCE(ReplaceRule(match, graph), "a transform could not replace a match");
    }
  }

 protected:
  // Whether node `idx` may be added to `subgraph`, which may be empty.
  virtual bool PatternRule(const transform::Graph& /*g*/, const std::vector<int>& /*subgraph*/,
                           int /*idx*/) {
    CAFFE_NOT_IMPLEMENTED;
  }
  // Whether `subgraph` is a complete match.
  virtual bool ValidatorRule(const transform::Graph& /*g*/, const std::vector<int>& /*subgraph*/) {
    CAFFE_NOT_IMPLEMENTED;
  }
  virtual bool ReplaceRule(const std::vector<int>& /*subgraph*/, transform::Graph* /*g_ptr*/) {
    CAFFE_NOT_IMPLEMENTED;
  }
  void SetPatternMatchType(PatternMatchType type) { pattern_match_type_ = type; }

 private:
  void TryNode(const transform::Graph& graph, int index, const std::vector<bool>& matched,
               std::vector<int>* subgraph, std::vector<int>* best) {
    const auto i = static_cast<size_t>(index);
    if (!graph.node(i).active || matched[i] ||
        std::find(subgraph->begin(), subgraph->end(), index) != subgraph->end() ||
        !PatternRule(graph, *subgraph, index)) {
      return;
    }
    subgraph->push_back(index);
    if (subgraph->size() > best->size() && ValidatorRule(graph, *subgraph)) *best = *subgraph;
    Grow(graph, matched, subgraph, best);
    subgraph->pop_back();
  }

  void Grow(const transform::Graph& graph, const std::vector<bool>& matched,
            std::vector<int>* subgraph, std::vector<int>* best) {
    if (pattern_match_type_ == CONNECTED_SUBGRAPH) {
      for (size_t k = 0; k < subgraph->size(); ++k) {
        const transform::Node& member = graph.node(static_cast<size_t>((*subgraph)[k]));
        for (const auto* neighbors : {&member.children, &member.parents})
          for (const auto& [neighbor, blobs] : *neighbors)
            TryNode(graph, neighbor, matched, subgraph, best);
      }
      return;
    }
    const int first = pattern_match_type_ == GENERAL ? 0 : subgraph->back() + 1;
    for (int i = first; i < static_cast<int>(graph.size()); ++i)
      TryNode(graph, i, matched, subgraph, best);
  }

  PatternMatchType pattern_match_type_ = CONNECTED_SUBGRAPH;
};

// One registry for a program and its modules.
#pragma GCC visibility push(default)
inline ::caffe2rt::Registry<std::string, std::unique_ptr<Transform>>* TransformRegistry() {
  static auto* const registry =
      new ::caffe2rt::Registry<std::string, std::unique_ptr<Transform>>("transform");
  return registry;
}
#pragma GCC visibility pop
using RegistererTransformRegistry = ::c10::Registerer<std::string, std::unique_ptr<Transform>>;
// Front ends find it by its name, too.
#define REGISTER_TRANSFORM(name, ...)                                \
  C10_REGISTER_CLASS(TransformRegistry, name, __VA_ARGS__);          \
  [[maybe_unused]] static const bool caffe2rt_net_transform_##name = \
      ::caffe2rt::RegisterNetTransform(                              \
          #name, [](const ::caffe2::NetDef& net) { return ::caffe2::ApplyTransform(#name, net); })

// THROWS if no transform of that name is registered.
inline std::unique_ptr<Transform> CreateTransform(string key) {
  std::unique_ptr<Transform> made = TransformRegistry()->Create(key);
  CAFFE_ENFORCE(made != nullptr, "no transform is registered as \"", key, "\"");
  return made;
}

inline NetDef ApplyTransform(const string& key, const NetDef& netdef) {
  return CreateTransform(key)->ApplyTo(netdef);
}

// Returns the transformed net if it is at least `improvement_threshold` times as fast, else `netdef`.
// Both are measured in workspaces of their own, which init_netdef fills.
inline NetDef ApplyTransformIfFaster(const string& key, const NetDef& netdef,
                                     const NetDef& init_netdef, const int warmup_runs,
                                     const int main_runs, const double improvement_threshold) {
  const NetDef transformed = ApplyTransform(key, netdef);
  const auto milliseconds = [&](const NetDef& def) {
    Workspace ws;
    CAFFE_ENFORCE(ws.RunNetOnce(init_netdef), "the init net failed");
    NetBase* const net = ws.CreateNet(def);
    CAFFE_ENFORCE(net != nullptr, "net type \"", def.type(), "\" is not known");
    return static_cast<double>(net->TEST_Benchmark(warmup_runs, main_runs, false).front());
  };
  return milliseconds(netdef) > improvement_threshold * milliseconds(transformed) ? transformed
                                                                                  : netdef;
}

}  // namespace caffe2
