#include "operators/select/print.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iostream>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/io/file_access.h"
#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/runtime/workspace.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt {

namespace {

// Names as Caffe2 prints them, whatever this compiler calls the types.
const char* PrintedTypeName(float) { return "float"; }
const char* PrintedTypeName(double) { return "double"; }
const char* PrintedTypeName(int32_t) { return "int"; }
const char* PrintedTypeName(int64_t) { return "long int"; }
const char* PrintedTypeName(bool) { return "bool"; }
const char* PrintedTypeName(uint8_t) { return "unsigned char"; }
const char* PrintedTypeName(const std::string&) { return "std::basic_string<char>"; }

}  // namespace

void PrintTensor(const std::string& name, const Tensor& tensor, int64_t limit, std::ostream& out) {
  DispatchByType<float, double, int32_t, int64_t, bool, uint8_t, std::string>(
      tensor.dtype(), "input 0 (tensor)", [&](const auto& element) {
        using T = std::decay_t<decltype(element)>;
        const T* values = tensor.data<T>();
        out << "Tensor " << name << " of type " << PrintedTypeName(T()) << ". Dims: (";
        for (const int64_t dim : tensor.dims()) out << dim << ',';
        out << "): ";
        for (int64_t i = 0; i < tensor.numel() && i < limit; ++i)
          out << (i > 0 ? "," : "") << values[i];
      });
}

std::string PrintFileName(const std::string& blob) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string name;
  for (const char c : blob) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '/' || c == '%' || byte < 0x20 || byte == 0x7f) {
      name += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
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

// Not in the constructor: a net that is only looked at leaves no files behind.
void TensorPrinter::OpenFile() {
  (void)ws_.file_access().CheckWrite(path_);
  // Not the path that the check returns: the name itself must be no link, wherever it leads.
  constexpr int kFlags = O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  FileDescriptor file(open(path_.c_str(), kFlags, 0666));
  const int error = errno;
  CAFFE_ENFORCE(file, "cannot open \"", path_, "\" to print to: ",
                error == ELOOP ? "it is a symbolic link" : std::strerror(error));
  struct stat info;
  const bool is_own = fstat(file.get(), &info) == 0 && S_ISREG(info.st_mode) && info.st_nlink <= 1;
  CAFFE_ENFORCE(is_own, "cannot print to \"", path_, "\": it is not a regular file with one name");
  // Alone with the file: what is in it is of an earlier net. A file system without locks knows
  // nobody else.
  const bool is_alone = flock(file.get(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
  if (is_alone) CAFFE_ENFORCE_EQ(ftruncate(file.get(), 0), 0, "cutting \"", path_, "\"");
  (void)flock(file.get(), LOCK_SH);  // others hold it alone for no longer than this takes
  file_ = std::move(file);
}

// One call for the line, which the system appends in one piece. A part of a line, where the disk is
// full, is taken off again unless somebody has written behind it.
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
                   "\": there is no space for more");
}

bool TensorPrinter::Print(const Tensor& tensor) {
  if (!path_.empty() && !file_) OpenFile();
  ClassicStringStream line;
  PrintTensor(name_, tensor, limit_, line);
  line << '\n';
  if (path_.empty()) {
    std::cerr << line.str();
  } else {
    Append(line.str());
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
      .SetDoc("Prints a tensor: name, type, dimensions and values.");
  RegisterCpuOperator<PrintOp<CPUContext>>("Print", __FILE__);
  // It has no output.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("Print", __FILE__);
}

}  // namespace caffe2rt
