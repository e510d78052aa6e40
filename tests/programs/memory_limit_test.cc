// --memory-limit applies to files that expand when they are read: strings, protos, archives and
// plans. The program ends with a one-line error, and its peak memory is at most the limit plus
// 128 MiB.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdlib>
#include <cstring>

#include "caffe2_core/base/enforce.h"
#include "tests/programs/program_runner.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::memory_limit_test {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr size_t kLimitBytes = size_t{64} << 20;
// Memory of the process that the limit does not count: code, stacks, gaps in the heap. 132 MiB have
// been seen with the libraries of Debian 13, less elsewhere.
[[maybe_unused]] constexpr size_t kSlackBytes = size_t{160} << 20;
// Small blocks may exceed the limit by this much while an error is described.
constexpr size_t kHeadroomBytes = size_t{8} << 20;

// The size after the label, such as 70885376 for "peak 67.6 MiB".
size_t BytesAfter(const std::string& text, const std::string& label) {
  const size_t at = text.find(label);
  if (at == std::string::npos) return SIZE_MAX;
  size_t digits = 0;
  const std::string size = text.substr(at + label.size());
  const double number = std::stod(size, &digits);
  const std::string unit = size.substr(digits, 4);
  const int shift = unit == " KiB" ? 10 : unit == " MiB" ? 20 : unit == " GiB" ? 30 : 0;
  return static_cast<size_t>(number * static_cast<double>(size_t{1} << shift));
}

class MemoryLimitTest : public ::testing::Test {
 protected:
  // protobuf leaks if memory runs out while it extends or copies a repeated field or copies a
  // string (allocation_sweep.h).
  MemoryLimitTest() {
    const std::string file = dir_.Write("leaks",
                                        "leak:google::protobuf::internal::RepeatedPtrFieldBase::\n"
                                        "leak:google::protobuf::RepeatedPtrField<*>::Add\n"
                                        "leak:google::protobuf::Reflection::AddMessage\n"
                                        "leak:google::protobuf::internal::ArenaStringPtr::Set\n");
    setenv("LSAN_OPTIONS", ("print_suppressions=0:suppressions=" + file).c_str(), 1);
  }

  void ExpectRefused(std::vector<std::string> args) {
    for (const char* word : {"--memory-limit", "64M"}) args.push_back(word);
    const ProgramResult result = RunCaffe2(args);
    EXPECT_EQ(result.code, 1) << result.err;
    EXPECT_THAT(result.err, AllOf(StartsWith("caffe2: "), HasSubstr("out of "),
                                  HasSubstr("limit 64 MiB, "), HasSubstr("(--memory-limit)")));
    EXPECT_EQ(result.err.find('\n'), result.err.size() - 1) << result.err;
    EXPECT_LE(BytesAfter(result.err, "peak "), kLimitBytes + kHeadroomBytes) << result.err;
#ifndef CAFFE2RT_SANITIZED  // sanitizers use additional memory
    EXPECT_LE(result.peak_resident_bytes, kLimitBytes + kSlackBytes);
#endif
  }

  const TempDir dir_;
};

std::string Repeated(const std::string& part, size_t count) {
  std::string all;
  all.reserve(part.size() * count);
  for (size_t i = 0; i < count; ++i) all += part;
  return all;
}

// A length-delimited field of a message: tag, length, bytes.
std::string Field(int number, const std::string& bytes) {
  std::string field(1, static_cast<char>(number << 3 | 2));
  size_t length = bytes.size();
  for (; length > 127; length >>= 7) field += static_cast<char>((length & 127) | 128);
  field += static_cast<char>(length);
  return field + bytes;
}

// A net of `count` copies of a string of `length` characters.
std::string TiledStrings(size_t length, size_t count) {
  return R"(name: "strings" external_output: "t"
      op { type: "GivenTensorStringFill" output: "s" arg { name: "shape" ints: 1 }
           arg { name: "values" strings: ")" +
         std::string(length, 'x') + R"(" } }
      op { type: "Tile" input: "s" output: "t" arg { name: "axis" i: 0 } arg { name: "tiles" i: )" +
         std::to_string(count) + " } }";
}

TEST_F(MemoryLimitTest, HoldsForFewLongStrings) {
  ExpectRefused({"run", "--predict-net", dir_.Write("net.pbtxt", TiledStrings(1000000, 1000))});
}

TEST_F(MemoryLimitTest, HoldsForManyShortStrings) {
  ExpectRefused({"run", "--predict-net", dir_.Write("net.pbtxt", TiledStrings(40, 1500000))});
}

// The fields of NetDef: 1 name, 2 op, 8 external_output.
TEST_F(MemoryLimitTest, HoldsForEmptyOperatorsOfTwoBytesEach) {
  const std::string net =
      dir_.Write("net.pb", Field(1, "n") + Repeated(Field(2, ""), 1000000));  // 2 MB
  ExpectRefused({"run", "--predict-net", net});
  ExpectRefused({"check", net});
  ExpectRefused({"inspect", net});
}

// The fields of NetDef: 7 external_input, 8 external_output.
TEST_F(MemoryLimitTest, HoldsForEmptyStringsOfTwoBytesEach) {
  for (const int field : {7, 8}) {
    const std::string net =
        dir_.Write("net.pb", Field(1, "n") + Repeated(Field(field, ""), 2000000));
    ExpectRefused({"convert", net});
    ExpectRefused({"check", net});
    ExpectRefused({"inspect", net});
    ExpectRefused({"run", "--predict-net", net});
  }
}

// The fields of OperatorDef: 4 type; of PlanDef: 1 name, 2 network, 3 execution_step; of
// ExecutionStep: 2 substep, 3 network.
TEST_F(MemoryLimitTest, HoldsForPlansOfManySteps) {
  const std::string steps = Field(3, Repeated(Field(2, ""), 1000000));
  ExpectRefused({"plan", dir_.Write("plan.pb", Field(1, "p") + steps)});
}

TEST_F(MemoryLimitTest, HoldsForPlansOfManyNets) {
  std::string plan = Field(1, "p");
  for (int i = 0; i < 30000; ++i) {
    plan += Field(2, Field(1, "n" + std::to_string(i)) + Repeated(Field(2, Field(4, "Relu")), 20));
  }
  for (int i = 0; i < 30000; ++i) plan += Field(3, Field(3, "n" + std::to_string(i)));
  ExpectRefused({"plan", dir_.Write("plan.pb", plan)});
}

// A million operators, all from one small net.
TEST_F(MemoryLimitTest, HoldsForInstancesThatAreCompiled) {
  std::string plan = R"(name: "p" network { name: "n" )";
  for (int i = 0; i < 2000; ++i) {
    plan += R"(op { type: "ConstantFill" output: "x)" + std::to_string(i) +
            R"(" arg { name: "shape" ints: 1 } } )";
  }
  plan += R"(} execution_step { num_concurrent_instances: 500
             substep { create_workspace: true network: "n" } })";
  ExpectRefused({"plan", dir_.Write("plan.pbtxt", plan)});
}

// The values take four times the memory of the tensors, and are freed after the error.
TEST_F(MemoryLimitTest, HoldsForValuesPrintedAsJson) {
  std::string net;
  for (int i = 0; i < 60; ++i) {
    net += R"(op { type: "ConstantFill" output: "x)" + std::to_string(i) +
           R"(" arg { name: "shape" ints: 100000 } arg { name: "value" f: 0.1 } } )";
  }
  const std::string file = dir_.Write("net.pbtxt", net);
  ExpectRefused({"run", "--predict-net", file, "--json"});
  std::vector<std::string> args = {"run", "--predict-net", file, "--memory-limit", "64M"};
  EXPECT_EQ(RunCaffe2(args).code, 0);
}

void Append(size_t value, int bytes, std::string* text) {
  for (int i = 0; i < bytes; ++i) *text += static_cast<char>(value >> (8 * i) & 255);
}

// An archive of `count` arrays a0, a1, ... of `elements` elements each, compressed to about a
// twentieth. (An archive that unpacks to a hundred times its size is rejected for that reason
// alone.) `declared` is the size that the archive declares; 0 means the true size.
std::string Npz(size_t count, size_t elements, size_t declared = 0) {
  std::string npy("\x93NUMPY\1\0\x76\0", 10);
  std::string header =
      "{'descr': '<f4', 'fortran_order': False, 'shape': (" + std::to_string(elements) + ",), }";
  header.resize(0x75, ' ');
  std::string data(elements * sizeof(float), '\0');
  uint32_t random = 1;
  for (size_t i = 0; i < data.size(); i += 64) {
    random = random * 1664525 + 1013904223;
    data[i] = static_cast<char>(random >> 24);
  }
  npy += header + "\n" + data;
  std::string packed(compressBound(npy.size()), '\0');
  z_stream stream = {};
  CAFFE_ENFORCE(deflateInit2(&stream, 1, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK,
                "zlib cannot start");
  stream.next_in = reinterpret_cast<Bytef*>(npy.data());
  stream.avail_in = static_cast<uInt>(npy.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  CAFFE_ENFORCE(deflate(&stream, Z_FINISH) == Z_STREAM_END, "zlib cannot pack");
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  const size_t crc =
      crc32(0, reinterpret_cast<const Bytef*>(npy.data()), static_cast<uInt>(npy.size()));

  std::string archive, directory;
  for (size_t i = 0; i < count; ++i) {
    const std::string name = "a" + std::to_string(i) + ".npy";
    std::string common("\x14\0\0\0\x08\0\0\0\0\0", 10);  // version, flags, deflated, time, date
    Append(crc, 4, &common);
    Append(packed.size(), 4, &common);
    Append(declared != 0 ? declared : npy.size(), 4, &common);
    Append(name.size(), 2, &common);
    Append(0, 2, &common);  // extra field
    directory += std::string("PK\1\2\x14\0", 6) + common + std::string(10, '\0');
    Append(archive.size(), 4, &directory);
    directory += name;
    archive += "PK\3\4" + common + name + packed;
  }
  std::string end("PK\5\6\0\0\0\0", 8);
  Append(count, 2, &end);
  Append(count, 2, &end);
  Append(directory.size(), 4, &end);
  Append(archive.size(), 4, &end);
  return archive + directory + end + std::string(2, '\0');
}

class NpzLimitTest : public MemoryLimitTest {
 protected:
  std::vector<std::string> RunOn(const std::string& archive) {
    return {"run", "--predict-net",
            dir_.Write("net.pbtxt", R"(external_input: "a0" external_output: "y"
                                       op { type: "Copy" input: "a0" output: "y" })"),
            "--input", dir_.Write("a.npz", archive)};
  }
};

TEST_F(NpzLimitTest, RejectsAnEntryByItsDeclaredSize) { ExpectRefused(RunOn(Npz(1, 20000000))); }

TEST_F(NpzLimitTest, HoldsForManyEntriesThatFitOneByOne) { ExpectRefused(RunOn(Npz(20, 1000000))); }

TEST_F(NpzLimitTest, RejectsAnEntryThatUnpacksToMoreThanItDeclares) {
  std::vector<std::string> args = RunOn(Npz(1, 20000000, 1000000));
  for (const char* word : {"--memory-limit", "64M"}) args.push_back(word);
  const ProgramResult result = RunCaffe2(args);
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, EndsWith("entry \"a0.npy\" is damaged\n"));
#ifndef CAFFE2RT_SANITIZED
  EXPECT_LE(result.peak_resident_bytes, kLimitBytes + kSlackBytes);
#endif
}

}  // namespace
}  // namespace caffe2rt::test::memory_limit_test
