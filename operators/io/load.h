#pragma once
// Load: fills blobs from one or more databases that Save wrote.
//   inputs: none, or DBReaders, which are read from their current positions
//   outputs: the blobs; none with load_all
// Tensors are loaded to the operator's device, strings to the CPU.
//
// The key of a record is NAME or NAME#%chunk; the key determines the blob, not the name inside the
// record. A blob is reset when its first record is read. It is an error if a part of a blob is
// missing or occurs twice, or if a blob is in two databases.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/io/db.h"
#include "caffe2_core/io/file_access.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2_core/runtime/operator.h"
#include "operators/io/save.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<std::string> kAddPrefix{"add_prefix", "",
                                                      "prefix to add to the names in the database"};
inline constexpr ArgumentSpec<std::string> kLoadedPath{
    "db", "", "path of the database; required if there are no inputs and no dbs"};
inline constexpr RepeatedArgumentSpec<std::string> kLoadedPaths{
    "dbs", "paths of several databases, instead of db"};
inline constexpr ArgumentSpec<int> kKeepDevice{
    "keep_device", 0,
    "1: load each tensor to the device that its record names, 0: to the operator's device"};
inline constexpr ArgumentSpec<int> kLoadAll{"load_all", 0, "1: load all blobs of the database"};
inline constexpr ArgumentSpec<bool> kAllowIncomplete{
    "allow_incomplete", false, "1: it is not an error if outputs are missing in the database"};
inline constexpr RepeatedArgumentSpec<std::string> kSourceBlobNames{
    "source_blob_names", "names in the database, one for each output; default: the output names"};

// Whether the elements of the record can be on a device. Types with constructors are always on the
// CPU.
inline bool CanBeOnDevice(const TensorProto& record) {
  return record.data_type() != TensorProto::STRING && record.data_type() != TensorProto::UNDEFINED;
}

// Tracks how much of each blob has been read.
class [[gnu::visibility("default")]] LoadedBlobs {
 public:
  // Adds a record to the blob; returns whether the blob is now complete. THROWS if the record does
  // not match the records of this blob that were read before.
  bool Add(const std::string& name, const BlobProto& proto, Blob* blob);
  // THROWS if a part of a blob is missing.
  void CheckWhole() const;
  bool Has(const std::string& name) const { return states_.contains(name); }

 private:
  struct State {
    int64_t total = 1;  // elements of a segmented tensor, otherwise records
    int64_t read = 0;
    std::set<int> chunks;  // ids of the content chunks that were read
  };
  std::map<std::string, State> states_;
};

#pragma GCC visibility push(default)  // for libcaffe2_cuda
// Opens a database that a net names as `name`. THROWS as db::OpenDB does; the error names the
// folders in which a relative path was sought.
std::unique_ptr<db::DB> OpenDatabase(const FileAccess& access, const std::string& type,
                                     const std::string& name, const std::string& path);
#pragma GCC visibility pop

template <class Context>
class LoadOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  LoadOp(const OperatorDef& def, Workspace* ws);
  bool RunOnDevice() override;

 private:
  struct Progress {
    LoadedBlobs blobs;
    std::map<std::string, int> database_of;  // index of the database, by blob name
    int whole = 0;                           // number of complete blobs
  };
  void ReadDatabase(int index, db::Cursor* cursor, Progress* progress);
  void ReadRecord(int index, const std::string& name, db::Cursor* cursor, Progress* progress);
  void CheckOutputs(const Progress& progress) const;
  std::string BlobName(const std::string& key) const {
    return add_prefix_ + WithoutPrefix(BlobNameFromKey(key), strip_prefix_);
  }

  const bool absolute_path_;
  const std::string add_prefix_;
  const std::string strip_prefix_;
  const std::string db_name_;
  std::vector<std::string> db_names_;
  const std::string db_type_;
  const bool keep_device_;
  const bool load_all_;
  const bool allow_incomplete_;
  std::vector<std::string> names_;           // names in the database, one for each output
  std::map<std::string, int> output_index_;  // index of the output, by name in the database
};

template <class Context>
LoadOp<Context>::LoadOp(const OperatorDef& def, Workspace* ws)
    : Operator<Context>(def, ws),
      absolute_path_(this->ReadArgument(kDatabaseIsAbsolute) != 0),
      add_prefix_(this->ReadArgument(kAddPrefix)),
      strip_prefix_(this->ReadArgument(kStripPrefix)),
      db_name_(this->ReadArgument(kLoadedPath)),
      db_names_(this->ReadArgument(kLoadedPaths)),
      db_type_(this->ReadArgument(kDatabaseType)),
      keep_device_(this->ReadArgument(kKeepDevice) != 0),
      load_all_(this->ReadArgument(kLoadAll) != 0),
      allow_incomplete_(this->ReadArgument(kAllowIncomplete)),
      names_(this->ReadArgument(kSourceBlobNames)) {
  if (def.input_size() == 0) {
    CAFFE_ENFORCE(!db_type_.empty(), "Must specify a db type.");
    if (db_names_.empty()) {
      CAFFE_ENFORCE(!db_name_.empty(), "Must specify a db name.");
      db_names_.push_back(db_name_);
    }
  }
  CAFFE_ENFORCE(names_.empty() || names_.size() == static_cast<size_t>(def.output_size()),
                "argument source_blob_names has ", names_.size(), " names, want ",
                def.output_size(), ": one per output");
  CAFFE_ENFORCE(names_.empty() || strip_prefix_.empty(),
                "strip_prefix and source_blob_names are mutually exclusive.");
  CAFFE_ENFORCE(names_.empty() || !load_all_, "cannot load_all_ while using source_blob_names.");
  if (names_.empty()) names_.assign(def.output().begin(), def.output().end());
  for (size_t i = 0; i < names_.size(); ++i) {
    CAFFE_ENFORCE(output_index_.emplace(names_[i], static_cast<int>(i)).second,
                  "Duplicated source blob name: ", names_[i]);
  }
}

template <class Context>
bool LoadOp<Context>::RunOnDevice() {
  // The device may still read the old contents of the blobs.
  this->context_.FinishDeviceComputation();
  // Deserialized records may open databases.
  const FileAccessScope scope(this->workspace()->file_access());
  Progress progress;
  if (this->InputSize() > 0) {
    for (int i = 0; i < this->InputSize(); ++i) {
      db::Cursor* cursor = OperatorBase::Input<db::DBReader>(i).cursor();
      CAFFE_ENFORCE(cursor != nullptr, "input ", i, " is a reader that was not opened");
      ReadDatabase(i, cursor, &progress);
    }
  } else {
    for (size_t i = 0; i < db_names_.size(); ++i) {
      const Workspace& ws = *this->workspace();
      const std::string path =
          ws.file_access().CheckRead(DatabasePath(ws, db_names_[i], absolute_path_));
      const std::unique_ptr<db::DB> database =
          OpenDatabase(ws.file_access(), db_type_, db_names_[i], path);
      const std::unique_ptr<db::Cursor> cursor = database->NewCursor();
      ReadDatabase(static_cast<int>(i), cursor.get(), &progress);
    }
  }
  progress.blobs.CheckWhole();
  CheckOutputs(progress);
  return true;
}

template <class Context>
void LoadOp<Context>::ReadDatabase(int index, db::Cursor* cursor, Progress* progress) {
  for (; cursor->Valid(); cursor->Next()) {
    const std::string name = BlobName(cursor->key());
    if (load_all_ || output_index_.contains(name)) ReadRecord(index, name, cursor, progress);
    if (!load_all_ && progress->whole == this->OutputSize()) break;
  }
}

template <class Context>
void LoadOp<Context>::ReadRecord(int index, const std::string& name, db::Cursor* cursor,
                                 Progress* progress) {
  const auto [known, is_new] = progress->database_of.emplace(name, index);
  CAFFE_ENFORCE(is_new || known->second == index, "Duplicate Key ", name, " is found!");
  BlobProto proto;
  {
    const std::string record = cursor->value();  // freed before the tensor is allocated
    CAFFE_ENFORCE(ParseProtoFromLargeString(record, &proto), "record \"", cursor->key(), "\" of ",
                  record.size(), " bytes is not a BlobProto");
  }
  // With keep_device an unavailable device is an error; there is no fallback to the CPU.
  if (keep_device_ && proto.has_tensor()) {
    (void)GetStaticContext(CheckedDeviceType(proto.tensor().device_detail().device_type()));
  }
  if (!keep_device_ && proto.has_tensor()) {
    DeviceOption* device = proto.mutable_tensor()->mutable_device_detail();
    device->Clear();
    if (CanBeOnDevice(proto.tensor())) {
      *device = this->device_option();
      device->set_device_type(Context::GetDeviceType());
    }
  }
  Blob* blob =
      load_all_ ? this->workspace()->CreateBlob(name) : this->OutputBlob(output_index_.at(name));
  if (progress->blobs.Add(name, proto, blob)) ++progress->whole;
}

#pragma GCC visibility push(default)  // for libcaffe2_cuda
[[noreturn]] void ThrowMissingBlobs(int want, int got, const std::vector<std::string>& missing);
#pragma GCC visibility pop

template <class Context>
void LoadOp<Context>::CheckOutputs(const Progress& progress) const {
  if (load_all_) {
    for (const std::string& name : names_) {
      CAFFE_ENFORCE(progress.blobs.Has(name), "Output blob name ", name,
                    " does not exist in the db(s).");
    }
    return;
  }
  if (allow_incomplete_ || progress.whole == this->OutputSize()) return;
  std::vector<std::string> missing;
  for (const std::string& name : names_) {
    if (!progress.blobs.Has(name)) missing.push_back(name);
  }
  ThrowMissingBlobs(this->OutputSize(), progress.whole, missing);
}

}  // namespace caffe2rt
