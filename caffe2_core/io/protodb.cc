// protodb: one TensorProtos file, held in memory as a whole and written by Close. The key of a
// record is the name of its tensor.
#include <sys/stat.h>

#include <set>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/logging.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/db_backends.h"
#include "caffe2_core/io/proto_file.h"

namespace caffe2rt {
namespace db {
namespace {

class ProtoDBCursor final : public Cursor {
 public:
  explicit ProtoDBCursor(const TensorProtos& protos) : protos_(protos) {}
  void Seek(const std::string&) override {
    CAFFE_THROW("ProtoDB is not designed to support seeking");
  }
  bool SupportsOffsets() override { return true; }
  int64_t Offset() override { return at_; }
  void SeekToOffset(int64_t offset) override { at_ = static_cast<int>(offset); }
  void SeekToFirst() override { at_ = 0; }
  void Next() override { ++at_; }
  bool Valid() override { return at_ < protos_.protos_size(); }
  std::string key() override { return Present().name(); }
  std::string value() override { return ProtoToBinary(Present()); }

 private:
  const TensorProto& Present() {
    CAFFE_ENFORCE(Valid(), "protodb: the cursor is past the last record");
    return protos_.protos(at_);
  }
  const TensorProtos& protos_;
  int at_ = 0;
};

class ProtoDBTransaction final : public Transaction {
 public:
  ProtoDBTransaction(TensorProtos* protos, std::set<std::string>* names, bool* changed)
      : protos_(protos), names_(names), changed_(changed) {}
  void Put(const std::string& key, const std::string& value) override {
    CAFFE_ENFORCE(!names_->contains(key), "An item with key ", key, " already exists.");
    TensorProto tensor;
    CAFFE_ENFORCE(ParseProtoFromLargeString(value, &tensor),
                  "Cannot parse content from the value string: the value of \"", key,
                  "\" is not a TensorProto");
    CAFFE_ENFORCE(tensor.name() == key, "Passed key ", key, " does not equal to tensor name ",
                  tensor.name());
    names_->insert(key);
    *protos_->add_protos() = std::move(tensor);
    *changed_ = true;
  }
  void Commit() override {}

 private:
  TensorProtos* const protos_;
  std::set<std::string>* const names_;
  bool* const changed_;
};

class ProtoDB final : public DB {
 public:
  ProtoDB(const std::string& source, Mode mode) : DB(source, mode), path_(source) {
    struct stat info;
    changed_ = mode == NEW || (mode == WRITE && stat(source.c_str(), &info) != 0);
    if (changed_) return;
    ParseBinaryProto(ReadWholeFile(source), source, &protos_);
    for (const TensorProto& tensor : protos_.protos()) names_.insert(tensor.name());
  }
  ~ProtoDB() override {
    if (unwinding_.Unwinding()) return;
    try {
      Close();
    } catch (...) {
      LOG(ERROR) << "cannot write protodb \"" << path_ << "\": " << CurrentExceptionMessage();
    }
  }

  void Close() override {
    if (std::exchange(changed_, false)) WriteProtoToBinaryFile(protos_, path_);
  }
  std::unique_ptr<Cursor> NewCursor() override {
    CAFFE_ENFORCE(mode_ == READ, "protodb \"", path_, "\" is not open for READ");
    return std::make_unique<ProtoDBCursor>(protos_);
  }
  std::unique_ptr<Transaction> NewTransaction() override {
    CAFFE_ENFORCE(mode_ != READ, "protodb \"", path_, "\" is not open for WRITE or NEW");
    return std::make_unique<ProtoDBTransaction>(&protos_, &names_, &changed_);
  }

 private:
  const std::string path_;
  TensorProtos protos_;
  std::set<std::string> names_;
  bool changed_ = false;
  const internal::UnwindingDetector unwinding_;
};

}  // namespace

std::unique_ptr<DB> NewProtoDB(const std::string& source, Mode mode) {
  return std::make_unique<ProtoDB>(source, mode);
}

}  // namespace db
}  // namespace caffe2rt
