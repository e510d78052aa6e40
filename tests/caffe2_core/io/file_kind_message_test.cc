// Messages of Caffe2, ONNX and Caffe that differ in one field from those of another kind.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "caffe2_core/io/file_kind.h"
#include "caffe2_core/io/foreign_format.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2rt/caffe2.pb.h"
#include "caffe2rt/metanet.pb.h"
#include "tests/caffe2_core/io/wire_writer.h"

namespace caffe2rt::test::file_kind_message_test {
namespace {

using namespace std::string_literals;

FileKindResult DetectMessage(const std::string& bytes) {
  return DetectContentKind(bytes, static_cast<int64_t>(bytes.size()));
}
std::string KindOfMessage(const std::string& bytes) {
  return FileKindName(DetectMessage(bytes).kind);
}
template <class Message>
Message Parsed(const std::string& text) {
  Message message;
  ParseTextProto(text, "test", &message);
  return message;
}
template <class Message>
std::string BytesOfText(const std::string& text) {
  return Parsed<Message>(text).SerializePartialAsString();
}
// With a field that no version of this library knows.
template <class Message>
std::string WithLaterField(Message message) {
  message.GetReflection()->MutableUnknownFields(&message)->AddVarint(999, 1);
  return message.SerializeAsString();
}
std::string BytesField(int field, const std::string& content) {
  std::string message;
  AppendBytes(field, content, &message);
  return message;
}

TEST(FileKindMessageTest, MessagesOfLaterVersionsKeepTheirKind) {
  EXPECT_EQ(KindOfMessage(WithLaterField(Parsed<NetDef>("name: 'n' op { type: 'Relu' }"))),
            "NetDef");
  EXPECT_EQ(
      KindOfMessage(WithLaterField(Parsed<PlanDef>("name: 'p' execution_step { name: 's' }"))),
      "PlanDef");
  EXPECT_EQ(KindOfMessage(WithLaterField(
                Parsed<BlobProto>("name: 'b' type: 'Tensor' tensor { dims: 1 float_data: 2 }"))),
            "BlobProto");
  EXPECT_EQ(
      KindOfMessage(WithLaterField(Parsed<TensorProto>("dims: 1 data_type: FLOAT float_data: 2"))),
      "TensorProto");
  EXPECT_EQ(KindOfMessage(WithLaterField(
                Parsed<MetaNetDef>("nets { key: 'k' value { op { type: 'Relu' } } }"))),
            "MetaNetDef");
  TensorProtos tensors = Parsed<TensorProtos>("protos { dims: 1 data_type: FLOAT float_data: 2 }");
  EXPECT_EQ(KindOfMessage(WithLaterField(tensors)), "TensorProtos");
  tensors.mutable_protos(0)->ParseFromString(WithLaterField(tensors.protos(0)));
  EXPECT_EQ(KindOfMessage(tensors.SerializeAsString()), "TensorProtos");
  // Names alone and a field that is not known are no kind of message.
  EXPECT_EQ(KindOfMessage(WithLaterField(Parsed<NetDef>("name: 'n'"))), "unknown");
  EXPECT_EQ(KindOfMessage(WithLaterField(Parsed<MetaNetDef>("blobs { key: 'k' value: 'v' }"))),
            "unknown");
}

TEST(FileKindMessageTest, ATensorHasATypeOrDimsAndData) {
  for (const char* text :
       {"dims: 2 float_data: [1, 2]", "dims: 2 int32_data: [1, 2]", "dims: 2 byte_data: 'ab'",
        "dims: 1 string_data: 'ab'", "data_type: INT32", "data_type: STRING name: 'x'",
        "dims: 1 data_type: DOUBLE double_data: 2", "data_type: UINT64 int64_data: 3"}) {
    EXPECT_EQ(KindOfMessage(BytesOfText<TensorProto>(text)), "TensorProto") << text;
    EXPECT_EQ(KindOfMessage(BytesField(1, BytesOfText<TensorProto>(text))), "TensorProtos") << text;
  }
  for (const char* text : {"dims: 2", "float_data: 1", "name: 'x'", "dims: 1 name: 'x'",
                           "dims: 1 double_data: 2", "dims: 1 data_type: FLOAT double_data: 2"}) {
    EXPECT_NE(KindOfMessage(BytesOfText<TensorProto>(text)), "TensorProto") << text;
    EXPECT_NE(KindOfMessage(BytesField(1, BytesOfText<TensorProto>(text))), "TensorProtos") << text;
  }
  // One element of a list that is no tensor, and numbers that are cut.
  EXPECT_NE(KindOfMessage(BytesField(1, BytesOfText<TensorProto>("data_type: INT32")) +
                          BytesField(1, BytesOfText<TensorProto>("dims: 2"))),
            "TensorProtos");
  const std::string dims = "\x08\x01\x10\x01";
  EXPECT_EQ(KindOfMessage(dims + BytesField(3, "abcd")), "TensorProto");
  EXPECT_NE(KindOfMessage(dims + BytesField(3, "abcde")), "TensorProto");
  EXPECT_EQ(KindOfMessage(dims + BytesField(4, "\xff\x01")), "TensorProto");
  EXPECT_NE(KindOfMessage(dims + BytesField(4, "\x01\xff")), "TensorProto");
  EXPECT_EQ(KindOfMessage("\x08\x01\x10\x0d"s + BytesField(9, "abcdefgh")), "TensorProto");
  EXPECT_NE(KindOfMessage("\x08\x01\x10\x0d"s + BytesField(9, "abcdefg")), "TensorProto");
}

TEST(FileKindMessageTest, ABlobHasATypeAndSomethingOfIt) {
  for (const char* text :
       {"type: 'Tensor' tensor { dims: 1 }", "name: 'x' type: 'std::string' content: 'a'",
        "type: 'Int8TensorCPU' qtensor { precision: 8 scale: 1 bias: 0 is_signed: false }"}) {
    EXPECT_EQ(KindOfMessage(BytesOfText<BlobProto>(text)), "BlobProto") << text;
  }
  EXPECT_NE(KindOfMessage(BytesOfText<BlobProto>("name: 'x' type: 'Tensor'")), "BlobProto");
  EXPECT_NE(KindOfMessage(BytesOfText<BlobProto>("name: 'x' tensor { dims: 1 }")), "BlobProto");
}

TEST(FileKindMessageTest, NetsAndPlansHaveOperatorsOrSteps) {
  const auto expect = [](const std::string& bytes, const std::string& kind, bool weak) {
    EXPECT_EQ(KindOfMessage(bytes), kind) << bytes;
    EXPECT_EQ(DetectMessage(bytes).weak, weak) << bytes;
  };
  expect(BytesOfText<NetDef>("op { type: 'Relu' }"), "NetDef", false);
  expect(BytesOfText<NetDef>("name: 'n'"), "NetDef", true);
  expect(BytesOfText<NetDef>("name: 'n' external_input: 'x'"), "NetDef", true);
  expect(BytesOfText<NetDef>("name: ''"), "unknown", false);
  expect(BytesOfText<PlanDef>("network { op { type: 'Relu' } }"), "PlanDef", false);
  expect(BytesOfText<PlanDef>("network { name: 'n' }"), "PlanDef", false);
  expect(BytesOfText<PlanDef>("execution_step { name: 's' }"), "PlanDef", false);
  expect(BytesOfText<MetaNetDef>("nets { key: 'k' value { op { type: 'Relu' } } }"), "MetaNetDef",
         false);
  expect(BytesOfText<MetaNetDef>("blobs { key: 'k' value: 'v' }"), "MetaNetDef", false);
  // An operator without a type belongs to no net.
  EXPECT_NE(KindOfMessage(BytesOfText<NetDef>("op { input: 'x' }")), "NetDef");
}

TEST(FileKindMessageTest, ReasonsNameTheMessageThatFits) {
  const std::pair<std::string, std::string> rows[] = {
      {BytesOfText<NetDef>("op { type: 'Relu' }"), "a NetDef with operators"},
      {BytesOfText<NetDef>("name: 'n'"), "a NetDef, without operators"},
      {BytesOfText<PlanDef>("network { op { type: 'Relu' } }"), "a PlanDef"},
      {BytesOfText<BlobProto>("name: 'x' type: 'std::string' content: 'a'"), "a BlobProto"},
      {BytesOfText<TensorProto>("dims: 1 data_type: INT32 int32_data: 1"), "a TensorProto"},
      {BytesOfText<TensorProtos>("protos { dims: 1 data_type: INT32 int32_data: 1 name: 'a' }"),
       "a TensorProtos"},
      {BytesOfText<MetaNetDef>("blobs { key: 'k' value: 'v' }"), "a MetaNetDef"}};
  for (const auto& [bytes, message] : rows) {
    EXPECT_EQ(DetectMessage(bytes).reason, "every field fits " + message);
    EXPECT_EQ(DetectMessage(bytes).foreign, "");
  }
}

// Of ONNX's tensor: type 2, data in 4 to 7 and 9, no field above 14.
TEST(FileKindMessageTest, OnnxTensorsHaveATypeAndData) {
  const std::string type = "\x08\x01\x10\x01", name = BytesField(8, "x");
  const std::string minus_one = std::string("\0\0\x80\xbf", 4);  // as a float
  for (const std::string& data :
       {BytesField(4, minus_one), BytesField(5, "\x01\xff\xff"), BytesField(6, "ab"),
        BytesField(7, "\x01"), BytesField(9, "abcd")}) {
    EXPECT_EQ(KindOfMessage(type + name + data), "onnx-tensor");
    EXPECT_EQ(KindOfMessage(type + name + data + "\x70\x01"), "onnx-tensor");  // field 14
    EXPECT_NE(KindOfMessage(type + name + data + "\x78\x01"), "onnx-tensor");  // field 15
    EXPECT_NE(KindOfMessage("\x08\x01" + name + data), "onnx-tensor");
    EXPECT_NE(KindOfMessage("\x08\x01\x10"s + '\0' + name + data), "onnx-tensor");
    EXPECT_NE(KindOfMessage(type + BytesField(8, "\x01") + data), "onnx-tensor");
  }
  EXPECT_NE(KindOfMessage(type + name), "onnx-tensor");
  EXPECT_NE(KindOfMessage(type + name + BytesField(3, "x")), "onnx-tensor");
}

TEST(FileKindMessageTest, ModelsOfOthersNeedTheFieldsTheyAreKnownBy) {
  const std::string dims = "\x08\x01\x10\x03\x18\x08\x20\x08", floats = BytesField(5, "abcdefgh");
  EXPECT_EQ(KindOfMessage(dims + floats + BytesField(9, "abcdefgh")), "binaryproto");
  EXPECT_EQ(KindOfMessage(dims + "\x2d" + "abcd"), "binaryproto");  // one float by itself
  EXPECT_NE(KindOfMessage(dims + "\x28\x01"), "binaryproto");
  EXPECT_NE(KindOfMessage("\x08\x07\x38\x01"), "onnx");  // the graph is a number
  EXPECT_NE(KindOfMessage("\x0a\x01\x07" + BytesField(7, "\x0a\x02xy")), "onnx");
  EXPECT_NE(KindOfMessage(BytesField(1, "net") + BytesField(100, BytesField(1, "conv"))),
            "caffemodel");  // a layer without a type
  EXPECT_NE(KindOfMessage(BytesField(1, "net") + BytesField(2, BytesField(4, "conv"))),
            "caffemodel");
}

TEST(FileKindMessageTest, TextGoesOnBehindWhatBracesClose) {
  const std::pair<const char*, const char*> strong[] = {
      {"name: 'n' arg { name: 'a' } op { }", "op"},
      {"arg < name: 'a' > op { }", "op"},
      {"external_input: ['a', 'b'] op { }", "op"},
      {"arg { floats: [1, 2] a < b: 1 > } protos { }", "protos"}};
  for (const auto& [text, field] : strong) {
    EXPECT_EQ(DetectMessage(text).reason, "text with the field \""s + field + "\"") << text;
  }
  for (const char* weak : {"name: 'n' external_input: ['a', 'b']", "name: 'n' arg { name: 'a' }",
                           "name: 'n' arg { name: 'a' strings: 'b' }", "name: 'n' arg < i: 1 >"}) {
    EXPECT_EQ(KindOfMessage(weak), "NetDef") << weak;
    EXPECT_TRUE(DetectMessage(weak).weak) << weak;
  }
}

TEST(ForeignFormatTest, KnowsFormatsByAllOfTheirSignature) {
  const struct {
    std::string signature;
    size_t at;
    const char* description;
  } rows[] = {{"version https://git-lfs.github.com/", 0,
               "a Git LFS pointer, not the file itself; \"git lfs pull\" in its repository fetches "
               "the file"},
              {"\x1f\x8b", 0, "a gzip archive; gunzip or tar xf unpacks it"},
              {"BZh91AY&SY", 0, "a bzip2 archive; bunzip2 or tar xf unpacks it"},
              {"\xfd"
               "7zXZ\0"s,
               0, "an xz archive; unxz or tar xf unpacks it"},
              {"\x28\xb5\x2f\xfd", 0, "a zstd archive; unzstd or tar xf unpacks it"},
              {"7z\xbc\xaf\x27\x1c", 0, "a 7z archive; 7z x unpacks it"},
              {"Rar!\x1a\x07", 0, "a RAR archive"},
              {"ustar", 257, "a tar archive; tar xf unpacks it"},
              {"TFL3", 4, "a TensorFlow Lite model, which is not supported"},
              {"GGUF", 0, "a GGUF model, which is not supported"},
              {"\x80\x02\x8a\nl\xfc\x9c\x46\xf9 j\xa8P\x19.", 0,
               "a PyTorch file; export the model to Caffe2 with PyTorch"},
              {"\177ELF", 0, "a program or shared library; --module loads modules"},
              {"%PDF-", 0, "a PDF document"},
              {"GIF8", 0, "a GIF image; convert it to JPEG or PNG"},
              {"WEBPVP8", 8, "a WebP image; convert it to JPEG or PNG"},
              {"II*\0"s, 0, "a TIFF image; convert it to JPEG or PNG"},
              {"MM\0*"s, 0, "a TIFF image; convert it to JPEG or PNG"},
              {"ftyphei", 4, "a HEIC image; convert it to JPEG or PNG"},
              {"ftypmif1", 4, "a HEIC image; convert it to JPEG or PNG"},
              {"ftypavif", 4, "an AVIF image; convert it to JPEG or PNG"},
              {"ftyp", 4, "a video; extract its frames as JPEG or PNG"},
              {"\x1a\x45\xdf\xa3", 0, "a video; extract its frames as JPEG or PNG"},
              {"SQLite format 3\0"s, 0, "an SQLite database"},
              {"MATLAB 5.0 MAT-file", 0, "a MATLAB file"}};
  for (const auto& row : rows) {
    const std::string before(row.at, '\1');
    const std::string bytes = before + row.signature;
    EXPECT_EQ(ForeignFormat(bytes), row.description);
    EXPECT_EQ(ForeignFormat(bytes + "x"), row.description);
    EXPECT_NE(ForeignFormat(bytes.substr(0, bytes.size() - 1)), row.description);
    EXPECT_NE(ForeignFormat("\1" + bytes), row.description);
  }
}

TEST(ForeignFormatTest, KnowsPicklesAndTextsOfOtherKinds) {
  const std::string pickle =
      "a Python pickle; convert it first (Detectron's weights: tools/convert_pkl_to_pb.py)";
  const std::string html =
      "an HTML page, such as the error page of a failed download; download the file again";
  const std::pair<std::string, std::string> rows[] = {{"\x80\x02}x", pickle},
                                                      {"\x80\x05\x95x", pickle},
                                                      {"\x80\x04]x", pickle},
                                                      {"(dp0\n", pickle},
                                                      {"(lp1\nx", pickle},
                                                      {"ccopy_reg\n", pickle},
                                                      {"\xff\xfe"
                                                       "a",
                                                       "text in UTF-16; save it as UTF-8"},
                                                      {"\xfe\xff"
                                                       "a",
                                                       "text in UTF-16; save it as UTF-8"},
                                                      {"\xef\xbb\xbf<!DOCTYPE HTML>", html},
                                                      {" \n<html>", html},
                                                      {"<Head>", html},
                                                      {"<?xml version", "an XML file"},
                                                      {"{ \"a\": 1 }", "a JSON file"},
                                                      {"[\n{", "a JSON file"},
                                                      {"[[1]]", "a JSON file"},
                                                      {"#!/bin/sh", "a script"}};
  for (const auto& [bytes, description] : rows) {
    EXPECT_EQ(ForeignFormat(bytes), description) << bytes;
  }
  for (const char protocol : {2, 3, 4, 5}) {
    for (const char opcode : "}](c\x95X\x8cN"s) {
      EXPECT_EQ(ForeignFormat("\x80"s + protocol + opcode + "x"), pickle) << opcode;
    }
  }
  for (const char* const start :
       {"(dp0\n", "(dp1\n", "(lp0\n", "(lp1\n", "ccopy_reg\n", "cnumpy.core", "(i__main__"}) {
    EXPECT_EQ(ForeignFormat(start), pickle) << start;
    EXPECT_EQ(ForeignFormat(std::string(start, std::strlen(start) - 1)), "") << start;
  }
  for (const std::string& none :
       {""s, "\x80\x02}"s, "\x80\x01}x"s, "\x80\x06}x"s, "\x80\x02yx"s, "\x81\x02}x"s, "(dp2\n"s,
        "# a comment"s, "{ a: 1 }"s, "[1, 2]"s, "<a>"s, "name: 'n'"s, "x<html>"s,
        std::string(1024, ' ') + "<html>"}) {
    EXPECT_EQ(ForeignFormat(none), "") << none;
  }
}

}  // namespace
}  // namespace caffe2rt::test::file_kind_message_test
