// Fields with rare values: negative shifts and odd bases, one field for both axes beside one for an axis, numbers in
// texts of Python, shapes of several tops, escapes, statistics and means of other shapes.
#include <gtest/gtest.h>

#include <cmath>

#include "caffe2_core/import/caffe/text_reader.h"
#include "caffe2_core/import/caffe/weights_file.h"
#include "caffe2_core/io/atomic_file.h"
#include "tests/caffe2_core/import/caffe/imported_net.h"
#include "tests/caffe2_core/import/caffe/wire_text.h"
#include "tests/support/operator_test.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::field_values_test {
namespace {

// --- functions of one element ---

TEST(CaffeFieldValuesTest, ShiftsScalesAndBasesMayHaveAnySign) {
  const struct {
    const char* type;
    const char* param;
    float x;
    double want;
  } rows[] = {
      {"Power", "power_param { shift: -3 }", 5, 2},
      {"Power", "power_param { scale: -2 shift: -1 }", 5, -11},
      {"Power", "power_param { scale: 0 shift: -1 }", 5, -1},
      {"Power", "power_param { scale: 0 }", 5, 0},
      {"Power", "power_param { scale: -2 }", 5, -10},
      {"Power", "power_param { power: 2 shift: -7 }", 5, 4},
      {"Power", "power_param { power: 2 scale: -1 shift: -1 }", 5, 36},
      {"Power", "power_param { power: -1 scale: 2 }", 5, 0.1},
      {"Power", "power_param { power: 0 }", 5, 1},
      {"Exp", "exp_param { shift: -5 }", 5, 1},
      {"Exp", "exp_param { scale: -1 shift: 5 }", 5, 1},
      {"Exp", "exp_param { base: 2 shift: -1 }", 5, 16},
      {"Exp", "exp_param { base: 0.5 }", 5, 1.0 / 32},
      {"Exp", "exp_param { base: 2 scale: -1 }", 5, 1.0 / 32},
      {"Exp", "exp_param { base: 1 }", 5, 1},
      {"Exp", "exp_param { base: -1 shift: -4 }", 5, std::exp(1.0)},
      {"Log", "log_param { shift: -4 }", 5, 0},
      {"Log", "log_param { scale: -2 shift: 11 }", 5, 0},
      {"Log", "log_param { base: 2 shift: 3 }", 5, 3},
      {"Log", "log_param { base: 0.5 shift: 3 }", 5, -3},
      {"Log", "log_param { base: 10 scale: 20 }", 5, 2},
      {"Threshold", "", 0, 0},
      {"Threshold", "", 0.125f, 1},
      {"Threshold", "threshold_param { threshold: -2 }", -2, 0},
      {"Threshold", "threshold_param { threshold: -2 }", -1, 1},
      {"ReLU", "relu_param { negative_slope: -1 }", -3, 3},
      {"ELU", "elu_param { alpha: 0 }", -3, 0},
      {"Swish", "swish_param { beta: 0 }", 6, 3},
      {"Swish", "swish_param { beta: -1 }", 6, 6 / (1 + std::exp(6.0))},
      {"PReLU", "prelu_param { filler { value: -2 } }", -3, 6},
      {"Clip", "clip_param { min: -9 max: -4 }", 5, -4},
      {"Reduction", "reduction_param { coeff: -2 }", 5, -10},
      {"Reduction", "reduction_param { operation: SUMSQ coeff: 0 }", 5, 0},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(std::string(row.type) + " " + row.param);
    const std::string net = Input("x", "1, 1") + Layer(row.type, row.param);
    // The values of fillers, which count without weights.
    const bool filled = row.param[0] == 'p' && row.param[1] == 'r';
    Workspace ws;
    RunImported(ImportCaffeFromMemory(net, filled ? "" : kNoWeights, {}),
                {{"x", Floats({1, 1}, {row.x})}}, &ws);
    const Tensor& y = ws.GetBlob("y")->Get<Tensor>();
    ASSERT_EQ(y.numel(), 1);
    EXPECT_NEAR(*y.data<float>(), row.want, 1e-5);
  }
}

// --- windows ---

TEST(CaffeFieldValuesTest, AFieldForBothAxesCountsWhereTheAxisHasNone) {
  const auto list = [](const std::string& param, const char* name) {
    const CaffeModel model = ImportCaffeFromMemory(
        Input("x", "1, 1, 9, 9") +
            Layer("Convolution", "convolution_param { num_output: 1 " + param + " }"),
        "", {});
    return ArgumentHelper(model.predict_net.op(0)).GetRepeatedArgument<int64_t>(name);
  };
  using List = std::vector<int64_t>;
  const std::string k = "kernel_size: 3 ";
  EXPECT_EQ(list("kernel_size: 3 kernel_h: 2", "kernels"), (List{2, 3}));
  EXPECT_EQ(list("kernel_size: 3 kernel_w: 2", "kernels"), (List{3, 2}));
  EXPECT_EQ(list("kernel_size: [3, 4] kernel_w: 2", "kernels"), (List{3, 2}));
  EXPECT_EQ(list("kernel_size: [3, 4]", "kernels"), (List{3, 4}));
  EXPECT_EQ(list(k + "pad: 2 pad_h: 1", "pads"), (List{1, 2, 1, 2}));
  EXPECT_EQ(list(k + "pad: 2 pad_w: 1", "pads"), (List{2, 1, 2, 1}));
  EXPECT_EQ(list(k + "pad_h: 1", "pads"), (List{1, 0, 1, 0}));
  EXPECT_EQ(list(k + "pad_w: 1", "pads"), (List{0, 1, 0, 1}));
  EXPECT_EQ(list(k + "pad: 1", "pads"), (List{1, 1, 1, 1}));
  EXPECT_EQ(list(k + "stride: 3 stride_h: 2", "strides"), (List{2, 3}));
  EXPECT_EQ(list(k + "stride: 3 stride_w: 2", "strides"), (List{3, 2}));
  EXPECT_EQ(list(k + "stride_w: 2", "strides"), (List{1, 2}));
  EXPECT_EQ(list(k + "stride_h: 2", "strides"), (List{2, 1}));
  EXPECT_EQ(list(k + "dilation: [1, 2]", "dilations"), (List{1, 2}));
  EXPECT_EQ(list(k + "dilation: 2", "dilations"), (List{2, 2}));
}

TEST(CaffeFieldValuesTest, SizesThatAFactorShrinksCountTheFirstPixelOfEachGroup) {
  const auto size = [](int pixels, const std::string& param) {
    const CaffeModel model = ImportCaffeFromMemory(
        Input("x", MakeString("1, 1, ", pixels, ", ", pixels)) +
            Layer("Interp", "interp_param { " + param + " }") +
            "layer { name: 'z' type: 'InnerProduct' bottom: 'y' top: 'z' inner_product_param { "
            "num_output: 1 axis: 3 } }",
        "", {});
    return ArgumentHelper(model.init_net.op(0)).GetRepeatedArgument<int64_t>("shape").at(1);
  };
  EXPECT_EQ(size(5, "shrink_factor: 2"), 3);
  EXPECT_EQ(size(6, "shrink_factor: 2"), 3);
  EXPECT_EQ(size(7, "shrink_factor: 2"), 4);
  EXPECT_EQ(size(6, "shrink_factor: 3"), 2);
  EXPECT_EQ(size(7, "shrink_factor: 3"), 3);
  EXPECT_EQ(size(5, "shrink_factor: 1"), 5);
  EXPECT_EQ(size(5, "shrink_factor: 9"), 1);
  EXPECT_EQ(size(5, "zoom_factor: 1"), 5);
  EXPECT_EQ(size(5, "zoom_factor: 3"), 13);
  // 4 pixels and 2 between two of them.
  EXPECT_EQ(size(8, "shrink_factor: 2 zoom_factor: 3"), 10);
  EXPECT_EQ(size(8, "height: 3 width: 11"), 11);
  // A factor goes before sizes; pixels at the border are cropped first.
  EXPECT_EQ(size(8, "shrink_factor: 2 height: 3 width: 11"), 4);
  EXPECT_EQ(size(8, "pad_beg: -1 pad_end: -2 zoom_factor: 1"), 5);
  EXPECT_EQ(size(8, "pad_end: -2 zoom_factor: 2"), 11);
}

// --- texts ---

TEST(CaffeFieldValuesTest, TextsOfPythonHaveNumbersOfAllSpellings) {
  const auto anchors = [](const std::string& text) {
    const CaffeModel model = ImportCaffeFromMemory(
        Input("c", "1, 4, 2, 2") + Input("d", "1, 8, 2, 2") + Input("i", "1, 3") +
            "layer { name: 'y' bottom: 'c' bottom: 'd' bottom: 'i' top: 'y' type: 'Python' "
            "python_param { module: 'rpn.proposal_layer' layer: 'ProposalLayer' param_str: \"" +
            text + "\" } }",
        "", {});
    std::vector<float> numbers;
    for (const OperatorDef& op : model.predict_net.op()) {
      if (op.type() == "GenerateProposals")
        numbers.push_back(1 / ArgumentHelper(op).GetSingleArgument<float>("spatial_scale", 0));
    }
    const Tensor& values = model.weights.at(0).values;
    numbers.insert(numbers.end(), values.data<float>(), values.data<float>() + values.numel());
    return numbers;
  };
  // Squares of 128 and 256 around 7.5.
  const std::vector<float> want = {32, -56, -56, 71, 71, -120, -120, 135, 135};
  for (const char* text : {"'feat_stride': 32, 'scales': [8, 16], 'ratios': [1]",
                           "feat_stride: 3.2e1\\nscales: [8e0, 1.6e1]\\nratios: [10e-1]",
                           "scales: [8 16]\\nfeat_stride:32\\nratios: 1",
                           "{'ratios': (1,), 'scales': (8., 16.), 'feat_stride': 32}",
                           "feat_stride:\\t32\\nratios: \\t[ 1 ]\\nscales: [ 8,16",
                           "scales : [8, 16], ratios : [1.0e0], feat_stride : 32.0"}) {
    EXPECT_EQ(anchors(text), want) << text;
  }
  // Without a number the defaults count.
  const std::vector<float> usual = {16, -56, -56, 71, 71, -120, -120, 135, 135};
  for (const char* text : {"scales: [8, 16]\\nratios: [1]\\nfeat_stride",
                           "scales: [8, 16]\\nratios: [1]\\nfeat_stride:",
                           "scales: [8, 16]\\nratios: [1]\\nfeat_stride: none"}) {
    EXPECT_EQ(anchors(text), usual) << text;
  }
}

TEST(CaffeFieldValuesTest, EscapesAreThoseOfC) {
  const CaffeMessage net = ParseCaffeText(
      R"(a: "\a\b\f\v\n\t\r\\\'\"\?\q" b: '"' c: "'" d: "\x" e: "\377" f: "\1234" g: '\'')", "net");
  EXPECT_EQ(net.Text("a"), "\a\b\f\v\n\t\r\\'\"?q");
  EXPECT_EQ(net.Text("b"), "\"");
  EXPECT_EQ(net.Text("c"), "'");
  EXPECT_EQ(net.Text("d"), std::string(1, '\0'));
  EXPECT_EQ(net.Text("e"), "\xff");
  EXPECT_EQ(net.Text("f"), "S4");
  EXPECT_EQ(net.Text("g"), "'");
  ExpectThrows([] { (void)ParseCaffeText("a: 'x\\", "net"); },
               "cannot read \"net\": line 1, column 4: a string without a closing '");
}

TEST(CaffeFieldValuesTest, SignsMayStandApartFromTheirNumbers) {
  const CaffeMessage net =
      ParseCaffeText("a: - 5 b: - .5 c: -\n7 d: -inf e: inf f: -INF g: +3", "net");
  EXPECT_EQ(net.Integer("a", 0), -5);
  EXPECT_EQ(net.Float("b", 0), -0.5f);
  EXPECT_EQ(net.Integer("c", 0), -7);
  EXPECT_EQ(net.Float("d", 0), -INFINITY);
  EXPECT_EQ(net.Float("e", 0), INFINITY);
  ExpectThrows([] { (void)ParseCaffeText("a: - 'x'", "net").Integer("a", 0); },
               "line 1, column 6: got \"x\", want the name of a field");
  for (const char* wrong : {"--5", "-", "5-", "0x", "-0x", "0x-5", "1.5", "1e16", "''"}) {
    ExpectThrows([&] { (void)ParseCaffeText(MakeString("a: ", wrong), "net").Integer("a", 0); },
                 "want an integer");
  }
  // The largest number with a fraction of 0 that is taken.
  EXPECT_EQ(ParseCaffeText("a: 999999999999999.0", "net").Integer("a", 0), 999999999999999);
  EXPECT_EQ(ParseCaffeText("a: -9223372036854775807", "net").Integer("a", 0), -INT64_MAX);
}

// --- inputs ---

TEST(CaffeFieldValuesTest, TopsBehindTheLastShapeHaveIt) {
  const auto shapes = [](const std::string& layer) {
    std::string text;
    for (const CaffeInput& input :
         ImportCaffeFromMemory(
             "layer { " + layer +
                 " top: 'a' top: 'b' top: 'c' } layer { name: 's' type: 'Concat' bottom: 'a' "
                 "bottom: 'b' bottom: 'c' top: 's' concat_param { axis: 0 } }",
             "", {})
             .inputs)
      text += MakeString(input.name, " ", input.dims, " ");
    return text;
  };
  EXPECT_EQ(shapes("type: 'DummyData' dummy_data_param { num: [1, 2] channels: 3 height: 4 width: "
                   "5 }"),
            "a [1, 3, 4, 5] b [2, 3, 4, 5] c [2, 3, 4, 5] ");
  EXPECT_EQ(shapes("type: 'DummyData' dummy_data_param { num: [1, 2, 6] channels: [3, 3, 3] "
                   "height: [4, 4] width: 5 }"),
            "a [1, 3, 4, 5] b [2, 3, 4, 5] c [6, 3, 4, 5] ");
  EXPECT_EQ(shapes("type: 'DummyData' dummy_data_param { shape { dim: [7, 2] } shape { dim: [8, 2] "
                   "} }"),
            "a [7, 2] b [8, 2] c [8, 2] ");
  EXPECT_EQ(shapes("type: 'Input' input_param { shape { dim: [7, 2] } }"),
            "a [7, 2] b [7, 2] c [7, 2] ");
  // Without num there is no shape, whatever else there is.
  EXPECT_EQ(shapes("type: 'DummyData' dummy_data_param { channels: 3 height: 4 width: 5 }"),
            "a [] b [] c [] ");
}

// --- weights ---

TEST(CaffeFieldValuesTest, StatisticsHaveOneNumberForEachChannel) {
  const auto blob = [](int count) {
    std::string text = MakeString("blobs { shape { dim: ", count, " } ");
    for (int i = 0; i < count; ++i) text += "data: 1 ";
    return text + "} ";
  };
  const auto error = [&](const char* type, const std::vector<int>& counts) -> std::string {
    std::string weights = "layer { name: 'y' ";
    for (const int count : counts) weights += blob(count);
    try {
      (void)ImportCaffeFromMemory(Input("x", "1, 2, 1, 1") + Layer(type, ""), weights + "}", {});
      return "";
    } catch (const EnforceNotMet& thrown) {
      const std::string text = thrown.message();
      return text.substr(text.find("blob "));
    }
  };
  EXPECT_EQ(error("BatchNorm", {2, 2, 1}), "");
  EXPECT_EQ(error("BatchNorm", {3, 2, 1}), "blob 0 has shape [3], want 2 elements");
  EXPECT_EQ(error("BatchNorm", {2, 3, 1}), "blob 1 has shape [3], want 2 elements");
  EXPECT_EQ(error("BatchNorm", {2, 1, 1}), "blob 1 has shape [1], want 2 elements");
  EXPECT_EQ(error("BatchNorm", {2, 2, 2}), "blob 2 has shape [2], want 1 elements");
  EXPECT_EQ(error("BatchNorm", {2, 2, 1, 3, 2}), "blob 3 has shape [3], want 2 elements");
  EXPECT_EQ(error("BatchNorm", {2, 2, 1, 2, 3}), "blob 4 has shape [3], want 2 elements");
  EXPECT_EQ(error("BN", {2, 2, 2, 2}), "");
  EXPECT_EQ(error("BN", {2, 2, 3, 2}), "blob 2 has shape [3], want 2 elements");
  EXPECT_EQ(error("BN", {2, 2, 2, 3}), "blob 3 has shape [3], want 2 elements");
  EXPECT_EQ(error("BN", {3, 2, 2, 2}), "blob 0 has shape [3], want 2 elements");
  EXPECT_EQ(error("BN", {2, 3, 2, 2}), "blob 1 has shape [3], want 2 elements");
}

TEST(CaffeFieldValuesTest, MeansHaveThreeOrFourAxes) {
  const TempDir folder;
  const std::string path = folder.path() + "/mean.binaryproto";
  const auto shape = [](const std::vector<uint64_t>& dims) {
    std::string numbers;
    for (const uint64_t dim : dims) numbers += Varint(dim);
    return Bytes(7, Bytes(1, numbers));
  };
  const std::string floats = Bytes(5, Raw(1.5f) + Raw(-2.0f)),
                    doubles = Bytes(8, Raw(2.5) + Raw(-3.0));
  WriteFileAtomically(path, shape({1, 1, 2}) + floats);
  EXPECT_EQ(Difference(ReadCaffeMean(path), Floats({1, 1, 2}, {1.5f, -2})), 0);
  WriteFileAtomically(path, shape({1, 1, 1, 2}) + floats);
  EXPECT_EQ(Difference(ReadCaffeMean(path), Floats({1, 1, 1, 2}, {1.5f, -2})), 0);
  // Doubles go before floats, wherever they stand.
  for (const std::string& values : {floats + doubles, doubles + floats}) {
    WriteFileAtomically(path, shape({1, 1, 2}) + values);
    EXPECT_EQ(Difference(ReadCaffeMean(path), Floats({1, 1, 2}, {2.5f, -3})), 0);
  }
  const struct {
    std::vector<uint64_t> dims;
    const char* message;
  } rows[] = {{{1, 2}, "has 2 axes, want [1, C, H, W]"},
              {{1, 1, 1, 1, 2}, "has 5 axes, want [1, C, H, W]"},
              {{1, 1, 3}, "a blob of shape [1, 1, 3] has 2 values"}};
  for (const auto& row : rows) {
    WriteFileAtomically(path, shape(row.dims) + floats);
    ExpectThrows([&] { (void)ReadCaffeMean(path); }, row.message);
  }
}

}  // namespace
}  // namespace caffe2rt::test::field_values_test
