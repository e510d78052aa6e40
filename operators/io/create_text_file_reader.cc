// CreateTextFileReader: opens a text file for TextFileReaderRead.
//   no inputs  ->  handler: the reader, at the first line
// TextFileReaderRead: reads the next lines of the file.
//   handler  ->  a tensor for each field: [lines read], float or strings
// A line is a record, whose fields are separated by tabs; nothing is escaped. The file is read
// num_passes times without a gap, so that a batch may reach over its end. At the end, the tensors are
// shorter, and then empty. The path is used as it is, not relative to the root folder. The workspace's
// file policy must allow it.
#include <absl/strings/ascii.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_split.h>

#include <algorithm>
#include <climits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "caffe2_core/base/mutex.h"
#include "caffe2_core/base/utf8.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/file_access.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/runtime/workspace.h"
#include "caffe2_core/tensor/synchronized_types.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/io/database_arguments.h"

namespace caffe2rt {
namespace {

constexpr ArgumentSpec<std::string> kTextFile{"filename", "", "path of the file", kNotEmpty, true};
constexpr ArgumentSpec<int> kNumPasses{"num_passes",
                                       1,
                                       "how many times the file is read",
                                       {[](int passes) { return passes >= 0; }, "at least 0"}};
constexpr RepeatedArgumentSpec<int> kFieldTypes{
    "field_types", "for each field of a line, 1 (TensorProto.FLOAT) or 4 (TensorProto.STRING)"};
constexpr ArgumentSpec<int> kLines{
    "batch_size", 1, "most lines to read", {[](int lines) { return lines >= 0; }, "at least 0"}};

// A file that is read from its beginning to its end, several times. Thread safe: the lines of a call
// of Read follow each other.
class TextFileReader {
 public:
  // THROWS if the file cannot be opened.
  TextFileReader(const std::string& path, int passes, std::vector<int> field_types)
      : path_(path),
        field_types_(std::move(field_types)),
        file_(OpenForReading(path)),
        passes_left_(passes) {}

  size_t num_fields() const { return field_types_.size(); }

  // Reads up to `count` lines into the tensors, one for each field. THROWS if a line is not as the
  // field types say; the reader is then behind the lines.
  void Read(int count, const std::vector<Tensor*>& fields) {
    const MutexLock lock(mutex_);
    lines_.clear();
    while (static_cast<int>(lines_.size()) < count && NextLine()) {
    }
    for (size_t f = 0; f < fields.size(); ++f) {
      fields[f]->Resize(static_cast<int64_t>(lines_.size()));
      if (field_types_[f] == TensorProto::FLOAT) {
        (void)fields[f]->mutable_data<float>();
      } else {
        (void)fields[f]->mutable_data<std::string>();
      }
    }
    for (size_t row = 0; row < lines_.size(); ++row) SetRow(row, fields);
  }

 private:
  struct Line {
    int64_t number = 0;  // in the file, from 1
    std::string text;
  };

  // Appends the next line to lines_. Returns false behind the last line of the last pass.
  bool NextLine() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    Line line;
    while (passes_left_ > 0) {
      if (GetLine(&line.text)) {
        line.number = ++line_;
        lines_.push_back(std::move(line));
        return true;
      }
      const bool is_empty = line_ == 0;
      line_ = offset_ = 0;
      if (--passes_left_ == 0 || is_empty) break;
    }
    return false;
  }

  // Returns false at the end of the file. The last line may have no newline.
  bool GetLine(std::string* text) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    constexpr int64_t kBufferBytes = 1 << 16;
    text->clear();
    while (true) {
      if (at_ == buffer_.size()) {
        const int64_t rest = FileSize(file_, path_) - offset_;
        if (rest <= 0) return !text->empty();
        buffer_.resize(static_cast<size_t>(std::min(rest, kBufferBytes)));
        ReadAt(file_, path_, offset_, buffer_.data(), buffer_.size());
        offset_ += static_cast<int64_t>(buffer_.size());
        at_ = 0;
      }
      const size_t end = buffer_.find('\n', at_);
      text->append(buffer_, at_, end == std::string::npos ? end : end - at_);
      at_ = end == std::string::npos ? buffer_.size() : end + 1;
      if (end != std::string::npos) return true;
    }
  }

  void SetRow(size_t row, const std::vector<Tensor*>& fields)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const Line& line = lines_[row];
    const std::vector<std::string> parts = absl::StrSplit(line.text, '\t');
    CAFFE_ENFORCE_EQ(parts.size(), fields.size(), "fields separated by tabs in line ", line.number,
                     " of \"", path_, "\", want one for each of argument field_types");
    for (size_t f = 0; f < fields.size(); ++f) {
      if (field_types_[f] == TensorProto::STRING) {
        fields[f]->mutable_data<std::string>()[row] = parts[f];
        continue;
      }
      float value = 0;
      CAFFE_ENFORCE(absl::SimpleAtof(absl::StripAsciiWhitespace(parts[f]), &value), "field ", f,
                    " of line ", line.number, " of \"", path_, "\" is \"", Shortened(parts[f]),
                    "\", want a number");
      fields[f]->mutable_data<float>()[row] = value;
    }
  }

  const std::string path_;
  const std::vector<int> field_types_;
  Mutex mutex_;
  const FileDescriptor file_;
  int passes_left_ ABSL_GUARDED_BY(mutex_);
  int64_t line_ ABSL_GUARDED_BY(mutex_) = 0;  // lines read in this pass
  std::vector<Line> lines_ ABSL_GUARDED_BY(mutex_);
  // A part of the file, which ends before byte offset_, and what has been read of it.
  std::string buffer_ ABSL_GUARDED_BY(mutex_);
  size_t at_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t offset_ ABSL_GUARDED_BY(mutex_) = 0;
};

// The content of a blob. Shared, because operators keep the reader while they read.
using TextFileReaderBlob = std::shared_ptr<TextFileReader>;

class CreateTextFileReaderOp final : public Operator<CPUContext> {
 public:
  CreateTextFileReaderOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        filename_(ReadArgument(kTextFile)),
        num_passes_(ReadArgument(kNumPasses)),
        field_types_(ReadArgument(kFieldTypes)) {
    CAFFE_ENFORCE(!field_types_.empty(), "argument \"", kFieldTypes.name,
                  "\" is empty, want the type of each field");
    for (const int type : field_types_) {
      CAFFE_ENFORCE(type == TensorProto::FLOAT || type == TensorProto::STRING, "argument \"",
                    kFieldTypes.name, "\" contains ", type, ", want 1 (FLOAT) or 4 (STRING)");
    }
  }

  bool RunOnDevice() override {
    const std::string path = workspace()->file_access().CheckRead(filename_);
    *OperatorBase::Output<TextFileReaderBlob>(0) =
        std::make_shared<TextFileReader>(path, num_passes_, field_types_);
    return true;
  }

 private:
  const std::string filename_;
  const int num_passes_;
  const std::vector<int> field_types_;
};

class TextFileReaderReadOp final : public Operator<CPUContext> {
 public:
  TextFileReaderReadOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), batch_size_(ReadArgument(kLines)) {}

  bool RunOnDevice() override {
    const TextFileReaderBlob reader = OperatorBase::Input<TextFileReaderBlob>(0);
    CAFFE_ENFORCE(reader != nullptr, "input 0 (handler) holds no reader");
    CAFFE_ENFORCE_EQ(static_cast<size_t>(OutputSize()), reader->num_fields(),
                     "outputs, want one for each of the reader's field_types");
    fields_.clear();
    for (int i = 0; i < OutputSize(); ++i) fields_.push_back(Output(i));
    reader->Read(batch_size_, fields_);
    return true;
  }

 private:
  const int batch_size_;
  std::vector<Tensor*> fields_;
};

}  // namespace

void RegisterCreateTextFileReader() {
  DeclareSynchronizedType<TextFileReaderBlob>();
  RegisterSchema("CreateTextFileReader", __FILE__)
      .NumInputs(0)
      .NumOutputs(1)
      .Args(kTextFile, kNumPasses, kFieldTypes)
      .Output(0, "handler", "a reader, at the first line")
      .AccessesFiles()
      .SetDoc("Opens a text file whose lines are records, with fields separated by tabs.");
  RegisterCpuOperator<CreateTextFileReaderOp>("CreateTextFileReader", __FILE__);
  // Files have no gradients.
  RegisterGradient<NoGradient>("CreateTextFileReader", __FILE__);

  RegisterSchema("TextFileReaderRead", __FILE__)
      .NumInputs(1)
      .NumOutputs(1, INT_MAX)
      .Arg(kLines)
      .Input(0, "handler", "a reader from CreateTextFileReader")
      .Output(0, "field_0, field_1, ...",
              "float or string [lines read]: one tensor for each field of a line; empty at the end")
      .SynchronizedInputs({0})
      .ModifiesInputs({0})
      .SetDoc(
          "Reads the next batch_size lines of a text file, or those that are left after the last "
          "pass.");
  RegisterCpuOperator<TextFileReaderReadOp>("TextFileReaderRead", __FILE__);
  RegisterGradient<NoGradient>("TextFileReaderRead", __FILE__);
}

}  // namespace caffe2rt
