// What cannot be imported, with the whole error, and what is accepted beside it: inputs, nets,
// weights.
#include <gtest/gtest.h>

#include "caffe2_core/import/caffe/caffe_import.h"
#include "caffe2_core/import/caffe/weights_file.h"
#include "tests/caffe2_core/import/caffe/imported_net.h"
#include "tests/caffe2_core/import/caffe/wire_text.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::import_refusals_test {
namespace {

std::string Input(const std::string& dims) {
  return "layer { name: 'x' type: 'Input' top: 'x' input_param { shape { dim: [" + dims +
         "] } } }\n";
}
const std::string kOpen = "layer { name: 'x' type: 'Input' top: 'x' }\n";
std::string Layer(const std::string& type, const std::string& more = "",
                  const std::string& ends = "bottom: 'x' top: 'y'") {
  return "layer { name: 'y' type: '" + type + "' " + ends + " " + more + " }";
}
std::string Blob(const std::string& dims, const std::string& data) {
  return "blobs { shape { dim: [" + dims + "] } data: [" + data + "] } ";
}
std::string Weights(const std::string& blobs) { return "layer { name: 'y' " + blobs + "} "; }

// The error of an import of the net "net" with the weights "w"; "" if there is none.
std::string Error(const std::string& net, const std::string& weights = "") try {
  (void)ImportCaffeFromMemory(net, weights, {.weights = "w"});
  return "";
} catch (const EnforceNotMet& error) {
  return error.message();
}

struct Refusal {
  std::string net;
  std::string weights;
  std::string message;  // behind: cannot import "net": line 2, column 1: layer "y" of type T:
};
void Check(const std::string& type, const std::vector<Refusal>& rows) {
  for (const Refusal& row : rows) {
    SCOPED_TRACE(row.net + row.weights);
    EXPECT_EQ(Error(row.net, row.weights),
              row.message.empty()
                  ? ""
                  : "cannot import \"net\": line 2, column 1: layer \"y\" of type " + type + ": " +
                        row.message);
  }
}

TEST(CaffeRefusalsTest, OfBlobs) {
  const std::string image = Input("1, 2, 1, 1");
  Check("BatchNorm", {{image + Layer("BatchNorm"), Weights(Blob("2", "1, 1") + Blob("2", "1, 1")),
                       "it has 2 blobs, want 3 (mean, variance, factor) or 5 (and scale, bias)"},
                      {image + Layer("BatchNorm"),
                       Weights(Blob("2", "1, 1") + Blob("2", "1, 1") + Blob("1", "1")), ""},
                      {image + Layer("BatchNorm"),
                       Weights(Blob("3", "1, 1, 1") + Blob("2", "1, 1") + Blob("1", "1")),
                       "blob 0 has shape [3], want 2 elements"}});
  Check("BN", {{image + Layer("BN"), Weights(Blob("2", "1, 1")),
                "it has 1 blob, want 2 (scale, bias) or 4 (and mean, variance)"},
               {image + Layer("BN"), Weights(Blob("2", "1, 1") + Blob("2", "1, 1")), ""}});
  Check("InnerProduct",
        {{kOpen + Layer("InnerProduct", "inner_product_param { num_output: 1 }"), "",
          "it needs the shape of its bottom or weights"},
         {kOpen + Layer("InnerProduct", "inner_product_param { num_output: 1 }"),
          Weights(Blob("1, 2", "1, 1") + Blob("1", "0")), ""},
         {Input("1, 2") + Layer("InnerProduct", "inner_product_param { num_output: 1 }"),
          Weights(Blob("1, 2", "1, 1")), "it has 1 blob in \"w\", want at least 2"},
         {Input("1, 2") +
              Layer("InnerProduct", "inner_product_param { num_output: 1 bias_term: false }"),
          Weights(Blob("1, 2", "1, 1") + Blob("1", "0")),
          "it has 2 blobs in \"w\", want 1 by its fields; give the weights of this net, or correct "
          "the layer"}});
  Check("Normalize", {{image + Layer("Normalize"), Weights(Blob("2", "1, 1")), ""},
                      {image + Layer("Normalize"), Weights(Blob("3", "1, 1, 1")),
                       "input 1 (B) has shape [3], which does not fit into input 0 (A) [1, 2, 1, "
                       "1] at axis 1: dim 1 "
                       "of A must equal dim 0 of B: got 2, want 3"}});
  Check("PReLU", {{kOpen + Layer("PReLU"), "",
                   "it needs the shape of its bottom, which the file does not tell, or weights; "
                   "give the shapes of "
                   "the inputs"},
                  {kOpen + Layer("PReLU"), Weights(Blob("2", "1, 1")), ""}});
  Check("Flatten", {{kOpen + Layer("Flatten", "flatten_param { axis: 2 }"), "",
                     "it needs the shape of blob \"x\", which the file does not tell; give the "
                     "shapes of the inputs"}});
  Check(
      "Deconvolution",
      {{image + Layer("Deconvolution",
                      "convolution_param { num_output: 1 kernel_h: 2 kernel_w: 3 weight_filler { "
                      "type: 'bilinear' } }"),
        "", "the filler bilinear wants a square kernel, got shape [2, 1, 2, 3]"},
       {Input("1, 2, 4, 4, 4") +
            Layer("Deconvolution",
                  "convolution_param { num_output: 1 kernel_size: 2 dilation: 2 }"),
        "", "dilation is for two axes, the layer has 3"},
       {image + Layer("Deconvolution",
                      "convolution_param { num_output: 1 kernel_size: 2 dilation: 20000 }"),
        "",
        "elements of the filter with zeros for its dilation: got 800080002, want at most "
        "268435456"},
       {image + Layer("Deconvolution",
                      "convolution_param { num_output: 2 kernel_size: 16000 weight_filler { type: "
                      "'bilinear' } }"),
        "", "elements of a bilinear filter: got 1024000000, want at most 268435456"}});
  Check(
      "Convolution",
      {{image + Layer("Convolution", "convolution_param { num_output: 1 kernel_size: 2147483648 }"),
        "", "kernel, stride, pad or dilation: got 2147483648, want at most 2147483647"},
       {image + Layer("Convolution",
                      "convolution_param { num_output: 1 kernel_size: 1 pad: 2147483648 }"),
        "", "kernel, stride, pad or dilation: got 2147483648, want at most 2147483647"}});
  Check("Pooling",
        {{Input("1, 1, 4, 4") + Layer("Pooling", "pooling_param { kernel_size: 6 }"), "",
          "the kernel of axis 2 is 6, want at most its size with pads on both sides, 4, or less "
          "than the stride more"},
         {Input("1, 1, 4, 4") +
              Layer("Pooling", "pooling_param { kernel_size: 7 pad: 1 round_mode: FLOOR }"),
          "", "the kernel of axis 2 is 7, want at most its size with pads on both sides, 6"},
         {Input("1, 1, 4, 4") +
              Layer("Pooling", "pooling_param { kernel_size: 6 pad: 1 round_mode: FLOOR }"),
          "", ""},
         {Input("1, 1, 4, 4") + Layer("Pooling", "pooling_param { kernel_size: 1 stride: 2 }"), "",
          "the last window of axis 2 lies outside its bottom of size 4, where Caffe gives "
          "-FLT_MAX; want a stride of "
          "at most 1"},
         {Input("1, 1, 5, 5") + Layer("Pooling", "pooling_param { kernel_size: 1 stride: 2 }"), "",
          ""}});
}

TEST(CaffeRefusalsTest, OfDetectorsAndRecurrence) {
  const std::string three = "bottom: 'x' bottom: 'x' bottom: 'x' top: 'y'";
  Check("DetectionOutput",
        {{Input("1, 4") + Layer("DetectionOutput", "detection_output_param { num_classes: 2 }"), "",
          "it has 1 bottom, want 3"},
         {Input("1, 4") + Layer("DetectionOutput", "", three), "",
          "detection_output_param wants num_classes"}});
  std::string scales, ratios;
  for (int i = 0; i < 64; ++i) scales += "scale: 1 ";
  for (int i = 0; i < 65; ++i) ratios += "ratio: 1 ";
  Check("Proposal",
        {{Input("1, 4, 1, 1") +
              Layer("Proposal", "proposal_param { " + scales + ratios + " }", three),
          "", "it has 4160 anchors, want 1 to 4096"},
         {Input("1, 4, 1, 1") + Layer("Proposal", "proposal_param { feat_stride: 0 }", three), "",
          "feat_stride is 0, want more than 0"}});
  Check("PriorBox", {{Input("1, 4, 1, 1") + Layer("PriorBox", "prior_box_param { min_size: 1 }"),
                      "", "it has 1 bottom, want at least 2"}});
  const std::string two = "bottom: 'x' bottom: 'x' top: 'y'",
                    four = two + " bottom: 'x' bottom: 'x'";
  Check("LSTM", {{Input("3, 2") + Layer("LSTM", "recurrent_param { num_output: 0 }", two), "",
                  "num_output is 0, want 1 to 268435456"},
                 {Input("3, 2") + Layer("LSTM", "recurrent_param { num_output: 1 }"), "",
                  "it has 1 bottom, want 2, or 3 with a static input"},
                 {Input("3, 2") + Layer("LSTM", "recurrent_param { num_output: 1 }", four), "",
                  "it has 4 bottoms, want 2, or 3 with a static input"},
                 {Input("3, 2") +
                      Layer("LSTM", "recurrent_param { num_output: 1 expose_hidden: true }", two),
                  "", "it has 2 bottoms, want 4, or 5 with a static input"},
                 {Input("3, 2, 1") +
                      Layer("LSTM", "recurrent_param { num_output: 1 expose_hidden: true }", four),
                  "", "it has 1 top, want at least 2"},
                 {Input("3") + Layer("LSTM", "recurrent_param { num_output: 1 }", two), "",
                  "a bottom has 1 axes, want at least 2"}});
  Check("RNN", {{Input("3, 2") +
                     Layer("RNN", "recurrent_param { num_output: 1 expose_hidden: true }", two),
                 "", "it has 2 bottoms, want 3, or 4 with a static input"}});
}

TEST(CaffeRefusalsTest, OfNets) {
  const std::string power = "layer { name: 'p' type: 'Power' ", cannot = "cannot import \"net\": ";
  const struct {
    std::string net, message;
  } rows[] = {
      {"name: 'n'", "file \"net\" is not a net of Caffe: it has no layers"},
      {Input("1"), cannot + "the net has no layers to run"},
      {Input("1") + power + "bottom: 'x' }",
       cannot + "line 2, column 1: layer \"p\" of type Power has no tops"},
      {Input("1") + power + "bottom: 'unlike' top: 'p' }",
       cannot + "line 2, column 1: layer \"p\" of type Power reads \"unlike\", which no layer "
                "before it writes"},
      {"layer { name: 'data' type: 'Input' top: 'data' input_param { shape { dim: 1 } } }\n" +
           power + "bottom: 'dta' top: 'p' }",
       cannot + "line 2, column 1: layer \"p\" of type Power reads \"dta\", which no layer before "
                "it writes; did you "
                "mean \"data\"?"},
      {"layers { name: 'a' type: POWER } layer { name: 'b' type: 'Power' }",
       cannot + "the net has fields layer and fields layers, want one of the two"},
      {"layers: 3", "line 1, column 1: field layers is \"3\", want a message in braces"},
      {Input("1") + power + "bottom: 'x' top: 'p' power_param: 3 }",
       cannot + "line 2, column 1: layer \"p\" of type Power: line 2, column 54: field power_param "
                "is \"3\", want a "
                "message in braces"},
      {Input("1") + power + "bottom: 'x' top: 'p' power_param { scale { a: 1 } } }",
       cannot + "line 2, column 1: layer \"p\" of type Power: line 2, column 68: field scale is a "
                "message, want a "
                "number"},
      {"layers { layer { name: 'p' type: 'padding' pad: 1 } bottom: 'x' bottom: 'x' top: 'p' }",
       cannot + "line 1, column 1: layer \"p\" of type padding wants one bottom and one top"},
      {"layers { layer { name: 'p' type: 'padding' pad: 1 } bottom: 'x' top: 'p' } "
       "layers { layer { name: 'r' type: 'relu' } bottom: 'p' top: 'r' }",
       cannot + "line 1, column 76: layer \"r\" of type ReLU reads a padding layer, want a conv or "
                "a pool"},
      {"net: 'train.prototxt'",
       "file \"net\" is a solver of Caffe, not a net; give the prototxt that it names "
       "(\"train.prototxt\")"},
      {"base_lr: 0.1",
       "file \"net\" is a solver of Caffe, not a net; give the prototxt that it names"},
      {"\x89HDF\r\n\x1a\n...",
       "file \"net\" is an HDF5 file, want a prototxt or a caffemodel; HDF5 files are read as "
       "weights only, and by their paths"},
      {Number(1, 70000) + Bytes(2, "w"),
       "file \"net\" has no layers: it is a solverstate of Caffe, or another kind of file; give "
       "the caffemodel of the "
       "same iteration"}};
  for (const auto& row : rows) EXPECT_EQ(Error(row.net), row.message) << row.net;
}

TEST(CaffeRefusalsTest, OfSharedParametersAndValues) {
  const std::string ip =
      "layer { name: 'a' type: 'InnerProduct' bottom: 'x' top: 'a' param { name: 's' } "
      "inner_product_param { num_output: 1 bias_term: false } } "
      "layer { name: 'y' type: 'InnerProduct' bottom: 'x' top: 'y' param { name: 's' } "
      "inner_product_param { num_output: 2 bias_term: false } }";
  EXPECT_EQ(Error(Input("1, 2") + ip),
            "cannot import \"net\": line 2, column 138: layer \"y\" of type InnerProduct: the "
            "shared parameter \"s\" "
            "has shape [1, 2], want [2, 2]");
  const std::string net =
      Input("1, 2") +
      Layer("InnerProduct", "inner_product_param { num_output: 1 bias_term: false }");
  const std::string head =
      "cannot import \"net\": line 2, column 1: layer \"y\" of type InnerProduct: ";
  EXPECT_EQ(Error(net, Weights("blobs { shape { dim: [1, 2] } data: 1 } ")),
            head + "file \"w\": a blob of 2 elements has 1 values");
  EXPECT_EQ(Error(net, Weights("blobs { shape { dim: [1, 2] } data: 1 data: 2 data: 3 } ")),
            head + "file \"w\": a blob of 2 elements has 3 values");
  // Doubles go before floats, also in text.
  const Tensor y =
      RunCaffeText(net, Weights("blobs { shape { dim: [1, 2] } data: 9 double_data: [2, 3] } "),
                   {{"x", Floats({1, 2}, {10, 100})}}, "y");
  EXPECT_EQ(Difference(y, Floats({1, 1}, {320})), 0);
  // In binary files.
  const auto binary = [](const std::string& blob) {
    return Bytes(100, Bytes(1, "y") + Bytes(7, blob));
  };
  EXPECT_EQ(Error(net, binary(Bytes(7, Bytes(1, Varint(1) + Varint(2))) + Bytes(5, Raw(1.0f)))),
            head + "file \"w\": a blob of shape [1, 2] has 1 values");
  std::string many;
  for (int i = 0; i < 33; ++i) many += Varint(1);
  EXPECT_EQ(Error(net, binary(Bytes(7, Bytes(1, many)) + Bytes(5, Raw(1.0f)))),
            "file \"w\": axes of a blob: got 33, want at most 32");
}

TEST(CaffeRefusalsTest, TextsNestToALimit) {
  const auto nested = [](int levels) {
    std::string text;
    for (int i = 0; i < levels; ++i) text += "a {";
    return text + std::string(static_cast<size_t>(levels), '}');
  };
  EXPECT_EQ(Error("layer { " + nested(63) + " name: 'x' type: 'Input' top: 'x' } " + Layer("ReLU")),
            "");
  EXPECT_NE(
      Error("layer { " + nested(64) + " }").find("messages are nested more than 64 levels deep"),
      std::string::npos);
}

// --- inputs ---

std::vector<std::string> InputsOf(const std::string& net, const CaffeImportOptions& options = {}) {
  std::vector<std::string> texts;
  for (const CaffeInput& input : ImportCaffeFromMemory(net, "", options).inputs)
    texts.push_back(MakeString(input.name, " ", input.dims));
  return texts;
}

TEST(CaffeInputsTest, HaveTheShapesOfTheirLayers) {
  using Lines = std::vector<std::string>;
  const auto sum = [](const std::string& layers) {
    return layers + " layer { name: 's' type: 'Eltwise' bottom: 'a' bottom: 'b' top: 's' }";
  };
  const std::string two = "top: 'a' top: 'b' ";
  EXPECT_EQ(
      InputsOf(sum("layer { type: 'Input' " + two + "input_param { shape { dim: [2, 3] } } }")),
      (Lines{"a [2, 3]", "b [2, 3]"}));
  EXPECT_EQ(InputsOf(sum("layer { type: 'Input' " + two +
                         "input_param { shape { dim: [2, 3] } shape { dim: [1, 3] } } }")),
            (Lines{"a [2, 3]", "b [1, 3]"}));
  EXPECT_EQ(InputsOf(sum(
                "input: 'a' input: 'b' input_shape { dim: [2, 3] } input_shape { dim: [1, 3] }")),
            (Lines{"a [2, 3]", "b [1, 3]"}));
  EXPECT_EQ(InputsOf(sum("input: 'a' input: 'b' input_dim: [2, 3, 1, 1, 1, 3, 1, 1]")),
            (Lines{"a [2, 3, 1, 1]", "b [1, 3, 1, 1]"}));
  EXPECT_EQ(InputsOf(sum("layer { type: 'DummyData' " + two +
                         "dummy_data_param { num: [2, 1] channels: 3 height: 4 "
                         "width: 5 } }")),
            (Lines{"a [2, 3, 4, 5]", "b [1, 3, 4, 5]"}));
  EXPECT_EQ(
      InputsOf(sum("layer { type: 'DummyData' " + two + "dummy_data_param { shape { dim: 3 } } }")),
      (Lines{"a [3]", "b [3]"}));
  EXPECT_EQ(InputsOf("layer { type: 'MemoryData' top: 'x' top: 'label' memory_data_param { "
                     "batch_size: 2 channels: 3 "
                     "height: 4 width: 5 } } " +
                     Layer("ReLU")),
            (Lines{"x [2, 3, 4, 5]"}));
  EXPECT_EQ(InputsOf("layer { type: 'MemoryData' top: 'x' memory_data_param { channels: 3 height: "
                     "4 width: 5 } } " +
                     Layer("ReLU")),
            (Lines{"x [1, 3, 4, 5]"}));
  EXPECT_EQ(InputsOf(kOpen + Layer("ReLU")), (Lines{"x []"}));
  // Stated shapes go before given ones, and both before those of the file.
  const std::string net = Input("2, 3") + Layer("ReLU");
  EXPECT_EQ(InputsOf(net, {.given_shapes = {{"x", {7}}, {"none", {1}}}}), (Lines{"x [7]"}));
  EXPECT_EQ(InputsOf(net, {.input_shapes = {{"x", {8}}}, .given_shapes = {{"x", {7}}}}),
            (Lines{"x [8]"}));
}

TEST(CaffeInputsTest, FirstTransformCounts) {
  const CaffeTransform transform =
      ImportCaffeFromMemory(
          "layer { type: 'Data' top: 'x' transform_param { scale: 0.25 mean_file: 'm' mirror: true "
          "crop_size: 5 } } "
          "layer { type: 'Data' top: 'z' transform_param { scale: 9 mean_value: 9 } } "
          "layer { name: 's' type: 'Eltwise' bottom: 'x' bottom: 'z' top: 's' }",
          "", {})
          .transform;
  EXPECT_EQ(transform.scale, 0.25f);
  EXPECT_EQ(transform.mean_file, "m");
  EXPECT_TRUE(transform.mirror);
  EXPECT_EQ(transform.crop_size, 5);
  EXPECT_TRUE(transform.mean_values.empty());
  const CaffeTransform none = ImportCaffeFromMemory(Input("1") + Layer("ReLU"), "", {}).transform;
  EXPECT_EQ(none.scale, 1);
  EXPECT_FALSE(none.mirror);
}

TEST(CaffeModelTest, NamesNetsAndNotesFills) {
  const std::string net =
      Input("1, 2") + Layer("InnerProduct", "inner_product_param { num_output: 1 }");
  const CaffeModel filled = ImportCaffeFromMemory("name: 'n' " + net, "", {});
  EXPECT_EQ(filled.init_net.name(), "n_init");
  EXPECT_EQ(filled.predict_net.name(), "n");
  EXPECT_EQ(filled.notes,
            std::vector<std::string>{
                "no weights are given: the layers are filled as they say for training"});
  const NetDef& predict = filled.predict_net;
  EXPECT_EQ(
      std::vector<std::string>(predict.external_input().begin(), predict.external_input().end()),
      (std::vector<std::string>{"x", "y_w", "y_b"}));
  EXPECT_EQ(
      std::vector<std::string>(predict.external_output().begin(), predict.external_output().end()),
      std::vector<std::string>{"y"});
  EXPECT_EQ(filled.init_net.external_output_size(), 2);
  EXPECT_EQ(predict.op(0).debug_info(), "y");
  const CaffeModel weighted =
      ImportCaffeFromMemory(net, Weights(Blob("1, 2", "1, 2") + Blob("1", "3")), {});
  EXPECT_TRUE(weighted.notes.empty());
  EXPECT_EQ(weighted.init_net.name(), "");
  EXPECT_EQ(weighted.fixed_size_layer, "");
  EXPECT_EQ(ImportCaffeFromMemory(Input("1, 1, 4, 4") + Layer("Upsample", "bottom: 'x'"), "", {})
                .fixed_size_layer,
            "y");
}

// A layer that is filled by itself, and the kinds of fillers.
TEST(CaffeModelTest, UpsamplingWithoutBlobsFillsItself) {
  const std::string up =
      "layer { name: 'y' type: 'Deconvolution' bottom: 'x' top: 'y' convolution_param { "
      "num_output: 1 "
      "kernel_size: 2 stride: 2 bias_term: false weight_filler { type: 'bilinear' } } }";
  // f = 1, c = (2 - 1 - 1) / 2 = 0: the weights 1 - |x| are 1 and 0.
  EXPECT_EQ(Difference(RunCaffeText(Input("1, 1, 1, 1") + up,
                                    "layer { name: 'other' " + Blob("1", "1") + "}",
                                    {{"x", Floats({1, 1, 1, 1}, {3})}}, "y"),
                       Floats({1, 1, 2, 2}, {3, 0, 0, 0})),
            0);
}

}  // namespace
}  // namespace caffe2rt::test::import_refusals_test
