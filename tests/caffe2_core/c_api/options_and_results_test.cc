// Options, element types and results of the C interface: each field has its effect, and errors
// leave nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "caffe2_core/c_api/caffe2rt.h"

namespace caffe2rt::test::options_and_results_test {
namespace {

using testing::HasSubstr;
using testing::StrEq;

constexpr char kCopy[] = R"(name: "n" external_input: "x" external_output: "y"
    op { type: "Copy" input: "x" output: "y" })";

caffe2rt_status Load(const std::string& net, caffe2rt_model** model,
                     const caffe2rt_load_options* options = nullptr) {
  const caffe2rt_bytes bytes = {net.data(), net.size()};
  return caffe2rt_load_from_memory(nullptr, 0, &bytes, options, model);
}

TEST(CApiResultsTest, KeepEveryElementType) {
  caffe2rt_model* model = nullptr;
  ASSERT_EQ(Load(kCopy, &model), CAFFE2RT_OK) << caffe2rt_last_error();
  const std::pair<int32_t, size_t> types[] = {
      {CAFFE2RT_FLOAT, 4},   {CAFFE2RT_INT32, 4},  {CAFFE2RT_BOOL, 1},   {CAFFE2RT_UINT8, 1},
      {CAFFE2RT_INT8, 1},    {CAFFE2RT_UINT16, 2}, {CAFFE2RT_INT16, 2},  {CAFFE2RT_INT64, 8},
      {CAFFE2RT_FLOAT16, 2}, {CAFFE2RT_DOUBLE, 8}, {CAFFE2RT_UINT32, 4}, {CAFFE2RT_UINT64, 8},
      {CAFFE2RT_BFLOAT16, 2}};
  const int64_t dims[] = {1, 2};
  for (const auto& [type, size] : types) {
    SCOPED_TRACE(type);
    std::vector<unsigned char> bytes(2 * size, 0);
    bytes[0] = 1;
    const caffe2rt_tensor x = {"x", type, 2, dims, bytes.data(), bytes.size()};
    caffe2rt_result* result = nullptr;
    ASSERT_EQ(caffe2rt_run(model, &x, 1, &result), CAFFE2RT_OK) << caffe2rt_last_error();
    caffe2rt_tensor y = {};
    ASSERT_EQ(caffe2rt_result_tensor(result, 0, &y), CAFFE2RT_OK);
    EXPECT_EQ(y.type, type);
    ASSERT_EQ(y.ndim, 2);
    EXPECT_EQ(y.dims[1], 2);
    ASSERT_EQ(y.bytes, 2 * size);
    EXPECT_EQ(std::memcmp(y.data, bytes.data(), y.bytes), 0);
    caffe2rt_free_result(result);
    caffe2rt_tensor wrong = x;
    ++wrong.bytes;
    EXPECT_EQ(caffe2rt_run(model, &wrong, 1, &result), CAFFE2RT_INVALID_ARGUMENT);
    EXPECT_THAT(caffe2rt_last_error(),
                HasSubstr("has " + std::to_string(2 * size + 1) + " bytes, want " +
                          std::to_string(2 * size) + " for "));
  }
  // A scalar has no dims, and an empty tensor no data.
  const float one = 1;
  const int64_t none = 0;
  const caffe2rt_tensor scalar = {"x", CAFFE2RT_FLOAT, 0, nullptr, &one, 4},
                        empty = {"x", CAFFE2RT_FLOAT, 1, &none, nullptr, 0};
  for (const caffe2rt_tensor& x : {scalar, empty}) {
    caffe2rt_result* result = nullptr;
    ASSERT_EQ(caffe2rt_run(model, &x, 1, &result), CAFFE2RT_OK) << caffe2rt_last_error();
    caffe2rt_tensor y = {};
    ASSERT_EQ(caffe2rt_result_tensor(result, 0, &y), CAFFE2RT_OK) << caffe2rt_last_error();
    EXPECT_EQ(y.ndim, x.ndim);
    EXPECT_EQ(y.bytes, x.bytes);
    EXPECT_EQ(y.data == nullptr, x.bytes == 0);
    caffe2rt_free_result(result);
  }
  caffe2rt_free_model(model);
}

TEST(CApiResultsTest, TextsAreNoResults) {
  caffe2rt_model* model = nullptr;
  ASSERT_EQ(Load(R"(name: "n" external_output: "y" op { type: "GivenTensorStringFill" output: "y"
                    arg { name: "shape" ints: 1 } arg { name: "values" strings: "a" } })",
                 &model),
            CAFFE2RT_OK)
      << caffe2rt_last_error();
  caffe2rt_result* result = nullptr;
  ASSERT_EQ(caffe2rt_run(model, nullptr, 0, &result), CAFFE2RT_OK) << caffe2rt_last_error();
  EXPECT_EQ(caffe2rt_result_size(result), 1u);
  caffe2rt_tensor y = {};
  EXPECT_EQ(caffe2rt_result_tensor(result, 0, &y), CAFFE2RT_FAILED);
  EXPECT_THAT(caffe2rt_last_error(), HasSubstr("output \"y\" has elements of type "));
  EXPECT_THAT(caffe2rt_last_error(), HasSubstr(", want numbers"));
  caffe2rt_free_result(result);
  caffe2rt_free_model(model);
}

TEST(CApiOptionsTest, HaveTheirEffects) {
  caffe2rt_load_options options = CAFFE2RT_LOAD_OPTIONS_INIT;
  const auto report = [&] {
    caffe2rt_model* model = nullptr;
    EXPECT_EQ(Load(kCopy, &model, &options), CAFFE2RT_OK) << caffe2rt_last_error();
    const char* json = nullptr;
    EXPECT_EQ(caffe2rt_report(model, &json), CAFFE2RT_OK);
    const std::string text = json != nullptr ? json : "";
    caffe2rt_free_model(model);
    return text;
  };
  EXPECT_THAT(report(), HasSubstr("\"deterministic\": false"));
  options.deterministic = 1;
  EXPECT_THAT(report(), HasSubstr("\"deterministic\": true"));
  for (const int32_t on : {-1, 2, INT32_MIN}) {
    options.deterministic = on;
    EXPECT_THAT(report(), HasSubstr("\"deterministic\": true")) << on;
  }
  for (const int32_t runs : {-1, 1025}) {
    options.max_concurrent_runs = runs;
    caffe2rt_model* model = nullptr;
    EXPECT_EQ(Load(kCopy, &model, &options), CAFFE2RT_FAILED);
    EXPECT_EQ(model, nullptr);
    EXPECT_THAT(caffe2rt_last_error(), HasSubstr("want 1 to 1024"));
  }
  options.max_concurrent_runs = 1024;
  (void)report();
  options.max_concurrent_runs = 0;
  options.precision = "fp16";
  caffe2rt_model* model = nullptr;
  EXPECT_EQ(Load(kCopy, &model, &options), CAFFE2RT_INVALID_ARGUMENT);
  EXPECT_THAT(caffe2rt_last_error(), StrEq("precision is \"fp16\", want f32, bf16, int8 or auto"));
  options.precision = nullptr;
  for (const size_t size : {sizeof(size_t) - 1, sizeof(options) + 1}) {
    options.struct_size = size;
    EXPECT_EQ(Load(kCopy, &model, &options), CAFFE2RT_INVALID_ARGUMENT);
    EXPECT_THAT(
        caffe2rt_last_error(),
        StrEq("options->struct_size is " + std::to_string(size) + ", want " +
              std::to_string(sizeof(options)) +
              ": set it with CAFFE2RT_LOAD_OPTIONS_INIT, and use a library as new as the header"));
  }
  options.struct_size = sizeof(size_t);  // only the size itself
  EXPECT_EQ(Load(kCopy, &model, &options), CAFFE2RT_OK) << caffe2rt_last_error();
  caffe2rt_free_model(model);
}

TEST(CApiOptionsTest, NamesInputsThatAreAlmostRight) {
  caffe2rt_model* model = nullptr;
  ASSERT_EQ(Load(R"(external_input: "data" op { type: "Relu" input: "data" output: "y" })", &model),
            CAFFE2RT_OK);
  const int64_t one = 1;
  const float value = 2;
  const caffe2rt_tensor x = {"dta", CAFFE2RT_FLOAT, 1, &one, &value, 4};
  caffe2rt_result* result = nullptr;
  EXPECT_EQ(caffe2rt_run(model, &x, 1, &result), CAFFE2RT_INVALID_ARGUMENT);
  EXPECT_THAT(caffe2rt_last_error(), StrEq("the model has no input \"dta\"; did you mean data?"));
  caffe2rt_free_model(model);
}

// Whatever was there before the call.
TEST(CApiResultsTest, AnErrorStoresNothing) {
  caffe2rt_model* model = nullptr;
  ASSERT_EQ(Load(kCopy, &model), CAFFE2RT_OK);
  const int64_t one = 1;
  const float value = 1;
  const caffe2rt_tensor x = {"x", CAFFE2RT_FLOAT, 1, &one, &value, 4};
  int something = 0;
  const std::string wrong = "op {";
  const caffe2rt_bytes bytes = {wrong.data(), wrong.size()};
  caffe2rt_load_options options = CAFFE2RT_LOAD_OPTIONS_INIT;
  const auto before = [&] { return reinterpret_cast<caffe2rt_model*>(&something); };
  const auto none = [&] { return reinterpret_cast<caffe2rt_result*>(&something); };
  caffe2rt_model* stored = before();
  EXPECT_EQ(caffe2rt_load(&options, &stored), CAFFE2RT_INVALID_ARGUMENT);
  EXPECT_EQ(stored, nullptr);
  options.predict_net = "/no/such/net.pb";
  stored = before();
  EXPECT_EQ(caffe2rt_load(&options, &stored), CAFFE2RT_FAILED);
  EXPECT_EQ(stored, nullptr);
  stored = before();
  EXPECT_EQ(caffe2rt_load_from_memory(nullptr, 0, &bytes, nullptr, &stored), CAFFE2RT_FAILED);
  EXPECT_EQ(stored, nullptr);
  stored = before();
  EXPECT_EQ(caffe2rt_load_caffe_from_memory(&bytes, nullptr, nullptr, &stored), CAFFE2RT_FAILED);
  EXPECT_EQ(stored, nullptr);
  for (const size_t inputs : {size_t{0}, size_t{2}}) {
    const caffe2rt_tensor twice[] = {x, x};
    caffe2rt_result* result = none();
    EXPECT_EQ(caffe2rt_run(model, twice, inputs, &result), CAFFE2RT_INVALID_ARGUMENT);
    EXPECT_EQ(result, nullptr);
    const std::string error =
        inputs == 0 ? "input \"x\" is not given" : "input \"x\" is given twice";
    EXPECT_THAT(caffe2rt_last_error(), StrEq(error));
    result = none();
    EXPECT_EQ(caffe2rt_run_within(model, 1000, twice, inputs, &result), CAFFE2RT_INVALID_ARGUMENT);
    EXPECT_EQ(result, nullptr);
    EXPECT_THAT(caffe2rt_last_error(), StrEq(error));
  }
  for (const int64_t limit : {int64_t{0}, int64_t{-1}, INT64_MIN}) {
    caffe2rt_result* result = none();
    EXPECT_EQ(caffe2rt_run_within(model, limit, &x, 1, &result), CAFFE2RT_INVALID_ARGUMENT);
    EXPECT_EQ(result, nullptr);
    EXPECT_THAT(caffe2rt_last_error(),
                StrEq("limit_ms is " + std::to_string(limit) + ", want at least 1"));
  }
  const char* json = "before";
  EXPECT_EQ(caffe2rt_report(nullptr, &json), CAFFE2RT_INVALID_ARGUMENT);
  EXPECT_EQ(json, nullptr);
  // A success keeps the message of the last error.
  caffe2rt_result* result = nullptr;
  EXPECT_EQ(caffe2rt_run(model, &x, 1, &result), CAFFE2RT_OK);
  EXPECT_THAT(caffe2rt_last_error(), StrEq("model is null"));
  caffe2rt_tensor y = x;
  EXPECT_EQ(caffe2rt_result_tensor(result, 1, &y), CAFFE2RT_INVALID_ARGUMENT);
  EXPECT_EQ(y.data, &value) << "a tensor of the caller stays as it was";
  caffe2rt_free_result(result);
  caffe2rt_free_model(model);
}

// With an init net.
caffe2rt_model* LoadedWithInit(const std::string& init, const std::string& net,
                               const caffe2rt_load_options* options = nullptr) {
  const caffe2rt_bytes init_bytes = {init.data(), init.size()}, bytes = {net.data(), net.size()};
  caffe2rt_model* model = nullptr;
  EXPECT_EQ(caffe2rt_load_from_memory(&init_bytes, 1, &bytes, options, &model), CAFFE2RT_OK)
      << caffe2rt_last_error();
  return model;
}

constexpr char kWeight[] = R"(op { type: "GivenTensorFill" output: "w"
    arg { name: "shape" ints: 1 } arg { name: "values" floats: 3 } })";

TEST(CApiOptionsTest, WithoutOptimizationNoPassChangesTheNet) {
  // w * w is computed once, unless the net stays as it is.
  const std::string net = R"(name: "n" external_input: "x" external_input: "w" external_output: "y"
      op { type: "Mul" input: "w" input: "w" output: "c" }
      op { type: "Add" input: "x" input: "c" output: "y" })";
  caffe2rt_load_options options = CAFFE2RT_LOAD_OPTIONS_INIT;
  for (const int32_t off : {0, 1}) {
    options.no_optimization = off;
    caffe2rt_model* const model = LoadedWithInit(kWeight, net, &options);
    const char* json = nullptr;
    ASSERT_EQ(caffe2rt_report(model, &json), CAFFE2RT_OK);
    EXPECT_EQ(std::string(json).find("\"passes\": []") != std::string::npos, off != 0) << json;
    EXPECT_EQ(std::string(json).find("\"type\": \"Mul\"") != std::string::npos, off != 0) << json;
    const int64_t one = 1;
    const float value = 1;
    const caffe2rt_tensor x = {"x", CAFFE2RT_FLOAT, 1, &one, &value, 4};
    caffe2rt_result* result = nullptr;
    // The longest limit is no limit, also where it does not fit into other units.
    ASSERT_EQ(caffe2rt_run_within(model, INT64_MAX, &x, 1, &result), CAFFE2RT_OK)
        << caffe2rt_last_error();
    caffe2rt_tensor y = {};
    EXPECT_EQ(caffe2rt_result_size(result), 1u);
    ASSERT_EQ(caffe2rt_result_tensor(result, 0, &y), CAFFE2RT_OK);
    EXPECT_STREQ(y.name, "y");
    EXPECT_EQ(*static_cast<const float*>(y.data), 10);
    EXPECT_EQ(caffe2rt_result_tensor(result, 1, &y), CAFFE2RT_INVALID_ARGUMENT);
    EXPECT_THAT(caffe2rt_last_error(), StrEq("tensor 1 is out of range: the result has 1"));
    caffe2rt_free_result(result);
    caffe2rt_free_model(model);
  }
}

// The operators write 40 times 2 MB.
TEST(CApiOptionsTest, ARunMayTakeItsTime) {
  std::string net = "name: \"n\" external_input: \"x\" external_output: \"y\" ";
  for (int i = 0; i < 40; ++i) net += "op { type: \"Abs\" input: \"x\" output: \"y\" } ";
  caffe2rt_load_options options = CAFFE2RT_LOAD_OPTIONS_INIT;
  options.no_optimization = 1;
  caffe2rt_model* model = nullptr;
  ASSERT_EQ(Load(net, &model, &options), CAFFE2RT_OK) << caffe2rt_last_error();
  const int64_t count = 1 << 19;
  const std::vector<float> values(static_cast<size_t>(count), -2);
  const caffe2rt_tensor x = {"x",    CAFFE2RT_FLOAT, 1,
                             &count, values.data(),  values.size() * sizeof(float)};
  for (const int64_t limit_ms : {int64_t{100'000}, int64_t{2'000'000'000}, INT64_MAX}) {
    caffe2rt_result* result = nullptr;
    ASSERT_EQ(caffe2rt_run_within(model, limit_ms, &x, 1, &result), CAFFE2RT_OK)
        << caffe2rt_last_error();
    caffe2rt_tensor y = {};
    ASSERT_EQ(caffe2rt_result_tensor(result, 0, &y), CAFFE2RT_OK);
    EXPECT_EQ(y.bytes, values.size() * sizeof(float));
    EXPECT_EQ(static_cast<const float*>(y.data)[count - 1], 2);
    caffe2rt_free_result(result);
  }
  caffe2rt_free_model(model);
}

TEST(CApiOptionsTest, APlaceholderIsTheInputOfAModelWithoutOthers) {
  const std::string init = std::string(kWeight) +
                           R"( op { type: "ConstantFill" output: "data"
                                    arg { name: "shape" ints: 1 } arg { name: "value" f: 2 } })";
  caffe2rt_model* const model = LoadedWithInit(
      init, R"(name: "n" external_input: "data" external_input: "w" external_output: "y"
               op { type: "Add" input: "data" input: "w" output: "y" })");
  ASSERT_EQ(caffe2rt_num_inputs(model), 1u);
  EXPECT_STREQ(caffe2rt_input_name(model, 0), "data");
  EXPECT_EQ(caffe2rt_input_name(model, 1), nullptr);
  EXPECT_EQ(caffe2rt_num_outputs(model), 1u);
  EXPECT_STREQ(caffe2rt_output_name(model, 0), "y");
  EXPECT_EQ(caffe2rt_output_name(model, 1), nullptr);
  EXPECT_EQ(caffe2rt_num_warnings(model), 0u);
  EXPECT_EQ(caffe2rt_warning(model, 0), nullptr);
  const int64_t one = 1;
  const float value = 5;
  const caffe2rt_tensor x = {nullptr, CAFFE2RT_FLOAT, 1, &one, &value, 4};
  caffe2rt_result* result = nullptr;
  ASSERT_EQ(caffe2rt_run(model, &x, 1, &result), CAFFE2RT_OK) << caffe2rt_last_error();
  caffe2rt_tensor y = {};
  ASSERT_EQ(caffe2rt_result_tensor(result, 0, &y), CAFFE2RT_OK);
  EXPECT_EQ(*static_cast<const float*>(y.data), 8);
  caffe2rt_free_result(result);
  caffe2rt_free_model(model);
}

TEST(CApiProcessBoundsTest, ThreadsHaveALimit) {
  EXPECT_EQ(caffe2rt_set_num_threads(1025), CAFFE2RT_INVALID_ARGUMENT);
  EXPECT_THAT(caffe2rt_last_error(), StrEq("num_threads is 1025, want 1 to 1024"));
  EXPECT_EQ(caffe2rt_set_num_threads(-1), CAFFE2RT_INVALID_ARGUMENT);
  EXPECT_EQ(caffe2rt_load_module(nullptr), CAFFE2RT_INVALID_ARGUMENT);
  EXPECT_THAT(caffe2rt_last_error(), StrEq("file is null"));
}

}  // namespace
}  // namespace caffe2rt::test::options_and_results_test
