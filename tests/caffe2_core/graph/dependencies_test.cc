#include "caffe2_core/graph/dependencies.h"

#include <algorithm>
#include <random>
#include <set>

#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/tensor/blob.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::dependencies_test {
namespace {

using test::ExpectThrows;
using test::ParseNet;
using testing::ElementsAre;
using testing::IsEmpty;

using Predecessors = std::vector<std::vector<uint32_t>>;

OPERATOR_SCHEMA(DependenciesTestAlias)
    .NumInputs(1)
    .NumOutputs(1, 2)
    .OutputSharesInput(0, 0)
    .OutputSharesInput(0, 1);
OPERATOR_SCHEMA(DependenciesTestChange).NumInputs(2).NumOutputs(0, 1).ModifiesInputs({1});
OPERATOR_SCHEMA(DependenciesTestPrint).NumInputs(0, 1).NumOutputs(0, 1).HasEffect(Effect::kOutput);
OPERATOR_SCHEMA(DependenciesTestFile).NumInputs(0, 1).NumOutputs(0, 1).AccessesFiles();
OPERATOR_SCHEMA(DependenciesTestRandom)
    .NumInputs(0, 1)
    .NumOutputs(0, 1)
    .HasEffect(Effect::kRandom, [](const OperatorDef& def) { return def.name() != "off"; });
OPERATOR_SCHEMA(DependenciesTestTimer).NumInputs(0).NumOutputs(0).HasEffect(Effect::kEverything);
OPERATOR_SCHEMA(DependenciesTestUnlisted)
    .NumInputs(0)
    .NumOutputs(0)
    .AccessesUnlistedBlobs([](const OperatorDef& def) { return def.name() != "off"; });
OPERATOR_SCHEMA(DependenciesTestInvalid)
    .NumInputs(0)
    .NumOutputs(0)
    .AccessesUnlistedBlobs([](const OperatorDef&) -> bool { CAFFE_THROW("invalid"); });

Predecessors Of(const NetDependencies& dependencies) {
  Predecessors found;
  for (size_t i = 0; i < dependencies.num_operators(); ++i) {
    const auto predecessors = dependencies.predecessors(i);
    found.emplace_back(predecessors.begin(), predecessors.end());
  }
  return found;
}

struct Row {
  const char* name;
  const char* net;
  Predecessors want;
};

const Row kRows[] = {
    {"Nothing", "", {}},
    {"Apart",
     R"(op { input: "a" output: "b" } op { input: "c" output: "d" } op { })",
     {{}, {}, {}}},
    {"ReadAfterWrite",
     R"(op { output: "a" } op { input: "a" output: "b" } op { input: "b" input: "a" })",
     {{}, {0}, {0, 1}}},
    {"WriteAfterRead",
     R"(op { input: "a" } op { input: "a" } op { output: "a" })",
     {{}, {}, {0, 1}}},
    {"WriteAfterWrite",
     R"(op { output: "a" } op { output: "a" } op { output: "a" })",
     {{}, {0}, {1}}},
    {"ReadsAreNotOrdered",
     R"(op { output: "a" } op { input: "a" } op { input: "a" })",
     {{}, {0}, {0}}},
    {"OnlyReadersSinceTheLastWrite",
     R"(op { input: "a" } op { output: "a" } op { input: "a" } op { output: "a" })",
     {{}, {0}, {1}, {1, 2}}},
    {"InPlace",
     R"(op { output: "a" } op { input: "a" output: "a" } op { input: "a" output: "a" }
        op { input: "a" })",
     {{}, {0}, {1}, {2}}},
    {"InPlaceAfterReaders",
     R"(op { output: "a" } op { input: "a" output: "b" } op { input: "a" output: "a" }
        op { input: "a" input: "b" })",
     {{}, {0}, {0, 1}, {1, 2}}},
    {"SwapsTwo",
     R"(op { output: "a" } op { output: "b" } op { input: "a" input: "b" output: "b" output: "a" })",
     {{}, {}, {0, 1}}},
    {"TheSameInputTwice",
     R"(op { output: "a" } op { input: "a" input: "a" } op { output: "a" })",
     {{}, {0}, {0, 1}}},
    {"TheSameOutputTwice", R"(op { output: "a" output: "a" } op { input: "a" })", {{}, {0}}},
    {"Diamond",
     R"(op { output: "a" } op { input: "a" output: "b" } op { input: "a" output: "c" }
        op { input: "b" input: "c" output: "a" })",
     {{}, {0}, {0}, {0, 1, 2}}},
    {"ControlInput",
     R"(op { output: "a" } op { output: "b" } op { control_input: "a" })",
     {{}, {}, {0}}},
    {"ControlInputChain",
     R"(op { output: "a" } op { output: "b" control_input: "a" } op { control_input: "b" })",
     {{}, {0}, {1}}},
    {"WriteAfterControlInput", R"(op { control_input: "a" } op { output: "a" })", {{}, {0}}},
    {"ControlInputOfItsOwnOutput",
     R"(op { output: "a" control_input: "a" } op { output: "a" control_input: "a" })",
     {{}, {0}}},
    {"UnknownControlInput",
     R"(op { control_input: "never" } op { control_input: "never" })",
     {{}, {}}},
    {"ModifiedInput",
     R"(op { output: "a" } op { input: "a" }
        op { type: "DependenciesTestChange" input: "b" input: "a" } op { input: "a" } op { input: "b" })",
     {{}, {0}, {0, 1}, {2}, {}}},
    {"ModifiedInputIsNotTheOutput",
     R"(op { type: "DependenciesTestChange" input: "b" input: "a" output: "c" }
        op { input: "c" } op { input: "a" } op { output: "c" } op { output: "a" })",
     {{}, {0}, {0}, {0, 1}, {0, 2}}},
    // Those that put and those that take do not wait for each other; closing follows putting.
    {"Queue",
     R"(op { type: "CreateBlobsQueue" output: "q" }
        op { type: "EnqueueBlobs" input: "q" input: "x" output: "x" }
        op { type: "SafeEnqueueBlobs" input: "q" input: "y" output: "y" output: "full" }
        op { type: "DequeueBlobs" input: "q" output: "z" }
        op { type: "SafeDequeueBlobs" input: "q" output: "u" output: "empty" }
        op { type: "CloseBlobsQueue" input: "q" }
        op { type: "EnqueueBlobs" input: "q" input: "v" output: "v" }
        op { type: "CreateBlobsQueue" output: "q" }
        op { type: "DequeueBlobs" input: "q" output: "w" })",
     {{}, {0}, {0, 1}, {0}, {0, 3}, {0, 2}, {0, 5}, {0, 1, 2, 3, 4, 5, 6}, {7}}},
    {"QueueInNestedNet",
     R"(op { type: "EnqueueBlobs" input: "q" input: "x" output: "x" }
        op { type: "If" input: "c" arg { name: "then_net" n {
          op { type: "DequeueBlobs" input: "q" output: "y" } } } }
        op { type: "EnqueueBlobs" input: "q" input: "z" output: "z" }
        op { type: "DequeueBlobs" input: "q" output: "u" }
        op { type: "If" input: "c" arg { name: "then_net" n {
          op { type: "CreateBlobsQueue" output: "q" } op { type: "CloseBlobsQueue" input: "q" } } } })",
     {{}, {}, {0}, {1}, {0, 1, 2, 3}}},
    {"PuttingAndClosingInNestedNets",
     R"(op { type: "If" input: "c" arg { name: "then_net" n {
          op { type: "EnqueueBlobs" input: "q" input: "x" output: "x" } } } }
        op { type: "DequeueBlobs" input: "q" output: "y" }
        op { type: "EnqueueBlobs" input: "q" input: "z" output: "z" }
        op { type: "If" input: "c" arg { name: "then_net" n {
          op { type: "CloseBlobsQueue" input: "q" } } } }
        op { type: "If" input: "c" arg { name: "then_net" n {
          op { type: "DequeueBlobs" input: "q" output: "u" } } } }
        op { type: "If" input: "c" arg { name: "then_net" n {
          op { type: "EnqueueBlobs" input: "q" input: "v" output: "v" } } } })",
     {{}, {}, {0}, {2}, {1}, {3}}},
    // b and c share the memory of a.
    {"Alias",
     R"(op { output: "a" }
        op { type: "DependenciesTestAlias" input: "a" output: "b" }
        op { type: "DependenciesTestAlias" input: "b" output: "c" }
        op { input: "a" } op { input: "c" output: "c" } op { input: "a" })",
     {{}, {0}, {1}, {2}, {2, 3}, {4}}},
    {"AliasOfTwo",
     R"(op { type: "DependenciesTestAlias" input: "a" output: "b" output: "c" }
        op { input: "c" } op { output: "b" })",
     {{}, {0}, {0, 1}}},
    {"EffectsOfOneKindKeepTheirOrder",
     R"(op { type: "DependenciesTestPrint" output: "a" } op { type: "DependenciesTestFile" }
        op { type: "DependenciesTestPrint" } op { output: "b" } op { type: "DependenciesTestFile" })",
     {{}, {}, {0}, {}, {1}}},
    {"EffectsAndBlobs",
     R"(op { type: "DependenciesTestPrint" output: "a" } op { output: "b" }
        op { type: "DependenciesTestPrint" input: "b" } op { type: "DependenciesTestPrint" input: "a" })",
     {{}, {}, {0, 1}, {0, 2}}},
    {"RandomNumbersImposeNoOrder",
     R"(op { type: "DependenciesTestRandom" } op { type: "DependenciesTestRandom" output: "a" }
        op { arg { name: "net" n { op { type: "DependenciesTestRandom" } } } }
        op { type: "DependenciesTestRandom" input: "a" device_option { device_type: 1 } }
        op { type: "DependenciesTestRandom" device_option { device_type: 1 } })",
     {{}, {}, {}, {1}, {}}},
    {"EffectsOfInnerNets",
     R"(op { type: "DependenciesTestPrint" }
        op { arg { name: "net" n { op { arg { name: "nets" nets { op { type: "DependenciesTestPrint" } }
                                                           nets { } } } } } }
        op { type: "DependenciesTestFile" }
        op { arg { name: "net" n { op { type: "DependenciesTestFile" } } } })",
     {{}, {0}, {}, {2}}},
    {"Everything",
     R"(op { output: "a" } op { output: "b" } op { type: "DependenciesTestTimer" } op { output: "c" }
        op { type: "DependenciesTestUnlisted" name: "off" } op { type: "DependenciesTestUnlisted" }
        op { input: "a" })",
     {{}, {}, {0, 1}, {2}, {2}, {2, 3, 4}, {0, 5}}},
    {"EverythingIfArgumentsAreInvalid",
     R"(op { output: "a" } op { type: "DependenciesTestInvalid" } op { output: "b" })",
     {{}, {0}, {1}}},
    {"EverythingInInnerNets",
     R"(op { output: "a" } op { arg { name: "net" n { op { type: "DependenciesTestTimer" } } } }
        op { output: "b" })",
     {{}, {0}, {1}}},
};

class DependenciesTest : public testing::TestWithParam<Row> {};

TEST_P(DependenciesTest, OrderOperators) {
  const NetDef net = ParseNet(GetParam().net);
  EXPECT_EQ(Of(NetDependencies(net)), GetParam().want);
}
INSTANTIATE_TEST_SUITE_P(Nets, DependenciesTest, testing::ValuesIn(kRows),
                         [](const auto& info) { return info.param.name; });

TEST(NetDependenciesTest, KnowsBlobsOfOneMemory) {
  const NetDef net = ParseNet(R"(
    op { type: "DependenciesTestAlias" input: "a" output: "b" output: "c" }
    op { type: "Copy" input: "c" output: "d" }
    op { type: "DependenciesTestAlias" input: "d" output: "e" })");
  const NetDependencies dependencies(net);  // a b c d e have the indices 0 to 4
  EXPECT_THAT(dependencies.same_memory(),
              ElementsAre(std::pair(0, 1), std::pair(0, 2), std::pair(3, 4)));
  EXPECT_EQ(dependencies.memory(1), dependencies.memory(0));
  EXPECT_EQ(dependencies.memory(2), dependencies.memory(0));
  EXPECT_EQ(dependencies.memory(3), dependencies.memory(4));
  EXPECT_NE(dependencies.memory(3), dependencies.memory(0));
}

TEST(NetDependenciesTest, KnowsWhichMemoryIsWritten) {
  const NetDef net = ParseNet(R"(
    op { type: "DependenciesTestAlias" input: "a" output: "b" }
    op { type: "DependenciesTestAlias" input: "b" output: "c" }
    op { type: "Relu" input: "c" output: "c" }
    op { type: "DependenciesTestAlias" input: "d" output: "e" }
    op { type: "DependenciesTestChange" input: "f" input: "g" }
    op { type: "DependenciesTestAlias" input: "h" output: "i" }
    op { arg { name: "net" n { op { type: "Relu" input: "f" output: "h" } } } })");
  const NetDependencies dependencies(net);
  for (const char* written : {"a", "b", "c", "h", "i"}) {
    EXPECT_TRUE(dependencies.is_memory_written(dependencies.Find(written))) << written;
  }
  for (const char* unwritten : {"d", "e", "f", "g"}) {
    EXPECT_FALSE(dependencies.is_memory_written(dependencies.Find(unwritten))) << unwritten;
  }
}

// Regression: nets in arguments shared and wrote memory that counted as constant.
TEST(NetDependenciesTest, KnowsWhatNestedNetsShareAndWrite) {
  const NetDef alias = ParseNet(R"(
    op { type: "If" input: "c" arg { name: "then_net" n { op { type: "Alias" input: "w" output: "a" } } } }
    op { type: "Relu" input: "a" output: "a" }
    op { type: "Copy" input: "w" output: "y" })");
  const NetDependencies of_alias(alias);
  EXPECT_TRUE(of_alias.is_changed(of_alias.Find("a")));
  EXPECT_FALSE(of_alias.is_changed(of_alias.Find("c")));
  EXPECT_THAT(of_alias.predecessors(2), ElementsAre(1));

  const NetDef scope = ParseNet(R"(
    op { type: "Do" input: "w" input: "S" output: "S"
      arg { name: "net" n { op { type: "Alias" input: "iw" output: "t" } } }
      arg { name: "inner_blobs" strings: "iw" } arg { name: "outer_blobs_idx" ints: 0 } }
    op { type: "Copy" input: "w" output: "y" }
    op { type: "Do" input: "x" input: "S" output: "S"
      arg { name: "net" n { op { type: "Relu" input: "t" output: "t" } } }
      arg { name: "inner_blobs" strings: "ix" } arg { name: "outer_blobs_idx" ints: 0 } })");
  const NetDependencies of_scope(scope);
  EXPECT_TRUE(of_scope.is_changed(of_scope.Find("w")));
  EXPECT_FALSE(of_scope.is_changed(of_scope.Find("x")));
  EXPECT_THAT(of_scope.predecessors(2), ElementsAre(0, 1));
}

TEST(NetDependenciesTest, OutputsOfRecurrentNetworkShareItsStates) {
  const NetDef net = ParseNet(R"(
    op { type: "RecurrentNetwork" input: "x" output: "all" output: "last" output: "steps"
      arg { name: "alias_src" strings: "h" strings: "h" }
      arg { name: "alias_dst" strings: "all" strings: "last" } }
    op { type: "Relu" input: "all" output: "all" }
    op { type: "Copy" input: "last" output: "y" })");
  const NetDependencies dependencies(net);
  EXPECT_EQ(dependencies.memory(dependencies.Find("all")),
            dependencies.memory(dependencies.Find("last")));
  EXPECT_THAT(dependencies.predecessors(2), testing::Contains(1));
}

TEST(NetDependenciesTest, KnowsBlobsOfOneMemoryWhateverIsMergedFirst) {
  const NetDef net = ParseNet(R"(
    op { input: "a" input: "b" input: "c" input: "d" }
    op { type: "DependenciesTestAlias" input: "c" output: "d" }
    op { type: "DependenciesTestAlias" input: "b" output: "c" }
    op { type: "DependenciesTestAlias" input: "a" output: "b" })");
  const NetDependencies dependencies(net);
  for (uint32_t blob = 0; blob < 4; ++blob) EXPECT_EQ(dependencies.memory(blob), 0u) << blob;
}

TEST(NetDependenciesTest, FollowObjectsNotNamesOnceBound) {
  const NetDef net = ParseNet(R"(op { output: "a" } op { input: "b" } op { input: "a" })");
  Blob one, other;
  Blob* const outputs[] = {&one};
  const Blob* const inputs[] = {&one};
  const Blob* const replaced[] = {&other};
  const BoundBlobs bound[] = {{.inputs = {}, .outputs = outputs},
                              {.inputs = inputs, .outputs = {}},
                              {.inputs = replaced, .outputs = {}}};
  EXPECT_EQ(Of(NetDependencies(net)), (Predecessors{{}, {}, {0}}));
  EXPECT_EQ(Of(NetDependencies(net, bound)), (Predecessors{{}, {0}, {}}));
}

// "a" and "b" are other objects at the end, which share no memory with those of the Aliases.
TEST(NetDependenciesTest, ObjectsOfOneNameHaveTheirOwnMemory) {
  const NetDef net = ParseNet(R"(
    op { output: "a" } op { type: "DependenciesTestAlias" input: "a" output: "b" }
    op { output: "a" } op { type: "DependenciesTestAlias" input: "a" output: "b" })");
  Blob a[2], b[2];
  Blob* const written[][2] = {{&a[0], &b[0]}, {&a[1], &b[1]}};
  const Blob* const read[] = {&a[0], &a[1]};
  std::vector<BoundBlobs> bound;
  for (size_t i = 0; i < 2; ++i) {
    bound.push_back({.inputs = {}, .outputs = {&written[i][0], 1}});
    bound.push_back({.inputs = {&read[i], 1}, .outputs = {&written[i][1], 1}});
  }
  const NetBlobs blobs(net, bound);
  const NetDependencies dependencies(net, bound);
  const auto memory = [&](size_t op) { return dependencies.memory(blobs.outputs(op)[0]); };
  EXPECT_EQ(memory(0), memory(1));
  EXPECT_EQ(memory(2), memory(3));
  EXPECT_NE(memory(0), memory(2));
  EXPECT_EQ(Of(dependencies), (Predecessors{{}, {0}, {}, {2}}));
  const NetDependencies by_name(net);
  EXPECT_EQ(by_name.memory(0), by_name.memory(1));
}

TEST(NetDependenciesTest, ChecksOrders) {
  const NetDef net = ParseNet(R"(op { output: "a" } op { output: "b" } op { input: "a" })");
  const NetDependencies dependencies(net);
  const auto check = [&](const std::vector<size_t>& order) { dependencies.CheckOrder(order); };
  check({0, 1, 2});
  check({1, 0, 2});
  check({0, 2, 1});
  ExpectThrows(
      [&] {
        check({2, 0, 1});
      },
      "the order of a net has operator 2 before operator 0, want it after");
  ExpectThrows([&] { check({0, 1}); }, "operators in the order of a net");
  ExpectThrows(
      [&] {
        check({0, 0, 1});
      },
      "the order of a net has operator 0 twice, want each of 3 once");
  ExpectThrows([&] { check({0, 1, 3}); }, "the order of a net has operator 3, want each of 3 once");
}

// Entry [i][j] is true if operator i comes after operator j, directly or through other
// predecessors.
std::vector<std::vector<bool>> Closure(const NetDependencies& dependencies) {
  const size_t n = dependencies.num_operators();
  std::vector<std::vector<bool>> before(n, std::vector<bool>(n));
  for (size_t op = 0; op < n; ++op) {
    for (const uint32_t p : dependencies.predecessors(op)) {
      before[op][p] = true;
      for (size_t i = 0; i < p; ++i) before[op][i] = before[op][i] || before[p][i];
    }
  }
  return before;
}

// Two operators must be ordered if one writes a blob that the other reads or writes. All other
// orderings follow from these.
TEST(NetDependenciesTest, OrderOfRandomNetsIsTheClosureOfTheirConflicts) {
  std::mt19937 random(7);
  const auto names = [&](int most) {
    std::vector<std::string> found;
    for (size_t k = random() % static_cast<size_t>(most + 1); k > 0; --k) {
      found.push_back(std::string(1, static_cast<char>('a' + random() % 5)));
    }
    return found;
  };
  for (int round = 0; round < 200; ++round) {
    NetDef net;
    std::vector<std::set<std::string>> reads, writes;
    for (int i = 0; i < 12; ++i) {
      OperatorDef* op = net.add_op();
      const auto inputs = names(2), outputs = names(2), controls = names(1);
      for (const auto& name : inputs) op->add_input(name);
      for (const auto& name : outputs) op->add_output(name);
      for (const auto& name : controls) op->add_control_input(name);
      reads.emplace_back(inputs.begin(), inputs.end());
      reads.back().insert(controls.begin(), controls.end());
      writes.emplace_back(outputs.begin(), outputs.end());
    }
    const size_t n = writes.size();
    std::vector<std::vector<bool>> want(n, std::vector<bool>(n));
    const auto meet = [](const std::set<std::string>& a, const std::set<std::string>& b) {
      return std::any_of(a.begin(), a.end(), [&](const auto& name) { return b.contains(name); });
    };
    for (size_t op = 0; op < n; ++op) {
      for (size_t p = 0; p < op; ++p) {
        if (!meet(reads[op], writes[p]) && !meet(writes[op], reads[p]) &&
            !meet(writes[op], writes[p])) {
          continue;
        }
        want[op][p] = true;
        for (size_t i = 0; i < p; ++i) want[op][i] = want[op][i] || want[p][i];
      }
    }
    ASSERT_EQ(Closure(NetDependencies(net)), want) << net.DebugString();
  }
}

// A quadratic list of dependencies would need gigabytes.
TEST(NetDependenciesTest, StayLinearInLargeNets) {
  constexpr size_t kMany = 100000;
  NetDef net;  // kMany readers of one blob, a writer, and the same again
  for (int half = 0; half < 2; ++half) {
    for (size_t i = 0; i < kMany; ++i) net.add_op()->add_input("a");
    net.add_op()->add_output("a");
  }
  const NetDependencies dependencies(net);
  size_t total = 0;
  for (size_t i = 0; i < dependencies.num_operators(); ++i) {
    total += dependencies.predecessors(i).size();
  }
  EXPECT_EQ(total, 3 * kMany + 1);
  EXPECT_EQ(dependencies.predecessors(kMany).size(), kMany);
  EXPECT_THAT(dependencies.predecessors(kMany + 1), ElementsAre(kMany));
  EXPECT_EQ(dependencies.predecessors(2 * kMany + 1).size(), kMany + 1);
}

TEST(NetDependenciesTest, StayLinearInWideOperatorsAndLongAliases) {
  constexpr int kMany = 100000;
  NetDef net;
  OperatorDef* const wide = net.add_op();
  for (int i = 0; i < kMany; ++i) {
    wide->add_input("same");
    wide->add_output("same");
    wide->add_control_input("same");
  }
  for (int i = kMany; i > 0; --i) {
    OperatorDef* const alias = net.add_op();
    alias->set_type("DependenciesTestAlias");
    alias->add_input("b" + std::to_string(i - 1));
    alias->add_output("b" + std::to_string(i));
  }
  const NetDependencies dependencies(net);
  EXPECT_THAT(dependencies.predecessors(0), IsEmpty());
  EXPECT_THAT(dependencies.predecessors(kMany), ElementsAre(kMany - 1));
  EXPECT_EQ(dependencies.memory(dependencies.Find("b0")),
            dependencies.memory(dependencies.Find("b" + std::to_string(kMany))));
}

}  // namespace
}  // namespace caffe2rt::dependencies_test
