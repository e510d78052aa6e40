// Whole messages of the operators of this folder.
#include <gtest/gtest.h>

#include "tests/operators/common/call_tables.h"

namespace caffe2rt::test::detectron_calls_test {
namespace {

TEST(DetectronRefusalsTest, OfSelectedAndNarrowedItemsNameShapes) {
  ExpectRejected({
      {"SampleAs X L -> Y", "X f - = 1; L i 1 = 1",
       "rank of input 0 (X), want at least 1: its first dimension selects (got 0, want more than "
       "0)"},
      {"SampleAs X L -> Y", "X f 3,2; L i 2 = 1",
       "elements of input 1 (labels) of shape [2], want one for each item of input 0 (X) of shape "
       "[3, 2] (got 2, want 3)"},
      {"SampleAsGradient X L D -> E", "X f 3,2; L i 3 = 1,0,5; D f 3,2",
       "input 2 (dY) has shape [3, 2], want [2, 2]: the items of input 0 (X) whose label is above "
       "0"},
      {"SpatialNarrowAs A B -> C", "A f 2,3; B f 2,3,4",
       "input 0 (A) has shape [2, 3], want [N, C, H, W] or [N, H, W]"},
      {"SpatialNarrowAs A B -> C", "A f 2,3,4; B f 1,2,3,4,1",
       "input 1 (B) has shape [1, 2, 3, 4, 1], want [N, C, H, W] or [N, H, W]"},
      {"SpatialNarrowAs A B -> C", "A f 2,3,4,5; B f 2,4,6",
       "input 1 (B) has shape [2, 4, 6], input 0 (A) [2, 3, 4, 5], want the same N and images that "
       "are not larger than those of A"},
      {"SpatialNarrowAsGradient A B D -> E", "A f 2,3,4,5; B f 2,1,2; D f 2,3,2,2",
       "input 2 (dC) has shape [2, 3, 2, 2], want [2, 3, 1, 2]: input 0 (A), narrowed to input 1 "
       "(B)"},
  });
}

TEST(DetectronRefusalsTest, OfLossesNameElementsAndArguments) {
  const char* const smooth = "SmoothL1Loss P Y I O -> l";
  ExpectRejected({
      {smooth, "P f - = 1; Y f 1; I f 1; O f 1",
       "rank of input 0 (Y_hat), want at least 1: its first dimension is the batch (got 0, want "
       "more than 0)"},
      {smooth, "P f 2,2; Y f 3; I f 4; O f 4",
       "elements of input 1 (Y) of shape [3], want as many as input 0 (Y_hat) of shape [2, 2] (got "
       "3, want 4)"},
      {smooth, "P f 2,2; Y f 4; I f 5; O f 4",
       "elements of input 2 (alpha_in) of shape [5], want as many as input 0 (Y_hat) of shape [2, "
       "2] (got 5, want 4)"},
      {smooth, "P f 2,2; Y f 4; I f 4; O f 1,3",
       "elements of input 3 (alpha_out) of shape [1, 3], want as many as input 0 (Y_hat) of shape "
       "[2, 2] (got 3, want 4)"},
      {"SigmoidCrossEntropyLoss X T -> l", "X f 2,2; T i 3",
       "elements of input 1 (targets) of shape [3], want as many as input 0 (X) of shape [2, 2] "
       "(got 3, want 4)"},
      {"SigmoidCrossEntropyLoss X T -> l normalize=2", "X f 2; T i 2",
       "argument \"normalize\" is 2, want 0 or 1"},
      {"SigmoidCrossEntropyLoss X T -> l scale=-1.", "X f 2; T i 2",
       "argument \"scale\" is -1, want at least 0"},
  });
}

TEST(DetectronRefusalsTest, OfClassGroupsNameChannelsAndLabels) {
  const char* const focal = "SigmoidFocalLoss X L N -> l num_classes=2";
  ExpectRejected({
      {focal, "X f 1,2,3; L i 3 = 1; N f 1 = 1.",
       "rank of input 0 (logits) of shape [1, 2, 3], want 4: [N, A * num_classes, H, W] (got 3, "
       "want 4)"},
      {focal, "X f 1,3,1,1; L i 1 = 1; N f 1 = 1.",
       "input 0 (logits) of shape [1, 3, 1, 1] has 3 channels, want a multiple of the argument "
       "num_classes, 2 (got 1, want 0)"},
      {focal, "X f 2,4,1,3; L i 11 = 1; N f 1 = 1.",
       "elements of input 1 (labels) of shape [11], want [2, 2, 1, 3] (got 11, want 12)"},
      {focal, "X f 1,2,1,1; L i 1 = 1; N f 2 = 1.",
       "elements of input 2 (normalizer) of shape [2], want a scalar (got 2, want 1)"},
      {"SigmoidFocalLoss X L N -> l num_classes=0", "X f 1,2,1,1; L i 1 = 1; N f 1 = 1.",
       "argument \"num_classes\" is 0, want above 0"},
      {"SoftmaxFocalLoss X L N -> l P num_classes=2 order=NHWC",
       "X f 1,2,1,1; L i 1 = 1; N f 1 = 1.", "argument \"order\" is \"NHWC\", want NCHW"},
      {"SoftmaxFocalLoss X L N -> l P num_classes=2", "X f 1,2,1,2; L i 2 = 1,2; N f 1 = 1.",
       "element 1 of input 1 (labels), want a class or a negative number (got 2, want less than "
       "2)"},
      {"GroupSpatialSoftmax X -> P num_classes=3", "X f 1,4,1,1",
       "input 0 (scores) of shape [1, 4, 1, 1] has 4 channels, want a multiple of the argument "
       "num_classes, 3 (got 1, want 0)"},
      {"GroupSpatialSoftmaxGradient P D -> E num_classes=2", "P f 1,2,1,1; D f 3",
       "elements of input 1 (d_probabilities) of shape [3], want as many as input 0 "
       "(probabilities) of shape [1, 2, 1, 1] (got 3, want 2)"},
  });
}

TEST(DetectronRefusalsTest, OfSelectedBoxesNameRowsAndLocations) {
  const char* const select = "SelectSmoothL1Loss P Y L N -> l";
  const std::string
      where = " of input 2 (locations) is ",
      want =
          ", want an image below 2, the first of four channels below 6, a row below 3 and a column "
          "below 4";
  ExpectRejected({
      {select, "P f 4,3,4; Y f 1,4; L f 1,4 = 0; N f 1 = 1.",
       "rank of input 0 (Y_hat) of shape [4, 3, 4], want 4: [N, C, H, W] (got 3, want 4)"},
      {select, "P f 2,6,3,4; Y f 4,1; L f 1,4 = 0; N f 1 = 1.",
       "input 1 (Y) has shape [4, 1], want [M, 4]: a box in each row"},
      {select, "P f 2,6,3,4; Y f 1,4; L f 2,4 = 0; N f 1 = 1.",
       "input 2 (locations) has shape [2, 4], want [1, 4]: a location for each row of input 1 (Y)"},
      // The last place that is inside is in row 0; each row has one number more.
      {select, "P f 2,6,3,4; Y f 2,4; L f 2,4 = 1,2,2,3,2,2,2,3; N f 1 = 1.",
       "row 1" + where + "2, 2, 2, 3" + want},
      {select, "P f 2,6,3,4; Y f 2,4; L f 2,4 = 1,2,2,3,1,3,2,3; N f 1 = 1.",
       "row 1" + where + "1, 3, 2, 3" + want},
      {select, "P f 2,6,3,4; Y f 2,4; L f 2,4 = 1,2,2,3,1,2,3,3; N f 1 = 1.",
       "row 1" + where + "1, 2, 3, 3" + want},
      {select, "P f 2,6,3,4; Y f 2,4; L f 2,4 = 1,2,2,3,1,2,2,4; N f 1 = 1.",
       "row 1" + where + "1, 2, 2, 4" + want},
      {select, "P f 2,6,3,4; Y f 1,4; L f 1,4 = 0,0,-1,0; N f 1 = 1.",
       "row 0" + where + "0, 0, -1, 0" + want},
  });
}

// All scores are 0: of 80 sigmoids, of which one is wanted, and of a softmax over 81 classes.
TEST(DetectronDefaultsTest, AreThoseOfCaffe2) {
  ExpectResults({
      // log(2) * (0.25 / 2 + 79 * 0.75 / 2)
      {"SigmoidFocalLoss X L N -> l", "X f 1,80,1,1 = 0; L i 1,1,1,1 = 80; N f 1 = 1",
       "l f - = 20.621129"},
      // 0.25 * 80 / 81 * log(81), and three times that for the background
      {"SoftmaxFocalLoss X L N -> l P", "X f 1,81,1,1 = 0; L i 1,1,1,1 = 80; N f 1 = 1",
       "l f - = 1.0850493"},
      {"SoftmaxFocalLoss X L N -> l P", "X f 1,81,1,1 = 0; L i 1,1,1,1 = 0; N f 1 = 1",
       "l f - = 3.2551475"},
      {"GroupSpatialSoftmax X -> P", "X f 1,162,1,1 = 3", "P f 1,162,1,1 = 0.012345679"},
      // A normalizer above 1 divides; 1 and less do not.
      {"SoftmaxFocalLoss X L N -> l P", "X f 1,81,1,1 = 0; L i 1,1,1,1 = 1; N f 1 = 2",
       "l f - = 0.54252465"},
  });
  ExpectRejected({{"GroupSpatialSoftmax X -> P", "X f 1,80,1,1",
                   "input 0 (scores) of shape [1, 80, 1, 1] has 80 channels, want a multiple of "
                   "the argument num_classes, 81 (got 80, want 0)"}});
}

// Without positions there are no labels, but as many anchors as ever.
TEST(DetectronRefusalsTest, OfLabelsOfEmptyScoresNameTheAnchors) {
  for (const char* const op : {"SigmoidFocalLoss X L N -> l num_classes=2",
                               "SoftmaxFocalLoss X L N -> l P num_classes=2"}) {
    ExpectRejected({
        {op, "X f 2,6,0,3; L i 5 = 1; N f 1 = 1.",
         "elements of input 1 (labels) of shape [5], want [2, 3, 0, 3] (got 5, want 0)"},
        {op, "X f 0,4,2,3; L i 1 = 1; N f 1 = 1.",
         "elements of input 1 (labels) of shape [1], want [0, 2, 2, 3] (got 1, want 0)"},
        {op, "X f 1,2,1,2; L i 1 = 1; N f 1 = 1.",
         "elements of input 1 (labels) of shape [1], want [1, 1, 1, 2] (got 1, want 2)"},
    });
    ExpectResults({{op, "X f 2,6,0,3; L i 0; N f 1 = 1.", "l f - = 0"},
                   {op, "X f 0,4,2,3; L i 0,2,2,3; N f - = 0.", "l f - = 0"}});
  }
  ExpectResults({{"SigmoidFocalLossGradient X L N d -> E num_classes=2",
                  "X f 2,6,0,3; L i 0; N f 1 = 1; d f 1 = 1", "E f 2,6,0,3"},
                 {"SoftmaxFocalLossGradient X L N P d -> E num_classes=2",
                  "X f 2,6,0,3; L i 0; N f 1 = 1; P f 0; d f 1 = 1", "E f 2,6,0,3"},
                 {"GroupSpatialSoftmax X -> P num_classes=2", "X f 2,6,0,3", "P f 2,6,0,3"}});
}

TEST(DetectronRefusalsTest, OfGradientsNameEachOtherInput) {
  const char* const smooth = "SmoothL1LossGradient P Y I O d -> E";
  ExpectRejected({
      {smooth, "P f 2,2; Y f 4; I f 4; O f 3; d f 1 = 1",
       "elements of input 3 (alpha_out) of shape [3], want as many as input 0 (Y_hat) of shape [2, "
       "2] (got 3, want 4)"},
      {smooth, "P f 2,2; Y f 4; I f 4; O f 4; d f 2 = 1",
       "elements of input 4 (d_loss) of shape [2], want a scalar (got 2, want 1)"},
      {"SigmoidCrossEntropyLossGradient X T d -> E", "X f 2,2; T i 3 = 1; d f 1 = 1",
       "elements of input 1 (targets) of shape [3], want as many as input 0 (X) of shape [2, 2] "
       "(got 3, want 4)"},
      {"SigmoidCrossEntropyLossGradient X T d -> E", "X f 2,2; T i 4 = 1; d f 0",
       "elements of input 2 (d_loss) of shape [0], want a scalar (got 0, want 1)"},
      {"SigmoidFocalLossGradient X L N d -> E num_classes=2",
       "X f 1,2,1,1; L i 2 = 1; N f 1 = 1; d f 1 = 1",
       "elements of input 1 (labels) of shape [2], want [1, 1, 1, 1] (got 2, want 1)"},
      {"SigmoidFocalLossGradient X L N d -> E num_classes=2",
       "X f 1,2,1,1; L i 1 = 1; N f 2 = 1; d f 1 = 1",
       "elements of input 2 (normalizer) of shape [2], want a scalar (got 2, want 1)"},
      {"SigmoidFocalLossGradient X L N d -> E num_classes=2",
       "X f 1,2,1,1; L i 1 = 1; N f 1 = 1; d f 2 = 1",
       "elements of input 3 (d_loss) of shape [2], want a scalar (got 2, want 1)"},
      {"SoftmaxFocalLossGradient X L N P d -> E num_classes=2",
       "X f 1,2,1,1; L i 2 = 1; N f 1 = 1; P f 2; d f 1 = 1",
       "elements of input 1 (labels) of shape [2], want [1, 1, 1, 1] (got 2, want 1)"},
      {"SoftmaxFocalLossGradient X L N P d -> E num_classes=2",
       "X f 1,2,1,1; L i 1 = 1; N f 1 = 1; P f 3; d f 1 = 1",
       "elements of input 3 (probabilities) of shape [3], want as many as input 0 (scores) of "
       "shape [1, 2, 1, 1] (got 3, want 2)"},
      {"SoftmaxFocalLossGradient X L N P d -> E num_classes=2",
       "X f 1,2,1,1; L i 1 = 2; N f 1 = 1; P f 2; d f 1 = 1",
       "element 0 of input 1 (labels), want a class or a negative number (got 2, want less than "
       "2)"},
      {"SelectSmoothL1LossGradient P Y L N d -> E",
       "P f 1,4,1,1; Y f 2,4; L f 1,4 = 0; N f 1 = 1; d f 1 = 1",
       "input 2 (locations) has shape [1, 4], want [2, 4]: a location for each row of input 1 (Y)"},
      {"SelectSmoothL1LossGradient P Y L N d -> E",
       "P f 1,4,1,1; Y f 1,4; L f 1,4 = 0,1,0,0; N f 1 = 1; d f 1 = 1",
       "row 0 of input 2 (locations) is 0, 1, 0, 0, want an image below 1, the first of four "
       "channels below 4, a row below 1 and a column below 1"},
      {"SpatialNarrowAsGradient A B D -> E", "A f 2,3,4; B f 1,3,4; D f 2,3,4",
       "input 1 (B) has shape [1, 3, 4], input 0 (A) [2, 3, 4], want the same N and images that "
       "are not larger than those of A"},
      {"SampleAsGradient X L D -> E", "X f 3,2; L i 2 = 1; D f 2,2",
       "elements of input 1 (labels) of shape [2], want one for each item of input 0 (X) of shape "
       "[3, 2] (got 2, want 3)"},
  });
}

}  // namespace
}  // namespace caffe2rt::test::detectron_calls_test
