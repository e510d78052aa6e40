// Every fact that NetBlobs states about random nets, against its definition.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/dependencies.h"
#include "caffe2_core/graph/net_blobs.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"

namespace caffe2rt::net_blobs_random_test {
namespace {

constexpr uint32_t kNone = NetBlobs::kNone;

NetDef RandomNet(uint32_t seed) {
  std::mt19937 random(seed);
  const auto below = [&](uint32_t n) { return static_cast<int>(random() % n); };
  NetDef net;
  const int operators = 1 + below(8);
  for (int i = 0; i < operators; ++i) {
    OperatorDef* const op = net.add_op();
    op->set_type("NetBlobsRandomTest");  // without schema
    const auto name = [&] { return MakeString("b", below(6)); };
    for (int k = below(4); k > 0; --k) op->add_input(name());
    for (int k = below(3); k > 0; --k) {
      const std::string output = name();
      if (!HasOutput(*op, output)) op->add_output(output);
    }
    for (int k = below(2); k > 0; --k) op->add_control_input(name());
  }
  return net;
}

// The last operator before `end` for which `does` is true, or kNone.
template <class Does>
uint32_t Last(const NetDef& net, int end, const Does& does) {
  for (int i = end; i-- > 0;) {
    if (does(net.op(i))) return static_cast<uint32_t>(i);
  }
  return kNone;
}
template <class Does>
uint32_t First(const NetDef& net, const Does& does) {
  for (int i = 0; i < net.op_size(); ++i) {
    if (does(net.op(i))) return static_cast<uint32_t>(i);
  }
  return kNone;
}

template <class List>
std::vector<std::string> NamesOf(const NetBlobs& blobs, const List& list) {
  std::vector<std::string> names;
  for (const uint32_t blob : list) names.push_back(blobs.name(blob));
  return names;
}
std::vector<std::string> Strings(const google::protobuf::RepeatedPtrField<std::string>& list) {
  return {list.begin(), list.end()};
}

void ExpectFactsOfOperator(const NetDef& net, const NetBlobs& blobs, int i) {
  const OperatorDef& op = net.op(i);
  const auto at = static_cast<size_t>(i);
  EXPECT_EQ(NamesOf(blobs, blobs.inputs(at)), Strings(op.input()));
  EXPECT_EQ(NamesOf(blobs, blobs.outputs(at)), Strings(op.output()));
  EXPECT_EQ(NamesOf(blobs, blobs.control_inputs(at)), Strings(op.control_input()));
  std::vector<std::string> all = Strings(op.input());
  for (const std::string& name : op.output()) all.push_back(name);
  for (const std::string& name : op.control_input()) all.push_back(name);
  EXPECT_EQ(NamesOf(blobs, blobs.all(at)), all);
  for (int k = 0; k < op.input_size(); ++k) {
    const auto writes = [&](const OperatorDef& other) { return HasOutput(other, op.input(k)); };
    EXPECT_EQ(blobs.input_writers(at)[static_cast<size_t>(k)], Last(net, i, writes));
  }
  for (int k = 0; k < op.output_size(); ++k) {
    EXPECT_EQ(blobs.is_in_place(at, static_cast<size_t>(k)), HasInput(op, op.output(k)));
  }
}

TEST(NetBlobsRandomTest, AgreesWithItsDefinition) {
  for (uint32_t seed = 1; seed <= 300 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    const NetDef net = RandomNet(seed);
    const NetBlobs blobs(net);
    ASSERT_EQ(blobs.num_operators(), static_cast<size_t>(net.op_size()));
    for (int i = 0; i < net.op_size(); ++i) ExpectFactsOfOperator(net, blobs, i);
    std::vector<std::string> read_first, written, unread;
    std::vector<std::pair<uint32_t, std::string>> first_reads, first_writes;
    for (int b = 0; b < 6; ++b) {
      const std::string name = MakeString("b", b);
      const auto reads = [&](const OperatorDef& op) { return HasInput(op, name); };
      const auto writes = [&](const OperatorDef& op) { return HasOutput(op, name); };
      const uint32_t first_read = First(net, reads), first_write = First(net, writes);
      const uint32_t last_write = Last(net, net.op_size(), writes);
      const uint32_t last_read = Last(net, net.op_size(), reads);
      EXPECT_EQ(blobs.Reads(name), first_read != kNone);
      EXPECT_EQ(blobs.Writes(name), first_write != kNone);
      const uint32_t blob = blobs.Find(name);
      if (blob == kNone) continue;
      EXPECT_EQ(blobs.name(blob), name);
      EXPECT_EQ(blobs.first_writer(blob), first_write);
      EXPECT_EQ(blobs.last_writer(blob), last_write);
      EXPECT_EQ(blobs.last_reader(blob), last_read);
      // An operator reads before it writes.
      if (first_read != kNone && (first_write == kNone || first_read <= first_write))
        read_first.push_back(name);
      if (first_write != kNone) written.push_back(name);
      if (first_write != kNone && (last_read == kNone || last_read <= last_write))
        unread.push_back(name);
    }
    EXPECT_THAT(NamesOf(blobs, blobs.read_first()), testing::UnorderedElementsAreArray(read_first));
    EXPECT_THAT(NamesOf(blobs, blobs.written()), testing::UnorderedElementsAreArray(written));
    EXPECT_THAT(NamesOf(blobs, blobs.unread()), testing::UnorderedElementsAreArray(unread));
    const auto& order = blobs.written();
    for (size_t k = 1; k < order.size(); ++k) {
      EXPECT_LE(blobs.first_writer(order[k - 1]), blobs.first_writer(order[k]));
    }
  }
}

// B must run after an earlier A, directly or through others, if and only if a chain of pairs leads
// from A to B in which both access a blob and one writes it. Control inputs count as reads.
TEST(NetBlobsRandomTest, OperatorsAreOrderedByChainsOfConflicts) {
  for (uint32_t seed = 1; seed <= 300 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    const NetDef net = RandomNet(seed);
    const NetDependencies dependencies(net);
    const int n = net.op_size();
    const auto conflict = [&](int a, int b) {
      const auto touches = [](const OperatorDef& op, const std::string& name) {
        return HasInput(op, name) || HasOutput(op, name) ||
               std::count(op.control_input().begin(), op.control_input().end(), name) > 0;
      };
      for (int k = 0; k < 6; ++k) {
        const std::string name = MakeString("b", k);
        if (touches(net.op(a), name) && touches(net.op(b), name) &&
            (HasOutput(net.op(a), name) || HasOutput(net.op(b), name)))
          return true;
      }
      return false;
    };
    std::vector<std::vector<bool>> want(n, std::vector<bool>(n)), got = want;
    for (int b = 0; b < n; ++b) {
      const auto before = dependencies.predecessors(static_cast<size_t>(b));
      EXPECT_TRUE(std::is_sorted(before.begin(), before.end()));
      EXPECT_EQ(std::adjacent_find(before.begin(), before.end()), before.end());
      for (int a = b; a-- > 0;) {
        want[a][b] = conflict(a, b);
        got[a][b] = std::count(before.begin(), before.end(), static_cast<uint32_t>(a)) > 0;
        for (int between = a + 1; between < b; ++between) {
          want[a][b] = want[a][b] || (want[a][between] && want[between][b]);
          got[a][b] = got[a][b] || (got[a][between] && got[between][b]);
        }
        EXPECT_EQ(got[a][b], want[a][b]) << a << " before " << b;
      }
    }
  }
}

TEST(NetBlobsRandomTest, OrdersThatAreNoneAreNamed) {
  const NetDef net = test::ParseNet(R"(op { type: "Relu" input: "a" output: "b" }
                                       op { type: "Relu" input: "b" output: "c" })");
  const NetDependencies dependencies(net);
  const auto error = [&](const std::vector<size_t>& order) {
    return test::MessageOf([&] { dependencies.CheckOrder(order); });
  };
  EXPECT_EQ(error({0, 1}), "(nothing was thrown)");
  EXPECT_EQ(error({0}), "operators in the order of a net: got 1, want 2");
  EXPECT_EQ(error({0, 0}), "the order of a net has operator 0 twice, want each of 2 once");
  EXPECT_EQ(error({0, 2}), "the order of a net has operator 2, want each of 2 once");
  EXPECT_EQ(error({1, 0}), "the order of a net has operator 1 before operator 0, want it after");
}

}  // namespace
}  // namespace caffe2rt::net_blobs_random_test
