#include "caffe2_core/import/onnx/onnx_import.h"

#include <absl/strings/str_join.h>

#include <algorithm>
#include <memory>
#include <unordered_set>
#include <utility>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/utf8.h"
#include "caffe2_core/graph/stated_inputs.h"
#include "caffe2_core/import/onnx/onnx_file.h"
#include "caffe2_core/import/onnx/onnx_translator.h"

namespace caffe2rt {
namespace {

constexpr int64_t kNewestIr = 14;

class Importer {
 public:
  Importer(const OnnxFile& file, const OnnxImportOptions& options)
      : file_(file),
        graph_(file.model().graph()),
        options_(options),
        nets_(&file),
        translator_(&nets_) {}

  OnnxModel Import() {
    const std::map<std::string, int64_t> opsets = Opsets();
    translator_.CheckSupported(file_.model(), opsets, options_.tolerant);
    scope_.opsets = opsets;
    nets_.init.set_name(graph_.name().empty() ? "" : graph_.name() + "_init");
    nets_.predict.set_name(graph_.name());
    NoteNewerIr();
    ReserveNames();
    for (const onnx::ValueInfoProto& input : graph_.input()) AddInput(input);
    CheckShapeNames();
    translator_.AddInitializers(graph_, &scope_);
    translator_.TranslateNodes(graph_.node(), &scope_);
    for (const onnx::ValueInfoProto& output : graph_.output()) AddOutput(output);
    std::vector<std::string> inputs;
    for (const OnnxInput& input : model_.inputs) inputs.push_back(input.name);
    nets_.Finish(inputs, model_.outputs);
    return Result();
  }

 private:
  // Files before IR version 3 have no import of opsets: version 1.
  std::map<std::string, int64_t> Opsets() const {
    std::map<std::string, int64_t> opsets = OnnxOpsetsOf(file_.model().opset_import());
    opsets.emplace("", 1);
    return opsets;
  }

  void NoteNewerIr() {
    const int64_t version = file_.model().ir_version();
    if (version <= kNewestIr) return;
    nets_.notes.push_back(MakeString("the file has IR version ", version, ", known is ", kNewestIr,
                                     ": what is new in it has no effect"));
  }

  void ReserveNames() {
    for (const onnx::ValueInfoProto& output : graph_.output()) {
      nets_.ReserveName(output.name());
      nets_.ReserveOutput(output.name());
      if (IsRoundedOnnxType(output.type().tensor_type().elem_type())) {
        nets_.ReserveHalfOutput(output.name());
      }
    }
    for (const onnx::ValueInfoProto& input : graph_.input()) nets_.ReserveName(input.name());
    for (const onnx::NodeProto& node : graph_.node()) {
      for (const std::string& output : node.output()) nets_.ReserveName(output);
    }
    for (const onnx::TensorProto& tensor : graph_.initializer()) {
      nets_.ReserveName(tensor.name());
      initializers_.insert(tensor.name());
    }
  }

  bool IsInitializer(const std::string& name) const { return initializers_.contains(name); }

  const std::vector<int64_t>* GivenShape(const std::string& name) const {
    const auto stated = options_.input_shapes.find(name);
    if (stated != options_.input_shapes.end()) return &stated->second;
    const auto given = options_.given_shapes.find(name);
    return given == options_.given_shapes.end() ? nullptr : &given->second;
  }

  // The dimensions in all worlds.
  void SetDims(const onnx::TypeProto::Tensor& type, const std::string& name, OnnxInput* input,
               OnnxBlob* blob) {
    if (const std::vector<int64_t>* given = GivenShape(name); given != nullptr) {
      input->dims = *given;
      input->symbols.resize(given->size());
      input->has_rank = blob->has_dims = true;
      blob->dims = InAllOnnxWorlds(*given);
      return;
    }
    if (!type.has_shape()) return;
    input->has_rank = blob->has_dims = true;
    for (const onnx::TensorShapeProto::Dimension& dim : type.shape().dim()) {
      const auto number = options_.dims.find(dim.dim_param());
      const bool named = dim.has_dim_param() && number != options_.dims.end();
      const bool known = dim.has_dim_value() && dim.dim_value() > 0;
      const int64_t value = named ? number->second : known ? dim.dim_value() : -1;
      const auto numbers = value >= 0 ? InAllOnnxWorlds(value) : nets_.symbols.Of(dim.dim_param());
      input->dims.push_back(value);
      input->symbols.push_back(dim.dim_param());
      for (size_t world = 0; world < kOnnxWorlds; ++world) {
        blob->dims[world].push_back(numbers[world]);
      }
    }
  }

  void AddInput(const onnx::ValueInfoProto& info) {
    const std::string& name = info.name();
    CAFFE_ENFORCE(!name.empty(), "an input of the model has no name");
    if (IsInitializer(name) && GivenShape(name) == nullptr) return;
    CAFFE_ENFORCE(!scope_.blobs.contains(name), "two inputs have the name \"", Shortened(name),
                  "\"");
    CAFFE_ENFORCE(!info.has_type() || info.type().has_tensor_type(), "input \"", Shortened(name),
                  "\" is not a tensor: sequences, optionals and maps are not supported");
    const onnx::TypeProto::Tensor& type = info.type().tensor_type();
    OnnxInput input = {.name = name};
    OnnxBlob blob = {.type = type.elem_type()};
    SetDims(type, name, &input, &blob);
    for (const int64_t dim : input.dims) {
      CAFFE_ENFORCE(dim >= -1, "input \"", Shortened(name), "\" has a dimension of ", dim);
    }
    CAFFE_ENFORCE(input.dims.size() <= 32, "input \"", Shortened(name), "\" has ",
                  input.dims.size(), " axes, want at most 32");
    if (!input.dims.empty() && blob.IsFixed()) (void)CheckedProduct(input.dims);
    if (blob.type != 0) input.type = Caffe2TypeOf(blob.type);
    nets_.Define(nets_.NameOfValue(name)) = blob;
    scope_.blobs[name] = name;
    if (IsRoundedOnnxType(blob.type)) Widen(name, &input);
    model_.inputs.push_back(std::move(input));
  }

  // An input of half precision is converted once.
  void Widen(const std::string& name, OnnxInput* input) {
    const int type = nets_.At(name).type;
    input->type = type == onnx::TensorProto::FLOAT16 ? TensorProto::FLOAT16 : TensorProto::BFLOAT16;
    const std::string wide = nets_.UniqueName(name + "/float");
    nets_.Append(WideningOperator(type, name, wide));
    nets_.At(wide).type = type;
    scope_.blobs[name] = wide;
  }

  void CheckShapeNames() const {
    for (const auto& shape : options_.input_shapes) {
      const std::string& name = shape.first;
      const auto same = [&](const OnnxInput& input) { return input.name == name; };
      CAFFE_ENFORCE(std::any_of(model_.inputs.begin(), model_.inputs.end(), same),
                    "the shape of input \"", Shortened(name), "\" is given, but the model has no ",
                    "input of this name");
    }
    for (const auto& dim : options_.dims) {
      const std::string& name = dim.first;
      const auto has = [&](const OnnxInput& input) {
        return std::find(input.symbols.begin(), input.symbols.end(), name) != input.symbols.end();
      };
      CAFFE_ENFORCE(std::any_of(model_.inputs.begin(), model_.inputs.end(), has),
                    "the dimension \"", Shortened(name),
                    "\" is given, but no input of the model has it");
    }
  }

  void AddOutput(const onnx::ValueInfoProto& output) {
    const std::string& name = output.name();
    const std::string& blob = OnnxTranslator::Find(scope_, name);
    CAFFE_ENFORCE(!nets_.sequences.contains(blob), "output \"", Shortened(name),
                  "\" is a sequence, which is not supported");
    model_.outputs.push_back(name);
    StateOutputDims(output, nets_.At(blob));
    StateOutputFormatOf(output, nets_.At(blob));
    if (blob == name) return;
    const int type = nets_.At(blob).type;
    nets_.Append(IsRoundedOnnxType(type)
                     ? NarrowingOperator(type, blob, name)
                     : CreateOperatorDef("Copy", "", std::vector<std::string>{blob},
                                         std::vector<std::string>{name}));
  }

  // Moved elements lose the narrow type that they had, so what the file states counts.
  void StateOutputFormatOf(const onnx::ValueInfoProto& output, const OnnxBlob& blob) {
    const int type = output.type().tensor_type().elem_type();
    const std::optional<NarrowFormat> format = NarrowFormatOf(type);
    if (!format.has_value() || blob.type == 0 || Caffe2TypeOf(blob.type) != Caffe2TypeOf(type))
      return;
    StateOutputFormat(output.name(), std::string(NarrowFormatName(*format)), &nets_.predict);
  }

  // What the translation knows, else what the file states.
  void StateOutputDims(const onnx::ValueInfoProto& output, const OnnxBlob& blob) {
    OnnxDims dims;
    if (blob.has_dims) {
      dims = blob.dims[0];
      for (size_t i = 0; i < dims.size(); ++i) {
        if (!blob.IsFixedDim(i)) dims[i] = -1;
      }
    } else if (blob.rank >= 0) {
      dims.assign(static_cast<size_t>(blob.rank), -1);
    } else {
      if (!output.type().tensor_type().has_shape()) return;
      for (const auto& dim : output.type().tensor_type().shape().dim()) {
        dims.push_back(dim.has_dim_value() ? dim.dim_value() : -1);
      }
    }
    model_.output_dims[output.name()] = dims;
  }

  OnnxModel Result() {
    model_.init_net = std::move(nets_.init);
    model_.predict_net = std::move(nets_.predict);
    for (const OnnxInput& input : model_.inputs) {
      StateInput(input.name, {input.type, input.has_rank, input.dims}, &model_.predict_net);
    }
    for (const auto& [name, dims] : model_.output_dims) {
      StateOutput(name, dims, &model_.predict_net);
    }
    model_.weights = std::move(nets_.weights);
    model_.node_blobs = translator_.node_blobs();
    model_.fixed_size_node = nets_.fixed_size_node;
    model_.notes = std::move(nets_.notes);
    return std::move(model_);
  }

  const OnnxFile& file_;
  const onnx::GraphProto& graph_;
  const OnnxImportOptions& options_;
  OnnxNets nets_;
  OnnxTranslator translator_;
  OnnxScope scope_;
  std::unordered_set<std::string> initializers_;
  OnnxModel model_;
};

OnnxModel Import(const std::shared_ptr<const RandomAccessInput>& input,
                 const OnnxImportOptions& options, const std::string& subject,
                 const std::string& path) {
  const OnnxFile file(input, subject, path);
  try {
    return Importer(file, options).Import();
  } catch (const OutOfMemory&) {
    throw;
  } catch (const EnforceNotMet& error) {
    CAFFE_THROW("cannot import \"", subject, "\": ", error.message());
  }
}

}  // namespace

bool HasFixedDims(const OnnxInput& input) {
  return input.has_rank && std::find(input.dims.begin(), input.dims.end(), -1) == input.dims.end();
}

OnnxModel ImportOnnx(const OnnxImportOptions& options) {
  return Import(std::make_shared<FileInput>(options.net), options, options.net, options.net);
}

OnnxModel ImportOnnxFromMemory(std::string_view bytes, const OnnxImportOptions& options) {
  return Import(std::make_shared<MemoryInput>(bytes), options,
                options.net.empty() ? "model" : options.net, "");
}

}  // namespace caffe2rt
