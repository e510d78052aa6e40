// Errors of optimizers, learning rates, counters and timers, with the whole message of each.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "caffe2_core/runtime/net.h"
#include "tests/operators/refusals/refusal.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::update_refusals_test {
namespace {

constexpr char kAdagrad[] =
    "type: 'RowWiseSparseAdagrad' input: 'P' input: 'M' input: 'I' input: 'G' input: 'R' output: "
    "'P' "
    "output: 'M'";
constexpr char kAdam[] =
    "type: 'RowWiseSparseAdam' input: 'P' input: 'M' input: 'N' input: 'I' "
    "input: 'G' input: 'R' input: 'T' output: 'P' output: 'M' output: 'N'";
constexpr char kFtrl[] =
    "type: 'SparseFtrl' input: 'P' input: 'N' input: 'I' input: 'G' output: 'P' "
    "output: 'N'";
constexpr char kClipRows[] = "type: 'EnsureClipped' input: 'P' input: 'I' input: 'G' output: 'P'";

constexpr Refusal kOptimizers[] = {
    {kAdagrad, "P f 2,3; M f 3; I i 1; G f 1,3; R f 1",
     "elements of input 1 (moment) of shape [3], want one for each row of input 0 (param) of shape "
     "[2, "
     "3] (got 3, want 2)"},
    {kAdagrad, "P f 2,3; M f 2; I i 1; G f 1,2; R f 1",
     "input 3 (grad) has shape [1, 2], want 3 elements, as a row of input 0 (param) of shape [2, "
     "3], "
     "for each index of input 2 (indices) of shape [1]"},
    {kAdagrad, "P f 2,3; M f 2; I i 2 = 0,2; G f 2,3; R f 1",
     "index 2 at position 1 is out of range, want at least 0 and below 2"},
    {kAdagrad, "P f 2,3; M f 2; I i 1 = -1; G f 1,3; R f 1",
     "index -1 at position 0 is out of range, want at least 0 and below 2"},
    {kAdagrad, "P f 2,3; M f 2; I i 1; G f 1,3; R f 2",
     "elements of input 4 (lr) of shape [2]: got 2, want 1"},
    {"type: 'Adagrad' input: 'P' input: 'M' input: 'G' input: 'R' output: 'P' output: 'M'",
     "P f 2; M f 3; G f 2; R f 1",
     "elements of input 1 (moment) of shape [3], want as many as input 2 (grad) of shape [2] (got "
     "3, "
     "want 2)"},
    {"type: 'Adagrad' input: 'P' input: 'M' input: 'G' input: 'R' output: 'P' output: 'M'",
     "P f 3; M f 2; G f 2; R f 1",
     "elements of input 0 (param) of shape [3], want as many as input 2 (grad) of shape [2] (got "
     "3, "
     "want 2)"},
    {"type: 'Adagrad' input: 'P' input: 'M' input: 'G' input: 'R' output: 'P' output: 'M'",
     "P f 2; M f 2; G f 2; R f 0", "elements of input 3 (lr) of shape [0]: got 0, want at least 1"},
    {"type: 'SparseAdagrad' input: 'P' input: 'M' input: 'I' input: 'G' input: 'R' output: 'P' "
     "output: 'M' arg { name: 'decay' f: 0.5 }",
     "P f 1; M f 1; I i 1; G f 1; R f 1", "argument \"decay\" is 0.5, want 1"},
    {kAdam, "P f 2,3; M f 2,3; N f 3; I i 1; G f 1,3; R f 1; T l 1",
     "elements of input 2 (moment_2) of shape [3], want one for each row of input 0 (param) of "
     "shape "
     "[2, 3] (got 3, want 2)"},
    {kAdam, "P f 2,3; M f 2; N f 2; I i 1; G f 1,3; R f 1; T l 1",
     "elements of input 1 (moment_1) of shape [2], want as many as input 0 (param) of shape [2, 3] "
     "(got "
     "2, want 6)"},
    {kAdam, "P f 2,3; M f 2,3; N f 2; I i 1; G f 1,3; R f 1; T l 0",
     "elements of input 6 (iter): got 0, want at least 1"},
    {"type: 'Adam' input: 'P' input: 'M' input: 'N' input: 'G' input: 'R' input: 'T' output: 'P' "
     "output: 'M' output: 'N'",
     "P f 2; M f 2; N f 3; G f 2; R f 1; T l 1",
     "elements of input 2 (moment_2) of shape [3], want as many as input 3 (grad) of shape [2] "
     "(got 3, "
     "want 2)"},
    {"type: 'EnsureClipped' input: 'P' input: 'I' output: 'P'", "P f 1; I i 1",
     "the operator has 2 inputs, want param, or param, indices, grad"},
    {kClipRows, "P f -; I i 1; G f 1",
     "rank of input 0 (param), want at least 1 (got 0, want at least 1)"},
    {kClipRows, "P f 2; I i 1,1; G f 1",
     "rank of input 2 (grad), want at least that of indices (got 1, want at least 2)"},
    {kClipRows, "P f 2,2; I i 1; G f 1,3",
     "elements in a row of input 2 (grad), want those in a row of input 0 (param) (got 3, want 2)"},
    {kClipRows, "P f 2,2; I i 2 = 0,2; G f 2,2",
     "index 2 at position 1 is out of range, want at least 0 and below 2"},
    {kFtrl, "P f 2,3; N f 2,3; I i 1; G f 1,3",
     "elements of input 1 (nz) of shape [2, 3], want two for each element of input 0 (var) of "
     "shape [2, "
     "3] (got 6, want 12)"},
    {kFtrl, "P f 2,3; N f 2,3,2; I i 1; G f 1,2",
     "elements of input 3 (grad) of shape [1, 2], want 3, as in a row of input 0 (var) of shape "
     "[2, 3], "
     "for each index of input 2 (indices) of shape [1] (got 2, want 3)"},
    {kFtrl, "P f -; N f 2; I i 1; G f 1", "rank of input 0 (var): got 0, want at least 1"},
    {"type: 'GFtrl' input: 'P' input: 'N' input: 'G' output: 'P' output: 'N'",
     "P f 1; N f 2; G f -", "rank of input 2 (grad): got 0, want at least 1"},
    {"type: 'Ftrl' input: 'P' input: 'N' input: 'G' output: 'P' output: 'N'", "P f 2; N f 4; G f 3",
     "elements of input 2 (grad) of shape [3], want as many as input 0 (var) of shape [2] (got 3, "
     "want "
     "2)"},
    {"type: 'Ftrl' input: 'P' input: 'N' input: 'G' input: 'A' output: 'P' output: 'N' "
     "arg { name: 'alpha' f: 1 }",
     "P f 1; N f 2; G f 1; A f 1", "alpha is given by both the argument and input 3: remove one"},
    {"type: 'Ftrl' input: 'P' input: 'N' input: 'G' input: 'A' output: 'P' output: 'N'",
     "P f 1; N f 2; G f 1; A f 2", "elements of input 3 (alpha) of shape [2]: got 2, want 1"},
    {"type: 'ClipTensorByScaling' input: 'X' input: 'V' output: 'Y' arg { name: 'threshold' f: 1 }",
     "X f 0; V f 1", "elements of input 0 (input_tensor): got 0, want more than 0"},
    {"type: 'ClipTensorByScaling' input: 'X' input: 'V' output: 'Y' arg { name: 'threshold' f: 1 }",
     "X f 1; V f 2", "elements of input 1 (val) of shape [2]: got 2, want 1"},
    {"type: 'ClipTensorByScaling' input: 'X' input: 'V' output: 'Y' arg { name: 'threshold' f: 0 }",
     "X f 1; V f 1", "argument \"threshold\" is 0, want above 0"},
    {"type: 'LearningRateAdaption' input: 'R' input: 'G' input: 'E' output: 'R'",
     "R f 1; G f 2; E f 3",
     "elements of input 2 (effgrad) of shape [3], want as many as input 1 (grad) of shape [2] (got "
     "3, "
     "want 2)"},
    {"type: 'RowWiseCounter' input: 'P' input: 'C' input: 'I' input: 'T' output: 'P' output: 'C'",
     "P l 2; C d 3; I i 1; T l 1",
     "elements of input 0 (prev_iter) of shape [2], want as many as input 1 (update_counter) of "
     "shape "
     "[3] (got 2, want 3)"},
    {"type: 'RowWiseCounter' input: 'P' input: 'C' input: 'I' input: 'T' output: 'P' output: 'C'",
     "P l 2; C d 2; I i 1; T l 2", "elements of input 3 (iter) of shape [2]: got 2, want 1"},
    {"type: 'RowWiseCounter' input: 'P' input: 'C' input: 'I' input: 'T' output: 'P' output: 'C' "
     "arg { name: 'counter_halflife' i: 1 }",
     "P l 2; C d 2; I i 1 = 2; T l 1",
     "index 2 at position 0 is out of range, want at least 0 and below 2"},
    {"type: 'Iter' input: 'I' output: 'I'", "I l 2",
     "elements of the counter of shape [2]: got 2, want 1"},
    {"type: 'Iter' input: 'I' output: 'I'", "I l 1 = -1",
     "the previous iteration: got -1, want at least 0"},
    {"type: 'WeightScale' input: 'W' input: 'I' output: 'W' arg { name: 'stepsize' i: 0 }",
     "W f 1; I l 1", "argument \"stepsize\" is 0, want a number of iterations"},
    {"type: 'Lars' input: 'X' input: 'G' input: 'W' input: 'T' input: 'M' output: 'R'",
     "X f 2; G f 3; W f 1; T f 1; M f 1",
     "elements of input 1 (dX) of shape [3], want as many as input 0 (X) of shape [2] (got 3, want "
     "2)"},
    {"type: 'Lars' input: 'X' input: 'G' input: 'W' input: 'T' input: 'M' output: 'R'",
     "X f 2; G f 2; W f 1; T f 0; M f 1",
     "elements of input 3 (trust) of shape [0]: got 0, want at least 1"},
    {"type: 'Lars' input: 'X' input: 'G' input: 'W' input: 'T' input: 'M' output: 'R' "
     "arg { name: 'offset' f: -1 }",
     "X f 2; G f 2; W f 1; T f 1; M f 1", "argument \"offset\" is -1, want at least 0"},
    {"type: 'Lars' input: 'X' input: 'G' input: 'W' input: 'T' input: 'M' output: 'R' "
     "arg { name: 'lr_min' f: -1 }",
     "X f 2; G f 2; W f 1; T f 1; M f 1", "argument \"lr_min\" is -1, want at least 0"},
    {"type: 'Adadelta' input: 'P' input: 'M' input: 'D' input: 'G' input: 'R' output: 'P' output: "
     "'M' "
     "output: 'D' arg { name: 'decay' f: 1 }",
     "P f 1; M f 1; D f 1; G f 1; R f 1", "argument \"decay\" is 1, want above 0 and below 1"},
    {"type: 'Adadelta' input: 'P' input: 'M' input: 'D' input: 'G' input: 'R' output: 'P' output: "
     "'M' "
     "output: 'D'",
     "P f 1; M f 1; D f 2; G f 1; R f 1",
     "elements of input 2 (moment_delta) of shape [2], want as many as input 0 (param) of shape "
     "[1] (got "
     "2, want 1)"},
    {"type: 'RmsProp' input: 'G' input: 'S' input: 'M' input: 'R' output: 'A' output: 'B' output: "
     "'C'",
     "G f 2; S f 3; M f 2; R f 1",
     "elements of input 1 (mean_squares) of shape [3], want as many as input 0 (grad) of shape [2] "
     "(got "
     "3, want 2)"},
    {"type: 'Wngrad' input: 'P' input: 'B' input: 'G' input: 'R' output: 'P' output: 'B'",
     "P f 2; B f 2; G f 2; R f 1", "elements of input 1 (seq_b) of shape [2]: got 2, want 1"},
    {"type: 'Storm' input: 'P' input: 'M' input: 'S' input: 'G' input: 'R' output: 'P' output: 'M' "
     "output: 'S'",
     "P f 2; M f 2; S f 2; G f 2; R f 1",
     "elements of input 2 (grad_sq_sum) of shape [2]: got 2, want 1"},
    {"type: 'MomentumSGD' input: 'G' input: 'M' input: 'R' output: 'A' output: 'B'",
     "G f 2; M f 3; R f 1",
     "elements of input 0 (grad) of shape [2], want as many as input 1 (moment) of shape [3] (got "
     "2, "
     "want 3)"},
    {"type: 'SparseMomentumSGDUpdate' input: 'G' input: 'M' input: 'R' input: 'P' input: 'I' "
     "output: 'G' output: 'M' output: 'P'",
     "G f 1,3; M f 3; R f 1; P f 2,3; I i 1",
     "elements of input 1 (moment) of shape [3], want as many as input 3 (param) of shape [2, 3] "
     "(got "
     "3, want 6)"},
};

constexpr char kRate[] =
    "type: 'LearningRate' input: 'I' output: 'R' arg { name: 'base_lr' f: 1 } ";
struct RateRow {
  const char* arguments;
  const char* part;
};
constexpr RateRow kRates[] = {
    {"arg { name: 'policy' s: 'alter' } arg { name: 'active_period' i: 3 } "
     "arg { name: 'inactive_period' i: -3 }",
     "active_period 3 and inactive_period -3 add up to 0 or to more than 2^62 iterations"},
    {"arg { name: 'policy' s: 'alter' } arg { name: 'active_period' i: 4611686018427387904 } "
     "arg { name: 'inactive_period' i: 4611686018427387904 }",
     "add up to 0 or to more than 2^62 iterations"},
    {"arg { name: 'policy' s: 'step' }", "argument \"stepsize\" is 0, want a number of iterations"},
    {"arg { name: 'policy' s: 'cyclical' }",
     "argument \"stepsize\" is 0, want a number of iterations"},
    {"arg { name: 'policy' s: 'compositeCyclical' } arg { name: 'cyclical_step_size' i: 0 }",
     "argument \"cyclical_step_size\" is 0, want a number of iterations"},
    {"arg { name: 'policy' s: 'composite' }",
     "argument \"sub_policy_num_iters\" is missing or empty, want the iterations of each policy"},
    {"arg { name: 'policy' s: 'composite' } arg { name: 'sub_policy_num_iters' ints: 2 ints: 0 } "
     "arg { name: 'sub_policy_0_policy' s: 'fixed' }",
     "value 1 of argument \"sub_policy_num_iters\": got 0, want more than 0"},
    {"arg { name: 'policy' s: 'composite' } arg { name: 'sub_policy_num_iters' ints: 2 } "
     "arg { name: 'sub_policy_0_policy' s: 'composite' }",
     "argument \"sub_policy_0_policy\" is \"composite\", want a policy that is not composite"},
    {"arg { name: 'policy' s: 'warmup' }",
     "unknown learning rate policy \"warmup\", want one of composite, fixed, alter, step, exp, "
     "inv, "
     "poly, linearWarmup, constantWarmup, gate, pieceWarmup, hill, slope, cyclical, cosine, "
     "constantThenLinearWarmup, compositeCyclical, compositeCosine"},
};

constexpr char kTimer[] = "type: 'TimerBegin' output: 't'";

TEST(UpdateRefusalsTest, OfOptimizers) {
  for (const Refusal& row : kOptimizers) ExpectRefusal(row);
}

TEST(UpdateRefusalsTest, OfLearningRates) {
  for (const RateRow& row : kRates)
    ExpectRefusal({(std::string(kRate) + row.arguments).c_str(), "I l 1", row.part});
}

// The largest count cannot be written as a double.
TEST(UpdateRefusalsTest, OfCountersThatWouldOverflow) {
  Workspace ws;
  Feed<int64_t>(&ws, "I", {1}, {INT64_MAX});
  ExpectThrows(
      [&] { RunOp(&ws, "type: 'Iter' input: 'I' output: 'I'"); },
      "the previous iteration; the counter would overflow: got 9223372036854775807, want less "
      "than 9223372036854775807");
  ExpectTensor<int64_t>(ws, "I", {1}, {INT64_MAX});
}

// Nets in which an operator of a timer comes at the wrong time.
TEST(UpdateRefusalsTest, OfTimersThatDoNotRunOrRunAlready) {
  const std::pair<const char*, const char*> rows[] = {
      {"op { type: 'TimerBegin' output: 't' } op { type: 'TimerEnd' input: 't' } "
       "op { type: 'TimerEnd' input: 't' }",
       "input 0 (timer) is not running, want it between its begin and its end"},
      {"op { type: 'TimerBegin' output: 't' } op { type: 'TimerEnd' input: 't' } "
       "op { type: 'TimerGet' input: 't' output: 'n' }",
       "input 0 (timer) is not running, want it between its begin and its end"},
      {"op { type: 'TimerBegin' output: 't' } op { type: 'TimerEnd' input: 't' } "
       "op { type: 'TimerGetAndEnd' input: 't' output: 'n' }",
       "input 0 (timer) is not running, want it between its begin and its end"},
  };
  for (const auto& [ops, part] : rows) {
    SCOPED_TRACE(ops);
    Workspace ws;
    NetBase* const net = ws.CreateNet(ParseNet(std::string("name: 'n' ") + ops));
    ExpectThrows([&] { net->Run(); }, part);
  }
  Workspace ws;
  NetBase* const net = ws.CreateNet(ParseNet(std::string("name: 'n' op { ") + kTimer + " }"));
  EXPECT_TRUE(net->Run());
  ExpectThrows([&] { net->Run(); },
               "output 0 (timer) is already running, want it to be ended first");
}

}  // namespace
}  // namespace caffe2rt::test::update_refusals_test
