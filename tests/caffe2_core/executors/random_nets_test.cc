// Random nets give the bytes of `simple` on every type, also after failures and stops at random
// moments. CAFFE2_TEST_RANDOM_NETS sets their number.
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include "caffe2_core/runtime/waiting.h"
#include "tests/caffe2_core/executors/call_operator.h"

namespace caffe2rt::test::random_nets_test {
namespace {

int NumberOfNets() {
  const char* const number = std::getenv("CAFFE2_TEST_RANDOM_NETS");
  return number != nullptr ? std::atoi(number) : 50;
}

const char* const kTypes[] = {"dag",      "prof_dag",     "async_dag", "async_scheduling",
                              "parallel", "async_simple", "rnn",       "simple_refcount"};

// A net of 5 to `most` operators on blobs b0 to b9, which all have 8 floats.
class RandomNet {
 public:
  RandomNet(uint32_t seed, int most) : random_(seed) {
    net_ = R"(name: "n" )";
    const int operators = Below(most - 4) + 5;
    for (int i = 0; i < operators; ++i) AddOperator();
  }
  const std::string& text() const { return net_; }

 private:
  int Below(int end) { return static_cast<int>(random_() % static_cast<uint32_t>(end)); }
  std::string Blob() { return MakeString("\"b", Below(10), "\""); }
  std::string Control() {
    return Below(8) == 0 ? MakeString(" control_input: ", Blob()) : std::string();
  }

  std::string OneOperator() {
    const int read = Below(10);
    const std::string in = MakeString("\"b", read, "\"");
    const std::string out = MakeString("\"b", (read + 1 + Below(9)) % 10, "\"");
    switch (Below(11)) {
      case 0:
        return MakeString("op { type: \"Relu\" input: ", in, " output: ", in, Control(), " }");
      case 1:
        return MakeString("op { type: \"Add\" input: ", in, " input: ", Blob(), " output: ", out,
                          Control(), " }");
      case 2:
        return MakeString("op { type: \"Sub\" input: ", in, " input: ", Blob(), " output: ", in,
                          " }");
      case 3:
        return MakeString("op { type: \"Scale\" input: ", in, " output: ", out,
                          " arg { name: \"scale\" f: 0.75 }", Control(), " }");
      case 4:
        return MakeString("op { type: \"UniformFill\" output: ", out,
                          " device_option { random_seed: 7 } arg { name: \"shape\" ints: 8 } }");
      case 5:
        return MakeString("op { type: \"Sin\" input: ", in, " output: ", out, Control(), " }");
      case 6:
        return MakeString("op { type: \"Alias\" input: ", in, " output: \"a", Below(3), "\" }");
      case 7:
        return MakeString("op { type: \"Dropout\" input: ", in, " output: ", out, " output: \"mask",
                          Below(3), "\" arg { name: \"is_test\" i: 0 }", Control(), " }");
      case 8:
        return MakeString("op { type: \"GaussianFill\" output: ", out, Control(),
                          " arg { name: \"shape\" ints: 8 } }");
      case 9:
        return MakeString("op { type: \"ExecutorTestCall\" name: \"slow\" input: ", in,
                          " output: ", in, Control(), " }");
      default:
        return MakeString("op { type: \"Copy\" input: ", in, " output: ", out, " }");
    }
  }
  void AddOperator() {
    if (Below(10) != 0) {
      net_ += OneOperator();
      return;
    }
    net_ += R"(op { type: "If" input: "yes" arg { name: "then_net" n { )";
    for (int i = 0; i < 3; ++i) net_ += OneOperator();
    net_ += "} } }";
  }

  std::mt19937 random_;
  std::string net_;
};

void FeedBlobs(Workspace* ws) {
  ws->SetRandomSeed(3);
  Feed<bool>(ws, "yes", {}, {true});
  for (int i = 0; i < 10; ++i) {
    FeedRandom(ws, MakeString("b", i), {8}, -1, 1, static_cast<uint32_t>(i));
  }
}

// Runs the net several times, the last time without a stop, and returns the bytes of all blobs.
std::string BytesAfter(const std::string& text, const std::string& type, int runs) {
  Workspace ws;
  FeedBlobs(&ws);
  NetDef def = ParseNet(text);
  def.set_type(type);
  if (type == "dag" || type == "prof_dag") def.set_num_workers(3);
  const auto net = CreateNet(def, &ws);
  for (int run = 0; run < runs; ++run) EXPECT_TRUE(net->Run());
  std::string bytes;
  for (int i = 0; i < 10; ++i) {
    const Tensor& tensor = ws.GetBlob(MakeString("b", i))->Get<Tensor>();
    bytes.append(static_cast<const char*>(tensor.raw_data()), tensor.nbytes());
  }
  return bytes;
}

class RandomNetsTest : public ExecutorTest {
 protected:
  RandomNetsTest() {
    SetThreads(4);
    Calls()["slow"] = [](OperatorBase*) {
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    };
  }
};

TEST_F(RandomNetsTest, GiveTheBytesOfSimple) {
  for (int seed = 0; seed < NumberOfNets(); ++seed) {
    const RandomNet net(static_cast<uint32_t>(seed), seed % 10 == 0 ? 200 : 60);
    const std::string want = BytesAfter(net.text(), "simple", 3);
    for (const char* type : kTypes) {
      ASSERT_EQ(BytesAfter(net.text(), type, 3), want) << type << " seed " << seed << "\n"
                                                       << net.text();
    }
  }
}

// Ends the run after a random number of slow operators, in one of several ways.
TEST_F(RandomNetsTest, EndRightAwayWhenStoppedAndRunAgain) {
  std::mt19937 random(1);
  for (int seed = 0; seed < NumberOfNets(); ++seed) {
    std::string text = RandomNet(static_cast<uint32_t>(seed), 40).text();
    for (int i = 0; i < 6; ++i) {
      text += MakeString("op { type: \"ExecutorTestCall\" name: \"event\" input: \"b", i,
                         "\" output: \"b", i, "\" }");
    }
    for (const char* type : kTypes) {
      FeedBlobs(&ws_);
      NetDef def = ParseNet(text);
      def.set_type(type);
      const auto net = CreateNet(def, &ws_);
      const int way = static_cast<int>(random() % 3);
      std::atomic<int> left{static_cast<int>(random() % 6)};
      std::atomic<bool> stopped{false};
      Calls()["event"] = [&](OperatorBase*) {
        if (left-- != 0) return;
        if (way == 0) CAFFE_THROW("no luck");
        if (way == 1) net->Cancel();
        if (way == 2) stopped = true;
      };
      const StopScope scope(stopped);
      bool ended_early = false;
      try {
        net->Run();
      } catch (const EnforceNotMet&) {
        ended_early = true;
      }
      // A stop that comes with the last operator has no effect.
      if (way == 0) EXPECT_TRUE(ended_early) << type << " seed " << seed;
      stopped = false;
      left = -1;
      EXPECT_TRUE(net->Run()) << type << " seed " << seed;
    }
  }
}

}  // namespace
}  // namespace caffe2rt::test::random_nets_test
