// Models of Caffe as arguments of the commands.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/npy.h"
#include "tests/programs/program_runner.h"
#include "tests/support/shared.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::caffe_models_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr char kNet[] = R"(name: "small"
layer { name: "data" type: "Data" top: "data" top: "label"
        transform_param { scale: 0.5 mean_value: 10 mean_value: 20 mean_value: 30 } }
layer { name: "conv" type: "Convolution" bottom: "data" top: "conv"
        convolution_param { num_output: 1 kernel_size: 1 bias_term: false } }
layer { name: "relu" type: "ReLU" bottom: "conv" top: "conv" }
layer { name: "double" type: "Power" bottom: "conv" top: "double" power_param { scale: 2 } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "double" bottom: "label" top: "loss" }
)";
constexpr char kWeights[] = R"(layer { name: "conv" type: "Convolution"
  blobs { shape { dim: 1 dim: 3 dim: 1 dim: 1 } data: 1 data: 10 data: 100 } })";

class CaffeModelsTest : public ::testing::Test {
 protected:
  CaffeModelsTest() {
    WriteFileAtomically(net_, kNet);
    WriteFileAtomically(weights_, kWeights);
    Tensor data({1, 3, 1, 1}, CPU);
    for (int i = 0; i < 3; ++i) data.mutable_data<float>()[i] = static_cast<float>(i + 1);
    WriteNpy(data_, data);
  }
  // Runs a command on the model with the input 1, 2, 3, for which conv is 321.
  ProgramResult Run(std::vector<std::string> args, bool with_data = true) const {
    args.insert(args.begin() + 1, {net_, "--weights", weights_});
    if (with_data) args.insert(args.end(), {"--input", "data=" + data_});
    return RunCaffe2(args);
  }

  const TempDir dir_;
  const std::string net_ = dir_.path("net.prototxt"), weights_ = dir_.path("net.caffemodel"),
                    data_ = dir_.path("data.npy");
};

TEST_F(CaffeModelsTest, RunsAndFindsBlobsByLayers) {
  const ProgramResult result = Run({"run", "--fetch", "relu", "--fetch", "conv"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("double"), HasSubstr("642"), HasSubstr("321")));
  EXPECT_THAT(result.err, HasSubstr("caffe2: note: layer \"loss\" of type SoftmaxWithLoss is left "
                                    "out: it is for training"));
  const ProgramResult unknown = Run({"run", "--fetch", "rleu"});
  EXPECT_EQ(unknown.code, 2);
}

TEST_F(CaffeModelsTest, EveryCommandTakesThem) {
  const ProgramResult check = Run({"check"});
  EXPECT_EQ(check.code, 0) << check.out << check.err;
  EXPECT_THAT(check.out, HasSubstr("net \"small\": fine"));
  const ProgramResult inspect = Run({"inspect", "--input", "data=1,3,4,4"}, false);
  EXPECT_THAT(inspect.out, AllOf(HasSubstr("Conv"), HasSubstr("float [1, 1, 4, 4]")));
  EXPECT_EQ(Run({"bench", "--iterations", "1"}).code, 0);
  const std::string packed = dir_.path("net.c2pack"), folder = dir_.path("nets");
  EXPECT_EQ(Run({"pack", packed}, false).code, 0);
  EXPECT_THAT(RunCaffe2({"run", "--predict-net", packed, "--input", "data=" + data_}).out,
              HasSubstr("642"));
  EXPECT_EQ(Run({"convert", "--output", folder}, false).code, 0);
  const std::string init = folder + "/init_net.pb", predict = folder + "/predict_net.pb";
  EXPECT_THAT(
      RunCaffe2({"run", "--init-net", init, "--predict-net", predict, "--input", "data=" + data_})
          .out,
      HasSubstr("642"));
  const ProgramResult compare = RunCaffe2({"compare", net_, predict, "--weights", weights_,
                                           "--init-net2", init, "--input", "data=" + data_});
  EXPECT_EQ(compare.code, 0) << compare.out << compare.err;
  const ProgramResult optimize =
      Run({"optimize", "--output-init-net", init, "--output-predict-net", predict});
  EXPECT_EQ(optimize.code, 0) << optimize.err;
}

TEST_F(CaffeModelsTest, TheFileStatesHowImagesArePrepared) {
  // One pixel: red 12, green 22, blue 34. Caffe's order is blue, green, red: 0.5 * (34 - 10, 22 - 20,
  // 12 - 30) = 12, 1, -9, and conv is 12 + 10 - 900, which ReLU makes 0.
  const std::string image = dir_.path("pixel.npy"), picture = dir_.path("pixel.png");
  Tensor pixel({1, 3, 1, 1}, CPU);
  const float values[] = {12, 22, 34};
  std::copy_n(values, 3, pixel.mutable_data<float>());
  WriteNpy(image, pixel);
  // Saves the pixel by a net that hands it on.
  WriteFileAtomically(dir_.path("same.pbtxt"),
                      "name: 'same' op { type: 'Copy' input: 'x' output: 'y' }");
  ASSERT_EQ(RunCaffe2({"run", "--predict-net", dir_.path("same.pbtxt"), "--input", "x=" + image,
                       "--save-image", "y=" + picture})
                .code,
            0);
  const auto run = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"run", "--image", picture, "--fetch", "data", "--json"});
    const ProgramResult result = Run(more, false);
    EXPECT_EQ(result.code, 0) << result.err;
    return result.out;
  };
  EXPECT_THAT(run({}), HasSubstr("\"values\": [12, 1, -9]"));
  // A mean that is given: an array for each channel.
  Tensor mean({3, 1, 1}, CPU);
  const float means[] = {4, 2, 2};
  std::copy_n(means, 3, mean.mutable_data<float>());
  WriteNpy(dir_.path("mean.npy"), mean);
  EXPECT_THAT(run({"--mean", dir_.path("mean.npy"), "--bgr", "--scale", "1"}),
              HasSubstr("\"values\": [30, 20, 10]"));
}

TEST_F(CaffeModelsTest, MeanImagesOfTheNetAreToBeGiven) {
  WriteFileAtomically(net_,
                      "layer { name: 'data' type: 'ImageData' top: 'data' transform_param { "
                      "crop_size: 2 mean_file: 'mean.binaryproto' } }"
                      "layer { name: 'y' type: 'Power' bottom: 'data' top: 'y' }");
  const std::string image = SourcePath("binaries/demo/stripes/images/rising_1.png");
  const ProgramResult without = RunCaffe2({"run", net_, "--image", image});
  EXPECT_EQ(without.code, 0) << without.err;
  EXPECT_THAT(without.err, HasSubstr("note: the net subtracts the mean image \"mean.binaryproto\", "
                                     "which is not opened; give it with --mean"));
  EXPECT_EQ(RunCaffe2({"run", net_, "--image", image, "--mean", "1"}).err, "");
}

// The same weights in both forms, as published.
TEST_F(CaffeModelsTest, PublishedNetsAgreeWithTheirTranslations) {
  SKIP_WITHOUT_SHARED("models/c1_mtcnn");
  SKIP_WITHOUT_SHARED("models/c2_mtcnn");
  for (const auto& [caffe, caffe2] :
       {std::pair("det1", "12"), std::pair("det2", "24"), std::pair("det3", "48")}) {
    const std::string net = SharedPath("models/c1_mtcnn/") + caffe,
                      other = SharedPath("models/c2_mtcnn/") + caffe2;
    const std::string input =
        "data=" + SharedPath("models/c1_mtcnn/golden/in__") + caffe + "_data.npy";
    const ProgramResult forward = RunCaffe2(
        {"compare", net + ".prototxt", other + "predict_net.pb", "--weights", net + ".caffemodel",
         "--init-net2", other + "init_net.pb", "--input", input, "--tol", "1e-6"});
    EXPECT_EQ(forward.code, 0) << forward.out << forward.err;
    EXPECT_THAT(forward.out, HasSubstr("prob1"));
    const ProgramResult backward = RunCaffe2(
        {"compare", other + "predict_net.pb", net + ".prototxt", "--weights2", net + ".caffemodel",
         "--init-net", other + "init_net.pb", "--input", input, "--tol", "1e-6"});
    EXPECT_EQ(backward.code, 0) << backward.out << backward.err;
  }
}

TEST_F(CaffeModelsTest, TakesWeightsInHdf5) {
  SKIP_WITHOUT_SHARED("models/c1_cifar10_full_v1");
  const std::string folder = SharedPath("models/c1_cifar10_full_v1/");
  const ProgramResult result =
      RunCaffe2({"run", folder + "cifar10_full.prototxt", "--weights",
                 folder + "cifar10_full_iter_60000.caffemodel.h5", "--input", "data=1,3,32,32"});
  if (result.err.find("belongs to builds with libhdf5-dev") != std::string::npos) {
    GTEST_SKIP() << "this build has no HDF5 (libhdf5-dev)";
  }
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("prob"));
}

TEST_F(CaffeModelsTest, CheckListsWhatIsNotSupported) {
  WriteFileAtomically(net_, std::string(kNet) +
                                "layer { name: 'a' type: 'Odd' bottom: 'double' top: 'a' }"
                                "layer { name: 'b' type: 'Odd' bottom: 'double' top: 'b' }");
  const ProgramResult check = Run({"check"}, false);
  EXPECT_EQ(check.code, 1);
  EXPECT_THAT(check.err, HasSubstr("layers that are not supported: 2 of type Odd (\"a\", \"b\""));
}

TEST_F(CaffeModelsTest, MissingInputsHaveTheShapeInTheFile) {
  WriteFileAtomically(net_,
                      "input: 'x' input_dim: 1 input_dim: 3 input_dim: 12 input_dim: 10 "
                      "layer { name: 'y' type: 'ReLU' bottom: 'x' top: 'y' }");
  const ProgramResult result = RunCaffe2({"run", net_});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err,
              HasSubstr("input \"x\" was not given; the net suggests the shape float [1, 3, "
                        "12, 10]; want --input x=FILE"));
}

TEST_F(CaffeModelsTest, NamesFilesThatAreNoModels) {
  WriteFileAtomically(net_, "train_net: 'train.prototxt'\nbase_lr: 0.1\nmax_iter: 10\n");
  const ProgramResult solver = Run({"run"});
  EXPECT_EQ(solver.code, 1);
  EXPECT_THAT(solver.err, HasSubstr("is a solver of Caffe, not a net"));
  WriteFileAtomically(net_, kNet);
  WriteFileAtomically(weights_, std::string("\x08\x05\x12\x01x", 5));
  EXPECT_THAT(Run({"run"}).err, HasSubstr("it is a solverstate of Caffe"));
}

}  // namespace
}  // namespace caffe2rt::test::caffe_models_test
