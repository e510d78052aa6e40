// Models of ONNX as arguments of the commands.

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "caffe2_core/import/onnx/onnx_import.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/npy.h"
#include "caffe2rt/onnx.pb.h"
#include "tests/programs/program_runner.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::onnx_models_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// y = relu(x w + b), with a batch of any size.
constexpr char kModel[] = R"(ir_version: 8 opset_import { version: 17 } graph { name: "small"
  input { name: "x" type { tensor_type { elem_type: 1
    shape { dim { dim_param: "batch" } dim { dim_value: 2 } } } } }
  output { name: "y" type { tensor_type { elem_type: 1
    shape { dim { dim_param: "batch" } dim { dim_value: 1 } } } } }
  initializer { name: "w" data_type: 1 dims: 1 dims: 2 float_data: 3 float_data: 5 }
  initializer { name: "b" data_type: 1 dims: 1 float_data: 10 }
  node { op_type: "Gemm" name: "fc" input: "x" input: "w" input: "b" output: "h"
         attribute { name: "transB" type: INT i: 1 } }
  node { op_type: "Relu" name: "relu" input: "h" output: "y" } })";

class OnnxModelsTest : public ::testing::Test {
 protected:
  OnnxModelsTest() {
    onnx::ModelProto model;
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(kModel, &model));
    WriteFileAtomically(model_, model.SerializeAsString());
    Tensor x({2, 2}, CPU);
    for (int i = 0; i < 4; ++i) x.mutable_data<float>()[i] = static_cast<float>(i);
    WriteNpy(array_, x);
    WriteOnnxTensor(tensor_, "x", x);
  }

  const TempDir dir_;
  const std::string model_ = dir_.path("small.onnx"), array_ = dir_.path("x.npy"),
                    tensor_ = dir_.path("x.pb");
};

// x is [[0, 1], [2, 3]], y is [15, 31].
TEST_F(OnnxModelsTest, RunsOnArraysAndOnTensorsOfOnnx) {
  const std::string other = dir_.path("x.tensor");  // known by its fields
  std::filesystem::copy(tensor_, other);
  for (const std::string& input : {array_, tensor_, other}) {
    const std::string folder = dir_.path("out");
    const ProgramResult result =
        RunCaffe2({"run", model_, "--input", "x=" + input, "--output", folder});
    EXPECT_EQ(result.code, 0) << result.err;
    const Tensor y = ReadNpy(folder + "/y.npy");
    ASSERT_EQ(y.dims(), (std::vector<int64_t>{2, 1}));
    EXPECT_EQ(y.data<float>()[0], 15);
    EXPECT_EQ(y.data<float>()[1], 31);
  }
}

TEST_F(OnnxModelsTest, ChecksArraysAndTensorsOfOnnx) {
  for (const std::string& input : {array_, tensor_}) {
    const ProgramResult fine = RunCaffe2({"check", model_, "--input", "x=" + input});
    EXPECT_EQ(fine.code, 0) << fine.err;
  }
  Tensor wide({2, 3}, CPU);
  std::fill_n(wide.mutable_data<float>(), 6, 1.f);
  WriteOnnxTensor(tensor_, "x", wide);
  const ProgramResult wrong = RunCaffe2({"check", model_, "--input", "x=" + tensor_});
  EXPECT_NE(wrong.code, 0) << wrong.out;
}

// The rank of an input without a shape is that of what it is given.
TEST_F(OnnxModelsTest, InputsHaveTheRankOfWhatTheyAreGiven) {
  onnx::ModelProto model;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
      R"(ir_version: 8 opset_import { version: 17 } graph { name: "g"
         input { name: "x" type { tensor_type { elem_type: 1 } } }
         output { name: "y" type { tensor_type { elem_type: 1 } } }
         node { op_type: "Flatten" input: "x" output: "y"
                attribute { name: "axis" type: INT i: -1 } } })",
      &model));
  WriteFileAtomically(model_, model.SerializeAsString());
  for (const std::string& input : {array_, tensor_}) {
    const ProgramResult run = RunCaffe2({"run", model_, "--input", "x=" + input});
    EXPECT_EQ(run.code, 0) << run.err;
    EXPECT_THAT(run.out, HasSubstr("y  float [2, 2]\n  0 1 2 3\n"));
    EXPECT_EQ(RunCaffe2({"check", model_, "--input", "x=" + input}).code, 0);
  }
  EXPECT_THAT(RunCaffe2({"run", model_, "--input", "x=3,2,4"}).out, HasSubstr("y  float [6, 4]\n"));
  EXPECT_THAT(RunCaffe2({"check", model_}).err,
              HasSubstr("it needs the rank of blob \"x\", which is not known"));
  EXPECT_EQ(RunCaffe2({"check", model_, "--input-shape", "x=2,5"}).code, 0);
}

TEST_F(OnnxModelsTest, NewerOpsetsAreAcceptedOnDemand) {
  onnx::ModelProto model;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(kModel, &model));
  model.mutable_opset_import(0)->set_version(99);
  WriteFileAtomically(model_, model.SerializeAsString());
  const std::string input = "x=" + array_;
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
           {"run", model_, "--input", input},
           {"compare", model_, model_, "--input", input},
           {"bench", model_, "--input", input, "--iterations", "1"},
           {"check", model_},
           {"inspect", model_},
           {"pack", model_, "--output", dir_.path("packed.pb")},
           {"convert", model_, "--output", dir_.path("net.pb")}}) {
    SCOPED_TRACE(command[0]);
    const ProgramResult refused = RunCaffe2(command);
    EXPECT_NE(refused.code, 0) << refused.out;
    EXPECT_THAT(refused.out + refused.err, HasSubstr("99"));
    std::vector<std::string> tolerant = command;
    tolerant.push_back("--opset-tolerant");
    const ProgramResult accepted = RunCaffe2(tolerant);
    EXPECT_EQ(accepted.code, 0) << accepted.out << accepted.err;
    // The shape of an input leaves no dimension open.
    if (std::find(command.begin(), command.end(), "--input") != command.end()) continue;
    tolerant.insert(tolerant.end(), {"--dim", "batch=2"});
    const ProgramResult sized = RunCaffe2(tolerant);
    EXPECT_EQ(sized.code, 0) << sized.out << sized.err;
  }
  EXPECT_THAT(RunCaffe2({"run", model_, "--input", input, "--opset-tolerant"}).out,
              AllOf(HasSubstr("15"), HasSubstr("31")));
}

// Casts x to BFLOAT16 and FLOAT8E4M3FN.
constexpr const char* kCasts = R"(
ir_version: 9 opset_import { version: 21 } graph { name: "casts"
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } dim { dim_value: 2 } } } } }
  node { op_type: "Cast" input: "x" output: "b" attribute { name: "to" type: INT i: 16 } }
  node { op_type: "Cast" input: "x" output: "f" attribute { name: "to" type: INT i: 17 } }
  output { name: "b" type { tensor_type { elem_type: 16 } } }
  output { name: "f" type { tensor_type { elem_type: 17 } } } })";

onnx::TensorProto ReadTensorProto(const std::string& file) {
  onnx::TensorProto tensor;
  EXPECT_TRUE(tensor.ParseFromString(ReadWholeFile(file)));
  return tensor;
}

// 0, 1, 2 and 3 in the bits of both types.
TEST_F(OnnxModelsTest, WritesTypesThatNumpyLacksAsTensorsOfOnnx) {
  onnx::ModelProto model;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(kCasts, &model));
  WriteFileAtomically(model_, model.SerializeAsString());
  const std::string folder = dir_.path("out");
  const ProgramResult result =
      RunCaffe2({"run", model_, "--input", "x=" + array_, "--output", folder});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("saved as " + folder + "/b.pb"),
                                HasSubstr("saved as " + folder + "/f.pb")));
  const onnx::TensorProto b = ReadTensorProto(folder + "/b.pb"),
                          f = ReadTensorProto(folder + "/f.pb");
  EXPECT_EQ(b.data_type(), onnx::TensorProto::BFLOAT16);
  EXPECT_EQ(b.raw_data(), std::string("\x00\x00\x80\x3f\x00\x40\x40\x40", 8));
  EXPECT_EQ(f.data_type(), onnx::TensorProto::FLOAT8E4M3FN);
  EXPECT_EQ(f.raw_data(), std::string("\x00\x38\x40\x44", 4));
}

TEST_F(OnnxModelsTest, FindsBlobsByNodes) {
  const ProgramResult result =
      RunCaffe2({"run", model_, "--input", "x=" + array_, "--fetch", "fc"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("h  "));
}

TEST_F(OnnxModelsTest, EveryCommandTakesThem) {
  const ProgramResult check = RunCaffe2({"check", model_});
  EXPECT_EQ(check.code, 0) << check.out << check.err;
  EXPECT_THAT(check.out, HasSubstr("net \"small\": fine"));
  const ProgramResult inspect = RunCaffe2({"inspect", model_, "--dim", "batch=3"});
  EXPECT_THAT(inspect.out, AllOf(HasSubstr("FC"), HasSubstr("float [3, 1]")));
  EXPECT_EQ(RunCaffe2({"bench", model_, "--input", "x=1,2", "--iterations", "1"}).code, 0);
  const std::string packed = dir_.path("small.c2pack"), folder = dir_.path("nets");
  EXPECT_EQ(RunCaffe2({"pack", model_, packed}).code, 0);
  EXPECT_THAT(RunCaffe2({"run", "--predict-net", packed, "--input", "x=" + array_}).out,
              HasSubstr("31"));
  EXPECT_EQ(RunCaffe2({"convert", model_, "--output", folder}).code, 0);
  const std::string init = folder + "/init_net.pb", predict = folder + "/predict_net.pb";
  EXPECT_THAT(
      RunCaffe2({"run", "--init-net", init, "--predict-net", predict, "--input", "x=" + array_})
          .out,
      HasSubstr("31"));
  const ProgramResult compare =
      RunCaffe2({"compare", model_, predict, "--init-net2", init, "--input", "x=" + array_});
  EXPECT_EQ(compare.code, 0) << compare.out << compare.err;
}

TEST_F(OnnxModelsTest, OptionsForDimensionsAreChecked) {
  const ProgramResult unknown = RunCaffe2({"check", model_, "--dim", "bach=3"});
  EXPECT_EQ(unknown.code, 1);
  EXPECT_THAT(unknown.err + unknown.out,
              HasSubstr("the dimension \"bach\" is given, but no input of the model has it"));
  for (const std::string wrong :
       {"batch", "batch=", "=3", "batch=8,2", "batch=-1", "batch=1.5", "batch=x"}) {
    const ProgramResult text = RunCaffe2({"check", model_, "--dim", wrong});
    EXPECT_EQ(text.code, 2) << wrong;
    EXPECT_EQ(text.err,
              "caffe2: option --dim is \"" + wrong + "\", want NAME=NUMBER, such as batch=8\n");
  }
  EXPECT_EQ(RunCaffe2({"check", model_, "--dim", "batch=8"}).code, 0);
  const ProgramResult shape = RunCaffe2({"check", model_, "--input-shape", "z=1,2"});
  EXPECT_EQ(shape.code, 1);
  EXPECT_THAT(shape.err + shape.out, HasSubstr("but the model has no input of this name"));
}

TEST_F(OnnxModelsTest, ADamagedFileIsAnErrorOfOneLine) {
  WriteFileAtomically(dir_.path("cut.onnx"), std::string("\x08\x08\x3a\x7f", 4));
  const ProgramResult result = RunCaffe2({"run", dir_.path("cut.onnx"), "--input", "x=" + array_});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(
      result.err,
      HasSubstr("a field ends behind its message; the file is damaged or not an ONNX model"));
}

}  // namespace
}  // namespace caffe2rt::test::onnx_models_test
