// The files of a training: what checkpoints, logs, first weights and folders hold, and every error of
// them, whole.
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/io/db.h"
#include "caffe2_core/runtime/workspace.h"
#include "caffe2_core/training/checkpoint_files.h"
#include "caffe2_core/training/data_facts.h"
#include "caffe2_core/training/data_file.h"
#include "caffe2_core/training/database_copies.h"
#include "caffe2_core/training/image_records.h"
#include "caffe2_core/training/initial_weights.h"
#include "caffe2_core/training/run_folder.h"
#include "caffe2_core/training/training_log.h"
#include "caffe2_core/training/training_run.h"
#include "caffe2rt/caffe2_legacy.pb.h"
#include "caffe2rt/db_reader.pb.h"
#include "tests/caffe2_core/io/records.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::training_files_test {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

template <class Message>
Message Parsed(const std::string& text) {
  Message message;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &message)) << text;
  return message;
}

class TrainingFilesTest : public ::testing::Test {
 protected:
  // The message with the folder left out.
  std::string Error(const std::function<void()>& act) const {
    std::string message = MessageOf(act);
    const std::string folder = dir_.path() + "/";
    for (size_t at = 0; (at = message.find(folder, at)) != std::string::npos;)
      message.erase(at, folder.size());
    return message;
  }
  Names FilesIn(const std::string& folder) const {
    Names names;
    for (const fs::directory_entry& entry : fs::directory_iterator(dir_.path(folder)))
      names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }
  const TempDir dir_;
};

// --- checkpoints ---

TEST_F(TrainingFilesTest, CheckpointsThatAreNone) {
  Blob text;
  *text.GetMutable<std::string>() = "\xff";
  std::string damaged;
  SerializeBlob(text, "!train_state",
                [&](const std::string&, const std::string& value) { damaged = value; });
  Put("minidb", dir_.path("other"), db::NEW, {{"w", damaged}});
  Put("minidb", dir_.path("damaged"), db::NEW, {{"!train_state", damaged}});
  Put("minidb", dir_.path("empty"), db::NEW, {});
  const auto error = [&](const std::string& file) {
    return Error([&] { (void)ReadTrainState(dir_.path(file)); });
  };
  EXPECT_EQ(error("other"),
            "file \"other\" is not a checkpoint of caffe2 train: its first record is not "
            "\"!train_state\"");
  EXPECT_EQ(error("empty"),
            "file \"empty\" is not a checkpoint of caffe2 train: its first record is not "
            "\"!train_state\"");
  EXPECT_EQ(error("damaged"),
            "checkpoint \"damaged\" is damaged: record \"!train_state\" is not a TrainState");
}

// A reader of one of several ranks is saved as the reader of one rank at the position given.
TEST_F(TrainingFilesTest, CheckpointsHoldThePositionOfTheOnlyReader) {
  Put("minidb", dir_.path("data"), db::NEW, {{"a", "1"}, {"b", "2"}, {"c", "3"}, {"d", "4"}});
  Workspace ws;
  ws.CreateBlob("reader")->GetMutable<db::DBReader>()->Open(
      "minidb", dir_.path("data"),
      {.num_shards = 2, .shard_id = 1, .shuffle = true, .shuffle_seed = 9, .block = 2});
  const auto saved = [&](const CheckpointChanges& changes) {
    SaveCheckpoint(dir_.path("checkpoint"), ws, {"reader"}, {}, changes);
    BlobProto blob;
    EXPECT_TRUE(blob.ParseFromString(GetAll("minidb", dir_.path("checkpoint")).at("reader")));
    DBReaderState state;
    EXPECT_TRUE(state.ParseFromString(blob.content()));
    return state;
  };
  const DBReaderState own = saved({});
  EXPECT_EQ(own.num_shards(), 2);
  EXPECT_EQ(own.shard_id(), 1);
  EXPECT_EQ(own.block(), 2);
  const DBReaderState moved =
      saved({.reader_position = db::DBReaderPosition{.epoch = 3, .record = 1}});
  EXPECT_EQ(moved.source(), dir_.path("data"));
  EXPECT_EQ(moved.db_type(), "minidb");
  EXPECT_EQ(moved.epoch(), 3);
  EXPECT_EQ(moved.record(), 1);
  EXPECT_TRUE(moved.shuffle());
  EXPECT_EQ(moved.shuffle_seed(), 9u);
  EXPECT_FALSE(moved.has_key() || moved.has_num_shards() || moved.has_shard_id() ||
               moved.has_block());
  EXPECT_EQ(Error([&] {
              SaveCheckpoint(dir_.path("new"), ws, {"reader", "w"}, {});
            }),
            "blob \"w\" of the training does not exist");
  EXPECT_FALSE(fs::exists(dir_.path("new")));
}

TEST_F(TrainingFilesTest, PathsOfCheckpoints) {
  EXPECT_EQ(CheckpointPath("run", 1204), "run/checkpoint-1204");
  EXPECT_EQ(BestCheckpointPath("run"), "run/checkpoint-best");
}

// --- the log ---

TEST_F(TrainingFilesTest, LinesOfTheLogHaveSixDigits) {
  const auto loss = [](double value) {
    LogLine line{.epoch = 1, .iteration = 2};
    line.loss = value;
    return LogLineAsJson(line).substr(std::string("{\"epoch\":1,\"iteration\":2,\"loss\":").size());
  };
  EXPECT_EQ(loss(0.123456789), "0.123457}");
  EXPECT_EQ(loss(123456.75), "123457.0}");
  EXPECT_EQ(loss(-2), "-2}");
  EXPECT_EQ(loss(0), "0}");
  EXPECT_EQ(loss(999999999999999), "999999999999999}");
  EXPECT_EQ(loss(1e15), "1e+15}");
  EXPECT_EQ(loss(std::numeric_limits<double>::quiet_NaN()), "null}");
  EXPECT_EQ(loss(-std::numeric_limits<double>::infinity()), "null}");
}

TEST_F(TrainingFilesTest, AllFieldsOfALogAreReadAgain) {
  const LogLine whole{.epoch = 2,
                      .iteration = 30,
                      .loss = 0.5,
                      .accuracy = 0.25,
                      .rate = 0.125,
                      .images_per_second = 7,
                      .test_loss = 1.5,
                      .test_accuracy = 0.75,
                      .best = true};
  const std::string path = dir_.path("log");
  int64_t bytes = 0;
  {
    TrainingLog log(path, 0);
    EXPECT_EQ(log.bytes(), 0);
    log.Add(whole);
    log.Add({.epoch = 3, .iteration = 31});
    bytes = log.bytes();
    EXPECT_EQ(bytes, static_cast<int64_t>(fs::file_size(path)));
  }
  const TrainingLog log(path, bytes);
  EXPECT_EQ(log.bytes(), bytes);
  ASSERT_EQ(log.lines().size(), 2u);
  EXPECT_EQ(LogLineAsJson(log.lines()[0]), LogLineAsJson(whole));
  EXPECT_EQ(log.lines()[0].epoch, 2);
  EXPECT_EQ(log.lines()[0].iteration, 30);
  EXPECT_TRUE(log.lines()[0].best);
  EXPECT_FALSE(log.lines()[1].loss || log.lines()[1].test_accuracy || log.lines()[1].best);
  // From the beginning, nothing of the file stays.
  EXPECT_TRUE(TrainingLog(path, 0).lines().empty());
  EXPECT_EQ(ReadWholeFile(path), "");
}

TEST_F(TrainingFilesTest, DamagedLinesOfTheLog) {
  for (const std::string line :
       {"no json", "[1]", "{\"epoch\":1}", "{\"iteration\":1}", "{\"epoch\":\"1\",\"iteration\":1}",
        "{\"epoch\":1,\"iteration\":1.5}", "{\"epoch\":1,\"iteration\":null}"}) {
    const std::string path = dir_.Write("log", "{\"epoch\":1,\"iteration\":1}\n" + line + "\n");
    EXPECT_EQ(
        Error([&] { TrainingLog log(path, 1000); }),
        "log \"log\" is damaged: line \"" + line + "\" is not an object with epoch and iteration");
  }
  const TrainingLog log(
      dir_.Write("log", "{\"epoch\":1,\"iteration\":2,\"best\":1,\"loss\":\"a\"}\n"), 1000);
  ASSERT_EQ(log.lines().size(), 1u);
  EXPECT_FALSE(log.lines()[0].best || log.lines()[0].loss);
}

TEST_F(TrainingFilesTest, ALineThatCannotBeWrittenLeavesTheLogAsItWas) {
  TrainingLog log(dir_.path("log"), 0);
  log.Add({.epoch = 1, .iteration = 1});
  const int64_t bytes = log.bytes();
  fs::remove(dir_.path("log"));
  EXPECT_EQ(Error([&] { log.Add({.epoch = 1, .iteration = 2}); }),
            "cannot write to the log \"log\": No such file or directory");
  EXPECT_EQ(log.bytes(), bytes);
  EXPECT_EQ(log.lines().size(), 1u);
}

// --- first weights ---

TrainDef LineDef() {
  return Parsed<TrainDef>(R"(name: "line"
      net { op { type: "FC" input: ["data", "w", "b"] output: "y" }
            op { type: "SquaredL2Distance" input: ["y", "label"] output: "d" }
            op { type: "AveragedLoss" input: "d" output: "loss" } }
      param { name: "w" dims: [1, 2] } param { name: "b" dims: 1 })");
}

TEST_F(TrainingFilesTest, FirstWeightsHaveTheNamesAndShapesOfTheNet) {
  const auto collect = [&](const std::string& init) {
    return CollectInitialWeights(dir_.Write("init.pbtxt", init), MakeTrainingNets(LineDef()),
                                 dir_.path("weights"));
  };
  const std::string fill = "op { type: 'GivenTensorFill' output: ";
  const std::string b =
      fill + "'b' arg { name: 'shape' ints: 1 } arg { name: 'values' floats: 3 } }";
  const std::string turned = fill +
                             "'w' arg { name: 'shape' ints: [2, 1] } "
                             "arg { name: 'values' floats: [1, 2] } }";
  const InitialWeights one = collect("name: 'i' " + b);
  EXPECT_EQ(one.found, Names({"b"}));
  EXPECT_EQ(one.not_found, Names({"w"}));
  const InitialWeights other = collect("name: 'i' " + turned + b);
  EXPECT_EQ(other.found, Names({"b"}));
  EXPECT_EQ(other.not_found, Names({"w (has [2, 1], want [1, 2])"}));
  const Records records = GetAll("minidb", dir_.path("weights"));
  ASSERT_EQ(records.size(), 1u);
  Blob blob;
  EXPECT_EQ(BlobNameFromKey(records.begin()->first), "b");
  DeserializeBlob(records.begin()->second, &blob);
  EXPECT_EQ(blob.Get<Tensor>().data<float>()[0], 3);
  // A database of weights, with a blob that the net does not have.
  Workspace ws;
  Feed<float>(&ws, "w", {1, 2}, {4, 5});
  Feed<int32_t>(&ws, "b", {1}, {4});
  Feed<float>(&ws, "more", {1}, {4});
  SaveCheckpoint(dir_.path("database"), ws, {"w", "b", "more"}, {});
  const InitialWeights loaded = CollectInitialWeights(
      dir_.path("database"), MakeTrainingNets(LineDef()), dir_.path("weights"));
  EXPECT_EQ(loaded.found, Names({"w"}));
  EXPECT_EQ(loaded.not_found, Names({"b (has [1], want [1])"}));  // of another type
  fs::remove(dir_.path("weights"));
  EXPECT_EQ(Error([&] { (void)collect("name: 'i' " + turned); }),
            "\"init.pbtxt\" has none of the parameters with its shape: w (has [2, 1], want [1, "
            "2]), b");
  EXPECT_FALSE(fs::exists(dir_.path("weights")));
}

// A large tensor is several records of a database; the net of a file opens no other files.
TEST_F(TrainingFilesTest, FirstWeightsMayBeInParts) {
  Workspace ws;
  Feed<float>(&ws, "w", {1, 2}, {4, 5});
  Feed<float>(&ws, "b", {1}, {6});
  const int64_t before = GlobalSerializationSettings().tensor_chunk_size;
  GlobalSerializationSettings().tensor_chunk_size = 1;
  SaveCheckpoint(dir_.path("parts"), ws, {"w", "b"}, {});
  GlobalSerializationSettings().tensor_chunk_size = before;
  ASSERT_GT(GetAll("minidb", dir_.path("parts")).size(), 3u);  // with the state
  const TrainingNets nets = MakeTrainingNets(LineDef());
  const InitialWeights found =
      CollectInitialWeights(dir_.path("parts"), nets, dir_.path("weights"));
  EXPECT_EQ(found.found, Names({"w", "b"}));
  EXPECT_EQ(found.not_found, Names());
  const Records records = GetAll("minidb", dir_.path("weights"));
  ASSERT_EQ(records.size(), 2u);
  Blob w;
  for (const auto& [key, value] : records) {
    if (BlobNameFromKey(key) == "w") DeserializeBlob(value, &w);
  }
  ASSERT_TRUE(w.IsType<Tensor>());
  EXPECT_EQ(w.Get<Tensor>().dims(), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(w.Get<Tensor>().data<float>()[0], 4);
  EXPECT_EQ(w.Get<Tensor>().data<float>()[1], 5);
  const std::string load = dir_.Write(
      "load.pbtxt",
      "op { type: 'Load' output: 'w' arg { name: 'db' s: '" + dir_.path("parts") +
          "' } arg { name: 'db_type' s: 'minidb' } arg { name: 'absolute_path' i: 1 } }");
  EXPECT_NE(Error([&] {
              (void)CollectInitialWeights(load, nets, dir_.path("other"));
            }).find("may not read"),
            std::string::npos);
  EXPECT_FALSE(fs::exists(dir_.path("other")));
}

TEST_F(TrainingFilesTest, FreshFillsKeepTheShapes) {
  NetDef init = Parsed<NetDef>(R"(
      op { type: "GivenTensorFill" name: "n" output: "w" arg { name: "shape" ints: [2, 3] }
           arg { name: "values" floats: [1, 2, 3, 4, 5, 6] } }
      op { type: "GivenTensorFill" output: "b" arg { name: "shape" ints: 2 }
           arg { name: "values" floats: [1, 2] } }
      op { type: "GivenTensorIntFill" output: "i" arg { name: "shape" ints: [1, 1] }
           arg { name: "values" ints: 1 } }
      op { type: "ConstantFill" output: "c" }
      op { type: "GivenTensorFill" output: "epsilon" arg { name: "shape" }
           arg { name: "values" floats: 0.5 } }
      op { type: "GivenTensorFill" output: ["p", "q"] arg { name: "shape" ints: 1 } })");
  const OperatorDef ints = init.op(2), constant = init.op(3), scalar = init.op(4), two = init.op(5);
  UseFreshFills(&init);
  ASSERT_EQ(init.op_size(), 6);
  EXPECT_EQ(init.op(4).ShortDebugString(), scalar.ShortDebugString());
  EXPECT_EQ(
      init.op(0).ShortDebugString(),
      "output: \"w\" name: \"n\" type: \"XavierFill\" arg { name: \"shape\" ints: 2 ints: 3 }");
  EXPECT_EQ(init.op(1).ShortDebugString(),
            "output: \"b\" name: \"\" type: \"ConstantFill\" arg { name: \"shape\" ints: 2 }");
  EXPECT_EQ(init.op(2).ShortDebugString(), ints.ShortDebugString());
  EXPECT_EQ(init.op(3).ShortDebugString(), constant.ShortDebugString());
  // Running it reports its outputs.
  EXPECT_EQ(init.op(5).ShortDebugString(), two.ShortDebugString());
}

// --- the folder of a run ---

TEST_F(TrainingFilesTest, FoldersOfRuns) {
  const auto create = [&](const std::string& folder) {
    return Error([&] { CreateRunFolder(dir_.path(folder)); });
  };
  const std::string nothing = "(nothing was thrown)";
  EXPECT_EQ(create("a/b/c"), nothing);
  EXPECT_TRUE(fs::is_directory(dir_.path("a/b/c")));
  EXPECT_EQ(create("a/b/c"), nothing);  // empty
  dir_.Write("a/b/c/notes", "");
  EXPECT_EQ(create("a/b/c"), "\"a/b/c\" exists; choose another folder");
  WriteRunDef(Parsed<RunDef>("epochs: 7"), dir_.path("a/b/c"));
  EXPECT_EQ(create("a/b/c"),
            "\"a/b/c\" exists; choose another folder, or go on with caffe2 train --resume a/b/c");
  EXPECT_EQ(create("a/b/c/notes"), "\"a/b/c/notes\" exists; choose another folder");
  EXPECT_EQ(create("a/b/c/notes/x"), "cannot create the folder \"a/b/c/notes/x\": Not a directory");
  EXPECT_EQ(ReadRunDef(dir_.path("a/b/c")).epochs(), 7);
  EXPECT_EQ(Error([&] { (void)ReadRunDef(dir_.path("a")); }),
            "\"a\" is not the folder of a training: it has no run.pbtxt");
  for (const char* name : {"log.jsonl", "init.minidb", "checkpoint-0", "checkpoint-1"})
    dir_.Write(std::string("a/b/c/") + name, "");
  RemoveRunFolder(dir_.path("a/b/c"), dir_.path("a/b/c/checkpoint-0"));
  EXPECT_EQ(FilesIn("a/b/c"), Names({"checkpoint-1", "notes"}));
  fs::remove(dir_.path("a/b/c/checkpoint-1"));
  fs::remove(dir_.path("a/b/c/notes"));
  RemoveRunFolder(dir_.path("a/b/c"), "");
  EXPECT_EQ(FilesIn("a"), Names({"b"}));
  EXPECT_FALSE(fs::exists(dir_.path("a/b/c")));
}

TEST_F(TrainingFilesTest, ATestNeedsACheckpoint) {
  WriteRunDef(Parsed<RunDef>("epochs: 7"), dir_.path());
  EXPECT_EQ(MessageOf([&] {
              (void)TestRun(dir_.path(), {"minidb", "x"});
            }),
            "\"" + dir_.path() + "\" has no checkpoint");
}

// --- records ---

TEST_F(TrainingFilesTest, DatabasesThatCannotBeUsed) {
  CaffeDatum floats;
  floats.set_channels(1);
  floats.set_height(1);
  floats.set_width(1);
  floats.add_float_data(1);
  Put("minidb", dir_.path("floats"), db::NEW, {{"k", floats.SerializeAsString()}});
  Put("minidb", dir_.path("two"), db::NEW, {{"a", "1"}, {"b", "2"}});
  Put("minidb", dir_.path("none"), db::NEW, {});
  dir_.Write("text", "no database");
  const auto copy = [&](const std::string& from) {
    return Error([&] { CopyDatabase({"minidb", dir_.path(from)}, {"minidb", dir_.path("to")}); });
  };
  const auto split = [&](int parts) {
    return Error([&] { SplitDatabase({"minidb", dir_.path("two")}, parts, dir_.path("part")); });
  };
  const auto facts = [&](const std::string& file, const std::string& type) {
    return Error([&] { (void)ReadDataFacts({type, dir_.path(file)}); });
  };
  EXPECT_EQ(
      copy("floats"),
      "record \"k\" is a Datum of floats, want one of bytes; caffe2 convert writes its floats "
      "as tensors");
  EXPECT_EQ(copy("none"), "records of the database \"none\": got 0, want more than 0");
  EXPECT_EQ(split(3), "records of the last of 3 parts of \"two\": got 0, want more than 0");
  EXPECT_EQ(split(0), "parts of the database \"two\": got 0, want more than 0");
  EXPECT_EQ(split(-1), "parts of the database \"two\": got -1, want more than 0");
  EXPECT_EQ(facts("none", "minidb"), "database \"none\" has no record");
  EXPECT_EQ(
      facts("two", "minidb"),
      "record \"a\" of database \"two\" is not a TensorProtos with tensors, as caffe2 db make "
      "writes them");
  EXPECT_EQ(FilesIn(""), Names({"floats", "none", "text", "two"}));
  EXPECT_EQ(split(2), "(nothing was thrown)");
}

TEST_F(TrainingFilesTest, ListsOfImagesThatCannotBeRead) {
  const auto list = [&](const std::string& text) {
    return Error([&] { (void)ReadImageList(dir_.Write("list", text), ""); });
  };
  const std::string want = "\", want a path and the number of its class";
  EXPECT_EQ(list("a.png 1\nb.png\n"), "line 2 of \"list\" is \"b.png" + want);
  EXPECT_EQ(list("\n\na.png 1x  "), "line 3 of \"list\" is \"a.png 1x" + want);
  EXPECT_EQ(list(" 3\n"), "line 1 of \"list\" is \" 3" + want);
  EXPECT_EQ(list("\t 3"), "line 1 of \"list\" is \"\t 3" + want);
  EXPECT_EQ(list(" \r\n\n"), "file \"list\" names no image");
  EXPECT_EQ(list("a.png 1"), "(nothing was thrown)");
  dir_.Write("classes/rose/notes.txt", "");
  fs::create_directory(dir_.path("none"));
  const auto folder = [&](const std::string& name) {
    return Error([&] { (void)ListClassFolders(dir_.path(name)); });
  };
  EXPECT_EQ(folder("classes"),
            "images (.jpg, .jpeg or .png) in the folder \"classes/rose\" of a class: got 0, want "
            "more than 0");
  EXPECT_EQ(folder("none"),
            "folder \"none\" has no folders, want one for each class, with its images");
  EXPECT_EQ(folder("nosuch"), "cannot open folder \"nosuch\": No such file or directory");
}

TEST_F(TrainingFilesTest, CompressedDataWithAnError) {
  using std::string_literals::operator""s;
  // A header of gzip and a block of the type 3, which does not exist.
  DataFile file(dir_.Write("f.gz", "\x1f\x8b\x08\0\0\0\0\0\0\3\xff\xff"s));
  char byte = 0;
  EXPECT_EQ(Error([&] { file.Read(&byte, 1, "a byte"); }),
            "file \"f.gz\" is damaged: the compressed data end in an error at byte 0 of their "
            "content");
  DataFile plain(dir_.Write("f", "\1\2\3\4\x1f"s));
  EXPECT_EQ(plain.ReadBigEndian("n"), 0x01020304u);
  EXPECT_EQ(Error([&] { (void)plain.ReadBigEndian("n"); }),
            "bytes of n missing in \"f\", which ends at byte 5: got 3, want 0");
  DataFile empty(dir_.Write("e", ""));
  EXPECT_TRUE(empty.Read(&byte, 0, "nothing"));
  EXPECT_FALSE(empty.Read(&byte, 1, "a byte"));
  EXPECT_EQ(Error([&] { empty.ReadAll(&byte, 1, "a byte"); }),
            "file \"e\" ends at byte 0, want a byte of 1 bytes there");
  EXPECT_NO_THROW(empty.ExpectEnd("nothing"));
}

}  // namespace
}  // namespace caffe2rt::test::training_files_test
