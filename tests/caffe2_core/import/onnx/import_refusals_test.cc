// Models that cannot be imported, with the whole error of each, and what is accepted beside it.
#include <gtest/gtest.h>

#include "caffe2_core/import/onnx/onnx_import.h"
#include "tests/caffe2_core/import/caffe/wire_text.h"
#include "tests/caffe2_core/import/onnx/imported_onnx.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::import_refusals_test {
namespace {

constexpr int kInt64 = 7;

std::string Int(const std::string& name, int64_t value) {
  return MakeString("attribute { name: '", name, "' type: INT i: ", value, " } ");
}
std::string Node(const std::string& type, const std::vector<std::string>& inputs,
                 const std::string& attributes = "",
                 const std::vector<std::string>& outputs = {"y"}) {
  std::string text = "node { op_type: '" + type + "' name: 'n' ";
  for (const std::string& input : inputs) text += "input: '" + input + "' ";
  for (const std::string& output : outputs) text += "output: '" + output + "' ";
  return text + attributes + "} ";
}
std::string Weight(const std::string& more) { return "initializer { name: 'w' " + more + "} "; }

const std::string kX = OnnxValue("input", "x", {"2"}), kY = "output { name: 'y' } ";
const std::string kRelu = Node("Relu", {"x"}) + kY;

struct Refusal {
  std::string graph;
  std::string message;  // behind: cannot import "model":
  OnnxImportOptions options = {};
  int64_t opset = 18;
};
void Check(const std::vector<Refusal>& rows) {
  for (const Refusal& row : rows) {
    SCOPED_TRACE(row.graph.substr(0, 1000));
    const std::string want = row.message.empty() ? "" : "cannot import \"model\": " + row.message;
    EXPECT_EQ(OnnxImportError(OnnxBytes(row.graph, row.opset), row.options), want);
  }
}

TEST(OnnxRefusalsTest, OfInputs) {
  const std::vector<std::string> many(33, "1"), most(32, "1");
  const std::string sequence =
      "input { name: 'x' type { sequence_type { elem_type { tensor_type { elem_type: 1 } } } } } ";
  const std::string n = OnnxValue("input", "x", {"n"});
  Check({{"input { } " + kRelu, "an input of the model has no name"},
         {kX + kX + kRelu, "two inputs have the name \"x\""},
         {sequence + kRelu,
          "input \"x\" is not a tensor: sequences, optionals and maps are not supported"},
         {"input { name: 'x' } " + kRelu, ""},
         {OnnxValue("input", "x", many) + kRelu, "input \"x\" has 33 axes, want at most 32"},
         {OnnxValue("input", "x", most) + kRelu, ""},
         {n + kRelu, "input \"x\" has a dimension of -2", {.input_shapes = {{"x", {-2}}}}},
         {n + kRelu, "", {.input_shapes = {{"x", {0}}}}},
         {n + kRelu,
          "the shape of input \"z\" is given, but the model has no input of this name",
          {.input_shapes = {{"z", {2}}}}},
         {n + kRelu, "", {.given_shapes = {{"z", {2}}}}},
         {n + kRelu,
          "the dimension \"m\" is given, but no input of the model has it",
          {.dims = {{"m", 2}}}},
         {n + kRelu, "", {.dims = {{"n", 2}}}},
         {Node("Relu", {"q"}) + kY,
          "node \"n\" of type Relu: it reads \"q\", which is no input, and no node before it "
          "writes it"},
         {kX + "output { name: 'q' } ",
          "it reads \"q\", which is no input, and no node before it writes it"},
         {kX + Node("Relu", {"x"}, "", {"x"}) + kY,
          "node \"n\" of type Relu: its output \"x\" exists before it"}});
}

// Shapes that are stated go before those that are given, and both before those of the file.
TEST(OnnxRefusalsTest, ShapesHaveAnOrder) {
  const std::string bytes = OnnxBytes(OnnxValue("input", "x", {"n", "3"}) + kRelu, 18);
  const auto dims = [&](const OnnxImportOptions& options) {
    return ImportOnnxFromMemory(bytes, options).inputs.at(0).dims;
  };
  using Dims = std::vector<int64_t>;
  EXPECT_EQ(dims({}), (Dims{-1, 3}));
  EXPECT_EQ(dims({.dims = {{"n", 5}}}), (Dims{5, 3}));
  EXPECT_EQ(dims({.given_shapes = {{"x", {7}}}}), (Dims{7}));
  EXPECT_EQ(dims({.input_shapes = {{"x", {8}}}, .given_shapes = {{"x", {7}}}}), (Dims{8}));
  EXPECT_TRUE(HasFixedDims(ImportOnnxFromMemory(bytes, {.dims = {{"n", 0}}}).inputs.at(0)));
  EXPECT_FALSE(HasFixedDims(ImportOnnxFromMemory(bytes, {}).inputs.at(0)));
  const OnnxModel open = ImportOnnxFromMemory(OnnxBytes("input { name: 'x' } " + kRelu, 18), {});
  EXPECT_FALSE(open.inputs.at(0).has_rank);
  EXPECT_FALSE(HasFixedDims(open.inputs.at(0)));
  EXPECT_EQ(open.output_dims.count("y"), 0u);
  // A dim of 0 or less in the file has no number.
  EXPECT_EQ(ImportOnnxFromMemory(OnnxBytes(OnnxValue("input", "x", {"0", "3"}) + kRelu, 18), {})
                .inputs.at(0)
                .dims,
            (Dims{-1, 3}));
}

// An initializer with the name of an input is a weight, unless a shape is given for it.
TEST(OnnxRefusalsTest, InputsWithAValueAreWeights) {
  const std::string bytes = OnnxBytes(
      kX + OnnxValue("input", "w", {"2"}) +
          Weight("data_type: 1 dims: 2 float_data: 1 float_data: 2") + Node("Add", {"x", "w"}) + kY,
      18);
  EXPECT_EQ(ImportOnnxFromMemory(bytes, {}).inputs.size(), 1u);
  EXPECT_EQ(ImportOnnxFromMemory(bytes, {.given_shapes = {{"w", {2}}}}).inputs.size(), 2u);
}

TEST(OnnxRefusalsTest, OfTensors) {
  const auto constant = [](const std::string& tensor) {
    return kX + Weight(tensor) + Node("Add", {"x", "w"}) + kY;
  };
  const std::string node = "node \"n\" of type Add: tensor \"w\": ";
  std::string axes = "data_type: 1 float_data: 1 ";
  for (int i = 0; i < 32; ++i) axes += "dims: 1 ";
  const std::string two = "float_data: 1 float_data: 2 ";
  std::string floats;
  for (int i = 0; i < 17; ++i) floats += "float_data: 1 ";
  Check(
      {{constant("data_type: 1 dims: 2 " + two), ""},
       {constant(axes), ""},
       // Places in the file are written by the importer, and are not read from it.
       {constant("data_type: 1 dims: 1 span_offset: 0 span_size: 4 span_field: 9 "),
        node + "bytes of elements: got 0, want 4"},
       {Node("Constant", {},
             "attribute { name: 'value' type: TENSOR t { data_type: 1 dims: 1 span_offset: 0 "
             "span_size: 4 span_field: 9 } } ") +
            kY,
        "tensor \"\": bytes of elements: got 0, want 4"},
       {constant("data_type: 6 dims: 17 span_field: 9 " + floats),
        node + "elements of type INT32 are in the field of another type"},
       {constant(axes + "dims: 1 "), "tensor \"w\": axes: got 33, want at most 32"},
       {constant("data_type: 1 dims: -1 "), "tensor \"w\": dim: got -1, want at least 0"},
       {constant("data_type: 1 dims: 3 " + two), node + "elements: got 2, want 3"},
       {constant("data_type: 1 dims: 1 " + two), node + "elements: got 2, want 1"},
       {constant("data_type: 1 dims: 2 raw_data: 'abcdefg' "),
        node + "bytes of elements: got 7, want 8"},
       {constant("data_type: 1 dims: 2 raw_data: 'abcdefgh' " + two),
        node + "places with elements (raw_data, typed data, external data): got 2, want at most 1"},
       {constant("data_type: 14 dims: 2 raw_data: 'abcdefgh' "),
        node + "elements of type COMPLEX64 are not supported"},
       {constant("data_type: 99 dims: 2 raw_data: 'abcdefgh' "),
        node + "elements of type 99 are not supported"},
       {kX + "sparse_initializer { } " + kRelu,
        "sparse initializers, which are not supported: got 1, want 0"},
       {kX + "sparse_initializer { } sparse_initializer { } " + kRelu,
        "sparse initializers, which are not supported: got 2, want 0"}});
}

// Elements of more than 64 bytes are read from their place in the file.
TEST(OnnxRefusalsTest, OfTensorsThatAreNotCopied) {
  const auto model = [](const std::string& tensor) {
    const std::string graph =
        Bytes(1, Bytes(1, "x") + Bytes(1, "w") + Bytes(2, "y") + Bytes(3, "n") + Bytes(4, "Add")) +
        Bytes(5, tensor) + Bytes(11, Bytes(1, "x")) + Bytes(12, Bytes(1, "y"));
    return Number(1, 8) + Bytes(7, graph) + Bytes(8, Number(2, 18));
  };
  std::string floats, doubles;
  for (int i = 0; i < 20; ++i) floats += Raw(1.0f);
  for (int i = 0; i < 10; ++i) doubles += Raw(1.0);
  const std::string name = Bytes(8, "w");
  const std::string node = "cannot import \"model\": node \"n\" of type Add: tensor \"w\": ";
  EXPECT_EQ(OnnxImportError(model(Number(1, 20) + Number(2, 1) + Bytes(4, floats) + name)), "");
  EXPECT_EQ(OnnxImportError(model(Number(1, 20) + Number(2, 1) + Bytes(9, floats) + name)), "");
  EXPECT_EQ(OnnxImportError(model(Number(1, 20) + Number(2, 6) + Bytes(4, floats) + name)),
            node + "elements of type INT32 are in the field of another type");
  EXPECT_EQ(OnnxImportError(model(Number(1, 20) + Number(2, 6) + Bytes(10, doubles) + name)),
            node + "elements of type INT32 are in the field of another type");
  EXPECT_EQ(OnnxImportError(model(Number(1, 21) + Number(2, 1) + Bytes(9, floats) + name)),
            node + "bytes of elements: got 80, want 84");
  EXPECT_EQ(OnnxImportError(
                model(Number(1, 20) + Number(2, 1) + Bytes(4, floats) + Bytes(9, floats) + name)),
            "file \"model\": a tensor has its elements twice");
  // Fields of the library's own, by which a file could point anywhere, are not read.
  EXPECT_EQ(OnnxImportError(
                model(Number(1, 2) + Number(2, 1) + Number(1000, 1) + Number(1001, 8) + name)),
            node + "bytes of elements: got 0, want 8");
}

TEST(OnnxRefusalsTest, OfFiles) {
  EXPECT_EQ(OnnxImportError(Number(1, 8)), "file \"model\" is not an ONNX model: it has no graph");
  std::string deep;
  for (int i = 0; i < 70; ++i) deep = Bytes(1, Bytes(5, Bytes(6, deep)));
  EXPECT_EQ(OnnxImportError(Bytes(7, deep)),
            "file \"model\": levels of messages: got 201, want at most 200");
  const TempDir folder;
  EXPECT_NE(OnnxImportError(Bytes(7, "\xff")), "");
  try {
    ImportOnnx({.net = folder.Write("m.onnx", Number(1, 8))});
    ADD_FAILURE();
  } catch (const EnforceNotMet& error) {
    EXPECT_EQ(error.message(),
              "file \"" + folder.path("m.onnx") + "\" is not an ONNX model: it has no graph");
  }
}

TEST(OnnxRefusalsTest, NewerFormatsAreNoted) {
  for (const int64_t version : {14, 15}) {
    std::string bytes = OnnxBytes(kX + kRelu, 18);
    bytes += Number(1, static_cast<uint64_t>(version));  // the last one counts
    const std::vector<std::string> notes = ImportOnnxFromMemory(bytes, {}).notes;
    ASSERT_EQ(notes.size(), version == 14 ? 0u : 1u);
    if (version == 15) {
      EXPECT_EQ(notes[0],
                "the file has IR version 15, known is 14: what is new in it has no effect");
    }
  }
}

// --- nodes ---

TEST(OnnxRefusalsTest, OfAttributesAndInputs) {
  const std::string relu = "node \"n\" of type ",
                    of_x = " (\"x\") is computed when the net runs, want a constant";
  const std::string none = "input { name: 'x' } ";
  const std::string unnamed =
      "input { name: 'x' type { tensor_type { elem_type: 1 shape { dim { dim_value: 1 } dim { } "
      "dim { dim_value: 2 } } } } } ";
  const std::string norm = Weight("data_type: 1 dims: 1 float_data: 1 ") +
                           Node("GroupNormalization", {"x", "w", "w"}, Int("num_groups", 1)) + kY;
  Check({{kX + Node("Elu", {"x"}, Int("alpha", 1)) + kY,
          relu + "Elu: attribute \"alpha\" has type INT, want FLOAT"},
         {kX + Node("Elu", {"x"}, "attribute { name: 'alpha' f: 2 } ") + kY, ""},
         {kX + Node("Elu", {}) + kY, relu + "Elu: it has no input 0, want one"},
         {kX + Node("Relu", {"x"}, "", {"y", "z"}) + kY + "output { name: 'z' } ",
          relu + "Relu: its output 1 is not supported"},
         {none + Node("Flatten", {"x"}, Int("axis", -1)) + kY,
          relu + "Flatten: it needs the rank of blob \"x\", which is not known; give the shapes of "
                 "the inputs"},
         {none + Node("SplitToSequence", {"x"}, "", {"s"}) + Node("SequenceLength", {"s"}) + kY,
          relu + "SplitToSequence: it needs the rank of blob \"x\", which is not known; give the "
                 "shapes of the "
                 "inputs"},
         {none +
              Node("MaxPool", {"x"},
                   "attribute { name: 'kernel_shape' type: INTS ints: 2 ints: 2 } "
                   "attribute { name: 'auto_pad' type: STRING s: 'NOTSET' } ") +
              kY,
          ""},
         {kX + Node("Conv", {"x", "x"}) + kY,
          relu + "Conv: axes of the filter: got 1, want at least 3"},
         {none + Node("Conv", {"x", "x"}) + kY,
          relu + "Conv: it needs the dims of blob \"x\", which are not known; give the shapes of "
                 "the inputs"},
         {OnnxValue("input", "x", {"1", "c", "2"}) + norm,
          relu + "GroupNormalization: it needs dim 1 of blob \"x\", "
                 "which is \"c\"; give it a number"},
         {unnamed + norm,
          relu + "GroupNormalization: it needs dim 1 of blob \"x\", which depends on the inputs; "
                 "give the shapes of the inputs"},
         {kX + Node("Flatten", {"x"}, Int("axis", -1)) + kY, ""},
         {kX + Node("Gather", {"x", "x"}, Int("axis", -2)) + kY,
          relu + "Gather: axis -2 is out of range for 1 axes"},
         {OnnxValue("input", "x", {"1"}, kInt64) +
              "node { op_type: 'SequenceConstruct' input: 'x' output: 's' } " +
              Node("SequenceAt", {"s", "x"}) + kY,
          relu + "SequenceAt: input 1" + of_x},
         {OnnxValue("input", "x", {}) + kX.substr(0, 0) + Node("Tile", {"x", "x", "x"}) + kY,
          relu + "Tile: input 1" + of_x,
          {},
          5},
         {kX + Weight("data_type: 7 dims: 2 int64_data: 0 int64_data: 1 ") +
              "node { op_type: 'SequenceConstruct' input: 'x' output: 's' } " +
              Node("SequenceAt", {"s", "w"}) + kY,
          relu + "SequenceAt: elements of input 1: got 2, want 1"},
         {kX + "node { op_type: 'SequenceConstruct' input: 'x' output: 's' } " +
              Node("Relu", {"s"}) + kY,
          relu + "Relu: input \"s\" is a sequence, want a tensor"},
         {kX + "node { op_type: 'SequenceConstruct' input: 'x' output: 'y' } " + kY,
          "output \"y\" is a sequence, which is not supported"}});
}

TEST(OnnxRefusalsTest, OfOperators) {
  const std::string head = "node \"n\" of type ";
  const std::string bad =
      "attribute { name: 'equation' type: TENSOR t { data_type: 1 float_data: 1 } } ";
  const std::string lists =
      "attribute { name: 'starts' type: INTS ints: 0 ints: 0 } "
      "attribute { name: 'ends' type: INTS ints: 1 } ";
  Check(
      {{kX + Node("Einsum", {"x"}, bad) + kY,
        head +
            "Einsum: attribute \"equation\" is of kind 4, want a number, a text or a list of them"},
       {kX + Node("LpNormalization", {"x"}, Int("p", 3)) + kY,
        head + "LpNormalization: p is 3, want 1 or 2"},
       {kX +
            Node("TfIdfVectorizer", {"x"},
                 "attribute { name: 'pool_strings' type: STRINGS strings: 'a' } ") +
            kY,
        head + "TfIdfVectorizer: texts are not supported"},
       {OnnxValue("input", "x", {"1", "2", "2"}) +
            Node("BatchNormalization", {"x", "x", "x", "x", "x"}, Int("spatial", 0)) + kY,
        head + "BatchNormalization: spatial is 0, which is not supported",
        {},
        8},
       {OnnxValue("input", "x", {"2"}, 10) + Node("BitCast", {"x"}, Int("to", 4)) + kY,
        head + "BitCast: BitCast of 16-bit floats is not supported: they are computed in float",
        {},
        26},
       {kX + Node("BitCast", {"x"}, Int("to", 10)) + kY,
        head + "BitCast: BitCast of 16-bit floats is not supported: they are computed in float",
        {},
        26},
       {kX + Weight("data_type: 1 float_data: 1 ") +
            Node("QuantizeLinear", {"x", "w"}, Int("precision", 10)) + kY,
        head + "QuantizeLinear: precision is 10, want FLOAT: other divisions are not supported",
        {},
        24},
       {kX + Weight("data_type: 1 float_data: 1 ") +
            Node("QuantizeLinear", {"x", "w"}, Int("precision", 1)) + kY,
        "",
        {},
        24},
       {kX + Weight("data_type: 1 float_data: 1 ") +
            Node("QuantizeLinear", {"x", "w"}, Int("block_size", 1) + Int("output_dtype", 17)) + kY,
        head + "QuantizeLinear: block_size is given, which is not supported for floating point of "
               "8 bits or less",
        {},
        24},
       {kX + Node("If", {"x"}) + kY,
        head + "If: attribute \"then_branch\" is missing, want a graph"},
       {kX + Node("If", {"x"}, "attribute { name: 'then_branch' type: GRAPH g { } } ") + kY,
        head + "If: attribute \"else_branch\" is missing, want a graph"},
       {kX + Node("Loop", {"x", "x", "x"}) + kY,
        head + "Loop: attribute \"body\" is missing, want a graph"},
       {kX +
            Node("Loop", {"x", "x", "x"},
                 "attribute { name: 'body' type: GRAPH g { input { name: 'i' } input { name: 'c' } "
                 "output { name: 'c' } } } ") +
            kY,
        head + "Loop: the body has 2 inputs and 1 output, which do not fit 1 carried value"},
       {OnnxValue("input", "c", {}, 9) + kX +
            Node("If", {"c"},
                 "attribute { name: 'then_branch' type: GRAPH g { output { name: 'x' } } } "
                 "attribute { name: 'else_branch' type: GRAPH g { } } ") +
            kY,
        head + "If: outputs of a branch: got 0, want 1"},
       {Weight("data_type: 9 int32_data: 1 ") + kX +
            Node("If", {"w"},
                 "attribute { name: 'then_branch' type: GRAPH g { } } "
                 "attribute { name: 'else_branch' type: GRAPH g { output { name: 'x' } } } ") +
            kY,
        head + "If: outputs of a branch: got 0, want at least 1"}});
}

TEST(OnnxRefusalsTest, OfAttention) {
  const std::string head = "node \"n\" of type ";
  const std::string x = OnnxValue("input", "x", {"1", "2", "6"});
  const std::string heads = Int("q_num_heads", 2) + Int("kv_num_heads", 2);
  const std::string wide = OnnxValue("input", "x", {"1", "8192", "2"});
  Check(
      {{x + Node("Attention", {"x", "x", "x"}, Int("q_num_heads", 4) + Int("kv_num_heads", 2)) + kY,
        head + "Attention: an input of 3 axes has 6 columns for 4 heads",
        {},
        24},
       {x + Node("Attention", {"x", "x", "x"}) + kY,
        head + "Attention: an input of 3 axes has 6 columns for 0 heads",
        {},
        24},
       {x + Node("Attention", {"x", "x", "x"}, heads) + kY, "", {}, 24},
       {OnnxValue("input", "x", {"1", "2", "1", "2"}) +
            Weight("data_type: 1 dims: 1 dims: 0 dims: 1 dims: 2") +
            Node("Attention", {"x", "w", "w"}) + kY,
        head + "Attention: 2 query heads, want a multiple of the 0 of keys and values",
        {},
        24},
       {wide + Node("Attention", {"x", "x", "x"}, Int("q_num_heads", 1) + Int("kv_num_heads", 1)) +
            kY,
        head + "Attention: elements of a mask: got 67108864, want at most 16777216",
        {},
        24},
       {OnnxValue("input", "x", {"1", "4097", "2"}) +
            Node("LinearAttention", {"x", "x", "x"},
                 Int("q_num_heads", 1) + Int("kv_num_heads", 1) +
                     "attribute { name: 'update_rule' type: STRING s: 'linear' } ") +
            kY,
        head + "LinearAttention: 4097 time steps, want 1 to 4096",
        {},
        28},
       {x +
            Node("LinearAttention", {"x", "x", "x"},
                 Int("q_num_heads", 3) + Int("kv_num_heads", 2) +
                     "attribute { name: 'update_rule' type: STRING s: 'linear' } ") +
            kY,
        head + "LinearAttention: 3 query heads, want a multiple of 2",
        {},
        28},
       {kX + OnnxValue("input", "w", {"1", "1", "2"}) + Node("CausalConvWithState", {"x", "w"}) +
            kY,
        head + "CausalConvWithState: it has 1 and 3 axes, want 3 and 3",
        {},
        28}});
}

TEST(OnnxRefusalsTest, OfNestedGraphsAndFunctions) {
  // A graph in a graph, and so on.
  const auto nested = [](int levels) {
    std::string graph = "output { name: 'x' }";
    for (int i = 0; i < levels; ++i) {
      graph = MakeString("node { op_type: 'If' input: 'c' output: 'o", i,
                         "' attribute { name: 'then_branch' type: "
                         "GRAPH g { ",
                         graph,
                         " } } attribute { name: 'else_branch' type: GRAPH g { output { name: "
                         "'x' } } } } output { name: 'o",
                         i, "' }");
    }
    return graph;
  };
  EXPECT_EQ(OnnxImportError(OnnxBytes(kX + OnnxValue("input", "c", {}, 9) + nested(10), 18)), "");
  // A function that calls itself.
  const std::string function =
      "opset_import { domain: 'own' version: 1 } functions { name: 'F' domain: 'own' input: 'a' "
      "output: 'b' "
      "opset_import { domain: 'own' version: 1 } node { op_type: 'F' domain: 'own' input: 'a' "
      "output: 'b' } } ";
  const std::string error = OnnxImportError(
      OnnxBytes(kX + "node { op_type: 'F' domain: 'own' input: 'x' output: 'y' name: 'n' } " + kY,
                18, function));
  EXPECT_NE(error.find("levels of graphs in graphs and of functions: got 65, want at most 64"),
            std::string::npos)
      << error;
  // Attributes of functions have defaults.
  const std::string defaults =
      "opset_import { domain: 'own' version: 1 } functions { name: 'F' domain: 'own' input: 'a' "
      "output: 'b' "
      "attribute_proto { name: 'slope' type: FLOAT f: 0.25 } opset_import { version: 17 } "
      "node { op_type: 'LeakyRelu' input: 'a' output: 'b' "
      "attribute { name: 'alpha' type: FLOAT ref_attr_name: 'slope' } } } ";
  const auto call = [&](const std::string& more) {
    return FloatsOf(RunOnnxBytes(
        OnnxBytes(
            kX + "node { op_type: 'F' domain: 'own' input: 'x' output: 'y' " + more + " } " + kY,
            18, defaults),
        {{"x", FloatTensor({2}, {1, -4})}}, "y"));
  };
  EXPECT_EQ(call(""), (std::vector<float>{1, -1}));
  EXPECT_EQ(call("attribute { name: 'slope' type: FLOAT f: 0.5 }"), (std::vector<float>{1, -2}));
}

TEST(OnnxRefusalsTest, NodesHaveNames) {
  const std::string graph = kX +
                            "node { op_type: 'Relu' input: 'x' output: 'h' } "
                            "node { op_type: 'Exp' name: 'named' input: 'h' output: 'y' } " +
                            kY;
  const OnnxModel model = ImportOnnxFromMemory(OnnxBytes(graph, 18), {});
  EXPECT_EQ(model.node_blobs, (std::map<std::string, std::string>{{"h", "h"}, {"named", "y"}}));
  EXPECT_EQ(model.predict_net.name(), "g");
  EXPECT_EQ(model.init_net.name(), "g_init");
  EXPECT_EQ(std::vector<std::string>(model.predict_net.external_input().begin(),
                                     model.predict_net.external_input().end()),
            std::vector<std::string>{"x"});
  EXPECT_EQ(std::vector<std::string>(model.predict_net.external_output().begin(),
                                     model.predict_net.external_output().end()),
            std::vector<std::string>{"y"});
}

TEST(OnnxRefusalsTest, NetsOfAGraphWithoutANameHaveNone) {
  onnx::ModelProto proto;
  ASSERT_TRUE(proto.ParseFromString(
      OnnxBytes(kX + "node { op_type: 'Exp' input: 'x' output: 'y' } " + kY, 18)));
  proto.mutable_graph()->clear_name();
  const OnnxModel model = ImportOnnxFromMemory(proto.SerializeAsString(), {});
  EXPECT_EQ(model.predict_net.name(), "");
  EXPECT_EQ(model.init_net.name(), "");
}

}  // namespace
}  // namespace caffe2rt::test::import_refusals_test
