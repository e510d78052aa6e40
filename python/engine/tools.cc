#include "python/engine/tools.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/set.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/graph/backward_pass.h"
#include "caffe2_core/graph/net_drawing.h"
#include "caffe2_core/graph/net_summary.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/inspect/model_check.h"
#include "caffe2_core/inspect/net_profile.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2_core/model/preparation.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/workspace.h"
#include "python/engine/runs.h"
#include "python/engine/text.h"
#include "python/engine/values.h"

namespace caffe2rt {
namespace {

namespace nb = nanobind;
using Shapes = std::map<std::string, std::vector<int64_t>>;

ShapeMap ShapesOf(const Shapes& given) {
  ShapeMap shapes;
  for (const auto& [name, dims] : given) shapes[name] = CreateTensorShape(dims, TensorProto::FLOAT);
  return shapes;
}

std::vector<const NetDef*> Pointers(const std::vector<NetDef>& nets) {
  std::vector<const NetDef*> pointers;
  for (const NetDef& net : nets) pointers.push_back(&net);
  return pointers;
}

std::vector<NetDef> NetsOf(const nb::list& messages) {
  std::vector<NetDef> nets;
  for (const nb::handle message : messages) nets.push_back(NetOf(message));
  return nets;
}

nb::list Check(nb::handle net, const nb::list& init_nets, const Shapes& inputs) {
  const NetDef def = NetOf(net);
  const std::vector<NetDef> inits = NetsOf(init_nets);
  ModelToCheck model;
  model.init_nets = Pointers(inits);
  model.given = ShapesOf(inputs);
  model.types_are_known = false;
  model.has_surroundings = !inits.empty() || !inputs.empty();
  nb::list findings;
  for (const NetFinding& finding : RunWithoutLock([&] { return ValidateModel(def, model); })) {
    nb::dict entry;
    entry["kind"] = NetFindingKindName(finding.kind);
    entry["operators"] = finding.ops;
    entry["text"] = finding.path + finding.text;
    findings.append(entry);
  }
  return findings;
}

// A net and what is known about its shapes.
class NetView {
 public:
  NetView(NetDef net, std::vector<NetDef> init_nets, const Shapes& inputs)
      : net_(std::move(net)),
        init_nets_(std::move(init_nets)),
        summary_(SummarizeNet(Pointers(init_nets_), net_, ShapesOf(inputs))) {}

  int64_t parameters() const { return summary_.parameters; }
  int64_t multiply_adds() const { return summary_.multiply_adds; }
  nb::list Operators() const {
    nb::list list;
    for (const OpSummary& op : summary_.ops) {
      nb::dict entry;
      entry["type"] = op.type;
      entry["name"] = op.name;
      entry["inputs"] = op.input_names;
      entry["outputs"] = op.output_names;
      entry["shapes"] = ShapesOfOutputs(op);
      entry["parameters"] = op.parameters;
      entry["multiply_adds"] = op.multiply_adds;
      if (!op.problem.empty()) entry["problem"] = op.problem;
      list.append(entry);
    }
    return list;
  }
  std::string Svg() const { return NetAsSvg(net_, summary_); }
  std::string Text() const {
    std::string text =
        MakeString("net \"", net_.name(), "\": ", CountText(net_.op_size(), "operator"), ", ",
                   CountText(summary_.parameters, "parameter"), ", ", summary_.multiply_adds,
                   " multiply-adds\n");
    for (const OpSummary& op : summary_.ops) {
      text += "  " + op.type;
      for (size_t i = 0; i < op.outputs.size(); ++i) {
        text += " " + op.output_names[i];
        if (!op.outputs[i].unknown_shape()) {
          text += MakeString(
              " ", std::vector<int64_t>(op.outputs[i].dims().begin(), op.outputs[i].dims().end()));
        }
      }
      text += "\n";
    }
    return text;
  }

 private:
  // None where a shape is not known.
  static nb::list ShapesOfOutputs(const OpSummary& op) {
    nb::list shapes;
    for (const TensorShape& shape : op.outputs) {
      if (shape.unknown_shape()) {
        shapes.append(nb::none());
      } else {
        shapes.append(
            nb::tuple(nb::cast(std::vector<int64_t>(shape.dims().begin(), shape.dims().end()))));
      }
    }
    return shapes;
  }

  const NetDef net_;
  const std::vector<NetDef> init_nets_;
  const NetSummary summary_;
};

nb::tuple AddGradients(nb::handle net, const std::vector<std::string>& losses,
                       const std::vector<std::string>& wrt) {
  NetDef def = NetOf(net);
  GradientStart start;
  for (const std::string& loss : losses) start.emplace_back(loss, GradientWrapper());
  BackwardPassOptions options;
  options.wrt = wrt;
  const GradientMap gradients = AddGradientOperators(&def, start, options);
  nb::dict names;
  for (const auto& [blob, gradient] : gradients) {
    if (gradient.IsDense()) {
      names[blob.c_str()] = gradient.dense_;
    } else {
      names[blob.c_str()] = nb::make_tuple(gradient.indices_, gradient.values_);
    }
  }
  return nb::make_tuple(Serialized(def), names);
}

nb::tuple Optimize(Workspace& ws, nb::handle net, const std::set<std::string>& inputs,
                   const std::set<std::string>& keep, bool deterministic,
                   const std::set<std::string>& without_passes, const std::string& precision,
                   double min_snr) {
  NetDef def = NetOf(net);
  PreparationOptions options;
  options.inputs = inputs;
  options.kept = keep;
  options.deterministic = deterministic;
  options.precision = ParsePrecision(precision);
  options.min_snr_db = min_snr;
  options.without_passes = without_passes;
  const Preparation prepared =
      RunWithoutLock([&] { return PrepareNet(std::move(def), options, &ws); });
  return nb::make_tuple(Serialized(prepared.net), nb::cast(prepared.passes));
}

nb::dict Bench(Workspace& ws, nb::handle net, int64_t runs) {
  NetDef def = NetOf(net);
  const NetProfile profile = RunWithoutLock([&] {
    // The workspace keeps a net that it has of the same name.
    const std::unique_ptr<NetBase> created = CreateNet(def, &ws);
    CAFFE_ENFORCE(created != nullptr, "net \"", def.name(), "\" has type \"", def.type(),
                  "\", which is not known");
    ProfileOptions options;
    options.timed_runs = runs;
    return ProfileNet(
        created.get(), [&] { return created->Run(); }, options);
  });
  nb::dict result;
  result["net"] = profile.net;
  result["cold_ms"] = profile.cold_ms;
  result["median_ms"] = profile.warm.median_ms;
  result["least_ms"] = profile.warm.least_ms;
  result["runs"] = profile.timed_runs;
  nb::list operators;
  for (const OperatorProfile& op : profile.operators) {
    nb::dict entry;
    entry["type"] = op.type;
    entry["name"] = op.name;
    entry["output"] = op.output;
    entry["ms"] = op.warm_ms;
    operators.append(entry);
  }
  result["operators"] = operators;
  return result;
}

}  // namespace

void BindTools(nb::module_& m) {
  m.def("check_net", &Check, nb::arg("net"), nb::arg("init_nets"), nb::arg("input_shapes"),
        "Lists the problems of a net without running it.");
  nb::class_<NetView>(m, "NetView",
                      "The operators, shapes and costs of a net; a notebook draws it.")
      .def_prop_ro("parameters", &NetView::parameters, "Elements of the weights, an int.")
      .def_prop_ro("multiply_adds", &NetView::multiply_adds,
                   "Multiply-adds of convolutions and matrix multiplications, an int.")
      .def_prop_ro(
          "operators", &NetView::Operators,
          "A list of dicts: \"type\", \"name\", \"inputs\" and \"outputs\" (lists of str), "
          "\"shapes\" of the "
          "outputs (tuples of int, None where unknown), \"parameters\", \"multiply_adds\", and "
          "\"problem\" if there is one.")
      .def("svg", &NetView::Svg, "The net drawn as SVG, a text.")
      .def("_repr_svg_", &NetView::Svg, "svg(), for notebooks.")
      .def("__repr__", &NetView::Text);
  m.def(
      "inspect_net",
      [](nb::handle net, const nb::list& init_nets, const Shapes& inputs) {
        return new NetView(NetOf(net), NetsOf(init_nets), inputs);
      },
      nb::arg("net"), nb::arg("init_nets"), nb::arg("input_shapes"), nb::rv_policy::take_ownership,
      "The operators, shapes and costs of a net.");
  m.def("add_gradients", &AddGradients, nb::arg("net"), nb::arg("losses"), nb::arg("wrt"),
        "Returns the net with its backward pass, and the names of the gradients by blob.");
  m.def("optimize_net", &Optimize, nb::arg("workspace"), nb::arg("net"), nb::arg("inputs"),
        nb::arg("keep"), nb::arg("deterministic"), nb::arg("without_passes"),
        nb::arg("precision") = "f32", nb::arg("min_snr") = 30.0,
        "Returns the net with the graph passes applied, and the names of those that changed it.");
  m.def("bench_net", &Bench, nb::arg("workspace"), nb::arg("net"), nb::arg("runs"),
        "Times a net and its operators in a workspace with their inputs.");
  m.def(
      "load_net",
      [](const std::string& path) {
        NetDef net;
        LoadProto(path, &net, ProtoKindCheck::kByContent);
        return Serialized(net);
      },
      nb::arg("path"), "Reads a net, binary or text; returns a serialized NetDef.");
  m.def("set_num_threads", &SetNumThreads, nb::arg("threads"),
        "Sets the threads that operators of this process use.");
  m.def(
      "num_threads", [] { return GetNumThreads(); },
      "The threads that operators of this process use.");
}

}  // namespace caffe2rt
