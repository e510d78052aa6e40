// `--image` for models of ONNX, whose files state the form of their images.

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <cctype>

#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/image.h"
#include "caffe2_core/io/npy.h"
#include "caffe2rt/onnx.pb.h"
#include "tests/programs/program_runner.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::onnx_images_test {
namespace {

using ::testing::HasSubstr;

constexpr int kFloat = 1, kBytes = 2;

class OnnxImagesTest : public ::testing::Test {
 protected:
  // 4 x 2 pixels: red is 10 y + x, green 100, blue 200.
  OnnxImagesTest() {
    Image image{.width = 4, .height = 2, .rgb = {}};
    for (uint8_t y = 0; y < 2; ++y) {
      for (uint8_t x = 0; x < 4; ++x) {
        for (const int value : {10 * y + x, 100, 200}) {
          image.rgb.push_back(static_cast<uint8_t>(value));
        }
      }
    }
    SaveImage(image_, image);
  }

  // Runs a model that returns its input as floats.
  ProgramResult Run(const std::vector<std::string>& dims, int type,
                    const std::vector<std::string>& options = {}) {
    std::string shape;
    for (const std::string& dim : dims) {
      const bool is_number = std::isdigit(static_cast<unsigned char>(dim[0])) != 0;
      shape += "dim { " + (is_number ? "dim_value: " + dim : "dim_param: '" + dim + "'") + " } ";
    }
    onnx::ModelProto model;
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
        "ir_version: 8 opset_import { version: 17 } graph { name: 'g' input { name: 'x' type { "
        "tensor_type { elem_type: " +
            std::to_string(type) + " shape { " + shape +
            "} } } } output { name: 'y' type { tensor_type { elem_type: 1 } } } "
            "node { op_type: 'Cast' input: 'x' output: 'f' attribute { name: 'to' type: INT i: 1 } "
            "} "
            "node { op_type: 'Neg' input: 'f' output: 'y' } }",
        &model));
    WriteFileAtomically(model_, model.SerializeAsString());
    std::vector<std::string> arguments = {"run",  model_,     "--image",
                                          image_, "--output", dir_.path("out")};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return RunCaffe2(arguments);
  }
  void ExpectOutput(const std::vector<int64_t>& dims, const std::vector<float>& want) {
    const Tensor y = ReadNpy(dir_.path("out") + "/y.npy");
    EXPECT_EQ(y.dims(), dims);
    ASSERT_EQ(y.numel(), static_cast<int64_t>(want.size()));
    for (size_t i = 0; i < want.size(); ++i) EXPECT_EQ(-y.data<float>()[i], want[i]) << i;
  }

  const TempDir dir_;
  const std::string model_ = dir_.path("m.onnx"), image_ = dir_.path("i.png");
};

TEST_F(OnnxImagesTest, CropsToTheSizeThatTheModelStates) {
  const ProgramResult first = Run({"batch", "3", "2", "2"}, kFloat);
  ASSERT_EQ(first.code, 0) << first.err;
  ExpectOutput({1, 3, 2, 2}, {1, 2, 11, 12, 100, 100, 100, 100, 200, 200, 200, 200});
  EXPECT_THAT(first.out, HasSubstr(" i.png (centre 2x2)\n"));
  for (const int type : {kFloat, kBytes}) {
    const ProgramResult last = Run({"unk__1", "2", "2", "3"}, type);
    ASSERT_EQ(last.code, 0) << last.err;
    ExpectOutput({1, 2, 2, 3}, {1, 100, 200, 2, 100, 200, 11, 100, 200, 12, 100, 200});
    EXPECT_THAT(last.out, HasSubstr(type == kBytes ? " i.png (centre 2x2, NHWC, bytes)\n"
                                                   : " i.png (centre 2x2, NHWC)\n"));
  }
}

TEST_F(OnnxImagesTest, FeedsTheWholeImageIfTheSizeIsOpen) {
  const ProgramResult last = Run({"n", "h", "w", "3"}, kBytes, {"--bgr", "--crop", "2x1"});
  ASSERT_EQ(last.code, 0) << last.err;
  ExpectOutput({1, 1, 2, 3}, {200, 100, 1, 200, 100, 2});
  EXPECT_THAT(last.out, HasSubstr(" i.png (centre 2x1, BGR, NHWC, bytes)\n"));
  const ProgramResult whole = Run({"h", "w", "3"}, kFloat, {"--mean", "100", "--scale", "0.5"});
  ASSERT_EQ(whole.code, 0) << whole.err;
  EXPECT_EQ(ReadNpy(dir_.path("out") + "/y.npy").dims(), (std::vector<int64_t>{2, 4, 3}));
  // Half of a size is none.
  for (const std::vector<std::string>& dims :
       {std::vector<std::string>{"n", "3", "2", "w"}, {"n", "3", "h", "2"}}) {
    const ProgramResult half = Run(dims, kFloat);
    ASSERT_EQ(half.code, 0) << half.err;
    ExpectOutput({1, 3, 2, 4}, {0,   1,   2,   3,   10,  11,  12,  13,  100, 100, 100, 100,
                                100, 100, 100, 100, 200, 200, 200, 200, 200, 200, 200, 200});
  }
  const ProgramResult sized = Run({"n", "3", "h", "w"}, kFloat, {"--dim", "h=1", "--dim", "w=1"});
  ASSERT_EQ(sized.code, 0) << sized.err;
  ExpectOutput({1, 3, 1, 1}, {1, 100, 200});
}

TEST_F(OnnxImagesTest, BytesHaveNoMean) {
  for (const std::string option : {"--mean", "--scale", "--std"}) {
    const ProgramResult result = Run({"n", "2", "2", "3"}, kBytes, {option, "127.5"});
    EXPECT_EQ(result.code, 2);
    EXPECT_EQ(result.err, "caffe2: option " + option +
                              " does not apply: input \"x\" of the model has type uint8, the "
                              "bytes of the image\n");
    EXPECT_EQ(Run({"n", "2", "2", "3"}, kFloat, {option, "127.5"}).code, 0);
  }
}

}  // namespace
}  // namespace caffe2rt::test::onnx_images_test
