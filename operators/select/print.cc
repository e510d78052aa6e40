#include "operators/select/print.h"

#include <iostream>
#include <sstream>

#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/runtime/workspace.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/select/register.h"

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

TensorPrinter::TensorPrinter(const ArgumentHelper& args, const std::string& name,
                             const Workspace& ws)
    : name_(name),
      limit_(args.GetSingleArgument<int>("limit", 0) > 0 ? args.GetSingleArgument<int>("limit", 0)
                                                         : 1000),
      every_n_(args.GetSingleArgument<int>("every_n", 1)) {
  CAFFE_ENFORCE_GE(every_n_, 1, "argument every_n");
  if (args.GetSingleArgument<bool>("to_file", false)) path_ = ws.RootFolder() + "/" + name + ".log";
}

bool TensorPrinter::Print(const Tensor& tensor) {
  if (!path_.empty()) {
    // Not in the constructor: a net that is only looked at leaves no files behind.
    if (!file_.is_open()) file_.open(path_, std::ofstream::out | std::ofstream::trunc);
    CAFFE_ENFORCE(file_.good(), "cannot open \"", path_, "\" to print to; is there such a folder");
    PrintTensor(name_, tensor, limit_, file_);
    file_ << std::endl;
    return file_.good();
  }
  std::ostringstream line;
  PrintTensor(name_, tensor, limit_, line);
  line << '\n';
  std::cerr << line.str();
  return true;
}

void RegisterPrint() {
  RegisterSchema("Print", __FILE__)
      .NumInputs(1)
      .NumOutputs(0)
      .Arg("to_file", "1: to the file <root folder>/<blob>.log, else to stderr", 0)
      .Arg("limit", "most values to print; 0: 1000", 0)
      .Arg("every_n", "prints in every n-th run", 1)
      .Input(0, "tensor", "float, double, int32, int64, bool, uint8 or string")
      .NoGradientBecause("it has no output")
      .SetDoc("Prints a tensor: name, type, dimensions and values.");
  RegisterCpuOperator<PrintOp<CPUContext>>("Print", __FILE__);
}

}  // namespace caffe2rt
