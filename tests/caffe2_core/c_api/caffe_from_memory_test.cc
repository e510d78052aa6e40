// Models of Caffe in memory, through the C interface.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "caffe2_core/c_api/caffe2rt.h"
#include "tests/caffe2_core/import/caffe/wire_text.h"

namespace caffe2rt::test::caffe_from_memory_test {
namespace {

using testing::HasSubstr;
using testing::StrEq;

constexpr const char kNet[] = R"(
    layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 dim: 2 } } }
    layer { name: "y" type: "InnerProduct" bottom: "x" top: "y"
            inner_product_param { num_output: 1 } })";

// y = 2 * x0 + 3 * x1 + 0.5, as text and as a binary file.
constexpr const char kTextWeights[] = R"(
    layer { name: "y" blobs { shape { dim: 1 dim: 2 } data: 2 data: 3 }
            blobs { shape { dim: 1 } data: 0.5 } })";
std::string BinaryWeights() {
  const std::string w = Bytes(7, Bytes(1, Varint(1) + Varint(2))) + Bytes(5, Raw(2.0f) + Raw(3.0f));
  const std::string b = Bytes(7, Bytes(1, Varint(1))) + Bytes(5, Raw(0.5f));
  return Bytes(100, Bytes(1, "y") + Bytes(2, "InnerProduct") + Bytes(7, w) + Bytes(7, b));
}

caffe2rt_bytes BytesOf(const std::string& text) { return {text.data(), text.size()}; }

class CApiCaffeTest : public testing::Test {
 protected:
  void TearDown() override { caffe2rt_free_model(model_); }

  caffe2rt_status Load(const std::string& net, const std::string& weights,
                       const caffe2rt_load_options* options = nullptr) {
    caffe2rt_free_model(model_);
    const caffe2rt_bytes net_bytes = BytesOf(net), weight_bytes = BytesOf(weights);
    return caffe2rt_load_caffe_from_memory(&net_bytes, &weight_bytes, options, &model_);
  }

  // y of the model for x = (10, 100).
  float RunModel() {
    const int64_t dims[] = {1, 2};
    const float x[] = {10, 100};
    const caffe2rt_tensor input = {"x", CAFFE2RT_FLOAT, 2, dims, x, sizeof(x)};
    caffe2rt_result* result = nullptr;
    caffe2rt_tensor output = {};
    EXPECT_EQ(caffe2rt_run(model_, &input, 1, &result), CAFFE2RT_OK) << caffe2rt_last_error();
    EXPECT_EQ(caffe2rt_result_tensor(result, 0, &output), CAFFE2RT_OK);
    const float y = output.bytes == sizeof(float) ? *static_cast<const float*>(output.data) : -1;
    caffe2rt_free_result(result);
    return y;
  }

  void ExpectError(caffe2rt_status got, caffe2rt_status want, const char* message) {
    EXPECT_EQ(got, want);
    EXPECT_THAT(caffe2rt_last_error(), HasSubstr(message));
    EXPECT_EQ(model_, nullptr);
  }

  caffe2rt_model* model_ = nullptr;
};

TEST_F(CApiCaffeTest, LoadsTextAndBinaryWeightsAndKeepsNoPointers) {
  for (std::string weights : {std::string(kTextWeights), BinaryWeights()}) {
    std::string net = kNet;
    ASSERT_EQ(Load(net, weights), CAFFE2RT_OK) << caffe2rt_last_error();
    net.assign(net.size(), '?');
    weights.assign(weights.size(), '?');
    ASSERT_EQ(caffe2rt_num_inputs(model_), 1u);
    EXPECT_THAT(caffe2rt_input_name(model_, 0), StrEq("x"));
    EXPECT_THAT(caffe2rt_output_name(model_, 0), StrEq("y"));
    EXPECT_EQ(caffe2rt_num_warnings(model_), 0u);
    EXPECT_EQ(RunModel(), 320.5f);
  }
}

TEST_F(CApiCaffeTest, FillsLayersWithoutWeightsAndWarns) {
  const std::string net = kNet;
  const caffe2rt_bytes bytes = BytesOf(net);
  ASSERT_EQ(caffe2rt_load_caffe_from_memory(&bytes, nullptr, nullptr, &model_), CAFFE2RT_OK)
      << caffe2rt_last_error();
  ASSERT_EQ(caffe2rt_num_warnings(model_), 1u);
  EXPECT_THAT(caffe2rt_warning(model_, 0), HasSubstr("no weights are given"));
  EXPECT_EQ(RunModel(), 0);
}

// The file does not state the shape of x, and Slice needs it.
TEST_F(CApiCaffeTest, TakesTheShapesOfInputsFromTheOptions) {
  const std::string net =
      R"(input: "x" layer { name: "s" type: "Slice" bottom: "x" top: "a" top: "b"
      slice_param { axis: -1 } })";
  const caffe2rt_bytes bytes = BytesOf(net);
  caffe2rt_load_options options = CAFFE2RT_LOAD_OPTIONS_INIT;
  ExpectError(caffe2rt_load_caffe_from_memory(&bytes, nullptr, &options, &model_), CAFFE2RT_FAILED,
              "give the shapes of the inputs");
  const int64_t dims[] = {1, 2};
  const caffe2rt_tensor shape = {"x", CAFFE2RT_FLOAT, 2, dims, nullptr, 0};
  options.input_shapes = &shape;
  options.num_input_shapes = 1;
  ASSERT_EQ(caffe2rt_load_caffe_from_memory(&bytes, nullptr, &options, &model_), CAFFE2RT_OK)
      << caffe2rt_last_error();
  EXPECT_EQ(caffe2rt_num_outputs(model_), 2u);
  EXPECT_EQ(RunModel(), 10);  // a is x0
}

TEST_F(CApiCaffeTest, ReportsMistakesOfTheCaller) {
  const std::string net = kNet;
  const caffe2rt_bytes bytes = BytesOf(net), no_data = {nullptr, 5}, empty = {net.data(), 0};
  const auto load = [&](const caffe2rt_bytes* of_net, const caffe2rt_bytes* of_weights) {
    return caffe2rt_load_caffe_from_memory(of_net, of_weights, nullptr, &model_);
  };
  ExpectError(load(nullptr, nullptr), CAFFE2RT_INVALID_ARGUMENT, "net is null");
  ExpectError(load(&no_data, nullptr), CAFFE2RT_INVALID_ARGUMENT, "the data of the net is null");
  ExpectError(load(&bytes, &no_data), CAFFE2RT_INVALID_ARGUMENT, "the data of the weights is null");
  ExpectError(load(&bytes, &empty), CAFFE2RT_INVALID_ARGUMENT, "weights has 0 bytes");
  EXPECT_EQ(caffe2rt_load_caffe_from_memory(&bytes, nullptr, nullptr, nullptr),
            CAFFE2RT_INVALID_ARGUMENT);
  const char* init_net = "init.pb";
  for (int field = 0; field < 4; ++field) {
    SCOPED_TRACE(field);
    caffe2rt_load_options options = CAFFE2RT_LOAD_OPTIONS_INIT;
    if (field == 0) options.weights = "net.caffemodel";
    if (field == 1) options.predict_net = "net.pb";
    if (field == 2) options.predictor_db = "model.minidb";
    if (field == 3) options.init_nets = &init_net, options.num_init_nets = 1;
    ExpectError(caffe2rt_load_caffe_from_memory(&bytes, nullptr, &options, &model_),
                CAFFE2RT_INVALID_ARGUMENT, "the options name files");
    ExpectError(caffe2rt_load_from_memory(nullptr, 0, &bytes, &options, &model_),
                CAFFE2RT_INVALID_ARGUMENT, "the options name files");
  }
}

TEST_F(CApiCaffeTest, ReportsBytesThatAreNoModel) {
  ExpectError(Load("", BinaryWeights()), CAFFE2RT_FAILED, "empty");
  ExpectError(Load("layer { name: }", BinaryWeights()), CAFFE2RT_FAILED, "line 1");
  ExpectError(Load(kNet, "no weights"), CAFFE2RT_FAILED, "\"weights\"");
  ExpectError(Load("layer { name: 'l' type: 'NoSuchLayer' }", BinaryWeights()), CAFFE2RT_FAILED,
              "NoSuchLayer");
  // The other function, for a net of Caffe.
  const std::string net = kNet;
  const caffe2rt_bytes bytes = BytesOf(net);
  ExpectError(caffe2rt_load_from_memory(nullptr, 0, &bytes, nullptr, &model_), CAFFE2RT_FAILED,
              "caffe2rt_load_caffe_from_memory");
}

TEST_F(CApiCaffeTest, ReportsTruncatedAndDamagedWeights) {
  const std::string weights = BinaryWeights();
  for (size_t size = 1; size < weights.size(); ++size) {
    EXPECT_EQ(Load(kNet, weights.substr(0, size)), CAFFE2RT_FAILED) << size;
    EXPECT_EQ(model_, nullptr);
  }
  int loaded = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    for (const int bit : {0, 3, 7}) {
      std::string damaged = weights;
      damaged[i] = static_cast<char>(damaged[i] ^ (1 << bit));
      const caffe2rt_status status = Load(kNet, damaged);
      EXPECT_TRUE(status == CAFFE2RT_OK || status == CAFFE2RT_FAILED) << caffe2rt_last_error();
      loaded += status == CAFFE2RT_OK;
    }
  }
  EXPECT_GT(loaded, 12);  // other values of the three floats
}

TEST_F(CApiCaffeTest, LoadsInSeveralThreads) {
  const std::string net = kNet, weights = BinaryWeights();
  std::vector<std::thread> threads;
  std::vector<caffe2rt_model*> models(4);
  for (caffe2rt_model*& model : models) {
    threads.emplace_back([&net, &weights, &model] {
      const caffe2rt_bytes net_bytes = BytesOf(net), weight_bytes = BytesOf(weights);
      EXPECT_EQ(caffe2rt_load_caffe_from_memory(&net_bytes, &weight_bytes, nullptr, &model),
                CAFFE2RT_OK);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (caffe2rt_model* model : models) {
    ASSERT_NE(model, nullptr);
    caffe2rt_free_model(model);
  }
}

}  // namespace
}  // namespace caffe2rt::test::caffe_from_memory_test
