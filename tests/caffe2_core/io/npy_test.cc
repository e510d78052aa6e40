#include "caffe2_core/io/npy.h"

#include <absl/strings/str_join.h>
#include <gtest/gtest.h>

#include "caffe2_core/io/atomic_file.h"
#include "tests/support/operator_test.h"
#include "tests/support/shared.h"

namespace caffe2rt::npy_test {
namespace {

using namespace std::string_literals;
using test::ExpectThrows;
using test::SharedPath;

std::string Npy(const std::string& dict, const std::string& data) {
  return "\x93NUMPY\1\0"s + static_cast<char>(dict.size()) + '\0' + dict + data;
}

std::string Dict(const std::string& descr, const std::string& shape, bool fortran = false) {
  return "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") +
         ", 'shape': " + shape + ", }";
}

template <class T>
std::vector<T> Values(const Tensor& tensor) {
  return {tensor.data<T>(), tensor.data<T>() + tensor.numel()};
}

template <class T>
void ExpectRoundTrip(const std::string& descr) {
  Tensor tensor(CPU);
  tensor.Resize(2, 3);
  T* data = tensor.mutable_data<T>();
  for (int i = 0; i < 6; ++i) data[i] = static_cast<T>(i % 2);
  const std::string bytes = NpyBytes(tensor);
  EXPECT_NE(bytes.find("'descr': '" + descr + "', 'fortran_order': False, 'shape': (2, 3), }"),
            std::string::npos);
  EXPECT_EQ((bytes.size() - 6 * sizeof(T)) % 64, 0u);
  const Tensor read = ParseNpy(bytes, "x");
  EXPECT_EQ(Values<T>(read), Values<T>(tensor));
  EXPECT_EQ(read.dims(), tensor.dims());
}

TEST(NpyTest, WritesUnsignedIntegersAsTheyAre) {
  Tensor tensor(CPU);
  tensor.Resize(1);
  tensor.mutable_data<uint32_t>()[0] = UINT32_MAX;
  EXPECT_NE(NpyBytes(tensor).find("'descr': '<u4'"), std::string::npos);
  EXPECT_EQ(Values<int64_t>(ParseNpy(NpyBytes(tensor), "x")), std::vector<int64_t>{4294967295});
  tensor.mutable_data<uint64_t>()[0] = UINT64_MAX;
  EXPECT_NE(NpyBytes(tensor).find("'descr': '<u8'"), std::string::npos);
  EXPECT_TRUE(NpyBytes(tensor).ends_with("\xff\xff\xff\xff\xff\xff\xff\xff"));
}

TEST(NpyTest, KeepsEveryElementType) {
  ExpectRoundTrip<uint8_t>("|u1");
  ExpectRoundTrip<int8_t>("|i1");
  ExpectRoundTrip<int16_t>("<i2");
  ExpectRoundTrip<uint16_t>("<u2");
  ExpectRoundTrip<int32_t>("<i4");
  ExpectRoundTrip<int64_t>("<i8");
  ExpectRoundTrip<float>("<f4");
  ExpectRoundTrip<double>("<f8");
  const Tensor half = ParseNpy(Npy(Dict("<f2", "(1,)"), "\0\x3c"s), "x");
  EXPECT_EQ(half.data<float16>()[0].x, 0x3c00);
  EXPECT_EQ(ParseNpy(NpyBytes(half), "x").data<float16>()[0].x, 0x3c00);
  const Tensor flags = ParseNpy(Npy(Dict("|b1", "(2,)"), "\0\7"s), "x");
  EXPECT_FALSE(flags.data<bool>()[0]);
  EXPECT_EQ(NpyBytes(flags).back(), '\1');
}

// Python 2 wrote sizes as long integers.
TEST(NpyTest, ReadsLongSizesOfPython2) {
  const std::string two = "\0\0\x80\x3f\0\0\0\x40"s;
  for (const char* const shape : {"(2L, 1L)", "(2L,1L,)", "( 2L , 1 )", "(2, 1L)"}) {
    const Tensor read = ParseNpy(Npy(Dict("<f4", shape), two), "x");
    EXPECT_EQ(read.dims(), (std::vector<int64_t>{2, 1})) << shape;
    EXPECT_EQ(Values<float>(read), (std::vector<float>{1, 2})) << shape;
  }
  EXPECT_EQ(ParseNpy(Npy(Dict("<f4", "(2L,)"), two), "x").dims(), std::vector<int64_t>{2});
  for (const char* const shape : {"(2LL,)", "(L,)", "(2l,)"})
    ExpectThrows([&] { ParseNpy(Npy(Dict("<f4", shape), two), "x"); },
                 "cannot read \"x\" as .npy: ");
}

// ml_dtypes' float8_e5m2: 1, -2 and 57344.
TEST(NpyTest, ReadsFloatingPointOf8BitsAsFloat) {
  const Tensor numbers = ParseNpy(Npy(Dict("<f1", "(3,)"), "\x3c\xc0\x7b"), "x");
  EXPECT_EQ(Values<float>(numbers), (std::vector<float>{1, -2, 57344}));
}

// [[1, -2, 57344], [2, 0.5, -1]], column by column.
TEST(NpyTest, ReadsFloatingPointOf8BitsInFortranOrder) {
  const std::string bytes = "\x3c\x40\xc0\x38\x7b\xbc";
  const Tensor numbers = ParseNpy(Npy(Dict("<f1", "(2, 3)", true), bytes), "x");
  EXPECT_EQ(numbers.dims(), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(Values<float>(numbers), (std::vector<float>{1, -2, 57344, 2, 0.5f, -1}));
}

TEST(NpyTest, ReadsArraysOfOneElementInEitherOrder) {
  for (const char* const shape : {"()", "(1,)", "(1, 1)", "(1, 1, 1)"}) {
    for (const bool fortran : {false, true}) {
      const Tensor one = ParseNpy(Npy(Dict(">i2", shape, fortran), "\1\2"), "x");
      EXPECT_EQ(Values<int16_t>(one), std::vector<int16_t>{0x102}) << shape;
    }
  }
  const Tensor none = ParseNpy(Npy(Dict("<i2", "(2, 0, 3)", true), ""), "x");
  EXPECT_EQ(none.dims(), (std::vector<int64_t>{2, 0, 3}));
}

// The largest rank is accepted with and without a comma behind the last dimension.
TEST(NpyTest, ReadsTheLargestRank) {
  for (const size_t rank : {size_t{63}, size_t{64}, size_t{65}}) {
    const std::string dims = absl::StrJoin(std::vector<int>(rank, 1), ",");
    for (const char* const end : {")", ",)"}) {
      std::string dict = Dict("|u1", "(" + dims + end);
      dict.resize(255, ' ');
      const auto read = [&] { return ParseNpy(Npy(dict, "a"), "x"); };
      if (rank <= 64) {
        EXPECT_EQ(read().dims(), std::vector<int64_t>(rank, 1)) << rank << end;
      } else {
        ExpectThrows([&] { (void)read(); }, "rank");
      }
    }
  }
}

TEST(NpyTest, KeepsScalarsAndEmptyArrays) {
  const Tensor scalar = ParseNpy(Npy(Dict("<i4", "()"), "\7\0\0\0"s), "x");
  EXPECT_EQ(scalar.dim(), 0);
  EXPECT_EQ(scalar.data<int32_t>()[0], 7);
  EXPECT_NE(NpyBytes(scalar).find("'shape': (), }"), std::string::npos);
  const Tensor empty = ParseNpy(Npy(Dict("<f4", "(0, 3)"), ""), "x");
  EXPECT_EQ(empty.dims(), (std::vector<int64_t>{0, 3}));
  EXPECT_TRUE(empty.IsType<float>());
  EXPECT_NE(NpyBytes(ParseNpy(Npy(Dict("|u1", "(2L,)"), "ab"), "x")).find("(2,)"),
            std::string::npos);
  const Tensor none = ParseNpy(Npy(Dict("<f4", "(0,)"), ""), "x");
  EXPECT_EQ(none.dims(), std::vector<int64_t>{0});
  EXPECT_NE(NpyBytes(none).find("'shape': (0,), }"), std::string::npos);
}

TEST(NpyTest, TurnsFortranOrderAndBigEndian) {
  // In column-major order, [[1, 2, 3], [4, 5, 6]] is stored as 1 4 2 5 3 6.
  const Tensor f = ParseNpy(Npy(Dict("|u1", "(2, 3)", true), "\1\4\2\5\3\6"s), "x");
  EXPECT_EQ(Values<uint8_t>(f), (std::vector<uint8_t>{1, 2, 3, 4, 5, 6}));
  // Element [i][j][k] is 4 i + 2 j + k. With the first index fastest: 0 4 2 6 1 5 3 7.
  const Tensor f3 = ParseNpy(Npy(Dict("|u1", "(2, 2, 2)", true), "\0\4\2\6\1\5\3\7"s), "x");
  EXPECT_EQ(Values<uint8_t>(f3), (std::vector<uint8_t>{0, 1, 2, 3, 4, 5, 6, 7}));
  const Tensor big = ParseNpy(Npy(Dict(">i2", "(2,)"), "\1\2\3\4"s), "x");
  EXPECT_EQ(Values<int16_t>(big), (std::vector<int16_t>{0x102, 0x304}));
}

TEST(NpyTest, ReadsBigEndianElementsOfEverySize) {
  // In IEEE 754, 1.5 is 3ff8... in 8 bytes and 3fc0 0000 in 4; -2 is c000...
  const Tensor f8 =
      ParseNpy(Npy(Dict(">f8", "(2,)"), "\x3f\xf8\0\0\0\0\0\0\xc0\0\0\0\0\0\0\0"s), "x");
  EXPECT_EQ(Values<double>(f8), (std::vector<double>{1.5, -2}));
  const Tensor f4 = ParseNpy(Npy(Dict(">f4", "(2,)"), "\x3f\xc0\0\0\xc0\0\0\0"s), "x");
  EXPECT_EQ(Values<float>(f4), (std::vector<float>{1.5f, -2.f}));
  const Tensor i8 = ParseNpy(Npy(Dict(">i8", "(1,)"), "\1\2\3\4\5\6\7\x08"s), "x");
  EXPECT_EQ(Values<int64_t>(i8), std::vector<int64_t>{0x0102030405060708});
  const Tensor i4 = ParseNpy(Npy(Dict(">i4", "(1,)"), "\xff\xff\xff\xfe"s), "x");
  EXPECT_EQ(Values<int32_t>(i4), std::vector<int32_t>{-2});
  const Tensor u4 = ParseNpy(Npy(Dict(">u4", "(1,)"), "\xff\xff\xff\xfe"s), "x");
  EXPECT_EQ(Values<int64_t>(u4), std::vector<int64_t>{4294967294});
  const Tensor u8 = ParseNpy(Npy(Dict(">u8", "(1,)"), "\0\0\0\0\0\0\1\0"s), "x");
  EXPECT_EQ(Values<int64_t>(u8), std::vector<int64_t>{256});
  const Tensor f2 = ParseNpy(Npy(Dict(">f2", "(1,)"), "\x3c\0"s), "x");
  EXPECT_EQ(f2.data<float16>()[0].x, 0x3c00);
  // In column-major order: [[1, 2], [3, 4]].
  const Tensor f = ParseNpy(Npy(Dict(">i2", "(2, 2)", true), "\0\1\0\3\0\2\0\4"s), "x");
  EXPECT_EQ(Values<int16_t>(f), (std::vector<int16_t>{1, 2, 3, 4}));
}

// Compares each element of a file in Fortran order with the element at the position that the
// formula gives.
TEST(NpyTest, ReadsFortranOrderOfAnyShape) {
  for (const std::vector<int64_t>& shape :
       std::vector<std::vector<int64_t>>{{70, 90},
                                         {1, 700, 1, 3, 1},
                                         {3, 700},
                                         {2, 3, 4, 5, 6, 7},
                                         std::vector<int64_t>(12, 2)}) {
    std::vector<int64_t> strides;  // the strides of the file
    int64_t size = 1;
    for (const int64_t dim : shape) {
      strides.push_back(size);
      size *= dim;
    }
    std::string data;
    for (int64_t i = 0; i < size; ++i)
      data += {static_cast<char>(i & 255), static_cast<char>(i >> 8)};
    const Tensor tensor =
        ParseNpy(Npy(Dict("<u2", "(" + absl::StrJoin(shape, ", ") + ",)", true), data), "x");
    ASSERT_EQ(tensor.dims(), shape);
    for (int64_t i = 0; i < size; ++i) {
      int64_t rest = i, place = 0;
      for (size_t d = shape.size(); d-- > 0; rest /= shape[d])
        place += rest % shape[d] * strides[d];
      ASSERT_EQ(tensor.data<uint16_t>()[i], place) << absl::StrJoin(shape, "x") << " at " << i;
    }
  }
}

TEST(NpyTest, ReadsUnsignedNumbersThatFit) {
  EXPECT_EQ(ParseNpy(Npy(Dict("<u4", "(1,)"), "\xff\xff\xff\xff"s), "x").data<int64_t>()[0],
            4294967295);
  EXPECT_EQ(ParseNpy(Npy(Dict("<u8", "(1,)"), "\7\0\0\0\0\0\0\0"s), "x").data<int64_t>()[0], 7);
  ExpectThrows([] { ParseNpy(Npy(Dict("<u8", "(1,)"), std::string(8, '\xff')), "x"); }, "uint64");
}

TEST(NpyTest, RejectsFilesThatAreNotNumericArrays) {
  const auto refuse = [](const std::string& bytes, const std::string& part) {
    SCOPED_TRACE(part);
    ExpectThrows([&] { ParseNpy(bytes, "x"); }, part);
  };
  refuse(Npy(Dict("<U3", "(1,)"), std::string(12, 'a')), "strings of fixed width");
  refuse(Npy(Dict("|O", "(1,)"), "a"), "pickled Python objects");
  refuse(Npy(Dict("<c8", "(1,)"), std::string(8, 'a')), "complex numbers");
  refuse(Npy(Dict("<M8[s]", "(1,)"), std::string(8, 'a')), "dates or times");
  refuse(Npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", "abcd"),
         "records");
  refuse(Npy(Dict("<f4", "(2,)"), "abcd"),
         "4 bytes of data do not match an array of type <f4 and shape [2]");
  refuse(Npy(Dict("<f4", "(1,)"), "abcde"), "5 bytes of data do not match");
  refuse(Npy(Dict("<f4", "(4611686018427387904, 4)"), "abcd"), "4 bytes of data do not match");
  refuse(Npy(Dict("<f4", "(99999999999999999999,)"), "abcd"), "overflow");
  refuse(Npy(Dict("<f4", "(-1,)"), "abcd"), "not a number");
  refuse(Npy("{'descr': '<f4', 'shape': (1", "abcd"), "not a dict");
  refuse(Npy("{'descr': '<f4', }", "abcd"), "lacks");
  refuse(Npy("{'x': '<f4', }", "abcd"), "unknown key 'x'");
  refuse("not an array at all", "does not begin with the signature");
  refuse("\x93NUMPY\1\0\xff\xff{}"s, "truncated in its header");
  refuse("\x93NUMPY\4\0\2\0{}"s, "version 4");
  std::string many = "(";
  for (int i = 0; i < 100; ++i) many += "1,";
  refuse("\x93NUMPY\2\0\0\1\0\0"s +
             (Dict("|u1", many + ")") + std::string(256, ' ')).substr(0, 256) + "a",
         "rank");
}

TEST(NpyTest, ReadsHeadersInEverySpelling) {
  for (const char* dict :
       {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }",
        "{\"descr\":\"=f4\",\"fortran_order\":False,\"shape\":(2)}",
        " { 'shape' : ( 2L , ) ,\t'fortran_order' : True , 'descr' : '<f4' } \n"}) {
    const Tensor tensor = ParseNpy(Npy(dict, "\0\0\x80\x3f\0\0\0\x40"s), "x");
    EXPECT_EQ(tensor.dims(), std::vector<int64_t>{2}) << dict;
    EXPECT_EQ(Values<float>(tensor), (std::vector<float>{1, 2})) << dict;
  }
  // From version 2 on, the size has four bytes.
  const std::string dict = Dict("|u1", "(1,)");
  for (const char version : {'\2', '\3'}) {
    const std::string bytes =
        "\x93NUMPY"s + version + "\0"s + static_cast<char>(dict.size()) + "\0\0\0"s + dict + "a";
    EXPECT_EQ(Values<uint8_t>(ParseNpy(bytes, "x")), (std::vector<uint8_t>{'a'}));
  }
}

TEST(NpyTest, NamesWhatIsWrongWithTheHeader) {
  const std::pair<const char*, const char*> cases[] = {
      {"'descr': '<f4'", "its header is not a dict: want '{'"},
      {"{'descr' '<f4'}", "its header is not a dict: want ':'"},
      {"{'descr': '<f4' 'shape': (1,)}", "its header is not a dict: want '}'"},
      {"{descr: '<f4'}", "its header is not a dict with string keys"},
      {"{'descr': <f4}", "its header is not a dict with string keys"},
      {"{'descr", "its header has an unterminated string"},
      {"{'descr': '<f4\"}", "its header has an unterminated string"},
      {"{'descr': [('a', '<f4')]}", "it is an array of records"},
      {"{'color': 'red'}", "its header has the unknown key 'color'"},
      {"{'fortran_order': 0}", "its fortran_order is neither True nor False"},
      {"{'shape': 3}", "its header is not a dict: want '('"},
      {"{'shape': (3}", "its header is not a dict: want ')'"},
      {"{'shape': (3,x)}", "its shape has a dimension that is not a number"},
      {"{'fortran_order': False, 'shape': (1,)}", "its header lacks descr, fortran_order or shape"},
      {"{'descr': '<f4', 'shape': (1,)}", "its header lacks descr, fortran_order or shape"},
      {"{'descr': '<f4', 'fortran_order': False}",
       "its header lacks descr, fortran_order or shape"}};
  for (const auto& [dict, reason] : cases) {
    ExpectThrows([&, dict = dict] { ParseNpy(Npy(dict, "abcd"), "x"); },
                 "cannot read \"x\" as .npy: "s + reason);
  }
  for (const char* descr : {"", "f4", "!f4", "<f3", "<q"}) {
    ExpectThrows([&] { ParseNpy(Npy(Dict(descr, "(1,)"), "abcd"), "x"); },
                 "cannot read \"x\": its elements ('"s + descr +
                     "') are of no known type, want bool, integers or floating point");
  }
}

TEST(NpyTest, RejectsTensorsOfUnnamedTypes) {
  Tensor tensor(CPU);
  ExpectThrows([&] { NpyBytes(tensor); }, "without shape");
  tensor.Resize(1);
  tensor.mutable_data<std::string*>();
  ExpectThrows([&] { NpyBytes(tensor); }, "want bool");
}

TEST(NpyTest, WritesStringsAsBytesOfOneWidth) {
  Tensor tensor(std::vector<int64_t>{2}, CPU);
  tensor.mutable_data<std::string>()[0] = "abc";
  tensor.mutable_data<std::string>()[1] = "d";
  const std::string bytes = NpyBytes(tensor);
  EXPECT_NE(bytes.find("'descr': '|S3', 'fortran_order': False, 'shape': (2,), }"),
            std::string::npos);
  EXPECT_EQ(bytes.substr(bytes.size() - 6), std::string("abcd\0\0", 6));
  tensor.mutable_data<std::string>()[1] = std::string("d\0", 2);
  ExpectThrows([&] { NpyBytes(tensor); }, "zero byte");
}

TEST(NpyTest, WritesTheBytesOfNumPy) {
  SKIP_WITHOUT_SHARED("models/c2_files/expected/f32.npy");
  for (const char* name :
       {"f32", "f64", "i8", "u8", "i64_0d", "f32_empty", "bool", "f16", "f32_7d", "u16"}) {
    const std::string path = SharedPath("models/c2_files/expected/"s + name + ".npy");
    EXPECT_EQ(NpyBytes(ReadNpy(path)), ReadWholeFile(path)) << name;
  }
}

}  // namespace
}  // namespace caffe2rt::npy_test
