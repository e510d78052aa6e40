#include "binaries/commands/boxes.h"

#include <absl/strings/str_join.h>
#include <absl/strings/str_split.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "binaries/table.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/base/utf8.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/io/image_boxes.h"
#include "caffe2_core/tensor/int8_tensor.h"

namespace caffe2rt {

struct BoxReport::Detection {
  float score = 0;
  int64_t class_index = 0;
  // x1, y1, x2, y2; of a turned box the center, width, height and degrees
  std::vector<float> box;
};

namespace {

constexpr char kDetector[] = "BoxWithNMSLimit";

const Tensor& FloatsOf(const FetchBlob& fetch, const std::string& name) {
  const Tensor* const tensor = FindTensor(fetch(name));
  CAFFE_ENFORCE(tensor != nullptr && tensor->IsShaped() && tensor->IsType<float>(), "blob \"", name,
                "\" of --boxes is ", BlobText(fetch(name)), ", want floats");
  return *tensor;
}

std::string ClassText(int64_t index, const OutputOptions& options) {
  const bool has_label = index >= 0 && index < static_cast<int64_t>(options.labels.size());
  return has_label ? OneLine(options.labels[static_cast<size_t>(index)])
                   : MakeString("class ", index);
}

// Whether BBoxTransform has put the boxes into coordinates of the net's input, which it does unless
// its argument apply_scale is 0. Follows the blob back through the net.
bool AreScaled(const NetDef& net, std::string boxes) {
  for (int i = net.op_size() - 1; i >= 0; --i) {
    const OperatorDef& op = net.op(i);
    if (std::find(op.output().begin(), op.output().end(), boxes) == op.output().end()) continue;
    if (op.type() == "BBoxTransform")
      return ArgumentHelper(op).GetSingleArgument<bool>("apply_scale", true);
    const int input = op.type() == kDetector ? 1 : 0;
    if (input >= op.input_size()) return false;
    boxes = op.input(input);
  }
  return false;
}

}  // namespace

BoxReport::BoxReport(const CommandLine& line, const NetDef& net) {
  if (line.Has("box-blobs")) {
    const std::string text = line.Text("box-blobs");
    blobs_ = absl::StrSplit(text, ',');
    if (!line.Has("boxes") || blobs_.size() != 3)
      throw UsageError("option --box-blobs is \"" + text +
                       "\", want SCORES,BOXES,CLASSES, with --boxes");
    are_scaled_ = AreScaled(net, blobs_[1]);
    return;
  }
  if (!line.Has("boxes")) return;
  for (const OperatorDef& op : net.op()) {
    if (op.type() == kDetector && op.output_size() >= 3)
      blobs_.assign(op.output().begin(), op.output().begin() + 3);
  }
  if (blobs_.empty())
    throw UsageError(MakeString("option --boxes is given, but the net has no operator ", kDetector,
                                "; want --box-blobs SCORES,BOXES,CLASSES"));
  are_scaled_ = AreScaled(net, blobs_[1]);
}

bool BoxReport::IsBoxBlob(const std::string& name) const {
  return std::find(blobs_.begin(), blobs_.end(), name) != blobs_.end();
}

std::vector<BoxReport::Detection> BoxReport::Read(const FetchBlob& fetch,
                                                  const OutputOptions& options) const {
  const Tensor &scores = FloatsOf(fetch, blobs_[0]), &boxes = FloatsOf(fetch, blobs_[1]),
               &classes = FloatsOf(fetch, blobs_[2]);
  const int64_t count = scores.numel();
  const int64_t numbers = count > 0 ? boxes.numel() / count : 4;
  CAFFE_ENFORCE(classes.numel() == count && boxes.numel() == count * numbers &&
                    (numbers == 4 || numbers == 5),
                "the blobs of --boxes have the shapes ", scores.sizes(), ", ", boxes.sizes(),
                " and ", classes.sizes(), ", want [N], [N, 4] and [N]");
  std::vector<Detection> detections(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    const float class_number = classes.data<float>()[i];
    const bool is_index = class_number >= 0 && class_number < 1e9f;  // false for NaN
    const float* const box = boxes.data<float>() + i * numbers;
    detections[static_cast<size_t>(i)] = {
        .score = scores.data<float>()[i],
        .class_index = is_index ? static_cast<int64_t>(class_number) : -1,
        .box = std::vector<float>(box, box + numbers)};
  }
  std::stable_sort(detections.begin(), detections.end(),
                   [](const Detection& a, const Detection& b) {
                     const bool a_nan = std::isnan(a.score), b_nan = std::isnan(b.score);
                     return a_nan || b_nan ? !a_nan && b_nan : a.score > b.score;
                   });
  if (options.top > 0 && static_cast<int64_t>(detections.size()) > options.top)
    detections.resize(static_cast<size_t>(options.top));
  return detections;
}

void BoxReport::Print(const FetchBlob& fetch, const OutputOptions& options) const {
  const std::vector<Detection> detections = Read(fetch, options);
  if (detections.empty()) {
    PrintParagraph("no boxes\n", 0);
    return;
  }
  const bool turned = detections[0].box.size() == 5;
  std::vector<Column> columns = {
      {"box", Column::kNumber}, {"score", Column::kNumber}, {"class", Column::kText}};
  const std::vector<const char*> titles =
      turned ? std::vector<const char*>{"x", "y", "width", "height", "degrees"}
             : std::vector<const char*>{"x1", "y1", "x2", "y2"};
  for (const char* title : titles) columns.push_back({title, Column::kNumber});
  Table table(std::move(columns));
  for (size_t i = 0; i < detections.size(); ++i) {
    std::vector<std::string> cells = {MakeString(i), FixedText(detections[i].score, 3),
                                      ClassText(detections[i].class_index, options)};
    for (const float number : detections[i].box) cells.push_back(FixedText(number, 1));
    table.Add(std::move(cells));
  }
  table.Print();
}

void BoxReport::Write(const FetchBlob& fetch, const OutputOptions& options, Json* json) const {
  Json& list = (*json)["boxes"] = Json::array();
  for (const Detection& detection : Read(fetch, options)) {
    Json& entry = list.emplace_back();
    entry = {{"score", JsonNumber(detection.score)}, {"class", detection.class_index}};
    if (!options.labels.empty()) entry["label"] = ClassText(detection.class_index, options);
    Json& box = entry["box"] = Json::array();
    for (const float number : detection.box) box.emplace_back(JsonNumber(number));
  }
}

void BoxReport::Draw(const FetchBlob& fetch, const OutputOptions& options, const CommandLine& line,
                     const std::string& path, float scale, const std::string& file) const {
  if (are_scaled_) scale = 1;
  const ImageReader reader(line);
  Image image = reader.Load(path);
  const Image input = ResizedAndCropped(image, reader.transform());
  const bool cropped = reader.transform().crop > 0 || reader.transform().crop_to.width > 0;
  const float x_scale =
      cropped ? scale : scale * static_cast<float>(image.width) / static_cast<float>(input.width);
  const float y_scale =
      cropped ? scale : scale * static_cast<float>(image.height) / static_cast<float>(input.height);
  if (cropped) image = input;
  const std::vector<Detection> detections = Read(fetch, options);
  // The highest score is drawn last, above the others.
  for (size_t i = detections.size(); i-- > 0;) {
    const std::vector<float>& box = detections[i].box;
    DrawnBox drawn = box.size() == 5 ? TurnedBox({box[0] * x_scale, box[1] * y_scale},
                                                 box[2] * x_scale, box[3] * y_scale, box[4])
                                     : UprightBox({box[0] * x_scale, box[1] * y_scale},
                                                  {box[2] * x_scale, box[3] * y_scale});
    drawn.color = detections[i].class_index;
    drawn.number = static_cast<int64_t>(i);
    DrawBox(drawn, &image);
  }
  SaveImage(file, image);
}

float ScaleOfImInfo(const Workspace& ws) {
  const std::shared_ptr<Blob> blob = ws.FindBlob("im_info");
  const Tensor* const info = blob == nullptr ? nullptr : FindTensor(*blob);
  if (info == nullptr || !info->IsShaped() || !info->IsType<float>() || info->numel() < 3 ||
      info->GetDeviceType() != CPU) {
    return 1;
  }
  const float scale = info->data<float>()[2];
  return scale > 0 && std::isfinite(scale) ? scale : 1;
}

}  // namespace caffe2rt
