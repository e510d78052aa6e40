// WireReader and FitsDescriptor: which bytes are a message, or the beginning of one.
#include "caffe2_core/io/wire_format.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "caffe2rt/caffe2.pb.h"
#include "caffe2rt/caffe2_legacy.pb.h"
#include "tests/caffe2_core/io/wire_writer.h"

namespace caffe2rt::test::wire_format_test {
namespace {

using namespace std::string_literals;

// The fields as "number:type", then "bad" if the bytes are no message. `more`: bytes of the message
// that are not available.
std::string FieldsOf(const std::string& bytes, int64_t more = 0) {
  WireReader reader({bytes, static_cast<int64_t>(bytes.size()) + more});
  std::string fields;
  for (WireField field; reader.Next(&field);) {
    fields += MakeString(field.number, ":", static_cast<int>(field.type), " ");
  }
  return fields + (reader.ok() ? "" : "bad");
}

TEST(WireFormatTest, ReadsFieldsOfEveryType) {
  EXPECT_EQ(FieldsOf(""), "");
  EXPECT_EQ(FieldsOf("\x08\1\x11" "12345678\x1a\2ab\x25" "1234"s), "1:0 2:1 3:2 4:5 ");
  EXPECT_EQ(FieldsOf("\x0b\x10\1\x0c\x28\1"s), "1:3 5:0 ");       // a group, and what follows
  EXPECT_EQ(FieldsOf("\x0b\x13\x14\x0c"s), "1:3 ");               // a group in a group
  EXPECT_EQ(FieldsOf("\xf8\xff\xff\xff\x0f\1"s), "536870911:0 ");  // the largest number
  WireField field;
  const std::string bytes = "\x08\xff\x01\x12\3abc";
  WireReader values({bytes, static_cast<int64_t>(bytes.size())});
  ASSERT_TRUE(values.Next(&field));
  EXPECT_EQ(field.value, 255u);
  ASSERT_TRUE(values.Next(&field));
  EXPECT_EQ(field.payload.bytes, "abc");
  EXPECT_EQ(field.payload.size, 3);
  EXPECT_TRUE(field.payload.whole());
}

TEST(WireFormatTest, BytesThatAreNoMessageAreFound) {
  for (const std::string& bytes :
       {"\x08"s, "\x08\x80"s, "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\1"s, "\x11" "1234567"s,
        "\x25" "123"s, "\x1a\3ab"s, "\0\1"s, "\x06"s, "\x07"s, "\x0c"s, "\x0b\x10\1"s,
        "\x0b\x14"s, "\x80\x80\x80\x80\x10\1"s, "\x1a\xff\xff\xff\xff\xff\xff\xff\xff\xff\1"s}) {
    EXPECT_TRUE(FieldsOf(bytes).ends_with("bad")) << testing::PrintToString(bytes);
    // Behind a field that is fine, too.
    EXPECT_EQ(FieldsOf("\x08\1"s + bytes).substr(0, 4), "1:0 ");
    EXPECT_TRUE(FieldsOf("\x08\1"s + bytes).ends_with("bad")) << testing::PrintToString(bytes);
  }
}

// Groups may be nested 100 deep.
TEST(WireFormatTest, GroupsAreBounded) {
  const auto nested = [](size_t depth) {
    return std::string(depth, '\x0b') + std::string(depth, '\x0c');
  };
  EXPECT_EQ(FieldsOf(nested(100)), "1:3 ");
  EXPECT_EQ(FieldsOf(nested(101)), "bad");
}

// Of a message of which only the beginning is there, the last field may be cut anywhere.
TEST(WireFormatTest, ABeginningIsConsistentWithAMessage) {
  EXPECT_EQ(FieldsOf("\x08\1\x08"s, 10), "1:0 ");
  EXPECT_EQ(FieldsOf("\x08\1\x08\x80"s, 10), "1:0 ");
  EXPECT_EQ(FieldsOf("\x1a\4ab"s, 2), "3:2 ");
  EXPECT_EQ(FieldsOf("\x1a\4ab"s, 1), "bad");  // the message ends before the field
  EXPECT_EQ(FieldsOf("\x11" "1234"s, 4), "2:1 ");
  EXPECT_EQ(FieldsOf("\x11" "1234"s, 3), "bad");
  EXPECT_EQ(FieldsOf("\x0b\x10\1"s, 5), "");
  EXPECT_EQ(FieldsOf("\0\1"s, 10), "bad");
  const std::string bytes = "\x1a\4ab";
  WireReader reader({bytes, 6});
  WireField field;
  ASSERT_TRUE(reader.Next(&field));
  EXPECT_EQ(field.payload.bytes, "ab");
  EXPECT_EQ(field.payload.size, 4);
  EXPECT_FALSE(field.payload.whole());
}

template <class Message>
bool Fits(const std::string& bytes, UnknownFields unknown = UnknownFields::kNone, int64_t more = 0,
          int levels = 10) {
  return FitsDescriptor({bytes, static_cast<int64_t>(bytes.size()) + more}, *Message::descriptor(),
                        unknown, levels);
}
std::string BytesField(int field, const std::string& content) {
  std::string message;
  AppendBytes(field, content, &message);
  return message;
}

TEST(WireFormatTest, FieldsHaveTheTypesOfTheirDescriptor) {
  const std::string number = "\x08\x05", text = BytesField(1, "net");
  EXPECT_TRUE(Fits<NetDef>(text));
  EXPECT_FALSE(Fits<NetDef>(number));
  EXPECT_FALSE(Fits<NetDef>("\x0d" "1234"s));
  EXPECT_FALSE(Fits<NetDef>(BytesField(1, "a\1b")));
  EXPECT_TRUE(Fits<NetDef>(BytesField(1, "a\t\n\r b")));
  EXPECT_TRUE(Fits<TensorProto>(number));                             // dims
  EXPECT_TRUE(Fits<TensorProto>(BytesField(1, "\1\x80\2")));          // packed
  EXPECT_FALSE(Fits<TensorProto>(BytesField(1, "\1\x80")));           // cut
  EXPECT_TRUE(Fits<TensorProto>(BytesField(1, std::string(9, '\xff') + "\1")));
  EXPECT_FALSE(Fits<TensorProto>(BytesField(1, std::string(10, '\xff') + "\1")));
  EXPECT_TRUE(Fits<TensorProto>(BytesField(3, "12345678")));
  EXPECT_FALSE(Fits<TensorProto>(BytesField(3, "123456")));
  EXPECT_TRUE(Fits<TensorProto>("\x1d" "1234"s));                     // one float
  EXPECT_FALSE(Fits<TensorProto>("\x19" "12345678"s));                // of the wrong size
  EXPECT_TRUE(Fits<TensorProto>(BytesField(9, "12345678")));
  EXPECT_FALSE(Fits<TensorProto>(BytesField(9, "123456789012")));
  EXPECT_TRUE(Fits<TensorProto>(BytesField(5, "\1\2\3")));            // bytes are not text
  EXPECT_FALSE(Fits<TensorProto>(BytesField(7, "\1")));               // its name is
  EXPECT_TRUE(Fits<TensorProto>("\x10\x0d"));                         // DOUBLE
  EXPECT_FALSE(Fits<TensorProto>("\x10\x0b"));                        // no such type
  EXPECT_FALSE(Fits<TensorProto>("\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\1"s));
  EXPECT_TRUE(Fits<CaffeDatum>("\x38\1"));                            // encoded
  EXPECT_FALSE(Fits<CaffeDatum>("\x38\2"));                           // neither true nor false
}

TEST(WireFormatTest, UnknownFieldsAreAllowedOnRequest) {
  const std::string later = BytesField(1, "net") + "\xf8\x3e\1";  // field 1007
  EXPECT_FALSE(Fits<NetDef>(later));
  EXPECT_TRUE(Fits<NetDef>(later, UnknownFields::kAllowed));
  EXPECT_FALSE(Fits<NetDef>(later + "\x08\1", UnknownFields::kAllowed));
  const std::string op = BytesField(2, later);  // in an operator
  EXPECT_FALSE(Fits<NetDef>(op));
  // An operator's field 1 are its inputs.
  EXPECT_TRUE(Fits<NetDef>(op, UnknownFields::kAllowed));
}

TEST(WireFormatTest, WholeMessagesHaveTheirRequiredFields) {
  QTensorProto tensor;
  tensor.set_precision(8);
  tensor.set_scale(1);
  tensor.set_bias(0);
  tensor.set_is_signed(false);
  const std::string whole = tensor.SerializeAsString();
  EXPECT_TRUE(Fits<QTensorProto>(whole));
  tensor.clear_bias();
  const std::string partial = tensor.SerializePartialAsString();
  EXPECT_FALSE(Fits<QTensorProto>(partial));
  EXPECT_TRUE(Fits<QTensorProto>(partial, UnknownFields::kNone, 9));  // they may follow
  EXPECT_FALSE(Fits<QTensorProto>(""));
  const int field = BlobProto::kQtensorFieldNumber;
  const std::string name = BytesField(BlobProto::kNameFieldNumber, "x");
  EXPECT_TRUE(Fits<BlobProto>(name + BytesField(field, whole)));
  EXPECT_FALSE(Fits<BlobProto>(name + BytesField(field, partial)));
}

// Messages beyond the limit count as a match.
TEST(WireFormatTest, MessagesAreComparedDownToTheLimit) {
  const std::string bad_argument = BytesField(5, "\x08\1");  // its name is a number
  const std::string op = BytesField(2, bad_argument);
  EXPECT_FALSE(Fits<NetDef>(op));
  EXPECT_FALSE(Fits<NetDef>(op, UnknownFields::kNone, 0, 3));
  EXPECT_TRUE(Fits<NetDef>(op, UnknownFields::kNone, 0, 2));
  EXPECT_TRUE(Fits<NetDef>(op, UnknownFields::kNone, 0, 1));
  EXPECT_TRUE(Fits<NetDef>("\x08\1", UnknownFields::kNone, 0, 0));
  EXPECT_FALSE(Fits<NetDef>("\x08\1", UnknownFields::kNone, 0, 1));
}

TEST(WireFormatTest, ControlCharactersAreNotPrintable) {
  EXPECT_TRUE(IsPrintable(""));
  EXPECT_TRUE(IsPrintable("a z~ \t\n\v\f\r\x80\xff"));
  for (const char c : {'\0', '\1', '\x08', '\x0e', '\x1f', '\x7f'}) {
    EXPECT_FALSE(IsPrintable(std::string("a") + c)) << static_cast<int>(c);
  }
}

}  // namespace
}  // namespace caffe2rt::test::wire_format_test
