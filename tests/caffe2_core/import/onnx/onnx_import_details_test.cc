// Details of imported nets: bytes of raw elements, names of operators and of nets inside of
// operators, constants of types without a fill, shapes that only a run knows.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/proto_file.h"
#include "tests/caffe2_core/import/onnx/imported_onnx.h"
#include "tests/caffe2_core/import/onnx/node_forms.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::onnx_import_details_test {
namespace {

using namespace node_forms;  // used throughout this file
using Proto = onnx::TensorProto;

std::string Named(const std::string& type, const std::string& name, const std::string& inputs,
                  const std::string& outputs, const std::string& attributes = "") {
  std::string text = "node { op_type: '" + type + "' name: '" + name + "' ";
  for (const char input : inputs) text += MakeString("input: '", std::string(1, input), "' ");
  for (const char output : outputs) text += MakeString("output: '", std::string(1, output), "' ");
  return text + attributes + "} ";
}
std::string Graph(const std::string& name, const std::string& content) {
  return "attribute { name: '" + name + "' type: GRAPH g { name: 'inside' " + content + " } } ";
}
std::string Out(const std::string& name) { return "output { name: '" + name + "' } "; }

// --- elements ---

TEST(OnnxImportDetailsTest, RawElementsOfEachTypeHaveTheirSize) {
  const std::pair<int, int> sizes[] = {{Proto::FLOAT, 4},   {Proto::DOUBLE, 8}, {Proto::UINT8, 1},
                                       {Proto::INT8, 1},    {Proto::UINT16, 2}, {Proto::INT16, 2},
                                       {Proto::INT32, 4},   {Proto::INT64, 8},  {Proto::UINT32, 4},
                                       {Proto::UINT64, 8},  {Proto::BOOL, 1},   {Proto::FLOAT16, 2},
                                       {Proto::BFLOAT16, 2}};
  for (const auto& [type, size] : sizes) {
    SCOPED_TRACE(type);
    const auto error = [&, type = type](int bytes) {
      std::string raw;
      for (int i = 0; i < bytes; ++i) raw += "\\001";
      return OnnxImportError(OnnxBytes(MakeString("initializer { name: 'w' data_type: ", type,
                                                  " dims: 3 raw_data: '", raw, "' } ") +
                                       Node("Identity", "w") + Out("y")));
    };
    EXPECT_EQ(error(3 * size), "");
    for (const int other : {3 * size - 1, 3 * size + 1}) {
      EXPECT_NE(
          error(other).find(MakeString("bytes of elements: got ", other, ", want ", 3 * size)),
          std::string::npos)
          << error(other);
    }
  }
}

// The init net creates them as lists of int32 or int64 and casts them.
TEST(OnnxImportDetailsTest, ConstantsOfTypesWithoutAFill) {
  const struct {
    int type;
    const char* elements;
    std::vector<int64_t> want;
  } rows[] = {{Proto::INT8, "int32_data: -128 int32_data: 127", {-128, 127}},
              {Proto::UINT16, "int32_data: 65535 int32_data: 1", {65535, 1}},
              {Proto::UINT32, "uint64_data: 4294967295 uint64_data: 2", {4294967295, 2}},
              {Proto::UINT64, "uint64_data: 18446744073709551615 uint64_data: 3", {-1, 3}}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.type);
    const std::string bytes =
        OnnxBytes(MakeString("initializer { name: 'w' dims: 2 dims: 1 data_type: ", row.type, " ",
                             row.elements, " } ") +
                  Node("Identity", "w") + Out("y"));
    const OnnxModel model = ImportOnnxFromMemory(bytes, {});
    ASSERT_EQ(model.weights.size(), 1u);
    const Tensor& values = model.weights[0].values;
    EXPECT_EQ(values.sizes(), (std::vector<int64_t>{2}));
    const bool is_int = row.type == Proto::INT8 || row.type == Proto::UINT16;
    ASSERT_TRUE(is_int ? values.IsType<int32_t>() : values.IsType<int64_t>());
    for (size_t i = 0; i < 2; ++i) {
      const int64_t number =
          values.IsType<int32_t>() ? values.data<int32_t>()[i] : values.data<int64_t>()[i];
      EXPECT_EQ(number, row.want[i]);
    }
    EXPECT_EQ(model.init_net.op(model.weights[0].op).type(),
              is_int ? "GivenTensorIntFill" : "GivenTensorInt64Fill");
    const Tensor y = RunOnnxBytes(bytes, {}, "y");
    EXPECT_EQ(y.sizes(), (std::vector<int64_t>{2, 1}));
    EXPECT_TRUE(row.type == Proto::INT8     ? y.IsType<int8_t>()
                : row.type == Proto::UINT16 ? y.IsType<uint16_t>()
                : row.type == Proto::UINT32 ? y.IsType<uint32_t>()
                                            : y.IsType<uint64_t>());
  }
}

TEST(OnnxImportDetailsTest, WrittenNarrowTensorsHaveNameAndDims) {
  const TempDir folder;
  WriteNarrowOnnxTensor(folder.path("t.pb"), "weights", FloatTensor({3, 1}, {1, -2, 3}),
                        NarrowFormat::kInt4);
  onnx::TensorProto proto;
  ASSERT_TRUE(proto.ParseFromString(ReadWholeFile(folder.path("t.pb"))));
  EXPECT_EQ(proto.name(), "weights");
  EXPECT_EQ(proto.data_type(), Proto::INT4);
  ASSERT_EQ(proto.dims_size(), 2);
  EXPECT_EQ(proto.dims(0), 3);
  EXPECT_EQ(proto.dims(1), 1);
  // 1 and 14 (-2) in the first byte, lower bits first, and 3 in the second.
  EXPECT_EQ(proto.raw_data(), "\xe1\x03");
}

// --- names ---

TEST(OnnxImportDetailsTest, OperatorsHaveTheNameOfTheirNode) {
  // Half precision: each node is computed in float and rounded.
  const OnnxModel half = ImportOnnxFromMemory(
      OnnxBytes(OnnxValue("input", "x", {"2"}, Proto::FLOAT16) + Named("Add", "sum", "xx", "h") +
                Named("Mul", "square", "hh", "y") +
                OnnxValue("output", "y", {"2"}, Proto::FLOAT16)),
      {});
  for (const char* name : {"sum", "square"}) {
    int narrowed = 0, widened = 0;
    for (const OperatorDef& op : half.predict_net.op()) {
      if (op.name() != name) continue;
      EXPECT_EQ(op.debug_info(), name);
      narrowed += op.type() == "FloatToHalf";
      widened += op.type() == "HalfToFloat";
    }
    EXPECT_GE(narrowed, 1) << name;
    EXPECT_GE(widened, 1) << name;
  }
  // A value between the operators of a node has the name of the operator in small letters.
  const OnnxModel nan = ImportOnnxFromMemory(
      OnnxBytes(OnnxValue("input", "x", {"2"}) + Named("IsNaN", "Test", "x", "y") + Out("y")), {});
  ASSERT_GE(nan.predict_net.op_size(), 2);
  EXPECT_EQ(nan.predict_net.op(0).output(0), "Test/isnan");
}

TEST(OnnxImportDetailsTest, NetsOfBranchesAndBodiesHaveTheNameOfTheirNode) {
  const std::string branches = Graph("then_branch", Named("Neg", "turn", "x", "p") + Out("p")) +
                               Graph("else_branch", Named("Abs", "size", "x", "q") + Out("q"));
  const OnnxModel chosen = ImportOnnxFromMemory(
      OnnxBytes(OnnxValue("input", "x", {"2"}) + OnnxValue("input", "c", {}, kBool) +
                Named("If", "choice", "c", "y", branches) + Out("y")),
      {});
  const auto found = std::find_if(chosen.predict_net.op().begin(), chosen.predict_net.op().end(),
                                  [](const OperatorDef& op) { return op.type() == "If"; });
  ASSERT_NE(found, chosen.predict_net.op().end());
  EXPECT_EQ(found->name(), "choice");
  EXPECT_EQ(found->debug_info(), "choice");
  const std::pair<const char*, const char*> names[] = {{"then_net", "choice/then"},
                                                       {"else_net", "choice/else"}};
  for (const auto& [argument, name] : names) {
    const Argument* const net = GetArgumentPtr(*found, argument);
    ASSERT_NE(net, nullptr) << argument;
    EXPECT_EQ(net->n().name(), name);
    ASSERT_GE(net->n().op_size(), 2);
    const OperatorDef& copy = *net->n().op().rbegin();
    EXPECT_EQ(copy.type(), "Copy");
    EXPECT_EQ(copy.name(), "choice");
    EXPECT_EQ(copy.debug_info(), "choice");
    EXPECT_EQ(copy.output(0), "y");
    EXPECT_EQ(net->n().external_output(0), "y");
  }
  const std::string body =
      Graph("body", "input { name: 'i' } input { name: 'k' } input { name: 'v' } " +
                        Named("Identity", "on", "k", "q") + Named("Neg", "turn", "v", "r") +
                        Named("Abs", "size", "v", "e") + Out("q") + Out("r") + Out("e"));
  const OnnxModel repeated = ImportOnnxFromMemory(
      OnnxBytes(OnnxValue("input", "x", {"2"}) + OnnxValue("input", "n", {}, kInt64) +
                "node { op_type: 'Loop' name: 'again' input: 'n' input: '' input: 'x' "
                "output: 'y' output: 'z' " +
                body + "} " + Out("y") + Out("z")),
      {});
  const auto loop = std::find_if(repeated.predict_net.op().begin(), repeated.predict_net.op().end(),
                                 [](const OperatorDef& op) { return op.type() == "ONNXWhile"; });
  ASSERT_NE(loop, repeated.predict_net.op().end());
  EXPECT_EQ(loop->name(), "again");
  EXPECT_EQ(loop->debug_info(), "again");
  const Argument* const net = GetArgumentPtr(*loop, "body");
  ASSERT_NE(net, nullptr);
  EXPECT_EQ(net->n().name(), "again/body");
  int own = 0;
  for (const OperatorDef& op : net->n().op()) {
    EXPECT_FALSE(op.debug_info().empty()) << op.type();
    EXPECT_EQ(op.debug_info(), op.name()) << op.type();
    own += op.name() == "again" && op.type() == "ExpandDims";
  }
  EXPECT_EQ(own, 1);
}

// --- inputs and arguments ---

// What the init net creates is what it lists, and what the other net reads.
TEST(OnnxImportDetailsTest, NetsListTheWeightsThatAreRead) {
  const OnnxModel model = ImportOnnxFromMemory(
      OnnxBytes(OnnxValue("input", "x", {"2"}) + Constant("w", kFloat, {2}, {1, 2}) +
                Constant("u", kFloat, {2}, {1, 2}) + Constant("v", kFloat, {2}, {3, 4}) +
                Node("Mul", "xw", "", "h") + Node("Add", "hv") + Node("Sub", "xu", "", "z") +
                Out("y")),
      {});
  const auto lists = [](const google::protobuf::RepeatedPtrField<std::string>& names) {
    return std::vector<std::string>(names.begin(), names.end());
  };
  EXPECT_EQ(lists(model.init_net.external_output()), (std::vector<std::string>{"w", "v"}));
  EXPECT_EQ(lists(model.predict_net.external_input()), (std::vector<std::string>{"x", "w", "v"}));
  EXPECT_EQ(lists(model.predict_net.external_output()), std::vector<std::string>{"y"});
  EXPECT_EQ(model.init_net.op_size(), 2);
  ASSERT_EQ(model.weights.size(), 2u);
  EXPECT_EQ(model.weights[1].op, 1);
  EXPECT_EQ(model.weights[1].values.data<float>()[1], 4);
}

TEST(OnnxImportDetailsTest, GivenShapesHaveNoSymbols) {
  const std::string bytes =
      OnnxBytes(OnnxValue("input", "x", {"n", "m"}) + Node("Relu") + Out("y"));
  const OnnxModel given = ImportOnnxFromMemory(bytes, {.input_shapes = {{"x", {4, 5}}}});
  ASSERT_EQ(given.inputs.size(), 1u);
  EXPECT_EQ(given.inputs[0].dims, (std::vector<int64_t>{4, 5}));
  EXPECT_EQ(given.inputs[0].symbols, (std::vector<std::string>{"", ""}));
  const OnnxModel named = ImportOnnxFromMemory(bytes, {.dims = {{"n", 4}}});
  EXPECT_EQ(named.inputs[0].dims, (std::vector<int64_t>{4, -1}));
  EXPECT_EQ(named.inputs[0].symbols, (std::vector<std::string>{"n", "m"}));
}

// A list of one number is that number, and no list.
TEST(OnnxImportDetailsTest, ParametersOfOneNumberAreNoLists) {
  const OnnxModel model =
      ImportOnnxFromMemory(OnnxBytes(OnnxValue("input", "x", {"2", "2"}) + List("k", {-1}, true) +
                                     Node("Trilu", "xk") + Out("y")),
                           {});
  const Argument* const k = GetArgumentPtr(model.predict_net.op(0), "k");
  ASSERT_NE(k, nullptr);
  EXPECT_TRUE(k->has_i());
  EXPECT_EQ(k->i(), -1);
  EXPECT_EQ(k->ints_size(), 0);
}

// Pads of 3 for a window of 4: the odd one is at the end, or at the head.
TEST(OnnxImportDetailsTest, AutomaticPadsDivideUnevenNumbers) {
  for (const auto& [auto_pad, want] : {std::pair("SAME_UPPER", std::vector<int64_t>{1, 0, 2, 1}),
                                       {"SAME_LOWER", std::vector<int64_t>{2, 1, 1, 0}}}) {
    const OnnxModel model = ImportOnnxFromMemory(
        OnnxBytes(OnnxValue("input", "x", {"1", "1", "5", "5"}) +
                  Constant("w", kFloat, {1, 1, 4, 2}, std::vector<double>(8, 1)) +
                  Node("Conv", "xw", Ints("strides", {1, 2}) + Text("auto_pad", auto_pad)) +
                  Out("y")),
        {});
    ASSERT_EQ(model.predict_net.op_size(), 1);
    EXPECT_EQ(ArgumentHelper(model.predict_net.op(0)).GetRepeatedArgument<int64_t>("pads"), want)
        << auto_pad;
    EXPECT_EQ(model.output_dims.at("y"), (std::vector<int64_t>{1, 1, 5, 3})) << auto_pad;
  }
}

// The statistics are computed in float, and the result has the type of the input.
TEST(OnnxImportDetailsTest, NormalizationsOfDoublesHaveDoubles) {
  const std::string graph =
      OnnxValue("input", "x", {"1", "2"}) + Node("Cast", "x", Int("to", Proto::DOUBLE), "d") +
      "initializer { name: 's' data_type: 11 dims: 2 double_data: 2 double_data: 4 } " +
      Node("RMSNormalization", "ds", Float("epsilon", 3.5f)) + Out("y");
  // The mean of the squares is 12.5, and the root of 16 is 4.
  const Tensor y = RunOnnxBytes(OnnxBytes(graph, 23), {{"x", FloatTensor({1, 2}, {3, 4})}}, "y");
  ASSERT_TRUE(y.IsType<double>());
  EXPECT_NEAR(y.data<double>()[0], 1.5, 1e-6);
  EXPECT_NEAR(y.data<double>()[1], 4, 1e-6);
}

// Files before IR version 3 import no opset: in version 1 a Reshape has its shape as attribute.
TEST(OnnxImportDetailsTest, FilesWithoutOpsetsHaveTheFirst) {
  onnx::ModelProto model;
  ASSERT_TRUE(model.ParseFromString(OnnxBytes(
      OnnxValue("input", "x", {"2", "3"}) + Node("Reshape", "x", Ints("shape", {3, 2})) + Out("y"),
      1)));
  model.clear_opset_import();
  model.set_ir_version(2);
  const std::string bytes = model.SerializeAsString();
  EXPECT_EQ(OnnxImportError(bytes), "");
  EXPECT_EQ(RunOnnxBytes(bytes, {{"x", FloatTensor({2, 3}, {1, 2, 3, 4, 5, 6})}}, "y").sizes(),
            (std::vector<int64_t>{3, 2}));
}

// Numbers of uint64 that no signed type holds.
TEST(OnnxImportDetailsTest, OperatorsWithoutAKernelForLargeNumbers) {
  const auto error = [](const std::string& type) {
    return OnnxImportError(
        OnnxBytes(OnnxValue("input", "x", {"2"}, Proto::UINT64) + Node(type, "xx") + Out("y")));
  };
  for (const char* type : {"Div", "Mean"}) {
    EXPECT_NE(error(type).find("operator Div has no kernel for elements of type UINT64"),
              std::string::npos)
        << error(type);
  }
  // Sums have the same bits as those of int64.
  for (const char* type : {"Add", "Sub", "Mul", "Sum"}) EXPECT_EQ(error(type), "") << type;
}

TEST(OnnxImportDetailsTest, CountsOfGramsHaveTheirArguments) {
  const auto floats = [](const std::string& name, const std::string& values) {
    return "attribute { name: '" + name + "' type: FLOATS " + values + " } ";
  };
  Form form = {
      Node("TfIdfVectorizer", "x",
           Int("min_gram_length", 1) + Int("max_gram_length", 2) + Int("max_skip_count", 3) +
               Text("mode", "TFIDF") + Ints("ngram_counts", {0, 2}) +
               Ints("ngram_indexes", {0, 1, 2}) + Ints("pool_int64s", {5, 6, 7, 8}) +
               floats("weights", "floats: 0.5 floats: 2 floats: 4")),
      "TfIdfVectorizer(x) min_gram_length=1 max_gram_length=2 max_skip_count=3 mode=TFIDF "
      "ngram_counts=[0,2] ngram_indexes=[0,1,2] pool_int64s=[5,6,7,8] weights=[0.5,2,4] "
      "-> y\n",
      {{"x", {"6"}}}};
  form.type = kInt64;
  Check({form});
  // By default, single numbers are counted: 3 once and 2 twice.
  const std::string graph =
      OnnxValue("input", "x", {"4"}, kInt64) +
      Node("TfIdfVectorizer", "x",
           Ints("ngram_counts", {0}) + Ints("ngram_indexes", {1, 0}) + Ints("pool_int64s", {2, 3}) +
               Text("mode", "TF") + Int("max_gram_length", 1) + Int("min_gram_length", 1) +
               Int("max_skip_count", 0)) +
      Out("y");
  EXPECT_EQ(FloatsOf(RunOnnxBytes(OnnxBytes(graph), {{"x", IntTensor({4}, {2, 3, 2, 5})}}, "y")),
            (std::vector<float>{1, 2}));
  const std::string defaults = OnnxValue("input", "x", {"4"}, kInt64) +
                               Node("TfIdfVectorizer", "x",
                                    Ints("ngram_counts", {0}) + Ints("ngram_indexes", {1, 0}) +
                                        Ints("pool_int64s", {2, 3})) +
                               Out("y");
  EXPECT_EQ(FloatsOf(RunOnnxBytes(OnnxBytes(defaults), {{"x", IntTensor({4}, {2, 3, 2, 5})}}, "y")),
            (std::vector<float>{1, 2}));
}

// Inputs 3, 4 and 6 of 8 are absent. Of the gates only that of the new values reads the state, and
// peepholes only that of the output: the cell is 1/2, that gate the sigmoid of ln 3.
TEST(OnnxImportDetailsTest, GapsBetweenInputsKeepTheirPlaces) {
  const std::string graph =
      OnnxValue("input", "x", {"1", "1", "1"}) + Constant("w", kFloat, {1, 4, 1}, {0, 0, 0, 0}) +
      Constant("r", kFloat, {1, 4, 1}, {0, 0, 0, 50}) + Constant("h", kFloat, {1, 1, 1}, {1}) +
      Constant("p", kFloat, {1, 3}, {0, 2 * std::log(3.0), 0}) +
      Node("LSTM", "xwr--h-p", Int("hidden_size", 1)) + Out("y");
  const OnnxModel model = ImportOnnxFromMemory(OnnxBytes(graph), {});
  ASSERT_EQ(model.predict_net.op_size(), 1);
  EXPECT_EQ(ArgumentHelper(model.predict_net.op(0)).GetRepeatedArgument<int>("omitted_inputs"),
            (std::vector<int>{3, 4, 6}));
  const Tensor y = RunOnnxBytes(OnnxBytes(graph), {{"x", FloatTensor({1, 1, 1}, {7})}}, "y");
  ASSERT_EQ(y.numel(), 1);
  EXPECT_NEAR(y.data<float>()[0], 0.75 * std::tanh(0.5), 1e-5);
}

TEST(OnnxImportDetailsTest, DepthsThatTheRunDecides) {
  const std::string values = Constant("v", kFloat, {2}, {0, 1}),
                    indices = OnnxValue("input", "i", {"2"}, kInt64);
  const std::string run =
      indices + OnnxValue("input", "d", {}, kInt64) + values + Node("OneHot", "idv") + Out("y");
  const Tensor y =
      RunOnnxBytes(OnnxBytes(run), {{"i", IntTensor({2}, {0, 2})}, {"d", IntTensor({}, {3})}}, "y");
  EXPECT_EQ(y.sizes(), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(FloatsOf(y), (std::vector<float>{1, 0, 0, 0, 0, 1}));
  const OnnxModel known =
      ImportOnnxFromMemory(OnnxBytes(indices + List("d", {3}, true) + values +
                                     Node("OneHot", "idv", Int("axis", 0)) + Out("y")),
                           {});
  EXPECT_EQ(known.output_dims.at("y"), (std::vector<int64_t>{3, 2}));
}

TEST(OnnxImportDetailsTest, OnePartIsNotSplit) {
  const OnnxModel model = ImportOnnxFromMemory(
      OnnxBytes(OnnxValue("input", "x", {"2", "3"}) + List("p", {2}, true) + List("k", {0}, true) +
                Node("SplitToSequence", "xp", "", "s") + Node("SequenceAt", "sk", "", "h") +
                Node("Neg", "h") + Out("y")),
      {});
  ASSERT_EQ(model.predict_net.op_size(), 1);
  EXPECT_EQ(model.predict_net.op(0).type(), "Negative");
}

// Attributes whose default has another effect.
TEST(OnnxImportDetailsTest, AttributesOfRareNodesAreRead) {
  const std::string two = Constant("s", kFloat, {3}, {1, 1, 1});
  Check({{two + Node("InstanceNormalization", "xss", Float("epsilon", 0.5f)),
          "InstanceNorm(x, s, s) epsilon=0.5 -> y\n", kImage},
         {Node("ReduceL1", "x", Int("keepdims", 0)), "ReduceL1(x) keepdims=0 -> y\n"}});
  const auto run = [](const std::string& node, const std::vector<float>& x, int64_t opset) {
    const auto size = static_cast<int64_t>(x.size());
    return FloatsOf(RunOnnxBytes(
        OnnxBytes(OnnxValue("input", "x", {MakeString(size)}) + node + Out("y"), opset),
        {{"x", FloatTensor({size}, x)}}, "y"));
  };
  EXPECT_EQ(
      run(Node("Shrink", "x", Float("lambd", 1.5f) + Float("bias", 0.25f)), {-2, -1, 1, 2}, 9),
      (std::vector<float>{-1.75f, 0, 0, 1.75f}));
  // Powers of two around 2.5 and 12.
  const auto rounded = [](const std::string& mode) {
    return Node("Cast", "x", Int("to", Proto::FLOAT8E8M0) + mode, "h") +
           Node("Cast", "h", Int("to", kFloat));
  };
  EXPECT_EQ(run(rounded(""), {2.5f, 12.5f}, 24), (std::vector<float>{4, 16}));
  EXPECT_EQ(run(rounded(Text("round_mode", "down")), {2.5f, 12.5f}, 24),
            (std::vector<float>{2, 8}));
  EXPECT_EQ(run(rounded(Text("round_mode", "nearest")), {2.5f, 12.5f}, 24),
            (std::vector<float>{2, 16}));
}

TEST(OnnxImportDetailsTest, RegionsNameTheirCorners) {
  const auto mode = [](const std::string& attribute, int64_t opset) {
    const OnnxModel model = ImportOnnxFromMemory(
        OnnxBytes(OnnxValue("input", "x", {"1", "1", "4", "4"}) +
                      OnnxValue("input", "r", {"2", "4"}) + OnnxValue("input", "i", {"2"}, kInt64) +
                      Node("RoiAlign", "xri", attribute) + Out("y"),
                  opset),
        {});
    return ArgumentHelper(model.predict_net.op(0))
        .GetSingleArgument<std::string>("coordinate_transformation_mode", "");
  };
  const char name[] = "coordinate_transformation_mode";
  EXPECT_EQ(mode("", 15), "output_half_pixel");
  EXPECT_EQ(mode("", 16), "half_pixel");
  EXPECT_EQ(mode(Text(name, "output_half_pixel"), 16), "output_half_pixel");
  EXPECT_EQ(mode(Text(name, "half_pixel"), 16), "half_pixel");
}

// --- shapes ---

TEST(OnnxImportDetailsTest, ReshapesToFourAxesOfOtherBlobs) {
  const std::map<std::string, std::vector<std::string>> image = {{"x", {"2", "6"}}};
  const std::string four = List("s", {1, 2, 3, 2});
  Check({{four + Node("Reshape", "xs"), "Reshape(x) shape=[1,2,3,2] -> y, %1\n", image},
         {four + Node("Relu", "x", "", "h") + Node("Reshape", "hs"),
          "Relu(x) -> h\nReshape(h) shape=[1,2,3,2] -> y, %1\n", image},
         // A Transpose without a Reshape before it is no swap of axes.
         {four + Node("Transpose", "x", Ints("perm", {1, 0}), "h") + Node("Reshape", "hs"),
          "Transpose(x) axes=[1,0] -> h\nReshape(h) shape=[1,2,3,2] -> y, %1\n", image}});
}

TEST(OnnxImportDetailsTest, RanksThatAShapeWithoutALengthDecides) {
  const auto error = [](const std::string& type, const std::vector<std::string>& length) {
    return OnnxImportError(
        OnnxBytes(OnnxValue("input", "x", {"n"}) + OnnxValue("input", "s", length, kInt64) +
                  Node(type, "xs", "", "z") + Node("Flatten", "z", Int("axis", -1)) + Out("y")));
  };
  for (const char* type : {"Expand", "Reshape"}) {
    EXPECT_EQ(error(type, {"3"}), "") << type;
    EXPECT_NE(error(type, {"m"}).find("it needs the rank of blob \"z\", which is not known"),
              std::string::npos)
        << type << error(type, {"m"});
  }
}

// What the file states of an output counts only where the translation knows nothing.
TEST(OnnxImportDetailsTest, OutputsOfUnknownShapesHaveThoseOfTheFile) {
  const auto dims = [](const std::string& nodes, const std::string& output) {
    const OnnxModel model =
        ImportOnnxFromMemory(OnnxBytes(OnnxValue("input", "x", {"n"}) +
                                       OnnxValue("input", "s", {"m"}, kInt64) + nodes + output),
                             {});
    const auto found = model.output_dims.find("y");
    return found == model.output_dims.end() ? std::vector<int64_t>{-7} : found->second;
  };
  const std::string shaped = Node("Reshape", "xs");
  EXPECT_EQ(dims(shaped, OnnxValue("output", "y", {"2", "k"})), (std::vector<int64_t>{2, -1}));
  EXPECT_EQ(dims(shaped, OnnxValue("output", "y", {})), std::vector<int64_t>{});
  EXPECT_EQ(dims(shaped, Out("y")), std::vector<int64_t>{-7});
  // A sum over all axes is a number; a Flatten has two axes.
  const std::string unknown = Node("Reshape", "xs", "", "h");
  EXPECT_EQ(dims(unknown + Node("ReduceSum", "h", Int("keepdims", 0)), Out("y")),
            std::vector<int64_t>{});
  EXPECT_EQ(dims(unknown + Node("Flatten", "h"), OnnxValue("output", "y", {"3", "4", "5"})),
            (std::vector<int64_t>{-1, -1}));
  EXPECT_EQ(dims(Node("Relu"), OnnxValue("output", "y", {"3"})), std::vector<int64_t>{-1});
}

TEST(OnnxImportDetailsTest, StepsOfZeroEnd) {
  const std::string error = OnnxImportError(
      OnnxBytes(List("l", {0, 1, 2, 3}) + List("b", {3}) + List("e", {0}) + List("a", {0}) +
                List("t", {0}) + Node("Slice", "lbeat") + Out("y")));
  EXPECT_NE(error.find("node \"n\""), std::string::npos) << error;
}

// Constants that do not fit each other are errors of their node, as they are when the net runs.
TEST(OnnxImportDetailsTest, ConstantsThatCannotBeBroadcast) {
  const std::string two = List("a", {1, 2}), three = List("b", {3}), many = List("d", {1, 2, 3});
  for (const std::string& graph :
       {two + three + Node("Expand", "ab"), two + many + Node("Add", "ad"),
        Constant("c", kBool, {2}, {1, 0}) + two + many + Node("Where", "cad"),
        Constant("c", kBool, {3}, {1, 0, 1}) + two + Node("Where", "caa")}) {
    const std::string error = OnnxImportError(OnnxBytes(graph + Out("y")));
    EXPECT_NE(error.find("node \"n\""), std::string::npos) << graph << error;
  }
}

}  // namespace
}  // namespace caffe2rt::test::onnx_import_details_test
