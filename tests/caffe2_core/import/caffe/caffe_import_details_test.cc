// Details of imported nets: which source of weights counts, names that blobs and parameters both
// want, blobs with two kinds of dims, digits of zero in escapes and lists.
#include <gtest/gtest.h>

#include <algorithm>

#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/import/caffe/text_reader.h"
#include "caffe2_core/import/caffe/weights_file.h"
#include "tests/caffe2_core/import/caffe/imported_net.h"
#include "tests/caffe2_core/import/caffe/wire_text.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::caffe_import_details_test {
namespace {

std::string InputOf(const std::string& dims) {
  return "layer { name: 'x' type: 'Input' top: 'x' input_param { shape { dim: [" + dims +
         "] } } }\n";
}
std::string BlobOf(const std::string& dims, const std::string& data) {
  return "blobs { shape { dim: [" + dims + "] } data: [" + data + "] } ";
}

// A filler that computes its values stands for absent weights, not for those of the file.
TEST(CaffeImportDetailsTest, WeightsOfTheFileCountBeforeFillers) {
  const std::string net =
      InputOf("1, 1, 1, 1") +
      "layer { name: 'y' type: 'Deconvolution' bottom: 'x' top: 'y' convolution_param { "
      "num_output: 1 kernel_size: 2 bias_term: false weight_filler { type: 'bilinear' } } }";
  EXPECT_EQ(
      Difference(RunCaffeText(net, "layer { name: 'y' " + BlobOf("1, 1, 2, 2", "1, 2, 3, 4") + "}",
                              {{"x", Floats({1, 1, 1, 1}, {10})}}, "y"),
                 Floats({1, 1, 2, 2}, {10, 20, 30, 40})),
      0);
}

TEST(CaffeImportDetailsTest, BlobsOfTheNetKeepTheirNames) {
  const std::string product =
      "bottom: 'x' inner_product_param { num_output: 1 weight_filler { value: 3 } } }";
  // The tops of later layers, and the names of layers, are those of parameters.
  const std::string net = InputOf("1, 2") + "layer { name: 'a' type: 'InnerProduct' top: 'a' " +
                          product + "layer { name: 'a_b' type: 'ReLU' bottom: 'a' top: 'a_w' }";
  const CaffeModel model = ImportCaffeFromMemory(net, "", {});
  ASSERT_EQ(model.predict_net.op_size(), 2);
  const OperatorDef& fc = model.predict_net.op(0);
  EXPECT_EQ(fc.input(1), "a_w_2");
  EXPECT_EQ(fc.input(2), "a_b_2");
  EXPECT_EQ(model.predict_net.op(1).output(0), "a_w");
  EXPECT_EQ(model.init_net.op(0).output(0), "a_w_2");
  EXPECT_EQ(Difference(RunCaffeText(net, "", {{"x", Floats({1, 2}, {1, 2})}}, "a_w"),
                       Floats({1, 1}, {9})),
            0);
}

// Parameters that layers of the second generation share have their names in a list.
TEST(CaffeImportDetailsTest, OldLayersShareParametersByName) {
  const auto product = [](const std::string& name, const std::string& bottom,
                          const std::string& params) {
    return "layers { name: '" + name + "' type: INNER_PRODUCT bottom: '" + bottom + "' top: '" +
           name + "' inner_product_param { num_output: 2 weight_filler { value: 2 } } " + params +
           " }\n";
  };
  const std::string head = "input: 'x' input_dim: [1, 2, 1, 1]\n";
  const CaffeModel both = ImportCaffeFromMemory(head + product("a", "x", "param: 'w' param: 'b'") +
                                                    product("c", "a", "param: 'w' param: 'b'"),
                                                "", {});
  ASSERT_EQ(both.predict_net.op_size(), 2);
  EXPECT_EQ(both.init_net.op_size(), 2);
  for (const int i : {1, 2})
    EXPECT_EQ(both.predict_net.op(0).input(i), both.predict_net.op(1).input(i)) << i;
  const CaffeModel second = ImportCaffeFromMemory(
      head + product("a", "x", "param: '' param: 'b'") + product("c", "a", "param: '' param: 'b'"),
      "", {});
  EXPECT_EQ(second.init_net.op_size(), 3);
  EXPECT_NE(second.predict_net.op(0).input(1), second.predict_net.op(1).input(1));
  EXPECT_EQ(second.predict_net.op(0).input(2), second.predict_net.op(1).input(2));
}

// A blob with the dims of the old format beside a shape has those of the shape.
TEST(CaffeImportDetailsTest, ShapesCountBeforeOldDims) {
  const std::string old = Number(1, 1) + Number(2, 1) + Number(3, 1) + Number(4, 6),
                    shape = Bytes(7, Bytes(1, Varint(2) + Varint(3))),
                    values = Bytes(5, std::string(24, '\0'));
  const auto blob_of = [](const std::string& fields) {
    static std::vector<std::unique_ptr<std::string>> kept;
    kept.push_back(std::make_unique<std::string>(Bytes(100, Bytes(1, "l") + Bytes(7, fields))));
    const CaffeWeightsFile file(std::make_shared<MemoryInput>(*kept.back()), "net.caffemodel");
    EXPECT_EQ(file.ReadBlob(file.layers().at(0).blobs.at(0)).numel(), 6);
    return file.layers().at(0).blobs.at(0);
  };
  for (const std::string& fields : {old + shape + values, shape + values + old}) {
    EXPECT_EQ(blob_of(fields).dims, (std::vector<int64_t>{2, 3}));
    EXPECT_FALSE(blob_of(fields).legacy);
  }
  EXPECT_EQ(blob_of(old + values).dims, (std::vector<int64_t>{1, 1, 1, 6}));
  EXPECT_TRUE(blob_of(old + values).legacy);
}

TEST(CaffeImportDetailsTest, WeightsAreListsOfNumbers) {
  const CaffeModel model = ImportCaffeFromMemory(
      InputOf("1, 3") +
          "layer { name: 'y' type: 'InnerProduct' bottom: 'x' top: 'y' inner_product_param { "
          "num_output: 2 } }",
      "layer { name: 'y' " + BlobOf("2, 3", "1, 2, 3, 4, 5, 6") + BlobOf("2", "7, 8") + "}", {});
  ASSERT_EQ(model.weights.size(), 2u);
  EXPECT_EQ(model.weights[0].values.sizes(), (std::vector<int64_t>{6}));
  EXPECT_EQ(model.weights[1].values.sizes(), (std::vector<int64_t>{2}));
  EXPECT_EQ(ArgumentHelper(model.init_net.op(0)).GetRepeatedArgument<int64_t>("shape"),
            (std::vector<int64_t>{2, 3}));
}

// Numbers of a packed field that need several bytes, and bytes without a value of their own.
TEST(CaffeImportDetailsTest, PackedFieldsHaveNumbersOfAllSizes) {
  const auto kernels_of = [](const std::string& fields) {
    static std::vector<std::unique_ptr<std::string>> kept;
    kept.push_back(std::make_unique<std::string>(
        Bytes(100, Bytes(1, "l") + Bytes(2, "Convolution") + Bytes(106, fields))));
    const CaffeWeightsFile file(std::make_shared<MemoryInput>(*kept.back()), "net.caffemodel");
    return file.net().Message("layer").Message("convolution_param").Integers("kernel_size");
  };
  const std::vector<uint64_t> numbers = {128, 1, 16384, 300, 0, 127, uint64_t{1} << 62};
  std::string packed, single;
  for (const uint64_t number : numbers) {
    packed += Varint(number);
    single += Number(4, number);
  }
  const std::vector<int64_t> want(numbers.begin(), numbers.end());
  EXPECT_EQ(kernels_of(Bytes(4, packed)), want);
  EXPECT_EQ(kernels_of(single), want);
  EXPECT_EQ(kernels_of(Bytes(4, Varint(UINT64_MAX) + Varint(5))), (std::vector<int64_t>{-1, 5}));
}

// A layer of padding replaces what the layer behind it has.
TEST(CaffeImportDetailsTest, PaddingLayersReplaceThePads) {
  const CaffeModel model = ImportCaffeFromMemory(
      "input: 'x' input_dim: [1, 1, 4, 4] "
      "layers { layer { name: 'p' type: 'padding' pad: 2 } bottom: 'x' top: 'p' } "
      "layers { layer { name: 'c' type: 'conv' num_output: 1 kernelsize: 3 pad: 1 } "
      "bottom: 'p' top: 'c' }",
      "", {});
  ASSERT_EQ(model.predict_net.op_size(), 1);
  EXPECT_EQ(ArgumentHelper(model.predict_net.op(0)).GetRepeatedArgument<int64_t>("pads"),
            (std::vector<int64_t>{2, 2, 2, 2}));
}

// Taps three apart vertically and two apart horizontally.
TEST(CaffeImportDetailsTest, DilatedTapsLieInRowsAndColumns) {
  const std::string net =
      InputOf("1, 1, 1, 1") +
      "layer { name: 'y' type: 'Deconvolution' bottom: 'x' top: 'y' convolution_param { "
      "num_output: 1 kernel_h: 2 kernel_w: 3 dilation: [3, 2] bias_term: false } }";
  EXPECT_EQ(
      Difference(
          RunCaffeText(net, "layer { name: 'y' " + BlobOf("1, 1, 2, 3", "1, 2, 3, 4, 5, 6") + "}",
                       {{"x", Floats({1, 1, 1, 1}, {10})}}, "y"),
          Floats({1, 1, 4, 5}, {10, 0, 20, 0, 30,  //
                                0,  0, 0,  0, 0,   //
                                0,  0, 0,  0, 0,   //
                                40, 0, 50, 0, 60})),
      0);
}

TEST(CaffeImportDetailsTest, ResizingMayCropOneEnd) {
  const auto pads_of = [](const std::string& param) {
    const CaffeModel model = ImportCaffeFromMemory(
        InputOf("1, 1, 6, 8") + "layer { name: 'y' type: 'Interp' bottom: 'x' top: 'y' " +
            "interp_param { zoom_factor: 2 " + param + " } }",
        "", {});
    const OperatorDef& first = model.predict_net.op(0);
    return first.type() == "PadImage" ? ArgumentHelper(first).GetRepeatedArgument<int64_t>("pads")
                                      : std::vector<int64_t>();
  };
  EXPECT_EQ(pads_of(""), std::vector<int64_t>());
  EXPECT_EQ(pads_of("pad_beg: -1"), (std::vector<int64_t>{-1, -1, 0, 0}));
  EXPECT_EQ(pads_of("pad_end: -2"), (std::vector<int64_t>{0, 0, -2, -2}));
}

// --- digits of zero ---

TEST(CaffeImportDetailsTest, EscapesMayHaveZeros) {
  const CaffeMessage net = ParseCaffeText(R"(a: "\060\101\x30\x0a" b: "\0" c: "\100")", "net");
  EXPECT_EQ(net.Text("a"), "0A0\n");
  EXPECT_EQ(net.Text("b"), std::string(1, '\0'));
  EXPECT_EQ(net.Text("c"), "@");
}

TEST(CaffeImportDetailsTest, ParametersOfPythonMayHaveZeros) {
  const std::string net =
      "layer { name: 'c' type: 'Input' top: 'c' input_param { shape { dim: [1, 4, 2, 2] } } }"
      "layer { name: 'd' type: 'Input' top: 'd' input_param { shape { dim: [1, 8, 2, 2] } } }"
      "layer { name: 'i' type: 'Input' top: 'i' input_param { shape { dim: [1, 3] } } }"
      "layer { name: 'y' bottom: 'c' bottom: 'd' bottom: 'i' top: 'y' type: 'Python' python_param "
      "{ module: 'rpn.proposal_layer' layer: 'ProposalLayer' "
      "param_str: \"{'feat_stride': 10, 'scales': (10, 20), 'ratios': [1]}\" } }";
  const CaffeModel model = ImportCaffeFromMemory(net, "", {});
  const auto found =
      std::find_if(model.predict_net.op().begin(), model.predict_net.op().end(),
                   [](const OperatorDef& op) { return op.type() == "GenerateProposals"; });
  ASSERT_NE(found, model.predict_net.op().end());
  EXPECT_FLOAT_EQ(ArgumentHelper(*found).GetSingleArgument<float>("spatial_scale", 0), 0.1f);
  // Squares of 160 and 320 around 7.5.
  ASSERT_EQ(model.weights.size(), 1u);
  const float* anchors = model.weights[0].values.data<float>();
  EXPECT_EQ(std::vector<float>(anchors, anchors + 8),
            (std::vector<float>{-72, -72, 87, 87, -152, -152, 167, 167}));
}

TEST(CaffeImportDetailsTest, FillersAreThoseOfTheLayer) {
  for (const char* layer :
       {"type: 'LSTM' bottom: 'x' bottom: 'k' recurrent_param { num_output: 4 ",
        "type: 'RNN' bottom: 'x' bottom: 'k' recurrent_param { num_output: 4 ",
        "type: 'InnerProduct' bottom: 'x' inner_product_param { num_output: 4 ",
        "type: 'Convolution' bottom: 'x' convolution_param { num_output: 4 kernel_size: 1 "}) {
    SCOPED_TRACE(layer);
    const CaffeModel model = ImportCaffeFromMemory(
        InputOf("3, 2, 5") +
            "layer { name: 'k' type: 'Input' top: 'k' input_param { shape { dim: [3, 2] } } }"
            "layer { name: 'y' top: 'y' " +
            layer + "weight_filler { value: 2 } bias_filler { value: 3 } } }",
        "", {});
    int weights = 0, biases = 0;
    for (const OperatorDef& op : model.init_net.op()) {
      const float value = ArgumentHelper(op).GetSingleArgument<float>("value", -1);
      if (op.output(0).starts_with("y_w")) {
        EXPECT_EQ(value, 2) << op.output(0);
        ++weights;
      } else if (op.output(0).starts_with("y_b")) {
        EXPECT_EQ(value, 3) << op.output(0);
        ++biases;
      }
    }
    EXPECT_GE(weights, 1);
    EXPECT_GE(biases, 1);
  }
}

// Weights of the first generation in text: the name is that of the inner message.
TEST(CaffeImportDetailsTest, WeightsOfTheFirstGenerationInText) {
  const std::string net =
      InputOf("1, 2") +
      "layer { name: 'y' type: 'InnerProduct' bottom: 'x' top: 'y' inner_product_param { "
      "num_output: 1 } }";
  const std::string blob = "blobs { num: 1 channels: 1 height: 1 width: ";
  EXPECT_EQ(Difference(RunCaffeText(net,
                                    "layers { layer { name: 'y' type: 'innerproduct' " + blob +
                                        "2 data: 3 data: 5 } " + blob +
                                        "1 data: 7 } } bottom: 'x' top: 'y' }",
                                    {{"x", Floats({1, 2}, {1, 10})}}, "y"),
                       Floats({1, 1}, {60})),
            0);
}

TEST(CaffeImportDetailsTest, RegionsOfNormalizationsHaveNames) {
  const auto type_of = [](const std::string& region) {
    return ImportCaffeFromMemory(InputOf("1, 4, 6, 8") +
                                     "layer { name: 'y' type: 'LRN' bottom: 'x' top: 'y' " +
                                     "lrn_param { norm_region: " + region + " } }",
                                 "", {})
        .predict_net.op(0)
        .type();
  };
  for (const char* across : {"ACROSS_CHANNELS", "0"}) EXPECT_EQ(type_of(across), "LRN");
  for (const char* within : {"WITHIN_CHANNEL", "1"}) EXPECT_EQ(type_of(within), "Sqr");
}

TEST(CaffeImportDetailsTest, IntegersHaveBases) {
  const CaffeMessage net =
      ParseCaffeText("a: 0x1f a: 0X1F a: 017 a: 10 a: -0x10 a: -010 a: 0 a: 00", "net");
  EXPECT_EQ(net.Integers("a"), (std::vector<int64_t>{31, 31, 15, 10, -16, -8, 0, 0}));
  for (const char* wrong : {"0xg", "1x"}) {
    ExpectThrows([&] { (void)ParseCaffeText(MakeString("a: ", wrong), "net").Integer("a", 0); },
                 "");
  }
}

TEST(CaffeImportDetailsTest, NumbersMayLackDigits) {
  const std::pair<const char*, float> rows[] = {{".5", 0.5f},   {"-.5", -0.5f}, {"5.", 5},
                                                {"1.5f", 1.5f}, {"2F", 2},      {"-3.", -3},
                                                {"0x10", 16},   {"1e2", 100},   {"-0x10", -16}};
  for (const auto& [text, want] : rows) {
    EXPECT_EQ(ParseCaffeText(MakeString("a: ", text), "net").Float("a", 7), want) << text;
  }
}

// --- shapes behind recurrent layers ---

TEST(CaffeImportDetailsTest, OutputsOfRecurrentLayersHaveAShape) {
  for (const char* type : {"LSTM", "RNN"}) {
    const CaffeModel model = ImportCaffeFromMemory(
        InputOf("3, 2, 5") +
            "layer { name: 'k' type: 'Input' top: 'k' input_param { shape { dim: [3, 2] } } }"
            "layer { name: 'h' type: '" +
            type +
            "' bottom: 'x' bottom: 'k' top: 'h' recurrent_param { num_output: 4 } }"
            "layer { name: 'y' type: 'InnerProduct' bottom: 'h' top: 'y' inner_product_param { "
            "num_output: 1 axis: -1 } }",
        "", {});
    const auto found = std::find_if(model.init_net.op().begin(), model.init_net.op().end(),
                                    [](const OperatorDef& op) { return op.output(0) == "y_w"; });
    ASSERT_NE(found, model.init_net.op().end()) << type;
    EXPECT_EQ(ArgumentHelper(*found).GetRepeatedArgument<int64_t>("shape"),
              (std::vector<int64_t>{1, 4}))
        << type;
    const OperatorDef& fc = *model.predict_net.op().rbegin();
    EXPECT_EQ(ArgumentHelper(fc).GetSingleArgument<int>("axis", 0), 2) << type;
  }
}

}  // namespace
}  // namespace caffe2rt::test::caffe_import_details_test
