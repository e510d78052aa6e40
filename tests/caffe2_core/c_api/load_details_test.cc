// Details of the C interface: every field that names a file, the bounds of shapes, the order of warnings, seeds of 64
// bits, and that a call that fails leaves the model as it was.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "caffe2_core/c_api/caffe2rt.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::load_details_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;
using testing::StrEq;

constexpr char kAbs[] = R"(name: "n" external_input: "x" external_output: "y"
    op { type: "Abs" input: "x" output: "y" })";

class LoadDetailsTest : public testing::Test {
 protected:
  ~LoadDetailsTest() override { caffe2rt_free_model(model_); }

  caffe2rt_status Load(const std::string& net) {
    caffe2rt_free_model(model_);
    const caffe2rt_bytes bytes = {net.data(), net.size()};
    return caffe2rt_load_from_memory(nullptr, 0, &bytes, &options_, &model_);
  }
  // The floats of the first output.
  std::vector<float> Run(const std::vector<caffe2rt_tensor>& inputs) {
    caffe2rt_result* result = nullptr;
    caffe2rt_tensor y = {};
    EXPECT_EQ(caffe2rt_run(model_, inputs.data(), inputs.size(), &result), CAFFE2RT_OK)
        << caffe2rt_last_error();
    EXPECT_EQ(caffe2rt_result_tensor(result, 0, &y), CAFFE2RT_OK);
    const auto* const data = static_cast<const float*>(y.data);
    const std::vector<float> values(data, data + y.bytes / sizeof(float));
    caffe2rt_free_result(result);
    return values;
  }

  caffe2rt_load_options options_ = CAFFE2RT_LOAD_OPTIONS_INIT;
  caffe2rt_model* model_ = nullptr;
};

TEST_F(LoadDetailsTest, AModelInMemoryHasNoFiles) {
  const char* const file = "a.pb";
  const std::function<void()> fields[] = {
      [&] { options_.num_init_nets = 1, options_.init_nets = &file; },
      [&] { options_.num_init_nets = 1; }, [&] { options_.predict_net = file; },
      [&] { options_.predictor_db = file; }, [&] { options_.weights = file; }};
  const std::string net = kAbs;
  const caffe2rt_bytes bytes = {net.data(), net.size()};
  for (const auto& set : fields) {
    options_ = CAFFE2RT_LOAD_OPTIONS_INIT;
    set();
    for (const bool caffe : {false, true}) {
      EXPECT_EQ(caffe ? caffe2rt_load_caffe_from_memory(&bytes, nullptr, &options_, &model_)
                      : caffe2rt_load_from_memory(nullptr, 0, &bytes, &options_, &model_),
                CAFFE2RT_INVALID_ARGUMENT);
      EXPECT_THAT(caffe2rt_last_error(),
                  StrEq("the options name files, want none for a model in memory"));
      EXPECT_EQ(model_, nullptr);
    }
  }
  // Names of files that are not counted are none.
  options_ = CAFFE2RT_LOAD_OPTIONS_INIT;
  options_.init_nets = &file;
  EXPECT_EQ(Load(kAbs), CAFFE2RT_OK) << caffe2rt_last_error();
}

TEST_F(LoadDetailsTest, InputsHaveUpTo64Dimensions) {
  ASSERT_EQ(Load(kAbs), CAFFE2RT_OK) << caffe2rt_last_error();
  std::vector<int64_t> dims(65, 1);
  dims[63] = 2;
  const float values[] = {-3, 4};
  caffe2rt_tensor x = {"x", CAFFE2RT_FLOAT, 64, dims.data(), values, sizeof(values)};
  EXPECT_THAT(Run({x}), ElementsAre(3, 4));
  x.ndim = 65;
  caffe2rt_result* result = nullptr;
  EXPECT_EQ(caffe2rt_run(model_, &x, 1, &result), CAFFE2RT_INVALID_ARGUMENT);
  EXPECT_THAT(caffe2rt_last_error(), StrEq("input \"x\" has 65 dimensions, want 0 to 64"));
}

TEST_F(LoadDetailsTest, ShapesOfInputsAreChecked) {
  const int64_t dims[] = {2, 1};
  const struct {
    caffe2rt_tensor shape;
    std::string message;
  } rows[] = {
      {{"x", CAFFE2RT_FLOAT, -1, dims, nullptr, 0}, "input \"x\" has -1 dimensions, want 0 to 64"},
      {{"x", CAFFE2RT_FLOAT, 65, dims, nullptr, 0}, "input \"x\" has 65 dimensions, want 0 to 64"},
      {{"x", CAFFE2RT_FLOAT, 1, nullptr, nullptr, 0}, "the dims of input \"x\" are null"},
      {{"x", 0, 1, dims, nullptr, 0}, "the type of input \"x\" is 0, want a caffe2rt_type"},
      {{"x", 4, 1, dims, nullptr, 0}, "the type of input \"x\" is 4, want a caffe2rt_type"},
      {{nullptr, CAFFE2RT_FLOAT, 1, dims, nullptr, 0}, "options->input_shapes[1] has no name"}};
  for (const auto& row : rows) {
    const caffe2rt_tensor shapes[] = {{"x", CAFFE2RT_FLOAT, 2, dims, nullptr, 0}, row.shape};
    options_.input_shapes = shapes;
    options_.num_input_shapes = 2;
    EXPECT_EQ(Load(kAbs), CAFFE2RT_INVALID_ARGUMENT);
    EXPECT_THAT(caffe2rt_last_error(), StrEq(row.message));
    options_.num_input_shapes = 1;
    EXPECT_EQ(Load(kAbs), CAFFE2RT_OK) << caffe2rt_last_error();
  }
  // A scalar needs no dims; shapes that are not counted are not read.
  const caffe2rt_tensor scalar = {"x", CAFFE2RT_FLOAT, 0, nullptr, nullptr, 0};
  options_.input_shapes = &scalar;
  EXPECT_EQ(Load(kAbs), CAFFE2RT_OK) << caffe2rt_last_error();
  options_.num_input_shapes = 0;
  EXPECT_EQ(Load(kAbs), CAFFE2RT_OK) << caffe2rt_last_error();
}

// The layer of the loss is left out, and the other one has no weights.
TEST_F(LoadDetailsTest, NotesFollowTheWarnings) {
  const std::string net = R"(
      layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 dim: 2 } } }
      layer { name: "y" type: "InnerProduct" bottom: "x" top: "y"
              inner_product_param { num_output: 1 } }
      layer { name: "loss" type: "SoftmaxWithLoss" bottom: "y" bottom: "y" top: "loss" })";
  const caffe2rt_bytes bytes = {net.data(), net.size()};
  ASSERT_EQ(caffe2rt_load_caffe_from_memory(&bytes, nullptr, &options_, &model_), CAFFE2RT_OK)
      << caffe2rt_last_error();
  ASSERT_EQ(caffe2rt_num_warnings(model_), 2u);
  EXPECT_THAT(caffe2rt_warning(model_, 0), HasSubstr("layer \"loss\""));
  EXPECT_THAT(caffe2rt_warning(model_, 1), StartsWith("no weights are given"));
  EXPECT_EQ(caffe2rt_warning(model_, 2), nullptr);
}

TEST_F(LoadDetailsTest, SeedsHave64Bits) {
  const std::string net =
      R"(external_output: "y" op { type: "UniformFill" output: "y" arg { name: "shape" ints: 4 } })";
  const auto drawn = [&](uint64_t seed) {
    options_.has_seed = -1;
    options_.seed = seed;
    EXPECT_EQ(Load(net), CAFFE2RT_OK) << caffe2rt_last_error();
    return Run({});
  };
  const std::vector<float> one = drawn(1);
  EXPECT_EQ(drawn(1), one);
  EXPECT_NE(drawn((uint64_t{1} << 32) + 1), one);
  EXPECT_NE(drawn((uint64_t{1} << 63) + 1), one);
  EXPECT_EQ(drawn(UINT64_MAX), drawn(UINT64_MAX));
}

TEST_F(LoadDetailsTest, ARunThatFailsLeavesTheModelAsItWas) {
  ASSERT_EQ(Load(R"(name: "n" external_input: ["a", "b"] external_output: "y"
      op { type: "Add" input: ["a", "b"] output: "y" })"),
            CAFFE2RT_OK)
      << caffe2rt_last_error();
  const int64_t two = 2, three = 3;
  const float values[] = {1, 2, 3};
  const caffe2rt_tensor a = {nullptr, CAFFE2RT_FLOAT, 1, &two, values, 8},
                        b = {"b", CAFFE2RT_FLOAT, 1, &two, values + 1, 8},
                        longer = {"b", CAFFE2RT_FLOAT, 1, &three, values, 12};
  caffe2rt_result* result = nullptr;
  for (int i = 0; i < 2; ++i) {
    const caffe2rt_tensor wrong[] = {a, longer};
    EXPECT_EQ(caffe2rt_run(model_, wrong, 2, &result), CAFFE2RT_FAILED);
    EXPECT_THAT(caffe2rt_last_error(), HasSubstr("net \"n\""));
    EXPECT_EQ(result, nullptr);
    EXPECT_THAT(Run({a, b}), ElementsAre(3, 5));
    EXPECT_THAT(Run({b, {"a", CAFFE2RT_FLOAT, 1, &two, values + 1, 8}}), ElementsAre(4, 6));
  }
  // By position, an input that another one has named is given twice.
  const caffe2rt_tensor named[] = {{"b", CAFFE2RT_FLOAT, 1, &two, values, 8},
                                   {nullptr, CAFFE2RT_FLOAT, 1, &two, values, 8}};
  EXPECT_EQ(caffe2rt_run(model_, named, 2, &result), CAFFE2RT_INVALID_ARGUMENT);
  EXPECT_THAT(caffe2rt_last_error(), StrEq("input \"b\" is given twice"));
}

TEST_F(LoadDetailsTest, MemoryThatARunLacksHasItsOwnCode) {
  ASSERT_EQ(Load(R"(name: "n" external_input: "x" external_output: "y"
      op { type: "ConstantFill" output: "y" arg { name: "shape" ints: [1000000, 1000000, 1000] } }
      op { type: "Abs" input: "x" output: "z" })"),
            CAFFE2RT_OK)
      << caffe2rt_last_error();
  const int64_t one = 1;
  const float value = 1;
  const caffe2rt_tensor x = {"x", CAFFE2RT_FLOAT, 1, &one, &value, 4};
  caffe2rt_result* result = nullptr;
  EXPECT_EQ(caffe2rt_run(model_, &x, 1, &result), CAFFE2RT_OUT_OF_MEMORY);
  EXPECT_EQ(caffe2rt_run_within(model_, 100000, &x, 1, &result), CAFFE2RT_OUT_OF_MEMORY);
  EXPECT_EQ(result, nullptr);
}

// The same as of files: each net needs what the one before it made.
TEST_F(LoadDetailsTest, InitNetsInMemoryRunInTheirOrder) {
  const std::string inits[] = {
      R"(op { type: "GivenTensorFill" output: "w"
          arg { name: "shape" ints: 1 } arg { name: "values" floats: 2 } })",
      R"(external_input: "w"
          op { type: "Scale" input: "w" output: "w" arg { name: "scale" f: 10 } })",
      R"(external_input: "w"
          op { type: "Scale" input: "w" output: "b" arg { name: "scale" f: 2 } })"};
  const std::string net = R"(external_input: ["x", "w", "b"] external_output: "y"
      op { type: "Sum" input: ["x", "w", "b"] output: "y" })";
  std::vector<caffe2rt_bytes> bytes;
  for (const std::string& init : inits) bytes.push_back({init.data(), init.size()});
  const caffe2rt_bytes net_bytes = {net.data(), net.size()};
  const auto load = [&](size_t count) {
    caffe2rt_free_model(model_);
    return caffe2rt_load_from_memory(bytes.data(), count, &net_bytes, &options_, &model_);
  };
  ASSERT_EQ(load(3), CAFFE2RT_OK) << caffe2rt_last_error();
  const int64_t dim = 1;
  const float value = 1;
  const caffe2rt_tensor x = {"x", CAFFE2RT_FLOAT, 1, &dim, &value, 4};
  EXPECT_THAT(Run({x}), ElementsAre(61));  // 1 + 20 + 40
  // As many as are counted: b is then an input.
  ASSERT_EQ(load(2), CAFFE2RT_OK) << caffe2rt_last_error();
  const caffe2rt_tensor b = {"b", CAFFE2RT_FLOAT, 1, &dim, &value, 4};
  EXPECT_THAT(Run({x, b}), ElementsAre(22));
  std::swap(bytes[0], bytes[2]);
  EXPECT_NE(load(3), CAFFE2RT_OK) << "w is read before it is made";
}

// --- files ---

TEST(LoadedFilesTest, InitNetsRunInTheirOrder) {
  const TempDir dir;
  const auto fill = [&](const std::string& name, const std::string& value) {
    return dir.Write(name, R"(op { type: "ConstantFill" output: "w" arg { name: "shape" ints: 1 }
                                   arg { name: "value" f: )" +
                               value + " } }");
  };
  const std::string one = fill("one.pbtxt", "1"), two = fill("two.pbtxt", "2"),
                    net = dir.Write("net.pbtxt", R"(external_input: ["x", "w"] external_output: "y"
                                       op { type: "Add" input: ["x", "w"] output: "y" })");
  const auto sum = [&](const std::vector<const char*>& init_nets, size_t count) {
    caffe2rt_load_options options = CAFFE2RT_LOAD_OPTIONS_INIT;
    options.init_nets = init_nets.data();
    options.num_init_nets = count;
    options.predict_net = net.c_str();
    caffe2rt_model* model = nullptr;
    EXPECT_EQ(caffe2rt_load(&options, &model), CAFFE2RT_OK) << caffe2rt_last_error();
    const int64_t dim = 1;
    const float value = 10;
    const caffe2rt_tensor x = {"x", CAFFE2RT_FLOAT, 1, &dim, &value, 4};
    caffe2rt_result* result = nullptr;
    caffe2rt_tensor y = {};
    EXPECT_EQ(caffe2rt_run(model, &x, 1, &result), CAFFE2RT_OK) << caffe2rt_last_error();
    EXPECT_EQ(caffe2rt_result_tensor(result, 0, &y), CAFFE2RT_OK);
    const float got = y.data != nullptr ? *static_cast<const float*>(y.data) : -1;
    caffe2rt_free_result(result);
    caffe2rt_free_model(model);
    return got;
  };
  EXPECT_EQ(sum({one.c_str(), two.c_str()}, 2), 12);
  EXPECT_EQ(sum({two.c_str(), one.c_str()}, 2), 11);
  EXPECT_EQ(sum({one.c_str(), two.c_str()}, 1), 11) << "as many as are counted";
  // Operators of the model can open no files.
  const std::string saves = dir.Write("saves.pbtxt", R"(external_input: "x" external_output: "y"
          op { type: "Abs" input: "x" output: "y" } op { type: "Save" input: "y"
          arg { name: "absolute_path" i: 1 } arg { name: "db_type" s: "minidb" }
          arg { name: "db" s: ")" + dir.path("saved") + "\" } }");
  caffe2rt_load_options options = CAFFE2RT_LOAD_OPTIONS_INIT;
  options.predict_net = saves.c_str();
  caffe2rt_model* model = nullptr;
  ASSERT_EQ(caffe2rt_load(&options, &model), CAFFE2RT_OK) << caffe2rt_last_error();
  const int64_t dim = 1;
  const float value = 10;
  const caffe2rt_tensor x = {"x", CAFFE2RT_FLOAT, 1, &dim, &value, 4};
  caffe2rt_result* result = nullptr;
  EXPECT_EQ(caffe2rt_run(model, &x, 1, &result), CAFFE2RT_FAILED);
  EXPECT_THAT(caffe2rt_last_error(), HasSubstr("may not write"));
  caffe2rt_free_model(model);
}

}  // namespace
}  // namespace caffe2rt::test::load_details_test
