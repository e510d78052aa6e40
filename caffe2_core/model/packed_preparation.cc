#include "caffe2_core/model/packed_preparation.h"

#include <absl/strings/str_join.h>

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/isa.h"
#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/graph/dependencies.h"
#include "caffe2_core/graph/net_check.h"
#include "caffe2_core/graph/shape_inference.h"
#include "caffe2_core/model/packed_model.h"
#include "caffe2_core/model/workspace_constants.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/runtime/workspace.h"
#include "caffe2_core/tensor/int8_tensor.h"

namespace caffe2rt {
namespace {

std::set<std::string> SetOf(const google::protobuf::RepeatedPtrField<std::string>& names) {
  return {names.begin(), names.end()};
}

// Decides whether a stored preparation may be used, and uses it.
class StoredUse {
 public:
  StoredUse(const PackedModel& model, const NetDef& net, const PreparationOptions& options,
            Workspace* ws)
      : model_(model),
        stored_(model.index().preparation()),
        net_(net),
        options_(options),
        ws_(*ws),
        inputs_(SetOf(stored_.input())) {}

  bool IsAllowed() const {
    return model_.index().has_preparation() &&
           options_.tuning == nullptr &&  // what it holds is not stored
           stored_.description() == DescribePreparation(options_) && IsPackedNet() && InputsFit() &&
           KeptFit() && ShapesFit() && ConstantsAreThoseOfTheFile() && NewNamesAreFree() &&
           OperatorsExist();
  }

  Preparation Use() const {
    Preparation result{.net = stored_.net(),
                       .passes = {stored_.pass().begin(), stored_.pass().end()}};
    CopySeedTo(&result.net);
    for (const PackedTensor& packed : stored_.tensor()) {
      ws_.CreateLocalBlob(packed.name())->Reset(new Tensor(model_.MappedTensor(packed)));
      result.new_constants.push_back(packed.name());
    }
    for (const TensorShape& shape : stored_.input_shape())
      result.options.input_shapes[shape.name()] = shape;
    if (options_.free_constants) FreeConstants(&result);
    return result;
  }

 private:
  // Whether the net is the packed one. The seed of random numbers may differ: passes do not read it.
  bool IsPackedNet() const {
    NetDef packed = model_.predict_net();
    CopySeedTo(&packed);
    return net_.SerializeAsString() == packed.SerializeAsString();
  }

  void CopySeedTo(NetDef* net) const {
    if (!net_.device_option().has_random_seed()) return;
    net->mutable_device_option()->set_random_seed(net_.device_option().random_seed());
  }

  // What is given as an input must not have been a constant. An input less does no harm.
  bool InputsFit() const {
    const std::unordered_set<std::string> used = NamesUsedBy(net_);
    return std::all_of(
        options_.inputs.begin(), options_.inputs.end(),
        [&](const std::string& name) { return inputs_.contains(name) || !used.contains(name); });
  }

  bool KeptFit() const {
    std::set<std::string> kept = SetOf(stored_.kept());
    for (std::string& name : OutputsOf(net_)) kept.insert(std::move(name));
    return std::includes(kept.begin(), kept.end(), options_.kept.begin(), options_.kept.end());
  }

  // Shapes guide choices. A shape that is not known now is no reason to make other choices.
  bool ShapesFit() const {
    ShapeMap shapes;
    for (const TensorShape& shape : stored_.input_shape()) shapes[shape.name()] = shape;
    return std::all_of(options_.input_shapes.begin(), options_.input_shapes.end(),
                       [&](const auto& entry) {
                         const auto found = shapes.find(entry.first);
                         if (found == shapes.end()) return false;
                         return found->second.data_type() == entry.second.data_type() &&
                                GetDimsVector(found->second) == GetDimsVector(entry.second);
                       });
  }

  // Calls use(packed) for the constants of the packed net; stops if it returns false.
  template <class Use>
  bool ForEachConstant(const Use& use) const {
    const NetDependencies blobs(net_);
    for (const PackedTensor& packed : model_.index().tensor()) {
      const uint32_t blob = blobs.Find(packed.name());
      if (blob == NetBlobs::kNone || blobs.is_changed(blob) || inputs_.contains(packed.name()))
        continue;
      if (!use(packed)) return false;
    }
    return true;
  }

  bool IsInWorkspace(const PackedTensor& packed) const {
    const std::shared_ptr<Blob> blob = ws_.FindBlob(packed.name());
    const Tensor* const tensor = blob == nullptr ? nullptr : FindTensor(*blob);
    return tensor != nullptr && tensor->storage() != nullptr && tensor->storage()->read_only() &&
           tensor->storage()->data() == model_.data(packed.block());
  }

  bool ConstantsAreThoseOfTheFile() const {
    return ForEachConstant([this](const PackedTensor& packed) { return IsInWorkspace(packed); });
  }

  bool NewNamesAreFree() const {
    return std::all_of(stored_.tensor().begin(), stored_.tensor().end(),
                       [this](const PackedTensor& packed) {
                         return !ws_.HasBlob(packed.name()) || IsInWorkspace(packed);
                       });
  }

  bool OperatorsExist() const {
    return std::all_of(
        stored_.net().op().begin(), stored_.net().op().end(), [](const OperatorDef& op) {
          return HasOperator(static_cast<DeviceType>(op.device_option().device_type()), op.type());
        });
  }

  void FreeConstants(Preparation* result) const {
    const std::unordered_set<std::string> used = NamesUsedBy(result->net);
    std::set<std::string> kept = options_.kept;
    kept.insert(result->net.external_output().begin(), result->net.external_output().end());
    ForEachConstant([&](const PackedTensor& packed) {
      if (!used.contains(packed.name()) && !kept.contains(packed.name()) &&
          ws_.RemoveBlob(packed.name())) {
        result->freed_constants.push_back(packed.name());
      }
      return true;
    });
    std::sort(result->freed_constants.begin(), result->freed_constants.end());
  }

  const PackedModel& model_;
  const PackedPreparation& stored_;
  const NetDef& net_;
  const PreparationOptions& options_;
  Workspace& ws_;
  const std::set<std::string> inputs_;  // of the stored preparation
};

}  // namespace

std::string DescribePreparation(const PreparationOptions& options) {
  std::string text = MakeString("caffe2rt ", CAFFE2RT_VERSION, " on ", IsaName(CpuIsa()));
  // Choices do not depend on the number of threads if they must be reproducible.
  text += options.deterministic ? ", deterministic" : MakeString(", threads ", GetNumThreads());
  if (options.winograd_filter_bytes != INT64_MAX)
    text += MakeString(", winograd filters up to ", options.winograd_filter_bytes, " bytes");
  if (options.precision != Precision::kFloat32)
    text += MakeString(", precision ", PrecisionName(options.precision));
  if (options.tuning != nullptr) text += ", tuning of its own";
  if (!options.without_passes.empty())
    text += MakeString(", without passes ", absl::StrJoin(options.without_passes, " "));
  return text;
}

PackedPreparation StorePreparation(const Preparation& preparation) {
  PackedPreparation stored;
  const PreparationOptions& options = preparation.options;
  stored.set_description(DescribePreparation(options));
  for (const std::string& name : options.inputs) stored.add_input(name);
  for (const std::string& name : options.kept) stored.add_kept(name);
  for (const auto& [name, shape] : options.input_shapes) {
    TensorShape* const added = stored.add_input_shape();
    *added = shape;
    added->set_name(name);
  }
  *stored.mutable_net() = preparation.net;
  for (const std::string& name : preparation.passes) stored.add_pass(name);
  return stored;
}

std::optional<Preparation> UseStoredPreparation(const PackedModel& model, const NetDef& net,
                                                const PreparationOptions& options, Workspace* ws) {
  const StoredUse use(model, net, options, ws);
  if (!use.IsAllowed()) return std::nullopt;
  return use.Use();
}

}  // namespace caffe2rt
