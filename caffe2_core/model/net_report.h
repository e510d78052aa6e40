#pragma once
// NetReport: what the preparation of a net did, and which kernel each of its operators runs.
//
//   Preparation prepared = PrepareNet(predict_net, {}, &ws);
//   PreparedNet net(prepared.net, {}, arenas, &ws);
//   net.Run();                                              // operators choose their kernels
//   std::cout << NetReportAsJson(ReportNet(prepared, &net.net()));
//
// Predictor::Report, caffe2rt_report of the C interface and --report of `caffe2 run`, `bench` and
// `compare` return this report. For the same model and options they return the same.

#include <cstdint>
#include <string>
#include <vector>

#include "caffe2_core/model/preparation.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

class NetBase;

struct OperatorReport {
  std::string type;
  std::string output;  // the name of the first output; "" without outputs
  std::string device;  // the type, and its number if that is not 0
  // The algorithm or engine, who implements it, the layouts of the tensors that it reads and writes,
  // and why it was chosen (runtime/kernel_choice.h). Empty if the operator has only one kernel, or has
  // not run.
  std::string kernel = {}, implementation = {}, x_layout = {}, y_layout = {}, reason = {};
};

struct NetReport {
  std::string net;                       // its name
  std::vector<std::string> passes = {};  // names of the passes that changed it
  std::vector<std::string> new_constants = {}, freed_constants = {};
  std::string instruction_set;  // of this machine, as far as it is used
  int threads = 1;              // among which operators divide their work
  bool deterministic = false;
  std::vector<OperatorReport> operators = {};  // in the order of the net
};

// `preparation` describes how `net` was made; its field `net` is not read.
NetReport ReportNet(const Preparation& preparation, const NetBase* net);

// The bytes of the weights that the operators of a net read which are prepared now, in the layouts of
// operators: each form once, even if several operators or nets share it. Forms of weights that change
// while the net runs belong to operators and are not included.
int64_t PreparedBytesOf(const NetBase& net);

// A JSON object with the fields of NetReport, ending in a newline. Empty fields of operators are left
// out. Bytes of names that are not UTF-8 are replaced.
std::string NetReportAsJson(const NetReport& report);

}  // namespace caffe2rt
#pragma GCC visibility pop
