#include "caffe2_core/runtime/operator.h"

#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator_engines.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/runtime/workspace.h"
#include "caffe2_core/tensor/int8_tensor.h"
#include "contexts/cpu/cpu_context.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::operator_test {
namespace {

using test::ExpectThrows;
using test::ParseOp;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

template <class Context>
class OperatorTestOp : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  OperatorTestOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), OP_SINGLE_ARG(int, "arg", arg_, 5) {
    OPERATOR_NEEDS_FEATURE(!this->template GetSingleArgument<bool>("unsupported", false),
                           "feature ", 3);
  }
  bool RunOnDevice() override { return arg_ != 0; }
  int arg() const { return arg_; }

 private:
  const int arg_;
};
// The same operator with an engine that lacks the feature.
class OperatorTestFastOp final : public OperatorTestOp<CPUContext> {
 public:
  using OperatorTestOp<CPUContext>::OperatorTestOp;
};
REGISTER_CPU_OPERATOR(OperatorTest, OperatorTestOp<CPUContext>);
REGISTER_CPU_OPERATOR_WITH_ENGINE(OperatorTest, FAST, OperatorTestFastOp);
REGISTER_CPU_OPERATOR_WITH_ENGINE(OperatorTest, DETERMINISTIC, OperatorTestOp<CPUContext>);
REGISTER_CPU_OPERATOR_WITH_ENGINE(OperatorTestOther, FAST, OperatorTestFastOp);
OPERATOR_SCHEMA(OperatorTest).NumInputs(0, 2).NumOutputs(0, 2).AllowInplace({{0, 0}});
REGISTER_CPU_OPERATOR_STR("OperatorTestString", OperatorTestOp<CPUContext>)
REGISTER_CPU_OPERATOR_CREATOR(OperatorTestCreator, [](const OperatorDef& def, Workspace* ws) {
  return std::unique_ptr<OperatorBase>(new OperatorTestOp<CPUContext>(def, ws));
});

// Records which branch ran.
struct DispatchProbe {
  int ran = 0;
  template <class T>
  bool DoRunWithType() {
    ran = static_cast<int>(sizeof(T));
    return true;
  }
  bool DoRunWithOtherType() {
    ran = 100;
    return true;
  }
  template <int V>
  bool DoRunWithValue() {
    ran = V;
    return true;
  }
};

std::unique_ptr<OperatorBase> Make(Workspace* ws, const std::string& text) {
  return CreateOperator(ParseOp(text), ws);
}

TEST(OperatorTest, BindsItsArgumentsInputsAndOutputs) {
  Workspace ws;
  test::Feed<float>(&ws, "x", {2}, {1, 2});
  const auto op = Make(&ws, R"(type: "OperatorTest" name: "o" input: "x" output: "y"
                               arg { name: "arg" i: 7 } arg { name: "list" ints: 1 ints: 2 })");
  EXPECT_EQ(dynamic_cast<OperatorTestOp<CPUContext>*>(op.get())->arg(), 7);
  EXPECT_TRUE(op->HasArgument("arg"));
  EXPECT_FALSE(op->HasArgument("none"));
  EXPECT_TRUE(op->HasSingleArgumentOfType<int>("arg"));
  EXPECT_EQ(op->GetRepeatedArgument<int>("list").size(), 2u);
  EXPECT_EQ(op->InputSize(), 1);
  EXPECT_EQ(op->OutputSize(), 1);
  EXPECT_EQ(op->Input<Tensor>(0).numel(), 2);
  EXPECT_EQ(op->Input<Tensor>(0, CPU).numel(), 2);
  EXPECT_TRUE(op->InputIsType<Tensor>(0));
  EXPECT_TRUE(op->InputIsTensorType(0, CPU));
  EXPECT_FALSE(op->InputIsTensorType(0, CUDA));
  EXPECT_TRUE(ws.HasBlob("y"));
  *op->Output<int>(0) = 3;
  EXPECT_TRUE(op->OutputIsType<int>(0));
  op->Output<std::string>(0, new std::string("z"));
  EXPECT_EQ(ws.GetBlob("y")->Get<std::string>(), "z");
  EXPECT_EQ(op->type(), "OperatorTest");
  EXPECT_EQ(op->debug_def().name(), "o");
  EXPECT_EQ(op->InputTensorShapes()[0].dims(0), 2);
  EXPECT_EQ(op->workspace(), &ws);
  EXPECT_THAT(op->Describe(), HasSubstr("\"x\" float [2]"));
  ws.GetBlob("x")->GetMutable<Int8TensorCPU>()->t.Resize(3);
  ws.GetBlob("x")->GetMutable<Int8TensorCPU>()->t.mutable_data<uint8_t>();
  EXPECT_THAT(op->Describe(), HasSubstr("\"x\" quantized uint8 [3]"));
}

TEST(OperatorTest, DescribesEightBlobsAndCountsTheOthers) {
  Workspace ws;
  test::Feed<float>(&ws, "x", {2}, {1, 2});
  const auto description = [&](int inputs) {
    OperatorDef def = ParseOp(R"(type: "Sum" output: "y")");
    for (int i = 0; i < inputs; ++i) def.add_input("x");
    return CreateOperator(def, &ws)->Describe();
  };
  EXPECT_THAT(description(8), Not(HasSubstr(" more")));
  EXPECT_THAT(description(9), HasSubstr(" and 1 more, output \"y\""));
}

TEST(OperatorTest, ReplacesOutputsByTensorsThatShareOrCopy) {
  Workspace ws;
  Tensor* x = test::Feed<float>(&ws, "x", {2}, {1, 2});
  const auto op = Make(&ws, R"(type: "OperatorTest" input: "x" output: "x" output: "y")");
  EXPECT_TRUE(op->IsInputOutputAlias(0, 0));
  EXPECT_FALSE(op->IsInputOutputAlias(0, 1));
  op->OutputTensorAlias(1, *x);
  EXPECT_EQ(ws.GetBlob("y")->Get<Tensor>().raw_data(), x->raw_data());
  op->OutputTensorCopyFrom(1, CPU, *x);
  op->SetOutputTensor(1, Tensor(*x, CPU));
  EXPECT_NE(ws.GetBlob("y")->Get<Tensor>().raw_data(), x->raw_data());
  test::ExpectTensor<float>(ws, "y", {2}, {1, 2});
}

TEST(OperatorTest, NamesInputsThatAreMissingOrHoldSomethingElse) {
  Workspace ws;
  ExpectThrows([&] { Make(&ws, R"(type: "OperatorTest" input: "x")"); },
               "Encountered a non-existing input blob: x");
  *ws.CreateBlob("x")->GetMutable<int>() = 1;
  const auto op = Make(&ws, R"(type: "OperatorTest" input: "x")");
  EXPECT_EQ(op->Input<int>(0), 1);
  ExpectThrows([&] { op->Input<Tensor>(0); }, "x");
  ExpectThrows([&] { op->InputTensor(0, CPU); }, "x");
  ExpectThrows([&] { op->InputBlob(1); }, "1");
  ExpectThrows([&] { op->InputBlob(-1); }, "-1");
  ExpectThrows([&] { op->OutputBlob(0); }, "0");
  EXPECT_TRUE(op->InputTensorShapes()[0].unknown_shape());
}

// Of each input: its dims and its type, or that it has none.
TEST(OperatorTest, StatesTheShapesOfItsInputs) {
  Workspace ws;
  test::Feed<int64_t>(&ws, "a", {2, 0}, {});
  test::Feed<std::string>(&ws, "b", {}, {"text"});
  test::Feed<bool>(&ws, "c", {1, 3}, {true, false, true});
  ws.CreateBlob("d")->GetMutable<std::string>();
  ws.CreateBlob("e");
  ws.CreateBlob("f")->GetMutableTensor(CPU);
  const auto op = Make(&ws, R"(type: "Sum" input: "a" input: "b" input: "c" input: "d" input: "e"
                               input: "f" input: "a" output: "y")");
  const std::vector<TensorShape> shapes = op->InputTensorShapes();
  ASSERT_EQ(shapes.size(), 7u);
  const struct {
    std::vector<int64_t> dims;
    TensorProto_DataType type;
  } want[] = {{{2, 0}, TensorProto::INT64}, {{}, TensorProto::STRING}, {{1, 3}, TensorProto::BOOL}};
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_FALSE(shapes[i].unknown_shape());
    EXPECT_EQ(std::vector<int64_t>(shapes[i].dims().begin(), shapes[i].dims().end()), want[i].dims);
    EXPECT_EQ(shapes[i].data_type(), want[i].type);
  }
  for (size_t i = 3; i < 6; ++i) EXPECT_TRUE(shapes[i].unknown_shape()) << i;
  EXPECT_EQ(shapes[6].data_type(), TensorProto::INT64);
}

TEST(OperatorTest, RunAsyncSignalsTheEndByItsEvent) {
  Workspace ws;
  const auto good = Make(&ws, R"(type: "OperatorTest")");
  EXPECT_FALSE(good->HasEvent());
  EXPECT_TRUE(good->RunAsync());
  EXPECT_EQ(good->event().Query(), EventStatus::EVENT_SUCCESS);
  good->Finish();
  good->ResetEvent();
  EXPECT_EQ(good->event().Query(), EventStatus::EVENT_INITIALIZED);
  const auto bad = Make(&ws, R"(type: "OperatorTest" arg { name: "arg" i: 0 })");
  EXPECT_FALSE(bad->RunAsync());
  EXPECT_EQ(bad->event().Query(), EventStatus::EVENT_FAILED);
  EXPECT_FALSE(bad->Run());
  EXPECT_FALSE(good->HasAsyncPart() || good->SupportsAsyncScheduling());
  EXPECT_TRUE(good->IsStreamFree(0));
  good->DisableEvent();
  EXPECT_TRUE(good->IsEventDisabled());
  good->WaitEvents({&bad->event()});
}

class CountingObserver final : public ObserverBase<OperatorBase> {
 public:
  using ObserverBase<OperatorBase>::ObserverBase;
  void Start() override { ++starts; }
  void Stop() override { ++stops; }
  int starts = 0, stops = 0;
};

TEST(OperatorTest, StopsItsObserversAfterARunThatReturnsFalse) {
  Workspace ws;
  for (const int arg : {1, 0}) {
    const auto op =
        Make(&ws, MakeString(R"(type: "OperatorTest" arg { name: "arg" i: )", arg, "}"));
    std::vector<const CountingObserver*> observers;
    for (int i = 0; i < 2; ++i) {
      observers.push_back(static_cast<const CountingObserver*>(
          op->AttachObserver(std::make_unique<CountingObserver>(op.get()))));
    }
    for (int run = 1; run <= 2; ++run) {
      EXPECT_EQ(op->Run(), arg != 0);
      for (const CountingObserver* observer : observers) {
        EXPECT_EQ(observer->starts, run);
        EXPECT_EQ(observer->stops, run);
      }
    }
  }
}

TEST(OperatorRegistryTest, FindsOperatorsByTypeAndDevice) {
  EXPECT_TRUE(HasOperator(CPU, "OperatorTest"));
  EXPECT_FALSE(HasOperator(CUDA, "OperatorTest"));
  EXPECT_THAT(RegisteredOperatorTypes(CPU), Contains("OperatorTest"));
  EXPECT_THAT(RegisteredOperatorTypes(CPU), Contains("OperatorTestOther"));
  EXPECT_THAT(GetRegisteredOperators(), Contains("Relu"));
  EXPECT_EQ(OpRegistryKey("A", "E"), "A_ENGINE_E");
  EXPECT_EQ(OpRegistryKey("A", "DEFAULT"), "A");
  Workspace ws;
  EXPECT_TRUE(Make(&ws, R"(type: "OperatorTestCreator")")->Run());
  EXPECT_TRUE(Make(&ws, R"(type: "OperatorTestString")")->Run());
}

TEST(OperatorRegistryTest, HasARegistryForEachDeviceTypeAndNoOther) {
  EXPECT_EQ(OperatorRegistryOf(CPU), CPUOperatorRegistry());
  EXPECT_NE(OperatorRegistryOf(CPU), OperatorRegistryOf(CUDA));
  EXPECT_FALSE(HasOperator(static_cast<DeviceType>(kMaxDeviceTypes - 1), "OperatorTest"));
  for (const int type : {-1, static_cast<int>(kMaxDeviceTypes)}) {
    const auto device = static_cast<DeviceType>(type);
    const std::string message = MakeString("device type ", type, " is not known");
    ExpectThrows([&] { OperatorRegistryOf(device); }, message);
    ExpectThrows([&] { HasOperator(device, "OperatorTest"); }, message);
    ExpectThrows([&] { RegisteredOperatorTypes(device); }, message);
    ExpectThrows(
        [&] { RegisterOperator<OperatorTestOp<CPUContext>>(device, "OperatorTest", __FILE__); },
        message);
  }
}

TEST(OperatorRegistryTest, ExplainsWhatItCannotMake) {
  Workspace ws;
  ExpectThrows([&] { Make(&ws, R"(type: "OperatorTesst")"); }, "OperatorTest");
  ExpectThrows([&] { Make(&ws, R"(type: "ATen")"); }, "ATen");
  ExpectThrows([&] { Make(&ws, R"(type: "OperatorTest" device_option { device_type: 1 })"); },
               "CUDA");
  ExpectThrows([&] { Make(&ws, R"(type: "OperatorTest" device_option { device_type: 99 })"); },
               "99");
  ExpectThrows([&] { Make(&ws, R"(type: "OperatorTest" output: "a" output: "b" output: "c")"); },
               "Operator def did not pass schema checking");
  EXPECT_TRUE(IsKnownCaffe2Operator("ATen"));
  EXPECT_FALSE(IsKnownCaffe2Operator("OperatorTest"));
}

TEST(OperatorRegistryTest, SelectsTheFirstAvailableEngine) {
  Workspace ws;
  EXPECT_EQ(Make(&ws, R"(type: "OperatorTest" engine: "FAST")")->engine(), "FAST");
  EXPECT_EQ(Make(&ws, R"(type: "OperatorTest" engine: "NOPE,FAST")")->engine(), "FAST");
  EXPECT_EQ(Make(&ws, R"(type: "OperatorTest" engine: "NOPE")")->engine(), "");
  // As in Caffe2, the operator keeps ten letters of the name.
  EXPECT_EQ(Make(&ws, R"(type: "OperatorTest" engine: "DETERMINISTIC")")->engine(), "DETERMINIS");
  EXPECT_EQ(Make(&ws, R"(type: "OperatorTest")")->engine(), "");
}

TEST(OperatorRegistryTest, GoesToTheNextEngineWhenOneLacksAFeature) {
  Workspace ws;
  // Neither FAST nor the default implementation supports the feature, so creation fails with an
  // error that names the operator's type.
  ExpectThrows(
      [&] { Make(&ws, R"(type: "OperatorTest" engine: "FAST" arg { name: "unsupported" i: 1 })"); },
      "OperatorTest");
}

TEST(OperatorRegistryTest, PreferencesComeAfterTheOperatorsOwnEngine) {
  Workspace ws;
  SetOpEnginePref("OperatorTest", {{CPU, {"FAST"}}});
  EXPECT_EQ(Make(&ws, R"(type: "OperatorTest")")->engine(), "FAST");
  EXPECT_EQ(Make(&ws, R"(type: "OperatorTest" engine: "DETERMINISTIC")")->engine(), "DETERMINIS");
  SetOpEnginePref("OperatorTestOther", {{CPU, {"FAST"}}});
  EXPECT_EQ(Make(&ws, R"(type: "OperatorTestOther")")->engine(), "FAST");
  EXPECT_EQ(Make(&ws, R"(type: "OperatorTest")")->engine(), "FAST");
  SetPerOpEnginePref({});
  EXPECT_EQ(Make(&ws, R"(type: "OperatorTest")")->engine(), "");
  SetGlobalEnginePref({{CPU, {"FAST"}}});
  EXPECT_EQ(Make(&ws, R"(type: "OperatorTest")")->engine(), "FAST");
  SetEnginePref({}, {{CUDA, {"CUDNN"}}});
  EXPECT_EQ(Make(&ws, R"(type: "OperatorTest")")->engine(), "");
  EXPECT_THROW(SetGlobalEnginePref({{99, {"FAST"}}}), EnforceNotMet);
}

// The engines of the def, of the operator's type and of the device, in this order.
TEST(OperatorRegistryTest, TriesTheEnginesOfTheDefTheTypeAndTheDeviceInOrder) {
  const struct {
    const char* engine;
    EnginePrefType of_type, of_device;
    const char* taken;
  } rows[] = {
      {"", {}, {}, ""},
      {"", {"DETERMINISTIC"}, {"FAST"}, "DETERMINIS"},
      {"", {"FAST"}, {"DETERMINISTIC"}, "FAST"},
      {"", {"NOPE"}, {"FAST"}, "FAST"},
      {"", {"NOPE", "FAST", "DETERMINISTIC"}, {}, "FAST"},
      {"", {}, {"NOPE", "DETERMINISTIC", "FAST"}, "DETERMINIS"},
      {"FAST", {"DETERMINISTIC"}, {"DETERMINISTIC"}, "FAST"},
      {"NOPE", {"DETERMINISTIC"}, {"FAST"}, "DETERMINIS"},
      {",NOPE,,FAST,", {"DETERMINISTIC"}, {}, "FAST"},
      {"DEFAULT", {"FAST"}, {"FAST"}, "DEFAULT"},
      {"NOPE", {"NOPE"}, {"NOPE"}, ""},
  };
  Workspace ws;
  OperatorDef def = ParseOp(R"(type: "OperatorTest")");
  for (const auto& row : rows) {
    def.set_engine(row.engine);
    SetEnginePref({{CPU, {{"OperatorTest", row.of_type}}}}, {{CPU, row.of_device}});
    EXPECT_EQ(CreateOperator(def, &ws)->engine(), row.taken) << &row - rows;
    const bool is_default = *row.taken == '\0' || row.taken == std::string("DEFAULT");
    EXPECT_EQ(UsesEngine(def), !is_default) << &row - rows;
  }
  // Those of other devices and types do not count.
  def.clear_engine();
  SetEnginePref({{CUDA, {{"OperatorTest", {"FAST"}}}}, {CPU, {{"Other", {"FAST"}}}}},
                {{CUDA, {"FAST"}}});
  EXPECT_EQ(CreateOperator(def, &ws)->engine(), "");
  // Preferences of a type are replaced for the given devices only.
  SetOpEnginePref("OperatorTest", {{CPU, {"FAST"}}});
  SetOpEnginePref("OperatorTest", {{CUDA, {}}});
  EXPECT_EQ(CreateOperator(def, &ws)->engine(), "FAST");
  SetOpEnginePref("OperatorTest", {{CPU, {}}});
  EXPECT_EQ(CreateOperator(def, &ws)->engine(), "");
  SetPerOpEnginePref({});
  def.set_engine("NOPE,FAST,,DEFAULT,NONE");
  EXPECT_THAT(MissingEngines(def), ::testing::ElementsAre("NOPE", "NONE"));
}

// A preference for one device is one for none of the others, whose usual engines end with it.
TEST(OperatorRegistryTest, GlobalPreferencesReplaceThoseOfAllDevices) {
  RegisterOperator<OperatorTestFastOp>(CUDA, "OperatorTestOnlyEngine", __FILE__, "CUDNN");
  OperatorDef def = ParseOp(R"(type: "OperatorTestOnlyEngine" device_option { device_type: 1 })");
  SetGlobalEnginePref({{CUDA, {"CUDNN"}}});
  EXPECT_TRUE(UsesEngine(def));
  SetGlobalEnginePref({{CPU, {"CUDNN"}}});
  EXPECT_FALSE(UsesEngine(def));
  SetGlobalEnginePref({{CUDA, {"NOPE"}}});
  EXPECT_FALSE(UsesEngine(def));
  SetGlobalEnginePref({{CPU, {}}, {CUDA, {"NOPE", "CUDNN"}}});
  EXPECT_TRUE(UsesEngine(def));
  SetGlobalEnginePref({});
  EXPECT_FALSE(UsesEngine(def));
  def.set_engine("CUDNN");
  EXPECT_TRUE(UsesEngine(def));
}

TEST(OperatorRegistryTest, KnowsWhichDefsRunOnAnEngine) {
  const auto def = [](const std::string& engine) {
    OperatorDef op = ParseOp(R"(type: "OperatorTest")");
    op.set_engine(engine);
    return op;
  };
  EXPECT_TRUE(UsesEngine(def("FAST")));
  EXPECT_TRUE(UsesEngine(def("NOPE,FAST")));
  for (const char* engine : {"", "NOPE", "DEFAULT", "DEFAULT,FAST"}) {
    EXPECT_FALSE(UsesEngine(def(engine))) << engine;
  }
  SetOpEnginePref("OperatorTest", {{CPU, {"FAST"}}});
  EXPECT_TRUE(UsesEngine(def("")));
  SetPerOpEnginePref({});
  EXPECT_THAT(MissingEngines(def("NOPE,FAST")), ::testing::ElementsAre("NOPE"));
}

TEST(OperatorRegistryTest, CallsTheLoggerWithEveryDef) {
  Workspace ws;
  std::vector<std::string> seen;
  SetOperatorLogger([&](const OperatorDef& def) { seen.push_back(def.type()); });
  Make(&ws, R"(type: "OperatorTest")");
  SetOperatorLogger(nullptr);
  Make(&ws, R"(type: "OperatorTest")");
  EXPECT_THAT(seen, ::testing::ElementsAre("OperatorTest"));
}

// Under the lock of the logger, its destructor would wait for ever.
TEST(OperatorRegistryTest, LoggersThatEndMayCreateOperators) {
  Workspace ws;
  bool ended = false;
  const auto end = [&](int* state) {
    delete state;
    Make(&ws, R"(type: "OperatorTest")");
    ended = true;
  };
  SetOperatorLogger([state = std::shared_ptr<int>(new int, end)](const OperatorDef&) {});
  SetOperatorLogger(nullptr);
  EXPECT_TRUE(ended);
}

TEST(DispatchTest, CallsTheBranchOfTheElementType) {
  Tensor tensor(CPU);
  tensor.Resize(1);
  tensor.mutable_data<double>();
  DispatchProbe probe;
  EXPECT_TRUE((DispatchHelper<TensorTypes<float, double>>::call(&probe, tensor)));
  EXPECT_EQ(probe.ran, 8);
  EXPECT_TRUE((DispatchHelper<TensorTypes<float, double>>::call(&probe, TypeMeta::Make<float>())));
  EXPECT_EQ(probe.ran, 4);
  ExpectThrows([&] { DispatchHelper<TensorTypes<float, int>>::call(&probe, tensor); },
               "Unsupported type of tensor: double");
  EXPECT_EQ((DispatchByType<float, double>(tensor.dtype(), "X", [](auto v) { return sizeof(v); })),
            8u);
  ExpectThrows([&] { DispatchByType<float, int>(tensor.dtype(), "input 0 (X)", [](auto) {}); },
               "input 0 (X) has elements of type double, want float, int32");
}

TEST(DispatchTest, CallsTheBranchOfANumberOrTheGeneralOne) {
  DispatchProbe probe;
  EXPECT_TRUE((DispatchHelper<FixedValues<2, 3>>::call(&probe, 3)));
  EXPECT_EQ(probe.ran, 3);
  EXPECT_TRUE((DispatchHelper<FixedValues<2, 3>>::call(&probe, 4)));
  EXPECT_EQ(probe.ran, -1);
}

}  // namespace
}  // namespace caffe2rt::operator_test
