#include <cstdint>
#include <limits>
#include <string>
#include <thread>

#include "caffe2_core/runtime/net.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::atomic_fetch_add_test {
namespace {

template <class T>
class AtomicFetchAddTest : public testing::Test {
 public:
  AtomicFetchAddTest() { ws_.RunOperatorOnce(ParseOp(R"(type: "CreateMutex" output: "M")")); }

 protected:
  static std::string Op(const std::string& sum) {
    return MakeString("type: 'AtomicFetchAdd", sizeof(T) == 8 ? "64" : "",
                      "' input: 'M' input: 'V' input: 'I' output: '", sum, "' output: 'F' ");
  }
  Workspace ws_;
};
using Types = testing::Types<int32_t, int64_t>;
TYPED_TEST_SUITE(AtomicFetchAddTest, Types);

TYPED_TEST(AtomicFetchAddTest, AddsTheFirstElements) {
  Workspace& ws = this->ws_;
  Feed<TypeParam>(&ws, "V", {2}, {3, 9});
  Feed<TypeParam>(&ws, "I", {1, 2}, {-7, 5});
  RunOp(&ws, this->Op("S"));
  ExpectTensor<TypeParam>(ws, "S", {}, {-4});
  ExpectTensor<TypeParam>(ws, "F", {}, {3});
  ExpectTensor<TypeParam>(ws, "V", {2}, {3, 9});
  ExpectShapeInferred(&ws, this->Op("V"));
  RunOp(&ws, this->Op("V"));
  ExpectTensor<TypeParam>(ws, "V", {}, {-11});
  ExpectTensor<TypeParam>(ws, "F", {}, {-4});
}

TYPED_TEST(AtomicFetchAddTest, WrapsAround) {
  constexpr TypeParam kMost = std::numeric_limits<TypeParam>::max();
  Feed<TypeParam>(&this->ws_, "V", {1}, {kMost});
  Feed<TypeParam>(&this->ws_, "I", {1}, {kMost});
  RunOp(&this->ws_, this->Op("V"));
  ExpectTensor<TypeParam>(this->ws_, "V", {}, {-2});
  ExpectTensor<TypeParam>(this->ws_, "F", {}, {kMost});
}

TYPED_TEST(AtomicFetchAddTest, RejectsInvalidInputs) {
  Workspace& ws = this->ws_;
  const std::string op = this->Op("V");
  Feed<TypeParam>(&ws, "V", {1}, {3});
  Feed<TypeParam>(&ws, "I", {0}, {});
  ExpectThrows([&] { RunOp(&ws, op); }, "elements of input 2 (increment): got 0, want at least 1");
  Feed<float>(&ws, "I", {1}, {3});
  ExpectThrows([&] { RunOp(&ws, op); }, "the tensor holds elements of type float, want int");
  Feed<TypeParam>(&ws, "V", {0}, {});
  ExpectThrows([&] { RunOp(&ws, op); }, "elements of input 1 (mut_value): got 0, want at least 1");
  Feed<TypeParam>(&ws, "I", {1}, {3});
  ExpectThrows(
      [&] {
        RunOp(&ws,
              "type: 'AtomicFetchAdd' input: 'M' input: 'V' input: 'I' output: 'I' output: 'F'");
      },
      "in place");
}

TYPED_TEST(AtomicFetchAddTest, LosesNothingBetweenThreads) {
  Workspace& ws = this->ws_;
  Feed<TypeParam>(&ws, "V", {}, {0});
  Feed<TypeParam>(&ws, "I", {}, {2});
  for (int t = 0; t < 2; ++t) {
    ws.CreateNet(ParseNet(MakeString(
        "name: 'n", t, "' op { type: 'AtomicFetchAdd", sizeof(TypeParam) == 8 ? "64" : "",
        "' input: 'M' input: 'V' input: 'I' output: 'V' output: 'F", t, "' }")));
  }
  const auto run = [](NetBase* net) {
    for (int i = 0; i < 2000; ++i) net->Run();
  };
  std::thread thread(run, ws.GetNet("n0"));
  run(ws.GetNet("n1"));
  thread.join();
  ExpectTensor<TypeParam>(ws, "V", {}, {8000});
}

}  // namespace
}  // namespace caffe2rt::test::atomic_fetch_add_test
