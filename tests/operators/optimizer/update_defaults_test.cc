// The default arguments of optimizers, and the learning rates at the ends of the parts of each
// policy. Expected values are by hand; gradients are as small as epsilon where it counts.

#include <utility>

#include "tests/support/operator_case.h"

namespace caffe2rt::update_defaults_test {
namespace {

using test::ExpectTensor;
using test::Feed;
using test::NameOfCase;
using test::OperatorCase;
using test::RunOp;

class UpdateDefaultsTest : public testing::TestWithParam<OperatorCase> {};

TEST_P(UpdateDefaultsTest, AreThoseOfCaffe2) {
  test::ExpectCase(GetParam(), /*may_be_unknown=*/false);
}

INSTANTIATE_TEST_SUITE_P(
    Optimizers, UpdateDefaultsTest,
    testing::ValuesIn(std::vector<OperatorCase>{
        {"AdagradAddsEpsilonToTheRoot",
         "type: 'Adagrad' input: 'a' input: 'b' input: 'c' input: 'd' output: 'x' output: 'y'",
         {{"float", {1}, {1}}, {"float", {1}, {0}}, {"float", {1}, {1e-5}}, {"float", {1}, {1}}},
         {{"float", {1}, {1.5}}, {"float", {1}, {1e-10}}},
         nullptr,
         1e-12},
        {"AdagradKeepsItsMoment",
         "type: 'Adagrad' input: 'a' input: 'b' input: 'c' input: 'd' output: 'x' output: 'y'",
         {{"float", {1}, {1}}, {"float", {1}, {12}}, {"float", {1}, {2}}, {"float", {1}, {2}}},
         {{"float", {1}, {1.9999975}}, {"float", {1}, {16}}}},
        {"AdadeltaAddsEpsilonToTheMoments",
         "type: 'Adadelta' input: 'a' input: 'b' input: 'c' input: 'd' input: 'e' output: 'x' "
         "output: 'y' output: 'z'",
         {{"float", {1}, {0}},
          {"float", {1}, {0}},
          {"float", {1}, {0}},
          {"float", {1}, {0.01}},
          {"float", {1}, {1}}},
         {{"float", {1}, {0.008164966}}, {"float", {1}, {5e-6}}, {"float", {1}, {3.3333333e-6}}},
         nullptr,
         1e-9},
        {"AdamAddsEpsilonToTheRoot",
         "type: 'Adam' input: 'a' input: 'b' input: 'c' input: 'd' input: 'e' input: 'f' "
         "output: 'x' output: 'y' output: 'z'",
         {{"float", {1}, {0}},
          {"float", {1}, {0}},
          {"float", {1}, {0}},
          {"float", {1}, {1e-4}},
          {"float", {1}, {1}},
          {"int64", {1}, {0}}},
         {{"float", {1}, {0.240252}}, {"float", {1}, {1e-5}}, {"float", {1}, {1e-11}}},
         nullptr,
         2e-6},
        {"AdamWeighsItsMoments",
         "type: 'Adam' input: 'a' input: 'b' input: 'c' input: 'd' input: 'e' input: 'f' "
         "output: 'x' output: 'y' output: 'z'",
         {{"float", {1}, {0}},
          {"float", {1}, {1}},
          {"float", {1}, {1}},
          {"float", {1}, {2}},
          {"float", {1}, {1}},
          {"int64", {1}, {0}}},
         {{"float", {1}, {0.347331}}, {"float", {1}, {1.1}}, {"float", {1}, {1.003}}},
         nullptr,
         2e-5},
        {"FtrlOfItsFourNumbers",
         "type: 'Ftrl' input: 'a' input: 'b' input: 'c' output: 'x' output: 'y'",
         {{"float", {1}, {0}}, {"float", {2}, {0, 0}}, {"float", {1}, {0.5}}},
         {{"float", {1}, {-0.0016633278}}, {"float", {2}, {0.25, 0.5}}},
         nullptr,
         1e-9},
        {"RmsPropWithoutMomentum",
         "type: 'RmsProp' input: 'a' input: 'b' input: 'c' input: 'd' output: 'x' output: 'y' "
         "output: 'z'",
         {{"float", {1}, {0.01}}, {"float", {1}, {0}}, {"float", {1}, {7}}, {"float", {1}, {1}}},
         {{"float", {1}, {2.236068}}, {"float", {1}, {1e-5}}, {"float", {1}, {2.236068}}}},
        {"MomentumOfZero",
         "type: 'MomentumSGD' input: 'a' input: 'b' input: 'c' output: 'x' output: 'y'",
         {{"float", {1}, {2}}, {"float", {1}, {7}}, {"float", {1}, {0.5}}},
         {{"float", {1}, {1}}, {"float", {1}, {1}}}},
        {"LarsWithAnOffsetOfHalf",
         "type: 'Lars' input: 'a' input: 'b' input: 'c' input: 'd' input: 'e' output: 'x'",
         {{"float", {2}, {0, 3}},
          {"float", {2}, {6, 0}},
          {"float", {1}, {0.1}},
          {"float", {1}, {1}},
          {"float", {1}, {10}}},
         {{"float", {1}, {0.38461538}}}},
        {"LarsIsAtLeastTwoPercent",
         "type: 'Lars' input: 'a' input: 'b' input: 'c' input: 'd' input: 'e' output: 'x'",
         {{"float", {1}, {3}},
          {"float", {1}, {6}},
          {"float", {1}, {0.1}},
          {"float", {1}, {0.01}},
          {"float", {1}, {10}}},
         {{"float", {1}, {0.02}}}},
        {"LarsIsAtMostTheInput",
         "type: 'Lars' input: 'a' input: 'b' input: 'c' input: 'd' input: 'e' output: 'x'",
         {{"float", {1}, {3}},
          {"float", {1}, {6}},
          {"float", {1}, {0.1}},
          {"float", {1}, {9}},
          {"float", {1}, {2}}},
         {{"float", {1}, {2}}}},
        {"AdaptionByTheCosine",
         "type: 'LearningRateAdaption' input: 'a' input: 'b' input: 'c' output: 'x'",
         {{"float", {1}, {2}}, {"float", {2}, {3, 4}}, {"float", {2}, {3, 4}}},
         {{"float", {1}, {1.98}}}},
        {"AdaptionByTheProduct",
         "type: 'LearningRateAdaption' input: 'a' input: 'b' input: 'c' output: 'x' "
         "arg { name: 'normalized_lr_adaption' i: 0 }",
         {{"float", {1}, {2}}, {"float", {2}, {3, 4}}, {"float", {2}, {3, 4}}},
         {{"float", {1}, {1.75}}}},
        {"ValueAtTheThreshold",
         "type: 'ClipTensorByScaling' input: 'a' input: 'b' output: 'x' "
         "arg { name: 'threshold' f: 2 }",
         {{"float", {2}, {3, 4}}, {"float", {1}, {2}}},
         {{"float", {2}, {3, 4}}}},
        {"ValueAboveTheProductOfThresholds",
         "type: 'ClipTensorByScaling' input: 'a' input: 'b' input: 'c' output: 'x' "
         "arg { name: 'threshold' f: 2 }",
         {{"float", {2}, {3, 4}}, {"float", {1}, {2}}, {"float", {1}, {0.5}}},
         {{"float", {2}, {1.5, 2}}}},
        {"AnyFiniteElementIsLeft",
         "type: 'EnsureClipped' input: 'a' output: 'x'",
         {{"float", {2}, {-1e38, 1e38}}},
         {{"float", {2}, {-1e38, 1e38}}}},
    }),
    NameOfCase);

struct RateRow {
  const char* policy;
  const char* arguments;                          // pairs of a name and its value
  std::vector<std::pair<int64_t, double>> rates;  // of iterations, for a base rate of 2
};

class RatePolicyTest : public testing::TestWithParam<RateRow> {};

TEST_P(RatePolicyTest, IsExactAtTheEndsOfItsParts) {
  const RateRow& row = GetParam();
  for (const auto& [iteration, rate] : row.rates) {
    SCOPED_TRACE(iteration);
    Workspace ws;
    Feed<int64_t>(&ws, "n", {1}, {iteration});
    RunOp(&ws, std::string("type: 'LearningRate' input: 'n' output: 'rate' "
                           "arg { name: 'base_lr' f: 2 } arg { name: 'policy' s: '") +
                   row.policy + "' } " + row.arguments);
    ExpectTensor<float>(ws, "rate", {}, {static_cast<float>(rate)}, 1e-6);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, RatePolicyTest,
    testing::ValuesIn(std::vector<RateRow>{
        {"alter",
         "arg { name: 'active_period' i: 2 } arg { name: 'inactive_period' i: 3 }",
         {{0, 2}, {1, 2}, {2, 0}, {4, 0}, {5, 2}}},
        {"alter",
         "arg { name: 'active_period' i: 2 } arg { name: 'inactive_period' i: 3 } "
         "arg { name: 'active_first' i: 0 }",
         {{0, 0}, {2, 0}, {3, 2}, {4, 2}, {5, 0}}},
        {"step",
         "arg { name: 'gamma' f: 0.5 } arg { name: 'stepsize' i: 3 }",
         {{2, 2}, {3, 1}, {5, 1}, {6, 0.5}}},
        {"exp", "arg { name: 'gamma' f: 0.5 }", {{0, 2}, {3, 0.25}}},
        {"exp", "", {{0, 2}, {1, 0}}},
        {"inv", "arg { name: 'gamma' f: 1 } arg { name: 'power' f: 2 }", {{0, 2}, {1, 0.5}}},
        {"inv", "arg { name: 'power' f: 2 }", {{5, 2}}},
        {"poly",
         "arg { name: 'max_iter' i: 10 } arg { name: 'power' f: 2 }",
         {{0, 2}, {5, 0.5}, {10, 0}}},
        {"poly", "arg { name: 'power' f: 2 }", {{1000, 2}}},
        {"linearWarmup",
         "arg { name: 'num_iter' i: 4 } arg { name: 'start_multiplier' f: 0.2 }",
         {{0, 0.4}, {2, 1.2}, {4, 2}, {5, 2}}},
        {"linearWarmup", "arg { name: 'num_iter' i: 4 }", {{0, 0}, {1, 0.5}}},
        {"constantWarmup", "arg { name: 'num_iter' i: 3 }", {{0, 1}, {2, 1}, {3, 2}}},
        {"gate",
         "arg { name: 'num_iter' i: 3 } arg { name: 'multiplier_1' f: 0.25 } "
         "arg { name: 'multiplier_2' f: 4 }",
         {{2, 0.5}, {3, 8}}},
        {"gate", "arg { name: 'num_iter' i: 3 }", {{2, 2}, {3, 2}}},
        {"slope",
         "arg { name: 'num_iter_1' i: 2 } arg { name: 'num_iter_2' i: 6 } "
         "arg { name: 'multiplier_1' f: 0.8 } arg { name: 'multiplier_2' f: 0.4 }",
         {{1, 1.6}, {2, 1.6}, {4, 1.2}, {6, 0.8}, {8, 0.8}}},
        {"pieceWarmup",
         "arg { name: 'n1' i: 2 } arg { name: 'n2' i: 4 } arg { name: 'm1' f: 0.1 } "
         "arg { name: 'm2' f: 0.2 } arg { name: 'm3' f: 0.3 }",
         {{1, 0.2}, {2, 0.4}, {3, 0.4}, {4, 0.6}}},
        {"pieceWarmup",
         "arg { name: 'n1' i: 2 } arg { name: 'n2' i: 4 }",
         {{1, 1}, {3, 1}, {4, 1}}},
        {"constantThenLinearWarmup",
         "arg { name: 'constant_warmup_num_iter' i: 2 } arg { name: 'linear_warmup_num_iter' i: 4 "
         "}",
         {{1, 0.2}, {2, 0.2}, {4, 1.1}, {6, 2}, {7, 2}}},
        {"constantThenLinearWarmup", "", {{9999999, 0.2}, {15000000, 1.1}, {20000000, 2}}},
        {"hill",
         "arg { name: 'num_iter' i: 4 } arg { name: 'start_multiplier' f: 0.2 } "
         "arg { name: 'gamma' f: 1 } arg { name: 'power' f: 1 } "
         "arg { name: 'end_multiplier' f: 0.3 }",
         {{0, 0.4}, {2, 1.2}, {4, 2}, {5, 1}, {8, 0.6}}},
        {"cyclical",
         "arg { name: 'max_lr' f: 6 } arg { name: 'stepsize' i: 4 } arg { name: 'decay' f: 0.5 }",
         {{0, 2}, {2, 4}, {4, 6}, {6, 4}, {8, 2}, {12, 4}}},
        {"cyclical", "arg { name: 'stepsize' i: 4 }", {{0, 2}, {4, 0.005}, {12, 0.005}}},
        {"cosine", "arg { name: 'period' i: 4 }", {{0, 1}, {2, 0.6}, {4, 0.99}, {6, 0.594}}},
        {"cosine", "", {{0, 1}, {25, 0.6}, {50, 0.99}}},
        {"cosine",
         "arg { name: 'period' i: 4 } arg { name: 't_mult' f: 2 } arg { name: 'lr_shrink' f: 0.5 }",
         {{2, 0.6}, {8, 0.3}}},
        {"compositeCyclical",
         "arg { name: 'constant_warmup_num_iter' i: 1 } arg { name: 'linear_warmup_num_iter' i: 1 "
         "} "
         "arg { name: 'cyclical_max_lr' f: 6 } arg { name: 'cyclical_step_size' i: 2 }",
         {{0, 0.2}, {1, 0.2}, {2, 2}, {4, 6}, {6, 2}}},
        {"compositeCosine",
         "arg { name: 'constant_warmup_num_iter' i: 1 } arg { name: 'linear_warmup_num_iter' i: 1 "
         "} "
         "arg { name: 'cosine_period' i: 4 }",
         {{0, 0.2}, {2, 1}, {4, 0.6}, {6, 0.99}}},
        {"composite",
         "arg { name: 'sub_policy_num_iters' ints: 3 ints: 2 } "
         "arg { name: 'sub_policy_0_policy' s: 'fixed' } "
         "arg { name: 'sub_policy_0_lr_scale' f: 0.5 } "
         "arg { name: 'sub_policy_1_policy' s: 'exp' } arg { name: 'sub_policy_1_gamma' f: 0.5 }",
         {{0, 1}, {3, 1}, {4, 0.125}, {6, 0.03125}}},
    }),
    [](const auto& info) { return info.param.policy + std::to_string(info.index); });

}  // namespace
}  // namespace caffe2rt::update_defaults_test
