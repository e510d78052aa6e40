#include "operators/control/do_bindings.h"

#include <set>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/graph/arguments.h"

namespace caffe2rt {
namespace {

// The blobs that may be bound, in the order of outer_blobs_idx.
std::vector<DoBinding> Bindable(const OperatorDef& def) {
  CAFFE_ENFORCE(def.input_size() > 0 && def.output_size() > 0, "the operator has ",
                CountText(def.input_size(), "input"), " and ",
                CountText(def.output_size(), "output"), ", want at least one of each: the scope");
  const std::string& scope = def.input(def.input_size() - 1);
  CAFFE_ENFORCE(scope == def.output(def.output_size() - 1), "the last input is \"", scope,
                "\" and the last output is \"", def.output(def.output_size() - 1),
                "\", want the same blob: the scope");
  std::vector<DoBinding> outer;
  std::set<std::string> inputs;
  for (int i = 0; i + 1 < def.input_size(); ++i) {
    CAFFE_ENFORCE(inputs.insert(def.input(i)).second, "input \"", def.input(i),
                  "\" is listed twice, want different blobs");
    CAFFE_ENFORCE(def.input(i) != scope, "the scope \"", scope,
                  "\" is also another input, want it as the last one only");
    outer.push_back({.inner = "", .outer = def.input(i), .position = i});
  }
  for (int i = 0; i + 1 < def.output_size(); ++i) {
    CAFFE_ENFORCE(def.output(i) != scope, "the scope \"", scope,
                  "\" is also another output, want it as the last one only");
    outer.push_back({.inner = "", .outer = def.output(i), .position = def.input_size() + i});
  }
  return outer;
}

}  // namespace

std::vector<DoBinding> ReadDoBindings(const OperatorDef& def) {
  const ArgumentHelper args(def);
  const std::vector<std::string> inner = args.Read(kDoInnerBlobs);
  const std::vector<int64_t> indices = args.Read(kDoOuterBlobsIdx);
  CAFFE_ENFORCE_EQ(inner.size(), indices.size(), "argument \"", kDoInnerBlobs.name,
                   "\" must have as many names as argument \"", kDoOuterBlobsIdx.name,
                   "\" has indices");
  const std::vector<DoBinding> outer = Bindable(def);
  std::set<std::string> unbound, names;
  for (const DoBinding& blob : outer) unbound.insert(blob.outer);
  std::vector<DoBinding> bindings;
  for (size_t i = 0; i < inner.size(); ++i) {
    CAFFE_ENFORCE(names.insert(inner[i]).second, "argument \"", kDoInnerBlobs.name, "\" has \"",
                  inner[i], "\" twice, want different names");
    CAFFE_ENFORCE(indices[i] >= 0 && static_cast<size_t>(indices[i]) < outer.size(), "argument \"",
                  kDoOuterBlobsIdx.name, "\" has ", indices[i], " for \"", inner[i],
                  "\", want at least 0 and less than ", outer.size(),
                  ", the number of inputs and outputs without the scope");
    DoBinding binding = outer[static_cast<size_t>(indices[i])];
    CAFFE_ENFORCE(unbound.erase(binding.outer) == 1, "blob \"", binding.outer,
                  "\" is bound to two inner names, want one");
    binding.inner = inner[i];
    bindings.push_back(std::move(binding));
  }
  CAFFE_ENFORCE(unbound.empty(), "blob \"", unbound.empty() ? "" : *unbound.begin(),
                "\" is an input or output of the operator, but argument \"", kDoInnerBlobs.name,
                "\" binds no name to it");
  return bindings;
}

}  // namespace caffe2rt
