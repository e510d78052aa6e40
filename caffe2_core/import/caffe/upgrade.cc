#include "caffe2_core/import/caffe/upgrade.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/base/utf8.h"
#include "caffe2_core/import/caffe/field_numbers.h"

namespace caffe2rt {
namespace {

CaffeMessage* MutableMessage(const std::string& name, CaffeMessage* parent) {
  const CaffeField* found = parent->Find(name);
  if (found != nullptr && found->message != nullptr) return found->message.get();
  CaffeField& added = parent->Add(name);
  added.message = std::make_unique<CaffeMessage>();
  return added.message.get();
}

void CopyField(const CaffeMessage& from, const std::string& name, const std::string& to_name,
               CaffeMessage* to) {
  for (const CaffeField* field : from.All(name)) {
    CaffeField& added = to->Add(to_name, field->place);
    added.text = field->text;
    if (field->message != nullptr) {
      added.message = std::make_unique<CaffeMessage>(field->message->Copy());
    }
  }
}

// --- V0 ---

struct V0Type {
  const char* name;
  const char* type;
  const char* param;  // the message that gets the fields of the table below
};
constexpr V0Type kV0Types[] = {
    {"accuracy", "Accuracy", ""},
    {"bnll", "BNLL", ""},
    {"concat", "Concat", "concat_param"},
    {"conv", "Convolution", "convolution_param"},
    {"data", "Data", "data_param"},
    {"dropout", "Dropout", "dropout_param"},
    {"euclidean_loss", "EuclideanLoss", ""},
    {"flatten", "Flatten", ""},
    {"hdf5_data", "HDF5Data", "hdf5_data_param"},
    {"hdf5_output", "HDF5Output", ""},
    {"hinge_loss", "HingeLoss", ""},
    {"im2col", "Im2col", "convolution_param"},
    {"images", "ImageData", "image_data_param"},
    {"infogain_loss", "InfogainLoss", ""},
    {"innerproduct", "InnerProduct", "inner_product_param"},
    {"lrn", "LRN", "lrn_param"},
    {"multinomial_logistic_loss", "MultinomialLogisticLoss", ""},
    {"pool", "Pooling", "pooling_param"},
    {"relu", "ReLU", ""},
    {"sigmoid", "Sigmoid", ""},
    {"softmax", "Softmax", ""},
    {"softmax_loss", "SoftmaxWithLoss", ""},
    {"split", "Split", ""},
    {"tanh", "TanH", ""},
    {"window_data", "WindowData", "window_data_param"},
};

// Names of V0's fields and of the fields of V2 that replace them.
constexpr std::pair<const char*, const char*> kV0Fields[] = {
    {"num_output", "num_output"},
    {"biasterm", "bias_term"},
    {"weight_filler", "weight_filler"},
    {"bias_filler", "bias_filler"},
    {"pad", "pad"},
    {"kernelsize", "kernel_size"},
    {"group", "group"},
    {"stride", "stride"},
    {"pool", "pool"},
    {"dropout_ratio", "dropout_ratio"},
    {"local_size", "local_size"},
    {"alpha", "alpha"},
    {"beta", "beta"},
    {"k", "k"},
    {"source", "source"},
    {"batchsize", "batch_size"},
    {"new_height", "new_height"},
    {"new_width", "new_width"},
    {"concat_dim", "concat_dim"},
};
constexpr std::pair<const char*, const char*> kV0Transforms[] = {
    {"scale", "scale"}, {"meanfile", "mean_file"}, {"cropsize", "crop_size"}, {"mirror", "mirror"}};

CaffeLayer UpgradeV0(const CaffeMessage& connection, CaffePlace place) {
  const CaffeMessage& old = connection.Message("layer");
  CaffeLayer layer = {.name = old.Text("name"), .type = old.Text("type"), .place = place};
  layer.bottoms = connection.Texts("bottom");
  layer.tops = connection.Texts("top");
  const auto row = std::find_if(std::begin(kV0Types), std::end(kV0Types),
                                [&](const V0Type& type) { return layer.type == type.name; });
  if (layer.type == "padding") layer.fields.Set("pad", old.Text("pad", "0"));
  if (row == std::end(kV0Types)) return layer;
  layer.type = row->type;
  if (row->param[0] != '\0') {
    CaffeMessage* param = MutableMessage(row->param, &layer.fields);
    for (const auto& [from, to] : kV0Fields) CopyField(old, from, to, param);
  }
  CaffeMessage* transform = MutableMessage("transform_param", &layer.fields);
  for (const auto& [from, to] : kV0Transforms) CopyField(old, from, to, transform);
  return layer;
}

// Gives the padding of the layers of type padding to the layers that read them.
void FoldPadding(std::vector<CaffeLayer>* layers) {
  std::map<std::string, CaffeLayer> paddings;  // by top
  for (CaffeLayer& layer : *layers) {
    if (layer.type == "padding") {
      CAFFE_ENFORCE(layer.tops.size() == 1 && layer.bottoms.size() == 1, PlaceText(layer.place),
                    "layer \"", layer.name, "\" of type padding wants one bottom and one top");
      paddings[layer.tops[0]] = {.bottoms = layer.bottoms, .fields = layer.fields.Copy()};
      continue;
    }
    for (std::string& bottom : layer.bottoms) {
      const auto padding = paddings.find(bottom);
      if (padding == paddings.end()) continue;
      const bool conv = layer.type == "Convolution";
      CAFFE_ENFORCE(conv || layer.type == "Pooling", PlaceText(layer.place), "layer \"", layer.name,
                    "\" of type ", layer.type, " reads a padding layer, want a conv or a pool");
      MutableMessage(conv ? "convolution_param" : "pooling_param", &layer.fields)
          ->Set("pad", padding->second.fields.Text("pad"));
      bottom = padding->second.bottoms[0];
    }
  }
  std::erase_if(*layers, [](const CaffeLayer& layer) { return layer.type == "padding"; });
}

// --- V1 and V2 ---

CaffeLayer UpgradeV1(const CaffeMessage& old, CaffePlace place) {
  if (old.Has("layer")) return UpgradeV0(old, place);
  CaffeLayer layer = {.name = old.Text("name"), .type = old.Text("type"), .place = place};
  int64_t number = 0;
  const std::string_view type = ParseNumber(layer.type, &number) ? CaffeV1TypeOfNumber(number)
                                                                 : CaffeV1TypeOfName(layer.type);
  if (!type.empty()) layer.type = type;
  layer.bottoms = old.Texts("bottom");
  layer.tops = old.Texts("top");
  layer.shared = old.Texts("param");
  layer.fields = old.Copy();
  return layer;
}

CaffeLayer ReadV2(const CaffeMessage& message, CaffePlace place) {
  CaffeLayer layer = {.name = message.Text("name"), .type = message.Text("type"), .place = place};
  layer.bottoms = message.Texts("bottom");
  layer.tops = message.Texts("top");
  for (const CaffeMessage* param : message.Messages("param")) {
    layer.shared.push_back(param->Text("name"));
  }
  layer.fields = message.Copy();
  return layer;
}

// --- rules ---

bool Meets(const CaffeMessage& rule, const CaffeState& state) {
  if (rule.Has("phase")) {
    const bool test = rule.Enum("phase", {"TRAIN", "TEST"}, 1) == 1;
    if (test == state.train) return false;
  }
  if (rule.Integer("min_level", INT64_MIN) > state.level) return false;
  if (rule.Integer("max_level", INT64_MAX) < state.level) return false;
  const auto is_set = [&](const std::string& stage) {
    return std::find(state.stages.begin(), state.stages.end(), stage) != state.stages.end();
  };
  const std::vector<std::string> wanted = rule.Texts("stage"), barred = rule.Texts("not_stage");
  return std::all_of(wanted.begin(), wanted.end(), is_set) &&
         std::none_of(barred.begin(), barred.end(), is_set);
}

bool IsKept(const CaffeLayer& layer, const CaffeState& state) {
  const std::vector<const CaffeMessage*> include = layer.fields.Messages("include");
  const std::vector<const CaffeMessage*> exclude = layer.fields.Messages("exclude");
  CAFFE_ENFORCE(include.empty() || exclude.empty(), PlaceText(layer.place), "layer \"",
                Shortened(layer.name), "\" has include and exclude rules, want one of the two");
  const auto met = [&](const CaffeMessage* rule) { return Meets(*rule, state); };
  if (!include.empty()) return std::any_of(include.begin(), include.end(), met);
  return std::none_of(exclude.begin(), exclude.end(), met);
}

// --- inputs ---

void AddDims(const std::vector<int64_t>& dims, CaffeMessage* input_param) {
  CaffeField& shape = input_param->Add("shape");
  shape.message = std::make_unique<CaffeMessage>();
  for (const int64_t dim : dims) shape.message->Add("dim").text = absl::StrCat(dim);
}

// The fields `input`, with `input_dim` or `input_shape`, as layers.
void AddInputs(const CaffeMessage& net, std::vector<CaffeLayer>* layers) {
  const std::vector<std::string> names = net.Texts("input");
  const std::vector<int64_t> dims = net.Integers("input_dim");
  const std::vector<const CaffeMessage*> shapes = net.Messages("input_shape");
  CAFFE_ENFORCE(dims.empty() || dims.size() == 4 * names.size(), "the net has ",
                CountText(names.size(), "input"), " and ", CountText(dims.size(), "value"),
                " of input_dim, want four for each input");
  CAFFE_ENFORCE(shapes.empty() || shapes.size() == names.size(), "the net has ",
                CountText(names.size(), "input"), " and ", shapes.size(),
                " of input_shape, want one for each input");
  for (size_t i = 0; i < names.size(); ++i) {
    CaffeLayer layer = {.name = names[i], .type = "Input"};
    layer.tops = {names[i]};
    CaffeMessage* param = MutableMessage("input_param", &layer.fields);
    if (!shapes.empty()) {
      AddDims(shapes[i]->Integers("dim"), param);
    } else if (!dims.empty()) {
      AddDims({dims.begin() + static_cast<int64_t>(4 * i),
               dims.begin() + static_cast<int64_t>(4 * i + 4)},
              param);
    }
    layers->push_back(std::move(layer));
  }
}

}  // namespace

CaffeState StateOf(const CaffeMessage& net) {
  const CaffeMessage& state = net.Message("state");
  return {.train = state.Enum("phase", {"TRAIN", "TEST"}, 1) == 0,
          .level = state.Integer("level", 0),
          .stages = state.Texts("stage")};
}

CaffeNet UpgradeCaffeNet(const CaffeMessage& net, const CaffeState& state) {
  CaffeNet upgraded = {.name = net.Text("name"), .layers = {}};
  const bool old = net.Has("layers");
  CAFFE_ENFORCE(!old || !net.Has("layer"),
                "the net has fields layer and fields layers, want one of the two");
  AddInputs(net, &upgraded.layers);
  std::vector<CaffeLayer> layers;
  for (const CaffeField* field : net.All(old ? "layers" : "layer")) {
    CAFFE_ENFORCE(field->message != nullptr, PlaceText(field->place), "field ", field->name,
                  " is a scalar, want a message in braces");
    layers.push_back(old ? UpgradeV1(*field->message, field->place)
                         : ReadV2(*field->message, field->place));
  }
  FoldPadding(&layers);
  for (CaffeLayer& layer : layers) {
    if (IsKept(layer, state)) upgraded.layers.push_back(std::move(layer));
  }
  return upgraded;
}

bool IsCaffeSolver(const CaffeMessage& message) {
  if (message.Has("layer") || message.Has("layers")) return false;
  for (const char* name : {"base_lr", "lr_policy", "solver_mode", "train_net", "train_net_param",
                           "max_iter", "snapshot_prefix", "net_param"}) {
    if (message.Has(name)) return true;
  }
  return message.Has("net") && !message.Has("op");
}

}  // namespace caffe2rt
