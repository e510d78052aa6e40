// Models whose parts rarely meet: slices of short lists in all directions, symbols in several axes, names of
// nodes that leave no operator, types that the model does not state.
#include <gtest/gtest.h>

#include <cmath>

#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/proto_file.h"
#include "tests/caffe2_core/import/onnx/imported_onnx.h"
#include "tests/caffe2_core/import/onnx/node_forms.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::odd_models_test {
namespace {

using node_forms::Constant;
using node_forms::Float;
using node_forms::Int;
using node_forms::Ints;
using node_forms::kBool;
using node_forms::kFloat;
using node_forms::kInt64;
using node_forms::List;
using node_forms::Node;
using node_forms::Text;
using Numbers = std::vector<int64_t>;

const std::string kOddY = "output { name: 'y' } ";

std::string OddNode(const std::string& type, const std::vector<std::string>& inputs,
                    const std::string& output, const std::string& more = "") {
  std::string text = "node { op_type: '" + type + "' output: '" + output + "' ";
  for (const std::string& input : inputs) text += "input: '" + input + "' ";
  return text + more + "} ";
}

// --- constants ---

// The elements that a slice of 0, 1, ... count - 1 has, as in Python.
Numbers SlicedOf(int64_t count, int64_t begin, int64_t end, int64_t step) {
  const auto place = [&](int64_t at) {
    if (at < 0) at += count;
    const int64_t least = step > 0 ? 0 : -1, most = step > 0 ? count : count - 1;
    return at < least ? least : at > most ? most : at;
  };
  Numbers values;
  const int64_t last = place(end);
  for (int64_t i = place(begin); step > 0 ? i < last : i > last; i += step) values.push_back(i);
  return values;
}

TEST(OddModelsTest, SlicesOfShortListsInAllDirections) {
  for (int64_t count = 1; count <= 4; ++count) {
    Numbers all, want = {100};
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
  EXPECT_EQ(dims({}), std::pair(Numbers({2, -1, -1, -1}), Numbers({-1})));
  EXPECT_EQ(dims({.dims = {{"n", 5}}}), std::pair(Numbers({2, 5, -1, 5}), Numbers({-1})));
  EXPECT_EQ(dims({.dims = {{"m", 7}}}), std::pair(Numbers({2, -1, 7, -1}), Numbers({7})));
  EXPECT_EQ(dims({.dims = {{"n", 5}, {"m", 7}}}), std::pair(Numbers({2, 5, 7, 5}), Numbers({7})));
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

// --- constants that are computed ---

// Whether nothing but the copy of a constant is left.
bool IsComputed(const std::string& graph) {
  const std::string bytes = OnnxBytes(graph + kOddY, 18);
  EXPECT_EQ(OnnxImportError(bytes), "");
  const OnnxModel model = ImportOnnxFromMemory(bytes, {});
  if (model.predict_net.op_size() != 1 || model.predict_net.op(0).type() != "Copy") return false;
  for (const OperatorDef& op : model.init_net.op()) {
    if (!op.type().starts_with("GivenTensor")) return false;
  }
  return true;
}

TEST(OddModelsTest, NaNIsAConstantLikeOthers) {
  const std::string c = Constant("c", kFloat, {2}, {NAN, 1});
  EXPECT_TRUE(IsComputed(c + Node("Add", "cc")));
  EXPECT_TRUE(IsComputed(c + Node("Neg", "c")));
  EXPECT_TRUE(IsComputed(c + Node("Abs", "c", "", "d") + Node("Mul", "dc")));
  const std::vector<float> sum =
      FloatsOf(RunOnnxBytes(OnnxBytes(c + Node("Add", "cc") + kOddY, 18), {}, "y"));
  EXPECT_TRUE(std::isnan(sum.at(0)));
  EXPECT_EQ(sum.at(1), 2);
  // No elements and one are none.
  EXPECT_TRUE(IsComputed(Constant("c", kFloat, {0}, {}) + Constant("d", kFloat, {1}, {2}) +
                         Node("Add", "cd")));
  // A bound that is no number is known, too.
  const std::string bytes =
      OnnxBytes(OnnxValue("input", "x", {"2"}) + Constant("l", kFloat, {}, {NAN}) +
                    Node("Clip", "xl") + kOddY,
                18);
  EXPECT_EQ(ImportOnnxFromMemory(bytes, {}).predict_net.op(0).type(), "Clip");
}

TEST(OddModelsTest, ListsUpToTheLimitAreComputed) {
  for (const int64_t count : {4095, 4096, 4097}) {
    const std::vector<double> ones(static_cast<size_t>(count), 1);
    for (const auto& [type, node] : {std::pair(kInt64, "Neg"), {kFloat, "Neg"}, {kBool, "Not"}}) {
      EXPECT_EQ(IsComputed(Constant("c", type, {count}, ones) + Node(node, "c")), count <= 4096)
          << count << " " << type;
    }
  }
}

// What the model gives is written by its net, in each run, also beside what it does not give.
TEST(OddModelsTest, OutputsOfConstantsAreWrittenByTheNet) {
  const std::string c = Constant("c", kFloat, {4}, {1, 2, 3, 4});
  for (const char* outputs : {"yz", "zy", "yz-", "zyw"}) {
    const std::string parts =
        c + Node("Split", "c",
                 Int("num_outputs", static_cast<int64_t>(std::string(outputs).size())), outputs);
    const OnnxModel model = ImportOnnxFromMemory(OnnxBytes(parts + kOddY, 18), {});
    bool written = false;
    for (const OperatorDef& op : model.predict_net.op()) {
      for (const std::string& output : op.output()) written |= output == "y";
    }
    EXPECT_TRUE(written) << outputs;
    // What nothing gives is computed once.
    const OnnxModel inner = ImportOnnxFromMemory(
        OnnxBytes(c + Node("Split", "c", Int("num_outputs", 2), "zw") + Node("Exp", "z") + kOddY,
                  18),
        {});
    ASSERT_EQ(inner.predict_net.op_size(), 1);
    EXPECT_EQ(inner.predict_net.op(0).type(), "Exp");
  }
}

// --- images ---

// All axes get one scale: the least of 1, 1, 2 and 3, or the largest.
TEST(OddModelsTest, WholeFactorsKeepTheAspectRatioThatTheyAreTold) {
  const std::string sizes = List("s", {1, 1, 4, 6}),
                    plain = Text("mode", "nearest") +
                            Text("coordinate_transformation_mode", "asymmetric") +
                            Text("nearest_mode", "floor");
  const auto dims = [&](const std::string& policy) {
    const std::string bytes = OnnxBytes(
        OnnxValue("input", "x", {"1", "1", "2", "2"}) + sizes +
            Node("Resize", "x--s",
                 plain + (policy.empty() ? "" : Text("keep_aspect_ratio_policy", policy))) +
            kOddY,
        18);
    EXPECT_EQ(OnnxImportError(bytes), "");
    return RunOnnxBytes(bytes, {{"x", FloatTensor({1, 1, 2, 2}, {1, 2, 3, 4})}}, "y").dims();
  };
  EXPECT_EQ(dims(""), (Numbers{1, 1, 4, 6}));
  EXPECT_EQ(dims("stretch"), (Numbers{1, 1, 4, 6}));
  EXPECT_EQ(dims("not_larger"), (Numbers{1, 1, 2, 2}));
  EXPECT_EQ(dims("not_smaller"), (Numbers{3, 3, 6, 6}));
}

// Caffe2's operators only where they read the same places.
TEST(OddModelsTest, ImagesAreEnlargedByTheOperatorOfTheirPlaces) {
  for (const std::string mode : {"nearest", "linear", "cubic"}) {
    for (const std::string place :
         {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric",
          "tf_half_pixel_for_nn", "tf_crop_and_resize"}) {
      for (const std::string rounding :
           {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}) {
        const std::string bytes =
            OnnxBytes(OnnxValue("input", "x", {"1", "2", "4", "6"}) +
                          Constant("r", kFloat, {8}, {0, 0, 0, 0, 1, 1, 1, 1}) +
                          Constant("s", kFloat, {4}, {1, 1, 2, 3}) +
                          Node("Resize", "xrs",
                               Text("mode", mode) + Text("coordinate_transformation_mode", place) +
                                   Text("nearest_mode", rounding)) +
                          kOddY,
                      19);
        ASSERT_EQ(OnnxImportError(bytes), "");
        const bool centres = place == "half_pixel" && rounding.starts_with("round");
        const bool corners = place == "asymmetric" && rounding == "floor";
        EXPECT_EQ(ImportOnnxFromMemory(bytes, {}).predict_net.op(0).type(),
                  mode == "nearest" && (centres || corners)      ? "ResizeNearest"
                  : mode == "linear" && place == "align_corners" ? "UpsampleBilinear"
                                                                 : "Resize")
            << mode << " " << place << " " << rounding;
      }
    }
  }
}

// --- types ---

TEST(OddModelsTest, RandomBitsHaveTheTypeOfTheirProbabilities) {
  const auto run = [](int type, const std::string& more) {
    const std::string bytes =
        OnnxBytes(OnnxValue("input", "x", {"2"}, type) + Node("Bernoulli", "x", more) + kOddY, 18);
    EXPECT_EQ(OnnxImportError(bytes), "");
    Tensor x = FloatTensor({2}, {0, 1});
    if (type == 11) {
      x = Tensor(Numbers{2}, CPU);
      x.mutable_data<double>()[0] = 0;
      x.mutable_data<double>()[1] = 1;
    }
    return RunOnnxBytes(bytes, {{"x", x}}, "y");
  };
  const Tensor doubles = run(11, ""), floats = run(kFloat, ""),
               whole = run(11, Int("dtype", kInt64));
  ASSERT_TRUE(doubles.IsType<double>());
  EXPECT_EQ(doubles.data<double>()[0], 0);
  EXPECT_EQ(doubles.data<double>()[1], 1);
  EXPECT_TRUE(floats.IsType<float>());
  ASSERT_TRUE(whole.IsType<int64_t>());
  EXPECT_EQ(IntsOf(whole), (Numbers{0, 1}));
}

// The model does not state what x holds.
TEST(OddModelsTest, InputsWithoutATypeBecomeFloatsBeforeTheyAreRounded) {
  for (const int half : {10, 16}) {
    const std::string bytes =
        OnnxBytes("input { name: 'x' } " + Node("Cast", "x", Int("to", half), "h") +
                      Node("Cast", "h", Int("to", kFloat)) + kOddY,
                  18);
    ASSERT_EQ(OnnxImportError(bytes), "");
    EXPECT_EQ(FloatsOf(RunOnnxBytes(bytes, {{"x", IntTensor({2}, {3, -4})}}, "y")),
              (std::vector<float>{3, -4}))
        << half;
    EXPECT_EQ(FloatsOf(RunOnnxBytes(bytes, {{"x", FloatTensor({2}, {0.5f, -4})}}, "y")),
              (std::vector<float>{0.5f, -4}))
        << half;
  }
}

// Also where only a run knows the shape, or where there are more elements than the import computes.
TEST(OddModelsTest, ConstantsOfShapesAreExact) {
  const auto check = [](const std::string& value, const auto& want) {
    using T = std::decay_t<decltype(want)>;
    const std::string attribute =
        "attribute { name: 'value' type: TENSOR t { dims: 1 " + value + " } } ";
    for (const int64_t rows : {0, 3, 5000}) {
      for (const bool known : {true, false}) {
        SCOPED_TRACE(MakeString(value, " ", rows, known ? " known" : " of a run"));
        const std::string graph =
            (known ? List("s", {rows, 2}) : OnnxValue("input", "s", {"2"}, kInt64)) +
            Node("ConstantOfShape", "s", attribute);
        const std::string bytes = OnnxBytes(graph + kOddY, 18);
        ASSERT_EQ(OnnxImportError(bytes), "");
        NamedTensors inputs;
        if (!known) inputs.emplace_back("s", IntTensor({2}, {rows, 2}));
        const Tensor y = RunOnnxBytes(bytes, inputs, "y");
        ASSERT_TRUE(y.IsType<T>());
        EXPECT_EQ(y.dims(), (Numbers{rows, 2}));
        for (int64_t i = 0; i < y.numel(); ++i) ASSERT_EQ(y.data<T>()[i], want) << i;
      }
    }
  };
  check("data_type: 1 float_data: 0.1", 0.1f);
  check("data_type: 11 double_data: 0.1", 0.1);
  check("data_type: 11 double_data: 1e300", 1e300);
  check("data_type: 7 int64_data: 9223372036854775807", int64_t{INT64_MAX});
  check("data_type: 7 int64_data: -9223372036854775808", int64_t{INT64_MIN});
  check("data_type: 7 int64_data: 9007199254740993", int64_t{9007199254740993});
  check("data_type: 12 uint64_data: 4294967295", uint32_t{4294967295});
  check("data_type: 13 uint64_data: 18446744073709551615", uint64_t{UINT64_MAX});
  check("data_type: 6 int32_data: -2147483648", int32_t{INT32_MIN});
  check("data_type: 3 int32_data: -128", int8_t{-128});
  check("data_type: 2 int32_data: 255", uint8_t{255});
  check("data_type: 5 int32_data: -32768", int16_t{-32768});
  check("data_type: 4 int32_data: 65535", uint16_t{65535});
  check("data_type: 9 int32_data: 1", true);
}

TEST(OddModelsTest, FilesMayHoldNoTexts) {
  const TempDir folder;
  const std::string path = folder.path("t.pb");
  onnx::TensorProto proto;
  proto.set_data_type(onnx::TensorProto::STRING);
  for (const int64_t dim : {2, 0}) proto.add_dims(dim);
  WriteFileAtomically(path, ProtoToBinary(proto));
  const Tensor texts = ReadOnnxTensor(path);
  EXPECT_TRUE(texts.IsType<std::string>());
  EXPECT_EQ(texts.dims(), (Numbers{2, 0}));
  proto.set_dims(1, 1);
  for (const char* text : {"a", ""}) proto.add_string_data(text);
  WriteFileAtomically(path, ProtoToBinary(proto));
  const Tensor two = ReadOnnxTensor(path);
  EXPECT_EQ(two.dims(), (Numbers{2, 1}));
  EXPECT_EQ(two.data<std::string>()[0], "a");
  EXPECT_EQ(two.data<std::string>()[1], "");
}

// --- graphs inside of others ---

// Without an iteration, a list has no items, whose sizes are 0 where only a run knows them.
TEST(OddModelsTest, ListsOfNoIterationHaveTheDimsThatAreKnown) {
  const std::string body =
      "attribute { name: 'body' type: GRAPH g { input { name: 'i' } input { name: 'k' } " +
      Node("Identity", "k", "", "q") + Node("Neg", "x", "", "t") +
      "output { name: 'q' } output { name: 't' } } } ";
  const std::string bytes =
      OnnxBytes(OnnxValue("input", "x", {"2", "m"}) + OnnxValue("input", "n", {}, kInt64) +
                    Node("Loop", "n-", body) + kOddY,
                18);
  ASSERT_EQ(OnnxImportError(bytes), "");
  const auto dims = [&](int64_t steps) {
    return RunOnnxBytes(
               bytes,
               {{"x", FloatTensor({2, 3}, std::vector<float>(6))}, {"n", IntTensor({}, {steps})}},
               "y")
        .dims();
  };
  EXPECT_EQ(dims(0), (Numbers{0, 2, 0}));
  EXPECT_EQ(dims(1), (Numbers{1, 2, 3}));
  EXPECT_EQ(dims(4), (Numbers{4, 2, 3}));
}

// The blobs of a call have its name, so that they are not taken for those of the model.
TEST(OddModelsTest, BlobsOfACallHaveItsName) {
  const std::string function =
      "opset_import { domain: 'own' version: 1 } functions { name: 'F' domain: 'own' input: 'a' "
      "output: 'b' opset_import { version: 17 } node { op_type: 'Exp' input: 'a' output: 't' } "
      "node { op_type: 'Neg' input: 't' output: 'b' } } ";
  const std::string call =
      "node { op_type: 'F' domain: 'own' name: 'call' input: 'x' output: 'y' } ";
  const OnnxModel model = ImportOnnxFromMemory(
      OnnxBytes(OnnxValue("input", "x", {"2"}) + call + kOddY, 17, function), {});
  ASSERT_GE(model.predict_net.op_size(), 2);
  EXPECT_EQ(model.predict_net.op(0).output(0), "call/t");
  EXPECT_EQ(model.node_blobs.at("call/t"), "call/t");
}

TEST(OddModelsTest, SeedsOfAllRandomNodesAreNoted) {
  for (const char* type :
       {"RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike"}) {
    const bool like = std::string(type).ends_with("Like");
    const std::string node = like ? Node(type, "x", Float("seed", 1))
                                  : Node(type, "", Float("seed", 1) + Ints("shape", {2}));
    const OnnxModel model =
        ImportOnnxFromMemory(OnnxBytes(OnnxValue("input", "x", {"2"}) + node + kOddY, 18), {});
    ASSERT_EQ(model.notes.size(), 1u) << type;
    EXPECT_EQ(model.notes[0], "node \"n\": its seed has no effect: --seed sets that of the model");
  }
}

// (1, 10 | 100, 1000) and (1, 3 | 2, 4), each as it is or turned, and a bias that a float does not hold.
TEST(OddModelsTest, ProductsOfDoublesAndIntegersMayBeTurned) {
  const int64_t x[] = {1, 10, 100, 1000}, b[] = {1, 3, 2, 4}, c[] = {1099511627777, 7};
  const std::vector<int64_t> four(x, x + 4);
  for (const int type : {11, kInt64, 6}) {
    const std::string list = type == 11 ? "double_data" : type == 6 ? "int32_data" : "int64_data";
    const std::string bias = type == 6 ? "[5, 7]" : "[1099511627777, 7]";
    const std::string parts =
        MakeString("initializer { name: 'b' data_type: ", type, " dims: 2 dims: 2 ", list,
                   ": [1, 3, 2, 4] } initializer { name: 'c' data_type: ", type, " dims: 2 ", list,
                   ": ", bias, " } ");
    for (const int64_t a_turned : {0, 1}) {
      for (const int64_t b_turned : {0, 1}) {
        SCOPED_TRACE(MakeString(type, " ", a_turned, " ", b_turned));
        const std::string bytes = OnnxBytes(
            OnnxValue("input", "x", {"2", "2"}, kInt64) + parts +
                Node("Cast", "x", Int("to", type), "a") +
                Node("Gemm", "abc", Int("transA", a_turned) + Int("transB", b_turned), "p") +
                kOddY + Node("Cast", "p", Int("to", kInt64)),
            18);
        ASSERT_EQ(OnnxImportError(bytes), "");
        std::vector<int64_t> want;
        for (int i = 0; i < 2; ++i) {
          for (int j = 0; j < 2; ++j) {
            int64_t sum = type == 6 && j == 0 ? 5 : c[j];
            for (int k = 0; k < 2; ++k)
              sum += x[a_turned != 0 ? k * 2 + i : i * 2 + k] *
                     b[b_turned != 0 ? j * 2 + k : k * 2 + j];
            want.push_back(sum);
          }
        }
        EXPECT_EQ(IntsOf(RunOnnxBytes(bytes, {{"x", IntTensor({2, 2}, four)}}, "y")), want);
      }
    }
  }
}

}  // namespace
}  // namespace caffe2rt::test::odd_models_test
