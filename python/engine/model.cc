#include "python/engine/model.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/set.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/model/model_file.h"
#include "caffe2_core/model/net_report.h"
#include "caffe2_core/model/predictor.h"
#include "caffe2_core/runtime/workspace.h"
#include "python/engine/arrays.h"
#include "python/engine/model_files.h"
#include "python/engine/runs.h"
#include "python/engine/values.h"

namespace caffe2rt {
namespace {

namespace nb = nanobind;
using Dims = std::vector<int64_t>;

// The inputs that no init net fills and that an operator reads or that are outputs as they are. A call
// must give them: an instance of the predictor would use what an earlier call gave it, perhaps of another
// thread.
std::vector<std::string> RequiredInputs(const Model& model) {
  std::vector<std::string> required = UnfilledInputs(model.predict_net, Workspace());
  std::erase_if(required, [&](const std::string& name) {
    return std::find(model.inputs.begin(), model.inputs.end(), name) == model.inputs.end();
  });
  for (const std::string& name : InputsThatAreOutputs(model)) {
    if (std::find(required.begin(), required.end(), name) == required.end())
      required.push_back(name);
  }
  return required;
}

class PythonModel {
 public:
  PythonModel(Model&& model, const PredictorOptions& options)
      : files_(model.files),
        warnings_(model.warnings),
        notes_(model.notes),
        inputs_(model.inputs.empty() ? model.placeholders : model.inputs),
        required_(RequiredInputs(model)),
        outputs_(model.outputs),
        input_shapes_(model.input_shapes),
        name_(model.predict_net.name()),
        predictor_(std::move(model), options) {}

  const std::vector<std::string>& inputs() const { return inputs_; }
  const std::vector<std::string>& outputs() const { return outputs_; }
  const std::vector<std::string>& files() const { return files_; }
  const std::vector<std::string>& warnings() const { return warnings_; }
  const std::vector<std::string>& notes() const { return notes_; }
  nb::dict InputShapes() const {
    nb::dict shapes;
    for (const auto& [name, dims] : input_shapes_) shapes[name.c_str()] = nb::tuple(nb::cast(dims));
    return shapes;
  }

  nb::dict Call(const nb::args& arrays, const nb::kwargs& named) {
    Predictor::TensorMap given;
    size_t position = 0;
    for (const nb::handle array : arrays) AddPositional(array, position++, &given);
    for (const auto& [name, array] : named) Add(nb::cast<std::string>(name), array, &given);
    CheckRequired(given);
    std::set<const void*> memory;
    for (const auto& [name, tensor] : given) memory.insert(tensor.storage().get());
    std::vector<Tensor> results;
    RunWithoutLock([&] { predictor_(given, &results); });
    nb::dict outputs;
    for (size_t i = 0; i < results.size(); ++i) {
      // The caller may write to an input that is an output, too.
      const bool is_input = memory.contains(results[i].storage().get());
      outputs[outputs_[i].c_str()] =
          is_input ? FetchTensor(results[i]) : ArrayOverTensor(results[i]);
    }
    return outputs;
  }
  void Cancel() { predictor_.Cancel(); }
  nb::object Report() {
    return JsonOf(RunWithoutLock([&] { return NetReportAsJson(predictor_.Report()); }));
  }
  nb::bytes Net() const {
    const std::string bytes = predictor_.def().SerializeAsString();
    return nb::bytes(bytes.data(), bytes.size());
  }
  std::string Repr() const {
    std::string text = "<caffe2rt.Model \"" + name_ + "\": ";
    AppendNames(inputs_, &text);
    text += " -> ";
    AppendNames(outputs_, &text);
    return text + ">";
  }

 private:
  static void AppendNames(const std::vector<std::string>& names, std::string* text) {
    constexpr size_t kMost = 8;
    for (size_t i = 0; i < std::min(names.size(), kMost); ++i)
      *text += (i > 0 ? ", " : "") + names[i];
    if (names.size() > kMost) *text += ", ...";
  }
  void AddPositional(nb::handle array, size_t position, Predictor::TensorMap* given) const {
    if (PyDict_Check(array.ptr())) {
      for (const auto& [name, value] : nb::cast<nb::dict>(array))
        Add(nb::cast<std::string>(name), value, given);
      return;
    }
    CAFFE_ENFORCE(position < inputs_.size(), "the call has ", CountText(position + 1, "array"),
                  " or more, the model takes ", inputs_.size());
    Add(inputs_[position], array, given);
  }
  void CheckRequired(const Predictor::TensorMap& given) const {
    for (const auto& [name, tensor] : given) {
      // The predictor names it, and those that are close.
      if (std::find(inputs_.begin(), inputs_.end(), name) == inputs_.end()) return;
    }
    for (const std::string& name : required_) {
      if (given.contains(name)) continue;
      std::string names;
      AppendNames(inputs_, &names);
      CAFFE_THROW("input \"", name, "\" is not given; the model takes ", names);
    }
  }
  void Add(const std::string& name, nb::handle array, Predictor::TensorMap* given) const {
    CAFFE_ENFORCE(!given->contains(name), "input \"", name, "\" is given twice");
    given->emplace(name, TensorOf(array));
  }

  const std::vector<std::string> files_, warnings_, notes_, inputs_, required_, outputs_;
  const std::map<std::string, Dims> input_shapes_;
  const std::string name_;
  Predictor predictor_;
};

std::unique_ptr<PythonModel> Load(const std::vector<std::string>& files, const LoadOptions& load,
                                  PredictorOptions options) {
  return RunWithoutLock([&] {
    Model model = LoadModel(FilesOf(files, load));
    for (const auto& [name, dims] : load.input_shapes) {
      const auto type = model.input_types.find(name);
      options.input_shapes[name] = CreateTensorShape(
          dims, type != model.input_types.end() ? type->second : TensorProto::FLOAT);
    }
    return std::make_unique<PythonModel>(std::move(model), options);
  });
}

constexpr char kLoadDoc[] = R"(Loads a model from files.

files: the init nets and the predict net, in this order; or one file: a predictor database, a packed
    model (caffe2 pack), a model of ONNX, a net without weights, or with `weights` a prototxt of Caffe.
device: "cpu", "cuda" or "cuda:1"; by default the devices that the nets name, the CPU where they are missing.
input_shapes: {name: shape}, of a net of Caffe or a model of ONNX that does not state them.
dims: {symbol: number}, of the dimensions to which a model of ONNX gives names.
opset_tolerant: accepts operators of newer opsets than the library knows.
)";

}  // namespace

void BindModel(nb::module_& m) {
  nb::class_<PythonModel>(
      m, "Model", R"(A model that can be called: model(x), model(data=x), model({"data": x}).

Inputs are numpy arrays, objects with __dlpack__, or what numpy.asarray accepts. The result is a dict
of numpy arrays by output name; they share memory with the library and never change. May be called by
several threads at once; the interpreter's lock is released meanwhile.)")
      .def("__call__", &PythonModel::Call,
           "Runs the model on arrays by position, by name, or in a dict. Returns {name: array} of "
           "the "
           "outputs, with the shapes and types that the net gives them.")
      .def("__repr__", &PythonModel::Repr)
      .def("cancel", &PythonModel::Cancel,
           "Stops the calls in progress; they raise Error. Later calls are not affected.")
      .def("report", &PythonModel::Report,
           "What the preparation of the net did, and which kernel each operator runs, as a dict.")
      .def_prop_ro("inputs", &PythonModel::inputs, "Names of the inputs, a list of str.")
      .def_prop_ro("outputs", &PythonModel::outputs, "Names of the outputs, a list of str.")
      .def_prop_ro("files", &PythonModel::files,
                   "Paths of the files that were read, a list of str.")
      .def_prop_ro("warnings", &PythonModel::warnings,
                   "What was found odd while the model was loaded, a list of str.")
      .def_prop_ro("notes", &PythonModel::notes,
                   "Of a net of Caffe or a model of ONNX: what was left out or "
                   "assumed, a list of str.")
      .def_prop_ro("input_shapes", &PythonModel::InputShapes,
                   "{name: shape}: the shapes of the inputs that the files state, as tuples.")
      .def_prop_ro("net", &PythonModel::Net,
                   "The predict net as it was written, a serialized NetDef.");
  m.def(
      "load_model",
      [](const std::vector<std::string>& files, std::optional<std::string> weights,
         std::optional<std::string> device, std::optional<std::string> db_type,
         const std::string& root, std::optional<uint32_t> seed,
         const std::map<std::string, Dims>& input_shapes, bool optimize, bool deterministic,
         const std::set<std::string>& without_passes, int max_concurrent_calls,
         const std::map<std::string, int64_t>& dims, bool opset_tolerant,
         const std::string& precision, double min_snr) {
        LoadOptions load;
        load.weights = std::move(weights);
        load.device = std::move(device);
        load.db_type = std::move(db_type);
        load.root = root;
        load.seed = seed;
        load.input_shapes = input_shapes;
        load.dims = dims;
        load.opset_tolerant = opset_tolerant;
        PredictorOptions options;
        options.optimize = optimize;
        options.deterministic = deterministic;
        options.precision = ParsePrecision(precision);
        options.min_snr_db = min_snr;
        options.without_passes = without_passes;
        options.max_instances = max_concurrent_calls;
        return Load(files, load, options).release();
      },
      nb::rv_policy::take_ownership, nb::arg("files"), nb::kw_only(),
      nb::arg("weights") = nb::none(), nb::arg("device") = nb::none(),
      nb::arg("db_type") = nb::none(), nb::arg("root") = ".", nb::arg("seed") = nb::none(),
      nb::arg("input_shapes") = std::map<std::string, Dims>(), nb::arg("optimize") = true,
      nb::arg("deterministic") = false, nb::arg("without_passes") = std::set<std::string>(),
      nb::arg("max_concurrent_calls") = 64, nb::arg("dims") = std::map<std::string, int64_t>(),
      nb::arg("opset_tolerant") = false, nb::arg("precision") = "f32", nb::arg("min_snr") = 30.0,
      kLoadDoc);
  m.def(
      "export_onnx",
      [](const std::string& output, const std::vector<std::string>& files,
         std::optional<std::string> weights, const std::map<std::string, Dims>& input_shapes,
         const std::map<std::string, int64_t>& dims, int opset) {
        LoadOptions load;
        load.weights = std::move(weights);
        load.device = "cpu";
        load.input_shapes = input_shapes;
        load.dims = dims;
        return RunWithoutLock(
            [&] { return WriteModelAsOnnx(output, FilesOf(files, load), opset); });
      },
      nb::arg("output"), nb::arg("files"), nb::kw_only(), nb::arg("weights") = nb::none(),
      nb::arg("input_shapes") = std::map<std::string, Dims>(),
      nb::arg("dims") = std::map<std::string, int64_t>(), nb::arg("opset") = 17,
      "Writes a model as one of ONNX, as caffe2 convert does; returns the paths of the files.");
}

}  // namespace caffe2rt
