// CompareNets finds no difference between random nets and what the graph passes make of them.
// CAFFE2_TEST_RANDOM_NETS sets the number of nets.
#include <cstdlib>

#include "caffe2_core/graph/passes/user_operators.h"
#include "caffe2_core/inspect/blob_watch.h"
#include "caffe2_core/inspect/net_comparison.h"
#include "caffe2_core/model/optimizer.h"
#include "tests/caffe2_core/model/random_nets.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::compare_random_test {
namespace {

int NumberOfNets() {
  const char* const text = std::getenv("CAFFE2_TEST_RANDOM_NETS");
  return text != nullptr ? std::atoi(text) : 200;
}

TEST(CompareRandomNetsTest, AgreesWithTheOptimizedNet) {
  int compared = 0;
  for (int seed = 0; seed < NumberOfNets() && !HasFailure(); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const test::RandomNet random = test::MakeRandomNet(static_cast<uint32_t>(seed));
    Workspace a, b;
    random.Fill(&a);
    random.Fill(&b);
    const PreparationOptions options{.inputs = random.inputs, .kept = random.kept};
    const NetDef optimized = OptimizeNet(random.net, options, &b).net;
    const NetDef first = NetToWatch(random.net), second = NetToWatch(optimized);
    const auto values = CompareNets(
        {first, &a},
        {second, &b, ValuesOfPasses(random.net, optimized), CountsFromLast(random.net, optimized)},
        {.absolute = 1e-3, .relative = 1e-3});
    for (const ComparedValue& value : values) {
      if (value.presence == ComparedValue::Presence::kBoth) {
        EXPECT_TRUE(value.within())
            << value.name << ", operators " << value.first << " and " << value.second << ": "
            << value.difference.mismatch << " " << value.difference.max_absolute;
        ++compared;
      } else if (random.kept.contains(value.blob)) {
        EXPECT_FALSE(value.last) << value.name;
      }
    }
    if (HasFailure()) std::cerr << random.net.DebugString() << optimized.DebugString();
  }
  EXPECT_GT(compared, NumberOfNets());
}

}  // namespace
}  // namespace caffe2rt::compare_random_test
