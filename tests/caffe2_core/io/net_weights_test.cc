#include "caffe2_core/io/net_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>
#include <limits>

#include "caffe2_core/io/given_values.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2_core/io/random_access_input.h"
#include "caffe2_core/io/weights_reader.h"
#include "tests/caffe2_core/io/wire_writer.h"
#include "tests/fuzz/mutate_bytes.h"
#include "tests/support/operator_test.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::net_weights_test {
namespace {

using namespace test;  // used throughout this file
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::optional<NetWithWeights> Read(const std::string& bytes) {
  return ReadNetWithWeights(MemoryInput(bytes));
}

// An operator with argument `values`, and optionally fields behind it.
std::string FillNet(const std::string& type, const std::string& argument,
                    const std::string& rest = "") {
  std::string op, net;
  AppendBytes(2, "w", &op);
  AppendBytes(4, type, &op);
  AppendBytes(5, argument, &op);
  AppendBytes(2, op + rest, &net);
  return net;
}

template <class T>
std::vector<T> ValuesOf(const Tensor& tensor) {
  return std::vector<T>(tensor.data<T>(), tensor.data<T>() + tensor.numel());
}

// Compares the reader with protobuf's parser. Returns whether any list was read directly.
bool ExpectSameAsParser(const std::string& bytes) {
  NetDef want;
  const bool valid = ParseProtoFromLargeString(bytes, &want);
  std::optional<NetWithWeights> got = Read(bytes);
  if (!got.has_value()) return false;
  EXPECT_TRUE(valid) << "the parser rejects what the reader accepts";
  const bool direct = !got->weights.empty();
  for (const OperatorWeights& weights : got->weights) {
    const caffe2rt::Argument& argument = got->net.op(weights.op).arg(weights.arg);
    EXPECT_EQ(argument.name(), "values");
    EXPECT_EQ(argument.floats_size() + argument.ints_size() + argument.strings_size(), 0);
    EXPECT_FALSE(argument.has_s());
  }
  RestoreWeights(&*got);
  EXPECT_TRUE(got->weights.empty());
  EXPECT_EQ(got->net.SerializePartialAsString(), want.SerializePartialAsString());
  return direct;
}

TEST(NetWeightsTest, ReadsHandWrittenBytes) {
  // op { output: "w" type: "GivenTensorFill" arg { name: "values" floats: 1 floats: -2 } }
  const std::string bytes = std::string(
                                "\x12\x28"
                                "\x12\x01w"
                                "\x22\x0fGivenTensorFill"
                                "\x2a\x12"
                                "\x0a\x06values",
                                32) +
                            std::string(
                                "\x2d\x00\x00\x80\x3f"
                                "\x2d\x00\x00\x00\xc0",
                                10);
  const std::optional<NetWithWeights> read = Read(bytes);
  ASSERT_TRUE(read.has_value());
  ASSERT_EQ(read->weights.size(), 1u);
  EXPECT_EQ(read->weights[0].op, 0);
  EXPECT_EQ(read->weights[0].arg, 0);
  EXPECT_THAT(ValuesOf<float>(read->weights[0].values), ElementsAre(1, -2));
  EXPECT_EQ(read->net.op(0).output(0), "w");
  EXPECT_EQ(read->net.op(0).arg(0).floats_size(), 0);
  EXPECT_TRUE(ExpectSameAsParser(bytes));
}

TEST(NetWeightsTest, ReadsEveryTypeInBothEncodings) {
  const auto values_of = [](const std::string& type, const std::string& argument) {
    const std::string bytes = FillNet(type, argument);
    EXPECT_TRUE(ExpectSameAsParser(bytes)) << type;
    return Read(bytes).value().weights.at(0).values;
  };
  for (const ListForm form : {ListForm::kUnpacked, ListForm::kPacked}) {
    const std::string floats = FloatsArgument({1.5f, -2, 3e30f}, form);
    EXPECT_THAT(ValuesOf<float>(values_of("GivenTensorFill", floats)),
                ElementsAre(1.5f, -2, 3e30f));
    EXPECT_THAT(ValuesOf<double>(values_of("GivenTensorDoubleFill", floats)),
                ElementsAre(1.5, -2, static_cast<double>(3e30f)));
    const std::string ints = IntsArgument({0, 1, -1, 300, -32768}, form);
    EXPECT_THAT(ValuesOf<int16_t>(values_of("GivenTensorInt16Fill", ints)),
                ElementsAre(0, 1, -1, 300, -32768));
    EXPECT_THAT(ValuesOf<int32_t>(values_of("GivenTensorIntFill", ints)),
                ElementsAre(0, 1, -1, 300, -32768));
    EXPECT_THAT(ValuesOf<int32_t>(values_of("Int8GivenIntTensorFill", ints)),
                ElementsAre(0, 1, -1, 300, -32768));
    constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
    EXPECT_THAT(ValuesOf<int64_t>(values_of("GivenTensorInt64Fill",
                                            IntsArgument({kLeast, -1 - kLeast, 7}, form))),
                ElementsAre(kLeast, -1 - kLeast, 7));
    EXPECT_THAT(ValuesOf<bool>(values_of("GivenTensorBoolFill", IntsArgument({1, 0, 1}, form))),
                ElementsAre(true, false, true));
  }
  std::string strings, s;
  AppendBytes(1, "values", &strings);
  s = strings;
  AppendBytes(7, "ab\xff", &strings);
  AppendBytes(4, "ab\xff", &s);
  EXPECT_THAT(ValuesOf<uint8_t>(values_of("GivenTensorByteStringToUInt8Fill", strings)),
              ElementsAre('a', 'b', 0xff));
  EXPECT_THAT(ValuesOf<uint8_t>(values_of("Int8GivenTensorFill", s)), ElementsAre('a', 'b', 0xff));
}

TEST(NetWeightsTest, LeavesUnusualEncodingsToTheParser) {
  const std::string floats = FloatsArgument({1, 2}, ListForm::kUnpacked);
  std::string twice, name_last, dtype, unknown;
  AppendBytes(5, floats, &twice);
  AppendTag(5, 5, &name_last);
  AppendFloat(1, &name_last);
  AppendBytes(1, "values", &name_last);
  std::string argument;
  AppendBytes(1, "dtype", &argument);
  AppendTag(3, 0, &argument);
  AppendVarint(2, &argument);
  AppendBytes(5, argument, &dtype);
  std::string other, dtype_first = dtype;
  AppendBytes(1, "other", &other);
  AppendBytes(5, other, &dtype_first);
  AppendTag(200, 0, &unknown);
  AppendVarint(1, &unknown);
  std::string type_again;
  AppendBytes(4, "Relu", &type_again);
  // Other arguments whose first field is not their name, which may be "dtype" or "values".
  std::string late_dtype, late_values, nameless, empty_argument;
  std::string of_late_dtype, of_nameless;
  AppendTag(3, 0, &of_nameless);
  AppendVarint(2, &of_nameless);
  of_late_dtype = of_nameless;
  AppendBytes(1, "dtype", &of_late_dtype);
  AppendBytes(5, of_late_dtype, &late_dtype);
  AppendBytes(5, name_last, &late_values);
  AppendBytes(5, of_nameless, &nameless);
  AppendBytes(5, "", &empty_argument);
  const std::vector<std::string> all = {
      FillNet("GivenTensorFill", floats, twice),
      FillNet("GivenTensorFill", name_last),
      FillNet("GivenTensorFill", floats, dtype),
      FillNet("GivenTensorFill", floats, dtype_first),
      FillNet("GivenTensorFill", floats, unknown),
      FillNet("GivenTensorFill", floats, type_again),
      FillNet("GivenTensorFill", floats, late_dtype),
      FillNet("GivenTensorFill", floats, late_values),
      FillNet("GivenTensorFill", floats, nameless),
      FillNet("GivenTensorFill", floats, empty_argument),
      FillNet("GivenTensorFill", floats + name_last),
      FillNet("GivenTensorFill", FloatsArgument({1, 2}, ListForm::kTwoRuns)),
      FillNet("GivenTensorFill", FloatsArgument({1, 2}, ListForm::kMixed)),
      FillNet("GivenTensorFill", IntsArgument({1, 2}, ListForm::kPacked)),
      FillNet("GivenTensorFill", FloatsArgument({}, ListForm::kPacked)),
      FillNet("Relu", floats),
      FillNet("GivenTensorIntFill", IntsArgument({int64_t{1} << 31}, ListForm::kPacked)),
      FillNet("GivenTensorInt16Fill", IntsArgument({-32769}, ListForm::kUnpacked)),
      FillNet("GivenTensorBoolFill", IntsArgument({2}, ListForm::kPacked)),
      FillNet("GivenTensorDoubleFill",
              FloatsArgument({std::numeric_limits<float>::signaling_NaN()}, ListForm::kPacked)),
  };
  for (size_t i = 0; i < all.size(); ++i) {
    SCOPED_TRACE(i);
    const std::optional<NetWithWeights> read = Read(all[i]);
    ASSERT_TRUE(read.has_value());
    EXPECT_TRUE(read->weights.empty());
    ExpectSameAsParser(all[i]);
  }
}

TEST(NetWeightsTest, KeepsFloatsBitForBit) {
  std::vector<float> values;
  for (const uint32_t bits : {0x7fa00001u, 0xffc12345u, 0x80000000u, 0x00000001u, 0x7f800000u}) {
    float value;
    std::memcpy(&value, &bits, sizeof(value));
    values.push_back(value);
  }
  for (const ListForm form : {ListForm::kUnpacked, ListForm::kPacked}) {
    const auto read = Read(FillNet("GivenTensorFill", FloatsArgument(values, form)));
    const Tensor& got = read.value().weights.at(0).values;
    ASSERT_EQ(got.nbytes(), values.size() * sizeof(float));
    EXPECT_EQ(std::memcmp(got.raw_data(), values.data(), got.nbytes()), 0);
  }
}

// Lists that are longer than the reader's buffer, so that elements lie across its end.
TEST(NetWeightsTest, ReadsListsLongerThanTheBuffer) {
  constexpr size_t kCount = WireCursor::kBufferBytes;
  std::vector<float> floats(kCount);
  std::vector<int64_t> ints(kCount);
  for (size_t i = 0; i < kCount; ++i) {
    floats[i] = static_cast<float>(i) * 0.5f;
    ints[i] = (i % 3 == 0 ? -1 : 1) * static_cast<int64_t>(i * i % 1000000);
  }
  for (const ListForm form : {ListForm::kUnpacked, ListForm::kPacked}) {
    const std::string bytes = FillNet("GivenTensorFill", FloatsArgument(floats, form)) +
                              FillNet("GivenTensorInt64Fill", IntsArgument(ints, form));
    const std::optional<NetWithWeights> read = Read(bytes);
    ASSERT_TRUE(read.has_value());
    ASSERT_EQ(read->weights.size(), 2u);
    EXPECT_EQ(ValuesOf<float>(read->weights[0].values), floats);
    EXPECT_EQ(ValuesOf<int64_t>(read->weights[1].values), ints);
    EXPECT_EQ(read->weights[1].op, 1);
    EXPECT_TRUE(ExpectSameAsParser(bytes));
  }
}

// Adds one of the lists of an argument, for type index `type` mostly the one that the type reads.
void AddList(size_t type, Random* random, caffe2rt::Argument* arg) {
  const uint64_t count = random->Below(40);
  const bool fits = !random->OneIn(4);
  const size_t kind = fits ? type : random->Below(10);
  for (uint64_t i = 0; i < count; ++i) {
    if (kind < 2) {
      arg->add_floats(static_cast<float>(random->Below(1000)) - 500);
    } else if (kind < 7) {
      const uint64_t bits = kind <= 3 ? 50 : (kind == 6 ? 14 : 30);
      arg->add_ints(static_cast<int64_t>(random->Next()) >> (64 - bits));
      if (kind == 2) arg->set_ints(static_cast<int>(i), static_cast<int64_t>(random->Below(2)));
    } else if (kind < 9 && i < 1 + random->Below(2)) {
      arg->add_strings("text");
    }
  }
  if (kind == 9) arg->set_s("text");
}

NetDef RandomNet(Random* random) {
  static const std::vector<std::string> types = {
      "GivenTensorFill",       "GivenTensorDoubleFill",
      "GivenTensorBoolFill",   "GivenTensorInt64Fill",
      "GivenTensorIntFill",    "Int8GivenIntTensorFill",
      "GivenTensorInt16Fill",  "GivenTensorByteStringToUInt8Fill",
      "GivenTensorStringFill", "Int8GivenTensorFill",
      "ConstantFill",          "Relu"};
  NetDef net;
  if (random->OneIn(2)) net.set_name("net");
  for (uint64_t ops = random->Below(6); ops > 0; --ops) {
    OperatorDef* op = net.add_op();
    const size_t type = random->Below(types.size());
    op->set_type(types[type]);
    op->add_output("out");
    if (random->OneIn(3)) op->add_input("in");
    for (uint64_t args = random->Below(4); args > 0; --args) {
      caffe2rt::Argument* arg = op->add_arg();
      static const std::vector<std::string> names = {"values", "shape", "other", "dtype"};
      arg->set_name(args == 1 ? "values" : names[random->Below(random->OneIn(4) ? 4 : 3)]);
      AddList(type, random, arg);
      if (random->OneIn(8)) arg->set_i(static_cast<int64_t>(random->Next()));
      if (random->OneIn(8)) arg->set_f(1);
    }
  }
  return net;
}

TEST(NetWeightsTest, AgreesWithTheParserOnRandomNets) {
  int direct = 0;
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    Random random(seed);
    const NetDef net = RandomNet(&random);
    const std::string bytes = EncodeNet(net, &random);
    SCOPED_TRACE(seed);
    direct += ExpectSameAsParser(bytes) ? 1 : 0;
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(direct, 300);
}

TEST(NetWeightsTest, AgreesWithTheParserOnDamagedNets) {
  int direct = 0;
  for (uint64_t seed = 0; seed < 6000; ++seed) {
    Random random(seed);
    std::string bytes = EncodeNet(RandomNet(&random), &random);
    const std::string other = EncodeNet(RandomNet(&random), &random);
    if (bytes.empty()) continue;
    MutateBytes(other, &random, &bytes);
    SCOPED_TRACE(seed);
    direct += ExpectSameAsParser(bytes) ? 1 : 0;
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(direct, 100);
}

TEST(NetWeightsTest, AgreesWithTheParserOnEveryTruncation) {
  const std::string bytes =
      FillNet("GivenTensorFill", FloatsArgument({1, 2, 3}, ListForm::kUnpacked)) +
      FillNet("GivenTensorInt64Fill", IntsArgument({1, -1, 300}, ListForm::kPacked)) +
      FillNet("Relu", FloatsArgument({1}, ListForm::kPacked));
  for (size_t size = 0; size <= bytes.size(); ++size) {
    SCOPED_TRACE(size);
    ExpectSameAsParser(bytes.substr(0, size));
  }
}

// Sizes that exceed the file must not lead to an allocation.
TEST(NetWeightsTest, RejectsSizesBeyondTheEnd) {
  for (const uint64_t size : {uint64_t{100}, uint64_t{1} << 31, uint64_t{1} << 62, UINT64_MAX}) {
    std::string argument, op, net;
    AppendBytes(1, "values", &argument);
    AppendTag(5, 2, &argument);
    AppendVarint(size, &argument);
    argument += "abcd";
    AppendBytes(4, "GivenTensorFill", &op);
    AppendBytes(5, argument, &op);
    AppendBytes(2, op, &net);
    EXPECT_FALSE(Read(net).has_value()) << size;
    std::string op_too_long;
    AppendTag(2, 2, &op_too_long);
    AppendVarint(size, &op_too_long);
    EXPECT_FALSE(Read(op_too_long + op).has_value()) << size;
  }
}

TEST(NetWeightsTest, ReadsFilesOfNetsOnly) {
  const TempDir dir;
  const std::string net = FillNet("GivenTensorFill", FloatsArgument({1, 2}, ListForm::kUnpacked));
  EXPECT_TRUE(ReadNetWithWeights(dir.Write("net.pb", net)).has_value());
  EXPECT_FALSE(ReadNetWithWeights(dir.Write("net.pbtxt", "op { type: 'Relu' }")).has_value());
  EXPECT_FALSE(ReadNetWithWeights(dir.Write("empty", "")).has_value());
  EXPECT_FALSE(ReadNetWithWeights(dir.path("absent")).has_value());
  EXPECT_FALSE(ReadNetWithWeights(dir.path()).has_value());
  PlanDef plan;
  plan.set_name("plan");
  *plan.add_network() = ParseNet("name: 'n' op { type: 'Relu' input: 'x' output: 'y' }");
  plan.add_execution_step()->add_network("n");
  EXPECT_FALSE(ReadNetWithWeights(dir.Write("plan.pb", plan.SerializeAsString())).has_value());
  ASSERT_EQ(mkfifo(dir.path("pipe").c_str(), 0600), 0);
  EXPECT_FALSE(ReadNetWithWeights(dir.path("pipe")).has_value());
}

// An input that becomes shorter while it is read.
class ShrinkingInput final : public RandomAccessInput {
 public:
  explicit ShrinkingInput(std::string bytes) : bytes_(std::move(bytes)) {}
  int64_t size() const override { return static_cast<int64_t>(bytes_.size()); }
  void Read(int64_t offset, void* data, size_t size) const override {
    MemoryInput(std::string_view(bytes_).substr(0, bytes_.size() / 2)).Read(offset, data, size);
  }

 private:
  const std::string bytes_;
};

TEST(NetWeightsTest, ReportsFilesThatShrink) {
  const std::vector<float> values(WireCursor::kBufferBytes, 1.f);
  for (const ListForm form : {ListForm::kUnpacked, ListForm::kPacked}) {
    const ShrinkingInput input(FillNet("GivenTensorFill", FloatsArgument(values, form)));
    ExpectThrows([&] { (void)ReadNetWithWeights(input); }, "cannot read");
  }
}

TEST(NetWeightsTest, LeavesNetsWithoutWeightsToTheStream) {
  std::string op, net;
  AppendBytes(4, "Relu", &op);
  AppendBytes(10, std::string(size_t{33} << 20, 'x'), &op);  // debug_info
  AppendBytes(2, op, &net);
  EXPECT_FALSE(Read(net).has_value());
}

// The last name of an argument counts. One that becomes `values` comes before the list behind it,
// so that nothing is read directly.
TEST(NetWeightsTest, AnArgumentMayGetItsNameLater) {
  const std::string list = FloatsArgument({7}, ListForm::kPacked);
  for (const std::string& first : {std::string(64, 'n'), std::string(65, 'n'), std::string("x")}) {
    for (const std::string& last : {std::string("values"), std::string("other")}) {
      std::string renamed, op, net;
      AppendBytes(1, first, &renamed);
      AppendBytes(1, last, &renamed);
      AppendBytes(5, std::string("\0\0\x80\x3f", 4), &renamed);
      AppendBytes(4, "GivenTensorFill", &op);
      AppendBytes(5, renamed, &op);
      AppendBytes(5, list, &op);
      AppendBytes(2, op, &net);
      EXPECT_FALSE(ExpectSameAsParser(net)) << first.size() << last;
    }
    std::string named, op, net;
    AppendBytes(1, first, &named);
    AppendBytes(5, std::string("\0\0\x80\x3f", 4), &named);
    AppendBytes(4, "GivenTensorFill", &op);
    AppendBytes(5, named, &op);
    AppendBytes(5, list, &op);
    AppendBytes(2, op, &net);
    // The name of an argument is compared if it has up to 64 bytes.
    EXPECT_EQ(ExpectSameAsParser(net), first.size() <= 64) << first.size();
  }
}

}  // namespace
}  // namespace caffe2rt::net_weights_test
