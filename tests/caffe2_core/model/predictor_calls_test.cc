// Every form of a predictor's call: what a later call leaves of an earlier one, and how a run is stopped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "caffe2_core/model/model_file.h"
#include "caffe2_core/model/predictor.h"
#include "caffe2_core/runtime/waiting.h"
#include "tests/caffe2_core/model/predictor_nets.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"

namespace caffe2rt::test::predictor_calls_test {
namespace {

using ::testing::ElementsAre;
using std::string_literals::operator""s;

using Results = std::map<std::string, std::vector<float>>;

// y = x + w, z = max(y, 0); both are outputs.
constexpr char kTwoOutputs[] = R"(name: "sum"
  op { type: "Add" input: "x" input: "w" output: "y" }
  op { type: "Relu" input: "y" output: "z" }
  external_input: "x" external_input: "w" external_output: "z" external_output: "y")";

// One form of call, on containers that an earlier call has filled.
struct CallForm {
  const char* name;
  std::function<Results(Predictor*, const Tensor& x)> call;
};

Results InOrder(const std::vector<std::vector<float>>& values) {
  EXPECT_EQ(values.size(), 2u);
  return {{"z", values.at(0)}, {"y", values.at(1)}};
}

Results OfList(const Predictor::TensorList& list) {
  std::vector<std::vector<float>> values;
  for (const Tensor& tensor : list) values.push_back(Values(tensor));
  return InOrder(values);
}

Results OfPointers(const Predictor::TensorVector& list) {
  std::vector<std::vector<float>> values;
  for (const Tensor* tensor : list) values.push_back(Values(*tensor));
  return InOrder(values);
}

TEST(PredictorCallsTest, ReplaceWhatTheirContainersHeld) {
  Tensor stray = Vector({7});
  Predictor::TensorList list = {stray, stray, stray};
  Predictor::TensorMap map = {{"z", stray}, {"stray", stray}};
  Predictor::TensorVector pointers = {&stray, nullptr, &stray};
  const CallForm forms[] = {
      {"list to list",
       [&](Predictor* predictor, const Tensor& x) {
         EXPECT_TRUE((*predictor)({x}, &list));
         return OfList(list);
       }},
      {"map to list",
       [&](Predictor* predictor, const Tensor& x) {
         EXPECT_TRUE((*predictor)(Predictor::TensorMap{{"x", x}}, &list));
         return OfList(list);
       }},
      {"map to map",
       [&](Predictor* predictor, const Tensor& x) {
         EXPECT_TRUE((*predictor)(Predictor::TensorMap{{"x", x}}, &map));
         Results results;
         for (const auto& [name, tensor] : map) results[name] = Values(tensor);
         return results;
       }},
      {"pointers",
       [&](Predictor* predictor, const Tensor& x) {
         Tensor same = x;
         EXPECT_TRUE(predictor->run({&same}, &pointers));
         return OfPointers(pointers);
       }},
      {"map of pointers",
       [&](Predictor* predictor, const Tensor& x) {
         Tensor same = x;
         EXPECT_TRUE(predictor->run_map(Predictor::TensorPointerMap{{"x", &same}}, &pointers));
         return OfPointers(pointers);
       }},
      {"map to pointers",
       [&](Predictor* predictor, const Tensor& x) {
         EXPECT_TRUE(predictor->run_map(Predictor::TensorMap{{"x", x}}, &pointers));
         return OfPointers(pointers);
       }},
  };
  for (const bool optimize : {true, false}) {
    Predictor predictor(ParseNet(kInit), ParseNet(kTwoOutputs), nullptr, {.optimize = optimize});
    EXPECT_THAT(predictor.output_names(), ElementsAre("z", "y"));
    float start = 0;
    for (int round = 0; round < 2; ++round) {
      for (const CallForm& form : forms) {
        SCOPED_TRACE(form.name);
        start += 3;
        const Results got = form.call(&predictor, Vector({start, -start - 20}));
        EXPECT_EQ(got, (Results{{"y", {start + 10, -start}}, {"z", {start + 10, 0}}}));
      }
    }
  }
}

// What a call leaves out keeps the value of the call before, in the instance of pointers as in the others.
TEST(PredictorCallsTest, InputsWithoutAValueKeepTheirLastOne) {
  Predictor predictor(NetDef(), ParseNet(R"(name: "n"
      op { type: "Sub" input: "a" input: "b" output: "y" }
      external_input: "a" external_input: "b" external_output: "y")"));
  Tensor a = Vector({5}), b = Vector({2}), c = Vector({100});
  Predictor::TensorVector pointers;
  const auto value = [&] { return Values(*pointers.at(0)); };
  predictor.run({&a, &b}, &pointers);
  EXPECT_THAT(value(), ElementsAre(3));
  predictor.run({&c}, &pointers);
  EXPECT_THAT(value(), ElementsAre(98));
  predictor.run_map(Predictor::TensorMap{{"b", a}}, &pointers);
  EXPECT_THAT(value(), ElementsAre(95));
  predictor.run_map(Predictor::TensorPointerMap{{"b", &c}}, &pointers);
  EXPECT_THAT(value(), ElementsAre(0));
  predictor.run({}, &pointers);
  EXPECT_THAT(value(), ElementsAre(0));
  Predictor::TensorList list;
  predictor(Predictor::TensorList{a, b}, &list);
  predictor(Predictor::TensorMap{{"b", c}}, &list);
  EXPECT_THAT(Values(list.at(0)), ElementsAre(-95));
}

// The results are Caffe2's.
TEST(PredictorCallsTest, WeightsThatACallGaveAreKept) {
  const NetDef init = ParseNet(R"(name: "i" op { type: "GivenTensorFill" output: "w"
      arg { name: "shape" ints: 1 } arg { name: "values" floats: 100 } })");
  const NetDef net = ParseNet(R"(name: "n"
      op { type: "Sum" input: "a" input: "b" input: "w" output: "y" }
      external_input: "a" external_input: "b" external_input: "w" external_output: "y")");
  const auto call = [](Predictor* predictor, const Predictor::TensorMap& inputs) {
    Predictor::TensorList out;
    (*predictor)(inputs, &out);
    return Values(out.at(0));
  };
  Predictor predictor(init, net);
  EXPECT_THAT(call(&predictor, {{"a", Vector({1})}, {"b", Vector({2})}}), ElementsAre(103));
  EXPECT_THAT(call(&predictor, {{"a", Vector({10})}}), ElementsAre(112));
  EXPECT_THAT(call(&predictor, {{"a", Vector({5})}, {"b", Vector({6})}, {"w", Vector({7})}}),
              ElementsAre(18));
  EXPECT_THAT(call(&predictor, {{"b", Vector({3})}}), ElementsAre(15));
  Predictor other(init, net);
  EXPECT_THROW(call(&other, {{"a", Vector({1})}}), EnforceNotMet);
}

// The next run overwrites the tensors of the last one, also while it reads them.
TEST(PredictorCallsTest, PointersMayBeInputsOfTheNextRun) {
  using Pointers = Predictor::TensorVector;
  const NetDef init = ParseNet(R"(name: "i" op { type: "GivenTensorFill" output: "w"
      arg { name: "shape" ints: 2 ints: 2 } arg { name: "values" floats: [0, 1, 1, 1] } })");
  const NetDef net = ParseNet(R"(name: "n" op { type: "MatMul" input: "x" input: "w" output: "y" }
      external_input: "x" external_input: "w" external_output: "y")");
  const std::function<void(Predictor*, Pointers*)> calls[] = {
      [](Predictor* p, Pointers* y) { p->run(*y, y); },
      [](Predictor* p, Pointers* y) {
        p->run_map(Predictor::TensorMap{{"x", *y->at(0)}}, y);
      },
      [](Predictor* p, Pointers* y) {
        p->run_map(Predictor::TensorPointerMap{{"x", y->at(0)}}, y);
      }};
  for (const bool optimize : {true, false}) {
    for (const auto& call : calls) {
      Predictor predictor(init, net, nullptr, {.optimize = optimize});
      Tensor x = Vector({1, 1, 2, 3});
      x.Reshape({2, 2});
      Pointers y = {&x};
      for (int i = 0; i < 3; ++i) call(&predictor, &y);
      EXPECT_THAT(Values(*y.at(0)), ElementsAre(3, 5, 8, 13));  // Fibonacci's numbers
    }
  }
  // Each input is read before one of them is written.
  Predictor swaps(NetDef(), ParseNet(R"(name: "s" op { type: "Relu" input: "a" output: "a" }
      op { type: "Relu" input: "b" output: "b" } external_input: "a" external_input: "b"
      external_output: "a" external_output: "b")"));
  Tensor a = Vector({1}), b = Vector({2});
  Pointers out;
  swaps.run({&a, &b}, &out);
  swaps.run({out.at(1), out.at(0)}, &out);
  EXPECT_THAT(Values(*out.at(0)), ElementsAre(2));
  EXPECT_THAT(Values(*out.at(1)), ElementsAre(1));
  // Outputs that are the inputs themselves.
  Predictor passes(NetDef(), ParseNet(R"(name: "p"
      op { type: "Sub" input: "a" input: "b" output: "y" } external_input: "a" external_input: "b"
      external_output: "a" external_output: "b" external_output: "y")"));
  passes.run({&a, &b}, &out);
  for (const float difference : {1.f, -1.f}) {
    passes.run({out.at(1), out.at(0)}, &out);
    EXPECT_THAT(Values(*out.at(2)), ElementsAre(difference));
  }
}

// Also where an output shares the memory of an input, as that of Alias does.
TEST(PredictorCallsTest, WarmRunsWithPointersDoNotAllocate) {
  if (!AllocationCounter::kCounts) GTEST_SKIP() << "the build counts no allocations";
  for (const char* type : {"Relu", "Alias"}) {
    SCOPED_TRACE(type);
    Predictor predictor(NetDef(), ParseNet(R"(name: "n" external_input: "x" external_output: "y"
        external_output: "z" op { type: ")"s +
                                           type + R"(" input: "x" output: "y" }
        op { type: "Negative" input: "y" output: "z" })"));
    Tensor x = Vector({1, 2, 3});
    const Predictor::TensorVector list = {&x};
    const Predictor::TensorPointerMap pointers = {{"x", &x}};
    const Predictor::TensorMap map = {{"x", x}};
    Predictor::TensorVector out;
    const std::function<void()> calls[] = {[&] { predictor.run(list, &out); },
                                           [&] { predictor.run_map(pointers, &out); },
                                           [&] { predictor.run_map(map, &out); }};
    for (const auto& call : calls) {
      for (int warm = 0; warm < 3; ++warm) call();
      const AllocationCounter counter;
      call();
      EXPECT_EQ(counter.Counts().allocations, 0);
      EXPECT_THAT(Values(*out.at(1)), ElementsAre(-1, -2, -3));
    }
  }
}

// Without Cancel, the reader would wait for ever. The instance of the overloads with pointers is another one.
TEST(PredictorCallsTest, CancelStopsTheRunsWithPointers) {
  Predictor predictor(NetDef(), ParseNet(R"(name: "waits"
      op { type: "CreateBlobsQueue" output: "q" }
      op { type: "DequeueBlobs" input: "q" output: "y" } external_output: "y")"));
  ASSERT_NE(predictor.ws(), nullptr);  // creates the instance
  const std::function<void(Predictor::TensorVector*)> calls[] = {
      [&](Predictor::TensorVector* out) { predictor.run({}, out); },
      [&](Predictor::TensorVector* out) { predictor.run_map(Predictor::TensorMap{}, out); },
      [&](Predictor::TensorVector* out) { predictor.run_map(Predictor::TensorPointerMap{}, out); }};
  for (const auto& call : calls) {
    std::atomic<bool> ended{false};
    std::thread caller([&] {
      Predictor::TensorVector out;
      EXPECT_THROW(call(&out), RunStopped);
      ended = true;
    });
    while (!ended) predictor.Cancel();
    caller.join();
  }
  Predictor other(ParseNet(kInit), ParseNet(kPredict));
  Tensor x = Vector({1, -30});
  Predictor::TensorVector out;
  ASSERT_NE(other.ws(), nullptr);
  for (int i = 0; i < 2; ++i) {
    other.Cancel();  // no run is in progress
    EXPECT_TRUE(other.run({&x}, &out));
    EXPECT_THAT(Values(*out.at(0)), ElementsAre(11, 0));
  }
}

// The list of inputs may be shorter than that of the net, not longer, and each input has a shape.
TEST(PredictorCallsTest, InputsThatDoNotFitAreNamed) {
  Predictor predictor(NetDef(), ParseNet(R"(name: "n"
      op { type: "Sub" input: "a" input: "b" output: "y" }
      external_input: "a" external_input: "b" external_output: "y")"));
  Tensor one = Vector({5}), none(CPU);
  Predictor::TensorList list;
  Predictor::TensorMap map;
  Predictor::TensorVector pointers;
  const std::string most = "inputs.size() <= external_input_size: got 3, want at most 2";
  const std::string a = "input 0 (\"a\") has no shape", b = "input 1 (\"b\") has no shape";
  using List = Predictor::TensorList;
  using Map = Predictor::TensorMap;
  using Pointers = Predictor::TensorPointerMap;
  ExpectRefusals({
      {[&] {
         predictor(List{one, one, one}, &list);
       },
       most},
      {[&] {
         predictor.run({&one, &one, &one}, &pointers);
       },
       most},
      {[&] {
         predictor(List{none, one}, &list);
       },
       a},
      {[&] {
         predictor(List{one, none}, &list);
       },
       b},
      {[&] {
         predictor.run({&none, &one}, &pointers);
       },
       a},
      {[&] {
         predictor.run({&one, &none}, &pointers);
       },
       b},
      {[&] {
         predictor(Map{{"b", none}}, &list);
       },
       b},
      {[&] {
         predictor(Map{{"b", none}}, &map);
       },
       b},
      {[&] {
         predictor.run_map(Map{{"b", none}}, &pointers);
       },
       b},
      {[&] {
         predictor.run_map(Pointers{{"b", &none}}, &pointers);
       },
       b},
  });
  EXPECT_TRUE(predictor(List{one, Vector({3})}, &list));
  EXPECT_THAT(Values(list.at(0)), ElementsAre(2));
}

// The net doubles some of its inputs in place. The tensors of the caller stay as they are, and each
// call begins with them, whichever inputs these are.
TEST(PredictorCallsTest, InputsThatTheNetChangesAreCopied) {
  const std::string names[] = {"a", "b", "c"};
  for (int changed = 0; changed < 8; ++changed) {
    SCOPED_TRACE(changed);
    std::string net = R"(name: "n" external_input: "a" external_input: "b" external_input: "c"
        external_output: "y" )";
    float want = 0;
    for (int i = 0; i < 3; ++i) {
      const bool doubles = (changed >> i & 1) != 0;
      want += static_cast<float>((doubles ? 2 : 1) * (i == 0 ? 1 : i * 10));
      if (doubles)
        net += MakeString("op { type: 'Scale' input: '", names[i], "' output: '", names[i],
                          "' arg { name: 'scale' f: 2 } } ");
    }
    net += "op { type: 'Sum' input: 'a' input: 'b' input: 'c' output: 'y' }";
    Predictor predictor(NetDef(), ParseNet(net));
    std::vector<Tensor> given = {Vector({1}), Vector({10}), Vector({20})};
    const auto expect = [&](const char* form, const Tensor& y) {
      EXPECT_THAT(Values(y), ElementsAre(want)) << form;
      EXPECT_THAT(Values(given[0]), ElementsAre(1)) << form;
      EXPECT_THAT(Values(given[1]), ElementsAre(10)) << form;
      EXPECT_THAT(Values(given[2]), ElementsAre(20)) << form;
    };
    const Predictor::TensorMap map = {{"a", given[0]}, {"b", given[1]}, {"c", given[2]}};
    for (int call = 0; call < 2; ++call) {
      Predictor::TensorList list;
      predictor(given, &list);
      expect("list", list.at(0));
      predictor(map, &list);
      expect("map", list.at(0));
      Predictor::TensorVector pointers;
      predictor.run({&given[0], &given[1], &given[2]}, &pointers);
      expect("pointers", *pointers.at(0));
      predictor.run_map(map, &pointers);
      expect("map of pointers", *pointers.at(0));
    }
  }
}

// Whether the nets are copied or moved, the init net runs unless the caller says that it does not.
TEST(PredictorCallsTest, AnInitNetRunsUnlessTheOptionsSayNo) {
  for (const bool run_init : {true, false}) {
    Workspace parent;
    Feed<float>(&parent, "w", {2}, {100, 200});
    const NetDef init = ParseNet(kInit), net = ParseNet(kPredict);
    const PredictorOptions options{.run_init = run_init};
    Predictor copied(init, net, &parent, options);
    Predictor moved(ParseNet(kInit), ParseNet(kPredict), &parent, options);
    for (Predictor* const predictor : {&copied, &moved}) {
      Predictor::TensorList list;
      (*predictor)(Predictor::TensorMap{{"x", Vector({1, 2})}}, &list);
      EXPECT_EQ(Values(list.at(0)),
                run_init ? (std::vector<float>{11, 22}) : (std::vector<float>{101, 202}));
    }
    if (!run_init) ExpectTensor<float>(parent, "w", {2}, {100, 200});
  }
}

}  // namespace
}  // namespace caffe2rt::test::predictor_calls_test
