// Predictors release weights that the operators do not read any more, and restore them for readers.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "caffe2_core/graph/passes/conv_layouts.h"
#include "caffe2_core/graph/shape_inference.h"
#include "caffe2_core/model/predictor.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "tests/caffe2_core/model/predictor_nets.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::predictor_memory_test {
namespace {

// Y = X W^T + b with 200 x 300 weights, of which the forms for several rows are panels.
constexpr char kFcInit[] = R"(
  op { type: "UniformFill" output: "w" arg { name: "shape" ints: 200 ints: 300 }
       device_option { random_seed: 7 } }
  op { type: "UniformFill" output: "b" arg { name: "shape" ints: 200 }
       device_option { random_seed: 8 } })";
constexpr char kFcNet[] = R"(name: "fc"
  op { type: "FC" input: "x" input: "w" input: "b" output: "y" }
  external_input: "x" external_input: "w" external_input: "b" external_output: "y")";

// What the init net fills `name` with.
std::vector<float> Filled(const char* init, const std::string& name) {
  Workspace ws;
  ws.RunNetOnce(ParseNet(init));
  return Values(ws.GetBlob(name)->Get<Tensor>());
}

Tensor Rows(int64_t rows) {
  Tensor x(std::vector<int64_t>{rows, 300}, CPU);
  float* const values = x.mutable_data<float>();
  for (int64_t i = 0; i < x.numel(); ++i) values[i] = static_cast<float>(i % 17) - 8;
  return x;
}

std::vector<float> Answer(Predictor* predictor, const Tensor& x) {
  std::vector<Tensor> outputs;
  EXPECT_TRUE((*predictor)({x}, &outputs));
  return Values(outputs.at(0));
}

const Tensor& WeightOf(Predictor* predictor) {
  return predictor->ws()->GetBlob("w")->Get<Tensor>();
}

struct Case {
  const char* name;
  int64_t first_rows;  // of the first call
  bool release, shape_known, asks_for_workspace;
  bool before, behind;  // whether the weight is released before and behind the first call
};

TEST(PredictorMemoryTest, ReleasesWeightsThatOnlyFormsAreReadOf) {
  const std::vector<float> weight = Filled(kFcInit, "w");
  Predictor plain(ParseNet(kFcInit), ParseNet(kFcNet), nullptr,
                  PredictorOptions{.release_weights = false});
  const Case cases[] = {
      {"behind the first call", 64, true, false, false, false, true},
      {"in the constructor", 64, true, true, false, true, true},
      {"by option not", 64, false, true, false, false, false},
      {"one row reads the weight itself", 1, true, false, false, false, false},
      {"the caller may have a pointer", 64, true, false, true, false, false},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    PredictorOptions options{.release_weights = c.release};
    if (c.shape_known)
      options.input_shapes["x"] =
          CreateTensorShape(std::vector<int64_t>{c.first_rows, 300}, TensorProto::FLOAT);
    Predictor predictor(ParseNet(kFcInit), ParseNet(kFcNet), nullptr, options);
    if (c.asks_for_workspace) {
      EXPECT_FALSE(WeightOf(&predictor).storage()->released());
    }
    const Tensor first = Rows(c.first_rows);
    const std::vector<float> got = Answer(&predictor, first);
    EXPECT_EQ(got, Answer(&plain, first));
    const Tensor& held = WeightOf(&predictor);
    EXPECT_EQ(held.storage()->released(), c.behind);
    EXPECT_EQ(Answer(&predictor, first), got) << "again, from the forms";
    EXPECT_EQ(held.storage()->released(), c.behind);
    EXPECT_EQ(Values(held), weight) << "to the same bytes";
    EXPECT_EQ(Answer(&predictor, Rows(1)), Answer(&plain, Rows(1)));
    EXPECT_EQ(Answer(&predictor, first), got);
  }
}

TEST(PredictorMemoryTest, OtherShapesRestoreTheWeightInAnyThread) {
  Predictor predictor(ParseNet(kFcInit), ParseNet(kFcNet));
  const std::vector<float> one = Answer(&predictor, Rows(1));
  Predictor second(ParseNet(kFcInit), ParseNet(kFcNet));
  const std::vector<float> many = Answer(&second, Rows(64));
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&second, &one, &many, i] {
      Predictor own = second;
      for (int run = 0; run < 3; ++run) {
        EXPECT_EQ(Answer(&own, Rows(i % 2 == 0 ? 1 : 64)), i % 2 == 0 ? one : many);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(WeightOf(&second).storage()->released()) << "operators that read it keep it";
}

TEST(PredictorMemoryTest, WeightsOfAParentStay) {
  Workspace parent;
  parent.RunNetOnce(ParseNet(kFcInit));
  Predictor predictor(NetDef(), ParseNet(kFcNet), &parent, PredictorOptions{.run_init = false});
  const Tensor& weight = parent.GetBlob("w")->Get<Tensor>();
  (void)Answer(&predictor, Rows(64));
  EXPECT_FALSE(weight.storage()->released());
}

// Two convolutions with one filter, which is released if the net has it in bytes.
constexpr char kConvInit[] = R"(
  op { type: "UniformFill" output: "w" arg { name: "shape" ints: [64, 64, 3, 3] }
       arg { name: "min" f: -0.05 } arg { name: "max" f: 0.05 } device_option { random_seed: 7 } })";
constexpr char kConvNet[] = R"(name: "conv"
  op { type: "Conv" input: "x" input: "w" output: "t" arg { name: "kernel" i: 3 }
       arg { name: "input_min" f: -1 } arg { name: "input_max" f: 1 } }
  op { type: "Conv" input: "t" input: "w" output: "y" arg { name: "kernel" i: 3 }
       arg { name: "input_min" f: -4 } arg { name: "input_max" f: 4 } }
  external_input: "x" external_input: "w" external_output: "y")";

// Gives the weights of another owner.
class PredictorTestSharedOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;
  bool RunOnDevice() override {
    *Output(0) = *weight;
    return true;
  }
  static inline const Tensor* weight = nullptr;
};
REGISTER_CPU_OPERATOR(PredictorTestShared, PredictorTestSharedOp);
OPERATOR_SCHEMA(PredictorTestShared).NumInputs(0).NumOutputs(1);

Tensor Image(int64_t height, int64_t width) {
  Tensor x(std::vector<int64_t>{1, 64, height, width}, CPU);
  for (int64_t i = 0; i < x.numel(); ++i) {
    x.mutable_data<float>()[i] = static_cast<float>(i * 37 % 201) / 100 - 1;
  }
  return x;
}

// For a net in bytes.
PredictorOptions InBytes() {
  PredictorOptions options{.precision = Precision::kInt8};
  const std::vector<int64_t> dims = {1, 64, 28, 28};
  options.input_shapes["x"] = CreateTensorShape(dims, TensorProto::FLOAT);
  return options;
}

TEST(PredictorMemoryTest, OtherSizesOfImagesHaveTheSameResultsInBytes) {
  if (!WhyNoInt8Convs().empty()) GTEST_SKIP() << WhyNoInt8Convs();
  for (const bool deterministic : {false, true}) {
    PredictorOptions options = InBytes();
    options.deterministic = deterministic;
    options.release_weights = false;
    Predictor exact(ParseNet(kConvInit), ParseNet(kConvNet), nullptr, options);
    options.release_weights = true;
    Predictor releasing(ParseNet(kConvInit), ParseNet(kConvNet), nullptr, options);
    std::vector<std::pair<int, int>> sizes = {{28, 28}, {14, 14}, {6, 64}, {100, 7}};
    // With AVX2, the smallest image takes less time in float, which reads the filter that is restored.
    if (MultipliesWholeBytes()) sizes.emplace_back(5, 5);
    for (const auto& [height, width] : sizes) {
      const Tensor x = Image(height, width);
      EXPECT_EQ(Answer(&releasing, x) == Answer(&exact, x), true) << height << " x " << width;
    }
  }
}

TEST(PredictorMemoryTest, KeepsFiltersExactThatOthersReadWhereBytesSuffice) {
  if (!WhyNoInt8Convs().empty()) GTEST_SKIP() << WhyNoInt8Convs();
  const std::vector<float> weight = Filled(kConvInit, "w");
  Tensor owned(std::vector<int64_t>{64, 64, 3, 3}, CPU);
  std::copy(weight.begin(), weight.end(), owned.mutable_data<float>());
  owned.MarkReadOnly();
  PredictorTestSharedOp::weight = &owned;
  struct Case {
    const char *name, *init;
    std::set<std::string> kept;
    bool exact;
  };
  const Tensor x = Image(28, 28);
  for (const Case& c :
       {Case{"its own", kConvInit, {}, false}, Case{"read by the caller", kConvInit, {"w"}, true},
        Case{"of another", R"(op { type: "PredictorTestShared" output: "w" })", {}, true}}) {
    SCOPED_TRACE(c.name);
    PredictorOptions options = InBytes();
    options.kept_blobs = c.kept;
    Predictor predictor(ParseNet(c.init), ParseNet(kConvNet), nullptr, options);
    (void)Answer(&predictor, x);
    const Tensor& held = WeightOf(&predictor);
    EXPECT_EQ(held.storage()->released(), !c.exact);
    EXPECT_EQ(Values(held) == weight, c.exact);
  }
}

}  // namespace
}  // namespace caffe2rt::test::predictor_memory_test
