#include "caffe2_core/c_api/caffe2rt.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/suggest.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/base/utf8.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/model/device_placement.h"
#include "caffe2_core/model/model_file.h"
#include "caffe2_core/model/net_report.h"
#include "caffe2_core/model/predictor.h"
#include "caffe2_core/runtime/deadline.h"
#include "caffe2_core/runtime/module.h"
#include "caffe2_core/runtime/waiting.h"
#include "caffe2_core/tensor/data_type.h"

using caffe2rt::MakeString;
using caffe2rt::Tensor;

struct caffe2rt_model {
  std::vector<std::string> inputs, outputs, warnings;
  caffe2rt::Predictor predictor;
  std::string report = {};  // of the last call of caffe2rt_report
};

struct caffe2rt_result {
  std::vector<std::string> names;
  std::vector<Tensor> tensors;  // on the CPU
};

namespace {

// The message of the thread's last error. If there was no memory for it, the text is empty and
// `without_memory` is set.
struct LastError {
  std::string text;
  bool without_memory = false;
};
LastError& ThreadError() {
  thread_local LastError error;
  return error;
}

// A mistake of the caller.
class InvalidArgument final : public caffe2rt::EnforceNotMet {
 public:
  explicit InvalidArgument(std::string message)
      : EnforceNotMet(__FILE__, __LINE__, "", std::move(message)) {}
};

template <class... Parts>
void Require(bool condition, const Parts&... parts) {
  if (!condition) throw InvalidArgument(MakeString(parts...));
}

caffe2rt_status Fail(caffe2rt_status status) noexcept {
  LastError& error = ThreadError();
  try {
    error.text = caffe2rt::OneLine(caffe2rt::CurrentExceptionMessage());
    error.without_memory = false;
  } catch (...) {
    error.text.clear();
    error.without_memory = true;
  }
  return status;
}

// Calls `function` and returns the code of its exception.
template <class Function>
caffe2rt_status Call(Function function) noexcept {
  try {
    function();
    return CAFFE2RT_OK;
  } catch (const InvalidArgument&) {
    return Fail(CAFFE2RT_INVALID_ARGUMENT);
  } catch (const caffe2rt::OutOfMemory&) {
    return Fail(CAFFE2RT_OUT_OF_MEMORY);
  } catch (const std::bad_alloc&) {
    return Fail(CAFFE2RT_OUT_OF_MEMORY);
  } catch (const caffe2rt::DeadlineExceeded&) {
    return Fail(CAFFE2RT_DEADLINE_EXCEEDED);
  } catch (const caffe2rt::RunStopped&) {
    return Fail(CAFFE2RT_CANCELLED);
  } catch (...) {
    return Fail(CAFFE2RT_FAILED);
  }
}

// The options with the fields that the caller's header lacks set to their defaults.
caffe2rt_load_options Complete(const caffe2rt_load_options* options) {
  caffe2rt_load_options complete = CAFFE2RT_LOAD_OPTIONS_INIT;
  if (options == nullptr) return complete;
  Require(options->struct_size >= sizeof(size_t) && options->struct_size <= sizeof(complete),
          "options->struct_size is ", options->struct_size, ", want ", sizeof(complete),
          ": set it with CAFFE2RT_LOAD_OPTIONS_INIT, and use a library as new as the header");
  std::memcpy(&complete, options, options->struct_size);
  return complete;
}

std::string TextOf(const char* text) { return text != nullptr ? text : ""; }

bool IsDevice(const std::string& text, caffe2rt::DeviceOption* device) {
  try {
    return text == "cpu" || caffe2rt::ParseDevice(text, device);
  } catch (const caffe2rt::EnforceNotMet& error) {
    throw InvalidArgument(error.message());
  }
}

std::string_view ViewOf(const caffe2rt_bytes& bytes, const char* what) {
  Require(bytes.size == 0 || bytes.data != nullptr, "the data of ", what, " is null");
  return {static_cast<const char*>(bytes.data), bytes.size};
}

void RequireNoFiles(const caffe2rt_load_options& options) {
  Require(options.num_init_nets == 0 && options.predict_net == nullptr &&
              options.predictor_db == nullptr && options.weights == nullptr,
          "the options name files, want none for a model in memory");
}

// The type of the elements of a tensor of the caller. Checks its dimensions, too.
caffe2rt::TypeMeta CheckTensor(const std::string& name, const caffe2rt_tensor& tensor) {
  Require(tensor.ndim >= 0 && tensor.ndim <= Tensor::kMaxRank, "input \"", name, "\" has ",
          tensor.ndim, " dimensions, want 0 to ", Tensor::kMaxRank);
  Require(tensor.ndim == 0 || tensor.dims != nullptr, "the dims of input \"", name, "\" are null");
  static constexpr int kTypes[] = {
      CAFFE2RT_FLOAT,  CAFFE2RT_INT32,  CAFFE2RT_BOOL,    CAFFE2RT_UINT8,   CAFFE2RT_INT8,
      CAFFE2RT_UINT16, CAFFE2RT_INT16,  CAFFE2RT_INT64,   CAFFE2RT_FLOAT16, CAFFE2RT_DOUBLE,
      CAFFE2RT_UINT32, CAFFE2RT_UINT64, CAFFE2RT_BFLOAT16};
  Require(std::find(std::begin(kTypes), std::end(kTypes), tensor.type) != std::end(kTypes),
          "the type of input \"", name, "\" is ", tensor.type, ", want a caffe2rt_type");
  return caffe2rt::DataTypeToTypeMeta(tensor.type);
}

caffe2rt::ShapeMap ShapesOf(const caffe2rt_load_options& options) {
  Require(options.num_input_shapes == 0 || options.input_shapes != nullptr,
          "options->input_shapes is null, want ",
          caffe2rt::CountText(options.num_input_shapes, "tensor"));
  caffe2rt::ShapeMap shapes;
  for (size_t i = 0; i < options.num_input_shapes; ++i) {
    const caffe2rt_tensor& tensor = options.input_shapes[i];
    Require(tensor.name != nullptr, "options->input_shapes[", i, "] has no name");
    const caffe2rt::TypeMeta meta = CheckTensor(tensor.name, tensor);
    const std::vector<int64_t> dims(tensor.dims, tensor.dims + tensor.ndim);
    shapes[tensor.name] = caffe2rt::CreateTensorShape(dims, caffe2rt::TypeMetaToDataType(meta));
  }
  return shapes;
}

caffe2rt::ModelFileOptions FileOptionsOf(const caffe2rt_load_options& options) {
  caffe2rt::ModelFileOptions result;
  Require(options.num_init_nets == 0 || options.init_nets != nullptr,
          "options->init_nets is null, want ", options.num_init_nets, " names");
  for (size_t i = 0; i < options.num_init_nets; ++i) {
    Require(options.init_nets[i] != nullptr, "options->init_nets[", i, "] is null");
    result.init_nets.emplace_back(options.init_nets[i]);
  }
  result.predict_net = TextOf(options.predict_net);
  result.weights = TextOf(options.weights);
  result.predictor_db = TextOf(options.predictor_db);
  result.device_fallback = options.device_fallback != 0;
  if (options.device != nullptr) {
    const std::string device = options.device;
    Require(IsDevice(device, &result.device.emplace()), "device \"", device, "\" is not known");
  }
  for (const auto& [name, shape] : ShapesOf(options)) {
    result.caffe.given_shapes[name] = caffe2rt::GetDimsVector(shape);
    result.onnx.given_shapes[name] = caffe2rt::GetDimsVector(shape);
  }
  return result;
}

caffe2rt::Precision PrecisionOf(const std::string& name) {
  for (const caffe2rt::Precision precision : caffe2rt::kPrecisions) {
    if (name == caffe2rt::PrecisionName(precision)) return precision;
  }
  throw InvalidArgument(MakeString("precision is \"", name, "\", want f32, bf16, int8 or auto"));
}

// A model that was loaded, ready to run.
std::unique_ptr<caffe2rt_model> MakeModel(caffe2rt::Model&& model,
                                          const caffe2rt_load_options& options) {
  caffe2rt::PredictorOptions predictor_options;
  predictor_options.optimize = options.no_optimization == 0;
  if (options.max_concurrent_runs != 0) {
    predictor_options.max_instances = options.max_concurrent_runs;
  }
  predictor_options.device_fallback = options.device_fallback != 0;
  predictor_options.deterministic = options.deterministic != 0;
  if (options.precision != nullptr) predictor_options.precision = PrecisionOf(options.precision);
  Require(options.min_snr >= 0, "min_snr is ", options.min_snr, ", want at least 0");
  if (options.min_snr > 0) predictor_options.min_snr_db = options.min_snr;
  if (options.has_seed != 0) predictor_options.random_seed = options.seed;
  predictor_options.input_shapes = ShapesOf(options);
  std::vector<std::string> inputs = model.inputs.empty() ? model.placeholders : model.inputs;
  std::vector<std::string> warnings = std::move(model.warnings);
  warnings.insert(warnings.end(), model.notes.begin(), model.notes.end());
  caffe2rt::Predictor predictor(std::move(model), predictor_options);
  std::vector<std::string> outputs = predictor.output_names();
  return std::unique_ptr<caffe2rt_model>(new caffe2rt_model{
      std::move(inputs), std::move(outputs), std::move(warnings), std::move(predictor)});
}

std::string ShapeText(const caffe2rt_tensor& tensor) {
  return MakeString(std::vector<int64_t>(tensor.dims, tensor.dims + tensor.ndim));
}

// Copies a tensor of the caller.
Tensor CopyOf(const std::string& name, const caffe2rt_tensor& from) {
  const caffe2rt::TypeMeta meta = CheckTensor(name, from);
  Tensor tensor(caffe2rt::CPU);
  size_t bytes = 0;
  try {
    tensor.Resize(caffe2rt::IntArrayRef(from.dims, static_cast<size_t>(from.ndim)));
    bytes = caffe2rt::CheckedMultiply(static_cast<size_t>(tensor.numel()), meta.itemsize());
  } catch (const caffe2rt::EnforceNotMet& error) {
    throw InvalidArgument(MakeString("input \"", name, "\": ", error.message()));
  }
  Require(from.bytes == bytes, "input \"", name, "\" has ", from.bytes, " bytes, want ", bytes,
          " for ", meta.name(), " ", ShapeText(from));
  Require(bytes == 0 || from.data != nullptr, "the data of input \"", name, "\" is null");
  void* const to = tensor.raw_mutable_data(meta);
  if (bytes > 0) std::memcpy(to, from.data, bytes);
  return tensor;
}

std::string NearestText(const std::string& name, const std::vector<std::string>& known) {
  const std::vector<std::string> nearest = caffe2rt::NearestNames(name, known, 1);
  return nearest.empty() ? "" : MakeString("; did you mean ", nearest[0], "?");
}

caffe2rt::Predictor::TensorMap CopyInputs(const caffe2rt_model& model,
                                          const caffe2rt_tensor* inputs, size_t num_inputs) {
  Require(num_inputs == 0 || inputs != nullptr, "inputs is null, want ",
          caffe2rt::CountText(num_inputs, "tensor"));
  caffe2rt::Predictor::TensorMap map;
  for (size_t i = 0; i < num_inputs; ++i) {
    Require(inputs[i].name != nullptr || i < model.inputs.size(), "input ", i,
            " has no name, and the model has ", caffe2rt::CountText(model.inputs.size(), "input"));
    const std::string name = inputs[i].name != nullptr ? inputs[i].name : model.inputs[i];
    Require(std::find(model.inputs.begin(), model.inputs.end(), name) != model.inputs.end(),
            "the model has no input \"", name, "\"", NearestText(name, model.inputs));
    Require(!map.contains(name), "input \"", name, "\" is given twice");
    map.emplace(name, CopyOf(name, inputs[i]));
  }
  for (const std::string& name : model.inputs) {
    Require(map.contains(name), "input \"", name, "\" is not given");
  }
  return map;
}

const char* NameAt(const std::vector<std::string>& names, size_t i) {
  return i < names.size() ? names[i].c_str() : nullptr;
}

}  // namespace

const char* caffe2rt_version(void) { return CAFFE2RT_VERSION; }
int32_t caffe2rt_api_version(void) { return CAFFE2RT_API_VERSION; }

const char* caffe2rt_last_error(void) {
  const LastError& error = ThreadError();
  return error.without_memory ? "out of memory" : error.text.c_str();
}

caffe2rt_status caffe2rt_set_num_threads(int32_t num_threads) {
  return Call([&] {
    Require(num_threads >= 1 && num_threads <= 1024, "num_threads is ", num_threads,
            ", want 1 to 1024");
    caffe2rt::SetNumThreads(num_threads);
  });
}

caffe2rt_status caffe2rt_load_module(const char* file) {
  return Call([&] {
    Require(file != nullptr, "file is null");
    caffe2rt::LoadModule("", file);
  });
}

caffe2rt_status caffe2rt_load(const caffe2rt_load_options* options, caffe2rt_model** model) {
  if (model != nullptr) *model = nullptr;
  return Call([&] {
    Require(model != nullptr, "model is null");
    Require(options != nullptr, "options is null");
    const caffe2rt_load_options complete = Complete(options);
    Require((complete.predict_net != nullptr) != (complete.predictor_db != nullptr),
            "want either predict_net or predictor_db in the options");
    *model = MakeModel(caffe2rt::LoadModel(FileOptionsOf(complete)), complete).release();
  });
}

caffe2rt_status caffe2rt_load_from_memory(const caffe2rt_bytes* init_nets, size_t num_init_nets,
                                          const caffe2rt_bytes* predict_net,
                                          const caffe2rt_load_options* options,
                                          caffe2rt_model** model) {
  if (model != nullptr) *model = nullptr;
  return Call([&] {
    Require(model != nullptr, "model is null");
    Require(predict_net != nullptr, "predict_net is null");
    Require(num_init_nets == 0 || init_nets != nullptr, "init_nets is null, want ", num_init_nets,
            " nets");
    const caffe2rt_load_options complete = Complete(options);
    RequireNoFiles(complete);
    std::vector<std::string_view> views;
    for (size_t i = 0; i < num_init_nets; ++i) views.push_back(ViewOf(init_nets[i], "a net"));
    caffe2rt::Model loaded = caffe2rt::LoadModelFromMemory(views, ViewOf(*predict_net, "a net"),
                                                           FileOptionsOf(complete));
    *model = MakeModel(std::move(loaded), complete).release();
  });
}

caffe2rt_status caffe2rt_load_caffe_from_memory(const caffe2rt_bytes* net,
                                                const caffe2rt_bytes* weights,
                                                const caffe2rt_load_options* options,
                                                caffe2rt_model** model) {
  if (model != nullptr) *model = nullptr;
  return Call([&] {
    Require(model != nullptr, "model is null");
    Require(net != nullptr, "net is null");
    Require(weights == nullptr || weights->size > 0,
            "weights has 0 bytes, want a caffemodel, or null for none");
    const caffe2rt_load_options complete = Complete(options);
    RequireNoFiles(complete);
    caffe2rt::Model loaded = caffe2rt::LoadCaffeModelFromMemory(
        ViewOf(*net, "the net"),
        weights != nullptr ? ViewOf(*weights, "the weights") : std::string_view(),
        FileOptionsOf(complete));
    *model = MakeModel(std::move(loaded), complete).release();
  });
}

void caffe2rt_free_model(caffe2rt_model* model) { delete model; }

size_t caffe2rt_num_inputs(const caffe2rt_model* model) {
  return model != nullptr ? model->inputs.size() : 0;
}
const char* caffe2rt_input_name(const caffe2rt_model* model, size_t i) {
  return model != nullptr ? NameAt(model->inputs, i) : nullptr;
}
size_t caffe2rt_num_outputs(const caffe2rt_model* model) {
  return model != nullptr ? model->outputs.size() : 0;
}
const char* caffe2rt_output_name(const caffe2rt_model* model, size_t i) {
  return model != nullptr ? NameAt(model->outputs, i) : nullptr;
}
size_t caffe2rt_num_warnings(const caffe2rt_model* model) {
  return model != nullptr ? model->warnings.size() : 0;
}
const char* caffe2rt_warning(const caffe2rt_model* model, size_t i) {
  return model != nullptr ? NameAt(model->warnings, i) : nullptr;
}

caffe2rt_status caffe2rt_report(caffe2rt_model* model, const char** json) {
  if (json != nullptr) *json = nullptr;
  return Call([&] {
    Require(model != nullptr, "model is null");
    Require(json != nullptr, "json is null");
    model->report = NetReportAsJson(model->predictor.Report());
    *json = model->report.c_str();
  });
}

namespace {

void Run(caffe2rt_model* model, const caffe2rt_tensor* inputs, size_t num_inputs,
         caffe2rt_result** result) {
  Require(model != nullptr, "model is null");
  Require(result != nullptr, "result is null");
  auto made = std::make_unique<caffe2rt_result>();
  made->names = model->outputs;
  model->predictor(CopyInputs(*model, inputs, num_inputs), &made->tensors);
  for (Tensor& tensor : made->tensors) {
    if (tensor.GetDeviceType() != caffe2rt::CPU) tensor = Tensor(tensor, caffe2rt::CPU);
  }
  *result = made.release();
}

}  // namespace

caffe2rt_status caffe2rt_run(caffe2rt_model* model, const caffe2rt_tensor* inputs,
                             size_t num_inputs, caffe2rt_result** result) {
  if (result != nullptr) *result = nullptr;
  return Call([&] { Run(model, inputs, num_inputs, result); });
}

caffe2rt_status caffe2rt_run_within(caffe2rt_model* model, int64_t limit_ms,
                                    const caffe2rt_tensor* inputs, size_t num_inputs,
                                    caffe2rt_result** result) {
  if (result != nullptr) *result = nullptr;
  return Call([&] {
    Require(limit_ms > 0, "limit_ms is ", limit_ms, ", want at least 1");
    const std::chrono::milliseconds limit(std::min<int64_t>(limit_ms, 1'000'000'000));
    caffe2rt::RunWithin(limit, [&] { Run(model, inputs, num_inputs, result); });
  });
}

caffe2rt_status caffe2rt_cancel(caffe2rt_model* model) {
  return Call([&] {
    Require(model != nullptr, "model is null");
    model->predictor.Cancel();
  });
}

size_t caffe2rt_result_size(const caffe2rt_result* result) {
  return result != nullptr ? result->tensors.size() : 0;
}

caffe2rt_status caffe2rt_result_tensor(const caffe2rt_result* result, size_t i,
                                       caffe2rt_tensor* tensor) {
  return Call([&] {
    Require(result != nullptr, "result is null");
    Require(tensor != nullptr, "tensor is null");
    Require(i < result->tensors.size(), "tensor ", i, " is out of range: the result has ",
            result->tensors.size());
    const Tensor& from = result->tensors[i];
    const std::string& name = result->names[i];
    CAFFE_ENFORCE(from.IsShaped() && from.meta().IsSet(), "output \"", name, "\" has no data");
    const auto type = caffe2rt::TypeMetaToDataType(from.meta());
    CAFFE_ENFORCE(type != caffe2rt::TensorProto_DataType_STRING &&
                      type != caffe2rt::TensorProto_DataType_UNDEFINED,
                  "output \"", name, "\" has elements of type ", from.meta().name(),
                  ", want numbers");
    const void* const data = from.nbytes() > 0 ? from.raw_data() : nullptr;
    *tensor = {name.c_str(), type, from.dim(), from.dims().data(), data, from.nbytes()};
  });
}

void caffe2rt_free_result(caffe2rt_result* result) { delete result; }
