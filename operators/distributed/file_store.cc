// A store in a folder. Each key is a file, whose name is the key with unusual characters as %XX.
// Values are written to a temporary file first, which is then renamed or linked, so that no reader
// sees a part of one, also on NFS.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstring>
#include <filesystem>

#include "caffe2_core/base/enforce.h"
#include "operators/distributed/store.h"

namespace caffe2rt {
namespace {

std::string FileNameOf(const std::string& key) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string name;
  for (const char c : key) {
    const auto byte = static_cast<unsigned char>(c);
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
        c == '-' || (c == '.' && !name.empty())) {
      name += c;
    } else {
      name += '%';
      name += kHex[byte >> 4];
      name += kHex[byte & 15];
    }
  }
  CAFFE_ENFORCE(!name.empty() && name.size() <= NAME_MAX - 40, "key \"", key, "\" has ", key.size(),
                " characters, want 1 to ", NAME_MAX - 40,
                " (other than letters and digits count three times)");
  return name;
}

class File {
 public:
  File(const std::string& path, int flags) : fd_(open(path.c_str(), flags | O_CLOEXEC, 0666)) {}
  ~File() {
    if (fd_ >= 0) close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int fd() const { return fd_; }

 private:
  const int fd_;
};

bool WriteAll(int fd, const std::string& value) {
  size_t done = 0;
  while (done < value.size()) {
    const ssize_t n = write(fd, value.data() + done, value.size() - done);
    if (n < 0 && errno != EINTR) return false;
    if (n > 0) done += static_cast<size_t>(n);
  }
  return true;
}

class FileStore final : public Store {
 public:
  FileStore(std::string folder, bool owns_folder)
      : folder_(std::move(folder)), owns_folder_(owns_folder) {
    MakeFolder();
  }
  ~FileStore() override {
    if (owns_folder_) rmdir(folder_.c_str());  // fails if another process has keys in it
  }

  void Set(const std::string& key, const std::string& value) override {
    const std::string temporary = WriteTemporary(value);
    if (rename(temporary.c_str(), PathOf(key).c_str()) == 0) return;
    const int error = errno;
    unlink(temporary.c_str());
    Fail("set", key, error);
  }

  bool SetNew(const std::string& key, const std::string& value) override {
    const std::string temporary = WriteTemporary(value);
    const bool is_new = link(temporary.c_str(), PathOf(key).c_str()) == 0;
    const int error = errno;
    unlink(temporary.c_str());
    if (!is_new && error != EEXIST) Fail("set", key, error);
    return is_new;
  }

  std::optional<std::string> Find(const std::string& key) override {
    const File file(PathOf(key), O_RDONLY | O_NOFOLLOW);
    if (file.fd() < 0) {
      if (errno != ENOENT) Fail("read", key, errno);
      return std::nullopt;
    }
    std::string value;
    char part[4096];
    while (true) {
      const ssize_t n = read(file.fd(), part, sizeof(part));
      if (n == 0) return value;
      if (n < 0 && errno == ESTALE) return std::nullopt;  // NFS: erased by another machine
      if (n < 0 && errno != EINTR) Fail("read", key, errno);
      if (n > 0) value.append(part, static_cast<size_t>(n));
    }
  }

  int64_t Add(const std::string& key, int64_t value) override {
    const std::string lock_path = folder_ + "/.lock." + FileNameOf(key);
    MakeFolder();
    const File lock(lock_path, O_RDWR | O_CREAT | O_NOFOLLOW);
    if (lock.fd() < 0) Fail("lock", key, errno);
    while (flock(lock.fd(), LOCK_EX) != 0) {
      if (errno != EINTR) Fail("lock", key, errno);
    }
    int64_t sum = 0;
    if (const std::optional<std::string> text = Find(key)) {
      const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), sum);
      CAFFE_ENFORCE(error == std::errc() && end == text->data() + text->size(),
                    "the value of key \"", key, "\" in ", Describe(), " is not a number");
    }
    sum = static_cast<int64_t>(static_cast<uint64_t>(sum) + static_cast<uint64_t>(value));
    Set(key, MakeString(sum));
    return sum;
  }

  void Erase(const std::string& key) override {
    unlink((folder_ + "/.lock." + FileNameOf(key)).c_str());
    if (unlink(PathOf(key).c_str()) != 0 && errno != ENOENT) Fail("erase", key, errno);
  }

  std::string Describe() const override {
    return MakeString("the store in folder \"", folder_, "\"");
  }

 private:
  std::string PathOf(const std::string& key) const { return folder_ + "/" + FileNameOf(key); }

  [[noreturn]] void Fail(const char* what, const std::string& key, int error) const {
    CAFFE_THROW("cannot ", what, " key \"", key, "\" in ", Describe(), ": ", std::strerror(error));
  }

  void MakeFolder() const {
    if (!owns_folder_ || mkdir(folder_.c_str(), 0777) == 0 || errno == EEXIST) return;
    const int error = errno;
    CAFFE_THROW("cannot create folder \"", folder_, "\" for a store: ", std::strerror(error));
  }

  std::string WriteTemporary(const std::string& value) {
    static std::atomic<uint64_t> next{0};
    char host[HOST_NAME_MAX + 1] = {};
    gethostname(host, sizeof(host) - 1);
    const std::string path =
        MakeString(folder_, "/.new.", FileNameOf(host), ".", getpid(), ".", next++);
    MakeFolder();  // another process may have removed it at its end
    bool written;
    int error;
    {
      const File file(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW);
      written = file.fd() >= 0 && WriteAll(file.fd(), value);
      error = errno;
    }
    if (!written) {
      unlink(path.c_str());
      CAFFE_THROW("cannot write to ", Describe(), ": ", std::strerror(error));
    }
    return path;
  }

  const std::string folder_;
  const bool owns_folder_;
};

}  // namespace

StoreBlob MakeFileStore(const std::string& path, const std::string& prefix,
                        const FileAccess& access) {
  CAFFE_ENFORCE(!path.empty(),
                "the path of a file store is empty, want a folder that all ranks see");
  const std::string folder = prefix.empty() ? path : path + "/" + FileNameOf(prefix);
  // The policy decides about files: about any key here.
  const std::filesystem::path key = access.CheckWrite(folder + "/key");
  CAFFE_ENFORCE(std::filesystem::is_directory(path), "the path of a file store is \"", path,
                "\", want an existing folder that all ranks see");
  return std::make_shared<FileStore>(key.parent_path().string(), !prefix.empty());
}

}  // namespace caffe2rt
