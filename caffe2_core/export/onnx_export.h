#pragma once
// Writes nets as ONNX models.
//
//   OnnxExport model = ExportOnnx(net, {.weights = weights, .inputs = shapes, .outputs = {"softmax"}});
//   WriteOnnx(model, "model.onnx");
//
// Every operator becomes the nodes that compute the same (README.md of this folder lists them). Names of
// blobs are kept; where a net writes a blob several times, its last value has the name, and the earlier
// ones get names of their own. Nothing is run, and the net is not changed.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "caffe2_core/graph/shape_inference.h"
#include "caffe2rt/caffe2.pb.h"
#include "caffe2rt/onnx.pb.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

class Tensor;

// The opsets of ai.onnx that can be written.
inline constexpr int kMinOnnxExportOpset = 13;
inline constexpr int kMaxOnnxExportOpset = 24;

struct OnnxExportOptions {
  // The weights by name. They must live as long as the result.
  std::map<std::string, const Tensor*> weights = {};
  // Shapes and types of the inputs: of every external input that is not a weight.
  ShapeMap inputs = {};
  // The blobs that the model returns.
  std::vector<std::string> outputs = {};
  // The dims of outputs whose shapes do not follow from those of the inputs; -1 for those without a
  // number. Others of them are an error, because ONNX wants at least the rank.
  std::map<std::string, std::vector<int64_t>> output_dims = {};
  int opset = 17;
};

// A model, whose weights are still those of the net.
struct OnnxExport {
  onnx::ModelProto model;  // the initializers have no data yet
  // Element i: the weight of initializer i; null where the initializer has its data.
  std::vector<const Tensor*> weights;
  std::vector<std::string> notes;  // what differs from the net, one line each
};

// THROWS one error that lists all operators that have no ONNX form, with their names; if shapes that
// are needed are not known; if the opset is not one that can be written.
OnnxExport ExportOnnx(const NetDef& net, const OnnxExportOptions& options);

// Writes the model. If its weights have more than `max_inline_bytes`, they go into a second file beside
// it, named `path` and ".data", where each begins at a multiple of 4 KiB. Each file is complete or
// untouched; the model is written last. Standard output takes a model of one file only. Returns the
// files that were written. THROWS for failures of the file system.
std::vector<std::string> WriteOnnx(const OnnxExport& model, const std::string& path,
                                   int64_t max_inline_bytes = int64_t{2000} << 20);

// The types of operators that have an ONNX form, in alphabetical order.
std::vector<std::string_view> OnnxExportTypes();

}  // namespace caffe2rt
#pragma GCC visibility pop
