#pragma once

// The descriptors of the backend API, as maps of attributes. backend.cc has the functions,
// backend_graph.h the graphs that the fake supports, backend_engines.h its engines.

#include <cudnn.h>

#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include "cudnn/descriptors.h"

namespace fakecuda {

struct BackendGraph;
struct BackendNode;

struct BackendAttribute {
  int64_t count = 0;
  std::vector<char> bytes;                             // of values other than descriptors
  std::vector<std::shared_ptr<BackendNode>> children;  // descriptors
};

// The contents of a descriptor, which those that refer to it share.
struct BackendNode {
  cudnnBackendDescriptorType_t type = CUDNN_BACKEND_TENSOR_DESCRIPTOR;
  bool finalized = false;
  bool destroyed = false;
  std::map<cudnnBackendAttributeName_t, BackendAttribute> attributes;
  // Of a finalized operation graph, and of heuristics, engines and plans for it.
  std::shared_ptr<const BackendGraph> graph;
  int engine = -1;  // of an engine, its configuration and plan

  bool Has(cudnnBackendAttributeName_t name) const { return attributes.contains(name); }
  template <class T>
  std::vector<T> List(cudnnBackendAttributeName_t name) const {
    const auto found = attributes.find(name);
    if (found == attributes.end()) return {};
    std::vector<T> values(static_cast<size_t>(found->second.count));
    std::memcpy(values.data(), found->second.bytes.data(), found->second.bytes.size());
    return values;
  }
  template <class T>
  T Value(cudnnBackendAttributeName_t name, T otherwise) const {
    const auto found = attributes.find(name);
    if (found == attributes.end()) return otherwise;
    T value;
    std::memcpy(&value, found->second.bytes.data(), sizeof(T));
    return value;
  }
  // The first descriptor of the attribute, or null.
  const BackendNode* Child(cudnnBackendAttributeName_t name) const {
    const auto found = attributes.find(name);
    return found == attributes.end() ? nullptr : found->second.children.front().get();
  }
};

// Whether neither the descriptor nor any that it refers to has been destroyed. cuDNN does not say
// that these may be.
bool IsAlive(const BackendNode& node);

}  // namespace fakecuda
