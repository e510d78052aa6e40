#include "caffe2_core/import/caffe/net_blobs.h"

#include <absl/strings/str_join.h>

#include <algorithm>
#include <set>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/suggest.h"
#include "caffe2_core/base/utf8.h"
#include "caffe2_core/import/caffe/layer_table.h"

namespace caffe2rt {
namespace {

constexpr size_t kMaxNamed = 100;  // layers of one type in an error

std::string PythonTypeOf(const CaffeLayer& layer) {
  const CaffeMessage& param = layer.fields.Message("python_param");
  return MakeString("Python, layer \"", param.Text("layer"), "\" of module \"",
                    param.Text("module"), "\"");
}

// One error about all types that are not supported.
void CheckTypes(const CaffeNet& net) {
  std::map<std::string, std::vector<std::string>> layers;  // by type
  std::map<std::string, std::string_view> remedies;
  for (const CaffeLayer& layer : net.layers) {
    const CaffeLayerRow* row = FindCaffeLayer(layer.type);
    std::string type = layer.type;
    std::string_view remedy = row == nullptr ? "" : row->remedy;
    if (type == "Python" && !IsKnownCaffePython(layer)) {
      type = PythonTypeOf(layer);
      remedy = kKnownCaffePython;
    } else if (row != nullptr && row->kind != CaffeLayerKind::kRefused) {
      continue;
    }
    layers[type].push_back(layer.name);
    remedies[type] = remedy;
  }
  if (layers.empty()) return;
  std::vector<std::string> known;
  for (const std::string_view type : CaffeLayerTypes()) known.emplace_back(type);
  std::vector<std::string> parts;
  for (auto& [type, names] : layers) {
    const size_t count = names.size();
    if (count > kMaxNamed) names.resize(kMaxNamed);
    for (std::string& name : names) name = MakeString("\"", Shortened(name), "\"");
    std::string part = MakeString(count, " of type ", Shortened(type), " (",
                                  absl::StrJoin(names, ", "), count > kMaxNamed ? ", ..." : "");
    const std::string_view remedy = remedies.at(type);
    const std::vector<std::string> near =
        remedy.empty() ? NearestNames(type, known, 1) : std::vector<std::string>();
    if (!remedy.empty()) part += MakeString(": ", remedy);
    if (!near.empty()) part += MakeString(": did you mean ", near[0], "?");
    parts.push_back(part + ")");
  }
  CAFFE_THROW("the net has layers that are not supported: ", absl::StrJoin(parts, ", "));
}

// A version of a blob: layers that write a name again make another one.
struct Version {
  std::string name;
  bool label = false;    // made of labels alone
  bool dropped = false;  // written by a layer that is left out
  bool silent = false;   // read by a layer that says so
  int reads = 0;
  int input = -1;  // position among the inputs
};

class Planner {
 public:
  explicit Planner(const CaffeNet& net) : net_(net) {}

  CaffePlan Plan() {
    CheckTypes(net_);
    for (const CaffeLayer& layer : net_.layers) AddLayer(layer);
    NameVersions();
    FillSteps();
    CAFFE_ENFORCE(!plan_.steps.empty(), "the net has no layers to run");
    return std::move(plan_);
  }

 private:
  struct Step {
    const CaffeLayer* layer;
    std::vector<size_t> bottoms, tops;  // versions
  };

  size_t NewVersion(const std::string& name) {
    versions_.push_back({.name = name});
    current_[name] = versions_.size() - 1;
    return versions_.size() - 1;
  }

  void AddLayer(const CaffeLayer& layer) {
    const CaffeLayerRow* row = FindCaffeLayer(layer.type);
    if (row->kind == CaffeLayerKind::kDropped) return Drop(layer, "is for training");
    if (row->kind != CaffeLayerKind::kTranslated) return AddInputs(layer, *row);
    std::vector<size_t> bottoms;
    bool only_labels = !layer.bottoms.empty();
    for (const std::string& bottom : layer.bottoms) {
      const auto found = current_.find(bottom);
      if (found == current_.end()) ThrowNoBottom(layer, bottom);
      if (versions_[found->second].dropped) return Drop(layer, "reads what is left out");
      only_labels &= versions_[found->second].label;
      bottoms.push_back(found->second);
    }
    if (only_labels) return Drop(layer, "reads labels only");
    AddStep(layer, std::move(bottoms));
  }

  void AddStep(const CaffeLayer& layer, std::vector<size_t> bottoms) {
    CAFFE_ENFORCE(!layer.tops.empty(), PlaceText(layer.place), "layer \"", Shortened(layer.name),
                  "\" of type ", layer.type, " has no tops");
    if (IsCaffeIdentity(layer.type) && layer.tops == layer.bottoms) {
      layer_versions_.emplace(layer.name, bottoms[0]);
      return;
    }
    for (const size_t bottom : bottoms) ++versions_[bottom].reads;
    Step step = {.layer = &layer, .bottoms = std::move(bottoms), .tops = {}};
    for (const std::string& top : layer.tops) step.tops.push_back(NewVersion(top));
    CAFFE_ENFORCE(layer_versions_.emplace(layer.name, step.tops[0]).second, PlaceText(layer.place),
                  "two layers have the name \"", Shortened(layer.name), "\"");
    steps_.push_back(std::move(step));
  }

  void AddInputs(const CaffeLayer& layer, const CaffeLayerRow& row) {
    for (size_t i = 0; i < layer.tops.size(); ++i) {
      const size_t version = NewVersion(layer.tops[i]);
      versions_[version].label = row.kind == CaffeLayerKind::kData && i > 0;
      versions_[version].input = static_cast<int>(inputs_.size());
      inputs_.push_back({.name = layer.tops[i], .layer = &layer, .top = i});
      input_versions_.push_back(version);
    }
  }

  void Drop(const CaffeLayer& layer, const char* why) {
    plan_.notes.push_back(MakeString("layer \"", Shortened(layer.name), "\" of type ", layer.type,
                                     " is left out: it ", why));
    for (const std::string& top : layer.tops) versions_[NewVersion(top)].dropped = true;
    if (layer.type != "Silence") return;
    for (const std::string& bottom : layer.bottoms) {
      if (const auto found = current_.find(bottom); found != current_.end()) {
        versions_[found->second].silent = true;
      }
    }
  }

  [[noreturn]] void ThrowNoBottom(const CaffeLayer& layer, const std::string& bottom) const {
    std::vector<std::string> known;
    for (const auto& [name, version] : current_) known.push_back(name);
    const std::vector<std::string> near = NearestNames(bottom, known, 1);
    CAFFE_THROW(PlaceText(layer.place), "layer \"", Shortened(layer.name), "\" of type ",
                layer.type, " reads \"", Shortened(bottom), "\", which no layer before it writes",
                near.empty() ? "" : MakeString("; did you mean \"", Shortened(near[0]), "\"?"));
  }

  // The last version of a name keeps it; that of an input keeps it, because it is fed.
  void NameVersions() {
    for (const size_t input : input_versions_) {
      const Version& version = versions_[input];
      if (version.reads > 0 && !fed_.emplace(version.name, input).second) {
        CAFFE_THROW("two inputs have the name \"", Shortened(version.name), "\"");
      }
    }
    std::set<std::string> names;
    for (const auto& [name, version] : current_) names.insert(name);
    std::map<std::string, int> counts;
    for (size_t i = 0; i < versions_.size(); ++i) {
      std::string& name = versions_[i].name;
      const auto fed = fed_.find(name);
      if (i == (fed == fed_.end() ? current_.at(name) : fed->second)) continue;
      std::string other;
      do {
        other = MakeString(name, "/", ++counts[name]);
      } while (!names.insert(other).second);
      name = other;
    }
  }

  void FillSteps() {
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const Version& version = versions_[input_versions_[i]];
      inputs_[i].name = version.name;
      if (version.reads > 0) plan_.inputs.push_back(inputs_[i]);
    }
    for (const Step& step : steps_) {
      CaffeStep& filled = plan_.steps.emplace_back(CaffeStep{.layer = step.layer});
      for (const size_t i : step.bottoms) filled.bottoms.push_back(versions_[i].name);
      for (const size_t i : step.tops) {
        filled.tops.push_back(versions_[i].name);
        const Version& version = versions_[i];
        if (version.reads == 0 && !version.silent) plan_.outputs.push_back(version.name);
      }
    }
    for (const auto& [layer, i] : layer_versions_) plan_.layer_blobs[layer] = versions_[i].name;
  }

  const CaffeNet& net_;
  CaffePlan plan_;
  std::vector<Version> versions_;
  std::map<std::string, size_t> current_;  // the newest version of each name
  std::map<std::string, size_t> layer_versions_;
  std::vector<CaffeNetInput> inputs_;
  std::vector<size_t> input_versions_;
  std::map<std::string, size_t> fed_;  // the inputs that are read
  std::vector<Step> steps_;
};

}  // namespace

CaffePlan PlanCaffeNet(const CaffeNet& net) { return Planner(net).Plan(); }

}  // namespace caffe2rt
