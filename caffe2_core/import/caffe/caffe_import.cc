#include "caffe2_core/import/caffe/caffe_import.h"

#include <absl/strings/str_join.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/base/utf8.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/import/caffe/hdf5_weights.h"
#include "caffe2_core/import/caffe/layer_table.h"
#include "caffe2_core/import/caffe/net_blobs.h"
#include "caffe2_core/import/caffe/text_reader.h"
#include "caffe2_core/import/caffe/upgrade.h"
#include "caffe2_core/import/caffe/weights_file.h"

namespace caffe2rt {
namespace {

// --- inputs ---

// The shape that the layer states for its top, or none.
CaffeDims StatedDims(const CaffeLayer& layer, size_t top) {
  const CaffeMessage& input = layer.fields.Message("input_param");
  const CaffeMessage& dummy = layer.fields.Message("dummy_data_param");
  for (const CaffeMessage* param : {&input, &dummy}) {
    const std::vector<const CaffeMessage*> shapes = param->Messages("shape");
    if (!shapes.empty()) return shapes[std::min(top, shapes.size() - 1)]->Integers("dim");
    const std::vector<int64_t> num = param->Integers("num");
    if (num.empty()) continue;
    CaffeDims dims;
    for (const char* name : {"num", "channels", "height", "width"}) {
      const std::vector<int64_t> values = param->Integers(name);
      CAFFE_ENFORCE(!values.empty(), "dummy_data_param wants ", name);
      dims.push_back(values[std::min(top, values.size() - 1)]);
    }
    return dims;
  }
  const CaffeMessage& memory = layer.fields.Message("memory_data_param");
  if (!memory.Has("channels")) return {};
  if (top > 0) return {memory.Integer("batch_size", 1)};
  return {memory.Integer("batch_size", 1), memory.Integer("channels", 0),
          memory.Integer("height", 0), memory.Integer("width", 0)};
}

// --- the translation ---

constexpr size_t kMaxMissing = 100;  // layers in an error

class Importer {
 public:
  Importer(const CaffeMessage& net, const CaffeWeightsFile* weights,
           const CaffeImportOptions& options)
      : weights_(weights), options_(options) {
    CaffeState state = StateOf(net);
    if (options.train) state.train = true;
    if (options.level != 0) state.level = options.level;
    state.stages.insert(state.stages.end(), options.stages.begin(), options.stages.end());
    net_ = UpgradeCaffeNet(net, state);
    plan_ = PlanCaffeNet(net_);
    if (weights == nullptr) return;
    for (const CaffeLayerBlobs& layer : weights->layers()) blobs_.emplace(layer.name, &layer);
  }

  CaffeModel Import() {
    if (!net_.name.empty()) nets_.init.set_name(net_.name + "_init");
    nets_.predict.set_name(net_.name);
    for (const CaffeNetInput& input : plan_.inputs) AddInput(input);
    CheckShapeNames();
    CheckWeights();
    ReserveNames();
    for (const CaffeStep& step : plan_.steps) Translate(step);
    for (const std::string& output : plan_.outputs) nets_.predict.add_external_output(output);
    for (const OperatorDef& op : nets_.init.op()) {
      nets_.predict.add_external_input(op.output(0));
      nets_.init.add_external_output(op.output(0));
    }
    return Result();
  }

 private:
  void AddInput(const CaffeNetInput& input) {
    CaffeDims dims = StatedDims(*input.layer, input.top);
    for (const auto* shapes : {&options_.given_shapes, &options_.input_shapes}) {
      if (const auto given = shapes->find(input.name); given != shapes->end()) dims = given->second;
    }
    for (const int64_t dim : dims) {
      CAFFE_ENFORCE(dim > 0, "input \"", Shortened(input.name), "\" has a dimension of ", dim,
                    ", want at least 1");
    }
    CAFFE_ENFORCE(dims.size() <= 32, "input \"", Shortened(input.name), "\" has ", dims.size(),
                  " axes, want at most 32");
    (void)CheckedProduct(dims);
    nets_.predict.add_external_input(input.name);
    if (!dims.empty()) nets_.shapes[input.name] = CreateTensorShape(dims, TensorProto::FLOAT);
    model_.inputs.push_back({.name = input.name, .dims = dims});
    ReadTransform(input.layer->fields.Message("transform_param"));
  }

  // The first one counts: the others are of the data for labels.
  void ReadTransform(const CaffeMessage& param) {
    CaffeTransform& transform = model_.transform;
    if (has_transform_ || param.fields().empty()) return;
    has_transform_ = true;
    transform.scale = param.Float("scale", 1);
    transform.mean_values = param.Floats("mean_value");
    transform.mean_file = param.Text("mean_file");
    transform.crop_size = param.Integer("crop_size", 0);
    transform.mirror = param.Bool("mirror", false);
  }

  void CheckShapeNames() const {
    for (const auto& shape : options_.input_shapes) {
      const std::string& name = shape.first;
      const auto same = [&](const CaffeInput& input) { return input.name == name; };
      CAFFE_ENFORCE(std::any_of(model_.inputs.begin(), model_.inputs.end(), same),
                    "the shape of input \"", Shortened(name), "\" is given, but the net has no ",
                    "input of this name");
    }
  }

  // One error about all layers whose blobs are missing. Those that share blobs are seen when they are
  // translated.
  void CheckWeights() const {
    if (weights_ == nullptr) return;
    std::vector<std::string> missing;
    for (const CaffeStep& step : plan_.steps) {
      const CaffeLayer& layer = *step.layer;
      const auto is_named = [](const std::string& name) { return !name.empty(); };
      const bool shares = std::any_of(layer.shared.begin(), layer.shared.end(), is_named);
      if (shares || blobs_.contains(layer.name) || !NeedsCaffeBlobs(layer)) continue;
      missing.push_back(MakeString("\"", Shortened(layer.name), "\" of type ", layer.type));
    }
    if (missing.empty()) return;
    const size_t count = missing.size();
    if (count > kMaxMissing) missing.resize(kMaxMissing);
    CAFFE_THROW(
        "the weights \"", weights_->subject(), "\" have no blobs for ", CountText(count, "layer"),
        " of the net: ", absl::StrJoin(missing, ", "), count > kMaxMissing ? ", ..." : "",
        blobs_.empty() ? "; the file has no blobs at all: are the net and the weights swapped?"
                       : "; want the weights of this net");
  }

  // Names of blobs, and of layers: users ask for blobs by both.
  void ReserveNames() {
    for (const CaffeLayer& layer : net_.layers) nets_.names.insert(layer.name);
    for (const CaffeNetInput& input : plan_.inputs) nets_.names.insert(input.name);
    for (const CaffeStep& step : plan_.steps)
      nets_.names.insert(step.tops.begin(), step.tops.end());
  }

  void Translate(const CaffeStep& step) try {
    const auto found = blobs_.find(step.layer->name);
    CaffeLayerContext context(*step.layer, step.bottoms, step.tops, weights_,
                              found == blobs_.end() ? nullptr : found->second, &nets_);
    FindCaffeLayer(step.layer->type)->translate(&context);
    context.CheckBlobs();
  } catch (const OutOfMemory&) {
    throw;
  } catch (const EnforceNotMet& error) {
    CAFFE_THROW(PlaceText(step.layer->place), "layer \"", Shortened(step.layer->name),
                "\" of type ", step.layer->type, ": ", error.message());
  }

  CaffeModel Result() {
    model_.init_net = std::move(nets_.init);
    model_.predict_net = std::move(nets_.predict);
    model_.weights = std::move(nets_.weights);
    model_.outputs = plan_.outputs;
    model_.layer_blobs = plan_.layer_blobs;
    model_.fixed_size_layer = nets_.fixed_size_layer;
    model_.notes = plan_.notes;
    if (weights_ == nullptr && model_.init_net.op_size() > 0) {
      model_.notes.push_back(
          "no weights are given: the layers are filled as they say for training");
    }
    return std::move(model_);
  }

  const CaffeWeightsFile* weights_;
  const CaffeImportOptions& options_;
  CaffeNet net_;
  CaffePlan plan_;
  std::unordered_map<std::string_view, const CaffeLayerBlobs*> blobs_;
  CaffeNets nets_;
  CaffeModel model_;
  bool has_transform_ = false;
};

std::shared_ptr<const RandomAccessInput> OpenWeights(const std::string& path) {
  auto file = std::make_shared<FileInput>(path);
  if (IsHdf5(*file)) return ReadHdf5Weights(path);
  return file;
}

CaffeModel Import(const std::shared_ptr<const RandomAccessInput>& net,
                  const std::shared_ptr<const RandomAccessInput>& weights,
                  const CaffeImportOptions& options, const std::string& net_name) {
  CaffeWeightsFile definition(net, net_name);
  CAFFE_ENFORCE(definition.net().Has("layer") || definition.net().Has("layers"), "file \"",
                net_name, "\" is not a net of Caffe: it has no layers");
  std::optional<CaffeWeightsFile> separate;
  if (weights != nullptr) separate.emplace(weights, options.weights);
  const CaffeWeightsFile* used = separate.has_value()          ? &*separate
                                 : definition.layers().empty() ? nullptr
                                                               : &definition;
  try {
    return Importer(definition.net(), used, options).Import();
  } catch (const OutOfMemory&) {
    throw;
  } catch (const EnforceNotMet& error) {
    CAFFE_THROW("cannot import \"", net_name, "\": ", error.message());
  }
}

}  // namespace

CaffeModel ImportCaffe(const CaffeImportOptions& options) {
  std::shared_ptr<const RandomAccessInput> weights;
  if (!options.weights.empty()) weights = OpenWeights(options.weights);
  return Import(std::make_shared<FileInput>(options.net), weights, options, options.net);
}

CaffeModel ImportCaffeFromMemory(std::string_view net, std::string_view weights,
                                 const CaffeImportOptions& options) {
  std::shared_ptr<const RandomAccessInput> blobs;
  if (!weights.empty()) blobs = std::make_shared<MemoryInput>(weights);
  CaffeImportOptions named = options;
  if (named.weights.empty()) named.weights = "weights";
  return Import(std::make_shared<MemoryInput>(net), blobs, named,
                named.net.empty() ? "net" : named.net);
}

}  // namespace caffe2rt
