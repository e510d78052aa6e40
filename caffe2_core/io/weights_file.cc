#include "caffe2_core/io/weights_file.h"

#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/io/given_values.h"
#include "caffe2_core/tensor/data_source.h"

namespace caffe2rt {
namespace {

// Less memory is not released.
constexpr size_t kLeastBytes = size_t{64} << 10;

class PartOfFile final : public DataSource {
 public:
  PartOfFile(std::shared_ptr<WeightsFile> file, ByteRange list, size_t nbytes)
      : file_(std::move(file)), list_(list), nbytes_(nbytes) {}
  bool Keep() override { return file_->Keep(); }
  void Read(void* data) const override { file_->Read(list_, data, nbytes_); }

 private:
  const std::shared_ptr<WeightsFile> file_;  // shared by the weights of the file
  const ByteRange list_;
  const size_t nbytes_;
};

}  // namespace

WeightsFile::Identity WeightsFile::IdentityOf(const struct stat& status) {
  return {.device = status.st_dev,
          .inode = status.st_ino,
          .size = status.st_size,
          .modified_s = status.st_mtim.tv_sec,
          .modified_ns = status.st_mtim.tv_nsec};
}

std::shared_ptr<WeightsFile> WeightsFile::Of(const std::string& path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return nullptr;
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  if (error) return nullptr;
  return std::shared_ptr<WeightsFile>(new WeightsFile(absolute.string(), IdentityOf(status)));
}

Tensor WeightsFile::WithSource(Tensor values, const std::string& type, ByteRange list) {
  if (type != "GivenTensorFill" || !values.IsType<float>() || values.nbytes() < kLeastBytes) {
    return values;
  }
  auto source = std::make_shared<PartOfFile>(shared_from_this(), list, values.nbytes());
  return caffe2rt::WithSource(std::move(values), std::move(source));
}

bool WeightsFile::Keep() try {
  const MutexLock lock(mutex_);
  if (input_ != nullptr) return true;
  auto input = std::make_unique<const FileInput>(path_);
  struct stat status;
  if (fstat(input->file().get(), &status) != 0 || IdentityOf(status) != identity_) return false;
  input_ = std::move(input);
  return true;
} catch (const EnforceNotMet&) {  // it cannot be opened any more
  return false;
}

void WeightsFile::Read(ByteRange list, void* floats, size_t nbytes) const {
  const MutexLock lock(mutex_);
  const auto same = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    struct stat status;
    return fstat(input_->file().get(), &status) == 0 && IdentityOf(status) == identity_;
  };
  Tensor values(CPU);
  WireCursor cursor(*input_);
  cursor.Seek(list.begin);
  const bool read = same() && DecodeGivenValues("GivenTensorFill", list.end, &cursor, &values) &&
                    values.nbytes() == nbytes && same();
  CAFFE_ENFORCE(read, "a weight of ", nbytes,
                " bytes, whose memory was released, is read again from \"", path_,
                "\", but the file has changed since the model was loaded; want it unchanged, or "
                "PredictorOptions::release_weights = false");
  std::memcpy(floats, values.raw_data(), nbytes);
}

}  // namespace caffe2rt
