// Each list of elements that a filler of given values may have on the wire, and those next to it that are
// left to protobuf.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "caffe2_core/base/text.h"
#include "caffe2_core/io/given_values.h"
#include "caffe2_core/io/random_access_input.h"

namespace caffe2rt::test::given_fields_test {
namespace {

using namespace std::string_literals;

template <class T>
std::string Elements(const Tensor& values) {
  std::string text = MakeString(values.dtype().name(), ":");
  for (int64_t i = 0; i < values.numel(); ++i)
    text += MakeString(" ", static_cast<double>(values.data<T>()[i]));
  return text;
}

std::string Decoded(const std::string& type, const std::string& bytes) {
  const MemoryInput input(bytes);
  WireCursor at(input);
  Tensor values;
  if (!DecodeGivenValues(type, static_cast<int64_t>(bytes.size()), &at, &values)) return "no";
  EXPECT_EQ(at.at(), static_cast<int64_t>(bytes.size()));
  Argument argument;
  EncodeGivenValues(values, type, &argument);
  EXPECT_EQ(argument.ints_size() + argument.floats_size() +
                static_cast<int>(argument.s().size() +
                                 (argument.strings_size() > 0 ? argument.strings(0).size() : 0)),
            values.numel());
  if (values.IsType<float>()) return Elements<float>(values);
  if (values.IsType<double>()) return Elements<double>(values);
  if (values.IsType<bool>()) return Elements<bool>(values);
  if (values.IsType<int16_t>()) return Elements<int16_t>(values);
  if (values.IsType<int32_t>()) return Elements<int32_t>(values);
  if (values.IsType<int64_t>()) return Elements<int64_t>(values);
  return Elements<uint8_t>(values);
}

// Bytes of a field with a length.
std::string Field(char tag, const std::string& content) {
  return tag + std::string(1, static_cast<char>(content.size())) + content;
}

struct Row {
  const char* type;
  std::string bytes, want;
};

TEST(GivenFieldsTest, ListsAreDecodedIfAllOfThemFits) {
  // Floats 1.5 and -2; the tags are those of fields 4 to 7.
  const std::string one = "\0\0\xc0\x3f"s, two = "\0\0\0\xc0"s, nan = "\0\0\xc0\x7f"s;
  const std::string ten(9, '\xff');  // the first nine bytes of -1
  const Row rows[] = {
      {"GivenTensorFill", Field('\x2a', one + two), "float: 1.5 -2"},
      {"GivenTensorFill", "\x2d" + one + "\x2d" + two, "float: 1.5 -2"},
      {"GivenTensorFill", "\x2d" + one, "float: 1.5"},
      {"GivenTensorDoubleFill", Field('\x2a', one + two), "double: 1.5 -2"},
      {"GivenTensorDoubleFill", "\x2d" + two, "double: -2"},
      {"GivenTensorDoubleFill", Field('\x2a', one + nan), "no"},
      {"GivenTensorFill", Field('\x2a', one + two.substr(0, 3)), "no"},
      {"GivenTensorFill", Field('\x2a', one + "\0"s), "no"},
      {"GivenTensorFill", Field('\x2a', one) + Field('\x2a', two), "no"},  // two runs
      {"GivenTensorFill", Field('\x2a', one) + "\x2d" + two, "no"},
      {"GivenTensorFill", "\x2d" + one + Field('\x2a', two), "no"},
      {"GivenTensorFill", "\x2d" + one + "\x2d" + two.substr(0, 3), "no"},
      {"GivenTensorFill", "\x2d" + one + "\x35" + two, "no"},  // another field
      {"GivenTensorFill", Field('\x2a', ""), "no"},
      {"GivenTensorFill", "", "no"},
      {"GivenTensorFill", "\x2a\x08" + one, "no"},  // shorter than it says
      {"GivenTensorFill", Field('\x32', "\1\2"), "no"},
      {"GivenTensorIntFill", Field('\x2a', one), "no"},
      {"GivenTensorIntFill", Field('\x32', "\1\x80\1\0"s), "int32: 1 128 0"},
      {"GivenTensorIntFill", "\x30\1\x30\x80\1"s, "int32: 1 128"},
      {"GivenTensorIntFill", Field('\x32', ten + "\1"), "int32: -1"},
      {"GivenTensorIntFill", Field('\x32', ten + "\2"), "no"},  // beyond 64 bits
      {"GivenTensorIntFill", Field('\x32', ten + "\3"), "no"},
      {"GivenTensorIntFill", Field('\x32', ten + "\0"s), "no"},
      {"GivenTensorIntFill", Field('\x32', ten + "\x81\0"s), "no"},  // eleven bytes
      {"GivenTensorIntFill", "\x30" + ten + "\1", "int32: -1"},
      {"GivenTensorIntFill", "\x30" + ten + "\2", "no"},
      {"GivenTensorInt64Fill", Field('\x32', ten + "\3"), "no"},
      {"GivenTensorInt64Fill", Field('\x32', ten.substr(0, 8) + "\x7f"), "int64: 9.22337e+18"},
      {"GivenTensorIntFill", Field('\x32', "\1\x80"), "no"},  // ends within a number
      {"GivenTensorIntFill", "\x30\1\x30", "no"},
      {"GivenTensorIntFill", "\x30\1\x38\1", "no"},
      {"GivenTensorIntFill", "\x30\1" + Field('\x32', "\2"), "no"},
      {"GivenTensorIntFill", Field('\x32', "\xff\xff\xff\xff\x07"), "int32: 2.14748e+09"},
      {"GivenTensorIntFill", Field('\x32', "\x80\x80\x80\x80\x08"), "no"},
      {"Int8GivenIntTensorFill", Field('\x32', "\x80\x80\x80\x80\x08"), "no"},
      {"Int8GivenIntTensorFill", Field('\x32', "\7"), "int32: 7"},
      {"GivenTensorInt64Fill", Field('\x32', "\x80\x80\x80\x80\x08"), "int64: 2.14748e+09"},
      {"GivenTensorInt16Fill", Field('\x32', "\xff\xff\1"), "int16: 32767"},
      {"GivenTensorInt16Fill", Field('\x32', "\x80\x80\2"), "no"},
      {"GivenTensorBoolFill", Field('\x32', "\1\0\1"s), "bool: 1 0 1"},
      {"GivenTensorBoolFill", Field('\x32', "\1\2"), "no"},
      {"GivenTensorBoolFill", Field('\x32', ten + "\1"), "no"},
      {"GivenTensorByteStringToUInt8Fill", Field('\x3a', "\1\xff"), "uint8: 1 255"},
      {"GivenTensorByteStringToUInt8Fill", Field('\x3a', "a") + Field('\x3a', "b"), "no"},
      {"GivenTensorByteStringToUInt8Fill", Field('\x22', "a"), "no"},
      {"Int8GivenTensorFill", Field('\x22', "\1\xff"), "uint8: 1 255"},
      {"Int8GivenTensorFill", Field('\x3a', "a"), "no"},
      {"Int8GivenTensorFill", "\x20\1", "no"},
      {"GivenTensorStringFill", Field('\x3a', "a"), "no"},
      {"ConstantFill", Field('\x2a', one), "no"},
  };
  for (const Row& row : rows) {
    std::string hex;
    for (const unsigned char byte : row.bytes) hex += MakeString(" ", static_cast<int>(byte));
    EXPECT_EQ(Decoded(row.type, row.bytes), row.want) << row.type << hex;
  }
}

TEST(GivenFieldsTest, OneTypeDependsOnItsArgument) {
  for (const char* const type :
       {"GivenTensorDoubleFill", "GivenTensorIntFill", "Int8GivenTensorFill", "ConstantFill",
        "GivenTensorByteStringToUInt8Fill", ""})
    EXPECT_FALSE(DependsOnDtype(type)) << type;
  EXPECT_TRUE(DependsOnDtype("GivenTensorFill"));
}

}  // namespace
}  // namespace caffe2rt::test::given_fields_test
