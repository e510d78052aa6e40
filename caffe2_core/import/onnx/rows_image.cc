// Operators of images: resizing, sampling, boxes. Also those that select elements.

#include <array>
#include <cmath>

#include "caffe2_core/import/onnx/node_table.h"
#include "caffe2_core/import/onnx/run_time_parameters.h"

namespace caffe2rt {
namespace {

using Proto = onnx::TensorProto;

// The whole factors of height and width of an image; {0, 0} if the node is none or has others.
std::array<int64_t, 2> WholeFactors(OnnxNode* n) {
  const std::string& x = n->In(0);
  if (!n->HasRank(x) || n->Rank(x) != 4 || n->HasAttr("axes")) return {0, 0};
  if (n->Type(x) != Proto::FLOAT && !IsRoundedOnnxType(n->Type(x))) return {0, 0};
  std::vector<double> factors;
  if (n->Has(2) && n->IsKnown(2)) {
    factors = n->Reals(2);
  } else if (n->Has(3) && n->IsKnown(3) && n->HasDims(x)) {
    const OnnxDims dims = n->FixedDims(x);
    const std::vector<int64_t> sizes = n->Ints(3);
    for (size_t i = 0; i < dims.size() && i < sizes.size(); ++i)
      factors.push_back(dims[i] > 0 ? static_cast<double>(sizes[i]) / static_cast<double>(dims[i])
                                    : 0);
  }
  if (factors.size() != 4 || factors[0] != 1 || factors[1] != 1) return {0, 0};
  std::array<int64_t, 2> whole = {0, 0};
  for (size_t i = 0; i < 2; ++i) {
    const double factor = factors[i + 2];
    if (!(factor >= 1 && factor <= 1024) || factor != std::floor(factor)) return {0, 0};
    whole[i] = static_cast<int64_t>(factor);
  }
  return whole;
}

// Caffe2's operators for images enlarged by whole factors, which have kernels for devices and oneDNN's
// layouts. Returns false if they do not fit.
bool EnlargeImage(OnnxNode* n) {
  const std::string mode = n->Text("mode", "nearest");
  const std::string place = n->Text("coordinate_transformation_mode", "half_pixel");
  const std::string rounding = n->Text("nearest_mode", "round_prefer_floor");
  if (n->Text("keep_aspect_ratio_policy", "stretch") != "stretch") return false;
  // The centre of a pixel of Y is nearest to that of the pixel of X in which it lies.
  const bool centres = place == "half_pixel" && rounding.starts_with("round_prefer");
  const bool nearest =
      mode == "nearest" && (centres || (place == "asymmetric" && rounding == "floor"));
  const bool bilinear = mode == "linear" && place == "align_corners";
  if (!nearest && !bilinear) return false;
  const auto [height, width] = WholeFactors(n);
  if (height == 0) return false;
  n->Emit(nearest ? "ResizeNearest" : "UpsampleBilinear", {n->In(0)}, {n->Out(0)},
          {MakeArgument("height_scale", static_cast<float>(height)),
           MakeArgument("width_scale", static_cast<float>(width))});
  return true;
}

void TranslateResize(OnnxNode* n) {
  if (EnlargeImage(n)) return;
  std::vector<Argument> args;
  for (const char* name :
       {"mode", "coordinate_transformation_mode", "nearest_mode", "keep_aspect_ratio_policy"}) {
    if (n->HasAttr(name)) args.push_back(MakeArgument(name, n->Text(name)));
  }
  for (const char* name : {"antialias", "exclude_outside"}) {
    if (n->HasAttr(name)) args.push_back(MakeArgument(name, n->Int(name, 0)));
  }
  for (const char* name : {"cubic_coeff_a", "extrapolation_value"}) {
    if (n->HasAttr(name)) args.push_back(MakeArgument(name, n->Float(name, 0)));
  }
  if (n->HasAttr("axes")) args.push_back(MakeArgument("axes", n->IntList("axes")));
  const bool crops = n->Text("coordinate_transformation_mode") == "tf_crop_and_resize";
  const std::string roi = crops && n->Has(1) ? n->In(1) : "";
  EmitWithParameters(n, "Resize", 1, {{1, "", roi}, {2, "scales", "", true}, {3, "sizes"}}, args);
}

void TranslateGridSample(OnnxNode* n) {
  n->Emit("GridSample", {n->In(0), n->In(1)}, {n->Out(0)},
          {MakeArgument("mode", n->Text("mode", "linear")),
           MakeArgument("padding_mode", n->Text("padding_mode", "zeros")),
           MakeArgument("align_corners", n->Int("align_corners", 0))});
}

void TranslateRoiAlign(OnnxNode* n) {
  std::vector<Argument> args = {
      MakeArgument("mode", n->Text("mode", "avg")),
      MakeArgument("output_height", n->Int("output_height", 1)),
      MakeArgument("output_width", n->Int("output_width", 1)),
      MakeArgument("sampling_ratio", n->Int("sampling_ratio", 0)),
      MakeArgument("spatial_scale", n->Float("spatial_scale", 1)),
      MakeArgument("coordinate_transformation_mode",
                   n->Text("coordinate_transformation_mode",
                           n->version() < 16 ? "output_half_pixel" : "half_pixel"))};
  n->Emit("ONNXRoiAlign", {n->In(0), n->In(1), n->In(2)}, {n->Out(0)}, args);
}

void TranslateNonMaxSuppression(OnnxNode* n) {
  std::vector<std::string> inputs = n->Ins();
  for (std::string& input : inputs) {
    if (input.empty()) input = n->IntConst("none", {});
  }
  const std::string y = n->Out(0);
  n->Emit("NonMaxSuppression", inputs, {y},
          {MakeArgument("center_point_box", n->Int("center_point_box", 0))});
  n->SetType(y, Proto::INT64);
}

void TranslateNonZero(OnnxNode* n) {
  const std::string y = n->Out(0);
  n->Emit("NonZero", {n->In(0)}, {y});
  n->SetType(y, Proto::INT64);
}

void TranslateCompress(OnnxNode* n) {
  std::vector<Argument> args;
  if (n->HasAttr("axis")) args.push_back(MakeArgument("axis", n->Int("axis", 0)));
  const std::string y = n->Out(0);
  n->Emit("Compress", {n->In(0), n->In(1)}, {y}, args);
  n->SetType(y, n->Type(n->In(0)));
}

void TranslateOneHot(OnnxNode* n) {
  const std::string y = n->Out(0);
  n->Emit("ONNXOneHot", {n->In(0), n->In(1), n->In(2)}, {y},
          {MakeArgument("axis", n->Int("axis", -1))});
  n->SetType(y, n->Type(n->In(2)));
  const OnnxContent* const depth = n->Content(n->In(1));
  if (depth == nullptr || depth->size() != 1 || !n->HasRank(n->In(0))) return;
  const int64_t axis = OnnxNode::AxisOf(n->Int("axis", -1), n->Rank(n->In(0)) + 1);
  InOnnxWorlds<OnnxDims> dims;
  for (size_t world = 0; world < kOnnxWorlds; ++world) {
    const size_t from = depth->ints[world].size() + depth->reals[world].size() == 1 ? world : 0;
    const double number =
        depth->real ? depth->reals[from][0] : static_cast<double>(depth->ints[from][0]);
    if (!(number >= 0 && number <= INT32_MAX)) return;
    dims[world] = n->DimsIn(n->In(0), world);
    dims[world].insert(dims[world].begin() + axis, static_cast<int64_t>(number));
  }
  n->SetDims(y, dims);
}

// Caffe2's Where has kernels for devices, but no broadcasting.
void TranslateWhere(OnnxNode* n) {
  const std::string &c = n->In(0), &x = n->In(1), &y = n->In(2);
  const int type = n->Type(x);
  const bool same = n->HasDims(c) && n->HasDims(x) && n->HasDims(y) && n->Dims(c) == n->Dims(x) &&
                    n->Dims(x) == n->Dims(y);
  const bool plain = same && (type == Proto::FLOAT || type == Proto::DOUBLE ||
                              type == Proto::INT32 || type == Proto::INT64 || type == Proto::BOOL);
  const std::string z = n->Out(0);
  n->Emit(plain ? "Where" : "ONNXWhere", {c, x, y}, {z});
  n->SetType(z, type);
}

// Caffe2's TopK has kernels for devices.
void TranslateTopK(OnnxNode* n) {
  const std::string& x = n->In(0);
  if (n->Type(x) == Proto::FLOAT && n->Int("largest", 1) == 1 && n->HasRank(x) && n->IsKnown(1) &&
      n->IntAt(1) > 0) {
    return n->Emit(
        "TopK", {x}, {n->Out(0), n->Out(1)},
        {MakeArgument("k", n->IntAt(1)), MakeArgument("axis", n->Axis(x, n->Int("axis", -1)))});
  }
  EmitWithParameters(
      n, "ONNXTopK", 1, {{1, "k"}},
      {MakeArgument("axis", n->Int("axis", -1)), MakeArgument("largest", n->Int("largest", 1)),
       MakeArgument("sorted", n->Int("sorted", 1))},
      2);
}

void TranslateUnique(OnnxNode* n) {
  std::vector<Argument> args = {MakeArgument("sorted", n->Int("sorted", 1))};
  if (n->HasAttr("axis")) args.push_back(MakeArgument("axis", n->Int("axis", 0)));
  const std::vector<std::string> outputs = n->Outs();
  n->Emit("ONNXUnique", {n->In(0)}, outputs, args);
  for (const std::string& output : outputs) n->SetType(output, Proto::INT64);
  n->SetType(outputs[0], n->Type(n->In(0)));
}

void TranslateRange(OnnxNode* n) {
  const std::string y = n->Out(0);
  n->Emit("ONNXRange", {n->In(0), n->In(1), n->In(2)}, {y});
  n->SetType(y, n->Type(n->In(0)));
}

void TranslateTfIdfVectorizer(OnnxNode* n) {
  CAFFE_ENFORCE(!n->HasAttr("pool_strings"), "texts are not supported");
  n->Emit("TfIdfVectorizer", {n->In(0)}, {n->Out(0)},
          {MakeArgument("min_gram_length", n->Int("min_gram_length", 1)),
           MakeArgument("max_gram_length", n->Int("max_gram_length", 1)),
           MakeArgument("max_skip_count", n->Int("max_skip_count", 0)),
           MakeArgument("mode", n->Text("mode", "TF")),
           MakeArgument("ngram_counts", n->IntList("ngram_counts")),
           MakeArgument("ngram_indexes", n->IntList("ngram_indexes")),
           MakeArgument("pool_int64s", n->IntList("pool_int64s")),
           MakeArgument("weights", n->FloatList("weights"))});
}

}  // namespace

std::vector<OnnxRow> OnnxImageRows() {
  return {{"Compress", &TranslateCompress, "", true},
          {"GridSample", &TranslateGridSample},
          {"NonMaxSuppression", &TranslateNonMaxSuppression, "", true},
          {"NonZero", &TranslateNonZero, "", true},
          {"OneHot", &TranslateOneHot, "", true},
          {"Range", &TranslateRange},
          {"Resize", &TranslateResize},
          {"RoiAlign", &TranslateRoiAlign},
          {"TfIdfVectorizer", &TranslateTfIdfVectorizer},
          {"TopK", &TranslateTopK, "", true},
          {"Unique", &TranslateUnique, "", true},
          {"Where", &TranslateWhere, "", true}};
}

}  // namespace caffe2rt
