// minidb: a file of records {int32 key size, int32 value size, key, value} in native byte order,
// with nothing before or after them.
//
// NEW writes a temporary file and renames it over the target at the first Commit (or Close), so
// that a run that fails or is killed leaves the previous file. WRITE does the same if the file does
// not exist; otherwise each commit appends to the file. Each cursor has its own offset, so any
// number of cursors can read concurrently.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>

#include "caffe2_core/base/byte_size.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/logging.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/db_backends.h"

namespace caffe2rt {
namespace db {
namespace {

constexpr int64_t kHeaderBytes = 2 * sizeof(int32_t);

class MiniDBCursor final : public Cursor {
 public:
  MiniDBCursor(const FileDescriptor& file, const std::string& path)
      : file_(file), path_(path), file_size_(FileSize(file, path)) {
    SeekToFirst();
  }

  void Seek(const std::string&) override {
    CAFFE_THROW("MiniDB does not support seeking to a specific key");
  }
  bool SupportsOffsets() override { return true; }
  int64_t Offset() override { return offset_; }
  void SeekToOffset(int64_t offset) override { ReadHeaderAt(offset); }
  void SeekToFirst() override { ReadHeaderAt(0); }
  void Next() override { ReadHeaderAt(offset_ + kHeaderBytes + key_size_ + value_size_); }
  bool Valid() override { return valid_; }
  std::string key() override { return Bytes(offset_ + kHeaderBytes, key_size_); }
  std::string value() override { return Bytes(offset_ + kHeaderBytes + key_size_, value_size_); }

 private:
  void ReadHeaderAt(int64_t offset) {
    offset_ = offset;
    valid_ = offset < file_size_;
    if (!valid_) return;
    int32_t sizes[2];
    const int64_t rest = file_size_ - offset;
    if (rest >= kHeaderBytes) ReadAt(file_, path_, offset, sizes, sizeof(sizes));
    valid_ = rest >= kHeaderBytes && sizes[0] > 0 && sizes[1] > 0 &&
             kHeaderBytes + sizes[0] + int64_t{sizes[1]} <= rest;
    CAFFE_ENFORCE(valid_, "minidb \"", path_, "\" is truncated or damaged: at byte ", offset,
                  " of ", file_size_, " there is no complete record");
    key_size_ = sizes[0];
    value_size_ = sizes[1];
  }

  std::string Bytes(int64_t offset, int32_t size) const {
    CAFFE_ENFORCE(valid_, "minidb \"", path_, "\": the cursor is past the last record");
    std::string bytes(static_cast<size_t>(size), '\0');
    ReadAt(file_, path_, offset, bytes.data(), bytes.size());
    return bytes;
  }

  const FileDescriptor& file_;
  const std::string path_;
  const int64_t file_size_;
  int64_t offset_ = 0;
  int32_t key_size_ = 0;
  int32_t value_size_ = 0;
  bool valid_ = false;
};

// The destination of the records written.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual void Write(std::string_view bytes) = 0;
  virtual void Commit() = 0;
};

// Collects a transaction and appends it in one piece. If the disk is full, truncates the file to
// its previous size.
class AppendSink final : public Sink {
 public:
  explicit AppendSink(const std::string& path)
      : AppendSink(path, FileDescriptor(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666))) {
  }
  // `file`: open for writing.
  AppendSink(const std::string& path, FileDescriptor file) : path_(path), file_(std::move(file)) {
    const int error = errno;
    CAFFE_ENFORCE(file_, "Cannot open file: ", path, ": ", std::strerror(error));
  }
  void Write(std::string_view bytes) override { pending_ += bytes; }
  void Commit() override {
    const int64_t end = FileSize(file_, path_);
    size_t done = 0;
    while (done < pending_.size()) {
      const ssize_t written = pwrite(file_.get(), pending_.data() + done, pending_.size() - done,
                                     end + static_cast<int64_t>(done));
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) {
        const int error = errno;
        (void)!ftruncate(file_.get(), end);
        CAFFE_THROW("cannot write \"", path_, "\": ", std::strerror(error));
      }
      done += static_cast<size_t>(written);
    }
    pending_.clear();
  }

 private:
  const std::string path_;
  FileDescriptor file_;
  std::string pending_;
};

// Writes a new file up to the first commit and appends to it afterwards, even if another file has
// replaced it under its name by then.
class NewFileSink final : public Sink {
 public:
  NewFileSink(const std::string& path, AtomicFile::Existing existing)
      : path_(path), file_(std::make_unique<AtomicFile>(path, existing)) {}
  void Write(std::string_view bytes) override {
    file_ != nullptr ? file_->Write(bytes) : append_->Write(bytes);
  }
  void Commit() override {
    if (file_ == nullptr) return append_->Commit();
    const bool direct = file_->committed();  // a pipe, or a device
    file_->Commit();
    if (direct) return;
    append_ = std::make_unique<AppendSink>(path_, file_->TakeFile());
    file_.reset();
  }

 private:
  const std::string path_;
  std::unique_ptr<AtomicFile> file_;    // null when the new file is in place
  std::unique_ptr<AppendSink> append_;  // null before that
};

class MiniDBTransaction final : public Transaction {
 public:
  MiniDBTransaction(Sink* sink, bool* failed) : sink_(sink), failed_(failed) {}
  ~MiniDBTransaction() override {
    if (unwinding_.Unwinding()) *failed_ = true;  // records put so far must not become visible
    internal::CommitInDestructor(this, unwinding_);
  }

  void Put(const std::string& key, const std::string& value) override {
    CAFFE_ENFORCE(!key.empty() && !value.empty(),
                  "minidb does not support an empty key or value, got key \"", key, "\" with ",
                  ByteSizeText(value.size()));
    CAFFE_ENFORCE(key.size() <= INT_MAX && value.size() <= INT_MAX, "minidb record \"", key,
                  "\" has ", ByteSizeText(value.size()), ", want less than 2 GiB");
    CheckNotFailed();
    const int32_t sizes[2] = {static_cast<int32_t>(key.size()), static_cast<int32_t>(value.size())};
    *failed_ = true;  // until all of it is written
    sink_->Write({reinterpret_cast<const char*>(sizes), sizeof(sizes)});
    sink_->Write(key);
    sink_->Write(value);
    *failed_ = false;
  }
  void Commit() override {
    CheckNotFailed();
    *failed_ = true;
    sink_->Commit();
    *failed_ = false;
  }

 private:
  // A failure of this transaction or another one of the database.
  void CheckNotFailed() const {
    CAFFE_ENFORCE(!*failed_, "an earlier write to the minidb failed, nothing is committed");
  }

  Sink* const sink_;
  bool* const failed_;
  const internal::UnwindingDetector unwinding_;
};

class MiniDB final : public DB {
 public:
  MiniDB(const std::string& source, Mode mode) : DB(source, mode), path_(source) {
    if (mode == READ) {
      file_ = OpenForReading(source);
      return;
    }
    struct stat info;
    if (mode == NEW) {
      sink_ = std::make_unique<NewFileSink>(source, AtomicFile::Existing::kReplace);
    } else if (lstat(source.c_str(), &info) != 0 && errno == ENOENT) {
      sink_ = std::make_unique<NewFileSink>(source, AtomicFile::Existing::kThrow);
    } else {
      sink_ = std::make_unique<AppendSink>(source);
    }
  }
  ~MiniDB() override {
    if (unwinding_.Unwinding()) return;
    try {
      Close();
    } catch (...) {
      LOG(ERROR) << "cannot close minidb \"" << path_ << "\": " << CurrentExceptionMessage();
    }
  }

  void Close() override {
    const std::unique_ptr<Sink> sink = std::move(sink_);
    file_.Close();
    if (sink != nullptr && !failed_) sink->Commit();
  }
  std::unique_ptr<Cursor> NewCursor() override {
    CAFFE_ENFORCE(mode_ == READ && file_, "minidb \"", path_, "\" is not open for READ");
    return std::make_unique<MiniDBCursor>(file_, path_);
  }
  std::unique_ptr<Transaction> NewTransaction() override {
    CAFFE_ENFORCE(sink_ != nullptr, "minidb \"", path_, "\" is not open for WRITE or NEW");
    return std::make_unique<MiniDBTransaction>(sink_.get(), &failed_);
  }

 private:
  const std::string path_;
  FileDescriptor file_;
  std::unique_ptr<Sink> sink_;
  bool failed_ = false;
  const internal::UnwindingDetector unwinding_;
};

}  // namespace

std::unique_ptr<DB> NewMiniDB(const std::string& source, Mode mode) {
  return std::make_unique<MiniDB>(source, mode);
}

}  // namespace db
}  // namespace caffe2rt
