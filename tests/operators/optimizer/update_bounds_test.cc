// What is thin elsewhere: defaults of the sparse updates, optional arguments, and the sizes of every
// input. Expected values are by hand.
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "tests/operators/common/call_tables.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::update_bounds_test {
namespace {

TEST(SparseUpdateDefaultsTest, AreThoseOfTheDenseOnes) {
  ExpectResults({
      // The root of the moment is 1e-5, as is epsilon.
      {"SparseAdagrad P M I G L -> P M",
       "P f 1,1 = 0; M f 1,1 = 0; I i 1 = 0; G f 1 = 1e-5; L f 1 = 1",
       "P f 1,1 = 0.5; M f 1,1 = 1e-10"},
      {"RowWiseSparseAdagrad P M I G L -> P M",
       "P f 1,1 = 0; M f 1 = 0; I l 1 = 0; G f 1 = 1e-5; L f 1 = 1",
       "P f 1,1 = 0.5; M f 1 = 1e-10"},
      // The moments are 1e-5 and 1e-11, the correction sqrt(0.001) / 0.1.
      {"SparseAdam P M N I G L T -> P M N",
       "P f 1,1 = 0; M f 1,1 = 0; N f 1,1 = 0; I i 1 = 0; G f 1 = 1e-4; L f 1 = 1; T l 1 = 0",
       "P f 1,1 = 0.2402530"},
      {"RowWiseSparseAdam P M N I G L T -> P M N",
       "P f 1,1 = 0; M f 1,1 = 0; N f 1 = 0; I i 1 = 0; G f 1 = 1e-4; L f 1 = 1; T l 2 = 0,9",
       "P f 1,1 = 0.2402530"},
      {"SparseAdadelta P M D I G L -> P M D",
       "P f 1,1 = 0; M f 1,1 = 0; D f 1,1 = 0; I i 1 = 0; G f 1 = 0.01; L f 1 = 1",
       "P f 1,1 = 0.008164966; M f 1,1 = 5e-6; D f 1,1 = 3.3333333e-6", 1e-8},
      {"SparseMomentumSGDUpdate G M L P I -> S M P",
       "G f 1 = 2; M f 1,1 = 7; L f 1 = 0.5; P f 1,1 = 5; I i 1 = 0",
       "S f 1 = 1; M f 1,1 = 1; P f 1,1 = 4"},
      // n = 1/4, z = 1/2: (0.001 - 0.5) / ((1 + 0.5) / 0.005 + 0.001).
      {"SparseFtrl W S I G -> W S", "W f 1,1 = 0; S f 1,2 = 0; I i 1 = 0; G f 1 = 0.5",
       "W f 1,1 = -0.0016633278; S f 1,2 = 0.25,0.5", 1e-8},
      {"GFtrl W S G -> W S", "W f 1 = 0; S f 2 = 0; G f 1 = 0.5",
       "W f 1 = -0.0016633278; S f 2 = 0.25,0.5", 1e-8},
      // The rate is 2e-5 / (1e-5 + 1e-5).
      {"SparseWngrad P B I G L -> P B",
       "P f 1,1 = 1; B f 1 = 1e-5; I i 1 = 0; G f 1 = 0.01; L f 1 = 2e-5",
       "P f 1,1 = 1.01; B f 1 = 10.00001"},
      {"Wngrad P B G L -> P B E U", "P f 1 = 1; B f 1 = 0; G f 1 = 0.01; L f 2 = 1e-5,7",
       "P f 1 = 1.01; B f 1 = 10; E f 1 = 1; U f 1 = 0.01"},
      // The rate is 0.25 / (0.1 + 0.9)^(1/3), and 1 - 10 / 16 of the moment stays.
      {"Storm P M S G L -> P M S", "P f 1 = 1; M f 1 = 8; S f 1 = 0.9; G f 1 = 0; L f 1 = 0.25",
       "P f 1 = 1.75; M f 1 = 3; S f 1 = 0.9"},
      {"SparseStorm P M S G I L -> P M S",
       "P f 1,1 = 1; M f 1,1 = 8; S f 1 = 0.9; G f 1 = 0; I l 1 = 0; L f 1 = 0.25",
       "P f 1,1 = 1.75; M f 1,1 = 3; S f 1 = 0.9"},
  });
}

TEST(SparseUpdateArgumentsTest, CountAsInDenseUpdates) {
  ExpectResults({
      // d = 3 + 2 / 2 = 4, the moment 25, the factor 6 / (5 + 1).
      {"SparseAdagrad P M I G L -> P M weight_decay=0.5 epsilon=1.0",
       "P f 2,1 = 7,2; M f 2,1 = 7,9; I i 1 = 1; G f 1 = 3; L f 1 = 6",
       "P f 2,1 = 7,6; M f 2,1 = 7,25"},
      // d = 4 and -3: their squares have the mean 12.5.
      {"RowWiseSparseAdagrad P M I G L -> P M weight_decay=0.5 epsilon=1.0",
       "P f 2,2 = 7,7,2,4; M f 2 = 7,12.5; I i 1 = 1; G f 1,2 = 3,-5; L f 1 = 6",
       "P f 2,2 = 7,7,6,1; M f 2 = 7,25"},
      // The moment 2.5, the step 1.5 * 2.5 - 0.5 * 4.
      {"SparseMomentumSGDUpdate G M L P I -> S M P momentum=0.5 nesterov=1",
       "G f 1 = 1; M f 1,1 = 4; L f 1 = 0.5; P f 1,1 = 10; I i 1 = 0",
       "S f 1 = 1.75; M f 1,1 = 2.5; P f 1,1 = 8.25"},
      {"MomentumSGDUpdate G M L P -> S N P momentum=0.5 nesterov=1",
       "G f 1 = 1; M f 1 = 4; L f 1 = 0.5; P f 1 = 10",
       "S f 1 = 1.75; N f 1 = 2.5; M f 1 = 4; P f 1 = 8.25"},
      // It decays weights, and by default does not; its parameter may be another blob.
      {"FP32MomentumSGDUpdate G M L P -> S N Q momentum=0.5 nesterov=1",
       "G f 1 = 1; M f 1 = 4; L f 1 = 0.5; P f 1 = 10",
       "S f 1 = 1.75; N f 1 = 2.5; P f 1 = 10; Q f 1 = 8.25"},
      {"FP32MomentumSGDUpdate G M L P -> G M P weight_decay=0.5",
       "G f 1 = 1; M f 1 = 4; L f 1 = 0.5; P f 1 = 10", "G f 1 = 3; M f 1 = 3; P f 1 = 7"},
      // n = 25, z = 3: 3 * (2 / 3 - 1) / ((1 + 5) / 0.5 + 4).
      {"GFtrl W S G A -> W S lambda1=2.0 lambda2=4.0",
       "W f 1 = 1; S f 2 = 9,3; G f 1 = 4; A f 1 = 0.5", "W f 1 = -0.0625; S f 2 = 25,3"},
      // One and two elements in a group; the root of their number counts.
      {"GFtrl W S G -> W S alpha=0.5 lambda1=2.0 lambda2=4.0",
       "W f 2,1 = 1; S f 4 = 9,2.1,9,0; G f 2,1 = 4", "W f 2,1 = 0; S f 4 = 25,2.1,25,0"},
      {"SparseFtrl W S I G A -> W S lambda1=2.0 lambda2=4.0",
       "W f 1,1 = 1; S f 2 = 9,10; I l 1 = 0; G f 1 = 4; A f 1 = 0.5",
       "W f 1,1 = -0.5; S f 2 = 25,10"},
      {"Lars X D w t m -> R lr_min=0.0",
       "X f 1 = 3; D f 1 = 6; w f 2 = 0.5,9; t f 2 = 0.0015,9; m f 2 = 1,9", "R f 1 = 0.0005",
       1e-8},
  });
}

// Rows are as the text of FTRL and the counters describes.
TEST(UpdateEdgesTest, AreExact) {
  ExpectResults({
      {"EnsureClipped P -> Q", "P f 3 = nan,inf,-inf",
       "Q f 3 = nan,3.4028234663852886e38,-3.4028234663852886e38"},
      {"EnsureClipped P -> Q min=-1.0 max=1.0", "P f 4 = nan,-1,1,1.5", "Q f 4 = nan,-1,1,1"},
      // Norms below 1e-12 count as 1e-12: the cosine of these is 1/100.
      {"LearningRateAdaption L G E -> L", "L f 1 = 2; G f 1 = 1e-13; E f 1 = 1e-13",
       "L f 1 = 1.9998", 1e-7},
      // By default nothing is counted; a half-life of 1 halves the count in each iteration.
      {"RowWiseCounter N C I T -> N C", "N l 2 = 0,1; C d 2 = 1,2; I i 1 = 1; T l 1 = 5",
       "N l 2 = 0,1; C d 2 = 1,2"},
      {"RowWiseCounter N C I T -> N C counter_halflife=1",
       "N l 2 = 4,5; C d 2 = 8,8; I l 2 = 0,1; T l 1 = 6", "N l 2 = 6,6; C d 2 = 3,5"},
      {"WeightScale W N -> V stepsize=-2 scale=3.0", "W f 1 = 5; N l 2 = 1,0", "V f 1 = 15"},
      {"WeightScale W N -> W stepsize=1 scale=3.0 upper_bound_iter=3", "W f 1 = 5; N l 1 = 1",
       "W f 1 = 15"},
      {"WeightScale W N -> W stepsize=1 scale=3.0 upper_bound_iter=3", "W f 1 = 5; N l 1 = 2",
       "W f 1 = 5"},
  });
  Workspace ws;
  Feed<float>(&ws, "W", {1}, {5});
  for (const int64_t before : {0, 1}) {
    Feed<int64_t>(&ws, "N", {1}, {std::numeric_limits<int64_t>::max() - before});
    RunOp(&ws,
          "type: 'WeightScale' input: 'W' input: 'N' output: 'W' arg { name: 'stepsize' i: 1 } "
          "arg { name: 'scale' f: 3 }");
    ExpectTensor<float>(ws, "W", {1}, {5});
  }
}

// Two pieces of 4096 terms and a rest of 16 and 11, with other values at the seams.
TEST(SumTermsTest, AddsUpPiecesAndTheirRest) {
  Workspace ws;
  std::vector<float> x(8219, 1);
  x[4095] = 3;
  x[4096] = 5;
  x[8191] = 7;
  x[8207] = 9;
  x[8208] = 11;
  x[8218] = 13;
  Feed<float>(&ws, "L", {1}, {0});
  Feed<float>(&ws, "G", {8219}, x);
  Feed<float>(&ws, "E", {8219}, std::vector<float>(8219, 1));
  RunOp(&ws,
        "type: 'LearningRateAdaption' input: 'L' input: 'G' input: 'E' output: 'L' "
        "arg { name: 'lr_alpha' f: 1 } arg { name: 'normalized_lr_adaption' i: 0 }");
  ExpectTensor<float>(ws, "L", {1}, {-(8219.0f - 6 + 48)});
}

TEST(LearningRateBoundsTest, CompositeContinuesItsLastPolicy) {
  const std::string composite =
      "LearningRate N -> L base_lr=2.0 policy=composite sub_policy_num_iters=2,2,1 "
      "sub_policy_0_policy=fixed sub_policy_1_policy=step sub_policy_1_stepsize=1 "
      "sub_policy_1_gamma=0.5 sub_policy_2_policy=fixed sub_policy_2_lr_scale=3.0";
  const std::string cyclical =
      "LearningRate N -> L base_lr=0.5 policy=compositeCyclical constant_warmup_num_iter=0 "
      "linear_warmup_num_iter=0";
  ExpectResults({
      {composite, "N l 1 = 0", "L f - = 2"},
      {composite, "N l 1 = 2", "L f - = 2"},
      {composite, "N l 1 = 3", "L f - = 0.25"},
      {composite, "N l 1 = 4", "L f - = 0.125"},
      {composite, "N l 1 = 5", "L f - = 6"},
      {composite, "N l 1 = 99", "L f - = 6"},
      {composite, "N l 1 = -1", "L f - = 2"},
      // The defaults of the cycle: up to a rate of 0.05 in a million iterations, without decay.
      {cyclical, "N l 1 = 0", "L f - = 0.5"},
      {cyclical, "N l 1 = 1000000", "L f - = 0.05"},
      {cyclical, "N l 1 = 3000000", "L f - = 0.05"},
      // Poly beyond its end, with an odd exponent.
      {"LearningRate N -> L base_lr=2.0 policy=poly max_iter=4 power=1.0", "N l 1 = 6",
       "L f - = -1"},
      {"LearningRate N -> L base_lr=2.0 policy=poly max_iter=4", "N l 1 = 6", "L f - = 2"},
      {"LearningRate N -> L base_lr=2.0 policy=poly max_iter=-4 power=1.0", "N l 1 = 6",
       "L f - = 2"},
      {"LearningRate N -> L base_lr=-2.0 policy=inv gamma=1.0 power=1.0", "N l 1 = 3",
       "L f - = -0.5"},
  });
  ExpectRejected({
      {"LearningRate N -> L base_lr=2.0 policy=composite sub_policy_num_iters=1,-1 "
       "sub_policy_0_policy=fixed sub_policy_1_policy=fixed",
       "N l 1 = 0", "value 1 of argument \"sub_policy_num_iters\": got -1, want more than 0"},
      {"LearningRate N -> L base_lr=2.0 policy=alter active_period=3 inactive_period=-3",
       "N l 1 = 0",
       "active_period 3 and inactive_period -3 add up to 0 or to more than 2^62 iterations"},
  });
}

TEST(LearningRateBoundsTest, FollowsItsPolicyInLaterCyclesAndPeriods) {
  const std::string rate = "LearningRate N -> L base_lr=0.5 policy=";
  const std::string cosine = rate + "cosine period=2 min_lr=0.5 max_lr=1.5 lr_shrink=0.5";
  const std::string cyclical = rate + "cyclical stepsize=2 max_lr=2.5 decay=0.5";
  const std::string composite =
      "LearningRate N -> L base_lr=1.0 policy=composite sub_policy_num_iters=2,3,4,1 "
      "sub_policy_0_policy=fixed sub_policy_0_lr_scale=2.0 sub_policy_1_policy=fixed "
      "sub_policy_1_lr_scale=3.0 sub_policy_2_policy=fixed sub_policy_2_lr_scale=4.0 "
      "sub_policy_3_policy=fixed";
  ExpectResults({
      // Cycles 0 to 3 of two iterations each: 1.5 and 1, times 1, 1/2, 1/4 and 1/8.
      {cosine, "N l 1 = 1", "L f - = 0.5"},
      {cosine, "N l 1 = 3", "L f - = 0.25"},
      {cosine, "N l 1 = 4", "L f - = 0.1875"},
      {cosine, "N l 1 = 5", "L f - = 0.125"},
      {cosine, "N l 1 = 6", "L f - = 0.09375"},
      {cosine, "N l 1 = 7", "L f - = 0.0625"},
      // Cycles of four iterations, whose heights above 0.5 are 2, 1, 0.5 and 0.25.
      {cyclical, "N l 1 = 2", "L f - = 2.5"},
      {cyclical, "N l 1 = 6", "L f - = 1.5"},
      {cyclical, "N l 1 = 9", "L f - = 0.75"},
      {cyclical, "N l 1 = 10", "L f - = 1"},
      {cyclical, "N l 1 = 14", "L f - = 0.75"},
      {cyclical, "N l 1 = 16", "L f - = 0.5"},
      // Two iterations, in the first of which the active period is.
      {rate + "alter active_period=1 inactive_period=-3", "N l 1 = 0", "L f - = 0.5"},
      {rate + "alter active_period=1 inactive_period=-3", "N l 1 = 1", "L f - = 0"},
      {rate + "alter active_period=1 inactive_period=-3", "N l 1 = 2", "L f - = 0.5"},
      {rate + "alter active_period=-3 inactive_period=1 active_first=0", "N l 1 = 4", "L f - = 0"},
      {rate + "alter active_period=-3 inactive_period=1 active_first=0", "N l 1 = 5",
       "L f - = 0.5"},
      // The decay begins with the end of the warmup.
      {rate + "hill num_iter=2 start_multiplier=0.0 gamma=1.0 power=1.0", "N l 1 = 1",
       "L f - = 0.25"},
      {rate + "hill num_iter=2 start_multiplier=0.0 gamma=1.0 power=1.0", "N l 1 = 2",
       "L f - = 0.5"},
      {rate + "hill num_iter=2 start_multiplier=0.0 gamma=1.0 power=1.0", "N l 1 = 5",
       "L f - = 0.125"},
      {composite, "N l 1 = 2", "L f - = 2"},
      {composite, "N l 1 = 3", "L f - = 3"},
      {composite, "N l 1 = 5", "L f - = 3"},
      {composite, "N l 1 = 6", "L f - = 4"},
      {composite, "N l 1 = 9", "L f - = 4"},
      {composite, "N l 1 = 10", "L f - = 1"},
      {composite, "N l 1 = 11", "L f - = 1"},
  });
}

TEST(LearningRateBoundsTest, AcceptsTheLeastIteration) {
  for (const char* const policy :
       {"s: 'step' } arg { name: 'gamma' f: 1 } arg { name: 'stepsize' i: -1 }",
        "s: 'alter' } arg { name: 'active_period' i: 1 } arg { name: 'inactive_period' i: -2 }"}) {
    SCOPED_TRACE(policy);
    Workspace ws;
    Feed<int64_t>(&ws, "N", {1}, {std::numeric_limits<int64_t>::min()});
    RunOp(&ws, std::string("type: 'LearningRate' input: 'N' output: 'L' "
                           "arg { name: 'base_lr' f: 2 } arg { name: 'policy' ") +
                   policy);
    ExpectTensor<float>(ws, "L", {}, {2});
  }
}

TEST(UpdateBoundsTest, OneElementAndNone) {
  ExpectResults({
      {"SparseWngrad P B I G L -> P B epsilon=0.0",
       "P f 1,1 = 5; B f 1 = 4; I i 1 = 0; G f 1,1 = 2; L f 1 = 8", "P f 1,1 = 9; B f 1 = 5"},
      {"Wngrad P B G L -> Q C E epsilon=1.0", "P f 2 = 10,20; B f 1 = 3; G f 2 = 2,-4; L f 1 = 2",
       "Q f 2 = 11,18; C f 1 = 8; E f 1 = 0.5"},
      {"Wngrad P B G L -> Q C epsilon=1.0", "P f 1 = 10; B f 1,1 = 3; G f 1 = 2; L f 2 = 2,9",
       "Q f 1 = 11; C f 1,1 = 4"},
      {"Wngrad P B G L -> P B", "P f 0; B f 1 = 3; G f 0; L f 1 = 2", "P f 0; B f 1 = 3"},
      {"Storm P M S G L -> P M S", "P f 0; M f 0; S f 1 = 2; G f 0; L f 1 = 1",
       "P f 0; M f 0; S f 1 = 2"},
      {"SparseStorm P M S G I L -> P M S",
       "P f 2,1 = 3,4; M f 2,1 = 5,6; S f 1 = 2; G f 0,1; I i 0; L f 1 = 1",
       "P f 2,1 = 3,4; M f 2,1 = 5,6; S f 1 = 2"},
      // With beta 0 and a sum of 8, the rate is 1/2 and the old moment counts 3/4.
      {"Storm P M S G L -> Q N T momentum=1.0 beta=0.0",
       "P f 1 = 10; M f 1 = 8; S f 1 = 4; G f 1 = 2; L f 1 = 1",
       "Q f 1 = 13.25; N f 1 = 6.5; T f 1 = 8"},
  });
}

TEST(UpdateSizesTest, OfStatesAreThoseOfTheParameter) {
  const std::string sizes = " of shape [1], want as many as ";
  ExpectRejected({
      {"RmsProp G S M L -> G S M", "G f 2; S f 1; M f 2; L f 1",
       "elements of input 1 (mean_squares)" + sizes +
           "input 0 (grad) of shape [2] (got 1, want 2)"},
      {"RmsProp G S M L -> G S M", "G f 2; S f 2; M f 1; L f 1",
       "elements of input 2 (moment)" + sizes + "input 0 (grad) of shape [2] (got 1, want 2)"},
      {"RmsProp G S M L -> G S M", "G f 2; S f 2; M f 2; L f 2",
       "elements of input 3 (lr) of shape [2]: got 2, want 1"},
      {"Adam P M N G L T -> P M N", "P f 2; M f 2; N f 1; G f 2; L f 1; T l 1",
       "elements of input 2 (moment_2)" + sizes + "input 3 (grad) of shape [2] (got 1, want 2)"},
      {"SparseAdam P M N I G L T -> P M N", "P f 2,1; M f 1; N f 2; I i 1 = 0; G f 1; L f 1; T l 1",
       "elements of input 1 (moment_1)" + sizes +
           "input 0 (param) of shape [2, 1] (got 1, want 2)"},
      {"RowWiseSparseAdam P M N I G L T -> P M N",
       "P f 2,2; M f 4; N f 4; I i 1 = 0; G f 1,2; L f 1; T l 1",
       "elements of input 2 (moment_2) of shape [4], want one for each row of input 0 (param) of "
       "shape [2, 2] (got 4, want 2)"},
      {"Adagrad P M G L -> P M", "P f 1; M f 2; G f 2; L f 1",
       "elements of input 0 (param)" + sizes + "input 2 (grad) of shape [2] (got 1, want 2)"},
      {"Adagrad P M G L -> P M", "P f 2; M f 1; G f 2; L f 1",
       "elements of input 1 (moment)" + sizes + "input 2 (grad) of shape [2] (got 1, want 2)"},
      {"Adagrad P M G L -> P M", "P f 2; M f 2; G f 2; L f 0",
       "elements of input 3 (lr) of shape [0]: got 0, want at least 1"},
      {"SparseAdagrad P M I G L -> P M", "P f 2,1; M f 2; I i 1 = 0; G f 1; L f 2",
       "elements of input 4 (lr) of shape [2]: got 2, want 1"},
      {"Adadelta P M D G L -> P M D", "P f 2; M f 1; D f 2; G f 2; L f 1",
       "elements of input 1 (moment)" + sizes + "input 0 (param) of shape [2] (got 1, want 2)"},
      {"Adadelta P M D G L -> P M D", "P f 2; M f 2; D f 2; G f 1; L f 1",
       "elements of input 3 (grad)" + sizes + "input 0 (param) of shape [2] (got 1, want 2)"},
      {"SparseMomentumSGDUpdate G M L P I -> S M P", "G f 1; M f 1; L f 1; P f 2,1; I i 1 = 0",
       "elements of input 1 (moment)" + sizes + "input 3 (param) of shape [2, 1] (got 1, want 2)"},
      {"MomentumSGDUpdate G M L P -> G M P", "G f 2; M f 1; L f 1; P f 2",
       "elements of input 0 (grad) of shape [2], want as many as input 1 (moment) of shape [1] "
       "(got "
       "2, want 1)"},
      {"Storm P M S G L -> P M S", "P f 2; M f 2; S f 1; G f 1; L f 1",
       "elements of input 3 (grad)" + sizes + "input 0 (param) of shape [2] (got 1, want 2)"},
      {"SparseStorm P M S G I L -> P M S", "P f 2,1; M f 2; S f 1; G f 1; I i 1 = 0; L f 2",
       "elements of input 5 (lr) of shape [2]: got 2, want 1"},
      {"SparseWngrad P B I G L -> P B", "P f 2,1; B f 1; I i 1 = 0; G f 1; L f 2",
       "elements of input 4 (lr) of shape [2]: got 2, want 1"},
  });
}

TEST(UpdateSizesTest, OfFtrlAndYellowFinAreChecked) {
  const char* const yellow = "YellowFin P M l u W A B S G T -> P M l u W A B S curv_win_width=2";
  const auto state = [](const std::string& other) {
    std::string inputs;
    for (const std::string name : {"P 2", "M 2", "l 1", "u 1", "W 2", "A 2", "B 2", "S 5", "G 2"}) {
      const bool is_other = name[0] == other[0];
      inputs += name.substr(0, 1) + " f " + (is_other ? other.substr(2) : name.substr(2)) + "; ";
    }
    return inputs + "T l 1 = 1";
  };
  const std::string as_param = ", want as many as input 0 (param) of shape [2] (got 1, want 2)";
  ExpectRejected({
      {yellow, state("M 1"), "elements of input 1 (moment) of shape [1]" + as_param},
      {yellow, state("l 2"), "elements of input 2 (lr) of shape [2]: got 2, want 1"},
      {yellow, state("u 2"), "elements of input 3 (mu) of shape [2]: got 2, want 1"},
      {yellow, state("W 3"),
       "elements of input 4 (curv_win) of shape [3], want curv_win_width (got 3, want 2)"},
      {yellow, state("A 1"), "elements of input 5 (g_avg) of shape [1]" + as_param},
      {yellow, state("B 1"), "elements of input 6 (g2_avg) of shape [1]" + as_param},
      {yellow, state("S 6"), "elements of input 7 (scalars_memory) of shape [6]: got 6, want 5"},
      {yellow, state("G 1"), "elements of input 8 (grad) of shape [1]" + as_param},
      {"YellowFin P M l u W A B S G T -> P M l u W A B S curv_win_width=0", state("x 0"),
       "argument \"curv_win_width\" is 0, want above 0"},
      {"SparseFtrl W S I G -> W S", "W f 2,1; S f 2; I i 1 = 0; G f 1",
       "elements of input 1 (nz) of shape [2], want two for each element of input 0 (var) of shape "
       "[2, 1] (got 2, want 4)"},
      {"SparseFtrl W S I G A -> W S alpha=0.5", "W f 2,1; S f 4; I i 1 = 0; G f 1; A f 1 = 0.5",
       "alpha is given by both the argument and input 4: remove one"},
      {"SparseFtrl W S I G A -> W S", "W f 2,1; S f 4; I i 1 = 0; G f 1; A f 2 = 0.5",
       "elements of input 4 (alpha) of shape [2]: got 2, want 1"},
      {"GFtrl W S G -> W S", "W f 2; S f 3; G f 2",
       "elements of input 1 (nz) of shape [3], want two for each element of input 0 (var) of shape "
       "[2] (got 3, want 4)"},
      {"GFtrl W S G -> W S", "W f 2; S f 4; G f 3",
       "elements of input 2 (grad) of shape [3], want as many as input 0 (var) of shape [2] (got "
       "3, "
       "want 2)"},
      {"GFtrl W S G -> W S", "W f -; S f 2; G f -",
       "rank of input 2 (grad): got 0, want at least 1"},
      {"SparseFtrl W S I G -> W S", "W f -; S f 2; I i 1 = 0; G f 1",
       "rank of input 0 (var): got 0, want at least 1"},
      {"EnsureClipped P I G -> P", "P f -; I i 1 = 0; G f 1",
       "rank of input 0 (param), want at least 1 (got 0, want at least 1)"},
      {"EnsureClipped P I G -> P", "P f 2,1; I i 1,1 = 0; G f 1",
       "rank of input 2 (grad), want at least that of indices (got 1, want at least 2)"},
  });
}

}  // namespace
}  // namespace caffe2rt::test::update_bounds_test
