// Tensors in every place where a model may have them, larger than what is copied with the model, and larger
// than a piece that is converted at a time; and many symbols.
#include <gtest/gtest.h>

#include <bit>

#include "caffe2_core/base/bfloat16.h"
#include "caffe2_core/base/float16.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/proto_file.h"
#include "tests/caffe2_core/import/onnx/imported_onnx.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::tensor_places_test {
namespace {

constexpr int kFloat = 1, kInt64 = 7, kBool = 9;

// 20 numbers: 80 bytes of floats. `name` may be empty.
std::string Twenty(const std::string& name, double factor, int type = kFloat) {
  std::string text = MakeString("data_type: ", type, " dims: 20 ");
  if (!name.empty()) text += "name: '" + name + "' ";
  const char* const field = type == kFloat   ? "float_data: "
                            : type == kInt64 ? "int64_data: "
                            : type == 11     ? "double_data: "
                                             : "int32_data: ";
  for (int i = 0; i < 20; ++i) text += MakeString(field, factor * i, " ");
  return text;
}
std::string Constant(const std::string& output, double factor) {
  return "node { op_type: 'Constant' output: '" + output +
         "' attribute { name: 'value' type: TENSOR t { " + Twenty("", factor) + " } } } ";
}
std::string Node(const std::string& type, const std::string& a, const std::string& b,
                 const std::string& output, const std::string& attributes = "",
                 const std::string& domain = "") {
  std::string text = "node { op_type: '" + type + "' domain: '" + domain + "' output: '" + output +
                     "' input: '" + a + "' ";
  if (!b.empty()) text += "input: '" + b + "' ";
  return text + attributes + "} ";
}
std::string Graph(const std::string& name, const std::string& content) {
  return "attribute { name: '" + name + "' type: GRAPH g { " + content + " } } ";
}

const std::string kX = OnnxValue("input", "x", {"20"});
const std::string kY = "output { name: 'y' } ";

// y is x, which is 1, plus the factor times 0, 1, 2 and so on.
void ExpectFactor(const std::string& graph, float factor, const std::string& more = "") {
  SCOPED_TRACE(graph.substr(0, 200));
  const std::string bytes = OnnxBytes(graph, 17, more);
  ASSERT_EQ(OnnxImportError(bytes), "");
  Tensor condition(std::vector<int64_t>{}, CPU);
  *condition.mutable_data<bool>() = true;
  NamedTensors inputs = {{"x", FloatTensor({20}, std::vector<float>(20, 1))}};
  if (graph.find("'c'") != std::string::npos) inputs.emplace_back("c", condition);
  const std::vector<float> y = FloatsOf(RunOnnxBytes(bytes, inputs, "y"));
  ASSERT_EQ(y.size(), 20u);
  for (size_t i = 0; i < 20; ++i) EXPECT_EQ(y[i], 1 + factor * static_cast<float>(i));
}

TEST(TensorPlacesTest, GraphsNodesBranchesAndFunctions) {
  ExpectFactor(kX + "initializer { " + Twenty("w", 2) + "} " + Node("Add", "x", "w", "y") + kY, 2);
  ExpectFactor(kX + Constant("w", 3) + Node("Add", "x", "w", "y") + kY, 3);
  const std::string other = Graph("else_branch", "output { name: 'x' } ");
  const std::string c = OnnxValue("input", "c", {}, kBool);
  ExpectFactor(
      kX + c +
          Node("If", "c", "", "y",
               Graph("then_branch", "initializer { " + Twenty("w", 4) + "} " +
                                        Node("Add", "x", "w", "t") + "output { name: 't' } ") +
                   other) +
          kY,
      4);
  ExpectFactor(kX + c +
                   Node("If", "c", "", "y",
                        Graph("then_branch", Constant("w", 5) + Node("Add", "x", "w", "t") +
                                                 "output { name: 't' } ") +
                            other) +
                   kY,
               5);
  const std::string head =
      "opset_import { domain: 'own' version: 1 } functions { name: 'F' domain: 'own' input: 'a' "
      "output: 'b' opset_import { version: 17 } ";
  ExpectFactor(kX + Node("F", "x", "", "y", "", "own") + kY, 6,
               head + Constant("w", 6) + Node("Add", "a", "w", "b") + "} ");
  // The tensor is the default of an attribute, or the attribute of the call.
  const std::string reference =
      "node { op_type: 'Constant' output: 'w' attribute { name: 'value' type: TENSOR "
      "ref_attr_name: 'table' } } ";
  const std::string table =
      "attribute_proto { name: 'table' type: TENSOR t { " + Twenty("", 7) + " } } ";
  const std::string function = head + table + reference + Node("Add", "a", "w", "b") + "} ";
  ExpectFactor(kX + Node("F", "x", "", "y", "", "own") + kY, 7, function);
  ExpectFactor(
      kX +
          Node("F", "x", "", "y",
               "attribute { name: 'table' type: TENSOR t { " + Twenty("", 8) + " } } ", "own") +
          kY,
      8, function);
}

TEST(TensorPlacesTest, ElementsOfOtherFields) {
  const std::string cast = "attribute { name: 'to' type: INT i: 1 } ";
  for (const int type : {11, kInt64, 6, 3}) {
    ExpectFactor(kX + "initializer { " + Twenty("w", 2, type) + "} " +
                     Node("Cast", "w", "", "f", cast) + Node("Add", "x", "f", "y") + kY,
                 2);
  }
  // Constants of lists.
  std::string floats = "attribute { name: 'value_floats' type: FLOATS ",
              ints = "attribute { name: 'value_ints' type: INTS ";
  for (int i = 0; i < 20; ++i) {
    floats += MakeString("floats: ", 2 * i, " ");
    ints += MakeString("ints: ", 2 * i, " ");
  }
  const auto constant = [](const std::string& attribute) {
    return "node { op_type: 'Constant' output: 'w' " + attribute + "} } ";
  };
  ExpectFactor(kX + constant(floats) + Node("Add", "x", "w", "y") + kY, 2);
  ExpectFactor(
      kX + constant(ints) + Node("Cast", "w", "", "f", cast) + Node("Add", "x", "f", "y") + kY, 2);
}

onnx::TensorProto Large(int type, int64_t count) {
  onnx::TensorProto proto;
  proto.set_data_type(type);
  proto.add_dims(count);
  return proto;
}

class LargeTensorsTest : public testing::Test {
 protected:
  Tensor Read(const onnx::TensorProto& proto) const {
    WriteFileAtomically(path_, ProtoToBinary(proto));
    return ReadOnnxTensor(path_);
  }
  const TempDir folder_;
  const std::string path_ = folder_.path("t.pb");
};

// More than one piece of 65,536 elements, and a rest.
TEST_F(LargeTensorsTest, ConvertedElementsOfSeveralPieces) {
  constexpr int64_t kCount = 2 * 65536 + 3;
  onnx::TensorProto half = Large(onnx::TensorProto::FLOAT16, kCount),
                    bfloat = Large(onnx::TensorProto::BFLOAT16, kCount),
                    bits = Large(onnx::TensorProto::BOOL, kCount);
  std::string numbers(2 * kCount, '\0'), bytes(kCount, '\0');
  for (int64_t i = 0; i < kCount; ++i) {
    // 0x3c00 and 0x3f80 are 1; the low bits make each element another.
    numbers[static_cast<size_t>(2 * i)] = static_cast<char>(i % 251);
    bytes[static_cast<size_t>(i)] = static_cast<char>(i % 3);
  }
  for (int64_t i = 0; i < kCount; ++i) numbers[static_cast<size_t>(2 * i + 1)] = 0x3c;
  half.set_raw_data(numbers);
  for (int64_t i = 0; i < kCount; ++i) numbers[static_cast<size_t>(2 * i + 1)] = 0x3f;
  bfloat.set_raw_data(numbers);
  bits.set_raw_data(bytes);
  const Tensor h = Read(half), b = Read(bfloat), c = Read(bits);
  int64_t wrong = 0;
  for (int64_t i = 0; i < kCount; ++i) {
    const auto low = static_cast<uint32_t>(i % 251);
    wrong += static_cast<float>(h.data<float16>()[i]) != 1 + static_cast<float>(low) / 1024;
    wrong +=
        static_cast<float>(b.data<bfloat16>()[i]) != std::bit_cast<float>((0x3f00u | low) << 16);
    wrong += c.data<bool>()[i] != (i % 3 != 0);
  }
  EXPECT_EQ(wrong, 0);
}

TEST_F(LargeTensorsTest, PackedElementsOfSeveralPieces) {
  for (const int type : {onnx::TensorProto::UINT4, onnx::TensorProto::UINT2}) {
    const int bits = type == onnx::TensorProto::UINT4 ? 4 : 2, in_byte = 8 / bits;
    const int64_t count = (65536 + 5) * in_byte + 1;  // one element of the last byte
    onnx::TensorProto proto = Large(type, count);
    std::string bytes(static_cast<size_t>(count / in_byte + 1), '\0');
    const auto number = [&](int64_t i) { return static_cast<int>(i * 7 % 13) & ((1 << bits) - 1); };
    for (int64_t i = 0; i < count; ++i) {
      char& byte = bytes[static_cast<size_t>(i / in_byte)];
      byte = static_cast<char>(byte | number(i) << (i % in_byte * bits));
    }
    proto.set_raw_data(bytes);
    const Tensor values = Read(proto);
    int64_t wrong = 0;
    for (int64_t i = 0; i < count; ++i) wrong += values.data<uint8_t>()[i] != number(i);
    EXPECT_EQ(wrong, 0);
  }
}

// A tensor that is written and read again, one element more and less than whole bytes.
TEST_F(LargeTensorsTest, PackedElementsThatAreWritten) {
  for (const int64_t count : {1, 2, 3, 4, 5, 8, 9}) {
    Tensor values({count}, CPU);
    for (int64_t i = 0; i < count; ++i)
      values.mutable_data<uint8_t>()[i] = static_cast<uint8_t>(i % 4);
    for (const NarrowFormat format : {NarrowFormat::kUint2, NarrowFormat::kUint4}) {
      WriteNarrowOnnxTensor(path_, "t", values, format);
      const Tensor back = ReadOnnxTensor(path_);
      ASSERT_EQ(back.dims(), values.dims());
      for (int64_t i = 0; i < count; ++i) EXPECT_EQ(back.data<uint8_t>()[i], i % 4) << count;
    }
  }
}

// Each symbol has numbers of its own: the error about a dimension names the right one.
TEST(ManySymbolsTest, HaveDifferentNumbers) {
  constexpr int kSymbols = 40;
  std::string inputs =
      "initializer { name: 'w' data_type: 1 dims: 1 dims: 1 dims: 2 float_data: 1 float_data: 1 } ";
  for (int k = 0; k < kSymbols; ++k) {
    inputs += OnnxValue("input", "x" + std::to_string(k), {"1", "1", "s" + std::to_string(k)});
  }
  for (int k = 0; k < kSymbols; ++k) {
    const std::string name = "x" + std::to_string(k);
    const std::string error = OnnxImportError(
        OnnxBytes(inputs +
                  Node("Conv", name, "w", "y",
                       "attribute { name: 'auto_pad' type: STRING s: 'SAME_UPPER' } ") +
                  kY));
    EXPECT_NE(error.find("it needs dim 2 of blob \"" + name + "\", which is \"s" +
                         std::to_string(k) + "\""),
              std::string::npos)
        << error;
  }
}

// Dimensions without a name are different ones, and one name is one.
TEST(ManySymbolsTest, DimensionsWithoutANameAreDifferent) {
  const std::string open =
      "input { name: 'x' type { tensor_type { elem_type: 1 shape { dim { } dim { } } } } } ";
  const auto dims = [&](const std::string& graph) {
    return ImportOnnxFromMemory(OnnxBytes(graph + "output { name: 'y' }"), {}).output_dims.at("y");
  };
  using Dims = std::vector<int64_t>;
  EXPECT_EQ(dims(open + Node("Transpose", "x", "", "y")), (Dims{-1, -1}));
  const std::string square = OnnxValue("input", "x", {"n", "n"});
  // Reshape of [n, n] to the shape of its transpose is no operator; of [a, b] it is one.
  const std::string reshaped = Node("Transpose", "x", "", "t") + Node("Shape", "t", "", "s") +
                               Node("Reshape", "x", "s", "z") + Node("Relu", "z", "", "y");
  const auto has_reshape = [&](const std::string& graph) {
    const OnnxModel model = ImportOnnxFromMemory(OnnxBytes(graph + "output { name: 'y' }"), {});
    for (const OperatorDef& op : model.predict_net.op()) {
      if (op.type() == "Reshape") return true;
    }
    return false;
  };
  EXPECT_FALSE(has_reshape(square + reshaped));
  EXPECT_TRUE(has_reshape(open + reshaped));
}

}  // namespace
}  // namespace caffe2rt::test::tensor_places_test
