#pragma once
// What a net costs, told from its definition: shapes, parameters, multiply-adds and memory,
// operator by operator.

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "caffe2_core/graph/shape_inference.h"
#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt {

struct OpSummary {
  std::string type;
  std::string name;
  std::vector<std::string> input_names;
  std::vector<std::string> output_names;
  std::vector<TensorShape> inputs;  // unknown_shape for what is not known
  std::vector<TensorShape> outputs;
  int64_t parameters =
      0;  // elements of inputs that an init net fills, each counted where it is used first
  int64_t multiply_adds = 0;  // of convolutions and matrix products; 0 for others
  int64_t output_bytes = 0;
  bool complete = false;  // all shapes are known, so that the numbers are
  std::string problem;    // why not, one line
};

struct NetSummary {
  std::vector<OpSummary> ops;
  int64_t parameters = 0;
  int64_t parameter_bytes = 0;
  int64_t multiply_adds = 0;
  int64_t activation_bytes = 0;  // of all blobs that the net writes, each once, at its largest
  int unknown_ops = 0;           // operators whose numbers are not complete
  ShapeMap shapes;               // after the net
};

// `init_nets` are inferred first. The parameters are `parameter_names`, or where that is empty what
// the init nets fill. `seeds` are shapes of inputs, and of parameters that no init net fills. Sums
// stop at INT64_MAX. Never throws.
NetSummary SummarizeNet(const std::vector<const NetDef*>& init_nets, const NetDef& net,
                        const ShapeMap& seeds, const std::set<std::string>& parameter_names = {});

// Multiply-adds of one operator; 0 where none are counted or shapes are not known.
int64_t MultiplyAdds(const OperatorDef& op, const std::vector<TensorShape>& inputs,
                     const std::vector<TensorShape>& outputs);

// "float [1, 3, 224, 224]"; "?" when it is not known.
std::string ShapeText(const TensorShape& shape);

// Elements and bytes; 0 when not known, INT64_MAX when beyond.
int64_t ElementsOf(const TensorShape& shape);
int64_t BytesOf(const TensorShape& shape);

}  // namespace caffe2rt
