#include "binaries/commands/run_nan.h"

#include <nlohmann/json.hpp>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/graph/dependencies.h"
#include "caffe2_core/inspect/nan_search.h"
#include "caffe2_core/tensor/tensor_stats.h"

namespace caffe2rt {
namespace {

bool IsTensor(const Blob* blob) {
  return blob != nullptr && blob->IsType<Tensor>() && blob->Get<Tensor>().IsShaped() &&
         blob->Get<Tensor>().HasData();
}

}  // namespace

void NaNWarning::SetNet(const NetDef& net, const std::set<std::string>& fed,
                        const InputImages& images) {
  fed_ = fed;
  images_ = images;
  const NetDependencies blobs(net);
  for (const std::string& name : fed) {
    const uint32_t index = blobs.Find(name);
    if (index != NetDependencies::kNone && blobs.is_memory_written(index))
      overwritten_.insert(name);
  }
}

void NaNWarning::KeepInputs(const Workspace& ws) {
  for (const std::string& name : overwritten_) {
    const std::shared_ptr<Blob> blob = ws.FindBlob(name);
    if (IsTensor(blob.get())) inputs_[name] = blob->Get<Tensor>().Clone();
  }
}

void NaNWarning::Look(const std::string& output, const Blob& blob, const std::string& file,
                      const Workspace& ws) {
  if (!NonFiniteIn(blob).nan) return;
  if (!output_.empty()) {
    ++others_;
    return;
  }
  file_ = file;
  const TensorStats stats = StatsOf(blob).value();
  output_ = output;
  nan_ = stats.nan;
  count_ = stats.count;
  for (const std::string& name : fed_) {
    const std::shared_ptr<Blob> fed = ws.FindBlob(name);
    if (!inputs_.contains(name) && IsTensor(fed.get())) {
      inputs_[name] = fed->Get<Tensor>();
    }
  }
  // A file is read again, a stream cannot be.
  if (!file.empty() && images_.stream == nullptr) inputs_.erase(images_.blob);
}

std::string NaNWarning::FindOrigin(Json* json) const try {
  Model model = ReloadModel(line_);
  const std::unique_ptr<Workspace> ws = MakeWorkspace(line_, &model);
  for (const auto& [name, tensor] : inputs_) *ws->CreateBlob(name)->GetMutable<Tensor>() = tensor;
  if (!file_.empty() && images_.stream == nullptr) FeedImage(line_, images_, file_, ws.get());
  const std::optional<NaNOrigin> origin = FindNaNOrigin(
      model.predict_net, output_, line_.Integer("iterations", 1, 1000000000), ws.get());
  if (!origin.has_value()) {
    return "; a second run had none, so its cause is not known"
           " (random operators repeat their numbers with --seed)";
  }
  (*json)["blob"] = origin->blob;
  if (origin->position < 0) {
    return MakeString(fed_.contains(origin->blob) ? "; input \"" : "; blob \"", origin->blob,
                      fed_.contains(origin->blob) ? "\" has it" : "\" has it before the net runs");
  }
  (*json)["operator"] = origin->position;
  (*json)["operator_text"] = origin->op;
  return "; the first is in " + origin->Text();
} catch (const EnforceNotMet& error) {
  return MakeString("; the second run, to find its cause, failed: ", error.message());
}

void NaNWarning::Report(Json* json) const {
  if (output_.empty()) return;
  Json& nan = (*json)["nan"];
  nan = {{"output", output_}, {"elements", count_}, {"nan", nan_}};
  if (!file_.empty()) nan["file"] = file_;
  const std::string origin = FindOrigin(&nan);
  Warn(MakeString("output \"", output_, file_.empty() ? "\"" : "\" for \"" + file_ + "\"",
                  " has NaN in ", nan_, " of ", CountText(count_, "element"), origin,
                  others_ == 0   ? ""
                  : others_ == 1 ? "; 1 other output has NaN too"
                                 : MakeString("; ", others_, " other outputs have NaN too")));
}

}  // namespace caffe2rt
