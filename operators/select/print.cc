#include "operators/select/print.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "caffe2_core/base/logging.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/io/file_access.h"
#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/runtime/workspace.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt {

namespace {

// The type names that Caffe2 prints, independent of the compiler.
const char* PrintedTypeName(float) { return "float"; }
const char* PrintedTypeName(double) { return "double"; }
const char* PrintedTypeName(int32_t) { return "int"; }
const char* PrintedTypeName(int64_t) { return "long int"; }
const char* PrintedTypeName(bool) { return "bool"; }
const char* PrintedTypeName(uint8_t) { return "unsigned char"; }
const char* PrintedTypeName(const std::string&) { return "std::basic_string<char>"; }

template <class T>
void AppendValue(const T& value, std::string* line) {
  if constexpr (std::is_floating_point_v<T>) {
    *line += ShortText(value);
  } else if constexpr (std::is_same_v<T, uint8_t>) {
    *line += static_cast<char>(value);
  } else {
    absl::StrAppend(line, value);
  }
}

}  // namespace

std::string TensorLine(const std::string& name, const Tensor& tensor, int64_t limit) {
  std::string line;
  DispatchByType<float, double, int32_t, int64_t, bool, uint8_t, std::string>(
      tensor.dtype(), "input 0 (tensor)", [&](const auto& element) {
        using T = std::decay_t<decltype(element)>;
        const T* values = tensor.data<T>();
        absl::StrAppend(&line, "Tensor ", name, " of type ", PrintedTypeName(T()), ". Dims: (");
        for (const int64_t dim : tensor.dims()) absl::StrAppend(&line, dim, ",");
        line += "): ";
        for (int64_t i = 0; i < tensor.numel() && i < limit; ++i) {
          if (i > 0) line += ',';
          AppendValue(values[i], &line);
        }
      });
  return line;
}

std::string PrintFileName(const std::string& blob) {
  std::string name;
  for (const char c : blob) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '/' || c == '%' || byte < 0x20 || byte == 0x7f) {
      name += absl::StrFormat("%%%02X", byte);
    } else {
      name += c;
    }
  }
  return name + ".log";
}

TensorPrinter::TensorPrinter(const ArgumentHelper& args, const std::string& name,
                             const Workspace& ws)
    : ws_(ws),
      name_(name),
      limit_(args.Read(kPrintLimit) > 0 ? args.Read(kPrintLimit) : 1000),
      every_n_(args.Read(kPrintEveryN)) {
  if (args.Read(kPrintToFile)) path_ = ws.RootFolder() + "/" + PrintFileName(name);
}

// Called from the first run and not from the constructor, so that creating a net does not create
// files.
void TensorPrinter::OpenFile() {
  (void)ws_.file_access().CheckWrite(path_);
  // Open the original path, not the resolved one that CheckWrite returns: with O_NOFOLLOW a
  // symbolic link is an error wherever it leads.
  constexpr int kFlags = O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  FileDescriptor file(open(path_.c_str(), kFlags, 0666));
  const int error = errno;
  CAFFE_ENFORCE(file, "cannot open \"", path_, "\" to print to: ",
                error == ELOOP ? "it is a symbolic link" : std::strerror(error));
  struct stat info;
  const bool is_own = fstat(file.get(), &info) == 0 && S_ISREG(info.st_mode) && info.st_nlink <= 1;
  CAFFE_ENFORCE(is_own, "cannot print to \"", path_,
                "\": it is not a regular file, or it has more than one hard link");
  // If no other operator has the file open, its contents are from an earlier net and are truncated.
  // On a file system without locks, assume that no other operator has it open.
  const bool is_alone = flock(file.get(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
  if (is_alone) CAFFE_ENFORCE_EQ(ftruncate(file.get(), 0), 0, "cannot truncate \"", path_, "\"");
  (void)flock(file.get(), LOCK_SH);  // blocks only while another operator truncates the file
  file_ = std::move(file);
}

// Writes the line with one call, which the system appends atomically. If the disk is full and only
// a part was written, the part is removed unless another writer has appended after it.
void TensorPrinter::Append(const std::string& line) {
  ssize_t written = 0;
  do {
    written = write(file_.get(), line.data(), line.size());
  } while (written < 0 && errno == EINTR);
  const int error = errno;
  CAFFE_ENFORCE_GE(written, 0, "cannot write \"", path_, "\": ", std::strerror(error));
  if (static_cast<size_t>(written) != line.size()) {
    struct stat info;
    const off_t end = lseek(file_.get(), 0, SEEK_CUR);
    if (end >= written && fstat(file_.get(), &info) == 0 && info.st_size == end) {
      (void)!ftruncate(file_.get(), end - written);
    }
  }
  CAFFE_ENFORCE_EQ(static_cast<size_t>(written), line.size(), "bytes written to \"", path_,
                   "\": no space left");
}

bool TensorPrinter::Print(const Tensor& tensor) {
  if (!path_.empty() && !file_) OpenFile();
  const std::string line = TensorLine(name_, tensor, limit_);
  if (path_.empty()) {
    LogOutput(__FILE__, __LINE__, line);
  } else {
    Append(line + '\n');
  }
  return true;
}

void RegisterPrint() {
  RegisterSchema("Print", __FILE__)
      .NumInputs(1)
      .NumOutputs(0)
      .Args(kPrintToFile, kPrintLimit, kPrintEveryN)
      .Input(0, "tensor", "float, double, int32, int64, bool, uint8 or string")
      .AccessesFiles()
      .SetDoc("Prints the name, type, dimensions and values of a tensor to stderr or to a file.");
  RegisterCpuOperator<PrintOp<CPUContext>>("Print", __FILE__);
  // The operator has no outputs.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("Print", __FILE__);
}

}  // namespace caffe2rt
