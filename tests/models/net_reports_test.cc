// A predictor, the C interface and the commands prepare a model in the same way: they report the same
// passes, and the same kernels and layouts of each operator.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "caffe2_core/c_api/caffe2rt.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/npy.h"
#include "caffe2_core/model/model_file.h"
#include "caffe2_core/model/net_report.h"
#include "caffe2_core/model/predictor.h"
#include "caffe2_core/tensor/data_type.h"
#include "tests/models/golden_case.h"
#include "tests/programs/program_runner.h"
#include "tests/support/shared.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::net_reports_test {
namespace {

class NetReportsTest : public testing::TestWithParam<GoldenCase> {
 protected:
  void SetUp() override {
    for (const auto& [blob, file] : GetParam().inputs) inputs_.emplace(blob, ReadNpy(File(file)));
  }
  std::string File(const std::string& name) const { return GetParam().folder + "/" + name; }

  // In the model's folder: a predictor looks for its files in the current one.
  std::string OfPredictor() const {
    const std::filesystem::path before = std::filesystem::current_path();
    std::filesystem::current_path(GetParam().folder);
    const std::string report = OfPredictorHere();
    std::filesystem::current_path(before);
    return report;
  }
  std::string OfPredictorHere() const {
    PredictorOptions options{.file_access = FileAccess::Free()};
    for (const auto& [name, tensor] : inputs_) {
      options.input_shapes[name] =
          CreateTensorShape(tensor.dims(), TypeMetaToDataType(tensor.dtype()));
    }
    Predictor predictor(LoadModel({.init_nets = {File(GetParam().init)},
                                   .predict_net = File(GetParam().predict),
                                   .root = GetParam().folder,
                                   .device = DeviceOption()}),
                        options);
    Predictor::TensorList outputs;
    predictor(inputs_, &outputs);
    return NetReportAsJson(predictor.Report());
  }

  // Empty for a model that opens files, which the interface does not allow, and for one with an input
  // without a recorded value, which it requires.
  std::string OfCInterface() const {
    std::vector<caffe2rt_tensor> tensors;
    for (const auto& [name, tensor] : inputs_) {
      tensors.push_back({.name = name.c_str(),
                         .type = TypeMetaToDataType(tensor.dtype()),
                         .ndim = tensor.dim(),
                         .dims = tensor.sizes().data(),
                         .data = tensor.raw_data(),
                         .bytes = tensor.nbytes()});
    }
    const std::string init = File(GetParam().init), predict = File(GetParam().predict);
    const char* const inits[] = {init.c_str()};
    caffe2rt_load_options options = CAFFE2RT_LOAD_OPTIONS_INIT;
    options.init_nets = inits;
    options.num_init_nets = 1;
    options.predict_net = predict.c_str();
    options.device = "cpu";
    options.input_shapes = tensors.data();
    options.num_input_shapes = tensors.size();
    caffe2rt_model* model = nullptr;
    if (caffe2rt_load(&options, &model) != CAFFE2RT_OK) {
      EXPECT_THAT(caffe2rt_last_error(), testing::HasSubstr("nets may not access any file"));
      return "";
    }
    if (caffe2rt_num_inputs(model) > tensors.size()) {
      caffe2rt_free_model(model);
      return "";
    }
    caffe2rt_result* result = nullptr;
    EXPECT_EQ(caffe2rt_run(model, tensors.data(), tensors.size(), &result), CAFFE2RT_OK)
        << caffe2rt_last_error();
    caffe2rt_free_result(result);
    const char* json = nullptr;
    EXPECT_EQ(caffe2rt_report(model, &json), CAFFE2RT_OK) << caffe2rt_last_error();
    const std::string report = json;
    caffe2rt_free_model(model);
    return report;
  }

  std::string OfCommand(std::vector<std::string> args) const {
    args.insert(args.end(), {"--root", GetParam().folder, "--device", "cpu", "--init-net",
                             File(GetParam().init), "--report", dir_.path("report.json")});
    for (const auto& [blob, file] : GetParam().inputs) {
      args.insert(args.end(), {"--input", blob + "=" + File(file)});
    }
    const ProgramResult result = RunCaffe2(args);
    EXPECT_EQ(result.code, 0) << result.err;
    return ReadWholeFile(dir_.path("report.json"));
  }

  const TempDir dir_;
  Predictor::TensorMap inputs_;
};

// What was prepared, without the names of constants, of which commands free more.
nlohmann::json Prepared(const std::string& report) {
  nlohmann::json json = nlohmann::json::parse(report);
  json.erase("new_constants");
  json.erase("freed_constants");
  return json;
}

TEST_P(NetReportsTest, AreTheSameWhoeverRunsTheModel) {
  const std::string net = File(GetParam().predict);
  const nlohmann::json want = Prepared(OfCommand({"run", "--predict-net", net}));
  ASSERT_FALSE(want.at("operators").empty());
  EXPECT_EQ(Prepared(OfPredictor()), want) << "Predictor";
  const std::string in_c = OfCInterface();
  EXPECT_TRUE(in_c.empty() || Prepared(in_c) == want) << "C interface: " << in_c;
  EXPECT_EQ(
      Prepared(OfCommand({"bench", "--predict-net", net, "--warmup", "0", "--iterations", "1"})),
      want)
      << "bench";
  EXPECT_EQ(Prepared(OfCommand({"compare", net, net, "--optimize", "second", "--tol", "1e-2"})),
            want)
      << "compare";
}

INSTANTIATE_TEST_SUITE_P(Models, NetReportsTest, testing::ValuesIn(ReadGoldenCases()),
                         [](const auto& row) { return row.param.Name(); });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(NetReportsTest);

}  // namespace
}  // namespace caffe2rt::test::net_reports_test
