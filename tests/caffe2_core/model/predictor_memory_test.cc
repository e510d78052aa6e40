// Predictors release weights that the operators do not read any more, and restore them for readers.
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "caffe2_core/graph/shape_inference.h"
#include "caffe2_core/model/predictor.h"
#include "caffe2_core/runtime/net.h"
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

}  // namespace
}  // namespace caffe2rt::test::predictor_memory_test
