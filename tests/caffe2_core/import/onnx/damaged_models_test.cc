// Damaged and hostile models end in an error of one line.
#include <gtest/gtest.h>

#include "tests/caffe2_core/import/onnx/imported_onnx.h"

namespace caffe2rt::test::onnx_damaged_test {
namespace {

std::string Relu(const std::string& input, const std::string& output) {
  return "node { op_type: 'Relu' name: 'n_" + output + "' input: '" + input + "' output: '" +
         output + "' } ";
}

std::string Weight(const std::string& fields) {
  return "initializer { name: 'w' " + fields + " } ";
}

struct Damage {
  const char* name;
  std::string graph;
  const char* error;  // a part of it
};

std::vector<Damage> Damages() {
  const std::string x = OnnxValue("input", "x", {"2"}), y = "output { name: 'y' } ";
  std::string twice = "data_type: 1 dims: 17 raw_data: '" + std::string(68, 'a') + "' ";
  for (int i = 0; i < 17; ++i) twice += "float_data: 1 ";
  return {
      {"ElementsTwice", x + Weight(twice) + Relu("x", "y") + y, "a tensor has its elements twice"},
      {"CycleOfNodes", x + Relu("b", "a") + Relu("a", "b") + Relu("b", "y") + y,
       "reads \"b\", which is no input, and no node before it writes it"},
      {"LaterNode", x + Relu("a", "y") + Relu("x", "a") + y, "reads \"a\", which is no input"},
      {"OutputTwice", x + Relu("x", "y") + Relu("x", "y") + y, "its output \"y\" exists before it"},
      {"OutputIsInput", x + Relu("x", "x") + y, "its output \"x\" exists before it"},
      {"TwoInputsOfAName", x + x + Relu("x", "y") + y, "two inputs have the name \"x\""},
      {"OutputOfNothing", x + y, "reads \"y\", which is no input"},
      {"NegativeDim",
       x + Weight("data_type: 1 dims: -2") +
           "node { op_type: 'Add' input: 'x' input: 'w' output: 'y' } " + y,
       "tensor \"w\""},
      {"DimsOverflow",
       x + Weight("data_type: 1 dims: 4611686018427387904 dims: 8") +
           "node { op_type: 'Add' input: 'x' input: 'w' output: 'y' } " + y,
       "overflow"},
      {"HugeDims",
       x + Weight("data_type: 1 dims: 4611686018427387904") +
           "node { op_type: 'Add' input: 'x' input: 'w' output: 'y' } " + y,
       "w"},
      {"TooFewElements",
       x + Weight("data_type: 1 dims: 2 float_data: 1") +
           "node { op_type: 'Add' input: 'x' input: 'w' output: 'y' } " + y,
       "elements"},
      {"RawOfAnotherSize",
       x + Weight("data_type: 1 dims: 2 raw_data: 'abc'") +
           "node { op_type: 'Add' input: 'x' input: 'w' output: 'y' } " + y,
       "bytes of elements"},
      {"RawAndTyped",
       x + Weight("data_type: 1 dims: 2 raw_data: 'abcdefgh' float_data: 1 float_data: 2") +
           "node { op_type: 'Add' input: 'x' input: 'w' output: 'y' } " + y,
       "places with elements"},
      {"UnknownType",
       x + Weight("data_type: 77 dims: 2 raw_data: 'ab'") +
           "node { op_type: 'Add' input: 'x' input: 'w' output: 'y' } " + y,
       "77"},
      {"WrongAttribute",
       x +
           "node { op_type: 'Elu' name: 'n' input: 'x' output: 'y' attribute { name: 'alpha' type: "
           "INT i: 1 } } " +
           y,
       "attribute \"alpha\" has type INT, want FLOAT"},
      {"MissingInput", x + "node { op_type: 'Add' name: 'n' input: 'x' output: 'y' } " + y,
       "it has no input 1, want one"},
      {"AxisOutOfRange",
       x +
           "node { op_type: 'Concat' name: 'n' input: 'x' input: 'x' output: 'y' attribute { name: "
           "'axis' type: INT i: 7 } } " +
           y,
       "node \"n\" of type Concat"},
      {"KernelOfZero",
       OnnxValue("input", "x", {"1", "1", "4", "4"}) +
           "node { op_type: 'MaxPool' name: 'n' input: 'x' output: 'y' attribute { name: "
           "'kernel_shape' type: INTS ints: 0 ints: 0 } } " +
           y,
       "node \"n\" of type MaxPool"},
      {"NoBranch",
       x + OnnxValue("input", "c", {}, 9) +
           "node { op_type: 'If' name: 'n' input: 'c' output: 'y' } " + y,
       "want a graph"},
      {"SequenceInput", "input { name: 'x' type { sequence_type { } } } " + Relu("x", "y") + y,
       "is not a tensor"}};
}

TEST(OnnxDamagedModelsTest, EndInOneLine) {
  for (const Damage& damage : Damages()) {
    const std::string error = OnnxImportError(OnnxBytes(damage.graph));
    EXPECT_NE(error.find(damage.error), std::string::npos)
        << damage.name << ": \"" << error << "\"";
    EXPECT_EQ(error.find('\n'), std::string::npos) << damage.name;
  }
}

std::string GoodModel() {
  std::string values;
  for (int i = 0; i < 20; ++i) values += " float_data: " + std::to_string(i);
  return OnnxBytes(OnnxValue("input", "x", {"1", "20"}) +
                   "initializer { name: 'w' data_type: 1 dims: 20" + values + " } " +
                   "node { op_type: 'Add' input: 'x' input: 'w' output: 's' } " + Relu("s", "y") +
                   OnnxValue("output", "y", {"1", "20"}));
}

TEST(OnnxDamagedModelsTest, TruncatedFilesEndInAnError) {
  const std::string bytes = GoodModel();
  ASSERT_EQ(OnnxImportError(bytes), "");
  for (size_t size = 0; size < bytes.size(); ++size) {
    // Without the last field, the version, it is a model of opset 1.
    if (size + 4 == bytes.size()) continue;
    EXPECT_NE(OnnxImportError(bytes.substr(0, size)), "") << size << " bytes";
  }
}

TEST(OnnxDamagedModelsTest, ChangedBytesNeverCrash) {
  const std::string bytes = GoodModel();
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (const int change : {1, 0x55, 0x80, 0xff}) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(damaged[i] ^ change);
      (void)OnnxImportError(damaged);
    }
  }
}

TEST(OnnxDamagedModelsTest, FunctionsThatCallThemselvesEnd) {
  const std::string function =
      "opset_import { domain: 'own' version: 1 } functions { name: 'F' domain: 'own' input: 'a' "
      "output: 'b' "
      "opset_import { domain: 'own' version: 1 } node { op_type: 'F' domain: 'own' input: 'a' "
      "output: 'b' } } ";
  const std::string graph =
      OnnxValue("input", "x", {"2"}) +
      "node { op_type: 'F' domain: 'own' input: 'x' output: 'y' } output { name: 'y' }";
  EXPECT_NE(OnnxImportError(OnnxBytes(graph, 17, function))
                .find("levels of graphs in graphs and of functions"),
            std::string::npos);
}

// Each function calls the one before twice: 2^40 nodes.
TEST(OnnxDamagedModelsTest, FunctionsThatDoubleEnd) {
  std::string functions = "opset_import { domain: 'own' version: 1 } ";
  for (int i = 0; i < 40; ++i) {
    const std::string inner =
        i == 0 ? "op_type: 'Relu'" : "domain: 'own' op_type: 'F" + std::to_string(i - 1) + "'";
    functions += "functions { name: 'F" + std::to_string(i) +
                 "' domain: 'own' input: 'a' output: 'c' opset_import { version: 17 } "
                 "opset_import { domain: 'own' version: 1 } node { " +
                 inner + " input: 'a' output: 'b' } node { " + inner +
                 " input: 'b' output: 'c' } } ";
  }
  const std::string graph =
      OnnxValue("input", "x", {"2"}) +
      "node { op_type: 'F39' domain: 'own' input: 'x' output: 'y' } output { name: 'y' }";
  EXPECT_NE(OnnxImportError(OnnxBytes(graph, 17, functions)).find("are expanded"),
            std::string::npos);
}

// What is computed at import never exceeds its limit: the operators would make the tensors.
TEST(OnnxDamagedModelsTest, LargeConstantsAreNotMade) {
  const std::string huge =
      "initializer { name: 's' data_type: 7 dims: 4 int64_data: 100000 int64_data: 100000 "
      "int64_data: 100000 int64_data: 10 } ";
  for (const char* type : {"ConstantOfShape", "Expand"}) {
    const std::string inputs =
        std::string(type) == "Expand" ? "input: 'x' input: 's'" : "input: 's'";
    const std::string graph = OnnxValue("input", "x", {"1"}) + huge + "node { op_type: '" + type +
                              "' " + inputs + " output: 'y' } output { name: 'y' }";
    (void)OnnxImportError(OnnxBytes(graph));
  }
}

}  // namespace
}  // namespace caffe2rt::test::onnx_damaged_test
