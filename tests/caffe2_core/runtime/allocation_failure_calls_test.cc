// Every form in which predictors, models and workspaces are made and called, while allocations fail.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "caffe2_core/inspect/model_check.h"
#include "caffe2_core/inspect/net_validation.h"
#include "caffe2_core/inspect/shape_inference_workspace.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2_core/model/memory_arena.h"
#include "caffe2_core/model/model_file.h"
#include "caffe2_core/model/model_inputs.h"
#include "caffe2_core/model/net_report.h"
#include "caffe2_core/model/packed_model.h"
#include "caffe2_core/model/predictor.h"
#include "caffe2_core/runtime/init.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/workspace.h"
#include "tests/support/allocation_sweep.h"
#include "tests/support/operator_test.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::allocation_failure_calls_test {
namespace {

using test::On;
using test::ParseNet;
using TensorList = Predictor::TensorList;
using TensorMap = Predictor::TensorMap;

// y = 3 x.
constexpr char kTriplesInit[] = R"(name: "init" op { type: "ConstantFill" output: "w"
    arg { name: "shape" ints: 2 } arg { name: "value" f: 3 } })";
constexpr char kTriples[] = R"(name: "a net whose name is no short string"
    op { type: "Mul" input: "x" input: "w" output: "y" }
    external_input: "x" external_input: "w" external_output: "y")";

Tensor OneTwo() {
  Tensor x(std::vector<int64_t>{2}, CPU);
  x.mutable_data<float>()[0] = 1;
  x.mutable_data<float>()[1] = 2;
  return x;
}

void ExpectTriples(const Tensor& y) {
  ASSERT_EQ(y.numel(), 2);
  EXPECT_EQ(y.data<float>()[0], 3);
  EXPECT_EQ(y.data<float>()[1], 6);
}

class CallsWithoutMemoryTest : public test::AllocationFailureTest {
 protected:
  // Sweeps over a function that returns a number of its result, and allocates nothing itself.
  static void ExpectNumber(const std::function<size_t()>& compute, size_t want) {
    ASSERT_EQ(compute(), want);
    Sweep([&] {
      return On<size_t>(
          std::make_shared<size_t>(), [&](size_t& number) { number = compute(); },
          [&](size_t& number) { EXPECT_EQ(number, want); });
    });
  }
};

// What the calls read is made before allocations fail.
struct CallState {
  Predictor predictor{ParseNet(kTriplesInit), ParseNet(kTriples)};
  Tensor x = OneTwo();
  TensorList list, held;
  TensorMap inputs = {{"x", x}}, map;
  Predictor::TensorVector inputs_of_run = {&x}, pointers;
  Predictor::TensorPointerMap pointers_of_run = {{"x", &x}};
  Workspace* ws = nullptr;
};

TEST_F(CallsWithoutMemoryTest, PredictorsAreCalledInEachForm) {
  const std::pair<const char*, std::function<void(CallState&)>> forms[] = {
      {"map to list",
       [](CallState& s) {
         s.predictor(s.inputs, &s.list);
         s.held.swap(s.list);  // so that the next call needs new memory
         s.predictor(s.inputs, &s.list);
       }},
      {"map to map", [](CallState& s) { s.predictor(s.inputs, &s.map); }},
      {"pointers", [](CallState& s) { s.predictor.run(s.inputs_of_run, &s.pointers); }},
      {"map of pointers",
       [](CallState& s) { s.predictor.run_map(s.pointers_of_run, &s.pointers); }},
      {"map to pointers", [](CallState& s) { s.predictor.run_map(s.inputs, &s.pointers); }},
      {"workspace", [](CallState& s) { s.ws = s.predictor.ws(); }},
      {"report", [](CallState& s) { EXPECT_EQ(s.predictor.Report().operators.size(), 1u); }}};
  for (const auto& [name, call] : forms) {
    SCOPED_TRACE(name);
    Sweep([&call = call] {
      return On<CallState>(std::make_shared<CallState>(), call, [](CallState& s) {
        for (const Tensor& y : s.list) ExpectTriples(y);
        for (const Tensor& y : s.held) ExpectTriples(y);
        for (const auto& entry : s.map) ExpectTriples(entry.second);
        for (const Tensor* y : s.pointers) ExpectTriples(*y);
        s.predictor(s.inputs, &s.list);
        ASSERT_EQ(s.list.size(), 1u);
        ExpectTriples(s.list[0]);
      });
    });
  }
}

// An arena that was counted as leased for ever would keep the memory of all.
TEST(ArenasWithoutMemoryTest, ALeaseThatFailsDoesNotCount) {
  for (int64_t failing = 0;; ++failing) {
    ArenaStock stock(0);
    {
      const test::FailingAllocations without(failing, test::FailingAllocations::Mode::kOne);
      try {
        (void)stock.Lease(nullptr);
        ASSERT_GT(failing, 0) << "nothing was allocated";
        break;
      } catch (const std::bad_alloc&) {
      }
    }
    MemoryArena* const arena = stock.Lease(nullptr);
    arena->Reserve(100);
    stock.Return(arena);
    EXPECT_EQ(stock.bytes(), 0u);
  }
}

MetaNetDef MetaOfTriples() {
  MetaNetDef meta;
  for (const auto& [key, net] : {std::pair("PREDICT_INIT_NET_TYPE", kTriplesInit),
                                 std::pair("PREDICT_NET_TYPE", kTriples)}) {
    auto* const entry = meta.add_nets();
    entry->set_key(key);
    *entry->mutable_value() = ParseNet(net);
  }
  return meta;
}

struct MadeState {
  std::optional<Predictor> predictor;
  const MetaNetDef meta = MetaOfTriples();
  std::vector<MetaNetDef> metas = {meta, meta};  // one for each call
  std::vector<Model> models;
  std::shared_ptr<Workspace> parent = std::make_shared<Workspace>();
  PredictorConfig config;
  const PredictorOptions options;

  MadeState() {
    for (int i = 0; i < 2; ++i) models.push_back(LoadModelFromMemory({kTriplesInit}, kTriples));
    parent->RunNetOnce(ParseNet(kTriplesInit));
    config.predict_net = std::make_shared<NetDef>(ParseNet(kTriples));
    config.input_names = {"x"};
    config.output_names = {"y"};
    config.ws = parent;
  }
};

TEST_F(CallsWithoutMemoryTest, PredictorsAreMadeInEachForm) {
  const std::pair<const char*, std::function<void(MadeState&)>> forms[] = {
      {"copied meta net", [](MadeState& s) { s.predictor.emplace(s.meta); }},
      {"moved meta net",
       [](MadeState& s) {
         MetaNetDef meta = std::move(s.metas.back());
         s.metas.pop_back();
         s.predictor.emplace(std::move(meta));
       }},
      {"shared parent", [](MadeState& s) { s.predictor.emplace(s.meta, s.parent, s.options); }},
      {"config", [](MadeState& s) { s.predictor.emplace(s.config); }},
      {"model", [](MadeState& s) {
         Model model = std::move(s.models.back());
         s.models.pop_back();
         s.predictor.emplace(std::move(model));
       }}};
  for (const auto& [name, make] : forms) {
    SCOPED_TRACE(name);
    Sweep([&make = make] {
      return On<MadeState>(
          std::make_shared<MadeState>(),
          [&make](MadeState& s) {
            s.predictor.reset();
            make(s);
          },
          [](MadeState& s) {
            TensorList out;
            ASSERT_TRUE((*s.predictor)(TensorMap{{"x", OneTwo()}}, &out));
            ExpectTriples(out.at(0));
          });
    });
  }
}

struct ModelState {
  std::optional<Model> model;
  std::optional<Workspace> ws;
  NetBase* net = nullptr;
};

// The zeros of an init net are removed before the net is made.
TEST_F(CallsWithoutMemoryTest, ModelsInMemoryAreLoadedAndRun) {
  const std::string init =
      std::string(kTriplesInit) +
      R"( op { type: "ConstantFill" output: "x" arg { name: "shape" ints: 2 } })";
  const std::vector<std::string_view> inits = {init};
  const std::string caffe =
      "layer { name: 'x' type: 'Input' top: 'x' input_param { shape { dim: 2 } } } "
      "layer { name: 'y' type: 'ReLU' bottom: 'x' top: 'y' }";
  const ModelFileOptions options;
  Sweep([&] {
    return On<ModelState>(
        std::make_shared<ModelState>(),
        [&](ModelState& s) {
          s.ws.emplace();
          s.model.emplace(LoadModelFromMemory(inits, kTriples, options));
          RunInitNets(&*s.model, &*s.ws);
          s.net = CreatePredictNet(*s.model, &*s.ws);
          RemoveZeroPlaceholders(&*s.model, &*s.ws);
        },
        [](ModelState& s) {
          ASSERT_NE(s.net, nullptr);
          EXPECT_FALSE(s.ws->HasBlob("x"));
          EXPECT_TRUE(s.ws->HasBlob("w"));
        });
  });
  Sweep([&] {
    return On<ModelState>(
        std::make_shared<ModelState>(),
        [&](ModelState& s) { s.model.emplace(LoadCaffeModelFromMemory(caffe, {}, options)); },
        [](ModelState& s) {
          EXPECT_EQ(s.model->inputs, std::vector<std::string>{"x"});
          EXPECT_EQ(s.model->outputs, std::vector<std::string>{"y"});
        });
  });
}

TEST_F(CallsWithoutMemoryTest, BlobsOfWorkspacesAreListedMadeRenamedAndForwarded) {
  const std::string first = "the name of the first of some blobs",
                    other = "the name of another blob",
                    last = "the name that the first one has at the end",
                    empty = "the name of a blob that holds nothing",
                    local = "the name of a local blob, also without value";
  const std::unordered_map<std::string, std::string> forwarded = {
      {"a name that is forwarded, which is long", first},
      {"another name that is forwarded", first}};
  Workspace parent;
  test::Feed<float>(&parent, first, {1}, {5});
  const OperatorDef scale = test::ParseOp(R"(type: "Scale" input: "the name of another blob"
      output: "the name of the result of the operator" arg { name: "scale" f: 2 })");
  Sweep([&] {
    auto state = std::make_shared<Workspace>();
    test::Feed<float>(state.get(), first, {1}, {7});
    test::Feed<float>(state.get(), other, {1}, {8});
    return On<Workspace>(
        state,
        [&](Workspace& ws) {
          if (!ws.HasBlob(last)) ws.RenameBlob(first, last);
          EXPECT_NE(ws.CreateBlob(empty), nullptr);
          EXPECT_NE(ws.CreateLocalBlob(local), nullptr);
          ws.AddBlobMapping(&parent, forwarded, true);
          EXPECT_GE(ws.LocalBlobs().size(), 4u);
          EXPECT_GE(ws.Blobs().size(), 6u);
          EXPECT_TRUE(ws.RunOperatorOnce(scale));
        },
        [&](Workspace& ws) {
          EXPECT_FALSE(ws.HasBlob(first));
          EXPECT_EQ(ws.GetBlob(last)->Get<Tensor>().data<float>()[0], 7);
          EXPECT_EQ(ws.GetBlob(scale.output(0))->Get<Tensor>().data<float>()[0], 16);
          for (const auto& entry : forwarded)
            EXPECT_EQ(ws.GetBlob(entry.first), static_cast<Workspace&>(parent).GetBlob(first));
          EXPECT_EQ(ws.LocalBlobs().size(), 5u);
          EXPECT_EQ(ws.Blobs().size(), 7u);
        });
  });
}

TEST_F(CallsWithoutMemoryTest, ChecksOfNetsAndPlansAreWhole) {
  const NetDef net = ParseNet(kTriples), init = ParseNet(kTriplesInit);
  ModelToCheck model;
  for (const char* const name : {"x", "w"})
    model.given[name] =
        CreateTensorShape(std::vector<int64_t>{name[0] == 'x' ? 2 : 3}, TensorProto::FLOAT);
  ExpectNumber([&] { return ValidateInitNet(init).size(); }, 0);
  ExpectNumber([&] { return ValidateShapes(net, model).size(); }, 1);
  PlanDef plan;
  ASSERT_TRUE(ParseProtoFromText(R"(name: "p" network { name: "n" } network { name: "n" }
      execution_step { name: "s" network: "a net that is not in the plan" })",
                                 &plan));
  ExpectNumber([&] { return ValidatePlan(plan).size(); }, 2);
  Workspace ws;
  test::Feed<float>(&ws, "x", {2}, {1, 2});
  test::Feed<float>(&ws, "w", {2}, {1, 2});
  NetDef inferred = net;
  const std::vector<NetDef*> nets = {&inferred};
  ExpectNumber(
      [&] {
        return static_cast<size_t>(InferBlobShapesAndTypesFromWorkspace(&ws, nets).shapes_size());
      },
      3);
  const test::TempDir dir;
  const std::string file = dir.Write("a file with a name that is long.pbtxt", kTriples);
  ExpectNumber([&] { return static_cast<size_t>(IsPackedModel(file)); }, 0);
  ExpectNumber([] { return static_cast<size_t>(GlobalInit()); }, 1);
}

}  // namespace
}  // namespace caffe2rt::allocation_failure_calls_test
