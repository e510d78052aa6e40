// Every function that reads, writes or converts files while allocations fail: it throws
// EnforceNotMet, or does what it would have done, and gives the right result when it is called
// again.
#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/io/db.h"
#include "caffe2_core/io/file_kind.h"
#include "caffe2_core/io/image.h"
#include "caffe2_core/io/net_weights.h"
#include "caffe2_core/io/npy.h"
#include "caffe2_core/io/npy_streams.h"
#include "caffe2_core/io/proto_file.h"
#include "tests/caffe2_core/runtime/io_without_memory.h"
#include "tests/support/operator_test.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::allocation_failure_io_test {
namespace {

using test::IoRow;
using test::IoWithoutMemoryTest;
using test::Own;
using test::ParseNet;
using test::TempDir;

TEST_F(IoWithoutMemoryTest, ConvertsImages) {
  const Image image{.width = 3, .height = 2, .rgb = std::vector<uint8_t>(18, 90)};
  const std::string png = dir_.path("a.png"), jpeg = dir_.path("a.jpg");
  const ImageTransform small{.resize_to = {2, 2}, .crop_to = {2, 1}};
  Image out;
  Tensor tensor(CPU), planes = Floats({1, 3, 2, 2});
  const auto grey = [&](int width, int height) {
    return out.width == width && out.height == height &&
           out.rgb == std::vector<uint8_t>(static_cast<size_t>(3 * width * height), 90);
  };
  std::vector<IoRow> rows;
  for (const Interpolation way : {Interpolation::kNearest, Interpolation::kLinear,
                                  Interpolation::kCubic, Interpolation::kArea, Interpolation::kBox})
    rows.push_back({"ResizeImage", [&, way] { out = ResizeImage(image, 2, 3, way); },
                    [&] { return grey(2, 3); }});
  rows.insert(
      rows.end(),
      {{"ResizedAndCropped", [&] { out = ResizedAndCropped(Own([&] { return image; }), small); },
        [&] { return grey(2, 1); }},
       {"ImageToTensor", [&] { tensor = ImageToTensor(image, small); },
        [&] {
          return tensor.dims() == std::vector<int64_t>{1, 3, 1, 2};
        }},
       {"ImageToBgra", [&] { tensor = ImageToBgra(image, small); },
        [&] {
          return tensor.dims() == std::vector<int64_t>{1, 1, 2, 4};
        }},
       {"TensorToImage", [&] { out = TensorToImage(planes); },
        [&] { return out.rgb == std::vector<uint8_t>{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11}; }},
       {"SavePng",
        [&] {
          unlink(png.c_str());
          SavePng(png, image);
        },
        [&] { return LoadImage(png).rgb == image.rgb; }, true},
       {"SaveJpeg",
        [&] {
          unlink(jpeg.c_str());
          SaveJpeg(jpeg, image);
        },
        [&] { return LoadImage(jpeg).width == 3; }, true},
       {"SaveImage",
        [&] {
          unlink(png.c_str());
          SaveImage(png, image);
        },
        [&] { return LoadImage(png).rgb == image.rgb; }, true},
       {"LoadImage", [&] { out = LoadImage(png); }, [&] { return grey(3, 2); }}});
  SweepRows(rows);
}

TEST_F(IoWithoutMemoryTest, WritesAndParsesArrays) {
  const Tensor floats = Floats({2, 3});
  Tensor strings(std::vector<int64_t>{2}, CPU), out(CPU);
  strings.mutable_data<std::string>()[1] = long_;
  const std::string path = dir_.path("a.npy"), bytes = NpyBytes(floats);
  // Fortran order: the elements in the file are those of the transposed array.
  std::string fortran = bytes;
  fortran.replace(fortran.find("False"), 5, "True ");
  std::string text;
  SweepRows({{"NpyBytes", [&] { text = NpyBytes(floats); }, [&] { return text == bytes; }},
             {"NpyBytes of strings", [&] { text = NpyBytes(strings); },
              [&] { return text.find("'|S40'") != std::string::npos; }},
             {"WriteNpy",
              [&] {
                unlink(path.c_str());
                WriteNpy(path, floats);
              },
              [&] { return ReadWholeFile(path) == bytes; }, true},
             {"ReadNpy", [&] { out = ReadNpy(path); }, [&] { return NpyBytes(out) == bytes; }},
             {"ParseNpy", [&] { out = ParseNpy(fortran, long_); },
              [&] { return out.data<float>()[1] == 2 && out.data<float>()[3] == 1; }}});
}

// The object is used again after an error, as if the call had not been made.
TEST_F(IoWithoutMemoryTest, GoesOnWithStreamsOfArrays) {
  const std::string path = dir_.path("a.npz"), rows_path = dir_.path("a.npy");
  const Tensor two = Floats({2, 3}), one = Floats({1, 3});
  const std::string name_a = long_ + "a", name_b = long_ + "b";
  struct Streams {
    std::optional<NpzStream> archive;
    std::optional<NpyRows> rows;
    int step = 0;
  };
  const std::vector<std::function<void(Streams&)>> of_archive = {
      [&](Streams& s) { Own([&] { s.archive.emplace(path); }); },
      [&](Streams& s) { s.archive->Add(name_a, two); },
      [&](Streams& s) { s.archive->Add(name_b, one); }, [&](Streams& s) { s.archive->Finish(); }};
  const std::vector<std::function<void(Streams&)>> of_rows = {
      [&](Streams& s) { Own([&] { s.rows.emplace(rows_path); }); },
      [&](Streams& s) { s.rows->Add(two); }, [&](Streams& s) { s.rows->Add(one); },
      [&](Streams& s) { s.rows->Finish(); }};
  for (const auto* steps : {&of_archive, &of_rows}) {
    SetStride("5");
    Sweep([&] {
      return test::On<Streams>(
          std::make_shared<Streams>(),
          [&, steps](Streams& s) {
            for (; s.step < static_cast<int>(steps->size()); ++s.step)
              (*steps)[static_cast<size_t>(s.step)](s);
          },
          [&, steps](Streams&) {
            if (steps == &of_archive) {
              const NamedTensors read = ReadNpz(path);
              ASSERT_EQ(read.size(), 2u);
              EXPECT_EQ(read[0].first, name_a);
              EXPECT_EQ(NpyBytes(read[0].second), NpyBytes(two));
              EXPECT_EQ(NpyBytes(read[1].second), NpyBytes(one));
            } else {
              const Tensor read = ReadNpy(rows_path);
              ASSERT_EQ(read.dims(), (std::vector<int64_t>{3, 3}));
              EXPECT_EQ(read.data<float>()[5], 5);
              EXPECT_EQ(read.data<float>()[8], 2);
            }
          });
    });
  }
}

TEST_F(IoWithoutMemoryTest, ReadsAndWritesMessages) {
  NetDef net, out;
  net.set_name(long_);
  net.add_op()->set_type("Relu");
  net.mutable_op(0)->add_input(long_);
  const std::string bytes = net.SerializeAsString(), path = dir_.path("n.pb"),
                    text_path = dir_.path("n.pbtxt"), want = ProtoToText(net);
  const std::string blobs = dir_.Write(
      "blobs.pbtxt", "# key: a\nname: \"" + long_ + "\" type: \"x\"\n# key: b\nname: \"b\"\n");
  std::string text;
  std::vector<BlobProto> read;
  bool fine = false, failed = false;
  const auto same = [&] { return out.SerializeAsString() == bytes; };
  const auto is_text = [&] { return text == want; };
  SweepRows({{"ProtoToText", [&] { text = ProtoToText(net); }, is_text},
             {"ProtoToBinary", [&] { text = ProtoToBinary(net); }, [&] { return text == bytes; }},
             {"ProtoDebugString", [&] { text = ProtoDebugString(net); },
              [&] { return text.find("Relu") != std::string::npos; }},
             {"HasUnknownFields", [&] { fine = !HasUnknownFields(net); }, [&] { return fine; }},
             {"WriteProtoToBinaryFile",
              [&] {
                unlink(path.c_str());
                WriteProtoToBinaryFile(net, path);
              },
              [&] { return ReadWholeFile(path) == bytes; }, true},
             {"WriteProtoToTextFile",
              [&] {
                unlink(text_path.c_str());
                WriteProtoToTextFile(net, text_path);
              },
              [&] { return ReadWholeFile(text_path) == want; }, true},
             {"WriteProtoToTextFile, quietly",
              [&] {
                unlink(text_path.c_str());
                WriteProtoToTextFile(net, text_path, false);
              },
              [&] { return ReadWholeFile(text_path) == want; }, true, true},
             {"ParseTextProto",
              [&] {
                out.Clear();
                ParseTextProto(want, long_, &out);
              },
              same},
             {"ParseBinaryProto",
              [&] {
                out.Clear();
                ParseBinaryProto(bytes, long_, &out);
              },
              same},
             {"ParseBinaryProto of no message",
              [&] {
                failed = false;
                try {
                  ParseBinaryProto("\x0c", long_, &out);
                } catch (const EnforceNotMet&) {
                  failed = true;
                }
              },
              [&] { return failed; }},
             {"ParseProto of text",
              [&] {
                out.Clear();
                ParseProto(want, long_, &out);
              },
              same},
             {"ParseProto of bytes",
              [&] {
                out.Clear();
                ParseProto(bytes, long_, &out);
              },
              same},
             {"LoadBlobProtos", [&] { read = LoadBlobProtos(blobs); },
              [&] { return read.size() == 2 && read[0].name() == long_ && read[1].name() == "b"; }},
             {"ReadStringFromFile", [&] { fine = ReadStringFromFile(text_path.c_str(), &text); },
              [&] { return fine && is_text(); }, false, true},
             {"WriteStringToFile",
              [&] {
                unlink(text_path.c_str());
                fine = WriteStringToFile(want, text_path.c_str());
              },
              [&] { return fine && ReadWholeFile(text_path) == want; }, true, true},
             {"ParseProtoFromText", [&] { fine = ParseProtoFromText(want, &out); },
              [&] { return fine && same(); }, false, true},
             {"ParseProtoFromLargeString", [&] { fine = ParseProtoFromLargeString(bytes, &out); },
              [&] { return fine && same(); }, false, true},
             {"ReadProtoFromTextFile", [&] { fine = ReadProtoFromTextFile(text_path, &out); },
              [&] { return fine && same(); }, false, true},
             {"ReadProtoFromBinaryFile", [&] { fine = ReadProtoFromBinaryFile(path, &out); },
              [&] { return fine && same(); }, false, true},
             {"ReadProtoFromFile", [&] { fine = ReadProtoFromFile(text_path, &out); },
              [&] { return fine && same(); }, false, true},
             {"DetectContentKind",
              [&] {
                failed = DetectContentKind(bytes, static_cast<int64_t>(bytes.size())).kind !=
                         FileKind::kNetDef;
              },
              [&] { return !failed; }, false, true},
             {"DetectFileKind", [&] { failed = DetectFileKind(path).kind != FileKind::kNetDef; },
              [&] { return !failed; }, false, true},
             {"WriteFileAtomically",
              [&] {
                unlink(path.c_str());
                WriteFileAtomically(path, bytes);
              },
              [&] { return ReadWholeFile(path) == bytes; }, true}});
}

TEST_F(IoWithoutMemoryTest, ReadsAndRestoresWeights) {
  const std::string bytes = ParseNet(R"(op { output: "w" type: "GivenTensorFill"
                  arg { name: "values" floats: 10 floats: 20 } })")
                                .SerializeAsString();
  const std::string path = dir_.Write("init.pb", bytes);
  std::optional<NetWithWeights> net;
  const auto found = [&] {
    return net.has_value() && net->weights.size() == 1 &&
           net->weights[0].values.data<float>()[1] == 20;
  };
  // The message and the weights alone are both right: weights may have been restored before the
  // error.
  const auto restored = [&] {
    return net->weights.empty() && net->net.SerializeAsString() == bytes;
  };
  SweepRows({{"of memory", [&] { net = ReadNetWithWeightsFromMemory(bytes); }, found, false, true},
             {"of a file", [&] { net = ReadNetWithWeights(path); }, found, false, true},
             {"restored",
              [&] {
                net = ReadNetWithWeightsFromMemory(bytes);
                if (net.has_value()) RestoreWeights(&*net);
              },
              restored, false, true}});
}

TEST_F(IoWithoutMemoryTest, ReadsDatabases) {
  const std::string path = dir_.path("db");
  {
    const auto database = db::OpenDB("minidb", path, db::NEW);
    const auto transaction = database->NewTransaction();
    for (const char* key : {"1", "2", "3"}) transaction->Put(long_ + key, long_);
  }
  const db::DBReaderOptions shuffled{.shuffle = true, .shuffle_seed = 2};
  std::unique_ptr<db::DB> database;
  std::optional<db::DBReader> reader;
  DBReaderProto proto = db::DBReader("minidb", path, shuffled).ToProto(long_);
  std::string key, value;
  int64_t records = 0;
  bool exists = false;
  const auto reads = [&](const std::string& want) {
    reader->Read(&key, &value);
    return key == want && value == long_;
  };
  const auto open = [&] { reader.emplace("minidb", path); };
  SweepRows({{"CreateDB", [&] { database = db::CreateDB("minidb", path, db::READ); },
              [&] { return database->NewCursor()->key() == long_ + "1"; }},
             {"DBExists", [&] { exists = db::DBExists("minidb", path); }, [&] { return exists; },
              false, true},
             {"an open database", [&] { reader.emplace(db::OpenDB("minidb", path, db::READ)); },
              [&] { return reads(long_ + "1"); }},
             {"Open",
              [&] {
                open();
                reader->Open("minidb", path, shuffled);
              },
              [&] { return reads(proto.key()); }},
             {"ToProto",
              [&] {
                reader.emplace("minidb", path, shuffled);
                proto = reader->ToProto(long_);
              },
              [&] { return reads(proto.key()) && proto.name() == long_; }},
             {"a proto", [&] { reader.emplace(proto); }, [&] { return reads(proto.key()); }},
             {"NumRecords",
              [&] {
                open();
                records = reader->NumRecords();
              },
              [&] { return records == 3 && reads(long_ + "1"); }},
             {"SeekToFirst",
              [&] {
                open();
                (void)reads("");
                reader->SeekToFirst();
              },
              [&] { return reads(long_ + "1"); }},
             {"Read",
              [&] {
                open();
                (void)reads("");
                (void)reads("");
              },
              [&] { return key == long_ + "2" && reads(long_ + "3"); }}});
}

}  // namespace
}  // namespace caffe2rt::allocation_failure_io_test
