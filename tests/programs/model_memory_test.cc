// The peak memory of `caffe2 run`: while it loads a model, the weights, a second copy of one weight
// while it is copied into its blob, and little else; for many runs, no more than for one.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstring>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/io/db.h"
#include "caffe2_core/tensor/tensor.h"
#include "caffe2rt/caffe2.pb.h"
#include "caffe2rt/metanet.pb.h"
#include "tests/programs/program_runner.h"
#include "tests/support/operator_test.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::model_memory_test {
namespace {

using ::testing::HasSubstr;

constexpr size_t kWeights = 15;
// protobuf grows a repeated field by doubling, to a power of two less a header. This many floats
// nearly fill it.
constexpr size_t kFloats = 1048500;
constexpr size_t kWeightBytes = kFloats * sizeof(float);
constexpr size_t kModelBytes = kWeights * kWeightBytes;
// Memory of the process that the limit does not count: code, stacks, gaps in the heap.
[[maybe_unused]] constexpr size_t kSlackBytes = size_t{64} << 20;

class ModelMemoryTest : public ::testing::Test {
 protected:
  void ExpectFits(std::vector<std::string> args, size_t limit_bytes) {
    args.insert(args.begin(), "run");
    for (const std::string& word : {std::string("--input"), std::string("x=1"),
                                    std::string("--memory-limit"), std::to_string(limit_bytes)}) {
      args.push_back(word);
    }
    const ProgramResult result = RunCaffe2(args);
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr("\ny  float [1]\n  0.5\n"));
#ifndef CAFFE2RT_SANITIZED  // sanitizers use additional memory
    EXPECT_LE(result.peak_resident_bytes, limit_bytes + kSlackBytes);
#endif
  }

  static std::string WeightName(size_t i) { return MakeString("w", i); }

  // y is the last element of the last weight.
  static std::string PredictNet(size_t weights, size_t floats) {
    std::string net = "name: 'n' external_output: 'y' external_input: 'x'";
    for (size_t i = 0; i < weights; ++i) net += " external_input: '" + WeightName(i) + "'";
    return net + " op { type: 'Slice' input: '" + WeightName(weights - 1) +
           MakeString("' output: 'y' arg { name: 'starts' ints: ", floats - 1,
                      " } arg { name: 'ends' ints: -1 } }");
  }

  const TempDir dir_;
};

void AppendVarint(size_t value, std::string* bytes) {
  for (; value > 127; value >>= 7) bytes->push_back(static_cast<char>((value & 127) | 128));
  bytes->push_back(static_cast<char>(value));
}

void AppendField(int number, const std::string& content, std::string* bytes) {
  bytes->push_back(static_cast<char>(number << 3 | 2));
  AppendVarint(content.size(), bytes);
  *bytes += content;
}

enum class Floats { kPacked, kUnpacked };

// The fields of Argument: 1 name, 5 floats.
std::string ValuesArgument(Floats form) {
  const float value = 0.5f;
  char element[1 + sizeof(value)] = {5 << 3 | 5};
  std::memcpy(element + 1, &value, sizeof(value));
  const std::string one = form == Floats::kUnpacked ? std::string(element, sizeof(element))
                                                    : std::string(element + 1, sizeof(value));
  std::string floats;
  floats.reserve(one.size() * kFloats);
  for (size_t i = 0; i < kFloats; ++i) floats += one;
  std::string argument;
  AppendField(1, "values", &argument);
  if (form == Floats::kPacked) {
    AppendField(5, floats, &argument);
  } else {
    argument += floats;
  }
  return argument;
}

// Writes operator by operator, so that this process itself uses little memory. The fields of
// NetDef: 2 op; of OperatorDef: 5 arg.
std::string WriteInitNet(const std::string& path, const std::vector<std::string>& names,
                         Floats form) {
  const std::string values = ValuesArgument(form);
  AtomicFile file(path);
  for (const std::string& name : names) {
    OperatorDef fill = ParseOp("type: 'GivenTensorFill' output: '" + name + "'" +
                               MakeString(" arg { name: 'shape' ints: ", kFloats, " }"));
    std::string def = fill.SerializeAsString(), op;
    AppendField(5, values, &def);
    AppendField(2, def, &op);
    file.Write(op);
  }
  file.Commit();
  return path;
}

// The first test, since a peak counts from this process on, which must be the smaller one.
TEST_F(ModelMemoryTest, ManyIterationsNeedNoMoreMemory) {
  const std::string net = dir_.Write("copy.pbtxt", R"(
      op { type: "Copy" input: "x" output: "y" } external_input: "x" external_output: "y")");
  const auto peak = [&](const char* iterations) {
    const ProgramResult result =
        RunCaffe2({"run", "--predict-net", net, "--input", "x=1", "--iterations", iterations});
    EXPECT_EQ(result.code, 0) << result.err;
    return result.peak_resident_bytes;
  };
  // A million times of four bytes in a vector that doubles are 8 MB, in every attempt. What the
  // kernel counts differs a little: roughly with many CPUs, and less while the program is read.
  constexpr size_t kMore = size_t{2} << 20;
  size_t once = peak("1"), often = peak("1000000");
  for (int attempt = 1; attempt < 5 && often >= once + kMore; ++attempt) {
    once = std::max(once, peak("1"));
    often = std::min(often, peak("1000000"));
  }
  rusage self = {};
  ASSERT_EQ(getrusage(RUSAGE_SELF, &self), 0);
  EXPECT_GT(once, static_cast<size_t>(self.ru_maxrss) << 10) << "the peak is that of this process";
  EXPECT_LT(often, once + kMore);
}

TEST_F(ModelMemoryTest, InitNetsAreReleasedAsTheyRun) {
  std::vector<std::string> names;
  for (size_t i = 0; i < kWeights; ++i) names.push_back(WeightName(i));
  const std::string net = dir_.Write("net.pbtxt", PredictNet(kWeights, kFloats));
  for (const Floats form : {Floats::kUnpacked, Floats::kPacked}) {
    SCOPED_TRACE(form == Floats::kPacked ? "packed" : "unpacked");
    const std::string init = WriteInitNet(dir_.path("init.pb"), names, form);
    // A copy of one weight, half a weight while protobuf grows the field, and the program itself.
    const size_t limit_bytes = kModelBytes + kModelBytes / 4;
    ExpectFits({"--init-net", init, "--predict-net", net}, limit_bytes);
    ExpectFits({"--init-net", init, "--predict-net", net, "--seed", "3"}, limit_bytes);
  }
}

TEST_F(ModelMemoryTest, DatabasesAreReadRecordByRecord) {
  constexpr size_t kLarge = 3, kLargeFloats = 4194000;
  constexpr size_t kLargeBytes = kLargeFloats * sizeof(float);
  MetaNetDef meta;
  const auto add = [&meta](const char* key, const NetDef& net) {
    meta.add_nets()->set_key(key);
    *meta.mutable_nets(meta.nets_size() - 1)->mutable_value() = net;
  };
  add("PREDICT_NET_TYPE", ParseNet(PredictNet(kLarge, kLargeFloats)));
  NetDef init = ParseNet(
      "external_input: '!!PREDICTOR_DBREADER'"
      " op { type: 'Load' input: '!!PREDICTOR_DBREADER' }");
  for (size_t i = 0; i < kLarge; ++i) init.mutable_op(0)->add_output(WeightName(i));
  add("GLOBAL_INIT_NET_TYPE", init);
  Blob blob;
  *blob.GetMutable<std::string>() = meta.SerializeAsString();
  {
    const auto database = db::CreateDB("minidb", dir_.path("p"), db::NEW);
    const auto transaction = database->NewTransaction();
    transaction->Put("!!META_NET_DEF", SerializeBlob(blob, "!!META_NET_DEF"));
    Tensor weight(std::vector<int64_t>{static_cast<int64_t>(kLargeFloats)}, CPU);
    std::fill_n(weight.mutable_data<float>(), kLargeFloats, 0.5f);
    blob.Reset(new Tensor(std::move(weight)));
    for (size_t i = 0; i < kLarge; ++i) {
      // One record per weight: the largest possible records.
      transaction->Put(WeightName(i), SerializeBlob(blob, WeightName(i)));
    }
  }
  // At first the last record, its proto and half of that while protobuf grows the field, together
  // with two blobs; then the proto together with all blobs. Record, proto and all blobs at once
  // would be five weights.
  ExpectFits({"--predictor", dir_.path("p")}, kLargeBytes * 48 / 10);
}

}  // namespace
}  // namespace caffe2rt::test::model_memory_test
