#include "caffe2_core/training/checkpoint_files.h"

#include <algorithm>
#include <filesystem>
#include <memory>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/io/db.h"
#include "caffe2_core/runtime/workspace.h"
#include "caffe2rt/db_reader.pb.h"

namespace caffe2rt {
namespace {

namespace fs = std::filesystem;

constexpr char kStateBlob[] = "!train_state";
constexpr char kPrefix[] = "checkpoint-";
constexpr char kType[] = "minidb";

// The serialized reader, at another position, and without shards.
std::string ReaderAt(const std::string& serialized, const db::DBReaderPosition& position) {
  BlobProto blob;
  DBReaderState reader;
  CAFFE_ENFORCE(blob.ParseFromString(serialized) && reader.ParseFromString(blob.content()),
                "the state of a reader of a database cannot be parsed");
  for (const auto clear : {&DBReaderState::clear_key, &DBReaderState::clear_num_shards,
                           &DBReaderState::clear_shard_id, &DBReaderState::clear_block})
    (reader.*clear)();
  reader.set_epoch(position.epoch);
  reader.set_record(position.record);
  blob.set_content(reader.SerializeAsString());
  return blob.SerializeAsString();
}

}  // namespace

void SaveCheckpoint(const std::string& path, const Workspace& ws,
                    const std::vector<std::string>& blobs, const TrainState& state,
                    const CheckpointChanges& changes) {
  const std::unique_ptr<db::DB> database = db::OpenDB(kType, path, db::NEW);
  const std::unique_ptr<db::Transaction> transaction = database->NewTransaction();
  const auto put = [&](const std::string& key, const std::string& value) {
    transaction->Put(key, value);
  };
  Blob text;
  *text.GetMutable<std::string>() = state.SerializeAsString();
  SerializeBlob(text, kStateBlob, put);
  for (const std::string& name : blobs) {
    const auto value = changes.values_of.find(name);
    const Blob* const blob =
        ws.FindBlob(value != changes.values_of.end() ? value->second : name).get();
    CAFFE_ENFORCE(blob != nullptr, "blob \"", name, "\" of the training does not exist");
    if (changes.reader_position && blob->IsType<db::DBReader>()) {
      SerializeBlob(*blob, name, [&](const std::string& key, const std::string& text) {
        put(key, ReaderAt(text, *changes.reader_position));
      });
    } else {
      SerializeBlob(*blob, name, put);
    }
  }
  transaction->Commit();
}

TrainState ReadTrainState(const std::string& path) {
  const std::unique_ptr<db::DB> database = db::OpenDB(kType, path, db::READ);
  const std::unique_ptr<db::Cursor> cursor = database->NewCursor();
  CAFFE_ENFORCE(cursor->Valid() && cursor->key() == kStateBlob, "file \"", path,
                "\" is not a checkpoint of caffe2 train: its first record is not \"", kStateBlob,
                "\"");
  Blob blob;
  DeserializeBlob(cursor->value(), &blob);
  TrainState state;
  CAFFE_ENFORCE(blob.IsType<std::string>() && state.ParseFromString(blob.Get<std::string>()),
                "checkpoint \"", path, "\" is damaged: record \"", kStateBlob,
                "\" is not a TrainState");
  return state;
}

std::vector<CheckpointFile> CheckpointsOf(const std::string& folder) {
  std::vector<CheckpointFile> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    int64_t iteration = 0;
    if (!entry.is_regular_file() || !name.starts_with(kPrefix) ||
        !ParseNumber(std::string_view(name).substr(sizeof(kPrefix) - 1), &iteration))
      continue;
    files.push_back({entry.path().string(), iteration});
  }
  std::sort(files.begin(), files.end(), [](const CheckpointFile& a, const CheckpointFile& b) {
    return a.iteration < b.iteration;
  });
  return files;
}

std::string CheckpointPath(const std::string& folder, int64_t iteration) {
  return MakeString(folder, "/", kPrefix, iteration);
}

std::string BestCheckpointPath(const std::string& folder) {
  return MakeString(folder, "/", kPrefix, "best");
}

void RemoveOldCheckpoints(const std::string& folder, int keep) {
  const std::vector<CheckpointFile> files = CheckpointsOf(folder);
  for (size_t i = 0; i + static_cast<size_t>(keep) < files.size(); ++i) {
    std::error_code error;
    fs::remove(files[i].path, error);
    CAFFE_ENFORCE(!error, "cannot remove \"", files[i].path, "\": ", error.message());
  }
}

}  // namespace caffe2rt
