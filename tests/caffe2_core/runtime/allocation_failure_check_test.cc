// Checks nets, names blobs and opens predictors while allocations fail: what ends is whole, and what does not
// throws.
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "caffe2_core/inspect/model_check.h"
#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/io/db.h"
#include "caffe2_core/model/fetched_blobs.h"
#include "caffe2_core/model/init_net.h"
#include "caffe2_core/model/model_file.h"
#include "caffe2_core/model/model_inputs.h"
#include "caffe2_core/model/packed_model.h"
#include "caffe2_core/model/predictor.h"
#include "caffe2_core/runtime/workspace.h"
#include "tests/support/allocation_sweep.h"
#include "tests/support/operator_test.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::allocation_failure_check_test {
namespace {

using test::AllocationFailureTest;
using test::On;
using test::ParseNet;
using Names = std::vector<std::string>;

// A name that its string keeps on the heap. The names are made before allocations fail.
std::string Long(const std::string& name) { return name + "_of_a_length_that_needs_memory"; }
Names LongNames(const char* begin, int count) {
  Names names;
  for (int i = 0; i < count; ++i) names.push_back(Long(MakeString(begin, i)));
  return names;
}

class CheckWithoutMemoryTest : public AllocationFailureTest {
 protected:
  // Sweeps over `compute`, whose result is always the same if there is one.
  template <class Result, class Compute, class Text>
  static void ExpectWhole(const Compute& compute, const Text& text) {
    const auto want = text(compute());
    Sweep([&] {
      return On<std::optional<Result>>(
          std::make_shared<std::optional<Result>>(),
          [&](std::optional<Result>& result) {
            result.reset();
            result.emplace(compute());
          },
          [&](std::optional<Result>& result) { EXPECT_EQ(text(*result), want); });
    });
  }
  template <class Result, class Compute>
  static void ExpectWhole(const Compute& compute) {
    ExpectWhole<Result>(compute, [](const Result& result) { return result; });
  }
};

Names TextsOf(const std::vector<NetFinding>& findings) {
  Names texts;
  for (const NetFinding& finding : findings) texts.push_back(finding.text);
  return texts;
}

TEST_F(CheckWithoutMemoryTest, FindsAllOrNothing) {
  using Findings = std::vector<NetFinding>;
  const NetDef net = ParseNet(R"(name: "n" external_input: "x" external_input: "w"
      op { type: "Mul" input: "x" input: "w" output: "y" })");
  ModelToCheck model;
  model.given["x"] = CreateTensorShape(std::vector<int64_t>{2}, TensorProto::FLOAT);
  model.given_is_complete = model.has_surroundings = true;
  EXPECT_EQ(ValidateModel(net, model).size(), 1u);  // nothing fills w
  ExpectWhole<Findings>([&] { return ValidateModel(net, model); }, TextsOf);
}

TEST_F(CheckWithoutMemoryTest, NamesInputsAndBlobs) {
  const Names inputs = LongNames("x", 12), weights = LongNames("w", 12),
              outputs = LongNames("y", 12);
  NetDef net = ParseNet(R"(name: "net")"), init = ParseNet(R"(name: "init")");
  for (size_t i = 0; i < inputs.size(); ++i) {
    OperatorDef* const op = net.add_op();
    op->set_type("Add");
    op->add_input(inputs[i]);
    op->add_input(weights[i]);
    op->add_output(outputs[i]);
    for (const std::string& input : op->input()) net.add_external_input(input);
    OperatorDef* const fill = init.add_op();
    fill->set_type("ConstantFill");
    fill->add_output(inputs[i]);
    *fill->add_arg() = MakeArgument("shape", std::vector<int64_t>{1, 2});
  }
  const std::vector<const NetDef*> nets = {&net}, init_nets = {&init};
  const std::vector<std::vector<OperatorWeights>> no_weights(1);
  const std::string close = Long("y"), far = Long("quite_another");
  ExpectWhole<Names>(
      [&] { return UnfilledInputs(net, [](const std::string& name) { return name[0] == 'w'; }); });
  ExpectWhole<std::string>([&] { return InputsNotGivenText(net, inputs, {}, {}); });
  ExpectWhole<std::string>([&] { return WhyNotFetchable(nets, close, inputs); });
  // Never accepts a name that nothing reads.
  ExpectWhole<bool>([&] {
    try {
      CheckInputName(nets, far);
      return false;
    } catch (const EnforceNotMet&) {
      return true;
    }
  });
  ExpectWhole<std::vector<ZeroPlaceholder>>(
      [&] { return ZeroPlaceholdersOf(net, init_nets, no_weights, inputs); },
      [](const std::vector<ZeroPlaceholder>& found) {
        Names names;
        for (const ZeroPlaceholder& zeros : found) names.push_back(zeros.name);
        return names;
      });
}

TEST_F(CheckWithoutMemoryTest, NamesNetsAndSharesBlobs) {
  const Names nets = LongNames("n", 4), blobs = LongNames("b", 4);
  const auto blob = std::make_shared<Blob>();
  Sweep([&] {
    auto ws = std::make_shared<Workspace>();
    for (const std::string& name : nets) {
      NetDef net;
      net.set_name(name);
      ws->CreateNet(net);
    }
    return On<Workspace>(
        ws,
        [&](Workspace& w) {
          EXPECT_EQ(w.Nets().size(), 4u);
          for (const std::string& name : blobs) {
            w.ShareBlob(name, blob);
            EXPECT_TRUE(w.HasBlob(name));
          }
        },
        [](Workspace& w) { EXPECT_EQ(w.LocalBlobs().size(), 4u); });
  });
}

// A name is forwarded until it has its copy.
TEST_F(CheckWithoutMemoryTest, CopiesForwardedTensors) {
  const Names sources = LongNames("b", 3), copies = LongNames("c", 3);
  Workspace parent;
  std::unordered_map<std::string, std::string> names;
  for (size_t i = 0; i < 3; ++i) {
    test::Feed<float>(&parent, sources[i], {2}, {1.f, static_cast<float>(i)});
    names[copies[i]] = sources[i];
  }
  Sweep([&] {
    auto ws = std::make_shared<Workspace>();
    ws->AddBlobMapping(&parent, names);
    return On<Workspace>(
        ws, [&](Workspace& w) { w.CopyForwardedTensors(copies); },
        [&](Workspace& w) {
          for (size_t i = 0; i < 3; ++i) {
            const Tensor& copy = w.GetBlob(copies[i])->Get<Tensor>();
            EXPECT_EQ(copy.data<float>()[1], static_cast<float>(i));
            EXPECT_NE(copy.raw_data(), parent.GetBlob(sources[i])->Get<Tensor>().raw_data());
          }
        });
  });
}

TEST_F(CheckWithoutMemoryTest, RunsInitNetsOfAnyType) {
  const Names names = LongNames("w", 5);
  struct Fills {
    Workspace ws;
    std::vector<NetDef> nets;  // one for each call
  };
  for (const char* const type : {"", "dag"}) {
    SCOPED_TRACE(type);
    NetDef init = ParseNet(R"(name: "init")");
    init.set_type(type);
    for (const std::string& name : names) {
      OperatorDef* const fill = init.add_op();
      fill->set_type("ConstantFill");
      fill->add_output(name);
      *fill->add_arg() = MakeArgument("shape", std::vector<int64_t>{1, 2});
    }
    Sweep([&] {
      auto fills = std::make_shared<Fills>();
      fills->nets.assign(2, init);
      return On<Fills>(
          fills,
          [&](Fills& state) {
            NetDef net = std::move(state.nets.back());
            state.nets.pop_back();
            RunInitNet(std::move(net), &state.ws);
          },
          [&](Fills& state) {
            for (const std::string& name : names) EXPECT_TRUE(state.ws.HasBlob(name));
          });
    });
  }
}

// --- predictors ---

MetaNetDef MetaOf() {
  MetaNetDef meta;
  const auto add = [&](const char* key, const char* net) {
    auto* const entry = meta.add_nets();
    entry->set_key(key);
    *entry->mutable_value() = ParseNet(net);
  };
  add("PREDICT_INIT_NET_TYPE", R"(name: "init" op { type: "ConstantFill" output: "w"
      arg { name: "shape" ints: 2 } arg { name: "value" f: 3 } })");
  add("PREDICT_NET_TYPE", R"(name: "predict" op { type: "Mul" input: "x" input: "w" output: "y" }
      external_input: "x" external_input: "w" external_output: "y")");
  const auto blobs = [&](const char* key, const char* name) {
    auto* const entry = meta.add_blobs();
    entry->set_key(key);
    entry->add_value(name);
  };
  blobs("INPUTS_BLOB_TYPE", "x");
  blobs("OUTPUTS_BLOB_TYPE", "y");
  return meta;
}

void ExpectTriples(Predictor& predictor) {
  Tensor x(std::vector<int64_t>{2}, CPU);
  x.mutable_data<float>()[0] = 1;
  x.mutable_data<float>()[1] = 2;
  Predictor::TensorVector outputs;
  ASSERT_TRUE(predictor.run({&x}, &outputs));
  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_EQ(outputs[0]->data<float>()[1], 6);
}

TEST_F(CheckWithoutMemoryTest, OpensPredictors) {
  const test::TempDir dir;
  {
    Blob blob;
    *blob.GetMutable<std::string>() = MetaOf().SerializeAsString();
    const auto database = db::CreateDB("minidb", dir.path("p"), db::NEW);
    database->NewTransaction()->Put("!!META_NET_DEF", SerializeBlob(blob, "!!META_NET_DEF"));
  }
  using Made = std::optional<Predictor>;
  const std::string path = dir.path("p");
  Sweep([&] {
    return On<Made>(
        std::make_shared<Made>(),
        [&](Made& made) {
          made.reset();
          made.emplace(LoadPredictor(path, "minidb"));
        },
        [](Made& made) { ExpectTriples(*made); });
  });
}

TEST_F(CheckWithoutMemoryTest, OpensPackedModels) {
  const test::TempDir dir;
  const std::string path = dir.path("m.c2pack");
  {
    Model model;
    model.predict_net = ParseNet(R"(name: "n" external_output: "y")");
    Workspace ws;
    OperatorDef* const sum = model.predict_net.add_op();
    sum->set_type("Sum");
    sum->add_output("y");
    for (int i = 0; i < 30; ++i) {
      const std::string name = Long(MakeString("x", i));
      sum->add_input(name);
      model.predict_net.add_external_input(name);
      model.inputs.push_back(name);
    }
    model.outputs = {"y"};
    ModelPacker(model, ws).Write(path);
  }
  using Opened = std::shared_ptr<const PackedModel>;
  Sweep([&] {
    return On<Opened>(
        std::make_shared<Opened>(), [&](Opened& opened) { opened = PackedModel::Open(path); },
        [](Opened& opened) { EXPECT_EQ(opened->inputs().size(), 30u); });
  });
}

}  // namespace
}  // namespace caffe2rt::allocation_failure_check_test
