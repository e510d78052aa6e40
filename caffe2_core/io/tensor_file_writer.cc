// ConvertTensorFile: writes files of named tensors.

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/io/caffe_datum.h"
#include "caffe2_core/io/db.h"
#include "caffe2_core/io/temporary.h"
#include "caffe2_core/io/tensor_file.h"
#include "caffe2_core/tensor/int8_tensor.h"

namespace caffe2rt {
namespace {

namespace fs = std::filesystem;

// Receives blobs one by one. Without Finish, the target stays as it was.
class TensorWriter {
 public:
  TensorWriter() = default;
  virtual ~TensorWriter() = default;
  TensorWriter(const TensorWriter&) = delete;
  TensorWriter& operator=(const TensorWriter&) = delete;
  virtual void Add(const std::string& name, const Blob& blob) = 0;
  virtual void Finish() = 0;
};

const Tensor& PlainTensor(const std::string& name, const Blob& blob, const char* format) {
  CAFFE_ENFORCE(blob.IsType<Tensor>(), "blob \"", name, "\" is a ",
                blob.IsType<Int8TensorCPU>() ? "quantized tensor" : "string", ", which ", format,
                " cannot hold; want a database");
  return blob.Get<Tensor>();
}

class NpyFileWriter final : public TensorWriter {
 public:
  explicit NpyFileWriter(std::string path) : path_(std::move(path)) {}
  void Add(const std::string& name, const Blob& blob) override {
    CAFFE_ENFORCE(!tensor_.has_value(), "cannot write \"", path_,
                  "\": a .npy file holds one tensor, "
                  "got \"",
                  name_, "\" and \"", name, "\"; want .npz");
    tensor_ = PlainTensor(name, blob, ".npy");
    name_ = name;
  }
  void Finish() override {
    CAFFE_ENFORCE(tensor_.has_value(), "cannot write \"", path_, "\": there is no tensor");
    WriteNpy(path_, *tensor_);
  }

 private:
  const std::string path_;
  std::string name_;
  std::optional<Tensor> tensor_;
};

class NpzFileWriter final : public TensorWriter {
 public:
  explicit NpzFileWriter(std::string path) : path_(std::move(path)) {}
  void Add(const std::string& name, const Blob& blob) override {
    tensors_.emplace_back(name, PlainTensor(name, blob, ".npz"));
  }
  void Finish() override { WriteNpz(path_, tensors_); }

 private:
  const std::string path_;
  NamedTensors tensors_;
};

void Serialize(const std::string& name, const Blob& blob, TensorProto* proto) {
  TensorSerializer().Serialize(PlainTensor(name, blob, "TensorProtos"), name, proto, 0, 0);
  proto->clear_segment();  // the proto holds the whole tensor
}

// Writes each tensor as it comes: the wire format of a list is that of its elements, one after the
// other.
class TensorProtosWriter final : public TensorWriter {
 public:
  explicit TensorProtosWriter(const std::string& path) : path_(path), file_(path) {}
  void Add(const std::string& name, const Blob& blob) override {
    TensorProtos list;
    Serialize(name, blob, list.add_protos());
    const size_t bytes = list.ByteSizeLong();
    CAFFE_ENFORCE(bytes < static_cast<size_t>(INT_MAX) - static_cast<size_t>(file_.size()),
                  "cannot write \"", path_, "\": with tensor \"", name,
                  "\" it reaches 2 GB, the limit of protobuf; want a database or .npz");
    file_.Write(list.SerializeAsString());
  }
  void Finish() override { file_.Commit(); }

 private:
  const std::string path_;
  AtomicFile file_;
};

class TextWriter final : public TensorWriter {
 public:
  explicit TextWriter(std::string path) : path_(std::move(path)) {}
  void Add(const std::string& name, const Blob& blob) override {
    Serialize(name, blob, protos_.add_protos());
  }
  void Finish() override { WriteFileAtomically(path_, ProtoToText(protos_)); }

 private:
  const std::string path_;
  TensorProtos protos_;
};

std::string TypeOf(TensorFormat format) {
  return format == TensorFormat::kMiniDB    ? "minidb"
         : format == TensorFormat::kLevelDB ? "leveldb"
         : format == TensorFormat::kLMDB    ? "lmdb"
                                            : "";
}

// A new database. One that replaces a folder is built next to it and exchanged with it at the end.
class NewDatabase {
 public:
  explicit NewDatabase(const TensorTarget& target) : path_(target.path) {
    const std::string type = TypeOf(target.format);
    while (path_.size() > 1 && path_.ends_with('/')) path_.pop_back();
    std::error_code ignored;
    const bool exists = fs::exists(fs::symlink_status(path_, ignored)) &&
                        !(fs::is_directory(path_, ignored) && fs::is_empty(path_, ignored));
    CAFFE_ENFORCE(!exists || target.overwrite, "cannot write \"", path_,
                  "\": it exists; --overwrite replaces a database");
    built_ = path_;
    if (exists) {
      const FileKind kind = DetectFileKind(path_).kind;
      CAFFE_ENFORCE(DBTypeOfKind(kind) == type, "cannot replace \"", path_, "\": it is ",
                    FileKindDescription(kind), ", want a ", type, " database");
      if (type != "minidb") {  // which replaces its file atomically
        path_ = internal::ResolveLinks(path_);
        built_ = path_ + ".caffe2rt-new";
        replaces_ = true;
      }
    }
    db_ = db::OpenDB(type, built_, db::NEW);
    transaction_ = db_->NewTransaction();
  }

  void Put(const std::string& key, const std::string& value) { transaction_->Put(key, value); }

  void Finish() {
    transaction_->Commit();
    transaction_.reset();
    db_->Close();
    db_.reset();
    if (!replaces_) return;
    constexpr unsigned kExchange = 2;  // RENAME_EXCHANGE of Linux
    const bool exchanged =
        syscall(SYS_renameat2, AT_FDCWD, built_.c_str(), AT_FDCWD, path_.c_str(), kExchange) == 0;
    const std::string reason = std::strerror(errno);
    std::error_code ignored;
    fs::remove_all(built_, ignored);
    CAFFE_ENFORCE(exchanged, "cannot replace \"", path_, "\": ", reason);
  }

 private:
  std::string path_;
  std::string built_;
  bool replaces_ = false;
  std::unique_ptr<db::DB> db_;
  std::unique_ptr<db::Transaction> transaction_;  // destroyed before the database
};

class DatabaseWriter final : public TensorWriter {
 public:
  explicit DatabaseWriter(const TensorTarget& target) : db_(target) {}
  void Add(const std::string& name, const Blob& blob) override {
    CAFFE_ENFORCE(name.find(kChunkIdSeparator) == std::string::npos, "tensor \"", name,
                  "\" cannot be written to a database: its name contains \"", kChunkIdSeparator,
                  "\"");
    SerializeBlob(blob, name, [this](const std::string& key, const std::string& record) {
      db_.Put(key, record);
    });
  }
  void Finish() override { db_.Finish(); }

 private:
  NewDatabase db_;
};

std::unique_ptr<TensorWriter> NewWriter(const TensorTarget& target) {
  switch (target.format) {
    case TensorFormat::kNpy:
      return std::make_unique<NpyFileWriter>(target.path);
    case TensorFormat::kNpz:
      return std::make_unique<NpzFileWriter>(target.path);
    case TensorFormat::kTensorProtos:
      return std::make_unique<TensorProtosWriter>(target.path);
    case TensorFormat::kTensorProtosText:
      return std::make_unique<TextWriter>(target.path);
    default:
      return std::make_unique<DatabaseWriter>(target);
  }
}

// Copies the records, whatever they hold. Those of a database of Caffe are converted, because no
// operator reads a Datum.
void CopyDatabase(const std::string& path, FileKind kind, const TensorTarget& target) {
  const std::unique_ptr<db::DB> source = db::OpenDB(DBTypeOfKind(kind), path, db::READ);
  const std::unique_ptr<db::Cursor> cursor = source->NewCursor();
  NewDatabase to(target);
  for (; cursor->Valid(); cursor->Next()) {
    std::string value = cursor->value();
    if (CaffeDatum datum; ParseDatum(value, &datum))
      value = DatumToTensorProtos(datum).SerializeAsString();
    to.Put(cursor->key(), value);
  }
  to.Finish();
}

}  // namespace

void ConvertTensorFile(const std::string& path, FileKind kind, ProtoKindCheck check,
                       const TensorTarget& target) {
  std::error_code ignored;
  CAFFE_ENFORCE(TypeOf(target.format).empty() || !fs::equivalent(path, target.path, ignored),
                "cannot convert \"", path, "\" to itself");
  const bool from_database =
      HoldsTensors(kind) && !DBTypeOfKind(kind).empty() && kind != FileKind::kTensorProtos;
  if (from_database && !TypeOf(target.format).empty()) return CopyDatabase(path, kind, target);
  const std::string unnamed = target.name.empty() ? fs::path(path).stem().string() : target.name;
  const std::unique_ptr<TensorWriter> writer = NewWriter(target);
  ReadTensorFile(path, kind, check, [&](const std::string& name, Blob* blob) {
    writer->Add(name.empty() ? unnamed : name, *blob);
  });
  writer->Finish();
}

}  // namespace caffe2rt
