#include "caffe2_core/import/caffe/field_numbers.h"

#include <absl/strings/str_split.h>

#include <map>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/text.h"

namespace caffe2rt {
namespace {

// A row: the message, then `name=number` with the type behind a colon: none for an integer, a bool or
// an enum, f for a float, s for text, b for a blob, or the name of a message.
constexpr const char* kMessages[] = {
    "Net name=1:s layers=2:V1Layer input=3:s input_dim=4 force_backward=5 state=6:State "
    "debug_info=7"
    " input_shape=8:Shape layer=100:Layer",
    "Shape dim=1",
    "State phase=1 level=2 stage=3:s",
    "Rule phase=1 min_level=2 max_level=3 stage=4:s not_stage=5:s",
    "Param name=1:s share_mode=2 lr_mult=3:f decay_mult=4:f",
    "Filler type=1:s value=2:f min=3:f max=4:f mean=5:f std=6:f sparse=7 variance_norm=8",
    "Layer name=1:s type=2:s bottom=3:s top=4:s loss_weight=5:f param=6:Param blobs=7:b"
    " include=8:Rule exclude=9:Rule phase=10 propagate_down=11 transform_param=100:Transform"
    " argmax_param=103:ArgMax concat_param=104:Concat convolution_param=106:Convolution"
    " data_param=107:Data dropout_param=108:Dropout dummy_data_param=109:DummyData"
    " eltwise_param=110:Eltwise exp_param=111:Exp image_data_param=115:ImageData"
    " inner_product_param=117:InnerProduct lrn_param=118:LRN memory_data_param=119:MemoryData"
    " mvn_param=120:MVN pooling_param=121:Pooling power_param=122:Power relu_param=123:ReLU"
    " softmax_param=125:Softmax slice_param=126:Slice threshold_param=128:Threshold"
    " python_param=130:Python prelu_param=131:PReLU spp_param=132:SPP reshape_param=133:Reshape"
    " log_param=134:Exp flatten_param=135:Flatten reduction_param=136:Reduction"
    " embed_param=137:Embed tile_param=138:Tile batch_norm_param=139:BatchNorm elu_param=140:ELU"
    " bias_param=141:Bias scale_param=142:Scale input_param=143:Input crop_param=144:Crop"
    " parameter_param=145:Parameter recurrent_param=146:Recurrent swish_param=147:Swish"
    " clip_param=148:Clip permute_param=202:Permute prior_box_param=203:PriorBox"
    " detection_output_param=204:DetectionOutput norm_param=206:Normalize",
    "V1Layer layer=1:V0Layer bottom=2:s top=3:s name=4:s type=5 blobs=6:b blobs_lr=7:f"
    " weight_decay=8:f concat_param=9:Concat convolution_param=10:Convolution data_param=11:Data"
    " dropout_param=12:Dropout image_data_param=15:ImageData inner_product_param=17:InnerProduct"
    " lrn_param=18:LRN pooling_param=19:Pooling power_param=21:Power "
    "memory_data_param=22:MemoryData"
    " argmax_param=23:ArgMax eltwise_param=24:Eltwise threshold_param=25:Threshold"
    " dummy_data_param=26:DummyData relu_param=30:ReLU slice_param=31:Slice include=32:Rule"
    " exclude=33:Rule mvn_param=34:MVN loss_weight=35:f transform_param=36:Transform"
    " softmax_param=39:Softmax exp_param=41:Exp param=1001:s blob_share_mode=1002",
    "V0Layer name=1:s type=2:s num_output=3 biasterm=4 weight_filler=5:Filler bias_filler=6:Filler"
    " pad=7 kernelsize=8 group=9 stride=10 pool=11 dropout_ratio=12:f local_size=13 alpha=14:f"
    " beta=15:f source=16:s scale=17:f meanfile=18:s batchsize=19 cropsize=20 mirror=21 k=22:f"
    " blobs=50:b blobs_lr=51:f weight_decay=52:f new_num=60 new_channels=61 new_height=62"
    " new_width=63 concat_dim=65",
    "Transform scale=1:f mirror=2 crop_size=3 mean_file=4:s mean_value=5:f force_color=6"
    " force_gray=7",
    "ArgMax out_max_val=1 top_k=2 axis=3",
    "Concat concat_dim=1 axis=2",
    "Convolution num_output=1 bias_term=2 pad=3 kernel_size=4 group=5 stride=6"
    " weight_filler=7:Filler bias_filler=8:Filler pad_h=9 pad_w=10 kernel_h=11 kernel_w=12"
    " stride_h=13 stride_w=14 engine=15 axis=16 force_nd_im2col=17 dilation=18",
    "Data source=1:s scale=2:f mean_file=3:s batch_size=4 crop_size=5 mirror=6 backend=8",
    "ImageData source=1:s scale=2:f mean_file=3:s batch_size=4 crop_size=5 mirror=6 new_height=9"
    " new_width=10 is_color=11",
    "Dropout dropout_ratio=1:f",
    "DummyData data_filler=1:Filler num=2 channels=3 height=4 width=5 shape=6:Shape",
    "Eltwise operation=1 coeff=2:f stable_prod_grad=3",
    "Exp base=1:f scale=2:f shift=3:f",
    "InnerProduct num_output=1 bias_term=2 weight_filler=3:Filler bias_filler=4:Filler axis=5"
    " transpose=6",
    "LRN local_size=1 alpha=2:f beta=3:f norm_region=4 k=5:f engine=6",
    "MemoryData batch_size=1 channels=2 height=3 width=4",
    "MVN normalize_variance=1 across_channels=2 eps=3:f",
    "Pooling pool=1 kernel_size=2 stride=3 pad=4 kernel_h=5 kernel_w=6 stride_h=7 stride_w=8"
    " pad_h=9 pad_w=10 engine=11 global_pooling=12 round_mode=13",
    "Power power=1:f scale=2:f shift=3:f",
    "ReLU negative_slope=1:f engine=2",
    "Softmax engine=1 axis=2",
    "Slice slice_dim=1 slice_point=2 axis=3",
    "Threshold threshold=1:f",
    "Python module=1:s layer=2:s param_str=3:s",
    "PReLU filler=1:Filler channel_shared=2",
    "SPP pyramid_height=1 pool=2",
    "Reshape shape=1:Shape axis=2 num_axes=3",
    "Flatten axis=1 end_axis=2",
    "Reduction operation=1 axis=2 coeff=3:f",
    "Embed num_output=1 input_dim=2 bias_term=3 weight_filler=4:Filler bias_filler=5:Filler",
    "Tile axis=1 tiles=2",
    "BatchNorm use_global_stats=1 moving_average_fraction=2:f eps=3:f scale_bias=7",
    "ELU alpha=1:f",
    "Bias axis=1 num_axes=2 filler=3:Filler",
    "Scale axis=1 num_axes=2 filler=3:Filler bias_term=4 bias_filler=5:Filler",
    "Input shape=1:Shape",
    "Crop axis=1 offset=2",
    "Parameter shape=1:Shape",
    "Recurrent num_output=1 weight_filler=2:Filler bias_filler=3:Filler debug_info=4"
    " expose_hidden=5",
    "Swish beta=1:f",
    "Clip min=1:f max=2:f",
    "Permute order=1",
    "PriorBox min_size=1:f max_size=2:f aspect_ratio=3:f flip=4 clip=5 variance=6:f img_size=7"
    " img_h=8 img_w=9 step=10:f step_h=11:f step_w=12:f offset=13:f",
    "DetectionOutput num_classes=1 share_location=2 background_label_id=3 nms_param=4:NMS"
    " code_type=6 keep_top_k=7 confidence_threshold=9:f variance_encoded_in_target=8",
    "NMS nms_threshold=1:f top_k=2 eta=3:f",
    "Normalize across_spatial=1 scale_filler=2:Filler channel_shared=3 eps=4:f",
};

struct V1Type {
  int number;
  const char* name;
  const char* type;
};
constexpr V1Type kV1Types[] = {
    {1, "ACCURACY", "Accuracy"},
    {2, "BNLL", "BNLL"},
    {3, "CONCAT", "Concat"},
    {4, "CONVOLUTION", "Convolution"},
    {5, "DATA", "Data"},
    {6, "DROPOUT", "Dropout"},
    {7, "EUCLIDEAN_LOSS", "EuclideanLoss"},
    {8, "FLATTEN", "Flatten"},
    {9, "HDF5_DATA", "HDF5Data"},
    {10, "HDF5_OUTPUT", "HDF5Output"},
    {11, "IM2COL", "Im2col"},
    {12, "IMAGE_DATA", "ImageData"},
    {13, "INFOGAIN_LOSS", "InfogainLoss"},
    {14, "INNER_PRODUCT", "InnerProduct"},
    {15, "LRN", "LRN"},
    {16, "MULTINOMIAL_LOGISTIC_LOSS", "MultinomialLogisticLoss"},
    {17, "POOLING", "Pooling"},
    {18, "RELU", "ReLU"},
    {19, "SIGMOID", "Sigmoid"},
    {20, "SOFTMAX", "Softmax"},
    {21, "SOFTMAX_LOSS", "SoftmaxWithLoss"},
    {22, "SPLIT", "Split"},
    {23, "TANH", "TanH"},
    {24, "WINDOW_DATA", "WindowData"},
    {25, "ELTWISE", "Eltwise"},
    {26, "POWER", "Power"},
    {27, "SIGMOID_CROSS_ENTROPY_LOSS", "SigmoidCrossEntropyLoss"},
    {28, "HINGE_LOSS", "HingeLoss"},
    {29, "MEMORY_DATA", "MemoryData"},
    {30, "ARGMAX", "ArgMax"},
    {31, "THRESHOLD", "Threshold"},
    {32, "DUMMY_DATA", "DummyData"},
    {33, "SLICE", "Slice"},
    {34, "MVN", "MVN"},
    {35, "ABSVAL", "AbsVal"},
    {36, "SILENCE", "Silence"},
    {37, "CONTRASTIVE_LOSS", "ContrastiveLoss"},
    {38, "EXP", "Exp"},
    {39, "DECONVOLUTION", "Deconvolution"},
};

using Fields = std::map<uint32_t, CaffeFieldType>;

CaffeFieldType TypeOf(std::string name, std::string_view type) {
  using enum CaffeFieldType::Kind;
  if (type.empty()) return {.kind = kNumber, .name = std::move(name)};
  if (type == "f") return {.kind = kFloat, .name = std::move(name)};
  if (type == "s") return {.kind = kText, .name = std::move(name)};
  if (type == "b") return {.kind = kBlob, .name = std::move(name)};
  return {.kind = kMessage, .name = std::move(name), .message = std::string(type)};
}

std::map<std::string, Fields> ParseTable() {
  std::map<std::string, Fields> messages;
  for (const char* row : kMessages) {
    const std::vector<std::string> words = absl::StrSplit(row, ' ');
    Fields& fields = messages[words[0]];
    for (size_t i = 1; i < words.size(); ++i) {
      const std::pair<std::string, std::string> halves = absl::StrSplit(words[i], '=');
      const std::pair<std::string, std::string> number_and_type =
          absl::StrSplit(halves.second, absl::MaxSplits(':', 1));
      uint32_t number = 0;
      CAFFE_ENFORCE(ParseNumber(number_and_type.first, &number), "row \"", row, "\"");
      fields[number] = TypeOf(halves.first, number_and_type.second);
    }
  }
  return messages;
}

}  // namespace

const CaffeFieldType* FindCaffeField(const std::string& message, uint32_t number) {
  static const std::map<std::string, Fields> messages = ParseTable();
  const auto fields = messages.find(message);
  if (fields == messages.end()) return nullptr;
  const auto field = fields->second.find(number);
  return field == fields->second.end() ? nullptr : &field->second;
}

std::string_view CaffeV1TypeOfNumber(int64_t number) {
  for (const V1Type& row : kV1Types) {
    if (row.number == number) return row.type;
  }
  return "";
}

std::string_view CaffeV1TypeOfName(std::string_view name) {
  for (const V1Type& row : kV1Types) {
    if (row.name == name) return row.type;
  }
  return "";
}

}  // namespace caffe2rt
