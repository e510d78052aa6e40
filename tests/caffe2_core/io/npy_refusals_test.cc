// Every error of .npy and .npz files that the tests of their readers and writers leave out, whole,
// and the sizes next to each bound that are accepted.
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "caffe2_core/base/utf8.h"
#include "caffe2_core/io/npy.h"
#include "caffe2_core/io/npy_streams.h"
#include "tests/support/refusals.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::npy_refusals_test {
namespace {

using namespace std::string_literals;

std::string Dict(const std::string& descr, const std::string& shape) {
  return "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }";
}

std::string Npy(const std::string& dict, const std::string& data) {
  return "\x93NUMPY\1\0"s + static_cast<char>(dict.size() & 255) +
         static_cast<char>(dict.size() >> 8) + dict + data;
}

std::string WithVersion(char version, uint32_t header_bytes, const std::string& rest) {
  std::string bytes = "\x93NUMPY"s + version + "\0"s;
  for (int shift = 0; shift < 32; shift += 8)
    bytes += static_cast<char>(header_bytes >> shift & 255);
  return bytes + rest;
}

std::function<void()> Read(const std::string& bytes) {
  return [bytes] { ParseNpy(bytes, "x"); };
}

Tensor Strings(const std::vector<std::string>& texts) {
  Tensor tensor(std::vector<int64_t>{static_cast<int64_t>(texts.size())}, CPU);
  std::copy(texts.begin(), texts.end(), tensor.mutable_data<std::string>());
  return tensor;
}

template <class T = float>
Tensor Filled(const std::vector<int64_t>& dims, T value = 1) {
  Tensor tensor(dims, CPU);
  std::fill_n(tensor.mutable_data<T>(), tensor.numel(), value);
  return tensor;
}

// A comma may follow the last size.
TEST(NpyRefusalsTest, OfRanksAbove64) {
  for (const char* const end : {"1)", "1, )"}) {
    std::string ones;
    for (int i = 0; i < 63; ++i) ones += "1, ";
    const Tensor most = ParseNpy(Npy(Dict("|u1", "(" + ones + end), "a"), "x");
    EXPECT_EQ(most.dims(), std::vector<int64_t>(64, 1)) << end;
    ExpectRefusals({{Read(Npy(Dict("|u1", "(1, " + ones + end), "a")),
                     "cannot read \"x\" as .npy: its rank is above 64"}});
  }
}

TEST(NpyRefusalsTest, OfTheHeader) {
  const std::string x = "cannot read \"x\" as .npy: ";
  const std::string array = Npy(Dict("|u1", "(2,)"), "ab");
  constexpr uint32_t kMost = 1 << 20;
  const std::string dict = Dict("|u1", "(1,)");
  const auto long_header = [&](uint32_t bytes) {
    return WithVersion(2, bytes, dict + std::string(bytes - dict.size(), ' ') + "a");
  };
  std::string ones;
  for (int i = 0; i < 63; ++i) ones += "1, ";
  ExpectRefusals({
      {Read(""), x + "it does not begin with the signature of .npy"},
      {Read(array.substr(0, 11)), x + "it does not begin with the signature of .npy"},
      {Read("\x93NUMPX" + array.substr(6)), x + "it does not begin with the signature of .npy"},
      {Read("\x93NUMPY\4\0\2\0{}"s), x + "version 4, want 1 to 3"},
      {Read("\x93NUMPY\0\0\2\0{}"s), x + "version 0, want 1 to 3"},
      {Read("\x93NUMPY\xff\0\2\0{}"s), x + "version 255, want 1 to 3"},
      {Read("\x93NUMPY\1\0\3\0{}"s), x + "it is truncated in its header"},
      {Read("\x93NUMPY\1\0\2\0{}"s), x + "its header lacks descr, fortran_order or shape"},
      {Read(WithVersion(3, 3, "{}")), x + "it is truncated in its header"},
      {Read(WithVersion(2, kMost, std::string(kMost - 1, ' '))),
       x + "it is truncated in its header"},
      {Read(long_header(kMost + 1)), x + "it is truncated in its header"},
      {Read(Npy(Dict("|u1", "(" + ones + "1, 1, 1)"), "a")), x + "its rank is above 64"},
      {Read(Npy(Dict("<f4", "(2,)"), "abcd")),
       x + "4 bytes of data do not match an array of type <f4 and shape [2]"},
      {Read(Npy(Dict("<f4", "()"), "abc")),
       x + "3 bytes of data do not match an array of type <f4 and shape []"},
      {Read(Npy(Dict("<f4", "(0, 2)"), "a")),
       x + "1 bytes of data do not match an array of type <f4 and shape [0, 2]"},
      {Read(Npy(Dict("<f4", "(9223372036854775808,)"), "")),
       "size overflow: 9223372036854775800 + 8 does not fit into 64 bits"},
      {Read(Npy(Dict("<f4", "(99999999999999999999,)"), "")),
       "size overflow: 999999999999999999 * 10 does not fit into 64 bits"},
      {Read(Npy(Dict("|V4", "(1,)"), "abcd")),
       "cannot read \"x\": its elements ('|V4') are of no known type, want bool, integers or "
       "floating "
       "point"},
      {Read(Npy(Dict("<U1", "(1,)"), "abcd")),
       "cannot read \"x\": its elements ('<U1') are strings of fixed width, want bool, integers or "
       "floating point"},
      {Read(Npy(Dict("|a4", "(1,)"), "abcd")),
       "cannot read \"x\": its elements ('|a4') are strings of fixed width, want bool, integers or "
       "floating point"},
      {Read(Npy(Dict("|O", "(1,)"), "abcdefgh")),
       "cannot read \"x\": its elements ('|O') are pickled Python objects, want bool, integers or "
       "floating point"},
      {Read(Npy(Dict("<c8", "(1,)"), "abcdefgh")),
       "cannot read \"x\": its elements ('<c8') are complex numbers, want bool, integers or "
       "floating "
       "point"},
      {Read(Npy(Dict("<m8[s]", "(1,)"), "abcdefgh")),
       "cannot read \"x\": its elements ('<m8[s]') are dates or times, want bool, integers or "
       "floating "
       "point"},
      {Read(Npy(Dict("<u8", "(1,)"), "\0\0\0\0\0\0\0\x80"s)),
       "an element of \"x\" (uint64) that is to become int64: got 9223372036854775808, want at "
       "most "
       "9223372036854775807"},
  });
  EXPECT_EQ(ParseNpy(long_header(kMost), "x").data<uint8_t>()[0], 'a');
  EXPECT_EQ(ParseNpy(Npy(Dict("|u1", "(" + ones + "1)"), "a"), "x").dim(), 64);
  EXPECT_EQ(
      ParseNpy(Npy(Dict("<u8", "(1,)"), std::string(7, '\xff') + "\x7f"), "x").data<int64_t>()[0],
      INT64_MAX);
  EXPECT_EQ(ParseNpy(Npy(Dict("|u1", "()"), "a"), "x").dim(), 0);
}

TEST(NpyRefusalsTest, OfTensorsThatAreWritten) {
  const TempDir dir;
  const std::string path = dir.path("a.npy");
  Tensor unsupported(std::vector<int64_t>{1}, CPU);
  unsupported.mutable_data<std::string*>();
  Tensor typeless(std::vector<int64_t>{1}, CPU);
  std::vector<std::string> many(32769);
  many[7] = std::string(65536, 'a');
  const Tensor wide = Strings(many);
  const std::string no_type = "cannot write a tensor without shape or type as .npy";
  ExpectRefusals({
      {[&] { NpyBytes(Tensor(CPU)); }, no_type},
      {[&] { NpyBytes(typeless); }, no_type},
      {[&] { WriteNpy(path, unsupported); },
       MakeString("cannot write a tensor of type ", TypeMeta::Name<std::string*>(),
                  " as .npy: want bool, integers, floating point or strings")},
      {[&] {
         NpyBytes(Strings({"a", "b\0"s}));
       },
       "cannot write string 1 as .npy: it ends with a zero byte, which NumPy drops"},
      {[&] { NpyBytes(wide); },
       "bytes of strings, each padded to the longest, in a .npy file: got 2147549184, want at most "
       "2147483648"},
  });
  EXPECT_FALSE(std::filesystem::exists(path));
  const std::string bytes = NpyBytes(Strings({"\0b"s, ""}));
  EXPECT_EQ(bytes.substr(bytes.size() - 4), "\0b\0\0"s);
  // An empty string has a width, as in NumPy, and no strings have no data.
  EXPECT_NE(NpyBytes(Strings({""})).find("'|S1'"), std::string::npos);
  EXPECT_EQ(NpyBytes(Strings({})).size() % 64, 0u);
}

TEST(NpyRefusalsTest, OfRows) {
  const TempDir dir;
  const std::string path = dir.path("a.npy");
  const std::string equal =
      "; --resize and --crop make images equal in size, and an archive (.npz) has an array for "
      "each "
      "file";
  {
    NpyRows rows(path);
    ExpectRefusals({
        {[&] { rows.Finish(); }, "cannot write \"" + path + "\": no rows were added"},
        {[&] { rows.Add(Strings({"a"})); },
         "cannot write \"" + path +
             "\": strings cannot be joined; an archive (.npz) has an array for each file"},
    });
    rows.Add(Filled({1, 2, 3}));
    ExpectRefusals({
        {[&] {
           rows.Add(Filled({1, 2, 4}));
         },
         "cannot add float [1, 2, 4] to \"" + path + "\", whose rows are [2, 3] of type <f4" +
             equal},
        {[&] {
           rows.Add(Filled({1, 6}));
         },
         "cannot add float [1, 6] to \"" + path + "\", whose rows are [2, 3] of type <f4" + equal},
        {[&] {
           rows.Add(Filled<int32_t>({1, 2, 3}));
         },
         "cannot add int32 [1, 2, 3] to \"" + path + "\", whose rows are [2, 3] of type <f4" +
             equal},
    });
    rows.Add(Filled({0, 2, 3}));
    rows.Add(Filled({2, 2, 3}, 7.f));
    EXPECT_FALSE(std::filesystem::exists(path));
    rows.Finish();
  }
  const Tensor read = ReadNpy(path);
  EXPECT_EQ(read.dims(), (std::vector<int64_t>{3, 2, 3}));
  EXPECT_EQ(read.data<float>()[5], 1);
  EXPECT_EQ(read.data<float>()[6], 7);
}

TEST(NpyRefusalsTest, OfArchives) {
  const TempDir dir;
  const std::string path = dir.path("a.npz"), prefix = "cannot write \"" + path + "\" as .npz: ";
  const std::string longest(65531, 'n');
  const Tensor x = Filled({1});
  {
    NpzStream archive(path);
    archive.Add(longest, x);
    ExpectRefusals({
        {[&] { archive.Add(longest, x); },
         prefix + "the name \"" + Shortened(longest) + "\" exists twice"},
        {[&] { archive.Add(longest + "n", x); },
         prefix + "the name \"" + Shortened(longest) + "\" is longer than 65531 bytes"},
        {[&] { archive.Add("a\0b"s, x); },
         prefix + "the name \"a\0b\" contains a zero byte, which a zip archive cannot hold"s},
        {[&] { archive.Add("t", Tensor(CPU)); },
         "cannot write a tensor without shape or type as .npy"},
    });
    archive.Add("t", x);  // which the rejected tensor did not take
    archive.Finish();
  }
  EXPECT_EQ(ReadNpz(path).size(), 2u);
  ExpectRefusals({
      {[&] {
         WriteNpz(path, {{"x", x}, {"x", x}});
       },
       prefix + "the name \"x\" exists twice"},
      {[&] {
         WriteNpz(path, {{longest + "n", x}});
       },
       prefix + "a name has 65532 bytes, want at most 65531"},
      {[&] {
         WriteNpz(path, NamedTensors(16385, {"x", x}));
       },
       "tensors in \"" + path + "\": got 16385, want at most 16384"},
  });
  EXPECT_EQ(ReadNpz(path).size(), 2u);  // as it was
  WriteNpz(path, {{longest, x}});
  EXPECT_EQ(ReadNpz(path)[0].first, longest);
}

}  // namespace
}  // namespace caffe2rt::test::npy_refusals_test
