// What nodes refuse: each with its reason, and the same node with a value that is allowed.
#include <gtest/gtest.h>

#include "tests/caffe2_core/import/onnx/imported_onnx.h"

namespace caffe2rt::test::node_refusals_test {
namespace {

constexpr int kUint8 = 2, kInt64 = 7;

std::string Ints(const std::string& name, const std::vector<int64_t>& values) {
  std::string text = "attribute { name: '" + name + "' type: INTS ";
  for (const int64_t value : values) text += MakeString("ints: ", value, " ");
  return text + "} ";
}
std::string Int(const std::string& name, int64_t value) {
  return MakeString("attribute { name: '", name, "' type: INT i: ", value, " } ");
}
std::string Float(const std::string& name, float value) {
  return MakeString("attribute { name: '", name, "' type: FLOAT f: ", value, " } ");
}
std::string Text(const std::string& name, const std::string& value) {
  return "attribute { name: '" + name + "' type: STRING s: '" + value + "' } ";
}
// An initializer of ones: floats, or of another type.
std::string Ones(const std::string& name, const std::vector<int64_t>& dims, int type = 1) {
  std::string text = MakeString("initializer { name: '", name, "' data_type: ", type, " ");
  int64_t count = 1;
  for (const int64_t dim : dims) {
    text += MakeString("dims: ", dim, " ");
    count *= dim;
  }
  const char* const field = type == 1        ? "float_data: 1 "
                            : type == kInt64 ? "int64_data: 1 "
                                             : "int32_data: 1 ";
  for (int64_t i = 0; i < count; ++i) text += field;
  return text + "} ";
}
// "-" is an absent input.
std::string Node(const std::string& type, const std::vector<std::string>& inputs,
                 const std::string& attributes = "",
                 const std::vector<std::string>& outputs = {"y"}) {
  std::string text = "node { name: 'n' op_type: '" + type + "' ";
  for (const std::string& output : outputs) text += "output: '" + output + "' ";
  for (const std::string& input : inputs) text += "input: '" + (input == "-" ? "" : input) + "' ";
  return text + attributes + "} ";
}
std::string Contrib(std::string node) {
  return node.insert(node.find("op_type"), "domain: 'com.microsoft' ");
}

struct Refusal {
  std::string graph;    // with the node "n", which writes y
  std::string message;  // of the error; "" for a node that is imported
  std::vector<std::string> dims = {"1", "2", "8", "8"};  // of x
  int64_t opset = 18;
};

void Check(const std::vector<Refusal>& refusals) {
  for (const Refusal& row : refusals) {
    const std::string error = OnnxImportError(
        OnnxBytes(OnnxValue("input", "x", row.dims) + row.graph + "output { name: 'y' }", row.opset,
                  "opset_import { domain: 'com.microsoft' version: 1 } "));
    if (row.message.empty()) {
      EXPECT_EQ(error, "") << row.graph;
    } else {
      EXPECT_NE(error.find(row.message), std::string::npos)
          << "got: " << error << "\nwant: " << row.message;
      EXPECT_NE(error.find("\"n\""), std::string::npos) << error;
    }
  }
}

TEST(NodeRefusalsTest, Windows) {
  const std::string kernel = Ints("kernel_shape", {2, 2}), filter = Ones("w", {3, 2, 2, 2});
  const auto pool = [&](const std::string& more) { return Node("MaxPool", {"x"}, kernel + more); };
  Check(
      {{pool(""), ""},
       {pool(Ints("strides", {1})), "numbers in attribute \"strides\": got 1, want 2"},
       {pool(Ints("strides", {1, 1, 1})), "numbers in attribute \"strides\": got 3, want 2"},
       {pool(Ints("dilations", {1, 1, 1})), "argument dilations has 3 numbers, want 2"},
       {pool(Ints("pads", {0, 0, 0, 0, 0})), "argument pads has 5 numbers, want 4"},
       {pool(Ints("strides", {0, 1})), "kernel 2, stride 0, dilation 1: want at least 1"},
       {pool(Ints("strides", {1, 2147483648})),
        "a kernel, stride or dilation is larger than 2147483647"},
       {Node("MaxPool", {"x"}, Ints("kernel_shape", {1, 2147483648})), "is larger than 2147483647"},
       {Node("MaxPool", {"x"}, Ints("kernel_shape", {1, 1}) + Ints("strides", {1, 2147483648})),
        "is larger than 2147483647"},
       {Node("MaxPool", {"x"}, Ints("kernel_shape", {0, 1})),
        "argument kernel_shape contains 0, want 1 to 1073741824"},
       {filter + Node("Conv", {"x", "w"}), ""},
       {filter + Node("Conv", {"x", "w"}, Ints("pads", {0, 0})),
        "numbers in attribute \"pads\": got 2, want 4"},
       {filter + Node("Conv", {"x", "w"}, Ints("dilations", {1, 0})),
        "kernel 2, stride 1, dilation 0: want at least 1"},
       {filter + Node("Conv", {"x", "w"}, Text("auto_pad", "SAME_LOWER")), ""},
       {filter + Node("Conv", {"x", "w"}, Text("auto_pad", "SAME")),
        "auto_pad is \"SAME\", want NOTSET, VALID, SAME_UPPER or SAME_LOWER"},
       {Ones("w", {3, 2}) + Node("Conv", {"x", "w"}), "axes of the filter: got 2, want at least 3"},
       {Ones("r", {1, 5}) + Node("MaxRoiPool", {"x", "r"}, Ints("pooled_shape", {2, 2})), ""},
       {Ones("r", {1, 5}) + Node("MaxRoiPool", {"x", "r"}, Ints("pooled_shape", {2})),
        "numbers in attribute \"pooled_shape\": got 1, want 2"},
       {Node("GlobalLpPool", {"x"}, Int("p", 2)), ""},
       {Node("GlobalLpPool", {"x"}, Int("p", 3)), "p is 3, want 1 or 2"}});
}

TEST(NodeRefusalsTest, LossesAndGrids) {
  const std::string classes = Ones("c", {1, 8, 8}, kInt64);
  const auto loss = [&](const std::string& type, const std::string& reduction) {
    return classes + Node(type, {"x", "c"}, Text("reduction", reduction));
  };
  std::vector<Refusal> rows;
  for (const char* type : {"NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"}) {
    for (const char* reduction : {"none", "sum", "mean"})
      rows.push_back({loss(type, reduction), ""});
    rows.push_back({loss(type, "max"), "reduction is \"max\", want none, mean or sum"});
  }
  Check(rows);
  const auto grid = [](int64_t numbers) {
    return Ones("s", {numbers}, kInt64) + Node("AffineGrid", {"x", "s"});
  };
  Check({{grid(4), "", {"1", "2", "3"}, 20},
         {grid(3), "the size has 3 numbers, want 4 or 5", {"1", "2", "3"}, 20},
         {grid(6), "the size has 6 numbers, want 4 or 5", {"1", "2", "3"}, 20}});
}

TEST(NodeRefusalsTest, Sequences) {
  const auto split = [](int64_t part) {
    return MakeString("initializer { name: 'p' data_type: 7 int64_data: ", part, " } ") +
           Node("SplitToSequence", {"x", "p"}, Int("axis", 3), {"s"}) +
           "node { op_type: 'ConcatFromSequence' input: 's' output: 'y' attribute { name: 'axis' "
           "type: INT i: 3 } } ";
  };
  Check({{split(1), ""},
         {split(3), ""},
         {split(0), "elements of a part: got 0, want at least 1"},
         {"node { op_type: 'SequenceEmpty' output: 's' } " +
              Node("ConcatFromSequence", {"s"}, Int("axis", 0)),
          "the sequence is empty"},
         {Node("SequenceLength", {"x"}), "input 0 is no sequence"}});
  const auto at = [](int64_t place) {
    return MakeString("initializer { name: 'i' data_type: 7 int64_data: ", place, " } ") +
           "node { op_type: 'SequenceConstruct' input: 'x' input: 'x' output: 's' } " +
           Node("SequenceAt", {"s", "i"});
  };
  Check({{at(0), ""},
         {at(1), ""},
         {at(-2), ""},
         {at(2), "position 2 is out of range for a sequence of 2 tensors"},
         {at(-3), "position -3 is out of range for a sequence of 2 tensors"}});
}

TEST(NodeRefusalsTest, ConstantsAndModes) {
  const auto trains = [](int mode, float ratio) {
    return MakeString("initializer { name: 'r' data_type: 1 float_data: ", ratio,
                      " } initializer { name: 't' data_type: 9 int32_data: ", mode, " } ") +
           Node("Dropout", {"x", "r", "t"});
  };
  const auto shape = [](int64_t values) {
    std::string text =
        MakeString("attribute { name: 'value' type: TENSOR t { data_type: 1 dims: ", values, " ");
    for (int64_t i = 0; i < values; ++i) text += "float_data: 2 ";
    return Ones("d", {2}, kInt64) + Node("ConstantOfShape", {"d"}, text + "} } ");
  };
  Check(
      {{trains(0, 0.5f), ""},
       {trains(1, 0), ""},
       {trains(1, 0.5f), "training_mode is true, want false: the importer is for inference"},
       {shape(1), ""},
       {shape(2), "its value has several elements, want one"},
       {Node("Constant", {}),
        "it has none of the attributes value, value_float, value_floats, value_int and value_ints"},
       {Node("Cast", {"x"}, Text("to", "FLOATING")),
        "attribute \"to\" is \"FLOATING\", want a type",
        {"2"},
        5}});
  const auto scan = [](int scanned, const std::string& body_outputs, const char* x = "x") {
    return Node("Scan", {x},
                Int("num_scan_inputs", scanned) +
                    "attribute { name: 'body' type: GRAPH g { input { name: 'a' } node { op_type: "
                    "'Relu' input: 'a' "
                    "output: 'b' } " +
                    body_outputs + " } } ");
  };
  const std::string one = "output { name: 'b' }";
  Check({{scan(1, one), ""},
         {scan(1, one), "4097 steps, want 1 to 4096", {"4097", "2"}},
         {Ones("e", {0, 2}) + scan(1, one, "e"), "0 steps, want 1 to 4096"},
         {scan(0, one), "inputs or outputs of the body do not fit those of the node"},
         {scan(2, one), "inputs or outputs of the body do not fit those of the node"},
         {scan(1, one + one), "inputs or outputs of the body do not fit those of the node"},
         {scan(1, one), "Scan of opset 8 is not supported, want 9 or later", {"1", "2"}, 8}});
}

TEST(NodeRefusalsTest, AttentionOfRuntime) {
  const std::vector<std::string> packed = {"1", "2", "12"};
  const auto query = [](int heads, int few, const std::string& more = "") {
    return Contrib(Node("GroupQueryAttention", {"x", "-", "-"},
                        Int("num_heads", heads) + Int("kv_num_heads", few) + more));
  };
  Check({{query(4, 1), "", packed},
         {query(4, 3), "4 heads of queries for 3 of keys", packed},
         {query(0, 1), "0 heads of queries for 1 of keys", packed},
         {query(4, 0), "4 heads of queries for 0 of keys", packed},
         {query(1025, 1), "heads of queries for one of keys: got 1025, want at most 1024", packed},
         {query(4, 1, Int("smooth_softmax", 1)), "head_sink and smooth_softmax are not supported",
          packed}});
  // Queries, keys and values packed in five axes, or what looks like it.
  Check({{Ones("q", {1, 1, 2, 6}) + Ones("k", {1, 2, 6}) +
              Contrib(Node("MultiHeadAttention", {"q", "k", "k"}, Int("num_heads", 1))),
          "queries, keys and values in one input are not supported"}});
  const auto attention = [](const std::string& mask, const std::string& more = "") {
    return Ones("w", {4, 12}) + Ones("b", {12}) + mask +
           Contrib(Node("Attention", {"x", "w", "b", mask.empty() ? "-" : "m"},
                        Int("num_heads", 2) + more));
  };
  const std::vector<std::string> three = {"2", "3", "4"};
  Check({{attention(""), "", three},
         {attention(Ones("m", {2}, 6)), "", three},
         {attention(Ones("m", {2, 3}, 6)), "", three},
         {attention(Ones("m", {2, 3, 3}, 6)), "", three},
         {attention(Ones("m", {4}, 6)),
          "elements of a mask of one axis: only one length for each batch", three},
         {attention(Ones("m", {2, 1, 3, 3}, 6)), "its mask has 4 axes, want 1, 2 or 3", three},
         {attention("", Ints("qkv_hidden_sizes", {4, 4, 4})), "", three},
         {attention("", Ints("qkv_hidden_sizes", {4, 4})),
          "numbers in attribute \"qkv_hidden_sizes\": got 2, want 3", three}});
}

TEST(NodeRefusalsTest, OthersOfRuntime) {
  const auto bits = [](int64_t number, int64_t k, int64_t n, int64_t block) {
    return Ones("w", {1, 1, 16}, kUint8) + Ones("s", {1}) +
           Contrib(
               Node("MatMulNBits", {"x", "w", "s"},
                    Int("bits", number) + Int("K", k) + Int("N", n) + Int("block_size", block)));
  };
  const std::vector<std::string> row = {"1", "32"};
  Check({{bits(4, 32, 1, 32), "", row},
         {bits(3, 32, 1, 32), "bits is 3, want 2, 4 or 8", row},
         {bits(4, 0, 1, 32), "K, N and block_size are 0, 1 and 32, want at least 1 each", row},
         {bits(4, 32, 0, 32), "K, N and block_size are 32, 0 and 32, want at least 1 each", row},
         {bits(4, 32, 1, 0), "K, N and block_size are 32, 1 and 0, want at least 1 each", row}});
  const auto crop = [](const std::vector<int64_t>& border, const std::string& more = "") {
    return Node("Crop", {"x"}, Ints("border", border) + more);
  };
  Check(
      {{crop({1, 1, 1, 1}), ""},
       {crop({1, 1, 1}), "numbers in attribute \"border\": got 3, want 4"},
       {crop({1, 1, 1, 1}, Ints("scale", {2, 2})), ""},
       {crop({1, 1, 1, 1}, Ints("scale", {2})), "numbers in attribute \"scale\": got 1, want 2"}});
  const std::string tables = Ones("p", {1}, kInt64) + Ones("cos", {4, 2}) + Ones("sin", {4, 2});
  const auto rotary = [&](float scale) {
    return tables +
           Contrib(Node("RotaryEmbedding", {"x", "p", "cos", "sin"}, Float("scale", scale)));
  };
  Check({{rotary(1), "", {"1", "3", "4"}}, {rotary(2), "scale is 2, want 1", {"1", "3", "4"}}});
}

}  // namespace
}  // namespace caffe2rt::test::node_refusals_test
