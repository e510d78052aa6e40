#include "caffe2_core/io/double_fills.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <functional>
#include <limits>

#include "caffe2_core/io/net_weights.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::double_fills_test {
namespace {

using ::testing::ElementsAre;

using Words = std::vector<std::string>;

template <class T>
NetWithWeights FillOf(const std::vector<T>& values) {
  Workspace ws;
  const int64_t size = static_cast<int64_t>(values.size());
  Feed<T>(&ws, "from", {1, size}, values);
  NetWithWeights net;
  net.net.set_name("init");
  EXPECT_TRUE(AddFill("w", ws.GetBlob("from")->Get<Tensor>(), &net));
  return net;
}

// Runs the whole net, and returns the types of its operators.
template <class T>
Words TypesThatFill(const std::vector<T>& values, NetWithWeights net) {
  RestoreWeights(&net);
  EXPECT_TRUE(net.weights.empty());
  Workspace ws;
  EXPECT_TRUE(ws.RunNetOnce(net.net));
  const auto got = Fetch<T>(ws, "w");
  EXPECT_EQ(DimsOf(ws, "w"), (std::vector<int64_t>{1, static_cast<int64_t>(values.size())}));
  EXPECT_EQ(got.size(), values.size());
  for (size_t i = 0; i < std::min(got.size(), values.size()); ++i) {
    if constexpr (std::is_same_v<T, double>) {
      EXPECT_EQ(std::bit_cast<int64_t>(got[i]), std::bit_cast<int64_t>(values[i])) << i;
    } else {
      EXPECT_EQ(got[i], values[i]) << i;
    }
  }
  Words types;
  for (const OperatorDef& op : net.net.op()) types.push_back(op.type());
  return types;
}
template <class T>
Words TypesThatFill(const std::vector<T>& values) {
  return TypesThatFill(values, FillOf(values));
}

TEST(DoubleFillsTest, KeepEachBit) {
  const std::string fill = "GivenTensorDoubleFill";
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_THAT(TypesThatFill<double>({1.5, -0.0, infinity, 0x1p-149}), ElementsAre(fill));
  EXPECT_THAT(TypesThatFill<double>({1.5, 1 + 0x1p-30}), ElementsAre(fill, fill, "Sum"));
  // 53 bits, and numbers that need fewer parts beside them.
  EXPECT_THAT(TypesThatFill<double>({0.1, -1.0 / 3, -0.0, 0.0, -infinity, 1 + 0x1p-52, 3}),
              ElementsAre(fill, fill, fill, "Sum"));
  // Too large for a float, too small, and no number, with bits of its own.
  for (const double other : {1e300, -std::numeric_limits<double>::max(), 0x1p-1074, 1e-40,
                             std::bit_cast<double>(uint64_t{0x7ff8000000012345})}) {
    EXPECT_THAT(TypesThatFill<double>({0.1, other}), ElementsAre("GivenTensorInt64Fill", "BitCast"))
        << other;
  }
  EXPECT_THAT(TypesThatFill<double>({}), ElementsAre(fill));
}

// BitCast runs on the CPU only.
TEST(DoubleFillsTest, AreNotRoundedOnADevice) {
  for (const bool of_net : {false, true}) {
    NetWithWeights net = FillOf<double>({0.1, 1e-40});
    DeviceOption* const device =
        of_net ? net.net.mutable_device_option() : net.net.mutable_op(0)->mutable_device_option();
    device->set_device_type(PROTO_CUDA);
    ExpectThrows(
        [&] { RestoreWeights(&net); },
        "blob \"w\" has doubles that no floats add up to, which no operator fills on a device; "
        "want operator GivenTensorDoubleFill on the CPU");
  }
}

TEST(DoubleFillsTest, WriteNoBlobOfTheNet) {
  NetWithWeights net = FillOf<double>({0.1, 0.2});
  const std::vector<float> other = {7};
  *net.net.add_op() = ParseOp(R"(type: "GivenTensorFill" output: "double_0/0/0"
      arg { name: "shape" ints: 1 } arg { name: "values" floats: 7 })");
  net.net.mutable_op()->SwapElements(0, 1);
  net.weights[0].op = 1;
  RestoreWeights(&net);
  Workspace ws;
  ASSERT_TRUE(ws.RunNetOnce(net.net));
  ExpectTensor<float>(ws, "double_0/0/0", {1}, other);
  EXPECT_EQ(Fetch<double>(ws, "w"), (std::vector<double>{0.1, 0.2}));
}

// A name counts wherever the net has it.
TEST(DoubleFillsTest, WriteNothingWithABeginningThatTheNetHas) {
  const std::function<void(NetDef*)> changes[] = {
      [](NetDef* net) { net->add_external_input("double_0/weights"); },
      [](NetDef* net) { net->add_external_output("double_0/result"); },
      [](NetDef* net) { *net->add_op() = ParseOp("type: 'Copy' input: 'double_0/x' output: 'y'"); },
      [](NetDef* net) {
        *net->add_op() = ParseOp("type: 'Add' input: 'x' input: 'double_0/x' output: 'y'");
      },
  };
  for (const auto& change : changes) {
    NetWithWeights net = FillOf<double>({0.1, 0.2});
    change(&net.net);
    SCOPED_TRACE(net.net.ShortDebugString());
    RestoreWeights(&net);
    int parts = 0;
    for (const OperatorDef& op : net.net.op()) {
      EXPECT_FALSE(op.output(0).starts_with("double_0/")) << op.output(0);
      parts += op.output(0).starts_with("double_1/");
    }
    EXPECT_EQ(parts, 3);
  }
  // Two beginnings are taken.
  NetWithWeights net = FillOf<double>({0.1, 0.2});
  net.net.add_external_input("double_1/a");
  net.net.add_external_output("double_0/");
  RestoreWeights(&net);
  EXPECT_TRUE(net.net.op(0).output(0).starts_with("double_2/")) << net.net.op(0).output(0);
}

TEST(DoubleFillsTest, OtherTypesHaveAFillEach) {
  EXPECT_THAT(TypesThatFill<float>({0.1f, -2}), ElementsAre("GivenTensorFill"));
  EXPECT_THAT(TypesThatFill<bool>({true, false}), ElementsAre("GivenTensorBoolFill"));
  EXPECT_THAT(TypesThatFill<int16_t>({-3, 4}), ElementsAre("GivenTensorInt16Fill"));
  EXPECT_THAT(TypesThatFill<int32_t>({-3, 1 << 30}), ElementsAre("GivenTensorIntFill"));
  EXPECT_THAT(TypesThatFill<int64_t>({-3, int64_t{1} << 40}), ElementsAre("GivenTensorInt64Fill"));
  EXPECT_THAT(TypesThatFill<uint8_t>({0, 255}), ElementsAre("GivenTensorByteStringToUInt8Fill"));
  Workspace ws;
  Feed<int8_t>(&ws, "bytes", {1}, {1});
  Feed<std::string>(&ws, "texts", {1}, {"a"});
  NetWithWeights net;
  for (const char* name : {"bytes", "texts"}) {
    EXPECT_FALSE(AddFill("w", ws.GetBlob(name)->Get<Tensor>(), &net)) << name;
  }
  EXPECT_EQ(net.net.op_size(), 0);
}

}  // namespace
}  // namespace caffe2rt::test::double_fills_test
