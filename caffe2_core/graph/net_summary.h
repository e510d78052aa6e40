#pragma once
// The cost of a net, derived from its definition: shapes, parameters, multiply-adds and memory of
// each operator and in total.

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "caffe2_core/graph/shape_inference.h"
#include "caffe2rt/caffe2.pb.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

struct OpSummary {
  std::string type;
  std::string name;
  std::vector<std::string> input_names;
  std::vector<std::string> output_names;
  std::vector<TensorShape> inputs;   // unknown_shape is set in shapes that are not known
  std::vector<TensorShape> outputs;  // likewise
  // Elements of parameters; each counts for the first operator using it, or in an init net for the
  // operator that writes it.
  int64_t parameters = 0;
  int64_t multiply_adds = 0;  // of convolutions and matrix multiplications; 0 for other operators
  int64_t output_bytes = 0;
  bool complete = false;  // all shapes are known, and so the numbers above are exact
  std::string problem;    // why shape inference skipped the operator or failed, one line, or empty
};

struct NetSummary {
  std::vector<OpSummary> ops;
  int64_t parameters = 0;
  int64_t parameter_bytes = 0;
  int64_t multiply_adds = 0;
  int64_t activation_bytes = 0;  // of all blobs that the net writes, each once, at its largest
  int unknown_ops = 0;           // number of operators that are not `complete`
  ShapeMap shapes;               // shapes after the net has run
};

// Whether the net fills weights: it reads nothing from outside, except the databases of Load, and
// most of its operators have no inputs.
bool FillsWeights(const NetDef& net);

// Summarizes `net`. Shapes are inferred through `init_nets` first. `seeds` contains the shapes of
// inputs, and of parameters that no init net fills; a seed overrides the shape that an init net
// gives the blob. The parameters are the blobs `parameter_names`, or, if that is empty, the blobs
// that the init nets write except those in `seeds`. If `net` itself fills weights, and there are no
// init nets, they are the blobs that it writes. Numbers saturate at INT64_MAX. Problems with
// operators are reported in OpSummary::problem. THROWS only for null pointers and if memory runs
// out.
NetSummary SummarizeNet(const std::vector<const NetDef*>& init_nets, const NetDef& net,
                        const ShapeMap& seeds, const std::set<std::string>& parameter_names = {});

// Multiply-adds of one operator; 0 if its type has none or a shape is not known.
int64_t MultiplyAdds(const OperatorDef& op, const std::vector<TensorShape>& inputs,
                     const std::vector<TensorShape>& outputs);

// "float [1, 3, 224, 224]", or "?" if the shape is not known.
std::string ShapeText(const TensorShape& shape);

// Numbers of elements and bytes: 0 if the shape is not known, at most INT64_MAX.
int64_t ElementsOf(const TensorShape& shape);
int64_t BytesOf(const TensorShape& shape);

}  // namespace caffe2rt
#pragma GCC visibility pop
