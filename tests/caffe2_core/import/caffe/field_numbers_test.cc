// The numbers of fields and layer types in binary nets of the three generations: those of Caffe's
// caffe.proto, and of the fork of SSD.
#include "caffe2_core/import/caffe/field_numbers.h"

#include <absl/strings/str_split.h>
#include <gtest/gtest.h>

#include <memory>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/import/caffe/caffe_import.h"
#include "caffe2_core/import/caffe/layer_table.h"
#include "caffe2_core/import/caffe/text_reader.h"
#include "caffe2_core/import/caffe/upgrade.h"
#include "caffe2_core/import/caffe/weights_file.h"
#include "tests/caffe2_core/import/caffe/wire_text.h"

namespace caffe2rt::test::field_numbers_test {
namespace {

// The messages of a layer: the number in generation 2, that in generation 1 or 0, the name, and the
// fields: plain ones are integers, "f" floats, "t" text, "m" messages of a filler, "s" of a shape.
struct Message {
  int v2, v1;
  const char* name;
  const char* fields;
};
const Message kMessages[] = {
    {100, 36, "transform_param",
     "f1 scale,2 mirror,3 crop_size,t4 mean_file,f5 mean_value,6 force_color,7 force_gray"},
    {103, 23, "argmax_param", "1 out_max_val,2 top_k,3 axis"},
    {104, 9, "concat_param", "1 concat_dim,2 axis"},
    {106, 10, "convolution_param",
     "1 num_output,2 bias_term,3 pad,4 kernel_size,5 group,6 stride,m7 weight_filler,m8 "
     "bias_filler,9 pad_h,"
     "10 pad_w,11 kernel_h,12 kernel_w,13 stride_h,14 stride_w,15 engine,16 axis,18 dilation"},
    {107, 11, "data_param", "t1 source,f2 scale,t3 mean_file,4 batch_size,5 crop_size,6 mirror"},
    {108, 12, "dropout_param", "f1 dropout_ratio"},
    {109, 26, "dummy_data_param", "m1 data_filler,2 num,3 channels,4 height,5 width,s6 shape"},
    {110, 24, "eltwise_param", "1 operation,f2 coeff"},
    {111, 41, "exp_param", "f1 base,f2 scale,f3 shift"},
    {115, 15, "image_data_param", "t1 source,4 batch_size,9 new_height,10 new_width"},
    {117, 17, "inner_product_param",
     "1 num_output,2 bias_term,m3 weight_filler,m4 bias_filler,5 axis,6 transpose"},
    {118, 18, "lrn_param", "1 local_size,f2 alpha,f3 beta,4 norm_region,f5 k"},
    {119, 22, "memory_data_param", "1 batch_size,2 channels,3 height,4 width"},
    {120, 34, "mvn_param", "1 normalize_variance,2 across_channels,f3 eps"},
    {121, 19, "pooling_param",
     "1 pool,2 kernel_size,3 stride,4 pad,5 kernel_h,6 kernel_w,7 stride_h,8 stride_w,9 pad_h,10 "
     "pad_w,"
     "12 global_pooling,13 round_mode"},
    {122, 21, "power_param", "f1 power,f2 scale,f3 shift"},
    {123, 30, "relu_param", "f1 negative_slope"},
    {125, 39, "softmax_param", "2 axis"},
    {126, 31, "slice_param", "1 slice_dim,2 slice_point,3 axis"},
    {128, 25, "threshold_param", "f1 threshold"},
    {130, 0, "python_param", "t1 module,t2 layer,t3 param_str"},
    {131, 0, "prelu_param", "m1 filler,2 channel_shared"},
    {132, 0, "spp_param", "1 pyramid_height,2 pool"},
    {133, 0, "reshape_param", "s1 shape,2 axis,3 num_axes"},
    {134, 0, "log_param", "f1 base,f2 scale,f3 shift"},
    {135, 0, "flatten_param", "1 axis,2 end_axis"},
    {136, 0, "reduction_param", "1 operation,2 axis,f3 coeff"},
    {137, 0, "embed_param", "1 num_output,2 input_dim,3 bias_term,m4 weight_filler,m5 bias_filler"},
    {138, 0, "tile_param", "1 axis,2 tiles"},
    {139, 0, "batch_norm_param",
     "1 use_global_stats,f2 moving_average_fraction,f3 eps,7 scale_bias"},
    {140, 0, "elu_param", "f1 alpha"},
    {141, 0, "bias_param", "1 axis,2 num_axes,m3 filler"},
    {142, 0, "scale_param", "1 axis,2 num_axes,m3 filler,4 bias_term,m5 bias_filler"},
    {143, 0, "input_param", "s1 shape"},
    {144, 0, "crop_param", "1 axis,2 offset"},
    {145, 0, "parameter_param", "s1 shape"},
    {146, 0, "recurrent_param", "1 num_output,m2 weight_filler,m3 bias_filler,5 expose_hidden"},
    {147, 0, "swish_param", "f1 beta"},
    {148, 0, "clip_param", "f1 min,f2 max"},
    {202, 0, "permute_param", "1 order"},
    {203, 0, "prior_box_param",
     "f1 min_size,f2 max_size,f3 aspect_ratio,4 flip,5 clip,f6 variance,7 img_size,8 img_h,9 "
     "img_w,f10 step,"
     "f11 step_h,f12 step_w,f13 offset"},
    {204, 0, "detection_output_param",
     "1 num_classes,2 share_location,3 background_label_id,6 code_type,7 keep_top_k,8 "
     "variance_encoded_in_target,"
     "f9 confidence_threshold"},
    {206, 0, "norm_param", "1 across_spatial,m2 scale_filler,3 channel_shared,f4 eps"}};
const char kOldFields[] =
    "t1 name,t2 type,3 num_output,4 biasterm,m5 weight_filler,m6 bias_filler,7 pad,8 kernelsize,9 "
    "group,10 stride,"
    "11 pool,f12 dropout_ratio,13 local_size,f14 alpha,f15 beta,t16 source,f17 scale,t18 "
    "meanfile,19 batchsize,"
    "20 cropsize,21 mirror,f22 k,62 new_height,63 new_width,65 concat_dim";

struct Field {
  char kind;
  int number;
  std::string name;
};
std::vector<Field> FieldsOf(const char* text) {
  std::vector<Field> fields;
  for (const std::string& part : std::vector<std::string>(absl::StrSplit(text, ','))) {
    const std::pair<std::string, std::string> halves =
        absl::StrSplit(part, absl::MaxSplits(' ', 1));
    const bool letter = halves.first[0] >= 'a';
    fields.push_back({letter ? halves.first[0] : 'i',
                      std::stoi(halves.first.substr(letter ? 1 : 0)), halves.second});
  }
  return fields;
}

// Each field with a value by which it is known again: its number, or half of it.
std::string BinaryOf(const std::vector<Field>& fields) {
  std::string bytes;
  for (const Field& field : fields) {
    if (field.kind == 'i') bytes += Number(field.number, static_cast<uint64_t>(100 + field.number));
    if (field.kind == 'f') bytes += Float(field.number, static_cast<float>(field.number) + 0.5f);
    if (field.kind == 't') bytes += Bytes(field.number, field.name);
    if (field.kind == 'm') bytes += Bytes(field.number, Bytes(1, "xavier") + Float(2, 0.25f));
    if (field.kind == 's')
      bytes += Bytes(field.number, Number(1, 3) + Bytes(1, Varint(300) + Varint(2)));
  }
  return bytes;
}
void ExpectFields(const CaffeMessage& message, const std::vector<Field>& fields) {
  EXPECT_EQ(message.fields().size(), fields.size());
  for (const Field& field : fields) {
    SCOPED_TRACE(field.name);
    if (field.kind == 'i') EXPECT_EQ(message.Integer(field.name, 0), 100 + field.number);
    if (field.kind == 'f')
      EXPECT_EQ(message.Float(field.name, 0), static_cast<float>(field.number) + 0.5f);
    if (field.kind == 't') EXPECT_EQ(message.Text(field.name), field.name);
    if (field.kind == 'm') {
      EXPECT_EQ(message.Message(field.name).Text("type"), "xavier");
      EXPECT_EQ(message.Message(field.name).Float("value", 0), 0.25f);
    }
    if (field.kind == 's') {
      EXPECT_EQ(message.Message(field.name).Integers("dim"), (std::vector<int64_t>{3, 300, 2}));
    }
  }
}

class Net {
 public:
  explicit Net(std::string bytes)
      : bytes_(std::move(bytes)), file_(std::make_shared<MemoryInput>(bytes_), "net") {}
  const CaffeMessage& Layer(const char* field) const { return file_.net().Message(field); }
  const CaffeMessage& net() const { return file_.net(); }

 private:
  const std::string bytes_;
  const CaffeWeightsFile file_;
};

TEST(CaffeFieldNumbersTest, OfLayers) {
  for (const Message& message : kMessages) {
    SCOPED_TRACE(message.name);
    const std::vector<Field> fields = FieldsOf(message.fields);
    const Net v2(Bytes(100, Bytes(1, "n") + Bytes(message.v2, BinaryOf(fields))));
    ExpectFields(v2.Layer("layer").Message(message.name), fields);
    if (message.v1 == 0) continue;
    const Net v1(Bytes(2, Bytes(4, "n") + Bytes(message.v1, BinaryOf(fields))));
    ExpectFields(v1.Layer("layers").Message(message.name), fields);
  }
  const std::vector<Field> old = FieldsOf(kOldFields);
  const Net v0(Bytes(2, Bytes(1, BinaryOf(old))));
  ExpectFields(v0.Layer("layers").Message("layer"), old);
  const Net nms(
      Bytes(100, Bytes(204, Bytes(4, BinaryOf(FieldsOf("f1 nms_threshold,2 top_k,f3 eta"))))));
  ExpectFields(nms.Layer("layer").Message("detection_output_param").Message("nms_param"),
               FieldsOf("f1 nms_threshold,2 top_k,f3 eta"));
}

TEST(CaffeFieldNumbersTest, OfRulesAndNets) {
  const std::string rule =
      Number(1, 1) + Number(2, 2) + Number(3, 3) + Bytes(4, "s") + Bytes(5, "n");
  const auto expect_rule = [](const CaffeMessage& message) {
    EXPECT_EQ(message.Integer("phase", 0), 1);
    EXPECT_EQ(message.Integer("min_level", 0), 2);
    EXPECT_EQ(message.Integer("max_level", 0), 3);
    EXPECT_EQ(message.Text("stage"), "s");
    EXPECT_EQ(message.Text("not_stage"), "n");
  };
  const Net v2(Bytes(100, Bytes(3, "b") + Bytes(4, "t") + Bytes(6, Bytes(1, "shared")) +
                              Bytes(8, rule) + Bytes(9, rule)) +
               Bytes(1, "net") + Bytes(3, "in") + Number(4, 7) +
               Bytes(6, Number(1, 0) + Number(2, 4) + Bytes(3, "st")) + Bytes(8, Number(1, 5)));
  expect_rule(v2.Layer("layer").Message("include"));
  expect_rule(v2.Layer("layer").Message("exclude"));
  EXPECT_EQ(v2.Layer("layer").Message("param").Text("name"), "shared");
  EXPECT_EQ(v2.Layer("layer").Text("bottom"), "b");
  EXPECT_EQ(v2.Layer("layer").Text("top"), "t");
  EXPECT_EQ(v2.net().Text("name"), "net");
  EXPECT_EQ(v2.net().Text("input"), "in");
  EXPECT_EQ(v2.net().Integer("input_dim", 0), 7);
  EXPECT_EQ(v2.net().Message("input_shape").Integer("dim", 0), 5);
  const CaffeState state = StateOf(v2.net());
  EXPECT_TRUE(state.train);
  EXPECT_EQ(state.level, 4);
  EXPECT_EQ(state.stages, std::vector<std::string>{"st"});
  const Net v1(Bytes(2, Bytes(2, "b") + Bytes(3, "t") + Bytes(32, rule) + Bytes(33, rule) +
                            Bytes(1001, "shared")));
  expect_rule(v1.Layer("layers").Message("include"));
  expect_rule(v1.Layer("layers").Message("exclude"));
  EXPECT_EQ(v1.Layer("layers").Text("param"), "shared");
  EXPECT_EQ(v1.Layer("layers").Text("bottom"), "b");
}

TEST(CaffeFieldNumbersTest, NegativeAndPackedNumbers) {
  const Net net(Bytes(100, Bytes(135, Number(1, static_cast<uint64_t>(-2))) +
                               Bytes(110, Bytes(2, Raw(0.5f) + Raw(-2.0f)) + Float(2, 3))));
  EXPECT_EQ(net.Layer("layer").Message("flatten_param").Integer("axis", 0), -2);
  EXPECT_EQ(net.Layer("layer").Message("eltwise_param").Floats("coeff"),
            (std::vector<float>{0.5f, -2, 3}));
}

// --- types ---

TEST(CaffeFieldNumbersTest, TypesOfGenerationOne) {
  const struct {
    int number;
    const char *name, *type;
  } rows[] = {{1, "ACCURACY", "Accuracy"},
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
              {39, "DECONVOLUTION", "Deconvolution"}};
  for (const auto& row : rows) {
    EXPECT_EQ(CaffeV1TypeOfNumber(row.number), row.type);
    EXPECT_EQ(CaffeV1TypeOfName(row.name), row.type);
  }
  EXPECT_EQ(CaffeV1TypeOfNumber(0), "");
  EXPECT_EQ(CaffeV1TypeOfNumber(40), "");
  EXPECT_EQ(CaffeV1TypeOfName("NONE"), "");
}

CaffeNet Upgraded(const std::string& text) {
  return UpgradeCaffeNet(ParseCaffeText(text, "net"), {});
}

TEST(CaffeFieldNumbersTest, TypesOfGenerationZero) {
  const struct {
    const char *old, *type, *param;
  } rows[] = {{"accuracy", "Accuracy", ""},
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
              {"window_data", "WindowData", "window_data_param"}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.old);
    const CaffeNet net =
        Upgraded(MakeString("layers { layer { name: 'n' type: '", row.old,
                            "' num_output: 3 scale: 0.5 } bottom: 'b' top: 't' }"));
    ASSERT_EQ(net.layers.size(), 1u);
    EXPECT_EQ(net.layers[0].type, row.type);
    EXPECT_EQ(net.layers[0].name, "n");
    EXPECT_EQ(net.layers[0].bottoms, std::vector<std::string>{"b"});
    EXPECT_EQ(net.layers[0].tops, std::vector<std::string>{"t"});
    EXPECT_EQ(net.layers[0].fields.Message("transform_param").Float("scale", 0), 0.5f);
    if (row.param[0] != '\0') {
      EXPECT_EQ(net.layers[0].fields.Message(row.param).Integer("num_output", 0), 3);
    }
  }
}

TEST(CaffeFieldNumbersTest, FieldsOfGenerationZero) {
  const std::pair<const char*, const char*> names[] = {{"num_output", "num_output"},
                                                       {"biasterm", "bias_term"},
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
                                                       {"concat_dim", "concat_dim"}};
  for (const auto& [old, name] : names) {
    const CaffeNet net = Upgraded(MakeString("layers { layer { type: 'conv' ", old, ": 7 } }"));
    EXPECT_EQ(net.layers.at(0).fields.Message("convolution_param").Text(name), "7") << old;
  }
  const std::pair<const char*, const char*> transforms[] = {{"scale", "scale"},
                                                            {"meanfile", "mean_file"},
                                                            {"cropsize", "crop_size"},
                                                            {"mirror", "mirror"}};
  for (const auto& [old, name] : transforms) {
    const CaffeNet net = Upgraded(MakeString("layers { layer { type: 'data' ", old, ": 7 } }"));
    EXPECT_EQ(net.layers.at(0).fields.Message("transform_param").Text(name), "7") << old;
  }
  const CaffeNet filled = Upgraded(
      "layers { layer { type: 'conv' weight_filler { type: 'xavier' } bias_filler { value: 2 } } "
      "}");
  const CaffeMessage& param = filled.layers.at(0).fields.Message("convolution_param");
  EXPECT_EQ(param.Message("weight_filler").Text("type"), "xavier");
  EXPECT_EQ(param.Message("bias_filler").Integer("value", 0), 2);
}

// --- kinds ---

TEST(CaffeFieldNumbersTest, KindsOfLayers) {
  using enum CaffeLayerKind;
  for (const char* type :
       {"AnnotatedData", "Data", "HDF5Data", "ImageData", "MemoryData", "VideoData", "WindowData"})
    EXPECT_EQ(FindCaffeLayer(type)->kind, kData) << type;
  for (const char* type : {"Input", "DummyData"})
    EXPECT_EQ(FindCaffeLayer(type)->kind, kInput) << type;
  for (const char* type : {"Accuracy", "BoxAnnotatorOHEM", "DetectionEvaluate", "HDF5Output",
                           "Silence", "SoftmaxWithLoss", "SoftmaxWithLossOHEM", "SmoothL1LossOHEM",
                           "SmoothL1Loss", "EuclideanLoss", "MultiBoxLoss", "OfAForkLoss"})
    EXPECT_EQ(FindCaffeLayer(type)->kind, kDropped) << type;
  for (const char* type : {"Correlation", "FlowWarp", "MultiStageMeanfield", "Region", "Resample",
                           "Filter", "Im2col", "Local", "LocalConvolution", "HoleConvolution",
                           "YoloDetectionOutput", "Yolov3DetectionOutput"}) {
    EXPECT_EQ(FindCaffeLayer(type)->kind, kRefused) << type;
    EXPECT_FALSE(FindCaffeLayer(type)->remedy.empty()) << type;
  }
  EXPECT_EQ(FindCaffeLayer("Losses"), nullptr);
  EXPECT_EQ(FindCaffeLayer(""), nullptr);
}

TEST(CaffeFieldNumbersTest, LayersThatNeedBlobs) {
  const auto needs = [](const std::string& layer) {
    return NeedsCaffeBlobs(Upgraded("layer { " + layer + " }").layers.at(0));
  };
  for (const char* type : {"BN", "BatchNorm", "BatchNormScale", "CuDNNBatchNorm", "Convolution",
                           "Deconvolution", "ConvolutionDepthwise", "DepthwiseConvolution", "Embed",
                           "InnerProduct", "LSTM", "PReLU", "Parameter", "RNN"})
    EXPECT_TRUE(needs(MakeString("type: '", type, "' bottom: 'x'"))) << type;
  for (const char* type : {"ReLU", "Normalize", "Pooling", "LRN"})
    EXPECT_FALSE(needs(MakeString("type: '", type, "' bottom: 'x'"))) << type;
  for (const char* type : {"Scale", "Bias"}) {
    EXPECT_TRUE(needs(MakeString("type: '", type, "' bottom: 'x'")));
    EXPECT_FALSE(needs(MakeString("type: '", type, "' bottom: 'x' bottom: 'y'")));
  }
  EXPECT_FALSE(
      needs("type: 'Deconvolution' convolution_param { weight_filler { type: 'bilinear' } }"));
  EXPECT_TRUE(
      needs("type: 'Deconvolution' convolution_param { weight_filler { type: 'xavier' } }"));
  EXPECT_FALSE(needs("type: 'BatchNorm' batch_norm_param { use_global_stats: false }"));
  EXPECT_TRUE(needs("type: 'BatchNorm' batch_norm_param { use_global_stats: true }"));
}

}  // namespace
}  // namespace caffe2rt::test::field_numbers_test
