#include "caffe2_core/import/caffe/hdf5_weights.h"

#include <absl/strings/str_join.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/base/own_library.h"
#include "caffe2_core/base/utf8.h"
#include "caffe2_core/io/atomic_file.h"

namespace caffe2rt {
namespace {

constexpr const char* kProgram = "caffe2-read-hdf5";
constexpr const char* kVariable = "CAFFE2RT_READ_HDF5";
constexpr const char* kRemedy =
    "save the weights as a caffemodel (snapshot_format: BINARYPROTO) instead";
constexpr size_t kMaxReport = 4096;
// Compressed weights unpack to at most so many times their file, or the bytes if these are more.
constexpr int64_t kMaxRatio = 100, kLeastLimit = int64_t{64} << 20;

// --- the program ---

std::vector<std::string> Candidates() {
  if (const char* named = std::getenv(kVariable); named != nullptr && named[0] != '\0') {
    return {named};
  }
  std::vector<std::string> files;
  if (const std::filesystem::path own = OwnLibraryFolder(); !own.empty()) {
    for (const char* folder :
         {".", "../bin", CAFFE2RT_LIBEXEC_FROM_BIN, CAFFE2RT_LIBEXEC_FROM_LIB}) {
      std::string file = (own / folder / kProgram).lexically_normal().string();
      if (std::find(files.begin(), files.end(), file) == files.end()) files.push_back(file);
    }
  }
  files.push_back(std::string(CAFFE2RT_LIBEXEC) + "/" + kProgram);
  return files;
}

std::string FindProgram(const std::string& path) {
  const std::vector<std::string> files = Candidates();
  for (const std::string& file : files) {
    if (access(file.c_str(), X_OK) == 0) return file;
  }
  CAFFE_THROW("cannot read \"", path, "\": HDF5 files are read by the program ", kProgram,
              ", which belongs to builds with libhdf5-dev and is not installed as ",
              absl::StrJoin(files, ", "), "; set ", kVariable, " to its path, or ", kRemedy);
}

// --- the process ---

// A descriptor that is none of the three standard ones, so that these can be replaced by it.
FileDescriptor MoveUp(FileDescriptor file) {
  if (file.get() > STDERR_FILENO) return file;
  return FileDescriptor(fcntl(file.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

// 0, or the error.
int Spawn(const std::string& program, int64_t limit, const int (&files)[3], pid_t* pid) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  if (const int error = posix_spawn_file_actions_init(&actions); error != 0) return error;
  if (const int error = posix_spawnattr_init(&attributes); error != 0) return error;
  int error = 0;
  for (int i = 0; i < 3 && error == 0; ++i) {
    error = posix_spawn_file_actions_adddup2(&actions, files[i], i);
  }
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::string name = kProgram, argument = MakeString(limit);
  char* const argv[] = {name.data(), argument.data(), nullptr};
  // Variables could make the loader or libhdf5 load other code.
  char* const environment[] = {nullptr};
  if (error == 0) {
    error = posix_spawn(pid, program.c_str(), &actions, &attributes, argv, environment);
  }
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return error;
}

// The text in the pipe up to its end, which is that of the process; false after `timeout`.
bool ReadReport(const FileDescriptor& pipe, std::chrono::milliseconds timeout,
                std::string* report) {
  const auto end = std::chrono::steady_clock::now() + timeout;
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    pollfd wanted = {.fd = pipe.get(), .events = POLLIN, .revents = 0};
    const int ready = poll(&wanted, 1, static_cast<int>(left.count()));
    if (ready == 0) return false;
    if (ready < 0) {
      if (errno == EINTR) continue;
      return false;
    }
    char bytes[512];
    const ssize_t count = read(pipe.get(), bytes, sizeof(bytes));
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count <= 0) return true;
    report->append(bytes, std::min(static_cast<size_t>(count), kMaxReport - report->size()));
  }
}

// How the process ended; "" if nothing is known, as in programs that ignore their children.
std::string EndOf(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return "";
  }
  if (WIFSIGNALED(status)) return MakeString(" by signal ", WTERMSIG(status));
  return MakeString(" with code ", WEXITSTATUS(status));
}

// --- its output ---

// The output, which nobody changes any more. Its memory counts.
class Hdf5Output final : public RandomAccessInput {
 public:
  Hdf5Output(FileDescriptor file, std::string path)
      : file_(std::move(file)),
        path_(std::move(path)),
        size_(FileSize(file_, path_)),
        memory_(static_cast<size_t>(size_)) {}

  int64_t size() const override { return size_; }
  void Read(int64_t offset, void* data, size_t size) const override {
    ReadAt(file_, path_, offset, data, size);
  }

 private:
  const FileDescriptor file_;
  const std::string path_;
  const int64_t size_;
  const CPUMemoryReservation memory_;
};

int64_t LimitFor(int64_t file_bytes) {
  const CPUMemoryUsage memory = GetCPUMemoryUsage();
  const auto room = static_cast<int64_t>(
      memory.limit_bytes > memory.in_use_bytes ? memory.limit_bytes - memory.in_use_bytes : 0);
  const int64_t unpacked = file_bytes > INT64_MAX / kMaxRatio
                               ? INT64_MAX
                               : std::max(kMaxRatio * file_bytes, kLeastLimit);
  return std::min(unpacked, room);
}

}  // namespace

bool IsHdf5(const RandomAccessInput& input) {
  constexpr std::string_view kSignature = "\x89HDF\r\n\x1a\n";
  char first[kSignature.size()] = {};
  if (input.size() < static_cast<int64_t>(sizeof(first))) return false;
  input.Read(0, first, sizeof(first));
  return std::string_view(first, sizeof(first)) == kSignature;
}

std::shared_ptr<const RandomAccessInput> ReadHdf5Weights(const std::string& path,
                                                         std::chrono::seconds timeout) {
  const std::string program = FindProgram(path);
  const FileDescriptor file = MoveUp(OpenForReading(path));
  const int64_t size = FileSize(file, path), limit = LimitFor(size);
  FileDescriptor output =
      MoveUp(FileDescriptor(memfd_create("caffe2rt-hdf5", MFD_CLOEXEC | MFD_ALLOW_SEALING)));
  int ends[2] = {-1, -1};
  CAFFE_ENFORCE(output && pipe2(ends, O_CLOEXEC) == 0, "cannot read \"", path,
                "\": no descriptors for the process that reads HDF5: errno ", errno);
  const FileDescriptor report_end = MoveUp(FileDescriptor(ends[0]));
  FileDescriptor write_end = MoveUp(FileDescriptor(ends[1]));
  CAFFE_ENFORCE(file && report_end && write_end, "cannot read \"", path,
                "\": no descriptors for the process that reads HDF5");
  pid_t pid = -1;
  const int error = Spawn(program, limit, {file.get(), output.get(), write_end.get()}, &pid);
  CAFFE_ENFORCE(error == 0, "cannot read \"", path, "\": cannot run \"", program, "\": errno ",
                error, "; ", kRemedy);
  write_end.Close();
  std::string report;
  timeout += std::chrono::seconds(size / (8 << 20));
  const bool in_time = ReadReport(report_end, timeout, &report);
  if (!in_time) kill(pid, SIGKILL);
  const std::string end = EndOf(pid);
  CAFFE_ENFORCE(in_time, "cannot read \"", path, "\": the process that reads HDF5 took more than ",
                timeout.count(), " s; the file is damaged or hostile; ", kRemedy);
  CAFFE_ENFORCE(!report.empty(), "cannot read \"", path, "\": the process that reads HDF5 ended",
                end,
                " without a result, want weights as Caffe writes them; the file is damaged or "
                "hostile; ",
                kRemedy);
  CAFFE_ENFORCE(report == "ok", "cannot read \"", path,
                "\" as weights of Caffe: ", Shortened(OneLine(report), 1000));
  (void)fcntl(output.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL);
  return std::make_shared<Hdf5Output>(std::move(output), path);
}

}  // namespace caffe2rt
