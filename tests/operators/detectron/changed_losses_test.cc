// Losses and selections whose inputs change from run to run: other sizes, fewer items, labels that are ignored. Each run
// gives what a new operator gives.
#include <gtest/gtest.h>

#include "tests/operators/common/changed_runs.h"

namespace caffe2rt::test::changed_losses_test {
namespace {

TEST(ChangedLossesTest, LossesOfElements) {
  const std::vector<std::string> smooth = {
      "P f 2,3; Y f 2,3; I f 2,3; O f 2,3; d f - = 2", "P f 3,2; Y f 6; I f 6; O f 6; d f 1 = 1",
      "P f 1,1; Y f 1; I f 1; O f 1; d f - = -1", "P f 0,3; Y f 0; I f 0; O f 0; d f - = 1",
      "P f 4,1; Y f 4; I f 4; O f 4; d f - = 1"};
  for (const char* args : {"", " beta=0.25 scale=3.0"}) {
    ExpectRunsAsNew({{MakeString("SmoothL1Loss P Y I O -> l", args), smooth},
                     {MakeString("SmoothL1LossGradient P Y I O d -> E", args), smooth}});
  }
  const std::vector<std::string> sigmoid = {
      "X f 2,3; T i 2,3 = 0,1,-1; d f - = 2", "X f 3,2; T i 6 = -1; d f - = 1",
      "X f 1; T i 1 = 1; d f - = 1", "X f 0,2; T i 0; d f - = 1", "X f 2,2; T i 4 = 1,0; d f 1 = 3"};
  for (const char* args : {"", " normalize=0", " scale=2.0"}) {
    ExpectRunsAsNew({{MakeString("SigmoidCrossEntropyLoss X T -> l", args), sigmoid},
                     {MakeString("SigmoidCrossEntropyLossGradient X T d -> E", args), sigmoid}});
  }
}

TEST(ChangedLossesTest, LossesOfClasses) {
  const std::vector<std::string> focal = {
      "X f 2,6,2,3; L i 2,2,2,3 = 0,1,-1,2; N f 1 = 4; P p 2,6,2,3; d f - = 2",
      "X f 2,6,3,2; L i 2,2,3,2 = 2,1; N f - = 0.5; P p 2,6,3,2; d f - = 1",
      "X f 1,3,1,1; L i 1 = 1; N f 1 = 1; P p 1,3,1,1; d f 1 = 1",
      "X f 0,3,2,2; L i 0,1,2,2; N f 1 = 1; P p 0,3,2,2; d f - = 1",
      "X f 1,9,1,2; L i 1,3,1,2 = -1; N f 1 = 2; P p 1,9,1,2; d f - = 1"};
  for (const char* args : {"", " gamma=2.0 alpha=0.75 scale=2.0"}) {
    ExpectRunsAsNew(
        {{MakeString("SigmoidFocalLoss X L N -> l num_classes=3", args), focal},
         {MakeString("SigmoidFocalLossGradient X L N d -> E num_classes=3", args), focal},
         {MakeString("SoftmaxFocalLoss X L N -> l P num_classes=3", args), focal},
         {MakeString("SoftmaxFocalLossGradient X L N P d -> E num_classes=3", args), focal}});
  }
  ExpectRunsAsNew({{"GroupSpatialSoftmax X -> P num_classes=3",
                    {"X f 2,6,2,3", "X f 2,6,3,2", "X f 1,3,1,1", "X f 0,3,1,1", "X f 3,9,2,2"}},
                   {"GroupSpatialSoftmaxGradient P D -> E num_classes=3",
                    {"P f 2,6,2,3; D f 2,6,2,3", "P f 2,6,3,2; D f 2,6,3,2", "P f 1,3,1,1; D f 3",
                     "P f 0,3,1,1; D f 0"}}});
}

TEST(ChangedLossesTest, SelectedItems) {
  const std::vector<std::string> select = {
      "P f 2,6,3,4; Y f 2,4; L f 2,4 = 1,2,2,3,0,0,1,1; N f 1 = 3; d f - = 2",
      "P f 2,6,4,3; Y f 3,4; L f 3,4 = 1,2,3,2; N f 1 = 0; d f - = 1",
      "P f 1,4,1,1; Y f 0,4; L f 0,4; N f 1 = 1; d f - = 1",
      "P f 1,4,1,1; Y f 1,4; L f 1,4 = 0; N f - = 1; d f 1 = 1"};
  ExpectRunsAsNew({{"SelectSmoothL1Loss P Y L N -> l", select},
                   {"SelectSmoothL1LossGradient P Y L N d -> E beta=0.5", select}});
  ExpectRunsAsNew({{"SampleAs X L -> Y",
                    {"X f 4,3; L i 4 = 1,0,2,3", "X f 3,4; L i 3 = 0,5,-1", "X i 6,2; L i 6 = 3,4,0",
                     "X u 2,6; L i 2 = 0", "X f 0,3; L i 0", "X d 1,1; L i 1 = 1"}},
                   {"SampleAsGradient X L D -> E",
                    {"X f 4,3; L i 4 = 1,0,2,3; D f 3,3", "X f 3,4; L i 3 = 0,5,-1; D f 1,4",
                     "X f 2,6; L i 2 = 0; D f 0,6", "X f 2,1; L i 2 = 1; D f 2,1"}},
                   {"SpatialNarrowAs A B -> C",
                    {"A f 2,3,4,5; B f 2,1,3,2", "A f 2,3,5,4; B f 2,2,4", "A i 2,4,5; B f 2,7,3,5",
                     "A f 0,2,2; B f 0,1,1", "A f 1,1,1; B f 1,1,1"}},
                   {"SpatialNarrowAsGradient A B D -> E",
                    {"A f 2,3,4,5; B f 2,1,3,2; D f 2,3,3,2", "A f 2,3,5,4; B f 2,2,4; D f 2,3,2,4",
                     "A f 2,3,4,5; B f 2,4,1; D f 2,3,4,1", "A i 2,4,5; B f 2,7,3,5; D i 2,3,5",
                     "A f 1,2,2; B f 1,0,2; D f 1,0,2"}}});
}

// Zeros in every removed row and column, whatever the memory held.
TEST(ChangedLossesTest, GradientsOfRemovedPixelsAreZeros) {
  OperatorDef def = OperatorsOf({"SpatialNarrowAsGradient A B D -> E", ""}).back();
  def.mutable_device_option()->set_device_type(PROTO_CPU);
  Workspace ws;
  FeedInputs({"", "A f 2,3,4; B f 2,3,4; D f 2,3,4 = 9"}, &ws);
  const std::unique_ptr<OperatorBase> op = CreateOperator(def, &ws);
  ASSERT_TRUE(op->Run());
  FeedInputs({"", "B f 2,2,3; D f 2,2,3 = 1,2,3,4,5,6,7,8"}, &ws);
  ASSERT_TRUE(op->Run());
  ExpectTensor<float>(ws, "E", {2, 3, 4}, {1, 2, 3, 0, 4, 5, 6, 0, 0, 0, 0, 0,  //
                                           7, 8, 1, 0, 2, 3, 4, 0, 0, 0, 0, 0});
}

}  // namespace
}  // namespace caffe2rt::test::changed_losses_test
