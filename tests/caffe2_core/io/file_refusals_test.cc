// Every error of files and of protos in files, whole, and what it leaves behind.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <climits>
#include <filesystem>
#include <string>

#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/atomic_folder.h"
#include "caffe2_core/io/caffe_datum.h"
#include "caffe2_core/io/file_access.h"
#include "caffe2_core/io/given_values.h"
#include "caffe2_core/io/net_weights.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2_core/io/proto_text.h"
#include "caffe2_core/io/random_access_input.h"
#include "caffe2_core/io/record_order.h"
#include "caffe2_core/io/searched_folders.h"
#include "caffe2_core/io/standard_streams.h"
#include "caffe2_core/io/temporary.h"
#include "caffe2rt/caffe2.pb.h"
#include "tests/support/refusals.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::file_refusals_test {
namespace {

namespace fs = std::filesystem;

std::string Quoted(const std::string& text) { return "\"" + text + "\""; }

TEST(FileRefusalsTest, OfFilesThatAreWritten) {
  const TempDir dir;
  const std::string in_none = dir.path("none/a"), path = dir.path("a");
  ExpectRefusals({
      {[] { WriteFileAtomically("", "x"); }, "cannot write a file: its path is empty"},
      {[&] { WriteFileAtomically(dir.path(), "x"); },
       "cannot write " + Quoted(dir.path()) + ": it is a directory"},
      {[&] { WriteFileAtomically(in_none, "x"); },
       MakeString("cannot create a file in ", Quoted(dir.path("none")), " to write ",
                  Quoted(in_none), ": No such file or directory")},
      {[] { WriteFileAtomically("/dev/full", "x"); },
       "cannot write \"/dev/full\": No space left on device"},
      {[] { AtomicFolder("", 0755); }, "cannot create a folder: its path is empty"},
      {[&] { AtomicFolder(in_none, 0755); },
       MakeString("cannot create a folder in ", Quoted(dir.path("none")), " to write ",
                  Quoted(in_none), ": No such file or directory")},
  });
  {
    AtomicFile failed("/dev/full");
    failed.Write("x");
    const std::string full = "cannot write \"/dev/full\": No space left on device";
    const std::string earlier =
        "an earlier write to \"/dev/full\" failed, the file is not complete";
    ExpectRefusals({{[&] { failed.Commit(); }, full}, {[&] { failed.Commit(); }, earlier}});
  }
  {
    dir.Write("a", "old");
    AtomicFile file(path, AtomicFile::Existing::kThrow);
    file.Write("new");
    ExpectRefusals({{[&] { file.Commit(); },
                     "cannot rename the new file to " + Quoted(path) + ": File exists"},
                    {[&] { file.Commit(); },
                     "an earlier write to " + Quoted(path) + " failed, the file is not complete"}});
    EXPECT_FALSE(file.committed());
  }
  EXPECT_EQ(ReadWholeFile(path), "old");
  EXPECT_EQ(std::distance(fs::directory_iterator(dir.path()), {}), 1);  // no temporary is left
}

TEST(FileRefusalsTest, OfBytesThatAreOverwritten) {
  const TempDir dir;
  const std::string path = dir.path("a");
  AtomicFile file(path);
  file.Write("abcdef");
  const auto refused = [&](int64_t from, int64_t to) {
    return MakeString("cannot overwrite bytes ", from, " to ", to, " of ", Quoted(path),
                      ": it has 6");
  };
  ExpectRefusals({{[&] { file.Overwrite(5, "xy"); }, refused(5, 7)},
                  {[&] { file.Overwrite(-1, "xy"); }, refused(-1, 1)},
                  {[&] { file.Overwrite(7, ""); }, refused(7, 7)}});
  file.Overwrite(4, "EF");
  file.Overwrite(0, "A");
  file.Overwrite(6, "");
  EXPECT_EQ(file.size(), 6);
  file.Commit();
  EXPECT_EQ(ReadWholeFile(path), "AbcdEF");
}

TEST(FileRefusalsTest, OfFilesThatAreRead) {
  const TempDir dir;
  const std::string none = dir.path("none"), five = dir.Write("five", "12345");
  std::string large(2000, 'x');
  const std::string large_path = dir.Write("large", large);
  char bytes[8] = {};
  const FileDescriptor opened = OpenForReading(five);
  ExpectRefusals({
      {[&] { ReadWholeFile(none); }, "cannot open " + Quoted(none) + ": No such file or directory"},
      {[&] { ReadWholeFile(dir.path()); },
       "cannot read " + Quoted(dir.path()) + ": it is a directory, want a file"},
      {[&] { ReadWholeFile(five, 4); },
       "bytes of file " + Quoted(five) + ": got 5 bytes, want at most 4 bytes"},
      {[&] { ReadWholeFile(large_path, 1024); },
       "bytes of file " + Quoted(large_path) + ": got 2.0 KiB, want at most 1 KiB"},
      {[&] { ReadWholeFile("/dev/zero", 10000); },
       "bytes of file \"/dev/zero\": got more than 9.8 KiB"},
      {[&] { ReadAt(opened, five, 2, bytes, 4); },
       "file " + Quoted(five) + " is truncated: it ends before byte 6: got 0, want more than 0"},
      {[&] { ReadAt(opened, five, 5, bytes, 1); },
       "file " + Quoted(five) + " is truncated: it ends before byte 6: got 0, want more than 0"},
      {[&] { ReadAt(FileDescriptor(), five, 0, bytes, 1); },
       "cannot read " + Quoted(five) + ": Bad file descriptor: got -1, want at least 0"},
      {[&] { FileSize(FileDescriptor(), five); },
       "cannot stat " + Quoted(five) + ": Bad file descriptor: got -1, want 0"},
  });
  EXPECT_EQ(ReadWholeFile(five, 5), "12345");
  EXPECT_EQ(ReadWholeFile(dir.Write("empty", ""), 0), "");
  ReadAt(opened, five, 2, bytes, 3);
  EXPECT_EQ(std::string(bytes), "345");
  ReadAt(opened, five, 5, bytes, 0);
  EXPECT_EQ(FileSize(opened, five), 5);
  ExpectRefusals(
      {{[&] { MemoryInput("abc").Read(2, bytes, 2); }, "cannot read 2 bytes at offset 2 of 3"},
       {[&] { MemoryInput("abc").Read(-1, bytes, 1); }, "cannot read 1 bytes at offset -1 of 3"},
       {[&] { MemoryInput("abc").Read(4, bytes, 0); }, "cannot read 0 bytes at offset 4 of 3"}});
  MemoryInput("abc").Read(1, bytes, 2);
  EXPECT_EQ(std::string(bytes), "bc5");
  MemoryInput("abc").Read(3, bytes, 0);
}

TEST(FileRefusalsTest, AFolderThatIsTakenInTheMeantimeStays) {
  const TempDir dir;
  const std::string path = dir.path("db");
  {
    AtomicFolder folder(path + "//", 0755);  // the same folder
    dir.Write("db/other", "x");
    ExpectRefusals({{[&] { folder.Commit(); },
                     "cannot put " + Quoted(path) +
                         " in place: something else was created there in the meantime"}});
  }
  {
    AtomicFolder folder(dir.path("second"), 0755);
    dir.Write("second", "a file");
    ExpectRefusals({{[&] { folder.Commit(); },
                     "cannot put " + Quoted(dir.path("second")) +
                         " in place: something else was created there in the meantime"}});
  }
  EXPECT_EQ(ReadWholeFile(path + "/other"), "x");
  EXPECT_EQ(std::distance(fs::directory_iterator(dir.path()), {}), 2);
}

TEST(FileRefusalsTest, OfProtos) {
  const TempDir dir;
  const std::string empty = dir.Write("empty", ""), blank = dir.Write("blank", " # a comment\n");
  const std::string text = dir.Write("text", "name: 'n'\nfoo: 3\n");
  const std::string none = dir.path("none");
  NetDef net;
  net.set_name("as it was");
  TensorProto incomplete;
  incomplete.mutable_segment()->set_begin(1);
  TextError error;
  google::protobuf::Message* const null = nullptr;
  const std::string no_proto = "argument proto, which receives the message read, is null";
  ExpectRefusals({
      {[&] { LoadProto(empty, &net); }, "cannot read " + Quoted(empty) + " as NetDef: it is empty"},
      {[&] { LoadProto(blank, &net); },
       "cannot read " + Quoted(blank) +
           " as NetDef: it has no field, only white space or comments"},
      {[&] { LoadProto(text, &net); },
       "cannot read " + Quoted(text) +
           " as NetDef: line 2, column 1: Message type \"NetDef\" has no field named \"foo\""},
      {[&] { LoadProto(none, &net); },
       "cannot open " + Quoted(none) + ": No such file or directory"},
      {[&] { LoadProto(dir.path(), &net); },
       "cannot read " + Quoted(dir.path()) + ": it is a directory, want a file"},
      {[&] {
         ParseBinaryProto(
             "\x0a\x05"
             "ab",
             "b", &net);
       },
       "cannot read \"b\" as NetDef: the bytes are not a valid message, or are truncated"},
      {[&] { ParseTextProto("name", "t", &net); },
       "cannot read \"t\" as NetDef: line 1, column 5: Expected \":\", found \"\""},
      {[&] { ProtoToBinary(incomplete); },
       "cannot write TensorProto: required fields are missing: segment.end"},
      {[&] { LoadProto(text, null); }, no_proto},
      {[&] { ParseProto("x", "x", null); }, no_proto},
      {[&] { ParseTextProto("x", "x", null); }, no_proto},
      {[&] { ParseBinaryProto("x", "x", null); }, no_proto},
      {[&] { ParseProtoFromText("x", null); }, no_proto},
      {[&] { ParseProtoFromLargeString("x", null); }, no_proto},
      {[&] { ReadProtoFromTextFile(text, null); }, no_proto},
      {[&] { ReadProtoFromBinaryFile(text, null); }, no_proto},
      {[&] { ReadProtoFromFile(text, null); }, no_proto},
      {[&] { ParseText("x", null, &error); }, "argument proto of ParseText is null"},
      {[&] { ParseText("x", &net, nullptr); }, "argument error of ParseText is null"},
  });
  std::string bytes;
  ExpectRefusals({
      {[&] { ReadStringFromFile(nullptr, &bytes); }, "argument path of ReadStringFromFile is null"},
      {[&] { ReadStringFromFile(text.c_str(), nullptr); },
       "argument bytes of ReadStringFromFile is null"},
      {[&] { WriteStringToFile("x", nullptr); }, "argument path of WriteStringToFile is null"},
      {[&] { (void)ParseDatum("x", nullptr); }, "argument datum of ParseDatum is null"},
      {[&] { RestoreWeights(nullptr); }, "argument net of RestoreWeights is null"},
      {[] { (void)ShuffledOrder(-1, 1); }, "cannot shuffle -1 records, want at most 4294967295"},
      {[] { (void)ShuffledOrder(int64_t{1} << 32, 1); },
       "cannot shuffle 4294967296 records, want at most 4294967295"},
  });
}

// Lines and columns count from 1, and point at the name of an unknown field. The former name of
// device_id may stand before it.
TEST(FileRefusalsTest, ErrorsOfTextPointAtTheirPlace) {
  const auto error_of = [](const std::string& text) {
    NetDef net;
    return MessageOf([&] { ParseTextProto(text, "t", &net); });
  };
  const auto unknown = [](size_t line, size_t column, const char* type, const char* name) {
    return MakeString("cannot read \"t\" as NetDef: line ", line, ", column ", column,
                      ": Message type \"", type, "\" has no field named \"", name, "\"");
  };
  EXPECT_EQ(error_of("foo: 1"), unknown(1, 1, "NetDef", "foo"));
  EXPECT_EQ(error_of("name: 'n'\n  op {\n    bar: 1 }"), unknown(3, 5, "OperatorDef", "bar"));
  EXPECT_EQ(error_of("\xef\xbb\xbf foo: 1"), unknown(1, 2, "NetDef", "foo"));
  EXPECT_EQ(error_of("name: 'n' # foo\n\n   foo: 1 foo: 2"), unknown(3, 4, "NetDef", "foo"));
  EXPECT_EQ(error_of("foo { a: 1 }"), unknown(1, 1, "NetDef", "foo"));
  EXPECT_EQ(error_of("name: 'n'\n  foo   : 1"), unknown(2, 3, "NetDef", "foo"));
  // Behind a tab the column is protobuf's: it counts up to the next multiple of 8, and the name's
  // end.
  EXPECT_EQ(error_of("\tfoo: 1 foo: 2"), unknown(1, 12, "NetDef", "foo"));
  EXPECT_EQ(error_of("\tfoo: 1"), unknown(1, 12, "NetDef", "foo"));
  EXPECT_EQ(error_of("\n\tname: 'n'\n foo: 1"), unknown(3, 2, "NetDef", "foo"));
  const std::string older = "op { device_option { cuda_gpu_id: 1 foo: 2 } }";
  EXPECT_EQ(error_of(older), unknown(1, older.find("foo") + 1, "DeviceOption", "foo"));
  const std::string before = "op { bar: 1 device_option { cuda_gpu_id: 1 } }";
  EXPECT_EQ(error_of(before), unknown(1, 6, "OperatorDef", "bar"));
  // Where the older name stands in a message that never had it, the error has the name of the text.
  EXPECT_EQ(error_of("cuda_gpu_id: 1"), unknown(1, 1, "NetDef", "cuda_gpu_id"));
  EXPECT_EQ(error_of("op {\n  cuda_gpu_id: 1 }"), unknown(2, 3, "OperatorDef", "cuda_gpu_id"));
  NetDef net;
  ParseTextProto(
      "name: \"cuda_gpu_id\" # cuda_gpu_id\nop { type: 'a\\'cuda_gpu_id' device_option { "
      "cuda_gpu_id: 3 } }",
      "t", &net);
  EXPECT_EQ(net.name(), "cuda_gpu_id");
  EXPECT_EQ(net.op(0).type(), "a'cuda_gpu_id");
  EXPECT_EQ(net.op(0).device_option().device_id(), 3);
  const TempDir dir;
  const std::string blobs =
      dir.Write("blobs", "# key: a\nname: 'a'\ntype: 'x'\n# key: b\nname: 'b'\nfoo: 1\n");
  EXPECT_EQ(MessageOf([&] { LoadBlobProtos(blobs); }),
            "cannot read " + Quoted(blobs) +
                " as BlobProto: line 6, column 1: Message type \"BlobProto\" has no field named "
                "\"foo\"");
}

// Caffe2's functions return false where the others throw.
TEST(FileRefusalsTest, CaffesFunctionsReturnFalse) {
  const TempDir dir;
  const std::string none = dir.path("none"), text = dir.Write("text", "name: 'n'");
  NetDef net;
  net.set_name("b");
  const std::string binary = dir.Write("binary", net.SerializeAsString());
  const std::string noise = dir.Write("noise", "\xff\xff");
  EXPECT_FALSE(ReadProtoFromTextFile(none, &net));
  EXPECT_FALSE(ReadProtoFromBinaryFile(none, &net));
  EXPECT_FALSE(ReadProtoFromFile(none, &net));
  EXPECT_FALSE(ReadProtoFromTextFile(noise, &net));
  EXPECT_FALSE(ReadProtoFromBinaryFile(noise, &net));
  EXPECT_FALSE(ReadProtoFromFile(noise, &net));
  EXPECT_FALSE(ReadProtoFromBinaryFile(text, &net));
  EXPECT_FALSE(ReadProtoFromTextFile(binary, &net));
  EXPECT_TRUE(ReadProtoFromTextFile(text, &net));
  EXPECT_EQ(net.name(), "n");
  EXPECT_TRUE(ReadProtoFromBinaryFile(binary, &net));
  EXPECT_EQ(net.name(), "b");
  for (const auto& [path, name] : {std::pair(text, "n"), {binary, "b"}}) {
    EXPECT_TRUE(ReadProtoFromFile(path, &net));
    EXPECT_EQ(net.name(), name);
  }
  // Binary bytes that are all printable, and text with a byte that is not.
  const std::string printable = dir.Write("printable", "\x0a\x0d" + std::string(13, 'p'));
  EXPECT_TRUE(ReadProtoFromFile(printable, &net));
  EXPECT_EQ(net.name(), std::string(13, 'p'));
  EXPECT_TRUE(ReadProtoFromFile(dir.Write("odd", "name: 'a' # \x01"), &net));
  EXPECT_EQ(net.name(), "a");
  EXPECT_TRUE(ParseProtoFromText("name: 't'", &net));
  EXPECT_FALSE(ParseProtoFromText("name 't'", &net));
  EXPECT_TRUE(ParseProtoFromLargeString("", &net));
  EXPECT_FALSE(net.has_name());  // of the message before, nothing is left
  EXPECT_THROW(WriteProtoToTextFile(net, dir.path("no/s")), EnforceNotMet);
  EXPECT_NO_THROW(WriteProtoToTextFile(net, dir.path("no/s"), false));
  EXPECT_THROW(WriteProtoToBinaryFile(net, dir.path("no/s")), EnforceNotMet);
  net.set_name("w");
  WriteProtoToTextFile(net, dir.path("s"), false);
  EXPECT_EQ(ReadWholeFile(dir.path("s")), "name: \"w\"\n");
  WriteProtoToBinaryFile(net, dir.path("s"));
  EXPECT_EQ(ReadWholeFile(dir.path("s")), "\x0a\x01w");
}

TEST(FileRefusalsTest, UnknownFieldsAreFoundAtAnyDepth) {
  const std::string unknown = "\xe2\x03\x01z";  // field 60
  const auto has = [](const std::string& bytes) {
    NetDef net;
    EXPECT_TRUE(ParseProtoFromLargeString(bytes, &net));
    return HasUnknownFields(net);
  };
  const auto field = [](char tag, const std::string& content) {
    return std::string(1, tag) + static_cast<char>(content.size()) + content;
  };
  const std::string op = field('\x22', "Relu");          // type
  const std::string option = field('\x32', "\x08\x01");  // device_option
  EXPECT_FALSE(has(field('\x12', op) + field('\x12', op + option)));
  EXPECT_TRUE(has(unknown));
  EXPECT_TRUE(has(field('\x12', op) + field('\x12', op + unknown)));
  EXPECT_TRUE(has(field('\x12', op + field('\x32', "\x08\x01" + unknown))));
}

// Any sequence of writes and overwrites, around the megabyte that is buffered.
TEST(FileRefusalsTest, WritesAroundTheBufferKeepTheirOrder) {
  const TempDir dir;
  constexpr size_t kBuffer = 1 << 20;
  AtomicFile file(dir.path("a"));
  std::string want;
  char letter = 'a';
  for (const size_t size : {size_t{10}, kBuffer - 11, size_t{1}, size_t{1}, kBuffer, kBuffer + 1,
                            size_t{3}, kBuffer - 3, size_t{5}}) {
    const std::string bytes(size, letter++);
    file.Write(bytes);
    want += bytes;
    EXPECT_EQ(file.size(), static_cast<int64_t>(want.size()));
    for (const size_t at : {size_t{0}, want.size() / 2, want.size() - 1}) {
      const std::string other(1, static_cast<char>(letter - 32));
      file.Overwrite(static_cast<int64_t>(at), other);
      want.replace(at, 1, other);
    }
  }
  // Over the end of what has left the buffer.
  const std::string across(2 * kBuffer, '#');
  file.Overwrite(static_cast<int64_t>(want.size() - across.size()), across);
  want.replace(want.size() - across.size(), across.size(), across);
  file.Commit();
  EXPECT_TRUE(ReadWholeFile(dir.path("a")) == want);
}

TEST(FileRefusalsTest, FoldersThatWereSearchedAreNamed) {
  const TempDir dir;
  for (const char* const name : {"one", "two"}) fs::create_directory(dir.path(name));
  const std::string one = fs::canonical(dir.path("one")).string();
  const std::string two = fs::canonical(dir.path("two")).string();
  const FileAccess both = FileAccess::Below({one, two}), single = FileAccess::Below({one});
  const std::string absent = one + "/a";
  EXPECT_EQ(SearchedFolders(both, "a", absent),
            MakeString("; \"a\" was sought in ", Quoted(one), " and ", Quoted(two)));
  EXPECT_EQ(SearchedFolders(single, "a", absent), "");
  EXPECT_EQ(SearchedFolders(FileAccess::Free(), "a", absent), "");
  EXPECT_EQ(SearchedFolders(both, "/a", absent), "");
  dir.Write("one/a", "x");
  EXPECT_EQ(SearchedFolders(both, "a", absent), "");  // it is there
}

TEST(FileRefusalsTest, OfValuesForAnotherOperator) {
  Tensor floats(std::vector<int64_t>{2}, CPU);
  floats.mutable_data<float>()[0] = 1.5f;
  floats.mutable_data<float>()[1] = -2;
  Argument argument;
  ExpectRefusals({
      {[&] { EncodeGivenValues(floats, "GivenTensorIntFill", &argument); },
       "elements of type float for an operator of type GivenTensorIntFill"},
      {[&] { EncodeGivenValues(floats, "Relu", &argument); },
       "elements of type float for an operator of type Relu"},
  });
  EXPECT_EQ(argument.ByteSizeLong(), 0u);
  EncodeGivenValues(floats, "GivenTensorFill", &argument);
  EXPECT_EQ(argument.floats_size(), 2);
  EXPECT_EQ(argument.floats(1), -2);
  EXPECT_TRUE(DependsOnDtype("GivenTensorFill"));
  EXPECT_FALSE(DependsOnDtype("GivenTensorDoubleFill"));
}

TEST(FileRefusalsTest, OnlyTheNamesOfTemporariesAreCollected) {
  const TempDir dir;
  const std::pair<const char*, bool> rows[] = {
      // names, and whether they are removed
      {".x.caffe2rt-tmp-12-0123456789abcdef", true},
      {".caffe2rt-tmp-12-0123456789abcdef", false},  // of no target
      {"x.caffe2rt-tmp-12-0123456789abcdef", false},
      {".x.caffe2rt-tmp-12-0123456789abcde", false},
      {".x.caffe2rt-tmp-12-0123456789abcdef0", false},
      {".x.caffe2rt-tmp-12-0123456789ABCDEF", false},
      {".x.caffe2rt-tmp-1a-0123456789abcdef", false},
      {".x.caffe2rt-tmp--0123456789abcdef", false},
      {".x.caffe2rt-tmp-12", false},
      {".x.caffe2rt-tmp-12-0123456789abcdef.bak", false},
      {".x.caffe2rt-tmp-1-0123456789abcdef.caffe2rt-tmp-12-0123456789abcdef", true},
  };
  for (const auto& [name, removed] : rows) dir.Write(name, "x");
  internal::CollectTemporaries(dir.path());
  for (const auto& [name, removed] : rows) EXPECT_EQ(fs::exists(dir.path(name)), !removed) << name;
  // Folders are removed if all of their files are those of a database.
  const std::pair<const char*, bool> files[] = {
      {"CURRENT", true},      {"LOCK", true},      {"LOG", true},           {"LOG.old", true},
      {"data.mdb", true},     {"lock.mdb", true},  {"MANIFEST-0001", true}, {"MANIFEST-", false},
      {"MANIFEST-1a", false}, {"0003.log", true},  {"0003.ldb", true},      {"0003.sst", true},
      {"0003.dbtmp", true},   {"0003.txt", false}, {"a3.log", false},       {".log", false},
      {"0003.log.gz", false}, {"current", false},  {"0003", false}};
  for (const auto& [name, removed] : files) {
    const std::string folder = ".f.caffe2rt-tmp-12-0123456789abcdef";
    dir.Write(folder + "/" + name, "x");
    dir.Write(folder + "/LOCK", "x");
    internal::CollectTemporaries(dir.path());
    EXPECT_EQ(fs::exists(dir.path(folder)), !removed) << name;
    EXPECT_EQ(fs::exists(dir.path(folder + "/LOCK")), !removed) << name;
    fs::remove_all(dir.path(folder));
  }
  internal::CollectTemporaries(dir.path("none"));  // nothing to collect
}

TEST(FileRefusalsTest, PathsHaveFolders) {
  const std::pair<const char*, const char*> rows[] = {
      {"a", "."}, {"a/b", "a"}, {"/a", "/"}, {"/a/b", "/a"}, {"a/b/c", "a/b"}, {"./a", "."}};
  for (const auto& [path, folder] : rows) EXPECT_EQ(internal::FolderOf(path), folder) << path;
  const TempDir dir;
  dir.Write("file", "x");
  fs::create_symlink("file", dir.path("link"));
  EXPECT_EQ(internal::ResolveLinks(dir.path("link")), fs::canonical(dir.path("file")).string());
  EXPECT_EQ(internal::ResolveLinks(dir.path("none")), dir.path("none"));
  // Without UseStandardStreams, "-" is a name like any other, and pipes are read once.
  EXPECT_FALSE(IsStandardStream("-"));
  EXPECT_FALSE(PathExists(dir.path("none")));
  EXPECT_TRUE(PathExists(dir.path("file")));
  EXPECT_TRUE(CanReadAgain(dir.path("file")));
  EXPECT_FALSE(CanReadAgain(dir.path()));
  EXPECT_FALSE(CanReadAgain(dir.path("none")));
  EXPECT_FALSE(CanReadAgain("/dev/null"));
  EXPECT_FALSE(internal::OpenKeptPipe(dir.path("file"), 1));
}

}  // namespace
}  // namespace caffe2rt::test::file_refusals_test
