// What the options of the C interface do to a model that is loaded: the kinds of files, devices, shapes, precisions
// and the number of runs.
#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "caffe2_core/base/logging.h"
#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/c_api/caffe2rt.h"
#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/io/db.h"
#include "caffe2_core/model/meta_net.h"
#include "caffe2rt/onnx.pb.h"
#include "tests/support/operator_test.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::loaded_models_test {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StrEq;

class LoadedModelTest : public testing::Test {
 protected:
  ~LoadedModelTest() override { caffe2rt_free_model(model_); }

  caffe2rt_status LoadBytes(const std::string& net) {
    caffe2rt_free_model(model_);
    const caffe2rt_bytes bytes = {net.data(), net.size()};
    return caffe2rt_load_from_memory(nullptr, 0, &bytes, &options_, &model_);
  }
  // The dims and the elements of the first output for one input of floats.
  std::string RunOn(const std::vector<int64_t>& dims, const std::vector<float>& values) {
    const caffe2rt_tensor x = {nullptr,     CAFFE2RT_FLOAT, static_cast<int32_t>(dims.size()),
                               dims.data(), values.data(),  values.size() * sizeof(float)};
    caffe2rt_result* result = nullptr;
    caffe2rt_tensor y = {};
    EXPECT_EQ(caffe2rt_run(model_, &x, 1, &result), CAFFE2RT_OK) << caffe2rt_last_error();
    EXPECT_EQ(caffe2rt_result_tensor(result, 0, &y), CAFFE2RT_OK) << caffe2rt_last_error();
    const auto* const data = static_cast<const float*>(y.data);
    const std::string text =
        MakeString(std::vector<int64_t>(y.dims, y.dims + y.ndim), " ",
                   std::vector<float>(data, data + (y.type == CAFFE2RT_FLOAT ? y.bytes / 4 : 0)));
    caffe2rt_free_result(result);
    return text;
  }

  TempDir dir_;
  caffe2rt_load_options options_ = CAFFE2RT_LOAD_OPTIONS_INIT;
  caffe2rt_model* model_ = nullptr;
};

TEST_F(LoadedModelTest, APredictorsDatabaseHasItsNetsAndWeights) {
  MetaNetDef meta;
  const auto add = [&meta](const char* key, const std::string& text) {
    NetsMap* const entry = meta.add_nets();
    entry->set_key(key);
    *entry->mutable_value() = ParseNet(text);
  };
  add("PREDICT_NET_TYPE", R"(external_input: "x" external_input: "w" external_output: "y"
      op { type: "Mul" input: "x" input: "w" output: "y" })");
  add("GLOBAL_INIT_NET_TYPE", R"(external_input: "!!PREDICTOR_DBREADER"
      op { type: "Load" input: "!!PREDICTOR_DBREADER" output: "w" })");
  for (const char* const key : {"INPUTS_BLOB_TYPE", "OUTPUTS_BLOB_TYPE"}) {
    meta.add_blobs()->set_key(key);
    meta.mutable_blobs(meta.blobs_size() - 1)->add_value(*key == 'I' ? "x" : "y");
  }
  const std::string path = dir_.path("p.minidb");
  {
    Workspace ws;
    Feed<float>(&ws, "w", {2}, {10, 20});
    *ws.CreateBlob("nets")->GetMutable<std::string>() = meta.SerializeAsString();
    const auto database = db::CreateDB("minidb", path, db::NEW);
    const auto transaction = database->NewTransaction();
    transaction->Put("!!META_NET_DEF", SerializeBlob(*ws.GetBlob("nets"), "!!META_NET_DEF"));
    transaction->Put("w", SerializeBlob(*ws.GetBlob("w"), "w"));
    transaction->Commit();
  }
  options_.predictor_db = path.c_str();
  ASSERT_EQ(caffe2rt_load(&options_, &model_), CAFFE2RT_OK) << caffe2rt_last_error();
  EXPECT_THAT(caffe2rt_input_name(model_, 0), StrEq("x"));
  EXPECT_EQ(caffe2rt_num_inputs(model_), 1u);
  EXPECT_THAT(caffe2rt_output_name(model_, 0), StrEq("y"));
  EXPECT_EQ(RunOn({2}, {3, 4}), "[2] [30, 80]");
}

// Device type 6 (HIP) exists nowhere; the option names another one for all nets.
TEST_F(LoadedModelTest, ADeviceReplacesThoseOfTheNets) {
  const std::string init = dir_.Write("init.pbtxt", R"(op { type: "GivenTensorFill" output: "w"
      arg { name: "shape" ints: 2 } arg { name: "values" floats: [2, 3] }
      device_option { device_type: 6 } })");
  const std::string predict = dir_.Write("predict.pbtxt", R"(external_input: "x" external_input: "w"
      external_output: "y" device_option { device_type: 6 device_id: 1 }
      op { type: "Mul" input: "x" input: "w" output: "y" })");
  const char* const init_nets[] = {init.c_str()};
  options_.init_nets = init_nets;
  options_.num_init_nets = 1;
  options_.predict_net = predict.c_str();
  EXPECT_EQ(caffe2rt_load(&options_, &model_), CAFFE2RT_FAILED);
  options_.device = "cpu";
  ASSERT_EQ(caffe2rt_load(&options_, &model_), CAFFE2RT_OK) << caffe2rt_last_error();
  EXPECT_EQ(caffe2rt_num_warnings(model_), 0u);
  EXPECT_EQ(RunOn({2}, {5, 7}), "[2] [10, 21]");
}

// The model does not state how many dims x has, and Flatten counts its axis from the last one.
TEST_F(LoadedModelTest, AModelOfOnnxIsImportedForTheShapesOfItsInputs) {
  onnx::ModelProto onnx;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(R"(
      ir_version: 8 opset_import { version: 18 } graph { name: "g"
        input { name: "x" type { tensor_type { elem_type: 1 } } }
        node { op_type: "Flatten" input: "x" output: "y"
               attribute { name: "axis" type: INT i: -1 } }
        output { name: "y" type { tensor_type { elem_type: 1 } } } })",
                                                            &onnx));
  const std::string bytes = onnx.SerializeAsString();
  EXPECT_EQ(LoadBytes(bytes), CAFFE2RT_FAILED);
  EXPECT_THAT(caffe2rt_last_error(), testing::StartsWith("cannot import \"model\": "));
  EXPECT_THAT(caffe2rt_last_error(), HasSubstr("it needs the rank of blob \"x\""));
  const int64_t dims[] = {2, 3, 1};
  const caffe2rt_tensor shape = {"x", CAFFE2RT_FLOAT, 3, dims, nullptr, 0};
  options_.input_shapes = &shape;
  options_.num_input_shapes = 1;
  ASSERT_EQ(LoadBytes(bytes), CAFFE2RT_OK) << caffe2rt_last_error();
  EXPECT_THAT(caffe2rt_input_name(model_, 0), StrEq("x"));
  EXPECT_EQ(RunOn({2, 3, 1}, {1, 2, 3, 4, 5, 6}), "[6, 1] [1, 2, 3, 4, 5, 6]");
  // From a file, too.
  const std::string file = dir_.Write("m.onnx", bytes);
  options_.predict_net = file.c_str();
  caffe2rt_free_model(model_);
  ASSERT_EQ(caffe2rt_load(&options_, &model_), CAFFE2RT_OK) << caffe2rt_last_error();
  EXPECT_EQ(RunOn({2, 3, 1}, {1, 2, 3, 4, 5, 6}), "[6, 1] [1, 2, 3, 4, 5, 6]");
}

// An init net fills what the first operator reads, but the file lists no input.
TEST_F(LoadedModelTest, AModelOfOnnxMayHaveNoInputs) {
  onnx::ModelProto onnx;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(R"(
      ir_version: 8 opset_import { version: 18 } graph { name: "g"
        initializer { name: "w" data_type: 1 dims: 3 float_data: 5 float_data: -6 float_data: 7 }
        node { op_type: "Relu" input: "w" output: "y" }
        output { name: "y" type { tensor_type { elem_type: 1 } } } })",
                                                            &onnx));
  const std::string bytes = onnx.SerializeAsString();
  const std::string file = dir_.Write("m.onnx", bytes);
  for (const bool in_memory : {true, false}) {
    options_.predict_net = in_memory ? nullptr : file.c_str();
    if (!in_memory) caffe2rt_free_model(model_);
    ASSERT_EQ(in_memory ? LoadBytes(bytes) : caffe2rt_load(&options_, &model_), CAFFE2RT_OK)
        << caffe2rt_last_error();
    EXPECT_EQ(caffe2rt_num_inputs(model_), 0u);
    for (int run = 0; run < 2; ++run) {
      caffe2rt_result* result = nullptr;
      ASSERT_EQ(caffe2rt_run(model_, nullptr, 0, &result), CAFFE2RT_OK) << caffe2rt_last_error();
      caffe2rt_tensor y;
      ASSERT_EQ(caffe2rt_result_tensor(result, 0, &y), CAFFE2RT_OK);
      ASSERT_EQ(y.bytes, 3 * sizeof(float));
      const auto* values = static_cast<const float*>(y.data);
      EXPECT_EQ(std::vector<float>(values, values + 3), (std::vector<float>{5, 0, 7}));
      caffe2rt_free_result(result);
    }
  }
}

// The net states 20 dB for bfloat16, which is too little for 25 and for the default, 30.
TEST_F(LoadedModelTest, TheRatioOfSignalToNoiseDecidesOnThePrecision) {
  const std::string net = R"(name: "n" external_input: "x" external_output: "y"
      arg { name: "snr_bf16" f: 20 } op { type: "Relu" input: "x" output: "y" })";
  std::vector<std::string> logged;
  const int threshold = LogThreshold();
  SetLogThreshold(internal::kLogWarning);
  SetLogSink([&](const LogEntry& entry) {
    if (std::string(entry.text).starts_with("precision ")) logged.emplace_back(entry.text);
  });
  options_.precision = "auto";
  options_.min_snr = 25;
  EXPECT_EQ(LoadBytes(net), CAFFE2RT_OK) << caffe2rt_last_error();
  options_.min_snr = 0;
  EXPECT_EQ(LoadBytes(net), CAFFE2RT_OK) << caffe2rt_last_error();
  // 20 dB are enough for less; which processors have bf16 does not matter.
  std::vector<std::string> enough;
  for (const double least : {0.5, 1.0, 19.0}) {
    std::swap(logged, enough);
    options_.min_snr = least;
    EXPECT_EQ(LoadBytes(net), CAFFE2RT_OK) << caffe2rt_last_error();
    std::swap(logged, enough);
  }
  options_.min_snr = 0;
  options_.precision = nullptr;
  EXPECT_EQ(LoadBytes(net), CAFFE2RT_OK) << caffe2rt_last_error();
  SetLogSink(nullptr);
  SetLogThreshold(threshold);
  const std::string f32 = "precision auto: all operators compute in f32, because of the wanted ";
  const std::string has = " dB of signal to noise, int8 has no and bf16 20";
  EXPECT_THAT(logged, ElementsAre(f32 + "25" + has, f32 + "30" + has));
  EXPECT_THAT(enough, Each(Not(HasSubstr("dB of signal to noise"))));
}

TEST_F(LoadedModelTest, RunsBeyondTheLimitWait) {
  const std::string net = R"(name: "n" external_input: "c" external_output: "y"
      op { type: "CreateBlobsQueue" output: "q" }
      op { type: "If" input: "c" arg { name: "then_net" n {
           name: "waits" op { type: "DequeueBlobs" input: "q" output: "d" } } } }
      op { type: "Copy" input: "c" output: "y" })";
  const auto run = [&](const bool waits, int64_t limit_ms) {
    const caffe2rt_tensor c = {"c", CAFFE2RT_BOOL, 0, nullptr, &waits, 1};
    caffe2rt_result* result = nullptr;
    const caffe2rt_status status = caffe2rt_run_within(model_, limit_ms, &c, 1, &result);
    caffe2rt_free_result(result);
    return status;
  };
  for (const int32_t most : {1, 2, 0}) {
    SCOPED_TRACE(most);
    options_.max_concurrent_runs = most;
    ASSERT_EQ(LoadBytes(net), CAFFE2RT_OK) << caffe2rt_last_error();
    std::atomic<bool> begun{false}, ended{false};
    std::jthread other([&] {
      begun = true;
      EXPECT_EQ(run(true, 100000), CAFFE2RT_CANCELLED);
      ended = true;
    });
    while (!begun) std::this_thread::yield();
    if (most == 1) {
      // Until the other run has the only place: a single run may be late by chance, not six in a row.
      caffe2rt_status status = CAFFE2RT_OK;
      for (int late = 0; late < 6;) {
        status = run(false, 5);
        if (status != CAFFE2RT_OK && status != CAFFE2RT_DEADLINE_EXCEEDED) break;
        late = status == CAFFE2RT_OK ? 0 : late + 1;
      }
      EXPECT_EQ(status, CAFFE2RT_DEADLINE_EXCEEDED);
    } else {
      for (int i = 0; i < 50; ++i) ASSERT_EQ(run(false, 100000), CAFFE2RT_OK);
    }
    while (!ended) EXPECT_EQ(caffe2rt_cancel(model_), CAFFE2RT_OK);
  }
}

TEST(CApiThreadsTest, AreThoseOfTheProcess) {
  const int before = GetNumThreads();
  EXPECT_EQ(caffe2rt_set_num_threads(3), CAFFE2RT_OK);
  EXPECT_EQ(GetNumThreads(), 3);
  EXPECT_EQ(caffe2rt_set_num_threads(1025), CAFFE2RT_INVALID_ARGUMENT);
  EXPECT_EQ(GetNumThreads(), 3);
  EXPECT_EQ(caffe2rt_set_num_threads(1024), CAFFE2RT_OK);
  EXPECT_EQ(GetNumThreads(), 1024);
  EXPECT_EQ(caffe2rt_set_num_threads(1), CAFFE2RT_OK);
  EXPECT_EQ(GetNumThreads(), 1);
  EXPECT_EQ(caffe2rt_set_num_threads(before), CAFFE2RT_OK);
}

}  // namespace
}  // namespace caffe2rt::test::loaded_models_test
