#include "operators/optimizer/learning_rate_policy.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "caffe2_core/base/checked_math.h"

namespace caffe2rt {

namespace {

// --- Arguments. Policies that share an argument share its declaration, except max_lr. ---
constexpr ArgumentSpec<float> kBaseLr{
    "base_lr",
    0.0f,
    "the learning rate that the policy multiplies; required",
    {[](float rate) { return rate != FLT_MAX; }, "another number"},
    true};
constexpr ArgumentSpec<std::string> kPolicy{
    "policy", "", "the name of the policy; required", {}, true};
constexpr ArgumentSpec<float> kGamma{"gamma", 0.0f, "step, exp, inv, hill"};
constexpr ArgumentSpec<float> kPower{"power", 0.0f, "inv, poly, hill: the exponent"};
constexpr ArgumentSpec<int> kStepSize{"stepsize", 0, "step, cyclical: iterations; not 0"};
constexpr ArgumentSpec<int> kMaxIter{"max_iter", -1,
                                     "poly: the iteration that reaches 0; below 0: never"};
constexpr ArgumentSpec<bool> kActiveFirst{"active_first", true,
                                          "alter: 1: the active period is first"};
constexpr ArgumentSpec<int64_t> kActivePeriod{"active_period", -1, "alter: iterations"};
constexpr ArgumentSpec<int64_t> kInactivePeriod{"inactive_period", -1, "alter: iterations"};
constexpr ArgumentSpec<int> kNumIter{
    "num_iter", 0, "linearWarmup, constantWarmup, hill, gate: iterations of the first part"};
constexpr ArgumentSpec<float> kStartMultiplier{"start_multiplier", 0.0f,
                                               "linearWarmup, hill: the first multiplier"};
constexpr ArgumentSpec<float> kEndMultiplier{"end_multiplier", 0.0f,
                                             "hill: the least multiplier after the warmup"};
constexpr ArgumentSpec<float> kMultiplier{"multiplier", 0.5f, "constantWarmup: the multiplier"};
constexpr ArgumentSpec<float> kGateMultiplier1{
    "multiplier_1", 1.0f, "gate, slope: the first multiplier; slope: default 0"};
constexpr ArgumentSpec<float> kGateMultiplier2{
    "multiplier_2", 1.0f, "gate, slope: the second multiplier; slope: default 0"};
constexpr ArgumentSpec<float> kSlopeMultiplier1{"multiplier_1", 0.0f};
constexpr ArgumentSpec<float> kSlopeMultiplier2{"multiplier_2", 0.0f};
constexpr ArgumentSpec<int64_t> kSlopeIter1{"num_iter_1", 0,
                                            "slope: the iteration at which it begins"};
constexpr ArgumentSpec<int64_t> kSlopeIter2{"num_iter_2", 0,
                                            "slope: the iteration at which it ends"};
constexpr ArgumentSpec<float> kPieceM1{"m1", 0.5f, "pieceWarmup: the first multiplier"};
constexpr ArgumentSpec<int64_t> kPieceN1{"n1", 0, "pieceWarmup: the end of the first piece"};
constexpr ArgumentSpec<float> kPieceM2{"m2", 0.5f, "pieceWarmup: the second multiplier"};
constexpr ArgumentSpec<int64_t> kPieceN2{"n2", 0, "pieceWarmup: the end of the second piece"};
constexpr ArgumentSpec<float> kPieceM3{"m3", 0.5f, "pieceWarmup: the third multiplier"};
constexpr ArgumentSpec<float> kCyclicalMax{
    "max_lr", 0.005f,
    "cyclical: the highest learning rate; cosine: the highest multiplier, default "
    "0.5"};
constexpr ArgumentSpec<float> kCyclicalDecay{"decay", 1.0f,
                                             "cyclical: factor of the amplitude for each cycle"};
constexpr ArgumentSpec<float> kCosineMax{"max_lr", 0.5f};
constexpr ArgumentSpec<float> kCosineMin{"min_lr", 0.1f, "cosine: the least multiplier"};
constexpr ArgumentSpec<int64_t> kCosinePeriod{"period", 50,
                                              "cosine: iterations of the first cycle"};
constexpr ArgumentSpec<float> kCosinePeriodFactor{
    "t_mult", 1.0f, "cosine: each cycle is longer than the one before by this factor"};
constexpr ArgumentSpec<float> kCosineShrink{"lr_shrink", 0.99f,
                                            "cosine: factor of the multipliers for each cycle"};
constexpr ArgumentSpec<float> kWarmupStart{
    "start_warmup_multiplier", 0.1f, "constantThenLinearWarmup, composite*: the first multiplier"};
constexpr ArgumentSpec<int64_t> kWarmupConstant{
    "constant_warmup_num_iter", 10000000,
    "constantThenLinearWarmup, composite*: iterations of the first multiplier"};
constexpr ArgumentSpec<int64_t> kWarmupLinear{
    "linear_warmup_num_iter", 10000000,
    "constantThenLinearWarmup, composite*: iterations in which the multiplier grows to 1"};
constexpr ArgumentSpec<float> kCompositeCyclicalMax{"cyclical_max_lr", 0.05f,
                                                    "compositeCyclical: as max_lr"};
constexpr ArgumentSpec<int> kCompositeCyclicalStep{"cyclical_step_size", 1000000,
                                                   "compositeCyclical: as stepsize"};
constexpr ArgumentSpec<float> kCompositeCyclicalDecay{"cyclical_decay", 1.0f,
                                                      "compositeCyclical: as decay"};
constexpr ArgumentSpec<float> kCompositeCosineMin{"cosine_min_lr", 0.1f,
                                                  "compositeCosine: as min_lr"};
constexpr ArgumentSpec<float> kCompositeCosineMax{"cosine_max_lr", 0.5f,
                                                  "compositeCosine: as max_lr"};
constexpr ArgumentSpec<int64_t> kCompositeCosinePeriod{"cosine_period", 50,
                                                       "compositeCosine: as period"};
constexpr ArgumentSpec<float> kCompositeCosinePeriodFactor{"cosine_t_mult", 1.0f,
                                                           "compositeCosine: as t_mult"};
constexpr ArgumentSpec<float> kCompositeCosineShrink{"cosine_lr_shrink", 0.99f,
                                                     "compositeCosine: as lr_shrink"};
constexpr RepeatedArgumentSpec<int64_t> kSubPolicyIterations{
    "sub_policy_num_iters",
    "composite: the iterations of each policy, which is given by arguments with the prefix "
    "sub_policy_0_, sub_policy_1_, ...; sub_policy_0_lr_scale (1) multiplies the learning rate"};
constexpr ArgumentSpec<float> kSubPolicyScale{"lr_scale", 1.0f};

// Reads arguments whose names have a prefix.
class PrefixedArguments {
 public:
  PrefixedArguments(const ArgumentHelper& args, std::string prefix)
      : args_(args), prefix_(std::move(prefix)) {}
  template <class T>
  auto operator()(const ArgumentSpec<T>& spec) const {
    const std::string name = prefix_ + spec.name;
    ArgumentSpec<T> prefixed = spec;
    prefixed.name = name.c_str();
    return args_.Read(prefixed);
  }

 private:
  const ArgumentHelper& args_;
  const std::string prefix_;
};

}  // namespace

struct LearningRateArguments {
  double base_lr;
  double gamma = 0, power = 0, max_iter = 0;
  int64_t step_size = 1, active_period = 1, inactive_period = 0, both_periods = 1;
  bool active_first = true;
  // Multipliers and the iterations at which they begin or end.
  double start = 0, middle = 0, end = 0;
  int64_t first = 0, second = 0;
  double max_lr = 0, min_lr = 0, decay = 1, period = 1, period_factor = 1;
};

namespace {

using Arguments = LearningRateArguments;
using Multiplier = double (*)(const Arguments& a, int64_t iteration);

double Fixed(const Arguments&, int64_t) { return 1; }
double Alter(const Arguments& a, int64_t n) {
  const int64_t at = n % a.both_periods;
  const bool active = a.active_first ? at < a.active_period : at >= a.inactive_period;
  return active ? 1 : 0;
}
double Step(const Arguments& a, int64_t n) {
  return std::pow(a.gamma, static_cast<double>(n / a.step_size));
}
double Exp(const Arguments& a, int64_t n) { return std::pow(a.gamma, static_cast<double>(n)); }
double Inv(const Arguments& a, int64_t n) {
  return std::pow(1 + a.gamma * static_cast<double>(n), -a.power);
}
// A negative max_iter means that the end is never reached.
double Poly(const Arguments& a, int64_t n) {
  if (a.max_iter < 0) return 1;
  return std::pow(1 - static_cast<double>(n) / a.max_iter, a.power);
}
// From `start` to `end` in the iterations [first, second].
double Line(const Arguments& a, int64_t n) {
  const double first = static_cast<double>(a.first), last = static_cast<double>(a.second);
  return a.start + (a.end - a.start) * (static_cast<double>(n) - first) / (last - first);
}
double LinearWarmup(const Arguments& a, int64_t n) { return n < a.second ? Line(a, n) : 1; }
double TwoConstants(const Arguments& a, int64_t n) { return n < a.first ? a.start : a.end; }
double PieceWarmup(const Arguments& a, int64_t n) {
  return n < a.first ? a.start : n < a.second ? a.middle : a.end;
}
double Hill(const Arguments& a, int64_t n) {
  if (n < a.second)
    return a.start + (1 - a.start) * static_cast<double>(n) / static_cast<double>(a.second);
  return std::max(a.end, Inv(a, n - a.second));
}
double Slope(const Arguments& a, int64_t n) {
  return n < a.first ? a.start : std::max(a.end, Line(a, n));
}
double ConstantThenLinearWarmup(const Arguments& a, int64_t n) {
  return n < a.first ? a.start : n < a.second ? Line(a, n) : 1;
}
double Cyclical(const Arguments& a, int64_t n) {
  const int64_t cycle = n / (2 * a.step_size);
  const double at = static_cast<double>(n) / static_cast<double>(a.step_size);
  const double height =
      std::max(0.0, 1 - std::abs(at - 2 * (1.0 + static_cast<double>(cycle)) + 1));
  return 1 + (std::abs(a.max_lr / a.base_lr) - 1) * height *
                 std::pow(a.decay, static_cast<double>(cycle));
}
// Cosine annealing with restarts (Loshchilov and Hutter 2016).
double Cosine(const Arguments& a, int64_t n) {
  const double at = static_cast<double>(n);
  double cycle, length, position;
  if (a.period_factor != 1) {
    cycle =
        std::floor(std::log(1 - at / a.period * (1 - a.period_factor)) / std::log(a.period_factor));
    const double growth = std::pow(a.period_factor, cycle);
    length = a.period * growth;
    position = at - (1 - growth) / (1 - a.period_factor) * a.period;
  } else {
    cycle = std::floor(at / a.period);
    length = a.period;
    position = at - a.period * cycle;
  }
  const double wave = 0.5 * (1 + std::cos(std::numbers::pi * position / length));
  return std::pow(a.decay, cycle) * (a.min_lr + (a.max_lr - a.min_lr) * wave);
}
double CompositeCyclical(const Arguments& a, int64_t n) {
  return n < a.second ? ConstantThenLinearWarmup(a, n) : Cyclical(a, n - a.second);
}
double CompositeCosine(const Arguments& a, int64_t n) {
  return n < a.second ? ConstantThenLinearWarmup(a, n) : Cosine(a, n - a.second);
}

// --- Reading the arguments of each policy ---
using Reader = void (*)(const PrefixedArguments& read, Arguments* a);

void ReadNothing(const PrefixedArguments&, Arguments*) {}
void ReadAlter(const PrefixedArguments& read, Arguments* a) {
  a->active_first = read(kActiveFirst);
  a->active_period = read(kActivePeriod);
  a->inactive_period = read(kInactivePeriod);
  // The sign of a divisor does not matter for the remainder.
  const double sum =
      static_cast<double>(a->active_period) + static_cast<double>(a->inactive_period);
  CAFFE_ENFORCE(sum != 0 && std::abs(sum) < 0x1p62, "active_period ", a->active_period,
                " and inactive_period ", a->inactive_period,
                " add up to 0 or to more than 2^62 iterations");
  a->both_periods = std::abs(a->active_period + a->inactive_period);
}
void RequireStep(const char* name, int64_t step) {
  CAFFE_ENFORCE(step != 0, "argument \"", name, "\" is 0, want a number of iterations");
}
void ReadStep(const PrefixedArguments& read, Arguments* a) {
  a->gamma = read(kGamma);
  a->step_size = read(kStepSize);
  RequireStep(kStepSize.name, a->step_size);
}
void ReadPower(const PrefixedArguments& read, Arguments* a) {
  a->gamma = read(kGamma);
  a->power = read(kPower);
  a->max_iter = read(kMaxIter);
}
void ReadLinearWarmup(const PrefixedArguments& read, Arguments* a) {
  a->second = read(kNumIter);
  a->start = read(kStartMultiplier);
  a->end = 1;
}
void ReadConstantWarmup(const PrefixedArguments& read, Arguments* a) {
  a->first = read(kNumIter);
  a->start = read(kMultiplier);
  a->end = 1;
}
void ReadGate(const PrefixedArguments& read, Arguments* a) {
  a->first = read(kNumIter);
  a->start = read(kGateMultiplier1);
  a->end = read(kGateMultiplier2);
}
void ReadPieceWarmup(const PrefixedArguments& read, Arguments* a) {
  a->start = read(kPieceM1);
  a->first = read(kPieceN1);
  a->middle = read(kPieceM2);
  a->second = read(kPieceN2);
  a->end = read(kPieceM3);
}
void ReadHill(const PrefixedArguments& read, Arguments* a) {
  ReadPower(read, a);
  ReadLinearWarmup(read, a);
  a->end = read(kEndMultiplier);
}
void ReadSlope(const PrefixedArguments& read, Arguments* a) {
  a->first = read(kSlopeIter1);
  a->second = read(kSlopeIter2);
  a->start = read(kSlopeMultiplier1);
  a->end = read(kSlopeMultiplier2);
}
void ReadCyclical(const PrefixedArguments& read, Arguments* a) {
  a->max_lr = read(kCyclicalMax);
  a->step_size = read(kStepSize);
  a->decay = read(kCyclicalDecay);
  RequireStep(kStepSize.name, a->step_size);
}
void ReadCosine(const PrefixedArguments& read, Arguments* a) {
  a->max_lr = read(kCosineMax);
  a->min_lr = read(kCosineMin);
  a->period = static_cast<double>(read(kCosinePeriod));
  a->period_factor = read(kCosinePeriodFactor);
  a->decay = read(kCosineShrink);
}
void ReadWarmup(const PrefixedArguments& read, Arguments* a) {
  a->start = read(kWarmupStart);
  a->end = 1;
  a->first = read(kWarmupConstant);
  a->second = CheckedAdd(a->first, read(kWarmupLinear));
}
void ReadCompositeCyclical(const PrefixedArguments& read, Arguments* a) {
  ReadWarmup(read, a);
  a->max_lr = read(kCompositeCyclicalMax);
  a->step_size = read(kCompositeCyclicalStep);
  a->decay = read(kCompositeCyclicalDecay);
  RequireStep(kCompositeCyclicalStep.name, a->step_size);
}
void ReadCompositeCosine(const PrefixedArguments& read, Arguments* a) {
  ReadWarmup(read, a);
  a->max_lr = read(kCompositeCosineMax);
  a->min_lr = read(kCompositeCosineMin);
  a->period = static_cast<double>(read(kCompositeCosinePeriod));
  a->period_factor = read(kCompositeCosinePeriodFactor);
  a->decay = read(kCompositeCosineShrink);
}

struct PolicyRow {
  const char* name;
  Reader read;
  Multiplier multiplier;
};
constexpr PolicyRow kPolicies[] = {
    {"fixed", ReadNothing, Fixed},
    {"alter", ReadAlter, Alter},
    {"step", ReadStep, Step},
    {"exp", ReadPower, Exp},
    {"inv", ReadPower, Inv},
    {"poly", ReadPower, Poly},
    {"linearWarmup", ReadLinearWarmup, LinearWarmup},
    {"constantWarmup", ReadConstantWarmup, TwoConstants},
    {"gate", ReadGate, TwoConstants},
    {"pieceWarmup", ReadPieceWarmup, PieceWarmup},
    {"hill", ReadHill, Hill},
    {"slope", ReadSlope, Slope},
    {"cyclical", ReadCyclical, Cyclical},
    {"cosine", ReadCosine, Cosine},
    {"constantThenLinearWarmup", ReadWarmup, ConstantThenLinearWarmup},
    {"compositeCyclical", ReadCompositeCyclical, CompositeCyclical},
    {"compositeCosine", ReadCompositeCosine, CompositeCosine},
};
constexpr char kComposite[] = "composite";

const PolicyRow& FindPolicy(const std::string& name) {
  std::string names = kComposite;
  for (const PolicyRow& row : kPolicies) {
    if (name == row.name) return row;
    names += MakeString(", ", row.name);
  }
  CAFFE_THROW("unknown learning rate policy \"", name, "\", want one of ", names);
}

}  // namespace

struct LearningRatePolicy::Part {
  int64_t last_iteration;
  double scale;
  Arguments arguments;
  Multiplier multiplier;
};

LearningRatePolicy::LearningRatePolicy(const ArgumentHelper& args) : base_lr_(args.Read(kBaseLr)) {
  constexpr int64_t kForever = std::numeric_limits<int64_t>::max();
  const auto add = [&](const std::string& prefix, const std::string& name, int64_t last,
                       double scale) {
    const PolicyRow& row = FindPolicy(name);
    Part part{last, scale, {.base_lr = base_lr_}, row.multiplier};
    row.read(PrefixedArguments(args, prefix), &part.arguments);
    parts_.push_back(part);
  };
  const std::string policy = args.Read(kPolicy);
  if (policy != kComposite) {
    add("", policy, kForever, 1);
    return;
  }
  const std::vector<int64_t> iterations = args.Read(kSubPolicyIterations);
  CAFFE_ENFORCE(!iterations.empty(), "argument \"", kSubPolicyIterations.name,
                "\" is missing or empty, want the iterations of each policy");
  int64_t last = 0;
  for (size_t i = 0; i < iterations.size(); ++i) {
    CAFFE_ENFORCE_GT(iterations[i], 0, "value ", i, " of argument \"", kSubPolicyIterations.name,
                     "\"");
    const std::string prefix = MakeString("sub_policy_", i, "_");
    const PrefixedArguments read(args, prefix);
    const std::string name = read(kPolicy);
    CAFFE_ENFORCE(name != kComposite, "argument \"", prefix, kPolicy.name, "\" is \"", kComposite,
                  "\", want a policy that is not composite");
    last = CheckedAdd(last, iterations[i]);
    // The last policy continues after its iterations.
    add(prefix, name, i + 1 < iterations.size() ? last : kForever, read(kSubPolicyScale));
  }
}

LearningRatePolicy::~LearningRatePolicy() = default;

float LearningRatePolicy::At(int64_t iteration) const {
  // Divisible by -1.
  iteration = std::max(iteration, -std::numeric_limits<int64_t>::max());
  const Part* part = parts_.data();
  while (iteration > part->last_iteration) ++part;
  return static_cast<float>(part->scale * part->multiplier(part->arguments, iteration) * base_lr_);
}

void DeclareLearningRateArguments(OpSchema& schema) {
  schema
      .Args(kBaseLr, kPolicy, kGamma, kPower, kStepSize, kMaxIter, kActiveFirst, kActivePeriod,
            kInactivePeriod, kNumIter, kStartMultiplier, kEndMultiplier, kMultiplier,
            kGateMultiplier1, kGateMultiplier2, kSlopeIter1, kSlopeIter2)
      .Args(kPieceM1, kPieceN1, kPieceM2, kPieceN2, kPieceM3, kCyclicalMax, kCyclicalDecay,
            kCosineMin, kCosinePeriod, kCosinePeriodFactor, kCosineShrink, kWarmupStart,
            kWarmupConstant, kWarmupLinear)
      .Args(kCompositeCyclicalMax, kCompositeCyclicalStep, kCompositeCyclicalDecay,
            kCompositeCosineMin, kCompositeCosineMax, kCompositeCosinePeriod,
            kCompositeCosinePeriodFactor, kCompositeCosineShrink)
      .Arg(kSubPolicyIterations)
      .AcceptsAnyArgument();
}

}  // namespace caffe2rt
