// caffe2 convert --to onnx: what it writes is run again.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/npy.h"
#include "tests/programs/program_runner.h"
#include "tests/support/shared.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::onnx_export_test {
namespace {

using ::testing::HasSubstr;

// y = 3 relu(x w^T + b), elementwise.
constexpr char kPredict[] = R"(name: "small" external_input: "x" external_output: "y"
  op { type: "FC" input: "x" input: "w" input: "b" output: "h" name: "fc" }
  op { type: "Relu" input: "h" output: "h" }
  op { type: "Scale" input: "h" output: "y" arg { name: "scale" f: 3 } })";
constexpr char kInit[] = R"(name: "small_init"
  op { type: "GivenTensorFill" output: "w" arg { name: "shape" ints: [1, 2] } arg { name: "values" floats: [3, 5] } }
  op { type: "GivenTensorFill" output: "b" arg { name: "shape" ints: 1 } arg { name: "values" floats: 10 } })";

class OnnxExportTest : public ::testing::Test {
 protected:
  OnnxExportTest() {
    WriteFileAtomically(predict_, kPredict);
    WriteFileAtomically(init_, kInit);
    Tensor x({2, 2}, CPU);
    for (int i = 0; i < 4; ++i) x.mutable_data<float>()[i] = static_cast<float>(i - 2);
    WriteNpy(array_, x);
  }
  ProgramResult Convert(const std::vector<std::string>& more) const {
    std::vector<std::string> args = {"convert", predict_, "--init-net", init_};
    args.insert(args.end(), more.begin(), more.end());
    return RunCaffe2(args);
  }
  // x is [[-2, -1], [0, 1]], so that h is [-1, 15].
  void ExpectRuns(const std::string& model) const {
    const std::string folder = dir_.path("out");
    const ProgramResult run =
        RunCaffe2({"run", model, "--input", "x=" + array_, "--output", folder});
    ASSERT_EQ(run.code, 0) << run.err;
    const Tensor y = ReadNpy(folder + "/y.npy");
    ASSERT_EQ(y.dims(), (std::vector<int64_t>{2, 1}));
    EXPECT_EQ(y.data<float>()[0], 0);
    EXPECT_EQ(y.data<float>()[1], 45);
  }

  const TempDir dir_;
  const std::string predict_ = dir_.path("predict.pbtxt"), init_ = dir_.path("init.pbtxt"),
                    array_ = dir_.path("x.npy"), model_ = dir_.path("small.onnx");
};

TEST_F(OnnxExportTest, WritesAModelThatRuns) {
  const ProgramResult result = Convert({"--input-shape", "x=2,2", "--output", model_});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("small.onnx"));
  ExpectRuns(model_);
}

TEST_F(OnnxExportTest, WritesAnImportedModelAgain) {
  ASSERT_EQ(Convert({"--input-shape", "x=2,2", "--output", model_}).code, 0);
  const std::string again = dir_.path("again.onnx");
  const ProgramResult result =
      RunCaffe2({"convert", model_, "--to", "onnx", "--opset", "20", "--output", again});
  ASSERT_EQ(result.code, 0) << result.err;
  ExpectRuns(again);
}

TEST_F(OnnxExportTest, StandardOutputGetsTheBytesOfTheFile) {
  ASSERT_EQ(Convert({"--input-shape", "x=2,2", "--output", model_}).code, 0);
  const ProgramResult piped = Convert({"--to", "onnx", "--input-shape", "x=2,2", "--output", "-"});
  EXPECT_EQ(piped.code, 0);
  EXPECT_EQ(piped.err, "");
  EXPECT_EQ(piped.out, ReadWholeFile(model_));
}

TEST_F(OnnxExportTest, ReportsWhatIsMissing) {
  EXPECT_THAT(Convert({"--output", model_}).err,
              HasSubstr("the shapes of inputs \"x\" are not known; state them with --input-shape"));
  const ProgramResult nowhere = Convert({"--to", "onnx", "--input-shape", "x=2,2"});
  EXPECT_EQ(nowhere.code, 2);
  EXPECT_THAT(nowhere.err, HasSubstr("want --output FILE.onnx"));
  EXPECT_EQ(nowhere.out, "");
  EXPECT_EQ(Convert({"--input-shape", "x=2,2", "--opset", "9", "--output", model_}).code, 2);
  WriteFileAtomically(predict_, R"(name: "n" op { type: "CreateDB" output: "db" })");
  EXPECT_THAT(Convert({"--output", model_}).err,
              HasSubstr("these operators have no ONNX form: CreateDB (\"db\")"));
}

// Real nets: exported, and run as models of ONNX on their recorded inputs.
TEST(OnnxExportSharedTest, KeepsTheOutputsOfModels) {
  const struct {
    const char *folder, *init, *predict, *input, *array, *output, *wanted;
  } models[] = {
      {"c2_squeezenet", "init_net.pb", "predict_net.pb", "data", "in__data", "softmaxout",
       "out__softmaxout"},
      {"c2_resnet_cifar10", "init_net.pb", "predict_net.pb", "data", "in__data", "softmax",
       "out__softmax"},
      {"c2_mtcnn", "12init_net.pb", "12predict_net.pb", "data", "in__net12_data", "conv4-2",
       "out__net12_conv4-2"},
  };
  const TempDir dir;
  for (const auto& model : models) {
    SKIP_WITHOUT_SHARED(std::string("models/") + model.folder);
    SCOPED_TRACE(model.folder);
    const std::string folder = SharedPath(std::string("models/") + model.folder) + "/";
    const std::string array = folder + "golden/" + model.array + ".npy";
    const Tensor input = ReadNpy(array);
    std::string shape;
    for (const int64_t dim : input.dims()) shape += (shape.empty() ? "" : ",") + MakeString(dim);
    const std::string file = dir.path("model.onnx"), out = dir.path("out");
    const ProgramResult result =
        RunCaffe2({"convert", folder + model.predict, "--init-net", folder + model.init,
                   "--input-shape", std::string(model.input) + "=" + shape, "--output", file});
    ASSERT_EQ(result.code, 0) << result.err;
    const ProgramResult run = RunCaffe2(
        {"run", file, "--input", std::string(model.input) + "=" + array, "--output", out});
    ASSERT_EQ(run.code, 0) << run.err;
    const Tensor got = ReadNpy(out + "/" + model.output + ".npy");
    const Tensor want = ReadNpy(folder + "golden/" + model.wanted + ".npy");
    ASSERT_EQ(got.dims(), want.dims());
    for (int64_t i = 0; i < want.numel(); ++i) {
      ASSERT_NEAR(got.data<float>()[i], want.data<float>()[i],
                  1e-5 * std::max(1.f, std::abs(want.data<float>()[i])));
    }
  }
}

}  // namespace
}  // namespace caffe2rt::test::onnx_export_test
