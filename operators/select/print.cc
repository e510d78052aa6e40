#include "operators/select/print.h"

#include <absl/strings/str_cat.h>

#include "caffe2_core/base/logging.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/graph/gradient.h"
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

std::string PrintFileName(const std::string& blob) { return FileNameOfBlob(blob) + ".log"; }

TensorPrinter::TensorPrinter(const ArgumentHelper& args, const std::string& name,
                             const Workspace& ws)
    : name_(name),
      limit_(args.Read(kPrintLimit) > 0 ? args.Read(kPrintLimit) : 1000),
      every_n_(args.Read(kPrintEveryN)) {
  if (args.Read(kPrintToFile)) file_ = std::make_unique<LineFile>(ws, PrintFileName(name));
}

bool TensorPrinter::Print(const Tensor& tensor) {
  if (file_ != nullptr) file_->EnsureOpen();
  const std::string line = TensorLine(name_, tensor, limit_);
  if (file_ == nullptr) {
    LogOutput(__FILE__, __LINE__, line);
  } else {
    file_->Append(line);
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
      .HasEffect(Effect::kOutput)
      .TypesOfInput(0, {.accepted = {TensorProto::FLOAT, TensorProto::DOUBLE, TensorProto::INT32,
                                     TensorProto::INT64, TensorProto::BOOL, TensorProto::UINT8,
                                     TensorProto::STRING}})
      .SetDoc("Prints the name, type, dimensions and values of a tensor to stderr or to a file.");
  RegisterCpuOperator<PrintOp<CPUContext>>("Print", __FILE__);
  // The operator has no outputs.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("Print", __FILE__);
}

}  // namespace caffe2rt
