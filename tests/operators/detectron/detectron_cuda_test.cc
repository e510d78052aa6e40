// Compares the CUDA implementations of this family with those of the CPU.

#include "tests/support/devices_agree.h"

namespace caffe2rt::test::detectron_cuda_test {
namespace {

class DetectronOnCudaTest : public OnDeviceTest {
 protected:
  // Images with more elements than one block of threads reduces.
  void FeedImages() {
    FeedRandom(&ws_, "X", {2, 12, 31, 23}, -3, 3, 1);
    FeedRandom(&ws_, "Y", {2, 12, 31, 23}, -3, 3, 2);
    std::vector<int32_t> labels;
    for (int32_t i = 0; i < 2 * 4 * 31 * 23; ++i) labels.push_back(i * 5 % 7 % 4 - 1);
    Feed<int32_t>(&ws_, "L", {2, 4, 31, 23}, labels);
    FeedRandom(&ws_, "S", {1}, 3, 9, 4);
    FeedRandom(&ws_, "d", {}, 1, 2, 5);
  }
  // `text` is the operator with its inputs and arguments, without the type and the outputs.
  void ExpectLossAgrees(const std::string& type, const std::string& text,
                        const std::string& more_outputs = "") {
    ExpectDevicesAgree(&ws_, "type: \"" + type + "\" " + text + R"(output: "loss" )" + more_outputs,
                       {.tolerance = 1e-5});
  }
};

const std::string kClasses = R"(arg { name: "num_classes" i: 3 } arg { name: "gamma" f: 1.5 } )";

TEST_F(DetectronOnCudaTest, LossesOfImagesAgree) {
  FeedImages();
  ExpectLossAgrees("SmoothL1Loss", R"(input: "X" input: "Y" input: "X" input: "Y" )");
  ExpectDevicesAgree(&ws_, R"(type: "SmoothL1LossGradient" input: "X" input: "Y" input: "X"
                              input: "Y" input: "d" output: "dX")",
                     {.tolerance = 1e-5});
  ExpectLossAgrees("SigmoidFocalLoss", R"(input: "X" input: "L" input: "S" )" + kClasses);
  ExpectDevicesAgree(&ws_,
                     R"(type: "SigmoidFocalLossGradient" input: "X" input: "L" input: "S"
                        input: "d" output: "dX" )" +
                         kClasses,
                     {.tolerance = 1e-5});
  ExpectLossAgrees("SoftmaxFocalLoss", R"(input: "X" input: "L" input: "S" )" + kClasses,
                   R"(output: "P" )");
  ExpectDevicesAgree(&ws_,
                     R"(type: "SoftmaxFocalLossGradient" input: "X" input: "L" input: "S"
                        input: "P" input: "d" output: "dX" )" +
                         kClasses,
                     {.tolerance = 1e-5});
  FeedRandom(&ws_, "X", {2, 4, 31, 23}, -3, 3, 1);
  for (const std::string normalize : {"0", "1"}) {
    const std::string argument = R"(arg { name: "normalize" i: )" + normalize + " } ";
    ExpectLossAgrees("SigmoidCrossEntropyLoss", R"(input: "X" input: "L" )" + argument);
    ExpectDevicesAgree(&ws_,
                       R"(type: "SigmoidCrossEntropyLossGradient" input: "X" input: "L"
                          input: "d" output: "dX" )" +
                           argument,
                       {.tolerance = 1e-5});
  }
}

// Many equal and overlapping locations: the sums have the same order.
TEST_F(DetectronOnCudaTest, SelectedLossesAgree) {
  constexpr int64_t kBoxes = 501;
  FeedRandom(&ws_, "X", {2, 9, 3, 4}, -3, 3, 1);
  FeedRandom(&ws_, "Y", {kBoxes, 4}, -3, 3, 2);
  FeedRandom(&ws_, "S", {1}, 3, 9, 4);
  FeedRandom(&ws_, "d", {}, 1, 2, 5);
  std::vector<float> locations;
  for (int i = 0; i < kBoxes; ++i) {
    for (const int at : {i % 2, i * 5 % 7 % 6, i % 3, i * 3 % 5 % 4}) {
      locations.push_back(static_cast<float>(at));
    }
  }
  Feed<float>(&ws_, "at", {kBoxes, 4}, locations);
  ExpectLossAgrees("SelectSmoothL1Loss", R"(input: "X" input: "Y" input: "at" input: "S" )");
  ExpectDevicesAgree(&ws_, R"(type: "SelectSmoothL1LossGradient" input: "X" input: "Y" input: "at"
                              input: "S" input: "d" output: "dX")",
                     {.tolerance = 1e-6});
}

TEST_F(DetectronOnCudaTest, SoftmaxAndWindowsAgree) {
  FeedImages();
  const std::string classes = R"(arg { name: "num_classes" i: 3 })";
  ExpectDevicesAgree(&ws_, R"(type: "GroupSpatialSoftmax" input: "X" output: "P" )" + classes,
                     {.tolerance = 1e-5});
  ExpectDevicesAgree(
      &ws_, R"(type: "GroupSpatialSoftmaxGradient" input: "P" input: "Y" output: "dX" )" + classes,
      {.tolerance = 1e-5});
  FeedRandom(&ws_, "B", {2, 1, 17, 22});
  ExpectDevicesAgree(&ws_, R"(type: "SpatialNarrowAs" input: "X" input: "B" output: "C")");
  ExpectDevicesAgree(&ws_, R"(type: "SpatialNarrowAsGradient" input: "X" input: "B" input: "C"
                              output: "dX")");
}

TEST_F(DetectronOnCudaTest, SamplesAgree) {
  FeedRandom(&ws_, "X", {7, 5});
  Feed<int32_t>(&ws_, "T", {7}, {1, 1, 0, -1, 2, 0, 9});
  for (const std::set<std::string>& stay : {std::set<std::string>(), std::set<std::string>{"T"}}) {
    ExpectDevicesAgree(&ws_, R"(type: "SampleAs" input: "X" input: "T" output: "Y")",
                       {.stay = stay});
    ExpectDevicesAgree(&ws_,
                       R"(type: "SampleAsGradient" input: "X" input: "T" input: "Y" output: "dX")",
                       {.stay = stay});
  }
}

TEST_F(DetectronOnCudaTest, ReportsLabelsAndLocations) {
  FeedRandom(&ws_, "X", {1, 4, 1, 1});
  Feed<int32_t>(&ws_, "L", {1, 1, 1, 1}, {4});
  Feed<float>(&ws_, "S", {1}, {1});
  const std::string arguments = R"(arg { name: "num_classes" i: 4 })";
  ExpectDeviceThrows(&ws_,
                     R"(type: "SoftmaxFocalLoss" input: "X" input: "L" input: "S" output: "loss"
                        output: "P" )" +
                         arguments,
                     "element 0 of input 1 (labels) is 4, want a class below 4");
  ExpectDeviceThrows(&ws_,
                     R"(type: "SoftmaxFocalLossGradient" input: "X" input: "L" input: "S"
                        input: "X" input: "S" output: "dX" )" +
                         arguments,
                     "element 0 of input 1 (labels) is 4, want a class below 4");
  FeedRandom(&ws_, "Y", {2, 4});
  Feed<float>(&ws_, "at", {2, 4}, {0, 0, 0, 0, 0, 1, 0, 0});
  ExpectDeviceThrows(&ws_, R"(type: "SelectSmoothL1Loss" input: "X" input: "Y" input: "at"
                              input: "S" output: "loss")",
                     "row 1 of input 2 (locations) is out of the range of input 0 (Y_hat)");
  ExpectDeviceThrows(&ws_, R"(type: "SelectSmoothL1LossGradient" input: "X" input: "Y" input: "at"
                              input: "S" input: "S" output: "dX")",
                     "row 1 of input 2 (locations) is out of the range of input 0 (Y_hat)");
}

}  // namespace
}  // namespace caffe2rt::test::detectron_cuda_test
