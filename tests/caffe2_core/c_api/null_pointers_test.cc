// What the functions of the C interface state of wrong pointers and numbers, whole.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "caffe2_core/c_api/caffe2rt.h"

namespace caffe2rt::test::null_pointers_test {
namespace {

using testing::StrEq;

constexpr const char kNet[] = R"(name: "n" external_input: "x" external_output: "y"
    external_output: "z" op { type: "Relu" input: "x" output: "y" }
    op { type: "Abs" input: "x" output: "z" })";

TEST(CApiErrorsTest, NameEveryNullPointer) {
  const std::string text = kNet;
  const caffe2rt_bytes net = {text.data(), text.size()}, empty = {nullptr, 0}, lost = {nullptr, 7};
  caffe2rt_model* model = nullptr;
  ASSERT_EQ(caffe2rt_load_from_memory(nullptr, 0, &net, nullptr, &model), CAFFE2RT_OK);
  const int64_t three = 3;
  const float values[3] = {-1, 2, 3};
  const caffe2rt_tensor x = {"x", CAFFE2RT_FLOAT, 1, &three, values, sizeof(values)};
  caffe2rt_result* result = nullptr;
  ASSERT_EQ(caffe2rt_run(model, &x, 1, &result), CAFFE2RT_OK);
  caffe2rt_tensor tensor = {};
  caffe2rt_model* none = nullptr;
  caffe2rt_result* no_result = nullptr;
  const char* json = nullptr;
  caffe2rt_load_options nets = CAFFE2RT_LOAD_OPTIONS_INIT, name = nets, neither = nets, both = nets;
  caffe2rt_load_options files = nets;
  nets.predict_net = name.predict_net = both.predict_net = files.predict_net = "none";
  both.predictor_db = "none";
  nets.num_init_nets = 2;
  const char* const no_name = nullptr;
  name.init_nets = &no_name;
  name.num_init_nets = 1;
  const struct {
    caffe2rt_status status;
    std::string message;
    std::function<caffe2rt_status()> call;
  } rows[] = {
      {CAFFE2RT_INVALID_ARGUMENT, "file is null", [] { return caffe2rt_load_module(nullptr); }},
      {CAFFE2RT_INVALID_ARGUMENT, "num_threads is 0, want 1 to 1024",
       [] { return caffe2rt_set_num_threads(0); }},
      {CAFFE2RT_INVALID_ARGUMENT, "num_threads is 1025, want 1 to 1024",
       [] { return caffe2rt_set_num_threads(1025); }},
      {CAFFE2RT_INVALID_ARGUMENT, "model is null",
       [&] { return caffe2rt_load(&neither, nullptr); }},
      {CAFFE2RT_INVALID_ARGUMENT, "options is null", [&] { return caffe2rt_load(nullptr, &none); }},
      {CAFFE2RT_INVALID_ARGUMENT, "want either predict_net or predictor_db in the options",
       [&] { return caffe2rt_load(&neither, &none); }},
      {CAFFE2RT_INVALID_ARGUMENT, "want either predict_net or predictor_db in the options",
       [&] { return caffe2rt_load(&both, &none); }},
      {CAFFE2RT_INVALID_ARGUMENT, "options->init_nets is null, want 2 names",
       [&] { return caffe2rt_load(&nets, &none); }},
      {CAFFE2RT_INVALID_ARGUMENT, "options->init_nets[0] is null",
       [&] { return caffe2rt_load(&name, &none); }},
      {CAFFE2RT_INVALID_ARGUMENT, "model is null",
       [&] { return caffe2rt_load_from_memory(nullptr, 0, &net, nullptr, nullptr); }},
      {CAFFE2RT_INVALID_ARGUMENT, "predict_net is null",
       [&] { return caffe2rt_load_from_memory(nullptr, 0, nullptr, nullptr, &none); }},
      {CAFFE2RT_INVALID_ARGUMENT, "init_nets is null, want 3 nets",
       [&] { return caffe2rt_load_from_memory(nullptr, 3, &net, nullptr, &none); }},
      {CAFFE2RT_INVALID_ARGUMENT, "the data of a net is null",
       [&] { return caffe2rt_load_from_memory(&lost, 1, &net, nullptr, &none); }},
      {CAFFE2RT_INVALID_ARGUMENT, "the options name files, want none for a model in memory",
       [&] { return caffe2rt_load_from_memory(nullptr, 0, &net, &files, &none); }},
      {CAFFE2RT_INVALID_ARGUMENT, "model is null",
       [&] { return caffe2rt_load_caffe_from_memory(&net, nullptr, nullptr, nullptr); }},
      {CAFFE2RT_INVALID_ARGUMENT, "net is null",
       [&] { return caffe2rt_load_caffe_from_memory(nullptr, nullptr, nullptr, &none); }},
      {CAFFE2RT_INVALID_ARGUMENT, "weights has 0 bytes, want a caffemodel, or null for none",
       [&] { return caffe2rt_load_caffe_from_memory(&net, &empty, nullptr, &none); }},
      {CAFFE2RT_INVALID_ARGUMENT, "the data of the net is null",
       [&] { return caffe2rt_load_caffe_from_memory(&lost, nullptr, nullptr, &none); }},
      {CAFFE2RT_INVALID_ARGUMENT, "the data of the weights is null",
       [&] { return caffe2rt_load_caffe_from_memory(&net, &lost, nullptr, &none); }},
      {CAFFE2RT_INVALID_ARGUMENT, "the options name files, want none for a model in memory",
       [&] { return caffe2rt_load_caffe_from_memory(&net, nullptr, &files, &none); }},
      {CAFFE2RT_INVALID_ARGUMENT, "model is null", [&] { return caffe2rt_report(nullptr, &json); }},
      {CAFFE2RT_INVALID_ARGUMENT, "json is null", [&] { return caffe2rt_report(model, nullptr); }},
      {CAFFE2RT_INVALID_ARGUMENT, "model is null",
       [&] { return caffe2rt_run(nullptr, &x, 1, &no_result); }},
      {CAFFE2RT_INVALID_ARGUMENT, "result is null",
       [&] { return caffe2rt_run(model, &x, 1, nullptr); }},
      {CAFFE2RT_INVALID_ARGUMENT, "inputs is null, want 1 tensor",
       [&] { return caffe2rt_run(model, nullptr, 1, &no_result); }},
      {CAFFE2RT_INVALID_ARGUMENT, "input \"x\" is not given",
       [&] { return caffe2rt_run(model, nullptr, 0, &no_result); }},
      {CAFFE2RT_INVALID_ARGUMENT, "limit_ms is 0, want at least 1",
       [&] { return caffe2rt_run_within(model, 0, &x, 1, &no_result); }},
      {CAFFE2RT_INVALID_ARGUMENT, "result is null",
       [&] { return caffe2rt_run_within(model, 1, &x, 1, nullptr); }},
      {CAFFE2RT_INVALID_ARGUMENT, "model is null",
       [&] { return caffe2rt_run_within(nullptr, 1, &x, 1, &no_result); }},
      {CAFFE2RT_INVALID_ARGUMENT, "model is null", [] { return caffe2rt_cancel(nullptr); }},
      {CAFFE2RT_INVALID_ARGUMENT, "result is null",
       [&] { return caffe2rt_result_tensor(nullptr, 0, &tensor); }},
      {CAFFE2RT_INVALID_ARGUMENT, "tensor is null",
       [&] { return caffe2rt_result_tensor(result, 0, nullptr); }},
      {CAFFE2RT_INVALID_ARGUMENT, "tensor 2 is out of range: the result has 2",
       [&] { return caffe2rt_result_tensor(result, 2, &tensor); }},
      {CAFFE2RT_OK, "", [&] { return caffe2rt_result_tensor(result, 1, &tensor); }},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(row.call(), row.status) << row.message;
    if (!row.message.empty()) {
      EXPECT_THAT(caffe2rt_last_error(), StrEq(row.message));
    }
    EXPECT_EQ(none, nullptr) << row.message;
    EXPECT_EQ(no_result, nullptr) << row.message;
  }
  EXPECT_THAT(tensor.name, StrEq("z"));
  caffe2rt_free_result(result);
  caffe2rt_free_model(model);
}

}  // namespace
}  // namespace caffe2rt::test::null_pointers_test
