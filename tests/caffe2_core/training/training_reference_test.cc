// Steps of whole trainings against the same computed here in doubles: a net of two layers, both
// losses, every optimizer, with and without decay, clipping and a policy of the rate.
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/workspace.h"
#include "caffe2_core/training/training_nets.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::training_reference_test {
namespace {

using Numbers = std::vector<double>;

constexpr size_t kBatch = 5, kInputs = 3, kUnits = 4, kOutputs = 2;

struct Batch {
  std::vector<float> data, target;
  std::vector<int32_t> labels = {};
};

Batch BatchOf(uint32_t step) {
  Batch batch{.data = RandomValues(kBatch * kInputs, -2, 2, 100 + step),
              .target = RandomValues(kBatch * kOutputs, -1, 1, 200 + step)};
  for (size_t i = 0; i < kBatch; ++i)
    batch.labels.push_back(static_cast<int32_t>((i * i + step) % kOutputs));
  return batch;
}

// The parameters by name, or what belongs to each of them.
using Values = std::map<std::string, Numbers>;

// The loss, and the gradients of all parameters.
double LossOf(const Values& p, const Batch& batch, bool softmax, Values* gradients) {
  for (const auto& [name, values] : p) (*gradients)[name] = Numbers(values.size());
  Values& g = *gradients;
  double loss = 0;
  for (size_t n = 0; n < kBatch; ++n) {
    const float* const x = &batch.data[n * kInputs];
    double h[kUnits], y[kOutputs], dy[kOutputs];
    for (size_t u = 0; u < kUnits; ++u) {
      double sum = p.at("b1")[u];
      for (size_t i = 0; i < kInputs; ++i) sum += p.at("w1")[u * kInputs + i] * double{x[i]};
      h[u] = 1 / (1 + std::exp(-sum));
    }
    double exps = 0;
    for (size_t k = 0; k < kOutputs; ++k) {
      y[k] = p.at("b2")[k];
      for (size_t u = 0; u < kUnits; ++u) y[k] += p.at("w2")[k * kUnits + u] * h[u];
      exps += std::exp(y[k]);
    }
    for (size_t k = 0; k < kOutputs; ++k) {
      if (softmax) {
        const bool right = batch.labels[n] == static_cast<int32_t>(k);
        if (right) loss -= (y[k] - std::log(exps)) / kBatch;
        dy[k] = (std::exp(y[k]) / exps - (right ? 1 : 0)) / kBatch;
      } else {
        const double distance = y[k] - double{batch.target[n * kOutputs + k]};
        loss += distance * distance / 2 / kBatch;
        dy[k] = distance / kBatch;
      }
      g["b2"][k] += dy[k];
      for (size_t u = 0; u < kUnits; ++u) g["w2"][k * kUnits + u] += dy[k] * h[u];
    }
    for (size_t u = 0; u < kUnits; ++u) {
      double dh = 0;
      for (size_t k = 0; k < kOutputs; ++k) dh += dy[k] * p.at("w2")[k * kUnits + u];
      const double da = dh * h[u] * (1 - h[u]);
      g["b1"][u] += da;
      for (size_t i = 0; i < kInputs; ++i) g["w1"][u * kInputs + i] += da * double{x[i]};
    }
  }
  return loss;
}

// How Caffe2 updates a number: `g` is its gradient, `m` and `v` its state, `t` the number of the
// step from 1.
double Updated(const std::string& rule, double p, double g, double rate, int t, double* m,
               double* v) {
  const double epsilon = 1e-5;
  if (rule == "momentum" || rule == "nesterov") {
    const double before = *m;
    *m = 0.9 * *m + rate * g;
    return p - (rule == "momentum" ? *m : 1.9 * *m - 0.9 * before);
  }
  if (rule == "adagrad") {
    *v += g * g;
    return p - rate * g / (std::sqrt(*v) + epsilon);
  }
  if (rule == "adadelta") {
    *v = 0.95 * *v + 0.05 * g * g;
    const double step = std::sqrt(*m + epsilon) / std::sqrt(*v + epsilon) * g;
    *m = 0.95 * *m + 0.05 * step * step;
    return p - rate * step;
  }
  if (rule == "adam") {
    *m = 0.9 * *m + 0.1 * g;
    *v = 0.999 * *v + 0.001 * g * g;
    // Caffe2's Adam counts the steps from 2.
    const double correction = std::sqrt(1 - std::pow(0.999, t + 1)) / (1 - std::pow(0.9, t + 1));
    return p - rate * correction * *m / (std::sqrt(*v) + epsilon);
  }
  if (rule == "rmsprop" || rule == "rmsprop with momentum") {
    *v = 0.9 * *v + 0.1 * g * g;
    *m = (rule == "rmsprop" ? 0 : 0.5) * *m + rate * g / std::sqrt(*v + epsilon);
    return p - *m;
  }
  return p - rate * g;  // sgd
}

struct Training {
  const char *rule, *optimizer;  // for Updated, and in text
  double decay = 0, clip = 0;
  bool halves = false;  // the rate, behind every two steps
};

TrainDef DefOf(const Training& training, bool softmax) {
  std::string text = R"(name: "net" input { blob: "data" blob: "label" } loss: "loss" output: "y"
      net { op { type: "FC" input: ["data", "w1", "b1"] output: "a" }
            op { type: "Sigmoid" input: "a" output: "h" }
            op { type: "FC" input: ["h", "w2", "b2"] output: "y" })";
  text += softmax ? R"(op { type: "SoftmaxWithLoss" input: ["y", "label"] output: ["p", "loss"] })"
                  : R"(op { type: "SquaredL2Distance" input: ["y", "label"] output: "d" }
                       op { type: "AveragedLoss" input: "d" output: "loss" })";
  text += R"(} param { name: "w1" dims: [4, 3] } param { name: "b1" dims: 4 }
               param { name: "w2" dims: [2, 4] } param { name: "b2" dims: 2 } optimizer { )";
  text += MakeString(training.optimizer, " weight_decay: ", training.decay,
                     " clip_norm: ", training.clip);
  if (training.halves)
    text +=
        " policy: 'step' policy_arg { name: 'stepsize' i: 2 } "
        "policy_arg { name: 'gamma' f: 0.5 }";
  TrainDef def;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text + " }", &def)) << text;
  return def;
}

// Trains for some steps both ways, and compares each loss and each parameter.
void ExpectSame(const Training& training, double rate, bool softmax) {
  const TrainingNets nets = MakeTrainingNets(DefOf(training, softmax));
  Workspace ws;
  ws.RunNetOnce(nets.init);
  const std::map<std::string, std::vector<int64_t>> shapes = {
      {"w1", {4, 3}}, {"b1", {4}}, {"w2", {2, 4}}, {"b2", {2}}};
  Values p, m, v;
  for (const auto& [name, dims] : shapes) {
    int64_t count = 1;
    for (const int64_t dim : dims) count *= dim;
    const std::vector<float> first = RandomValues(count, -1, 1, static_cast<uint32_t>(count));
    Feed<float>(&ws, name, dims, first);
    p[name].assign(first.begin(), first.end());
    m[name] = v[name] = Numbers(first.size());
  }
  NetBase* net = nullptr;
  for (int t = 1; t <= 6; ++t) {
    SCOPED_TRACE(MakeString("step ", t));
    const Batch batch = BatchOf(static_cast<uint32_t>(t));
    Feed<float>(&ws, "data", {kBatch, kInputs}, batch.data);
    if (softmax) {
      Feed<int32_t>(&ws, "label", {kBatch}, batch.labels);
    } else {
      Feed<float>(&ws, "label", {kBatch, kOutputs}, batch.target);
    }
    if (net == nullptr) net = ws.CreateNet(nets.train);
    ASSERT_TRUE(net->Run());
    Values g;
    const double loss = LossOf(p, batch, softmax, &g);
    EXPECT_NEAR(ws.GetBlob("loss")->Get<Tensor>().data<float>()[0], loss, 1e-5);
    double squares = 0;
    for (auto& [name, values] : g) {
      for (size_t i = 0; i < values.size(); ++i) {
        if (shapes.at(name).size() == 2) values[i] += training.decay * p[name][i];
        squares += values[i] * values[i];
      }
    }
    const double norm = std::sqrt(squares);
    const double scale = training.clip > 0 && norm > training.clip ? training.clip / norm : 1;
    const double now = training.halves ? rate * std::pow(0.5, t / 2) : rate;
    for (auto& [name, values] : p) {
      for (size_t i = 0; i < values.size(); ++i)
        values[i] =
            Updated(training.rule, values[i], g[name][i] * scale, now, t, &m[name][i], &v[name][i]);
      const Tensor& got = ws.GetBlob(name)->Get<Tensor>();
      for (size_t i = 0; i < values.size(); ++i)
        EXPECT_NEAR(got.data<float>()[i], values[i], 1e-4) << name << "[" << i << "]";
    }
  }
}

TEST(TrainingReferenceTest, StepsOfEveryOptimizerAreThoseOfDoubles) {
  const std::pair<const char*, const char*> optimizers[] = {
      {"sgd", "type: 'sgd'"},
      {"momentum", "momentum: 0.9"},
      {"nesterov", "momentum: 0.9 nesterov: true"},
      {"adagrad", "type: 'adagrad'"},
      {"adadelta", "type: 'adadelta'"},
      {"adam", "type: 'adam'"},
      {"rmsprop", "type: 'rmsprop'"},
      {"rmsprop with momentum", "type: 'rmsprop' momentum: 0.5"}};
  for (const auto& [rule, optimizer] : optimizers) {
    for (const bool softmax : {false, true}) {
      for (int options = 0; options < 8; ++options) {
        const std::string text = MakeString(optimizer, " rate: 0.125");
        const Training training{.rule = rule,
                                .optimizer = text.c_str(),
                                .decay = (options & 1) != 0 ? 0.25 : 0,
                                .clip = (options & 2) != 0 ? 0.125 : 0,
                                .halves = (options & 4) != 0};
        SCOPED_TRACE(
            MakeString(rule, softmax ? ", softmax, options " : ", squared, options ", options));
        ExpectSame(training, 0.125, softmax);
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
}

// Rows of a table, some of them read twice in a step: each reading is an update of its own.
void ExpectSameRows(const std::string& rule, const std::string& optimizer) {
  constexpr int64_t kRows = 5, kWidth = 3, kReads = 4;
  TrainDef def;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
      R"(name: "table" input { blob: "data" blob: "label" } loss: "loss" output: "rows"
         net { op { type: "Gather" input: ["table", "data"] output: "rows" }
               op { type: "SquaredL2Distance" input: ["rows", "label"] output: "d" }
               op { type: "AveragedLoss" input: "d" output: "loss" } }
         param { name: "table" dims: [5, 3] decays: false } optimizer { rate: 0.25 )" +
          optimizer + " }",
      &def));
  const TrainingNets nets = MakeTrainingNets(def);
  Workspace ws;
  ws.RunNetOnce(nets.init);
  const std::vector<float> first = RandomValues(kRows * kWidth, -1, 1, 7);
  Feed<float>(&ws, "table", {kRows, kWidth}, first);
  Numbers table(first.begin(), first.end()), m(table.size()), v(table.size());
  const std::vector<int64_t> reads[] = {{0, 3, 1, 4}, {2, 2, 0, 2}, {4, 0, 4, 1}, {1, 1, 1, 1}};
  NetBase* net = nullptr;
  int t = 0;
  for (const std::vector<int64_t>& indices : reads) {
    SCOPED_TRACE(MakeString("step ", ++t));
    const std::vector<float> target =
        RandomValues(kReads * kWidth, -1, 1, static_cast<uint32_t>(20 + t));
    Feed<int64_t>(&ws, "data", {kReads}, indices);
    Feed<float>(&ws, "label", {kReads, kWidth}, target);
    if (net == nullptr) net = ws.CreateNet(nets.train);
    ASSERT_TRUE(net->Run());
    const Numbers before = table;
    for (size_t i = 0; i < target.size(); ++i) {
      const size_t at = static_cast<size_t>(indices[i / kWidth]) * kWidth + i % kWidth;
      const double gradient = (before[at] - double{target[i]}) / kReads;
      table[at] = Updated(rule, table[at], gradient, 0.25, t, &m[at], &v[at]);
    }
    const Tensor& got = ws.GetBlob("table")->Get<Tensor>();
    for (size_t i = 0; i < table.size(); ++i)
      EXPECT_NEAR(got.data<float>()[i], table[i], 1e-4) << "element " << i;
  }
}

TEST(TrainingReferenceTest, RowsOfTablesAreUpdatedOneAfterTheOther) {
  const std::pair<const char*, const char*> optimizers[] = {
      {"sgd", ""},
      {"momentum", "momentum: 0.9"},
      {"nesterov", "momentum: 0.9 nesterov: true"},
      {"adagrad", "type: 'adagrad'"},
      {"adam", "type: 'adam'"}};
  for (const auto& [rule, optimizer] : optimizers) {
    SCOPED_TRACE(rule);
    ExpectSameRows(rule, optimizer);
  }
}

}  // namespace
}  // namespace caffe2rt::test::training_reference_test
