// Layers with rare fields: which of them fit one size only, pools that leave out windows, layers without the
// shape of their bottom, long lists in errors. Values worked out by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/caffe2_core/import/caffe/imported_net.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::rare_layers_test {
namespace {

// --- sizes ---

TEST(CaffeRareLayersTest, SomeLayersFitTheSizesOfTheirInputs) {
  const struct {
    const char* type;
    const char* more;
    const char* want;  // the layer that fits one size
  } rows[] = {
      {"Flatten", "", ""},
      {"Flatten", "flatten_param { axis: 2 }", ""},
      {"Flatten", "flatten_param { axis: 1 end_axis: 2 }", "y"},
      {"Reshape", "reshape_param { shape { dim: [0, -1] } }", ""},
      {"Reshape", "reshape_param { axis: 1 shape { dim: -1 } }", ""},
      {"Reshape", "reshape_param { axis: 1 num_axes: 1 shape { dim: [2, 2] } }", "y"},
      {"Crop", "bottom: 'w'", "y"},
      {"Interp", "interp_param { zoom_factor: 2 }", "y"},
      {"Reorg", "", "y"},
      {"SPP", "spp_param { pyramid_height: 2 }", "y"},
      {"Upsample", "", ""},
      {"Upsample", "bottom: 'x'", "y"},
      {"Upsample", "bottom: 'x' upsample_param { upsample_h: 13 upsample_w: 17 }", ""},
      {"Pooling", "pooling_param { kernel_size: 3 stride: 2 }", ""},
      {"Pooling", "pooling_param { kernel_size: 3 stride: 2 pad: 1 }", ""},
      {"Pooling", "pooling_param { pool: AVE kernel_size: 3 stride: 2 }", ""},
      {"Pooling", "pooling_param { pool: AVE kernel_size: 3 stride: 2 pad: 1 ceil_mode: false }",
       ""},
      {"Pooling", "pooling_param { pool: AVE kernel_size: 3 stride: 2 pad: 1 }", "y"},
      // Columns 0, 3 and 6 of 8, of which the operators would read one more.
      {"Pooling",
       "pooling_param { kernel_h: 3 kernel_w: 1 stride_h: 1 stride_w: 5 pad_h: 1 pad_w: 0 }", "y"},
      {"Convolution", "convolution_param { num_output: 2 kernel_size: 3 pad: 1 }", ""},
      {"InnerProduct", "inner_product_param { num_output: 2 }", ""},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(MakeString(row.type, " ", row.more));
    const std::string net =
        Input("x", "1, 4, 6, 8") + Input("w", "1, 4, 3, 4") + Layer(row.type, row.more);
    try {
      EXPECT_EQ(ImportCaffeFromMemory(net, "", {}).fixed_size_layer, row.want);
    } catch (const EnforceNotMet& error) {
      ADD_FAILURE() << error.message();
    }
  }
  // The first one is named.
  const std::string two =
      Input("x", "1, 4, 6, 8") + Layer("Interp", "interp_param { zoom_factor: 2 }") +
      "layer { name: 'z' type: 'Reorg' bottom: 'y' top: 'z' reorg_param { stride: 1 } }";
  EXPECT_EQ(ImportCaffeFromMemory(two, "", {}).fixed_size_layer, "y");
}

// --- pools ---

TEST(CaffeRareLayersTest, AveragePoolsLeaveOutWindowsBehindTheBottom) {
  const auto pool = [](const std::string& dims, const std::string& param) {
    return Input("x", dims) + Layer("Pooling", "pooling_param { pool: AVE " + param + " }");
  };
  const auto run = [](const std::string& net, const Tensor& x) {
    return RunCaffeText(net, kNoWeights, {{"x", x}}, "y");
  };
  const std::string wide = "kernel_h: 1 stride_h: 1 pad_h: 0 pad_w: 1 ";
  // Three columns and their padding hold windows at -1, 1 and 3: the last one begins behind them.
  EXPECT_LT(Difference(run(pool("1, 1, 1, 3", wide + "kernel_w: 2 stride_w: 2"),
                           Floats({1, 1, 1, 3}, {2, 4, 6})),
                       Floats({1, 1, 1, 2}, {1, 5})),
            1e-6);
  EXPECT_LT(Difference(run(pool("1, 1, 3, 3", "kernel_size: 2 stride: 2 pad: 1"),
                           Floats({1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9})),
                       Floats({1, 1, 2, 2}, {0.25f, 1.25f, 2.75f, 7})),
            1e-6);
  // Four columns: windows at -1 and 2 that end with the padding, or at -1, 1 and 3, of which the last
  // has one column and one of the padding.
  const Tensor four = Floats({1, 1, 1, 4}, {2, 4, 6, 8});
  EXPECT_LT(Difference(run(pool("1, 1, 1, 4", wide + "kernel_w: 3 stride_w: 3"), four),
                       Floats({1, 1, 1, 2}, {2, 14.f / 3})),
            1e-6);
  EXPECT_LT(Difference(run(pool("1, 1, 1, 4", wide + "kernel_w: 3 stride_w: 2"), four),
                       Floats({1, 1, 1, 3}, {2, 6, 4})),
            1e-6);
  // Rounded down, the last of these has no room.
  EXPECT_LT(
      Difference(run(pool("1, 1, 1, 4", wide + "kernel_w: 3 stride_w: 2 ceil_mode: false"), four),
                 Floats({1, 1, 1, 2}, {2, 6})),
      1e-6);
  // Without padding, windows end with the columns: 2 and 4, 6 and 8, 9 alone.
  EXPECT_LT(Difference(run(pool("1, 1, 1, 5", "kernel_h: 1 kernel_w: 2 stride_h: 1 stride_w: 2"),
                           Floats({1, 1, 1, 5}, {2, 4, 6, 8, 9})),
                       Floats({1, 1, 1, 3}, {3, 7, 9})),
            1e-6);
}

// --- layers without the shape of their bottom ---

TEST(CaffeRareLayersTest, BottomsWithoutAShapeHaveFourAxes) {
  const auto types = [](const std::string& type, const std::string& more) {
    const CaffeModel model = ImportCaffeFromMemory(Input("x", "") + Layer(type, more), "", {});
    std::string text;
    for (const OperatorDef& op : model.predict_net.op()) text += op.type() + " ";
    return text;
  };
  EXPECT_EQ(types("Softmax", ""), "Transpose Softmax Transpose ");
  EXPECT_EQ(types("Softmax", "softmax_param { axis: 3 }"), "Softmax ");
  ExpectThrows([&] { (void)types("Softmax", "softmax_param { axis: 4 }"); },
               "axis 4 is out of range for a blob of 4 axes");
  ExpectThrows([&] { (void)types("Permute", "permute_param { order: 4 }"); },
               "order has axis 4, want each of 0 to 3 at most once");
  for (const auto& [type, more] : {std::pair("Softmax", "softmax_param { axis: -1 }"),
                                   {"Reduction", ""},
                                   {"Slice", "top: 'z' slice_param { slice_point: 1 }"},
                                   {"Interp", ""},
                                   {"Crop", "bottom: 'x'"},
                                   {"Reorg", ""},
                                   {"SPP", "spp_param { pyramid_height: 1 }"},
                                   {"Upsample", "bottom: 'x'"},
                                   {"Pooling", "pooling_param { pool: AVE kernel_size: 3 pad: 1 }"},
                                   {"BatchNorm", "batch_norm_param { use_global_stats: false }"}}) {
    ExpectThrows([&, type = type, more = more] { (void)types(type, more); },
                 "it needs the shape of blob \"x\"");
  }
  EXPECT_EQ(types("Pooling", "pooling_param { pool: AVE kernel_size: 3 }"), "AveragePool ");
  EXPECT_EQ(types("Pooling", "pooling_param { kernel_size: 3 pad: 1 }"), "MaxPool ");
  EXPECT_EQ(types("MVN", ""), "ReduceMean Sub Sqr ReduceMean Sqrt Add Div ");
}

// --- recurrence ---

// What the steps read is an input of the operator, so that passes over the net see it.
TEST(CaffeRareLayersTest, RecurrentOperatorsListWhatTheyRead) {
  for (const bool fixed : {false, true}) {
    const std::string net =
        Input("x", "3, 2, 2") + Input("cont", "3, 2") + Input("s", "2, 3") +
        Layer("LSTM", std::string("bottom: 'cont' ") + (fixed ? "bottom: 's' " : "") +
                          "recurrent_param { num_output: 2 }");
    const CaffeModel model = ImportCaffeFromMemory(net, "", {});
    const NetDef& predict = model.predict_net;
    const auto found =
        std::find_if(predict.op().begin(), predict.op().end(),
                     [](const OperatorDef& op) { return op.type() == "RecurrentNetwork"; });
    ASSERT_NE(found, predict.op().end());
    const std::set<std::string> inputs(found->input().begin(), found->input().end());
    const ArgumentHelper args(*found);
    const auto internal = args.GetRepeatedArgument<std::string>("link_internal"),
               external = args.GetRepeatedArgument<std::string>("link_external");
    ASSERT_EQ(internal.size(), external.size());
    for (const char* name : {"gates_t", "cont_t"}) {
      const auto at = std::find(internal.begin(), internal.end(), name) - internal.begin();
      ASSERT_LT(at, std::ssize(internal)) << name;
      EXPECT_TRUE(inputs.contains(external[static_cast<size_t>(at)])) << name;
    }
    // Those of the predict net that no other operator reads are read by the steps.
    std::set<std::string> others;
    for (const OperatorDef& op : predict.op()) {
      if (&op != &*found) others.insert(op.input().begin(), op.input().end());
    }
    int own = 0;
    for (const OperatorDef& op : model.init_net.op()) {
      if (others.contains(op.output(0))) continue;
      EXPECT_TRUE(inputs.contains(op.output(0))) << op.output(0);
      ++own;
    }
    EXPECT_GE(own, 1);
  }
}

// --- fields ---

TEST(CaffeRareLayersTest, TransformsHaveDefaults) {
  const auto transform = [](const std::string& param) {
    return ImportCaffeFromMemory("layer { type: 'Data' top: 'x' transform_param { " + param +
                                     " } } " + Layer("ReLU", ""),
                                 "", {})
        .transform;
  };
  const CaffeTransform scaled = transform("scale: 0.5");
  EXPECT_EQ(scaled.scale, 0.5f);
  EXPECT_FALSE(scaled.mirror);
  EXPECT_EQ(scaled.crop_size, 0);
  EXPECT_EQ(scaled.mean_file, "");
  const CaffeTransform means = transform("mean_value: 104 mean_value: 117 mirror: false");
  EXPECT_EQ(means.scale, 1);
  EXPECT_EQ(means.mean_values, (std::vector<float>{104, 117}));
  EXPECT_FALSE(means.mirror);
}

TEST(CaffeRareLayersTest, BoxesHaveSizesAndStepsForOneSide) {
  const auto box = [](const std::string& param) {
    const CaffeModel model = ImportCaffeFromMemory(
        Input("x", "1, 4, 6, 8") + Input("w", "1, 4, 3, 4") +
            Layer("PriorBox", "bottom: 'w' prior_box_param { min_size: 2 " + param + " }"),
        "", {});
    std::string text;
    for (const Argument& arg : model.predict_net.op(0).arg()) {
      const std::string& name = arg.name();
      if (name.starts_with("image_")) text += MakeString(name, "=", arg.i(), " ");
      if (name.starts_with("step_")) text += MakeString(name, "=", arg.f(), " ");
    }
    return text;
  };
  EXPECT_EQ(box("img_size: 9 img_w: 4 step: 2 step_h: 3"),
            "image_h=9 image_w=4 step_h=3 step_w=2 ");
  EXPECT_EQ(box("img_size: 9 img_h: 4 step: 2 step_w: 3"),
            "image_h=4 image_w=9 step_h=2 step_w=3 ");
  EXPECT_EQ(box("img_h: 4 step_w: 3"), "image_h=4 image_w=0 step_h=0 step_w=3 ");
}

// --- errors that list layers ---

TEST(CaffeRareLayersTest, ListsOfLayersEndAfterAHundred) {
  const auto net = [](int count, const std::string& type, const std::string& more) {
    std::string text = Input("x", "1, 2");
    for (int i = 0; i < count; ++i)
      text += MakeString("layer { name: 'a", i, "' type: '", type, "' bottom: 'x' top: 'a", i, "' ",
                         more, " }\n");
    return text;
  };
  const auto error = [](const std::string& text, const std::string& weights) -> std::string {
    try {
      (void)ImportCaffeFromMemory(text, weights, {.weights = "w"});
    } catch (const EnforceNotMet& thrown) {
      return thrown.message();
    }
    return "";
  };
  const std::string other = "layer { name: 'b' blobs { shape { dim: 1 } data: 1 } }";
  const std::string product = "inner_product_param { num_output: 1 }";
  const std::string most = error(net(100, "InnerProduct", product), other),
                    more = error(net(101, "InnerProduct", product), other);
  EXPECT_NE(most.find("have no blobs for 100 layers of the net: \"a0\" of type InnerProduct, "),
            std::string::npos);
  EXPECT_NE(most.find("\"a99\" of type InnerProduct; want the weights of this net"),
            std::string::npos);
  EXPECT_NE(more.find("have no blobs for 101 layers of the net: "), std::string::npos);
  EXPECT_NE(more.find("\"a99\" of type InnerProduct, ...; want the weights of this net"),
            std::string::npos);
  const std::string hundred = error(net(100, "Frobnicate", ""), ""),
                    beyond = error(net(101, "Frobnicate", ""), "");
  EXPECT_NE(hundred.find("100 of type Frobnicate (\"a0\", "), std::string::npos);
  EXPECT_NE(hundred.find("\"a99\")"), std::string::npos);
  EXPECT_NE(beyond.find("101 of type Frobnicate (\"a0\", "), std::string::npos);
  EXPECT_NE(beyond.find("\"a99\", ...)"), std::string::npos);
  // A type that is nearly known has a hint, and one that is refused its remedy.
  EXPECT_NE(error(net(1, "Convolutoin", ""), "").find("did you mean Convolution?"),
            std::string::npos);
  const std::string hole = error(net(1, "HoleConvolution", ""), "");
  EXPECT_NE(hole.find("(\"a0\": write it as Convolution with dilation)"), std::string::npos);
  EXPECT_EQ(hole.find("did you mean"), std::string::npos);
}

}  // namespace
}  // namespace caffe2rt::test::rare_layers_test
