#include "caffe2_core/model/predictor.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <optional>
#include <set>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/graph/net_check.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/model/meta_net.h"
#include "caffe2_core/model/model_file.h"
#include "caffe2_core/model/net_report.h"
#include "caffe2_core/model/packed_model.h"
#include "caffe2_core/model/predictor_instances.h"
#include "caffe2_core/tensor/data_type.h"
#include "caffe2_core/tensor/int8_tensor.h"

namespace caffe2rt {
namespace {

// A pointer that does not own the parent.
std::shared_ptr<Workspace> Unowned(Workspace* parent) {
  return std::shared_ptr<Workspace>(parent, [](Workspace*) {});
}

// The names that the caller lists, or those of the net if the list is empty.
std::vector<std::string> InputsFor(std::vector<std::string> listed, const NetDef& net) {
  return listed.empty() ? InputsOf(net) : std::move(listed);
}
std::vector<std::string> OutputsFor(std::vector<std::string> listed, const NetDef& net) {
  return listed.empty() ? OutputsOf(net) : std::move(listed);
}

// The inputs that nothing fills, and those that are filled with a constant instead of data.
std::vector<std::string> ExpectedInputs(const NetDef& net, const PredictorNets& nets) {
  std::vector<const NetDef*> all;
  for (const NetDef& init : nets.init_nets) all.push_back(&init);
  std::vector<std::string> expected = UnfilledInputsOf(net, all);
  std::vector<std::string> placeholders;
  if (nets.packed == nullptr) {
    placeholders = PlaceholdersOf(net, nets.init_nets);
  } else {
    std::set<std::string> packed;
    for (const PackedTensor& tensor : nets.packed->index().tensor()) packed.insert(tensor.name());
    std::erase_if(expected, [&](const std::string& name) { return packed.contains(name); });
    placeholders = nets.packed->placeholders();
  }
  expected.insert(expected.end(), placeholders.begin(), placeholders.end());
  return expected;
}

PredictorNets NetsOf(NetDef&& init_net, NetDef&& run_net) {
  PredictorNets nets;
  nets.init_nets.push_back(std::move(init_net));
  nets.predict_net = std::move(run_net);
  return nets;
}

PredictorNets NetsOf(const PredictorConfig& config) {
  CAFFE_ENFORCE(config.predict_net != nullptr && config.ws != nullptr,
                "a predictor's config needs predict_net and ws");
  return {.init_nets = {},
          .predict_net = *config.predict_net,
          .inputs = config.input_names,
          .outputs = config.output_names};
}

PredictorNets NetsOf(Model&& model) {
  return {.init_nets = std::move(model.init_nets),
          .predict_net = std::move(model.predict_net),
          .inputs = std::move(model.inputs),
          .outputs = std::move(model.outputs),
          .init_weights = std::move(model.init_weights),
          .packed = std::move(model.packed)};
}

// A workspace with the reader of the model's parameters, from which the init nets load them into
// the predictor's workspace. Null if the model has no database.
std::shared_ptr<Workspace> SourceOf(const Model& model) {
  if (model.db_path.empty()) return nullptr;
  auto source = std::make_shared<Workspace>();
  OpenParameterReader(model.db_path, model.db_type, source.get());
  return source;
}

// Forbids file access unless the options set a policy. The parent workspace is the one of SourceOf,
// not one of the caller, so its policy must not apply. Adds the model's seed.
PredictorOptions OptionsFor(const Model& model, PredictorOptions options) {
  if (!options.random_seed.has_value()) options.random_seed = model.seed;
  if (!options.file_access.has_value()) {
    options.file_access = FileAccess::Off("PredictorOptions::file_access allows it");
  }
  // Those that a file states for its inputs.
  for (const auto& [name, dims] : model.input_shapes) {
    options.input_shapes.try_emplace(name, CreateTensorShape(dims, TensorProto::FLOAT));
  }
  return options;
}

}  // namespace

Predictor::Predictor(std::shared_ptr<Workspace> parent, PredictorNets&& nets,
                     const PredictorOptions& options) try
    : shared_(
          std::make_shared<Instances>(std::move(parent), std::move(nets.predict_net), options)) {
  // As in Caffe2, every declared input may be given by the caller, including weights. Unless the
  // inputs are listed, those that no init net and no packed model fills with weights are expected.
  const bool listed = !nets.inputs.empty();
  std::vector<std::string> inputs = InputsFor(std::move(nets.inputs), shared_->def);
  std::vector<std::string> expected = listed ? inputs : ExpectedInputs(shared_->def, nets);
  if (options.run_init) {
    nets.init_weights.resize(nets.init_nets.size());
    if (nets.packed != nullptr) nets.packed->CreateBlobs(&shared_->weights);
    shared_->packed = std::move(nets.packed);
    for (size_t i = 0; i < nets.init_nets.size(); ++i) {
      shared_->RunInit(
          {.net = std::move(nets.init_nets[i]), .weights = std::move(nets.init_weights[i])});
    }
  }
  shared_->Finish(std::move(inputs), expected, OutputsFor(std::move(nets.outputs), shared_->def));
  Rehearse();
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

std::optional<Predictor::TensorMap> Predictor::Instances::InputsForRehearsal() {
  Lease only(this, Acquire(cancels()));
  if (!options.plan_ahead || !only->net->is_small()) return std::nullopt;
  TensorMap zeros;
  for (size_t i = 0; i < input_names.size(); ++i) {
    const std::string& name = input_names[i];
    const auto known = preparation.options.input_shapes.find(name);
    const bool is_given = preparation.options.inputs.contains(name);
    if (!is_given || known == preparation.options.input_shapes.end()) continue;
    const Tensor* const value = FindTensor(*only->inputs[i]);
    if (value == nullptr || value->storage() != nullptr) continue;  // it has a value
    const TensorShape& shape = known->second;
    const TypeMeta type = DataTypeToTypeMeta(shape.data_type());
    if (!type.IsPlainData() || shape.unknown_shape()) continue;
    Tensor zero(CPU);
    zero.Resize(GetDimsVector(shape));
    std::memset(zero.raw_mutable_data(type), 0, zero.nbytes());
    zeros.emplace(name, std::move(zero));
  }
  return zeros;
}

void Predictor::Instances::Clear(const TensorMap& inputs) {
  Lease only(this, Acquire(cancels()));
  for (size_t i = 0; i < input_names.size(); ++i) {
    if (inputs.contains(input_names[i])) *only->inputs[i]->GetMutableTensor(CPU) = Tensor(CPU);
  }
}

// Of a net of microseconds, the code around it is a part that counts.
void Predictor::Rehearse() {
  constexpr int kCalls = 3;
  const std::optional<TensorMap> zeros = shared_->InputsForRehearsal();
  if (!zeros.has_value()) return;
  try {
    TensorMap outputs;
    for (int i = 0; i < kCalls; ++i) (void)operator()(*zeros, &outputs);
  } catch (const EnforceNotMet&) {  // zeros may be what the net rejects
  }
  shared_->Clear(*zeros);
}

Predictor::Predictor(const NetDef& init_net, const NetDef& run_net, Workspace* parent,
                     const PredictorOptions& options) try
    : Predictor(options.run_init ? NetDef(init_net) : NetDef(), NetDef(run_net), parent, options) {
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

Predictor::Predictor(NetDef&& init_net, NetDef&& run_net, Workspace* parent,
                     const PredictorOptions& options) try
    : Predictor(Unowned(parent), NetsOf(std::move(init_net), std::move(run_net)), options) {
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

Predictor::Predictor(const MetaNetDef& net, Workspace* parent, const PredictorOptions& options) try
    : Predictor(MetaNetDef(net), parent, options) {
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

Predictor::Predictor(MetaNetDef&& net, Workspace* parent, const PredictorOptions& options) try
    : Predictor(Unowned(parent), TakeNets(std::move(net)), options) {
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

Predictor::Predictor(const MetaNetDef& net, std::shared_ptr<Workspace> parent,
                     const PredictorOptions& options) try
    : Predictor(std::move(parent), TakeNets(MetaNetDef(net)), options) {
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

Predictor::Predictor(const PredictorConfig& config) try
    : Predictor(config.ws, NetsOf(config), PredictorOptions{}) {
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

Predictor::Predictor(Model&& model, const PredictorOptions& options) try
    : Predictor(SourceOf(model), NetsOf(std::move(model)), OptionsFor(model, options)) {
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

Predictor::~Predictor() = default;

bool Predictor::operator()(const TensorList& inputs, TensorList* outputs) try {
  CAFFE_ENFORCE(outputs != nullptr, "argument outputs of a predictor is null");
  CAFFE_ENFORCE_LE(inputs.size(), shared_->input_names.size(),
                   "inputs.size() <= external_input_size");
  Instances::Lease instance(shared_.get(), shared_->Acquire(shared_->cancels()));
  for (size_t i = 0; i < inputs.size(); ++i) shared_->SetInput(&*instance, i, inputs[i]);
  shared_->RunInto(&*instance, outputs);
  return true;
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

bool Predictor::operator()(const TensorMap& inputs, TensorList* outputs) try {
  CAFFE_ENFORCE(outputs != nullptr, "argument outputs of a predictor is null");
  Instances::Lease instance(shared_.get(), shared_->Acquire(shared_->cancels()));
  for (const auto& [name, tensor] : inputs) {
    shared_->SetInput(&*instance, shared_->InputIndex(name), tensor);
  }
  shared_->RunInto(&*instance, outputs);
  return true;
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

bool Predictor::operator()(const TensorMap& inputs, TensorMap* outputs) try {
  CAFFE_ENFORCE(outputs != nullptr, "argument outputs of a predictor is null");
  TensorList list;
  if (!operator()(inputs, &list)) return false;
  outputs->clear();
  for (size_t i = 0; i < list.size(); ++i) {
    outputs->emplace(shared_->output_names[i], std::move(list[i]));
  }
  return true;
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

void Predictor::Cancel() { shared_->Cancel(); }

bool Predictor::run(const TensorVector& inputs, TensorVector* outputs) try {
  CAFFE_ENFORCE(outputs != nullptr, "argument outputs of a predictor is null");
  CAFFE_ENFORCE_LE(inputs.size(), shared_->input_names.size(),
                   "inputs.size() <= external_input_size");
  const uint64_t cancels = shared_->cancels();
  Instances::InputValues* const values = shared_->EmptyValues();
  for (size_t i = 0; i < inputs.size(); ++i) {
    CAFFE_ENFORCE(inputs[i] != nullptr, "input ", i, " is null");
    values->emplace_back(i, inputs[i]);
  }
  shared_->RunOwn(cancels, values, outputs);
  return true;
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

bool Predictor::run_map(const TensorPointerMap& inputs, TensorVector* outputs) try {
  CAFFE_ENFORCE(outputs != nullptr, "argument outputs of a predictor is null");
  const uint64_t cancels = shared_->cancels();
  Instances::InputValues* const values = shared_->EmptyValues();
  for (const auto& [name, tensor] : inputs) {
    CAFFE_ENFORCE(tensor != nullptr, "input \"", name, "\" is null");
    values->emplace_back(shared_->InputIndex(name), tensor);
  }
  shared_->RunOwn(cancels, values, outputs);
  return true;
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

bool Predictor::run_map(const TensorMap& inputs, TensorVector* outputs) try {
  CAFFE_ENFORCE(outputs != nullptr, "argument outputs of a predictor is null");
  const uint64_t cancels = shared_->cancels();
  Instances::InputValues* const values = shared_->EmptyValues();
  for (const auto& [name, tensor] : inputs)
    values->emplace_back(shared_->InputIndex(name), &tensor);
  shared_->RunOwn(cancels, values, outputs);
  return true;
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

const NetDef& Predictor::def() const { return shared_->def; }
Workspace* Predictor::ws() try { return &shared_->Own()->ws; } catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}
const Workspace* Predictor::ws() const { return &shared_->Own()->ws; }
const std::vector<std::string>& Predictor::input_names() const { return shared_->input_names; }
const std::vector<std::string>& Predictor::output_names() const { return shared_->output_names; }
NetReport Predictor::Report() const try {
  Instances::Lease instance(shared_.get(), shared_->Acquire(shared_->cancels()));
  const Preparation& how = instance->plain ? Preparation() : shared_->preparation;
  return ReportNet(how, &instance->net->net());
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}
int Predictor::num_instances() const { return shared_->num_instances.load(); }

Predictor LoadPredictor(const std::string& path, const std::string& db_type,
                        const std::string& name, const PredictorOptions& options) try {
  PredictorNets nets = TakeNets(LoadMetaNetDef(path, db_type, name));
  Model model;
  model.init_nets = std::move(nets.init_nets);
  model.predict_net = std::move(nets.predict_net);
  model.inputs = std::move(nets.inputs);
  model.outputs = std::move(nets.outputs);
  model.db_path = path;
  model.db_type = db_type;
  return Predictor(std::move(model), options);
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

}  // namespace caffe2rt
