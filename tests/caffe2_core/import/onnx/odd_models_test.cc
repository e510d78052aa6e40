// Models whose parts rarely meet: slices of short lists in all directions, symbols in several axes, names of
// nodes that leave no operator. Values worked out by hand or by a plain loop.
#include <gtest/gtest.h>

#include "tests/caffe2_core/import/onnx/imported_onnx.h"
#include "tests/caffe2_core/import/onnx/node_forms.h"

namespace caffe2rt::test::odd_models_test {
namespace {

using node_forms::Int;
using node_forms::List;
using Ints = std::vector<int64_t>;

const std::string kOddY = "output { name: 'y' } ";

std::string OddNode(const std::string& type, const std::vector<std::string>& inputs,
                    const std::string& output, const std::string& more = "") {
  std::string text = "node { op_type: '" + type + "' output: '" + output + "' ";
  for (const std::string& input : inputs) text += "input: '" + input + "' ";
  return text + more + "} ";
}

// --- constants ---

// The elements that a slice of 0, 1, ... count - 1 has, as in Python.
Ints SlicedOf(int64_t count, int64_t begin, int64_t end, int64_t step) {
  const auto place = [&](int64_t at) {
    if (at < 0) at += count;
    const int64_t least = step > 0 ? 0 : -1, most = step > 0 ? count : count - 1;
    return at < least ? least : at > most ? most : at;
  };
  Ints values;
  const int64_t last = place(end);
  for (int64_t i = place(begin); step > 0 ? i < last : i > last; i += step) values.push_back(i);
  return values;
}

TEST(OddModelsTest, SlicesOfShortListsInAllDirections) {
  for (int64_t count = 1; count <= 4; ++count) {
    Ints all, want = {100};
    for (int64_t i = 0; i < count; ++i) all.push_back(i);
    std::string graph = List("l", all) + List("first", {100}) + List("axes", {0});
    std::vector<std::string> parts = {"first"};
    for (int64_t at = -count - 1; at <= count + 1; ++at) graph += List(MakeString("p", at), {at});
    for (const int64_t step : {-3, -2, -1, 1, 2, 3}) {
      graph += List(MakeString("s", step), {step});
      for (int64_t begin = -count - 1; begin <= count + 1; ++begin) {
        for (const int64_t end : {-count - 1, -count, int64_t{-1}, int64_t{0}, count, count + 1}) {
          parts.push_back(MakeString("y", parts.size()));
          graph += OddNode(
              "Slice",
              {"l", MakeString("p", begin), MakeString("p", end), "axes", MakeString("s", step)},
              parts.back());
          for (const int64_t value : SlicedOf(count, begin, end, step)) want.push_back(value);
        }
      }
    }
    graph += OddNode("Concat", parts, "y", Int("axis", 0));
    const std::string bytes = OnnxBytes(graph + kOddY, 18);
    ASSERT_EQ(OnnxImportError(bytes), "") << count;
    const OnnxModel model = ImportOnnxFromMemory(bytes, {});
    EXPECT_EQ(model.predict_net.op_size(), 1) << count;  // the copy to the output
    EXPECT_EQ(IntsOf(RunOnnxBytes(bytes, {}, "y")), want) << count;
  }
}

// --- inputs ---

TEST(OddModelsTest, NumbersOfSymbolsCountInAllAxes) {
  const std::string bytes =
      OnnxBytes(OnnxValue("input", "x", {"2", "n", "m", "n"}) + OnnxValue("input", "z", {"m"}) +
                    OddNode("Relu", {"x"}, "y") + OddNode("Relu", {"z"}, "w") + kOddY +
                    "output { name: 'w' } ",
                18);
  const auto dims = [&](const OnnxImportOptions& options) {
    const OnnxModel model = ImportOnnxFromMemory(bytes, options);
    EXPECT_EQ(model.inputs.at(0).dims, model.output_dims.at("y"));
    EXPECT_EQ(model.inputs.at(1).dims, model.output_dims.at("w"));
    return std::pair(model.inputs.at(0).dims, model.inputs.at(1).dims);
  };
  EXPECT_EQ(dims({}), std::pair(Ints({2, -1, -1, -1}), Ints({-1})));
  EXPECT_EQ(dims({.dims = {{"n", 5}}}), std::pair(Ints({2, 5, -1, 5}), Ints({-1})));
  EXPECT_EQ(dims({.dims = {{"m", 7}}}), std::pair(Ints({2, -1, 7, -1}), Ints({7})));
  EXPECT_EQ(dims({.dims = {{"n", 5}, {"m", 7}}}), std::pair(Ints({2, 5, 7, 5}), Ints({7})));
  EXPECT_NE(OnnxImportError(bytes, {.dims = {{"k", 5}}})
                .find("the dimension \"k\" is given, but no input of the model has it"),
            std::string::npos);
}

// A node that hands on its input has the blob of the input.
TEST(OddModelsTest, NodesThatLeaveNoOperatorHaveABlob) {
  const OnnxModel model = ImportOnnxFromMemory(
      OnnxBytes(OnnxValue("input", "x", {"2"}) + OddNode("Identity", {"x"}, "a", "name: 'keeps' ") +
                    OddNode("Dropout", {"a"}, "b", "name: 'drops' ") +
                    OddNode("Relu", {"b"}, "c", "name: 'acts' ") +
                    OddNode("Sum", {"c"}, "d", "name: 'sums' ") + OddNode("Abs", {"d"}, "y") +
                    kOddY,
                18),
      {});
  EXPECT_EQ(model.node_blobs,
            (std::map<std::string, std::string>{
                {"keeps", "x"}, {"drops", "x"}, {"acts", "c"}, {"sums", "c"}, {"y", "y"}}));
}

}  // namespace
}  // namespace caffe2rt::test::odd_models_test
