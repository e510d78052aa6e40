#include "operators/recurrent/layer_activations.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/refusals.h"

namespace caffe2rt::test::layer_activations_test {
namespace {

struct FunctionRow {
  const char* name;
  float alpha, beta;  // the defaults
  double (*f)(double x, double a, double b);
};

// The formulas of ONNX's operators.
const FunctionRow kFunctions[] = {
    {"Relu", 0, 0, [](double x, double, double) { return x > 0 ? x : 0; }},
    {"Tanh", 0, 0, [](double x, double, double) { return std::tanh(x); }},
    {"Sigmoid", 0, 0, [](double x, double, double) { return 1 / (1 + std::exp(-x)); }},
    {"Affine", 1, 0, [](double x, double a, double b) { return a * x + b; }},
    {"LeakyRelu", 0.01f, 0, [](double x, double a, double) { return x < 0 ? a * x : x; }},
    {"ThresholdedRelu", 1, 0, [](double x, double a, double) { return x >= a ? x : 0; }},
    {"ScaledTanh", 1, 1, [](double x, double a, double b) { return a * std::tanh(b * x); }},
    {"HardSigmoid", 0.2f, 0.5f,
     [](double x, double a, double b) { return std::fmin(1, std::fmax(0, a * x + b)); }},
    {"Elu", 1, 0, [](double x, double a, double) { return x < 0 ? a * std::expm1(x) : x; }},
    {"Softsign", 0, 0, [](double x, double, double) { return x / (1 + std::fabs(x)); }},
    {"Softplus", 0, 0, [](double x, double, double) { return std::log1p(std::exp(x)); }}};

void ExpectFunction(const FunctionRow& row, const LayerActivation& activation) {
  SCOPED_TRACE(row.name);
  const std::vector<float> x = {-30, -3, -1, -0.5f, 0, 0.25f, 0.5f, 1, 1.5f, 2, 3, 30, 0.75f};
  std::vector<float> y = x;
  y.push_back(99);  // behind the end
  ApplyLayerActivation(activation, static_cast<int64_t>(x.size()), y.data());
  for (size_t i = 0; i < x.size(); ++i) {
    const double want = row.f(x[i], activation.alpha, activation.beta);
    EXPECT_NEAR(y[i], want, 1e-6 * std::fmax(1, std::fabs(want))) << x[i];
  }
  EXPECT_EQ(y.back(), 99);
}

TEST(LayerActivationsTest, HaveTheFormulasAndDefaultsOfOnnx) {
  for (const FunctionRow& row : kFunctions) {
    const std::vector<LayerActivation> parsed = ParseLayerActivations({row.name}, {}, {});
    ASSERT_EQ(parsed.size(), 1u);
    EXPECT_EQ(parsed[0].alpha, row.alpha) << row.name;
    EXPECT_EQ(parsed[0].beta, row.beta) << row.name;
    ExpectFunction(row, parsed[0]);
  }
}

TEST(LayerActivationsTest, UseTheirParameters) {
  for (const FunctionRow& row : kFunctions) {
    ExpectFunction(row, ParseLayerActivations({row.name}, {0.5f}, {-0.25f})[0]);
  }
}

TEST(LayerActivationsTest, DoNotOverflowInSoftplus) {
  float x[] = {-200, 200};
  ApplyLayerActivation(ParseLayerActivations({"Softplus"}, {}, {})[0], 2, x);
  EXPECT_EQ(x[0], 0);
  EXPECT_EQ(x[1], 200);
}

// Functions without a parameter take none from the lists.
TEST(LayerActivationsTest, TakeParametersInOrder) {
  const auto got = ParseLayerActivations(
      {"tanh", "LEAKYRELU", "Affine", "softplus", "HardSigmoid", "elu", "scaledTanh"},
      {0.3f, 0.7f, 0.9f}, {0.1f});
  const LayerActivation want[] = {{LayerFunction::kTanh, 0, 0},
                                  {LayerFunction::kLeakyRelu, 0.3f, 0},
                                  {LayerFunction::kAffine, 0.7f, 0.1f},
                                  {LayerFunction::kSoftplus, 0, 0},
                                  {LayerFunction::kHardSigmoid, 0.9f, 0.5f},
                                  {LayerFunction::kElu, 1, 0},
                                  {LayerFunction::kScaledTanh, 1, 1}};
  ASSERT_EQ(got.size(), std::size(want));
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(got[i].function, want[i].function) << i;
    EXPECT_EQ(got[i].alpha, want[i].alpha) << i;
    EXPECT_EQ(got[i].beta, want[i].beta) << i;
  }
}

// Each list has its own place, which moves on with the functions that have such a parameter.
TEST(LayerActivationsTest, TakeTheirOwnParametersOfSeveral) {
  const std::vector<std::string> names = {"Affine", "Relu", "LeakyRelu",   "ScaledTanh",
                                          "Elu",    "Tanh", "HardSigmoid", "ThresholdedRelu"};
  struct Lists {
    std::vector<float> alphas, betas;
    std::vector<std::pair<float, float>> want;  // alpha and beta of each function
  };
  const Lists rows[] = {
      {{1, 2, 3, 4, 5, 6},
       {7, 8, 9},
       {{1, 7}, {0, 0}, {2, 0}, {3, 8}, {4, 0}, {0, 0}, {5, 9}, {6, 0}}},
      {{1, 2, 3, 4, 5, 6, 7},
       {7, 8, 9, 10},
       {{1, 7}, {0, 0}, {2, 0}, {3, 8}, {4, 0}, {0, 0}, {5, 9}, {6, 0}}},
      {{8}, {}, {{8, 0}, {0, 0}, {0.01f, 0}, {1, 1}, {1, 0}, {0, 0}, {0.2f, 0.5f}, {1, 0}}},
      {{}, {8, 9}, {{1, 8}, {0, 0}, {0.01f, 0}, {1, 9}, {1, 0}, {0, 0}, {0.2f, 0.5f}, {1, 0}}}};
  for (const Lists& row : rows) {
    const auto got = ParseLayerActivations(names, row.alphas, row.betas);
    ASSERT_EQ(got.size(), row.want.size());
    for (size_t i = 0; i < got.size(); ++i) {
      EXPECT_EQ(got[i].alpha, row.want[i].first) << names[i] << " " << row.alphas.size();
      EXPECT_EQ(got[i].beta, row.want[i].second) << names[i] << " " << row.betas.size();
    }
  }
  EXPECT_TRUE(ParseLayerActivations({}, {1}, {2}).empty());
}

TEST(LayerActivationsTest, NameTheKnownFunctions) {
  const std::string known =
      ", want Relu, Tanh, Sigmoid, Affine, LeakyRelu, ThresholdedRelu, ScaledTanh, HardSigmoid, "
      "Elu, Softsign or Softplus";
  ExpectRefusals({{[] {
                     (void)ParseLayerActivations({"Tanh", "Tan"}, {}, {});
                   },
                   "argument activations contains \"Tan\"" + known},
                  {[] { (void)ParseLayerActivations({""}, {}, {}); },
                   "argument activations contains \"\"" + known}});
}

}  // namespace
}  // namespace caffe2rt::test::layer_activations_test
