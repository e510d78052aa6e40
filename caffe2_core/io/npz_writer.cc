// WriteNpz of npy.h. libzip writes the archive when it is closed, through callbacks that pass the
// bytes on to an AtomicFile. It writes the header of an entry a second time after the data, with
// the checksum.
#include <cstring>
#include <deque>
#include <exception>
#include <memory>
#include <new>
#include <set>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/npy.h"
#include "caffe2_core/io/npy_elements.h"
#include "caffe2_core/io/npz_zip.h"

namespace caffe2rt {
namespace {

using internal::NpyParts;
using internal::Zip;
using internal::ZipError;
using internal::ZipErrorText;

constexpr size_t kMaxNameBytes = 65535 - 4;  // without ".npy"
// 1980-01-01, the first date of the format, so that the bytes do not depend on the clock.
constexpr zip_uint16_t kDate = 1 << 5 | 1;

// The target of libzip's write calls. libzip is C code, so that exceptions are kept until it has
// returned.
class ZipTarget {
 public:
  explicit ZipTarget(AtomicFile* file) : file_(*file) {}

  // THROWS what a callback threw.
  void Rethrow() const {
    if (failure_ != nullptr) std::rethrow_exception(failure_);
  }

  static zip_int64_t Call(void* target, void* data, zip_uint64_t size, zip_source_cmd_t command) {
    return static_cast<ZipTarget*>(target)->Run(data, size, command);
  }

 private:
  zip_int64_t Run(void* data, zip_uint64_t size, zip_source_cmd_t command) {
    switch (command) {
      case ZIP_SOURCE_SUPPORTS:
        return Zip().source_make_command_bitmap(
            ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_CLOSE, ZIP_SOURCE_STAT, ZIP_SOURCE_ERROR,
            ZIP_SOURCE_FREE, ZIP_SOURCE_SEEK, ZIP_SOURCE_TELL, ZIP_SOURCE_BEGIN_WRITE,
            ZIP_SOURCE_COMMIT_WRITE, ZIP_SOURCE_ROLLBACK_WRITE, ZIP_SOURCE_WRITE,
            ZIP_SOURCE_SEEK_WRITE, ZIP_SOURCE_TELL_WRITE, ZIP_SOURCE_REMOVE, -1);
      case ZIP_SOURCE_STAT: {
        auto* const stat = static_cast<zip_stat_t*>(data);
        Zip().stat_init(stat);
        stat->size = 0;
        stat->valid = ZIP_STAT_SIZE;
        return sizeof(*stat);
      }
      case ZIP_SOURCE_WRITE:
        return Write({static_cast<const char*>(data), size}) ? static_cast<zip_int64_t>(size) : -1;
      case ZIP_SOURCE_SEEK_WRITE: {
        const zip_int64_t to = Zip().source_seek_compute_offset(
            static_cast<zip_uint64_t>(at_), static_cast<zip_uint64_t>(file_.size()), data, size,
            error_.get());
        if (to < 0) return -1;
        at_ = to;
        return 0;
      }
      case ZIP_SOURCE_TELL_WRITE:
        return at_;
      case ZIP_SOURCE_ERROR:
        return Zip().error_to_data(error_.get(), data, size);
      default:  // nothing to do
        return 0;
    }
  }

  bool Write(std::string_view bytes) try {
    const auto old_bytes =
        std::min(bytes.size(), static_cast<size_t>(file_.size() - at_));  // already written
    if (old_bytes > 0) file_.Overwrite(at_, bytes.substr(0, old_bytes));
    if (old_bytes < bytes.size()) file_.Write(bytes.substr(old_bytes));
    at_ += static_cast<int64_t>(bytes.size());
    return true;
  } catch (...) {
    failure_ = std::current_exception();
    Zip().error_set(error_.get(), ZIP_ER_WRITE, 0);
    return false;
  }

  AtomicFile& file_;
  int64_t at_ = 0;  // where the next bytes go
  ZipError error_;
  std::exception_ptr failure_;
};

class NpzWriter {
 public:
  explicit NpzWriter(const std::string& path) : path_(path),
        file_(path, AtomicFile::Existing::kReplace, AtomicFile::Order::kAnywhere),
        target_(&file_) {
    ZipError error;
    zip_source_t* const source = Zip().source_function_create(ZipTarget::Call, &target_, error.get());
    if (source == nullptr) FailWith(error.get());
    archive_.reset(Zip().open_from_source(source, ZIP_CREATE | ZIP_TRUNCATE, error.get()));
    if (archive_ == nullptr) {
      Zip().source_free(source);
      FailWith(error.get());
    }
  }

  void Add(const std::string& name, const Tensor& tensor) {
    if (name.find('\0') != std::string::npos) {
      Fail("the name \"" + name + "\" contains a zero byte, which a zip archive cannot hold");
    }
    if (name.size() > kMaxNameBytes) {
      Fail(MakeString("a name has ", name.size(), " bytes, want at most ", kMaxNameBytes));
    }
    if (!names_.insert(name).second) Fail("the name \"" + name + "\" exists twice");
    zip_t* const archive = archive_.get();
    zip_source_t* const source = SourceOf(parts_.emplace_back(internal::NpyPartsOf(tensor)));
    const zip_int64_t added =
        Zip().file_add(archive, (name + ".npy").c_str(), source, ZIP_FL_ENC_GUESS);
    if (added < 0) {
      Zip().source_free(source);
      FailWith(Zip().get_error(archive));
    }
    const auto index = static_cast<zip_uint64_t>(added);
    if (Zip().set_file_compression(archive, index, ZIP_CM_STORE, 0) < 0 ||
        Zip().file_set_dostime(archive, index, 0, kDate, 0) < 0) {
      FailWith(Zip().get_error(archive));
    }
  }

  void Finish() {
    if (parts_.empty()) {  // libzip writes no file without entries
      file_.Write(std::string("PK\5\6").append(18, '\0'));
    } else if (Zip().close(archive_.get()) < 0) {
      target_.Rethrow();
      FailWith(Zip().get_error(archive_.get()));
    } else {
      (void)archive_.release();  // zip_close has freed it
    }
    file_.Commit();
  }

 private:
  [[noreturn]] void Fail(const std::string& reason) const {
    CAFFE_THROW("cannot write \"", path_, "\" as .npz: ", reason);
  }
  [[noreturn]] void FailWith(zip_error_t* error) const { Fail(ZipErrorText(error)); }

  // A source that reads `parts` where they are.
  zip_source_t* SourceOf(const NpyParts& parts) const {
    const auto fragment = [](std::string_view bytes) {
      return zip_buffer_fragment_t{reinterpret_cast<zip_uint8_t*>(const_cast<char*>(bytes.data())),
                                   bytes.size()};
    };
    const zip_buffer_fragment_t fragments[] = {fragment(parts.head), fragment(parts.data)};
    zip_source_t* const source =
        Zip().source_buffer_fragment(archive_.get(), fragments, parts.data.empty() ? 1 : 2, 0);
    if (source == nullptr) FailWith(Zip().get_error(archive_.get()));
    return source;
  }

  const std::string path_;
  AtomicFile file_;
  ZipTarget target_;
  std::set<std::string> names_;
  std::deque<NpyParts> parts_;  // a deque does not move them
  internal::ZipArchive archive_;
};

}  // namespace

void WriteNpz(const std::string& path, const NamedTensors& tensors) try {
  CAFFE_ENFORCE_LE(tensors.size(), internal::kMaxNpzEntries, "tensors in \"", path, "\"");
  NpzWriter writer(path);
  for (const auto& [name, tensor] : tensors) writer.Add(name, tensor);
  writer.Finish();
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

}  // namespace caffe2rt
