#include <cmath>

#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::learning_rate_test {
namespace {

// Arguments as "name=value" separated by spaces: a number with a point is a float, one without an
// integer, [..] a list of integers, anything else a string.
std::string Op(const std::string& arguments) {
  std::string op = R"(type: "LearningRate" input: "N" output: "L")";
  for (size_t at = 0; at < arguments.size();) {
    const size_t end = std::min(arguments.find(' ', at), arguments.size());
    const std::string word = arguments.substr(at, end - at);
    const std::string name = word.substr(0, word.find('=')), value = word.substr(name.size() + 1);
    op += " arg { name: \"" + name + "\" ";
    if (value[0] == '[') {
      for (size_t i = 1; i < value.size(); i = value.find_first_of(",]", i) + 1) {
        op += "ints: " + value.substr(i, value.find_first_of(",]", i) - i) + " ";
      }
    } else if (value.find_first_not_of("-0123456789.") != std::string::npos) {
      op += "s: \"" + value + "\"";
    } else {
      op += (value.find('.') == std::string::npos ? "i: " : "f: ") + value;
    }
    op += " }";
    at = end + 1;
  }
  return op;
}

struct Case {
  const char* arguments;  // besides base_lr=0.5
  std::vector<int64_t> iterations;
  std::vector<float> rates;
};

// Worked out by hand from the documentation of the policies.
const Case kCases[] = {
    {"policy=fixed", {0, 9}, {0.5f, 0.5f}},
    {"policy=step stepsize=3 gamma=0.5", {2, 3, 7}, {0.5f, 0.25f, 0.125f}},
    {"policy=exp gamma=0.5", {0, 3}, {0.5f, 0.0625f}},
    {"policy=inv gamma=0.5 power=2.", {0, 2}, {0.5f, 0.125f}},
    {"policy=poly max_iter=8 power=2.", {4, 8, 10}, {0.125f, 0, 0.03125f}},
    {"policy=poly power=2.", {4}, {0.5f}},
    {"policy=alter active_period=2 inactive_period=3", {0, 1, 2, 4, 5}, {0.5f, 0.5f, 0, 0, 0.5f}},
    {"policy=alter active_period=2 inactive_period=3 active_first=0",
     {0, 2, 3, 4, 5},
     {0, 0, 0.5f, 0.5f, 0}},
    {"policy=gate num_iter=5 multiplier_2=0.5", {4, 5}, {0.5f, 0.25f}},
    {"policy=slope num_iter_1=4 multiplier_1=1. num_iter_2=8 multiplier_2=0.5",
     {3, 4, 6, 8, 9},
     {0.5f, 0.5f, 0.375f, 0.25f, 0.25f}},
    {"policy=linearWarmup num_iter=4 start_multiplier=0.5",
     {0, 2, 4, 9},
     {0.25f, 0.375f, 0.5f, 0.5f}},
    {"policy=constantWarmup num_iter=4 multiplier=0.25", {3, 4}, {0.125f, 0.5f}},
    {"policy=pieceWarmup m1=0.25 n1=2 m2=0.75 n2=5 m3=2.",
     {1, 2, 4, 5},
     {0.125f, 0.375f, 0.375f, 1}},
    {"policy=constantThenLinearWarmup start_warmup_multiplier=0.5 constant_warmup_num_iter=2 "
     "linear_warmup_num_iter=4",
     {0, 2, 4, 6, 7},
     {0.25f, 0.25f, 0.375f, 0.5f, 0.5f}},
    {"policy=hill num_iter=4 start_multiplier=0.5 gamma=0.5 power=1. end_multiplier=0.25",
     {0, 4, 6, 99},
     {0.25f, 0.5f, 0.25f, 0.125f}},
    {"policy=cyclical stepsize=4 max_lr=2.5 decay=0.5",
     {0, 2, 4, 6, 8, 12, 20},
     {0.5f, 1.5f, 2.5f, 1.5f, 0.5f, 1.5f, 1}},
    {"policy=cosine period=4 min_lr=0.5 max_lr=1.5 lr_shrink=0.5",
     {0, 2, 4, 6},
     {0.75f, 0.5f, 0.375f, 0.25f}},
    {"policy=cosine period=2 t_mult=2. min_lr=0.5 max_lr=1.5 lr_shrink=0.5",
     {1, 2, 4, 6},
     {0.5f, 0.375f, 0.25f, 0.1875f}},
    {"policy=compositeCyclical start_warmup_multiplier=0.5 constant_warmup_num_iter=1 "
     "linear_warmup_num_iter=1 cyclical_max_lr=2.5 cyclical_step_size=4 cyclical_decay=0.5",
     {0, 1, 2, 6, 14},
     {0.25f, 0.25f, 0.5f, 2.5f, 1.5f}},
    {"policy=compositeCosine start_warmup_multiplier=0.5 constant_warmup_num_iter=1 "
     "linear_warmup_num_iter=1 cosine_min_lr=0.5 cosine_max_lr=1.5 cosine_period=4 "
     "cosine_t_mult=1. cosine_lr_shrink=0.5",
     {0, 2, 4, 6},
     {0.25f, 0.75f, 0.5f, 0.375f}},
    // Multipliers that rise where they fall above, and the other way round. A slope is never below
    // its second multiplier, and goes on beyond it.
    {"policy=slope num_iter_1=4 multiplier_1=0.5 num_iter_2=8 multiplier_2=1.",
     {0, 3, 4, 6, 8, 10, 12},
     {0.25f, 0.25f, 0.5f, 0.5f, 0.5f, 0.625f, 0.75f}},
    {"policy=slope num_iter_2=4 multiplier_1=1. multiplier_2=-1.",
     {0, 1, 2, 3, 4, 9},
     {0.5f, 0.25f, 0, -0.25f, -0.5f, -0.5f}},
    {"policy=linearWarmup num_iter=4 start_multiplier=3.", {0, 2, 4, 9}, {1.5f, 1, 0.5f, 0.5f}},
    {"policy=constantWarmup num_iter=4 multiplier=3.", {3, 4}, {1.5f, 0.5f}},
    {"policy=constantThenLinearWarmup start_warmup_multiplier=3. constant_warmup_num_iter=2 "
     "linear_warmup_num_iter=4",
     {0, 2, 4, 6, 7},
     {1.5f, 1.5f, 1, 0.5f, 0.5f}},
    {"policy=hill num_iter=4 start_multiplier=3. gamma=0.5 power=1. end_multiplier=2.",
     {0, 2, 4, 6, 99},
     {1.5f, 1, 1, 1, 1}},
    {"policy=hill num_iter=2 start_multiplier=0.5 gamma=1. power=-1. end_multiplier=2.",
     {0, 2, 3, 4},
     {0.25f, 1, 1, 1.5f}},
    {"policy=cyclical stepsize=4 max_lr=0.25 decay=0.5",
     {0, 2, 4, 8, 12},
     {0.5f, 0.375f, 0.25f, 0.5f, 0.375f}},
    {"policy=cosine period=4 min_lr=1.5 max_lr=0.5 lr_shrink=2.",
     {0, 2, 4, 6},
     {0.25f, 0.5f, 0.5f, 1}},
    // A policy is used up to and including the iteration at its end; the last one continues.
    {"policy=composite sub_policy_num_iters=[3,2] sub_policy_0_policy=fixed "
     "sub_policy_0_lr_scale=2. sub_policy_1_policy=exp sub_policy_1_gamma=0.5",
     {0, 3, 4, 6},
     {1, 1, 0.03125f, 0.0078125f}},
};

TEST(LearningRateTest, FollowsItsPolicy) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.arguments);
    const std::string op = Op(std::string("base_lr=0.5 ") + c.arguments);
    for (size_t i = 0; i < c.iterations.size(); ++i) {
      SCOPED_TRACE(c.iterations[i]);
      Workspace ws;
      Feed<int64_t>(&ws, "N", {1}, {c.iterations[i]});
      RunOp(&ws, op);
      ExpectTensor<float>(ws, "L", {}, {c.rates[i]}, 1e-6);
    }
  }
}

TEST(LearningRateTest, KeepsTheSignOfTheBaseInACycle) {
  Workspace ws;
  Feed<int64_t>(&ws, "N", {1}, {4});
  RunOp(&ws, Op("base_lr=-0.5 policy=cyclical stepsize=4 max_lr=2.5"));
  ExpectTensor<float>(ws, "L", {}, {-2.5f}, 1e-6);
}

TEST(LearningRateTest, ReturnsAScalarAndHasNoGradient) {
  Workspace ws;
  Feed<int64_t>(&ws, "N", {2}, {3, 1});
  const std::string op = Op("base_lr=0.5 policy=exp gamma=0.5");
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "L", {}, {0.0625f});
  ExpectShapeInferred(&ws, op);
  EXPECT_EQ(DescribeGradient(op), " | -");
}

TEST(LearningRateTest, RejectsInvalidArguments) {
  Workspace ws;
  Feed<int64_t>(&ws, "N", {1}, {3});
  const std::pair<const char*, const char*> cases[] = {
      {"policy=fixed", "base_lr"},
      {"base_lr=0.5", "policy"},
      {"base_lr=0.5 policy=weird",
       "unknown learning rate policy \"weird\", want one of composite, fixed, alter"},
      {"base_lr=0.5 policy=step", "argument \"stepsize\" is 0"},
      {"base_lr=0.5 policy=cyclical", "argument \"stepsize\" is 0"},
      {"base_lr=0.5 policy=compositeCyclical cyclical_step_size=0",
       "argument \"cyclical_step_size\" is 0"},
      {"base_lr=0.5 policy=alter active_period=1", "add up to 0"},
      {"base_lr=0.5 policy=composite", "\"sub_policy_num_iters\" is missing or empty"},
      {"base_lr=0.5 policy=composite sub_policy_num_iters=[0]",
       "value 0 of argument \"sub_policy_num_iters\""},
      {"base_lr=0.5 policy=composite sub_policy_num_iters=[1]", "sub_policy_0_policy"},
      {"base_lr=0.5 policy=composite sub_policy_num_iters=[1] sub_policy_0_policy=composite",
       "want a policy that is not composite"},
  };
  for (const auto& [arguments, part] : cases) {
    ExpectThrows([&, text = arguments] { RunOp(&ws, Op(text)); }, part);
  }
  Feed<int64_t>(&ws, "N", {0}, {});
  ExpectThrows([&] { RunOp(&ws, Op("base_lr=0.5 policy=fixed")); }, "elements of input 0 (iter)");
  Feed<int32_t>(&ws, "N", {1}, {1});
  ExpectThrows([&] { RunOp(&ws, Op("base_lr=0.5 policy=fixed")); }, "int");
}

}  // namespace
}  // namespace caffe2rt::test::learning_rate_test
