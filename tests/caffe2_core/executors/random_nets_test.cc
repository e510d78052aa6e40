// Random nets give the bytes of `simple` on every type, also after a run that failed.
// CAFFE2_TEST_RANDOM_NETS sets their number, CAFFE2_TEST_RANDOM_FIRST the seed of the first one,
// CAFFE2_TEST_RANDOM_RUNS the runs of each.
#include "tests/caffe2_core/executors/call_operator.h"
#include "tests/caffe2_core/executors/random_net.h"

namespace caffe2rt::test::random_nets_test {
namespace {

class RandomNetsTest : public ExecutorTest {
 protected:
  RandomNetsTest() {
    SetThreads(4);
    Calls()["slow"] = [](OperatorBase*) {
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    };
    Calls()["flaky"] = [this](OperatorBase*) {
      if (fails_) CAFFE_THROW("no luck");
    };
  }

  // Runs the net several times, before that once with a failure if it may fail, and returns the bytes
  // of all blobs.
  std::string BytesAfter(const RandomNet& net, const std::string& type, bool fails_first) {
    Workspace ws;
    FeedBlobs(&ws);
    const auto created = CreateNet(net.Def(type), &ws);
    if (fails_first && net.text().find("flaky") != std::string::npos) {
      fails_ = true;
      EXPECT_THROW(created->Run(), EnforceNotMet);
      fails_ = false;
      FeedBlobs(&ws);
    }
    for (int run = 0; run < runs_; ++run) EXPECT_TRUE(created->Run());
    return BytesOfBlobs(ws);
  }

  const int runs_ = NumberFromEnvironment("CAFFE2_TEST_RANDOM_RUNS", 3);
  std::atomic<bool> fails_{false};
};

TEST_F(RandomNetsTest, GiveTheBytesOfSimple) {
  const int nets = NumberFromEnvironment("CAFFE2_TEST_RANDOM_NETS", 50);
  const int first = NumberFromEnvironment("CAFFE2_TEST_RANDOM_FIRST", 0);
  for (int seed = first; seed < first + nets; ++seed) {
    const bool fails = seed % 3 == 0;
    // How many numbers the operators draw in a run that fails depends on the order.
    const RandomNet net(static_cast<uint32_t>(seed),
                        {.most_operators = seed % 10 == 0 ? 200 : 60, .draws = !fails});
    const std::string want = BytesAfter(net, "simple", fails);
    for (const char* type : kTypesBesidesSimple) {
      ASSERT_EQ(BytesAfter(net, type, fails), want) << type << " seed " << seed << "\n"
                                                    << net.text();
    }
  }
}

}  // namespace
}  // namespace caffe2rt::test::random_nets_test
