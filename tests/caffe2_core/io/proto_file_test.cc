#include "caffe2_core/io/proto_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <fstream>
#include <thread>

#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/file_kind.h"
#include "caffe2rt/caffe2.pb.h"
#include "caffe2rt/metanet.pb.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"
#include "tests/support/shared.h"
#include "tests/support/small_stack.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::proto_file_test {
namespace {

using test::ExpectThrows;
using test::MessageOf;
using test::RunWithStack;
using test::SharedPath;
using test::TempDir;
using ::testing::AllOf;
using ::testing::HasSubstr;

NetDef SmallNet() {
  NetDef net;
  ParseTextProto("name: 'small' op { type: 'Relu' input: 'x' output: 'y' }", "test", &net);
  return net;
}

TEST(ProtoFileTest, ReadsTheBlobsOfATextFileOneAfterEachKey) {
  const TempDir dir;
  const std::string path = dir.path("blobs.pbtxt");
  WriteFileAtomically(path,
                      "# key: a\nname: 'a'\ntype: 'std::string'\ncontent: '# key: x'\n"
                      "# key: b\nname: 'b'\n");
  const std::vector<BlobProto> blobs = LoadBlobProtos(path);
  ASSERT_EQ(blobs.size(), 2u);
  EXPECT_EQ(blobs[0].content(), "# key: x");
  EXPECT_EQ(blobs[1].name(), "b");

  WriteFileAtomically(path, "# key: a\nname: 'a'\n# key: b\nname: 'b'\nnme: 'c'\n");
  ExpectThrows([&] { (void)LoadBlobProtos(path); }, "line 5, column 1");

  WriteProtoToBinaryFile(blobs[0], path);
  EXPECT_EQ(LoadBlobProtos(path).at(0).name(), "a");
}

// Protobuf counts bytes with an int. Hardly a page of the mapping is touched.
TEST(ProtoFileTest, RejectsBytesBeyondWhatProtobufCounts) {
  constexpr size_t kBytes = size_t{1} << 31;
  void* const zeros =
      mmap(nullptr, kBytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(zeros, MAP_FAILED);
  const std::string_view bytes(static_cast<const char*>(zeros), kBytes);
  NetDef net = SmallNet();
  ExpectThrows([&] { ParseBinaryProto(bytes, "big", &net); },
               "cannot read \"big\" as NetDef: it has 2 GiB, want less than 2 GiB");
  EXPECT_EQ(net.op_size(), 0);
  ExpectThrows([&] { ParseBinaryProto(bytes.substr(1), "big", &net); },
               "cannot read \"big\" as NetDef: the bytes are not a valid message");
  ExpectThrows([&] { ParseTextProto(bytes, "big", &net); },
               "cannot read \"big\" as NetDef: line 1, column 1: it has 2 GiB, want less than 2 "
               "GiB");
  EXPECT_EQ(munmap(zeros, kBytes), 0);
}

TEST(ProtoFileTest, ReportsALongNameShortAndInLinearTime) {
  std::string name;
  for (int i = 0; i < 200000; ++i) name += "caffe2rt.";
  NetDef net;
  const std::string text = "name: 'x'\n[" + name + "x]: 1\n";
  try {
    ParseTextProto(text, "test", &net);
    FAIL() << "an unknown extension was accepted";
  } catch (const EnforceNotMet& error) {
    EXPECT_NE(error.message().find("line 2"), std::string::npos) << error.message();
    EXPECT_EQ(error.message().find("caffe2rt."), std::string::npos);
  }
  try {
    ParseTextProto(std::string(1 << 20, 'a') + ": 1", "test", &net);
    FAIL() << "an unknown field was accepted";
  } catch (const EnforceNotMet& error) {
    EXPECT_NE(error.message().find("has no field named \"aaa"), std::string::npos);
    EXPECT_LT(error.message().size(), 1000u);
  }
}

// Text with a number in place of a name cannot be parsed.
TEST(ProtoFileTest, LeavesUnknownFieldsOutOfText) {
  NetDef net = SmallNet();
  EXPECT_FALSE(HasUnknownFields(net));
  OperatorDef* const op = net.mutable_op(0);
  op->GetReflection()->MutableUnknownFields(op)->AddVarint(1000, 5);
  EXPECT_TRUE(HasUnknownFields(net));
  NetDef read;
  ParseTextProto(ProtoToText(net), "test", &read);
  EXPECT_EQ(read.SerializeAsString(), SmallNet().SerializeAsString());
}

TEST(ProtoFileTest, ReadsBothFormsByContent) {
  const TempDir dir;
  WriteProtoToBinaryFile(SmallNet(), dir.path("a.pbtxt"));
  WriteProtoToTextFile(SmallNet(), dir.path("a.pb"));
  for (const char* name : {"a.pb", "a.pbtxt"}) {
    NetDef net;
    LoadProto(dir.path(name), &net);
    EXPECT_EQ(net.SerializeAsString(), SmallNet().SerializeAsString()) << name;
    NetDef again;
    EXPECT_TRUE(ReadProtoFromFile(dir.path(name), &again)) << name;
    EXPECT_EQ(again.op(0).type(), "Relu");
  }
  NetDef net;
  EXPECT_TRUE(ReadProtoFromBinaryFile(dir.path("a.pbtxt"), &net));
  EXPECT_TRUE(ReadProtoFromTextFile(dir.path("a.pb"), &net));
  EXPECT_FALSE(ReadProtoFromTextFile(dir.path("a.pbtxt"), &net));
  EXPECT_FALSE(ReadProtoFromBinaryFile(dir.path("a.pb"), &net));
  EXPECT_FALSE(ReadProtoFromFile(dir.path("none"), &net));
}

TEST(ProtoFileTest, ReadsABinaryMessageOfPrintableCharacters) {
  // Field 1, length 32 (a space), 32 letters. The only control character is the line feed that
  // encodes field 1.
  NetDef net;
  net.set_name(std::string(32, 'n'));
  const std::string bytes = net.SerializeAsString();
  ASSERT_TRUE(LooksLikeText(bytes));
  NetDef read;
  ParseProto(bytes, "memory", &read);
  EXPECT_EQ(read.name(), net.name());
}

TEST(ProtoFileTest, NamesFileLineAndColumnOfATextError) {
  const TempDir dir;
  const std::string path = dir.Write("n.pbtxt", "name: \"x\"\nop {\n  typ: \"Relu\"\n}\n");
  NetDef net;
  ExpectThrows([&] { LoadProto(path, &net); }, "cannot read \"" + path +
                                                   "\" as NetDef: line 3, column 3: Message type "
                                                   "\"OperatorDef\" has no field named \"typ\"");
  ExpectThrows([&] { ParseTextProto("name: 3", "memory", &net); }, "line 1, column 7: ");
  ExpectThrows([&] { ParseTextProto("op {\n name: \"a\n }", "memory", &net); },
               "line 2, column 10");
}

TEST(ProtoFileTest, ReadsTheOlderNameOfTheDeviceId) {
  NetDef net;
  ParseTextProto(
      "# cuda_gpu_id\nname: \"cuda_gpu_id\" op { device_option { device_type: 1 cuda_gpu_id: 3 } "
      "}\n"
      "op { device_option { device_id: 2 } }",
      "memory", &net);
  EXPECT_EQ(net.name(), "cuda_gpu_id");
  EXPECT_EQ(net.op(0).device_option().device_id(), 3);
  EXPECT_EQ(net.op(0).device_option().cuda_gpu_id(), 3);
  EXPECT_EQ(net.op(1).device_option().cuda_gpu_id(), 2);
  // A later error is reported with its own line and column.
  ExpectThrows(
      [&] { ParseTextProto("op { device_option { cuda_gpu_id: 3 }\n foo: 1 }", "memory", &net); },
      "line 2, column 2: Message type \"OperatorDef\" has no field named \"foo\"");
}

TEST(ProtoFileTest, ReadsTextOfOtherEditors) {
  NetDef net;
  ParseProto("\xef\xbb\xbfname: \"x\"\r\nop { type: \"Relu\" }\r\n", "memory", &net);
  EXPECT_EQ(net.op(0).type(), "Relu");
}

// A net of `depth` nested nets; each takes three levels of messages.
NetDef NestedNets(int depth) {
  NetDef net = SmallNet();
  for (int i = 1; i < depth; ++i) {
    NetDef outer = SmallNet();
    *outer.mutable_op(0)->add_arg()->mutable_n() = std::move(net);
    net = std::move(outer);
  }
  return net;
}

TEST(ProtoFileTest, BoundsNesting) {
  std::string text, end;
  for (int i = 0; i < 100000; ++i) text += "op{arg{n{";
  NetDef net;
  const std::string too_deep = "its messages are nested too deep, want at most 100 levels";
  ExpectThrows([&] { ParseTextProto(text, "memory", &net); }, too_deep);
  ExpectThrows([&] { ParseBinaryProto(NestedNets(50).SerializeAsString(), "memory", &net); },
               "cannot read \"memory\" as NetDef: " + too_deep);
  const TempDir dir;
  const std::string path = dir.Write("deep.pb", NestedNets(50).SerializeAsString());
  EXPECT_EQ(DetectFileKind(path).kind, FileKind::kNetDef);
  ExpectThrows([&] { LoadProto(path, &net); }, too_deep);
  ParseBinaryProto(NestedNets(30).SerializeAsString(), "memory", &net);
  EXPECT_EQ(net.op_size(), 1);
}

// Thirty nested nets would overflow a stack of 128 KiB while their text is parsed.
TEST(ProtoFileTest, BoundsNestingByTheStackOfTheThread) {
  const std::string binary = NestedNets(30).SerializeAsString(), text = ProtoToText(NestedNets(30));
  const auto parse = [](const std::string& bytes) -> std::string {
    NetDef net;
    try {
      ParseProto(bytes, "memory", &net);
    } catch (const EnforceNotMet& error) {
      return error.message();
    }
    return "";
  };
  for (const size_t kib : {64, 96, 128, 192}) {
    RunWithStack(kib << 10, [&] {
      for (const std::string& bytes : {binary, text}) {
        EXPECT_THAT(parse(bytes),
                    AllOf(HasSubstr("its messages are nested too deep, want at most "),
                          HasSubstr(" of stack left; use a thread with a larger stack")))
            << kib << " KiB";
      }
      EXPECT_NE(parse(std::string(100'000, '\x7b')), "");  // groups
    });
  }
  RunWithStack(8 << 20, [&] {
    EXPECT_EQ(parse(binary), "");
    EXPECT_EQ(parse(text), "");
  });
}

// Nets of other formats are converted; a plan cannot come from one.
TEST(ProtoFileTest, NamesTheRemedyForNetsOfOtherFormats) {
  const TempDir dir;
  NetDef net;
  PlanDef plan;
  // A model of ONNX, with its version 9, an empty graph and opset 18.
  const std::string onnx = dir.Write("m.onnx", std::string("\x08\x09\x3a\x00\x42\x02\x10\x12", 8));
  const std::string text = dir.Write("m.txt", "ir_version: 9\ngraph { name: \"g\" }\n");
  const std::string caffe = dir.Write(
      "m.prototxt", "name: \"n\"\nlayer { name: \"r\" type: \"ReLU\" bottom: \"x\" top: \"y\" }\n");
  const std::string remedy = "; caffe2 convert makes an init net and a predict net of it";
  for (const std::string& file : {onnx, text}) {
    EXPECT_EQ(MessageOf([&] { LoadProto(file, &net); }),
              "cannot read \"" + file + "\" as NetDef: it is an ONNX model" + remedy);
    EXPECT_EQ(MessageOf([&] { LoadProto(file, &plan); }),
              "cannot read \"" + file + "\" as PlanDef: it is an ONNX model");
  }
  EXPECT_EQ(MessageOf([&] { LoadProto(caffe, &net); }),
            "cannot read \"" + caffe + "\" as NetDef: it is a Caffe prototxt" + remedy);
}

TEST(ProtoFileTest, ReportsTheActualKindOfTheFile) {
  const TempDir dir;
  PlanDef plan;
  *plan.add_network() = SmallNet();
  plan.add_execution_step()->add_network("small");
  WriteProtoToBinaryFile(plan, dir.path("plan.pb"));
  WriteProtoToTextFile(plan, dir.path("plan.pbtxt"));
  NetDef net;
  ExpectThrows([&] { LoadProto(dir.path("plan.pb"), &net); }, "as NetDef: it is a PlanDef");
  ExpectThrows([&] { LoadProto(dir.path("plan.pbtxt"), &net); }, "as NetDef: it is a PlanDef");
  WriteProtoToBinaryFile(SmallNet(), dir.path("net.pb"));
  ExpectThrows([&] { LoadProto(dir.path("net.pb"), &plan); }, "as PlanDef: it is a NetDef");
  ExpectThrows([&] { LoadProto(dir.Write("e.pb", ""), &net); }, "it is empty");
  ExpectThrows([&] { LoadProto(dir.path(), &net); }, "it is a directory");
  ExpectThrows([&] { LoadProto(dir.Write("png", "\x89PNG\r\n\x1a\n..."), &net); },
               "it is a PNG image");
}

TEST(ProtoFileTest, AcceptsASmallMessageThatMatchesOtherKindsToo) {
  PlanDef plan, read;
  plan.set_name("an empty plan");
  ParseProto(ProtoToBinary(plan), "memory", &read);
  EXPECT_EQ(read.name(), plan.name());
}

TEST(ProtoFileTest, NamesMissingRequiredFields) {
  MetaNetDef meta;
  ExpectThrows([&] { ParseTextProto("blobs { value: \"x\" }", "memory", &meta); }, "blobs[0].key");
  MetaNetDef partial;
  partial.add_blobs();
  ExpectThrows([&] { ProtoToBinary(partial); }, "required fields are missing: blobs[0].key");
  ExpectThrows([&] { ParseBinaryProto(partial.SerializePartialAsString(), "memory", &meta); },
               "required fields are missing: blobs[0].key");
}

TEST(ProtoFileTest, ReadsTheLooserPartsOfTheTextFormat) {
  SKIP_WITHOUT_SHARED("models/c2_files/text_styles.pbtxt");
  NetDef text, binary;
  LoadProto(SharedPath("models/c2_files/text_styles.pbtxt"), &text);
  LoadProto(SharedPath("models/c2_files/text_styles.pb"), &binary);
  EXPECT_EQ(text.SerializeAsString(), binary.SerializeAsString());
  EXPECT_EQ(text.op(0).device_option().node_name(), "host");
  EXPECT_EQ(text.op(0).arg(2).s(), "NCHW");
}

TEST(ProtoFileTest, ReadsFilesOfMoreThan64Megabytes) {
  const TempDir dir;
  NetDef net = SmallNet();
  Argument* values = net.mutable_op(0)->add_arg();
  values->set_name("values");
  values->mutable_floats()->Resize(20 << 20, 1.5f);  // 100 MB, because floats are not packed
  WriteProtoToBinaryFile(net, dir.path("big.pb"));
  net.Clear();
  LoadProto(dir.path("big.pb"), &net);
  EXPECT_EQ(net.op(0).arg(0).floats_size(), 20 << 20);
  EXPECT_TRUE(ReadProtoFromFile(dir.path("big.pb"), &net));
}

// 2.5 MB: more than is read to detect the kind of a file.
NetDef LargeNet() {
  NetDef net = SmallNet();
  Argument* const values = net.mutable_op(0)->add_arg();
  values->set_name("values");
  values->mutable_floats()->Resize(1 << 19, 1.5f);
  return net;
}

TEST(ProtoFileTest, ChecksLargeFilesLikeSmallOnes) {
  const TempDir dir;
  const std::string path = dir.path("net.pb");
  WriteProtoToBinaryFile(LargeNet(), path);
  NetDef net;
  for (const ProtoKindCheck check : {ProtoKindCheck::kByContent, ProtoKindCheck::kAsTold}) {
    net.set_name("what was there before");
    LoadProto(path, &net, check);
    EXPECT_EQ(net.SerializeAsString(), LargeNet().SerializeAsString());
  }
  PlanDef plan;
  ExpectThrows([&] { LoadProto(path, &plan); }, "as PlanDef: it is a NetDef");
  // A NetDef that also parses as a PlanDef.
  NetDef source = LargeNet();
  source.mutable_op(0)->clear_input();
  source.mutable_op(0)->clear_output();
  WriteProtoToBinaryFile(source, dir.path("source.pb"));
  ASSERT_TRUE(ReadProtoFromBinaryFile(dir.path("source.pb"), &plan));
  ExpectThrows([&] { LoadProto(dir.path("source.pb"), &plan); }, "as PlanDef: it is a NetDef");
  LoadProto(dir.path("source.pb"), &plan, ProtoKindCheck::kAsTold);
  const std::string bytes = LargeNet().SerializeAsString();
  const std::string cut = dir.Write("cut.pb", bytes.substr(0, bytes.size() - 1));
  ExpectThrows(
      [&] { LoadProto(cut, &net); },
      "cannot read \"" + cut + "\" as NetDef: the bytes are not a valid message, or are truncated");
  MetaNetDef meta;
  meta.add_nets();  // without the required key
  *meta.mutable_nets(0)->mutable_value() = LargeNet();
  ExpectThrows([&] { LoadProto(dir.Write("meta.pb", meta.SerializePartialAsString()), &meta); },
               "required fields are missing: nets[0].key");
}

TEST(ProtoFileTest, ReadsALargeTextFile) {
  const TempDir dir;
  NetDef want = SmallNet(), net;
  want.mutable_op(0)->set_debug_info(std::string(2 << 20, 'x'));
  WriteProtoToTextFile(want, dir.path("net.pbtxt"));
  LoadProto(dir.path("net.pbtxt"), &net);
  EXPECT_EQ(net.SerializeAsString(), want.SerializeAsString());
}

TEST(ProtoFileTest, ReadsALargeNetFromAPipe) {
  const TempDir dir;
  const std::string pipe = dir.path("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const std::string bytes = LargeNet().SerializeAsString();
  std::jthread writer([&] { std::ofstream(pipe, std::ios::binary) << bytes; });
  NetDef net;
  LoadProto(pipe, &net);
  EXPECT_EQ(net.SerializeAsString(), bytes);
}

TEST(ProtoFileTest, ReadsAndWritesStrings) {
  const TempDir dir;
  const std::string path = dir.path("s");
  EXPECT_TRUE(WriteStringToFile(std::string("a\0b", 3), path.c_str()));
  std::string bytes;
  EXPECT_TRUE(ReadStringFromFile(path.c_str(), &bytes));
  EXPECT_EQ(bytes, std::string("a\0b", 3));
  EXPECT_FALSE(ReadStringFromFile(dir.path("none").c_str(), &bytes));
  EXPECT_FALSE(WriteStringToFile("x", dir.path("no/s").c_str()));
  EXPECT_EQ(ProtoDebugString(SmallNet()),
            "name: \"small\" op { input: \"x\" output: \"y\" type: \"Relu\" }");
  WriteProtoToTextFile(SmallNet(), dir.path("no/s"), false);
}

// The older name of device_id is a word of its own, outside strings and comments.
TEST(ProtoFileTest, ReadsTheOlderNameOfADeviceWhereverItStands) {
  const struct {
    const char* text;
    int id;
    const char* node;
  } rows[] = {{"cuda_gpu_id:4", 4, ""},
              {"node_name:\"x\"cuda_gpu_id:4", 4, "x"},
              {"node_name:'x'cuda_gpu_id:4", 4, "x"},
              {"node_name: 'a\\'b' cuda_gpu_id: 4", 4, "a'b"},
              {"node_name: 'a\"b' cuda_gpu_id: 4", 4, "a\"b"},
              {"node_name: \"cuda_gpu_id\" cuda_gpu_id: 5 # cuda_gpu_id: 6", 5, "cuda_gpu_id"},
              {"#'\ncuda_gpu_id: 7", 7, ""},
              {"node_name: '#' cuda_gpu_id: 8", 8, "#"},
              {"node_name: '' cuda_gpu_id: 8", 8, ""},
              {"node_name: 'x\\\\' cuda_gpu_id: 9", 9, "x\\"},
              {"device_type: 1 cuda_gpu_id: 10", 10, ""}};
  for (const auto& row : rows) {
    DeviceOption option;
    EXPECT_TRUE(ParseProtoFromText(row.text, &option)) << row.text;
    EXPECT_EQ(option.device_id(), row.id) << row.text;
    EXPECT_EQ(option.node_name(), row.node) << row.text;
  }
  for (const char* text : {"xcuda_gpu_id: 1", "cuda_gpu_ids: 1", "cuda_gpu_id_: 1",
                           "cuda_gpu_id: 'x", "node_name: 'cuda_gpu_id: 1"}) {
    DeviceOption option;
    EXPECT_FALSE(ParseProtoFromText(text, &option)) << text;
  }
}

// Whatever is wrong with a message that is deep, but not too deep, has its own reason.
TEST(ProtoFileTest, DeepMessagesThatAreDamagedAreNotTooDeep) {
  for (const int depth : {10, 20, 34}) {  // 28, 58 and 100 levels
    std::string bytes = NestedNets(depth).SerializeAsString();
    NetDef net;
    ParseBinaryProto(bytes, "memory", &net);
    bytes += "\x0a";  // a field without a value
    ExpectThrows([&] { ParseBinaryProto(bytes, "memory", &net); },
                 "cannot read \"memory\" as NetDef: the bytes are not a valid message");
  }
}

// 100 levels are the most; the message in the last one may have no message of its own.
TEST(ProtoFileTest, OneLevelMoreThanTheLimitIsTooDeep) {
  NetDef net = NestedNets(34), read;  // 100 levels
  NetDef* inner = &net;
  while (inner->op(0).arg_size() > 0) inner = inner->mutable_op(0)->mutable_arg(0)->mutable_n();
  inner->mutable_op(0)->set_name("the last one");
  ParseBinaryProto(net.SerializeAsString(), "memory", &read);
  ParseTextProto(ProtoToText(net), "memory", &read);
  inner->mutable_op(0)->add_arg();
  const std::string too_deep =
      "cannot read \"memory\" as NetDef: its messages are nested too deep, want at most 100 levels";
  ExpectThrows([&] { ParseBinaryProto(net.SerializeAsString(), "memory", &read); }, too_deep);
}

TEST(ProtoFileTest, ThePlainLimitOfNestingNeedsNoRemedy) {
  NetDef net;
  try {
    ParseBinaryProto(NestedNets(35).SerializeAsString(), "memory", &net);  // 103 levels
    ADD_FAILURE();
  } catch (const EnforceNotMet& error) {
    EXPECT_EQ(
        error.message(),
        "cannot read \"memory\" as NetDef: its messages are nested too deep, want at most 100 "
        "levels");
  }
}

// "z" is the tag of field 15, which no NetDef has, and "A" the length of 65 bytes: the bytes are a
// message, but the file is text.
TEST(ProtoFileTest, TextIsNoMessageOfUnknownFields) {
  NetDef net;
  ExpectThrows([&] { ParseProto("zA" + std::string(65, 'x'), "net", &net); },
               "cannot read \"net\" as NetDef: line 1, column ");
  // As a name, field 1, they are one.
  ParseProto("\nA" + std::string(65, 'x'), "net", &net);
  EXPECT_EQ(net.name(), std::string(65, 'x'));
}

// Text with a control character is text, if it is not in the first 64 bytes.
TEST(ProtoFileTest, ReportsThePlaceOfAControlCharacterInText) {
  const std::string comment = "# " + std::string(70, 'c') + "\n";
  NetDef net;
  ExpectThrows([&] { ParseProto(comment + "name: 'a'\nop { \x01 }\n", "net", &net); },
               "cannot read \"net\" as NetDef: line 3, column 6: ");
  for (const char* const text : {"name: 'a'\nop { \x01 }\n", "\x01 name: 'a'"}) {
    ExpectThrows([&] { ParseProto(text, "net", &net); },
                 "cannot read \"net\" as NetDef: the bytes are not a valid message");
  }
}

}  // namespace
}  // namespace caffe2rt::proto_file_test
