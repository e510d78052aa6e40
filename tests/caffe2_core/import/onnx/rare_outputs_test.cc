// Outputs, defaults and axes of nodes that models rarely have: values worked out by hand.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/caffe2_core/import/onnx/imported_onnx.h"
#include "tests/caffe2_core/import/onnx/node_forms.h"

namespace caffe2rt::test::rare_outputs_test {
namespace {

using namespace node_forms;  // used throughout this file

const double kLn3 = std::log(3.0);

struct Given {
  std::string name;
  std::vector<int64_t> dims;
  std::vector<float> values;
  int type = kFloat;
};
struct Wanted {
  std::string output;
  std::vector<int64_t> dims;
  std::vector<double> values;
};
struct Case {
  std::string nodes;  // and constants
  std::vector<Given> inputs;
  std::vector<Wanted> wants;
  int64_t opset = 18;
};

Tensor TensorOf(const Given& given) {
  if (given.type == kFloat) return FloatTensor(given.dims, given.values);
  return IntTensor(given.dims, {given.values.begin(), given.values.end()});
}

void Check(const std::vector<Case>& cases) {
  for (const Case& row : cases) {
    SCOPED_TRACE(row.nodes);
    std::string graph = row.nodes;
    NamedTensors inputs;
    for (const Given& given : row.inputs) {
      std::vector<std::string> dims;
      for (const int64_t dim : given.dims) dims.push_back(MakeString(dim));
      graph += OnnxValue("input", given.name, dims, given.type);
      inputs.emplace_back(given.name, TensorOf(given));
    }
    for (const Wanted& want : row.wants) graph += "output { name: '" + want.output + "' } ";
    const std::string bytes =
        OnnxBytes(graph, row.opset, "opset_import { domain: 'com.microsoft' version: 1 } ");
    EXPECT_EQ(OnnxImportError(bytes), "");
    if (!OnnxImportError(bytes).empty()) continue;
    Workspace ws;
    RunOnnx(ImportOnnxFromMemory(bytes, {}), inputs, &ws);
    for (const Wanted& want : row.wants) {
      const Tensor& got = ws.GetBlob(want.output)->Get<Tensor>();
      EXPECT_EQ(got.dims(), want.dims) << want.output;
      ASSERT_EQ(got.numel(), static_cast<int64_t>(want.values.size()));
      for (size_t i = 0; i < want.values.size(); ++i) {
        const double value = got.IsType<float>() ? static_cast<double>(got.data<float>()[i])
                                                 : static_cast<double>(got.data<int64_t>()[i]);
        EXPECT_NEAR(value, want.values[i], 2e-5) << want.output << " " << i;
      }
    }
  }
}

std::string Reals(const std::string& name, const std::vector<int64_t>& dims,
                  const std::vector<double>& values) {
  return Constant(name, kFloat, dims, values);
}

// --- layers ---

TEST(RareOutputsTest, LayerNormalizationsGiveTheirStatistics) {
  const Given x = {"x", {1, 2, 2}, {1, 3, 5, 9}};
  const std::string last = Reals("s", {2}, {1, 2}) + Reals("b", {2}, {0, 10}),
                    all = Reals("s", {2, 2}, {1, 1, 1, 1});
  const double root = std::sqrt(7.0);
  // Rows have the means 2 and 7 and the variances 1 and 4; all together 4.5 and 8.75.
  const Wanted rows = {"m", {1, 2, 1}, {2, 7}}, inverse = {"v", {1, 2, 1}, {0.5, 1 / root}};
  const std::string three = Float("epsilon", 3), quarter = Float("epsilon", 0.25f);
  Check({{last + Node("LayerNormalization", "xsb", three, "ymv"),
          {x},
          {{"y", {1, 2, 2}, {-0.5, 11, -2 / root, 10 + 4 / root}}, rows, inverse}},
         {last + Node("LayerNormalization", "xsb", three, "ym"), {x}, {rows}},
         {last + Node("LayerNormalization", "xsb", three, "y-v"), {x}, {inverse}},
         {all + Node("LayerNormalization", "xs", quarter + Int("axis", 1), "ymv"),
          {x},
          {{"y", {1, 2, 2}, {-3.5 / 3, -0.5, 0.5 / 3, 1.5}},
           {"m", {1, 1, 1}, {4.5}},
           {"v", {1, 1, 1}, {1.0 / 3}}}},
         {all + Node("LayerNormalization", "xs", quarter + Int("axis", -2), "ymv"),
          {x},
          {{"m", {1, 1, 1}, {4.5}}, {"v", {1, 1, 1}, {1.0 / 3}}}}});
}

TEST(RareOutputsTest, GroupsHadOneScaleEach) {
  const Given x = {"x", {1, 4, 1, 1}, {1, 3, 10, 12}};  // around 2 and 11, with a variance of 1
  const std::string attributes = Int("num_groups", 2) + Float("epsilon", 3);
  Check({{Reals("s", {2}, {2, 3}) + Reals("b", {2}, {10, 20}) +
              Node("GroupNormalization", "xsb", attributes),
          {x},
          {{"y", {1, 4, 1, 1}, {9, 11, 18.5, 21.5}}}},
         {Reals("s", {4}, {2, 4, 6, 8}) + Reals("b", {4}, {10, 20, 30, 40}) +
              Node("GroupNormalization", "xsb", attributes),
          {x},
          {{"y", {1, 4, 1, 1}, {9, 22, 27, 44}}},
          21}});
}

// Rows of the softmax: of the last axis, of another one, and before opset 13 of all axes from one on.
TEST(RareOutputsTest, SoftmaxOfDoublesHasTheSameRows) {
  const Given x = {"x", {2, 2}, {0, static_cast<float>(kLn3), 0, 0}};
  const auto softmax = [](const std::string& attributes) {
    return Node("Cast", "x", Int("to", 11), "d") + Node("Softmax", "d", attributes, "e") +
           Node("Cast", "e", Int("to", kFloat));
  };
  const double sixth = 1.0 / 6;
  const auto log = [](std::vector<double> values) {
    for (double& value : values) value = std::log(value);
    return std::vector<Wanted>{{"y", {2, 2}, values}};
  };
  const std::vector<double> rows = {0.25, 0.75, 0.5, 0.5}, columns = {0.5, 0.75, 0.5, 0.25},
                            all = {sixth, 0.5, sixth, sixth};
  Check({{softmax(""), {x}, {{"y", {2, 2}, rows}}, 13},
         {softmax(Int("axis", 0)), {x}, {{"y", {2, 2}, columns}}, 13},
         {softmax(""), {x}, {{"y", {2, 2}, rows}}, 12},
         {softmax(Int("axis", 0)), {x}, {{"y", {2, 2}, all}}, 12},
         {softmax(Int("axis", -2)), {x}, {{"y", {2, 2}, all}}, 12},
         {Node("LogSoftmax", "x", Int("axis", 0)), {x}, log(columns), 13},
         {Node("LogSoftmax", "x", Int("axis", 0)), {x}, log(all), 12},
         {Node("LogSoftmax", "x", Int("axis", -1)), {x}, log(rows), 12},
         {Node("Softmax", "x", Int("axis", 0)), {x}, {{"y", {2, 2}, all}}, 12}});
}

TEST(RareOutputsTest, ColumnsBecomeImages) {
  const std::string two = List("b", {1, 2}), four = List("i", {1, 4});
  const Given three = {"x", {1, 2, 3}, {1, 2, 3, 10, 20, 30}},
              pair = {"x", {1, 2, 2}, {1, 2, 10, 20}};
  const std::vector<Wanted> sums = {{"y", {1, 1, 1, 4}, {1, 12, 23, 30}}};
  Check({{two + four + Node("Col2Im", "xib"), {three}, sums},
         {two + Node("Col2Im", "xib"), {three, {"i", {2}, {1, 4}, kInt64}}, sums},
         {four + Node("Col2Im", "xib"), {three, {"b", {2}, {1, 2}, kInt64}}, sums},
         {two + four + Node("Col2Im", "xib", Ints("strides", {1, 2})),
          {pair},
          {{"y", {1, 1, 1, 4}, {1, 10, 2, 20}}}},
         {two + four + Node("Col2Im", "xib", Ints("dilations", {1, 2})),
          {pair},
          {{"y", {1, 1, 1, 4}, {1, 2, 10, 20}}}},
         {two + List("i", {1, 2}) + Node("Col2Im", "xib", Ints("pads", {0, 1, 0, 1})),
          {three},
          {{"y", {1, 1, 1, 2}, {12, 23}}}},
         {two + four + Node("Col2Im", "xib"),
          {{"x", {1, 4, 3}, {1, 2, 3, 10, 20, 30, 4, 5, 6, 40, 50, 60}}},
          {{"y", {1, 2, 1, 4}, {1, 12, 23, 30, 4, 45, 56, 60}}}}});
}

// Corners at 1/4 and 3/4 of the positions 0 to 4, or behind the image.
TEST(RareOutputsTest, RegionsAreCroppedAndResized) {
  const auto crop = [](double end, const std::string& more) {
    return Reals("r", {8}, {0, 0, 0, 0.25, 1, 1, 1, end}) + List("s", {1, 1, 1, 3}) +
           Node("Resize", "xr-s", Text("mode", "linear") + more);
  };
  const std::string mode = Text("coordinate_transformation_mode", "tf_crop_and_resize");
  const Given x = {"x", {1, 1, 1, 5}, {1, 2, 3, 4, 5}};
  Check({{crop(0.75, mode), {x}, {{"y", {1, 1, 1, 3}, {2, 3, 4}}}},
         {crop(1.25, mode + Float("extrapolation_value", 10)),
          {x},
          {{"y", {1, 1, 1, 3}, {2, 4, 10}}}},
         {crop(1.25, mode), {x}, {{"y", {1, 1, 1, 3}, {2, 4, 0}}}},
         {crop(0.75, Text("coordinate_transformation_mode", "align_corners")),
          {x},
          {{"y", {1, 1, 1, 3}, {1, 3, 5}}}}});
  // The regions and sizes of the last axes, or of the last one only.
  const auto axes = [&](const std::vector<double>& region, const std::vector<int64_t>& sizes,
                        const std::vector<int64_t>& which) {
    return Reals("r", {static_cast<int64_t>(region.size())}, region) + List("s", sizes) +
           Node("Resize", "xr-s", Text("mode", "linear") + mode + Ints("axes", which));
  };
  Check({{axes({0, 0.25, 1, 0.75}, {1, 3}, {2, 3}), {x}, {{"y", {1, 1, 1, 3}, {2, 3, 4}}}},
         {axes({0.25, 0.75}, {3}, {3}), {x}, {{"y", {1, 1, 1, 3}, {2, 3, 4}}}},
         {axes({0.5, 0, 1, 1}, {2, 1}, {3, 2}), {x}, {{"y", {1, 1, 1, 2}, {3, 5}}}}});
}

// --- constants ---

TEST(RareOutputsTest, ConstantsAreNumbersOrLists) {
  const auto constant = [](const std::string& attribute) {
    return Node("Constant", "", attribute, "c") + Node("Identity", "c");
  };
  const Given x = {"x", {2}, {1, 2}};
  Check({{constant(Int("value_int", -3)), {x}, {{"y", {}, {-3}}}},
         {constant(Ints("value_ints", {4, 5})), {x}, {{"y", {2}, {4, 5}}}},
         {constant(Ints("value_ints", {4})), {x}, {{"y", {1}, {4}}}},
         {constant(Float("value_float", 2.5f)), {x}, {{"y", {}, {2.5}}}},
         {constant("attribute { name: 'value_floats' type: FLOATS floats: [1.5, -2] } "),
          {x},
          {{"y", {2}, {1.5, -2}}}},
         {constant("attribute { name: 'value_floats' type: FLOATS floats: 1.5 } "),
          {x},
          {{"y", {1}, {1.5}}}},
         {constant("attribute { name: 'value' type: TENSOR t { data_type: 7 dims: 1 dims: 2 "
                   "int64_data: [8, 9] } } "),
          {x},
          {{"y", {1, 2}, {8, 9}}}},
         // As the position of a Gather.
         {Node("Constant", "", Int("value_int", 1), "c") + Node("Gather", "xc"),
          {x},
          {{"y", {}, {2}}}},
         // An attribute of no function has its default.
         {Node("LeakyRelu", "x", "attribute { name: 'alpha' type: FLOAT ref_attr_name: 'a' } "),
          {{"x", {1}, {-100}}},
          {{"y", {1}, {-1}}}}});
}

// --- losses ---

TEST(RareOutputsTest, IgnoredTargetsNeedBeNoClasses) {
  const Given x = {"x", {3, 2}, {-1, -2, -3, -4, -5, -6}};
  const std::string weights = Reals("w", {2}, {0.5, 2});
  for (const int index : {-100, 255}) {
    const Given t = {"t", {3}, {1, static_cast<float>(index), 0}, kInt64};
    const auto loss = [&](const std::string& reduction, bool weighted) {
      return weights + Node("NegativeLogLikelihoodLoss", weighted ? "xtw" : "xt",
                            Int("ignore_index", index) + Text("reduction", reduction));
    };
    Check({{loss("none", false), {x, t}, {{"y", {3}, {2, 0, 5}}}, 22},
           {loss("sum", false), {x, t}, {{"y", {}, {7}}}, 22},
           {loss("mean", false), {x, t}, {{"y", {}, {3.5}}}, 22},
           {loss("none", true), {x, t}, {{"y", {3}, {4, 0, 2.5}}}, 22},
           {loss("sum", true), {x, t}, {{"y", {}, {6.5}}}, 22},
           {loss("mean", true), {x, t}, {{"y", {}, {2.6}}}, 22}});
  }
  const auto ln3 = static_cast<float>(kLn3);
  const Given scores = {"x", {2, 2}, {0, ln3, ln3, 0}};
  const Given targets = {"t", {2}, {0, -1}, kInt64};
  const double low = -std::log(4.0), high = std::log(0.75);
  Check({{Node("SoftmaxCrossEntropyLoss", "xt", Int("ignore_index", -1)),
          {scores, targets},
          {{"y", {}, {-low}}},
          13},
         {Node("SoftmaxCrossEntropyLoss", "xt", Int("ignore_index", -1) + Text("reduction", "none"),
               "yz"),
          {scores, targets},
          {{"y", {2}, {-low, 0}}, {"z", {2, 2}, {low, high, high, low}}},
          13},
         // Classes are axis 1 of more axes, too.
         {Node("NegativeLogLikelihoodLoss", "xt", Text("reduction", "none")),
          {{"x", {1, 2, 2}, {-1, -2, -3, -4}}, {"t", {1, 2}, {1, 0}, kInt64}},
          {{"y", {1, 2}, {3, 2}}},
          13}});
}

// --- signals ---

// Sums and differences along an axis of [1, 2, 2, 1]; results are pairs.
TEST(RareOutputsTest, TransformsHaveTheirAxisAsAnAttributeOrAnInput) {
  const Given x = {"x", {1, 2, 2, 1}, {1, 2, 3, 5}};
  const std::vector<Wanted> rows = {{"y", {1, 2, 2, 2}, {4, 0, 7, 0, -2, 0, -3, 0}}},
                            columns = {{"y", {1, 2, 2, 2}, {3, 0, -1, 0, 8, 0, -2, 0}}};
  const std::string first = List("a", {1}, true), second = List("a", {2}, true),
                    four = List("l", {4}, true);
  const std::vector<Wanted> longer = {
      {"y", {1, 4, 2, 2}, {4, 0, 7, 0, 1, -3, 2, -5, -2, 0, -3, 0, 1, 3, 2, 5}}};
  Check({{Node("DFT"), {x}, rows, 17},
         {Node("DFT", "x", Int("axis", 1)), {x}, rows, 17},
         {Node("DFT", "x", Int("axis", 2)), {x}, columns, 19},
         {four + Node("DFT", "xl"), {x}, longer, 17},
         {Node("DFT"), {x}, columns, 20},
         {first + Node("DFT", "x-a"), {x}, rows, 20},
         {second + Node("DFT", "x-a"), {x}, columns, 20},
         {first + four + Node("DFT", "xla"), {x}, longer, 20},
         {first + List("l", {3}, true) + Node("DFT", "xla", Int("onesided", 1)),
          {{"x", {1, 3, 1, 1}, {1, 1, 1}}},
          {{"y", {1, 2, 1, 2}, {3, 0, 0, 0}}},
          20}});
}

}  // namespace
}  // namespace caffe2rt::test::rare_outputs_test
