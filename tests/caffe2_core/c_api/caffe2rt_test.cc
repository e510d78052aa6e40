#include "caffe2_core/c_api/caffe2rt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/temp_dir.h"

namespace caffe2rt::test::caffe2rt_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StrEq;

constexpr const char kInit[] = R"(name: "init" op { type: "GivenTensorFill" output: "w"
    arg { name: "shape" ints: 3 } arg { name: "values" floats: 10 floats: 20 floats: 30 } })";
// y = x * w, and z is n as doubles.
constexpr const char kPredict[] = R"(name: "scale" external_input: "x" external_input: "n"
    external_input: "w" external_output: "y" external_output: "z"
    op { type: "Mul" input: "x" input: "w" output: "y" }
    op { type: "Cast" input: "n" output: "z" arg { name: "to" i: 13 } })";

caffe2rt_bytes BytesOf(const std::string& text) { return {text.data(), text.size()}; }

caffe2rt_status LoadText(const std::string& init, const std::string& predict,
                         caffe2rt_model** model) {
  const caffe2rt_bytes init_net = BytesOf(init), predict_net = BytesOf(predict);
  return caffe2rt_load_from_memory(&init_net, 1, &predict_net, nullptr, model);
}

// The model above, and inputs for it: x = {1, 2, 3}, n = {4, 5}.
class CApiTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(LoadText(kInit, kPredict, &model_), CAFFE2RT_OK) << caffe2rt_last_error();
  }
  void TearDown() override { caffe2rt_free_model(model_); }

  // Expects that running with `inputs` is a mistake of the caller with this message.
  void ExpectInvalid(const std::vector<caffe2rt_tensor>& inputs, const std::string& message) {
    auto* result = reinterpret_cast<caffe2rt_result*>(this);
    EXPECT_EQ(caffe2rt_run(model_, inputs.data(), inputs.size(), &result),
              CAFFE2RT_INVALID_ARGUMENT);
    EXPECT_THAT(caffe2rt_last_error(), HasSubstr(message));
    EXPECT_EQ(result, nullptr);
  }

  caffe2rt_model* model_ = nullptr;
  const int64_t three_ = 3, two_ = 2;
  const float x_values_[3] = {1, 2, 3};
  const int32_t n_values_[2] = {4, 5};
  const caffe2rt_tensor x_ = {"x", CAFFE2RT_FLOAT, 1, &three_, x_values_, sizeof(x_values_)};
  const caffe2rt_tensor n_ = {"n", CAFFE2RT_INT32, 1, &two_, n_values_, sizeof(n_values_)};
};

TEST_F(CApiTest, NamesInputsAndOutputs) {
  ASSERT_EQ(caffe2rt_num_inputs(model_), 2u);
  EXPECT_THAT(caffe2rt_input_name(model_, 0), StrEq("x"));
  EXPECT_THAT(caffe2rt_input_name(model_, 1), StrEq("n"));
  EXPECT_EQ(caffe2rt_input_name(model_, 2), nullptr);
  ASSERT_EQ(caffe2rt_num_outputs(model_), 2u);
  EXPECT_THAT(caffe2rt_output_name(model_, 0), StrEq("y"));
  EXPECT_THAT(caffe2rt_output_name(model_, 1), StrEq("z"));
  EXPECT_EQ(caffe2rt_output_name(model_, 2), nullptr);
  EXPECT_EQ(caffe2rt_num_warnings(model_), 0u);
  EXPECT_EQ(caffe2rt_warning(model_, 0), nullptr);
}

TEST_F(CApiTest, ReportsWhatRuns) {
  const char* json = nullptr;
  ASSERT_EQ(caffe2rt_report(model_, &json), CAFFE2RT_OK) << caffe2rt_last_error();
  EXPECT_THAT(json, AllOf(HasSubstr(R"("net": "scale")"), HasSubstr(R"("type": "Mul")"),
                          HasSubstr(R"("output": "z")"), HasSubstr(R"("device": "CPU")")));
  EXPECT_EQ(caffe2rt_report(nullptr, &json), CAFFE2RT_INVALID_ARGUMENT);
  EXPECT_EQ(json, nullptr);
  EXPECT_EQ(caffe2rt_report(model_, nullptr), CAFFE2RT_INVALID_ARGUMENT);
}

// The options of version 1 end before those that version 2 has added.
TEST_F(CApiTest, AcceptsOptionsOfVersion1AndShapesOfInputs) {
  const std::string init_net = kInit, predict_net = kPredict;
  const caffe2rt_bytes init = BytesOf(init_net), predict = BytesOf(predict_net);
  const auto load = [&](const caffe2rt_load_options& options) {
    caffe2rt_model* model = nullptr;
    const caffe2rt_status status = caffe2rt_load_from_memory(&init, 1, &predict, &options, &model);
    caffe2rt_free_model(model);
    return status;
  };
  caffe2rt_load_options options = CAFFE2RT_LOAD_OPTIONS_INIT;
  options.struct_size = offsetof(caffe2rt_load_options, deterministic);
  options.deterministic = -1;
  options.num_input_shapes = 7;  // not read
  EXPECT_EQ(load(options), CAFFE2RT_OK) << caffe2rt_last_error();
  options.struct_size = sizeof(options);
  EXPECT_EQ(load(options), CAFFE2RT_INVALID_ARGUMENT);
  EXPECT_THAT(caffe2rt_last_error(), HasSubstr("options->input_shapes is null, want 7 tensors"));
  caffe2rt_tensor shape = x_;
  shape.data = nullptr;
  options.input_shapes = &shape;
  options.num_input_shapes = 1;
  EXPECT_EQ(load(options), CAFFE2RT_OK) << caffe2rt_last_error();
  shape.name = nullptr;
  EXPECT_EQ(load(options), CAFFE2RT_INVALID_ARGUMENT);
  EXPECT_THAT(caffe2rt_last_error(), HasSubstr("options->input_shapes[0] has no name"));
}

// The options of version 3 end before precision.
TEST_F(CApiTest, LoadsWithAPrecision) {
  const std::string init_net = kInit, predict_net = kPredict;
  const caffe2rt_bytes init = BytesOf(init_net), predict = BytesOf(predict_net);
  caffe2rt_load_options options = CAFFE2RT_LOAD_OPTIONS_INIT;
  const auto load = [&](const char* precision, double min_snr) {
    options.precision = precision;
    options.min_snr = min_snr;
    caffe2rt_model* model = nullptr;
    const caffe2rt_status status = caffe2rt_load_from_memory(&init, 1, &predict, &options, &model);
    caffe2rt_free_model(model);
    return status;
  };
  for (const char* precision : {"f32", "bf16", "int8", "auto"}) {
    EXPECT_EQ(load(precision, 25), CAFFE2RT_OK) << caffe2rt_last_error();
  }
  EXPECT_EQ(load("int4", 0), CAFFE2RT_INVALID_ARGUMENT);
  EXPECT_THAT(caffe2rt_last_error(), HasSubstr("want f32, bf16, int8 or auto"));
  EXPECT_EQ(load("auto", -1), CAFFE2RT_INVALID_ARGUMENT);
  EXPECT_THAT(caffe2rt_last_error(), HasSubstr("min_snr is -1, want at least 0"));
  options.struct_size = offsetof(caffe2rt_load_options, precision);
  EXPECT_EQ(load("int4", -1), CAFFE2RT_OK) << caffe2rt_last_error();  // not read
}

TEST_F(CApiTest, RunsWithNamedInputsInAnyOrderAndWithInputsByPosition) {
  caffe2rt_tensor x = x_, n = n_;
  x.name = n.name = nullptr;
  for (const auto& inputs :
       {std::vector<caffe2rt_tensor>{n_, x_}, std::vector<caffe2rt_tensor>{x, n}}) {
    caffe2rt_result* result = nullptr;
    ASSERT_EQ(caffe2rt_run(model_, inputs.data(), 2, &result), CAFFE2RT_OK)
        << caffe2rt_last_error();
    ASSERT_EQ(caffe2rt_result_size(result), 2u);
    caffe2rt_tensor y, z;
    ASSERT_EQ(caffe2rt_result_tensor(result, 0, &y), CAFFE2RT_OK);
    EXPECT_THAT(y.name, StrEq("y"));
    EXPECT_EQ(y.type, CAFFE2RT_FLOAT);
    ASSERT_EQ(y.ndim, 1);
    EXPECT_EQ(y.dims[0], 3);
    ASSERT_EQ(y.bytes, 3 * sizeof(float));
    const auto* floats = static_cast<const float*>(y.data);
    EXPECT_THAT(std::vector<float>(floats, floats + 3), testing::ElementsAre(10, 40, 90));
    ASSERT_EQ(caffe2rt_result_tensor(result, 1, &z), CAFFE2RT_OK);
    EXPECT_EQ(z.type, CAFFE2RT_DOUBLE);
    ASSERT_EQ(z.bytes, 2 * sizeof(double));
    EXPECT_EQ(static_cast<const double*>(z.data)[1], 5.0);
    EXPECT_EQ(caffe2rt_result_tensor(result, 2, &z), CAFFE2RT_INVALID_ARGUMENT);
    caffe2rt_free_result(result);
  }
}

TEST_F(CApiTest, KeepsResultsWhenTheModelRunsAgainAndIsFreed) {
  const caffe2rt_tensor inputs[] = {x_, n_};
  caffe2rt_result *first = nullptr, *second = nullptr;
  ASSERT_EQ(caffe2rt_run(model_, inputs, 2, &first), CAFFE2RT_OK);
  const float ones[3] = {1, 1, 1};
  const caffe2rt_tensor others[] = {{"x", CAFFE2RT_FLOAT, 1, &three_, ones, sizeof(ones)}, n_};
  ASSERT_EQ(caffe2rt_run(model_, others, 2, &second), CAFFE2RT_OK);
  caffe2rt_free_model(model_);
  model_ = nullptr;
  caffe2rt_tensor y;
  ASSERT_EQ(caffe2rt_result_tensor(first, 0, &y), CAFFE2RT_OK);
  EXPECT_EQ(static_cast<const float*>(y.data)[2], 90);
  ASSERT_EQ(caffe2rt_result_tensor(second, 0, &y), CAFFE2RT_OK);
  EXPECT_EQ(static_cast<const float*>(y.data)[2], 30);
  caffe2rt_free_result(first);
  caffe2rt_free_result(second);
}

TEST_F(CApiTest, RejectsInputsThatDoNotFitTheModel) {
  caffe2rt_tensor other = x_;
  other.name = "xx";
  ExpectInvalid({other, n_}, "the model has no input \"xx\"");
  ExpectInvalid({x_}, "input \"n\" is not given");
  ExpectInvalid({x_, x_, n_}, "input \"x\" is given twice");
  other.name = nullptr;
  ExpectInvalid({x_, n_, other}, "input 2 has no name, and the model has 2 inputs");
}

TEST_F(CApiTest, RejectsTensorsWhoseFieldsContradictEachOther) {
  const auto expect = [&](auto change, const std::string& message) {
    caffe2rt_tensor x = x_;
    change(&x);
    ExpectInvalid({x, n_}, message);
  };
  const int64_t negative = -1, huge[] = {int64_t{1} << 40, int64_t{1} << 40};
  for (const int bytes : {0, 1, 8, 11, 13, 16, 24}) {
    expect([&](auto* x) { x->bytes = static_cast<size_t>(bytes); },
           "input \"x\" has " + std::to_string(bytes) + " bytes, want 12 for float [3]");
  }
  expect([](auto* x) { x->data = nullptr; }, "the data of input \"x\" is null");
  expect([](auto* x) { x->dims = nullptr; }, "the dims of input \"x\" are null");
  expect([](auto* x) { x->ndim = -1; }, "input \"x\" has -1 dimensions, want 0 to 64");
  expect([](auto* x) { x->ndim = 65; }, "input \"x\" has 65 dimensions, want 0 to 64");
  expect([&](auto* x) { x->dims = &negative; }, "input \"x\": ");
  expect([&](auto* x) { x->dims = huge, x->ndim = 2; }, "input \"x\": ");
  for (const int type : {-1, 0, 4, 11, 999}) {
    expect([&](auto* x) { x->type = type; }, "want a caffe2rt_type");
  }
}

TEST_F(CApiTest, ReportsAnOperatorThatFails) {
  const float values[2] = {1, 2};
  const caffe2rt_tensor inputs[] = {{"x", CAFFE2RT_FLOAT, 1, &two_, values, sizeof(values)}, n_};
  caffe2rt_result* result = nullptr;
  EXPECT_EQ(caffe2rt_run(model_, inputs, 2, &result), CAFFE2RT_FAILED);
  EXPECT_THAT(caffe2rt_last_error(), HasSubstr("net \"scale\""));
  EXPECT_EQ(result, nullptr);
}

TEST_F(CApiTest, RunsOnSeveralThreadsAndKeepsTheErrorsOfThreadsApart) {
  std::atomic<int> wrong = 0;
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int run = 0; run < 100; ++run) {
        const float values[3] = {static_cast<float>(t), static_cast<float>(run), 1};
        const caffe2rt_tensor inputs[] = {{"x", CAFFE2RT_FLOAT, 1, &three_, values, sizeof(values)},
                                          n_};
        caffe2rt_result* result = nullptr;
        caffe2rt_tensor y;
        if (caffe2rt_run(model_, inputs, 2, &result) != CAFFE2RT_OK ||
            caffe2rt_result_tensor(result, 0, &y) != CAFFE2RT_OK) {
          ++wrong;
        } else {
          const auto* floats = static_cast<const float*>(y.data);
          wrong += floats[0] != 10.f * values[0] || floats[1] != 20.f * values[1];
        }
        caffe2rt_free_result(result);
        // Each thread fails with a message of its own.
        const std::string name = "thread " + std::to_string(t);
        caffe2rt_tensor unknown = x_;
        unknown.name = name.c_str();
        wrong += caffe2rt_run(model_, &unknown, 1, &result) != CAFFE2RT_INVALID_ARGUMENT;
        wrong += std::string(caffe2rt_last_error()).find(name) == std::string::npos;
      }
    });
  }
  threads.clear();  // joins them
  EXPECT_EQ(wrong, 0);
}

TEST_F(CApiTest, RejectsNullPointers) {
  caffe2rt_result* result = nullptr;
  caffe2rt_tensor tensor;
  EXPECT_EQ(caffe2rt_run(nullptr, &x_, 1, &result), CAFFE2RT_INVALID_ARGUMENT);
  EXPECT_EQ(caffe2rt_run(model_, &x_, 1, nullptr), CAFFE2RT_INVALID_ARGUMENT);
  EXPECT_EQ(caffe2rt_run(model_, nullptr, 1, &result), CAFFE2RT_INVALID_ARGUMENT);
  EXPECT_EQ(caffe2rt_result_tensor(nullptr, 0, &tensor), CAFFE2RT_INVALID_ARGUMENT);
  caffe2rt_model* none = model_;
  EXPECT_EQ(caffe2rt_load(nullptr, &none), CAFFE2RT_INVALID_ARGUMENT);
  EXPECT_EQ(none, nullptr);
  EXPECT_EQ(caffe2rt_load(nullptr, nullptr), CAFFE2RT_INVALID_ARGUMENT);
  EXPECT_EQ(caffe2rt_load_module(nullptr), CAFFE2RT_INVALID_ARGUMENT);
  EXPECT_EQ(caffe2rt_num_inputs(nullptr), 0u);
  EXPECT_EQ(caffe2rt_input_name(nullptr, 0), nullptr);
  EXPECT_EQ(caffe2rt_num_outputs(nullptr), 0u);
  EXPECT_EQ(caffe2rt_output_name(nullptr, 0), nullptr);
  EXPECT_EQ(caffe2rt_num_warnings(nullptr), 0u);
  EXPECT_EQ(caffe2rt_warning(nullptr, 0), nullptr);
  EXPECT_EQ(caffe2rt_result_size(nullptr), 0u);
  caffe2rt_free_result(nullptr);
  caffe2rt_free_model(nullptr);
}

class CApiLoadTest : public testing::Test {
 protected:
  ~CApiLoadTest() override { caffe2rt_free_model(model_); }
  // Loads with the options and expects this code and a message that contains `message`.
  void ExpectError(caffe2rt_status status, const std::string& message) {
    EXPECT_EQ(caffe2rt_load(&options_, &model_), status);
    EXPECT_THAT(caffe2rt_last_error(), HasSubstr(message));
    EXPECT_EQ(model_, nullptr);
  }
  TempDir dir_;
  caffe2rt_load_options options_ = CAFFE2RT_LOAD_OPTIONS_INIT;
  caffe2rt_model* model_ = nullptr;
};

TEST_F(CApiLoadTest, ReportsOneLine) {
  options_.predict_net = "no\nsuch \x1b[31mfile";
  ExpectError(CAFFE2RT_FAILED, R"(no\x0asuch \x1b[31mfile)");
}

TEST_F(CApiLoadTest, LoadsFiles) {
  const std::string init = dir_.Write("init.pbtxt", kInit);
  const std::string predict = dir_.Write("predict.pbtxt", kPredict);
  const char* init_nets[] = {init.c_str()};
  options_.init_nets = init_nets;
  options_.num_init_nets = 1;
  options_.predict_net = predict.c_str();
  options_.device = "cpu";
  options_.no_optimization = 1;
  options_.max_concurrent_runs = 2;
  ASSERT_EQ(caffe2rt_load(&options_, &model_), CAFFE2RT_OK) << caffe2rt_last_error();
  EXPECT_EQ(caffe2rt_num_inputs(model_), 2u);
}

// Device type 6 (HIP) exists nowhere.
TEST_F(CApiLoadTest, FallsBackToTheCpuIfAllowed) {
  const std::string predict = dir_.Write("predict.pbtxt",
                                         R"(op { type: "Relu" input: "x" output: "y"
                                                 device_option { device_type: 6 } })");
  options_.predict_net = predict.c_str();
  ExpectError(CAFFE2RT_FAILED, "not available");
  options_.device_fallback = 1;
  EXPECT_EQ(caffe2rt_load(&options_, &model_), CAFFE2RT_OK) << caffe2rt_last_error();
  ASSERT_EQ(caffe2rt_num_warnings(model_), 1u);
  EXPECT_THAT(caffe2rt_warning(model_, 0), HasSubstr("is not available: it runs on the CPU"));
}

TEST_F(CApiLoadTest, ReportsWrongOptions) {
  ExpectError(CAFFE2RT_INVALID_ARGUMENT, "want either predict_net or predictor_db");
  options_.predict_net = "net.pb";
  options_.num_init_nets = 1;
  ExpectError(CAFFE2RT_INVALID_ARGUMENT, "options->init_nets is null");
  const char* init_nets[] = {nullptr};
  options_.init_nets = init_nets;
  ExpectError(CAFFE2RT_INVALID_ARGUMENT, "options->init_nets[0] is null");
  options_.num_init_nets = 0;
  options_.device = "abacus";
  ExpectError(CAFFE2RT_INVALID_ARGUMENT, "device \"abacus\" is not known");
  options_.device = "cuda:many";
  ExpectError(CAFFE2RT_INVALID_ARGUMENT, "device \"cuda:many\" does not end in a number");
  options_ = CAFFE2RT_LOAD_OPTIONS_INIT;
  options_.predict_net = "net.pb";
  options_.predictor_db = "model.minidb";
  ExpectError(CAFFE2RT_INVALID_ARGUMENT, "want either predict_net or predictor_db");
  options_ = CAFFE2RT_LOAD_OPTIONS_INIT;
  options_.struct_size = 4;
  ExpectError(CAFFE2RT_INVALID_ARGUMENT, "options->struct_size is 4, want ");
  options_.struct_size = sizeof(options_) + 8;
  ExpectError(CAFFE2RT_INVALID_ARGUMENT, "options->struct_size is ");
}

TEST_F(CApiLoadTest, AcceptsTheOptionsOfAnOlderHeader) {
  const std::string predict =
      dir_.Write("predict.pbtxt", R"(op { type: "Relu" input: "x" output: "y" })");
  options_.predict_net = predict.c_str();
  options_.struct_size = offsetof(caffe2rt_load_options, predictor_db);
  options_.predictor_db = "not read";
  EXPECT_EQ(caffe2rt_load(&options_, &model_), CAFFE2RT_OK) << caffe2rt_last_error();
}

TEST_F(CApiLoadTest, LoadsModelsOfCaffe) {
  const std::string net = dir_.Write("net.prototxt", R"(
      layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 dim: 2 } } }
      layer { name: "y" type: "InnerProduct" bottom: "x" top: "y"
              inner_product_param { num_output: 1 } }
      layer { name: "loss" type: "SoftmaxWithLoss" bottom: "y" bottom: "y" top: "loss" })");
  const std::string weights = dir_.Write("net.caffemodel", R"(
      layer { name: "y" blobs { shape { dim: 1 dim: 2 } data: 2 data: 3 }
              blobs { shape { dim: 1 } data: 0.5 } })");
  options_.predict_net = net.c_str();
  options_.weights = weights.c_str();
  ASSERT_EQ(caffe2rt_load(&options_, &model_), CAFFE2RT_OK) << caffe2rt_last_error();
  ASSERT_EQ(caffe2rt_num_inputs(model_), 1u);
  ASSERT_EQ(caffe2rt_num_warnings(model_), 1u);
  EXPECT_THAT(caffe2rt_warning(model_, 0), testing::HasSubstr("layer \"loss\""));
  const int64_t dims[] = {1, 2};
  const float x[] = {10, 100};
  const caffe2rt_tensor input = {"x", CAFFE2RT_FLOAT, 2, dims, x, sizeof(x)};
  caffe2rt_result* result = nullptr;
  ASSERT_EQ(caffe2rt_run(model_, &input, 1, &result), CAFFE2RT_OK) << caffe2rt_last_error();
  caffe2rt_tensor output;
  ASSERT_EQ(caffe2rt_result_tensor(result, 0, &output), CAFFE2RT_OK);
  EXPECT_EQ(*static_cast<const float*>(output.data), 320.5f);
  caffe2rt_free_result(result);
}

TEST_F(CApiLoadTest, ReportsFilesThatCannotBeRead) {
  options_.predict_net = "/no/such/net.pb";
  ExpectError(CAFFE2RT_FAILED, "/no/such/net.pb");
  const std::string text = dir_.Write("text.pb", "This is no net.");
  options_.predict_net = text.c_str();
  ExpectError(CAFFE2RT_FAILED, "text.pb");
}

TEST_F(CApiLoadTest, ReportsBadNetsInMemory) {
  EXPECT_EQ(LoadText("This is no net.", kPredict, &model_), CAFFE2RT_FAILED);
  EXPECT_THAT(caffe2rt_last_error(), HasSubstr("init net 0"));
  EXPECT_EQ(LoadText(kInit, R"(op { type: "NoSuchOperator" })", &model_), CAFFE2RT_FAILED);
  EXPECT_THAT(caffe2rt_last_error(), HasSubstr("NoSuchOperator"));
  const caffe2rt_bytes nothing = {nullptr, 5};
  EXPECT_EQ(caffe2rt_load_from_memory(nullptr, 0, &nothing, nullptr, &model_),
            CAFFE2RT_INVALID_ARGUMENT);
  EXPECT_EQ(caffe2rt_load_from_memory(nullptr, 1, &nothing, nullptr, &model_),
            CAFFE2RT_INVALID_ARGUMENT);
  EXPECT_EQ(caffe2rt_load_from_memory(nullptr, 0, nullptr, nullptr, &model_),
            CAFFE2RT_INVALID_ARGUMENT);
  options_.predict_net = "net.pb";
  const std::string predict = kPredict;
  const caffe2rt_bytes predict_net = BytesOf(predict);
  EXPECT_EQ(caffe2rt_load_from_memory(nullptr, 0, &predict_net, &options_, &model_),
            CAFFE2RT_INVALID_ARGUMENT);
}

TEST_F(CApiLoadTest, ReportsMemoryThatIsNotAvailable) {
  EXPECT_EQ(LoadText(R"(op { type: "ConstantFill" output: "w" arg { name: "shape"
                          ints: 1000000 ints: 1000000 ints: 1000 } })",
                     R"(op { type: "Relu" input: "w" output: "y" })", &model_),
            CAFFE2RT_OUT_OF_MEMORY)
      << caffe2rt_last_error();
}

TEST_F(CApiLoadTest, SeedDeterminesTheRandomNumbersOfEachCall) {
  const std::string net = R"(op { type: "UniformFill" output: "y" arg { name: "shape" ints: 3 } })";
  const auto numbers = [&](int32_t has_seed, uint64_t seed) {
    caffe2rt_load_options options = CAFFE2RT_LOAD_OPTIONS_INIT;
    options.has_seed = has_seed;
    options.seed = seed;
    const caffe2rt_bytes predict_net = BytesOf(net);
    EXPECT_EQ(caffe2rt_load_from_memory(nullptr, 0, &predict_net, &options, &model_), CAFFE2RT_OK)
        << caffe2rt_last_error();
    std::vector<std::vector<float>> runs;
    for (int run = 0; run < 2; ++run) {
      caffe2rt_result* result = nullptr;
      caffe2rt_tensor y = {};
      EXPECT_EQ(caffe2rt_run(model_, nullptr, 0, &result), CAFFE2RT_OK) << caffe2rt_last_error();
      EXPECT_EQ(caffe2rt_result_tensor(result, 0, &y), CAFFE2RT_OK);
      const auto* const values = static_cast<const float*>(y.data);
      runs.emplace_back(values, values + 3);
      caffe2rt_free_result(result);
    }
    caffe2rt_free_model(model_);
    model_ = nullptr;
    return runs;
  };
  const auto first = numbers(1, 1);
  EXPECT_NE(first[0], first[1]);
  EXPECT_EQ(numbers(1, 1), first);
  EXPECT_NE(numbers(1, 2), first);
  EXPECT_EQ(numbers(1, 0), numbers(1, 0)) << "0 is a seed";
  EXPECT_NE(numbers(1, 0), first);
  EXPECT_NE(numbers(0, 1), numbers(0, 1));
}

TEST_F(CApiLoadTest, CancelStopsTheRunsInProgress) {
  ASSERT_EQ(LoadText(kInit, R"(op { type: "CreateBlobsQueue" output: "q" }
                               op { type: "DequeueBlobs" input: "q" output: "y" })",
                     &model_),
            CAFFE2RT_OK)
      << caffe2rt_last_error();
  std::atomic<bool> ended{false};
  std::jthread caller([&] {
    caffe2rt_result* result = nullptr;
    EXPECT_EQ(caffe2rt_run(model_, nullptr, 0, &result), CAFFE2RT_CANCELLED);
    EXPECT_THAT(caffe2rt_last_error(), HasSubstr("the run was stopped"));
    EXPECT_EQ(result, nullptr);
    ended = true;
  });
  while (!ended) EXPECT_EQ(caffe2rt_cancel(model_), CAFFE2RT_OK);
  EXPECT_EQ(caffe2rt_cancel(nullptr), CAFFE2RT_INVALID_ARGUMENT);
}

TEST_F(CApiLoadTest, ADeadlineStopsARun) {
  ASSERT_EQ(LoadText(kInit, R"(op { type: "CreateBlobsQueue" output: "q" }
                               op { type: "DequeueBlobs" input: "q" output: "y" })",
                     &model_),
            CAFFE2RT_OK)
      << caffe2rt_last_error();
  caffe2rt_result* result = nullptr;
  EXPECT_EQ(caffe2rt_run_within(model_, 5, nullptr, 0, &result), CAFFE2RT_DEADLINE_EXCEEDED);
  EXPECT_THAT(caffe2rt_last_error(), HasSubstr("the time of the run, 5 ms, was over"));
  EXPECT_EQ(result, nullptr);
  EXPECT_EQ(caffe2rt_run_within(model_, 0, nullptr, 0, &result), CAFFE2RT_INVALID_ARGUMENT);
}

TEST(CApiProcessTest, HasAVersion) {
  EXPECT_THAT(caffe2rt_version(), testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
  EXPECT_EQ(caffe2rt_api_version(), CAFFE2RT_API_VERSION);
}

TEST(CApiProcessTest, ReportsAWrongNumberOfThreadsAndAModuleThatIsMissing) {
  EXPECT_EQ(caffe2rt_set_num_threads(0), CAFFE2RT_INVALID_ARGUMENT);
  EXPECT_EQ(caffe2rt_set_num_threads(1), CAFFE2RT_OK);
  EXPECT_EQ(caffe2rt_load_module("/no/such/module.so"), CAFFE2RT_FAILED);
  EXPECT_THAT(caffe2rt_last_error(), HasSubstr("/no/such/module.so"));
}

TEST(CApiProcessTest, HasNoErrorOnANewThread) {
  std::string text = "not called";
  std::jthread([&] { text = caffe2rt_last_error(); }).join();
  EXPECT_EQ(text, "");
}

}  // namespace
}  // namespace caffe2rt::test::caffe2rt_test
