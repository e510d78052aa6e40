// The harness must find each fault of an operator on CUDA; the arguments of the operator choose the
// fault.
#include "tests/support/devices_agree.h"

#include <gtest/gtest-spi.h>

#include <cmath>
#include <limits>

#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/common/words.cuh"
#include "tests/support/device_run.h"

namespace caffe2rt::test::devices_agree_test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

// Each output is X plus the argument `add`. On CUDA the argument `wrong` names a fault of the last
// output.
template <class Context>
class AgreeTestOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  AgreeTestOp(const OperatorDef& def, Workspace* ws) : Operator<Context>(def, ws) {
    const ArgumentHelper args(def);
    add_ = args.GetSingleArgument<float>("add", 0);
    value_ = args.GetSingleArgument<float>("value", -77);
    if (Context::GetDeviceType() == CPU) return;
    wrong_ = def.engine() == "WRONG" ? "value" : args.GetSingleArgument<std::string>("wrong", "");
    input_on_cpu_ = args.GetSingleArgument<int>("input_on_cpu", 0) != 0;
    output_on_cpu_ = args.GetSingleArgument<int>("output_on_cpu", 0) != 0;
  }
  bool RunOnDevice() override {
    CAFFE_ENFORCE(wrong_ != "throw", "thrown on the device");
    Tensor host(input_on_cpu_ ? Input(0, CPU) : Input(0), CPU);
    float* const values = host.mutable_data<float>();
    for (int64_t i = 0; i < host.numel() && add_ != 0; ++i) values[i] += add_;
    for (int i = 0; i + 1 < OutputSize(); ++i) Output(i)->CopyFrom(host);
    if (wrong_ == "kept") {
      if (!kept_.IsShaped()) kept_.CopyFrom(host);
      host.CopyFrom(kept_);
    }
    WriteLast(&host);
    return wrong_ != "false";
  }

 private:
  void WriteLast(Tensor* host) {
    const int last = OutputSize() - 1;
    if (wrong_ == "value" || (wrong_ == "wide" && GlobalIndexOptions().narrow_limit == 0)) {
      host->mutable_data<float>()[0] = value_;
    }
    if (wrong_ == "input" && !input_on_cpu_) {
      const Tensor& x = Input(0);
      const std::vector<float> other(static_cast<size_t>(x.numel()), value_);
      context_.CopyFromCPU(other.size(), other.data(),
                           static_cast<float*>(const_cast<void*>(x.raw_data())));
    }
    if (wrong_ == "type") {
      Output(last)->Resize(host->dims());
      Output(last)->template mutable_data<int32_t>();
    } else if (wrong_ == "not written") {
      Output(last)->Resize(host->dims());
      Output(last)->template mutable_data<float>();
    } else if (wrong_ == "old dims" && Output(last)->IsShaped()) {
      context_.CopyItemsFromCPU(host->dtype(), static_cast<size_t>(host->numel()), host->raw_data(),
                                Output(last)->raw_mutable_data());
    } else {
      this->OutputTensor(last, output_on_cpu_ ? CPU : Context::GetDeviceType())->CopyFrom(*host);
    }
    if (wrong_ == "dims") Output(last)->Reshape({host->numel(), 1});
  }

  Tensor kept_{CPU};  // the values of the first run
  std::string wrong_;
  float add_ = 0, value_ = 0;
  bool input_on_cpu_ = false, output_on_cpu_ = false;
};
OPERATOR_SCHEMA(DevicesAgreeTest).NumInputs(1).NumOutputs(1, 2).AllowInplace({{0, 0}});
REGISTER_CPU_OPERATOR(DevicesAgreeTest, AgreeTestOp<CPUContext>);
REGISTER_CUDA_OPERATOR(DevicesAgreeTest, AgreeTestOp<CUDAContext>);
REGISTER_CUDA_OPERATOR_WITH_ENGINE(DevicesAgreeTest, WRONG, AgreeTestOp<CUDAContext>);

const std::string kOneOutput = R"(type: "DevicesAgreeTest" input: "X" output: "Y")";
const std::string kTwoOutputs = kOneOutput + R"( output: "Z")";
std::string Wrong(const std::string& how) { return R"( arg { name: "wrong" s: ")" + how + "\" }"; }
const std::string kInputOnCpu = R"( arg { name: "input_on_cpu" i: 1 })";
const std::string kOutputOnCpu = R"( arg { name: "output_on_cpu" i: 1 })";

// The text of the failures that `act` reports, with their traces.
std::string Failures(const std::function<void()>& act) {
  testing::TestPartResultArray results;
  {
    const testing::ScopedFakeTestPartResultReporter reporter(
        testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &results);
    act();
  }
  std::string text;
  for (int i = 0; i < results.size(); ++i) {
    if (results.GetTestPartResult(i).failed()) text += results.GetTestPartResult(i).message();
  }
  return text;
}

class DevicesAgreeTest : public OnDeviceTest {
 protected:
  // The failures that ExpectDevicesAgree reports for input X.
  std::string Problems(const std::string& text, const Agreement& agreement = {},
                       const std::vector<float>& x = {1, 2, 3}) {
    Feed<float>(&ws_, "X", {static_cast<int64_t>(x.size())}, x);
    return Failures([&] { ExpectDevicesAgree(&ws_, text, agreement); });
  }
};

TEST_F(DevicesAgreeTest, AcceptsWhatIsTheSame) {
  const Agreement strict, loose = {.tolerance = 1e-5, .engines = {"", "NONE"}};
  for (const std::string& text : {kOneOutput, kTwoOutputs}) {
    for (const std::vector<float>& x : {std::vector<float>{1, kNaN, -0.0f, kInf, -kInf}, {}}) {
      EXPECT_EQ(Problems(text, strict, x), "");
      EXPECT_EQ(Problems(text, loose, x), "");
    }
  }
}

TEST_F(DevicesAgreeTest, FindsWhatIsWrongInEachOutputAndRun) {
  for (const std::string& text : {kOneOutput, kTwoOutputs}) {
    EXPECT_THAT(Problems(text + Wrong("value")), HasSubstr("element 0 is -77, want 1"));
    EXPECT_THAT(Problems(text + Wrong("type")), HasSubstr("int"));
    EXPECT_THAT(Problems(text + Wrong("dims")), HasSubstr("dims()"));
    EXPECT_THAT(Problems(text + Wrong("false")), HasSubstr("RunOperatorOnce"));
    EXPECT_THAT(Problems(text + kOutputOnCpu), HasSubstr("is not on CUDA"));
    EXPECT_THAT(Problems(text + Wrong("input")), HasSubstr("input \"X\""));
    for (const char* how : {"wide", "old dims"}) {
      const std::string problems = Problems(text + Wrong(how));
      EXPECT_THAT(problems, HasSubstr("second run")) << how;
      EXPECT_THAT(problems, Not(HasSubstr("first run"))) << how;
    }
  }
}

TEST_F(DevicesAgreeTest, FindsValuesThatAnOperatorKeeps) {
  const std::string problems = Problems(kTwoOutputs + Wrong("kept"));
  EXPECT_THAT(problems, HasSubstr("run after a run on other values"));
  EXPECT_THAT(problems, HasSubstr("element 0 is 3, want 1"));
  EXPECT_THAT(problems, Not(HasSubstr("first run")));
}

TEST_F(DevicesAgreeTest, FindsMemoryThatIsNotWritten) {
  const Agreement both = {.engines = {"", "NONE"}};
  EXPECT_EQ(Problems(kTwoOutputs, both), "");  // frees memory that holds the right values
  const std::string problems = Problems(kTwoOutputs + Wrong("not written"), both);
  EXPECT_THAT(problems, HasSubstr("engine \"\", first run"));
  EXPECT_THAT(problems, HasSubstr("engine \"\", second run"));
  EXPECT_THAT(problems, HasSubstr("engine \"NONE\", first run"));
}

TEST_F(DevicesAgreeTest, HoldsNumbersToTheTolerance) {
  struct Case {
    float want, got;
    double tolerance;
    bool agrees;
  };
  const Case cases[] = {
      {1, 1.05f, 0.1, true},     {1, 1.2f, 0.1, false},     {1, 0.8f, 0.1, false},
      {0, 0.05f, 0.1, true},     {0, -0.2f, 0.1, false},    {1000, 1050, 0.1, true},
      {-1000, -1050, 0.1, true}, {1000, 1200, 0.1, false},  {kInf, kInf, 0.1, true},
      {kInf, 1, 0.1, false},     {kInf, -kInf, 0.1, false}, {1, kInf, 0.1, false},
      {kNaN, 1, 0.1, false},     {1, kNaN, 0.1, false},     {kNaN, -kNaN, 0.1, true},
      {kNaN, -kNaN, 0, true},    {1, kNaN, 0, false},       {0, -0.0f, 0, false},
      {0, -0.0f, 0.1, true},     {1, 1.0000001f, 0, false},
  };
  for (const Case& c : cases) {
    OperatorDef def = ParseOp(kOneOutput + Wrong("value"));
    Argument* const value = def.add_arg();
    value->set_name("value");
    value->set_f(c.got);
    const std::string problems =
        Problems(def.ShortDebugString(), {.tolerance = c.tolerance}, {c.want});
    EXPECT_EQ(problems.empty(), c.agrees)
        << "got " << c.got << ", want " << c.want << ", tolerance " << c.tolerance << problems;
  }
}

TEST_F(DevicesAgreeTest, RunsEachEngine) {
  EXPECT_EQ(Problems(kOneOutput, {.engines = {"", "NONE"}}), "");
  const std::string problems = Problems(kOneOutput, {.engines = {"", "WRONG"}});
  EXPECT_THAT(problems, HasSubstr("engine \"WRONG\""));
  EXPECT_THAT(problems, Not(HasSubstr("engine \"\"")));
  EXPECT_NE(Problems(kOneOutput + R"( engine: "WRONG")"), "");
}

TEST_F(DevicesAgreeTest, GivesEachRunTheSameInputs) {
  const std::string in_place =
      R"(type: "DevicesAgreeTest" input: "X" output: "X" arg { name: "add" f: 1 })";
  EXPECT_EQ(Problems(in_place, {.engines = {"", "NONE"}}), "");
  ExpectTensor<float>(ws_, "X", {3}, {2, 3, 4});
  EXPECT_THAT(Problems(in_place + Wrong("wide")), HasSubstr("second run"));
}

TEST_F(DevicesAgreeTest, PlacesInputsAndOutputsAsTheAgreementStates) {
  EXPECT_EQ(Problems(kOneOutput + kInputOnCpu, {.stay = {"X"}}), "");
  EXPECT_THROW(Problems(kOneOutput + kInputOnCpu), EnforceNotMet);
  EXPECT_THROW(Problems(kOneOutput, {.stay = {"X"}}), EnforceNotMet);
  EXPECT_EQ(Problems(kTwoOutputs + kOutputOnCpu, {.on_cpu = {"Z"}}), "");
  EXPECT_THAT(Problems(kTwoOutputs, {.on_cpu = {"Z"}}), HasSubstr("is not on CPU"));
  EXPECT_NE(Problems(kTwoOutputs + kOutputOnCpu + Wrong("value"), {.on_cpu = {"Z"}}), "");
  // On the CPU the operator has no fault.
  EXPECT_EQ(Problems(kOneOutput + Wrong("value"), {.device = CPU}), "");
}

TEST_F(DevicesAgreeTest, RejectsNamesThatTheOperatorDoesNotHave) {
  ExpectThrows([&] { Problems(kOneOutput, {.stay = {"Y"}}); }, "the operator has no input \"Y\"");
  ExpectThrows([&] { Problems(kOneOutput, {.on_cpu = {"X"}}); },
               "the operator has no output \"X\"");
  ExpectThrows([&] { ExpectDevicesAgree(&ws_, R"(type: "Relu" input: "none" output: "Y")"); },
               "input \"none\" is not in the workspace");
  ExpectThrows([&] { Problems(kOneOutput, {.engines = {}}); }, "names no engine");
}

TEST_F(DevicesAgreeTest, LeavesIndexOptionsAsTheyWere) {
  const int64_t before = GlobalIndexOptions().narrow_limit;
  EXPECT_GT(before, 0);
  EXPECT_EQ(Problems(kOneOutput), "");
  EXPECT_EQ(GlobalIndexOptions().narrow_limit, before);
  EXPECT_NE(Problems(kOneOutput + Wrong("wide")), "");
  EXPECT_EQ(GlobalIndexOptions().narrow_limit, before);
}

TEST_F(DevicesAgreeTest, ExpectsErrorsOfTheDevice) {
  Feed<float>(&ws_, "X", {1}, {1});
  const std::string throws = kOneOutput + Wrong("throw");
  const auto problems = [&](const std::string& text, const std::string& part,
                            DeviceType device = CUDA) {
    return Failures([&] { ExpectDeviceThrows(&ws_, text, part, device); });
  };
  EXPECT_EQ(problems(throws, "thrown on the device"), "");
  EXPECT_THAT(problems(throws, "another text"), HasSubstr("thrown on the device"));
  EXPECT_THAT(problems(kOneOutput, ""), HasSubstr("nothing was thrown"));
  EXPECT_THAT(problems(throws, "", CPU), HasSubstr("nothing was thrown"));
  EXPECT_EQ(problems(kOneOutput + kInputOnCpu, "is a tensor on CUDA, want one on CPU"), "");
}

struct Probe : OnDeviceTest {
  explicit Probe(DeviceType device) : OnDeviceTest(device) {}
  using OnDeviceTest::SetUp;
  void TestBody() override {}
};

TEST(OnDeviceTestTest, SkipsWithTheReasonIfTheDeviceIsMissing) {
  const auto device = static_cast<DeviceType>(18), unknown = static_cast<DeviceType>(19);
  AddTestDevice(device, [] { return std::string("all devices are out"); });
  testing::TestPartResultArray results;
  {
    const testing::ScopedFakeTestPartResultReporter reporter(
        testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &results);
    Probe(device).SetUp();
  }
  ASSERT_EQ(results.size(), 1);
  EXPECT_TRUE(results.GetTestPartResult(0).skipped());
  EXPECT_THAT(results.GetTestPartResult(0).message(), HasSubstr("all devices are out"));
  AddTestDevice(device, [] { return std::string(); });
  Probe(device).SetUp();
  EXPECT_FALSE(testing::Test::IsSkipped());
  ExpectThrows([&] { Probe(unknown).SetUp(); }, "this test program has no device");
}

}  // namespace
}  // namespace caffe2rt::test::devices_agree_test
