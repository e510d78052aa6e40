#pragma once
// The results of `caffe2 bench`: as text, as JSON, and next to those of an earlier run.

#include <string>
#include <vector>

#include "binaries/json_output.h"
#include "caffe2_core/inspect/net_profile.h"

namespace caffe2rt {

// Prints the times of the net, of its `top` costliest operators (0: all) and of its operator types.
void PrintProfile(const NetProfile& profile, size_t top);
void WriteProfile(const NetProfile& profile, Json* json);

// A blob in a table, without the ending that the graph pass for oneDNN's layouts adds.
std::string BlobText(const std::string& blob);

// An earlier result of `caffe2 bench --json`.
struct EarlierProfile {
  struct Operator {
    std::string type, output;
    double ms = 0;
  };
  std::string file = {};
  std::string net = {};
  double median_ms = 0;
  int64_t threads = 0;
  double multiply_adds = 0;  // of all operators; 0 if they are not known
  std::vector<Operator> operators = {};
};
// THROWS if the file cannot be read or is not such a result.
EarlierProfile ReadEarlierProfile(const std::string& file);

// Compares the net and its operators with an earlier result. Operators are matched by type and first
// output, in the order of the net; those of only one side are listed too. Prints the `top` operators
// that changed most (0: all).
void PrintComparison(const NetProfile& profile, const EarlierProfile& earlier, size_t top);
void WriteComparison(const NetProfile& profile, const EarlierProfile& earlier, Json* json);

}  // namespace caffe2rt
