// Random nets compute the same with and without graph passes. CAFFE2_TEST_RANDOM_NETS sets the
// number of nets.
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "caffe2_core/graph/passes/net_pass.h"
#include "caffe2_core/model/optimizer.h"
#include "caffe2_core/runtime/net.h"
#include "tests/caffe2_core/model/random_nets.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::optimizer_random_test {
namespace {

int NumberOfNets() {
  const char* const text = std::getenv("CAFFE2_TEST_RANDOM_NETS");
  return text != nullptr ? std::atoi(text) : 200;
}

using Names = std::set<std::string>;

Names AllPasses() {
  Names names;
  for (const NetPassInfo& pass : NetPasses()) names.insert(pass.name);
  return names;
}

// The values of the kept blobs after two runs on equal inputs. State makes the runs differ.
class Values {
 public:
  Values(const test::RandomNet& random, const Names& passes) {
    random.Fill(&ws_);
    PreparationOptions options{.inputs = random.inputs, .kept = random.kept, .free_constants = true};
    for (const std::string& name : AllPasses()) {
      if (!passes.contains(name)) options.without_passes.insert(name);
    }
    const Preparation optimized = OptimizeNet(random.net, options, &ws_);
    passes_ = optimized.passes;
    operators_ = optimized.net.op_size();
    NetBase* const net = ws_.CreateNet(optimized.net);
    for (int i = 0; i < 2; ++i) net->Run();
  }

  const Tensor& operator[](const std::string& name) const {
    return ws_.FindBlob(name)->Get<Tensor>();
  }
  const std::vector<std::string>& passes() const { return passes_; }
  int operators() const { return operators_; }

 private:
  Workspace ws_;
  std::vector<std::string> passes_;
  int operators_ = 0;
};

void ExpectEqual(const Tensor& got, const Tensor& want, bool same_bits) {
  ASSERT_EQ(got.dims(), want.dims());
  ASSERT_TRUE(got.meta() == want.meta());
  if (same_bits || !want.IsType<float>()) {
    EXPECT_EQ(std::memcmp(got.raw_data(), want.raw_data(), want.nbytes()), 0);
    return;
  }
  double largest = 0, difference = 0;
  for (int64_t i = 0; i < want.numel(); ++i) {
    const double a = static_cast<double>(got.data<float>()[i]);
    const double b = static_cast<double>(want.data<float>()[i]);
    ASSERT_TRUE(std::isfinite(b));
    largest = std::max(largest, std::abs(b));
    difference = std::max(difference, std::abs(a - b));
  }
  EXPECT_LE(difference, 1e-4 * std::max(largest, 1e-3));
}

class OptimizedRandomNetsTest : public testing::Test {
 protected:
  static void Compare(uint32_t seed, const Names& passes, bool same_bits,
                      std::map<std::string, int>* applied = nullptr) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const test::RandomNet random = test::MakeRandomNet(seed);
    CompareWith(Values(random, {}), random, passes, same_bits, applied);
  }

  // `plain` has the values without passes.
  static void CompareWith(const Values& plain, const test::RandomNet& random, const Names& passes,
                          bool same_bits, std::map<std::string, int>* applied = nullptr) {
    const Values optimized(random, passes);
    for (const std::string& name : random.kept) {
      SCOPED_TRACE(name);
      ExpectEqual(optimized[name], plain[name], same_bits);
    }
    if (testing::Test::HasFailure()) std::cerr << random.net.DebugString();
    if (applied == nullptr) return;
    for (const std::string& name : optimized.passes()) ++(*applied)[name];
  }
};

TEST_F(OptimizedRandomNetsTest, ComputeTheSameWithAllPasses) {
  std::map<std::string, int> applied;
  const int nets = NumberOfNets();
  for (int i = 0; i < nets && !HasFailure(); ++i) {
    Compare(static_cast<uint32_t>(i), AllPasses(), false, &applied);
  }
  // A pass that never applies is not tested.
  for (const char* pass : {"remove_copies", "remove_dead_operators", "fold_constants",
                           "fold_batch_norm", "reshape_in_place"}) {
    EXPECT_GT(applied[pass], nets / 20) << pass;
  }
}

TEST_F(OptimizedRandomNetsTest, ComputeTheSameBitsWithPassesThatPromiseIt) {
  Names passes;
  for (const NetPassInfo& pass : NetPasses()) {
    if (pass.same_bits) passes.insert(pass.name);
  }
  for (int i = 0; i < NumberOfNets() && !HasFailure(); ++i) {
    Compare(static_cast<uint32_t>(i), passes, true);
  }
}

TEST_F(OptimizedRandomNetsTest, ComputeTheSameWithEachPassAlone) {
  for (int i = 0; i < NumberOfNets() / 4 && !HasFailure(); ++i) {
    const uint32_t seed = static_cast<uint32_t>(i) + 10000;
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const test::RandomNet random = test::MakeRandomNet(seed);
    const Values plain(random, {});
    for (const NetPassInfo& pass : NetPasses()) {
      SCOPED_TRACE(pass.name);
      CompareWith(plain, random, {pass.name}, pass.same_bits);
    }
  }
}

}  // namespace
}  // namespace caffe2rt::optimizer_random_test
