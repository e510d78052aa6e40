#include "caffe2_core/io/file_kind.h"

#include <gtest/gtest.h>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2_core/io/wire_format.h"
#include "caffe2rt/caffe2.pb.h"
#include "caffe2rt/metanet.pb.h"
#include "tests/caffe2_core/io/wire_writer.h"
#include "tests/support/shared.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::file_kind_test {
namespace {

using test::AppendBytes;
using test::SharedPath;
using test::TempDir;

// Checks the text and the binary format of the message.
template <class Proto>
void ExpectKind(const std::string& text, FileKind kind) {
  SCOPED_TRACE(text);
  Proto proto;
  ParseTextProto(text, "test", &proto);
  const std::string bytes = ProtoToBinary(proto);
  const FileKindResult binary = DetectContentKind(bytes, static_cast<int64_t>(bytes.size()));
  EXPECT_EQ(FileKindName(binary.kind), std::string(FileKindName(kind)));
  EXPECT_FALSE(binary.text);
  const FileKindResult as_text = DetectContentKind(text, static_cast<int64_t>(text.size()));
  EXPECT_EQ(FileKindName(as_text.kind), std::string(FileKindName(kind)));
  EXPECT_TRUE(as_text.text);
}

TEST(FileKindTest, DistinguishesMessagesWithOverlappingWireFormats) {
  ExpectKind<NetDef>("name: 'n' op { type: 'Relu' input: 'x' output: 'y' }", FileKind::kNetDef);
  ExpectKind<NetDef>("op { type: 'A' } op { type: 'B' arg { name: 'n' n { op { type: 'C' } } } }",
                     FileKind::kNetDef);
  ExpectKind<PlanDef>("name: 'p' network { name: 'n' op { type: 'Relu' input: 'x' output: 'y' } }",
                      FileKind::kPlanDef);
  ExpectKind<PlanDef>("execution_step { network: 'n' num_iter: 3 }", FileKind::kPlanDef);
  ExpectKind<MetaNetDef>(
      "blobs { key: 'k' value: 'v' } nets { key: 'n' value { op { type: 'Relu' } } }",
      FileKind::kMetaNetDef);
  ExpectKind<BlobProto>(
      "name: 'b' type: 'Tensor' tensor { dims: 2 data_type: FLOAT float_data: [1, 2] }",
      FileKind::kBlobProto);
  ExpectKind<BlobProto>("name: 'b' type: 'std::string' content: 'x\\001y'", FileKind::kBlobProto);
  ExpectKind<TensorProto>("dims: 2 data_type: INT32 int32_data: [1, 2]", FileKind::kTensorProto);
  ExpectKind<TensorProtos>("protos { dims: 2 data_type: DOUBLE double_data: [1, 2] name: 'a' }",
                           FileKind::kTensorProtos);
}

TEST(FileKindTest, AcceptsNumbersOfAtMostTenBytesInAList) {
  const auto kind_of = [](const std::string& number) {
    std::string bytes = "\x08\x01\x10\x02";  // dims: 1 data_type: INT32
    AppendBytes(4, number, &bytes);          // int32_data
    return DetectContentKind(bytes, static_cast<int64_t>(bytes.size())).kind;
  };
  EXPECT_EQ(kind_of(std::string(9, '\x80') + '\x01'), FileKind::kTensorProto);
  EXPECT_NE(kind_of(std::string(10, '\x80') + '\x01'), FileKind::kTensorProto);
  EXPECT_NE(kind_of(std::string(9, '\x80')), FileKind::kTensorProto);
}

// A message of a later version, or of a modified Caffe2: field 60 follows the others, also in a
// submessage.
template <class Proto>
void ExpectKindWithUnknownFields(const std::string& text, FileKind kind) {
  SCOPED_TRACE(text);
  const std::string unknown =
      "\xe2\x03\x03"
      "abc";
  Proto proto;
  ParseTextProto(text, "test", &proto);
  std::string bytes = ProtoToBinary(proto) + unknown;
  EXPECT_EQ(FileKindName(DetectContentKind(bytes, static_cast<int64_t>(bytes.size())).kind),
            std::string(FileKindName(kind)));
  Proto again;
  EXPECT_NO_THROW(ParseProto(bytes, "test", &again));
  EXPECT_EQ(again.SerializeAsString(), bytes);
}

TEST(FileKindTest, SkipsUndeclaredFields) {
  ExpectKindWithUnknownFields<NetDef>("name: 'n' op { type: 'Relu' input: 'x' output: 'y' }",
                                      FileKind::kNetDef);
  ExpectKindWithUnknownFields<PlanDef>("name: 'p' network { op { type: 'Relu' } }",
                                       FileKind::kPlanDef);
  ExpectKindWithUnknownFields<BlobProto>(
      "name: 'b' type: 'Tensor' tensor { dims: 2 data_type: FLOAT float_data: [1, 2] }",
      FileKind::kBlobProto);
  ExpectKindWithUnknownFields<TensorProto>("dims: 2 data_type: INT32 int32_data: [1, 2]",
                                           FileKind::kTensorProto);
  ExpectKindWithUnknownFields<TensorProtos>(
      "protos { dims: 1 data_type: FLOAT float_data: 1 name: 'a' }", FileKind::kTensorProtos);

  OperatorDef op;
  ParseTextProto("type: 'Relu' input: 'x' output: 'y'", "test", &op);
  const std::string inner = ProtoToBinary(op) + "\xe2\x03\x01z";
  const std::string net = "\x0a\x01n\x12" + std::string(1, static_cast<char>(inner.size())) + inner;
  EXPECT_EQ(DetectContentKind(net, static_cast<int64_t>(net.size())).kind, FileKind::kNetDef);
}

TEST(FileKindTest, PassesOverGroups) {
  // Field 15 as a group that holds a string and a nested group, before an operator.
  const std::string op = "\x12\x06\"\x04Relu", group = "\x7b\x12\x01x\x13\x08\x05\x14\x7c";
  const auto kind_of = [](const std::string& bytes, size_t available) {
    return DetectContentKind(bytes.substr(0, available), static_cast<int64_t>(bytes.size())).kind;
  };
  const auto whole = [&](const std::string& bytes) { return kind_of(bytes, bytes.size()); };
  EXPECT_EQ(whole(group + op), FileKind::kNetDef);
  EXPECT_EQ(whole(op + group), FileKind::kNetDef);
  EXPECT_EQ(kind_of(op + group, op.size() + 3), FileKind::kNetDef);  // the group is cut
  for (const std::string bad : {"\x7b\x12\x01x", "\x7c", "\x7b\x74", "\x7b\x13\x7c"}) {
    EXPECT_EQ(whole(op + bad), FileKind::kUnknown) << bad;
  }
  const std::string nested = std::string(100'000, '\x7b') + std::string(100'000, '\x7c');
  EXPECT_EQ(whole(op + nested), FileKind::kUnknown);
}

TEST(FileKindTest, RecognizesTextByItsFieldsDespiteMistakes) {
  const std::string net = "# net\nname: 'n'\nop { type: 'Relu' nonsense: ]";
  EXPECT_EQ(DetectContentKind(net, static_cast<int64_t>(net.size())).kind, FileKind::kNetDef);
  const std::string layers = "name: \"LeNet\"\nlayer { name: \"data\" }";
  EXPECT_EQ(DetectContentKind(layers, static_cast<int64_t>(layers.size())).kind,
            FileKind::kCaffeText);
  const std::string prose = "First Citizen: we are accounted poor citizens\nop: x content: y";
  EXPECT_EQ(DetectContentKind(prose, static_cast<int64_t>(prose.size())).kind, FileKind::kUnknown);
}

TEST(FileKindTest, JudgesTheBeginningOfAFileAlone) {
  NetDef net;
  net.add_op()->set_type("GivenTensorFill");
  net.mutable_op(0)->add_arg()->mutable_floats()->Resize(1 << 20, 1.f);
  const std::string bytes = net.SerializeAsString();
  EXPECT_EQ(DetectContentKind(bytes, static_cast<int64_t>(bytes.size())).kind, FileKind::kNetDef);
  // A message whose length exceeds the length of the file is rejected.
  EXPECT_EQ(DetectContentKind(bytes.substr(0, 1 << 20), 1 << 20).kind, FileKind::kUnknown);
}

TEST(FileKindTest, ReportsWhyNoKindMatches) {
  const TempDir dir;
  EXPECT_EQ(DetectFileKind(dir.Write("e", "")).reason, "it is empty");
  EXPECT_NE(DetectFileKind(dir.path("no")).reason.find("No such file"), std::string::npos);
  EXPECT_NE(DetectFileKind(dir.path()).reason.find("folder"), std::string::npos);
  EXPECT_EQ(DetectFileKind(dir.Write("r", "\x07\xff\x01 noise")).kind, FileKind::kUnknown);
}

// What people give instead of a net.
TEST(FileKindTest, NamesForeignFormatsAndTheirRemedies) {
  using namespace std::string_literals;
  const std::pair<std::string, const char*> files[] = {
      {"version https://git-lfs.github.com/spec/v1\noid sha256:12\nsize 3\n", "git lfs pull"},
      {"\n<!DOCTYPE html>\n<html><body>Not Found</body></html>", "an HTML page"},
      {"<HTML>", "an HTML page"},
      {"<?xml version=\"1.0\"?><net name=\"n\"/>", "an XML file"},
      {"{ \"op\": [] }", "a JSON file"},
      {"\x1f\x8b\x08\0\0\0\0\0\0\x03"s, "a gzip archive; gunzip"},
      {"\x80\x02}q\0(U\x05"s, "a Python pickle"},
      {"\x80\x03}q\0(X\x05"s, "a Python pickle"},
      {"\x80\x04\x95\x10\0\0\0"s, "a Python pickle"},
      {"\x80\x05\x95\x10\0\0\0"s, "a Python pickle"},
      {"(dp0\nS'blobs'\n", "a Python pickle"},
      {"\x1c\0\0\0TFL3\x14\0"s, "a TensorFlow Lite model"},
      {"\177ELF\x02\x01\x01\0"s, "--module loads modules"},
      {"GIF89a\x01\0"s, "convert it to JPEG or PNG"},
      {"\xff\xfen\0a\0m\0e\0"s, "UTF-16; save it as UTF-8"}};
  const TempDir dir;
  for (const auto& [content, part] : files) {
    const FileKindResult found = DetectFileKind(dir.Write("f", content));
    EXPECT_EQ(found.kind, FileKind::kUnknown) << part;
    EXPECT_NE(found.foreign.find(part), std::string::npos) << found.foreign << ", want " << part;
    EXPECT_EQ(found.reason, "it is " + found.foreign);
    NetDef net;
    try {
      LoadProto(dir.path("f"), &net);
      ADD_FAILURE() << part;
    } catch (const EnforceNotMet& error) {
      EXPECT_NE(error.message().find("as NetDef: it is " + found.foreign), std::string::npos)
          << error.message();
    }
  }
}

TEST(FileKindTest, RecognizesATruncatedMinidb) {
  const TempDir dir;
  const std::string record("\3\0\0\0\2\0\0\0keyvv", 13);
  EXPECT_EQ(DetectFileKind(dir.Write("a", record + record)).reason, "2 records that fill the file");
  const FileKindResult cut = DetectFileKind(dir.Write("b", record + record.substr(0, 9)));
  EXPECT_EQ(cut.kind, FileKind::kMiniDB);
  EXPECT_EQ(cut.reason, "records, but truncated or damaged after 1");
}

// More than the megabyte that is read at once, so that the headers of later records are read one by one.
TEST(FileKindTest, CountsTheRecordsOfALargeMinidb) {
  const TempDir dir;
  constexpr uint32_t kValueBytes = 600000;
  std::string record("\3\0\0\0", 4);
  for (int shift = 0; shift < 32; shift += 8)
    record += static_cast<char>((kValueBytes >> shift) & 0xff);
  record += "key" + std::string(kValueBytes, 'v');
  EXPECT_EQ(DetectFileKind(dir.Write("a", record + record + record + record)).reason,
            "4 records that fill the file");
}

TEST(FileKindTest, KnowsNamesAndDatabaseTypes) {
  EXPECT_EQ(FileKindFromName("netdef"), FileKind::kNetDef);
  EXPECT_EQ(FileKindFromName("nonsense"), FileKind::kUnknown);
  EXPECT_EQ(DBTypeOfKind(FileKind::kLMDB), "lmdb");
  EXPECT_EQ(DBTypeOfKind(FileKind::kTensorProtos), "protodb");
  EXPECT_EQ(DBTypeOfKind(FileKind::kNetDef), "");
  EXPECT_EQ(FileKindOfMessage("PlanDef"), FileKind::kPlanDef);
  EXPECT_EQ(FileKindDescription(FileKind::kOnnxModel), "an ONNX model");
  for (const std::string& name : FileKindNames())
    EXPECT_NE(FileKindFromName(name), FileKind::kUnknown);
}

TEST(FileKindTest, RecognizesTheSharedFiles) {
  SKIP_WITHOUT_SHARED("models/c2_files");
  const std::pair<const char*, FileKind> files[] = {
      {"models/c2_files/all_types.minidb", FileKind::kMiniDB},
      {"models/c2_files/all_types_blobs.pbtxt", FileKind::kBlobProto},
      {"models/c2_files/fills.pb", FileKind::kNetDef},
      {"models/c2_files/lstm_tiny_net.pb", FileKind::kNetDef},
      {"models/c2_files/meta_net_def.pb", FileKind::kMetaNetDef},
      {"models/c2_files/meta_net_def.pbtxt", FileKind::kMetaNetDef},
      {"models/c2_files/plan_control_flow.pb", FileKind::kPlanDef},
      {"models/c2_files/plan_nested.pbtxt", FileKind::kPlanDef},
      {"models/c2_files/plan_queue.pb", FileKind::kPlanDef},
      {"models/c2_files/small_blob.serialized", FileKind::kBlobProto},
      {"models/c2_files/tensors.protodb", FileKind::kTensorProtos},
      {"models/c2_files/expected/f32.npy", FileKind::kNpy},
      {"models/c2_lenet_lmdb/LeNet_params", FileKind::kLMDB},
      {"models/c2_lenet_lmdb/LeNet_params/data.mdb", FileKind::kLMDB},
      {"models/c2_superres/super_resolution_opset2.onnx", FileKind::kOnnxModel},
      {"models/onnx_mnist_cntk/model.onnx", FileKind::kOnnxModel},
      {"models/onnx_mnist_cntk/test_data_0.npz", FileKind::kNpz},
      {"models/onnx_shufflenetv2_int8/test_data_set_0/input_0.pb", FileKind::kOnnxTensor},
      {"models/c1_lenet_mnist/mnist_deploy.prototxt", FileKind::kCaffeText},
      {"models/c1_lenet_mnist/lenet_iter_10000.caffemodel", FileKind::kCaffeModel},
      {"models/c1_vanilla_landmarks/vanillaCNN.caffemodel", FileKind::kCaffeModel},
      {"models/c1_cifar10_quick/mean.binaryproto", FileKind::kCaffeBlob},
      {"models/c1_cifar10_full_v1/cifar10_full_iter_60000.caffemodel.h5", FileKind::kHdf5},
      {"data/images/cat.jpg", FileKind::kJpeg},
      {"data/images/coffee.png", FileKind::kPng},
      {"data/text/tinyshakespeare.txt", FileKind::kUnknown},
      {"data/imagenet/synset.txt", FileKind::kUnknown},
      {"models/MANIFEST.tsv", FileKind::kUnknown},
  };
  for (const auto& [name, kind] : files) {
    EXPECT_STREQ(FileKindName(DetectFileKind(SharedPath(name)).kind), FileKindName(kind)) << name;
  }
}

TEST(WireFormatTest, KnowsBytesThatTextHas) {
  EXPECT_TRUE(IsPrintable(""));
  EXPECT_TRUE(IsPrintable("a line\tand\r\nanother \xc3\xa9~"));
  for (const char* const bytes : {"a\x7f", "\x1f", "\x08", "\x0e", "\x01"})
    EXPECT_FALSE(IsPrintable(bytes));
  EXPECT_FALSE(IsPrintable(std::string_view("\0", 1)));
}

}  // namespace
}  // namespace caffe2rt::file_kind_test
