#pragma once
// What a function that translates a layer sees: the layer, its blobs, the shapes of its bottoms; and
// what it writes: operators, parameters and notes.

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/import/caffe/upgrade.h"
#include "caffe2_core/import/caffe/weights_file.h"
#include "caffe2_core/io/net_weights.h"
#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt {

using CaffeDims = std::vector<int64_t>;

// The nets that are being written. A parameter is an operator of the init net whose values are in
// `weights`.
struct CaffeNets {
  NetDef init, predict;
  std::vector<OperatorWeights> weights;
  std::map<std::string, TensorShape> shapes;             // of the blobs, as far as they are known
  std::map<std::string, std::string> shared;             // parameters by the name that layers share
  std::map<std::string, const CaffeBlob*> shared_blobs;  // the same, of those that Values reads
  std::set<std::string> names;                           // of all blobs
  std::map<std::string, int> repetitions;                // of the names that were wanted again
  std::string fixed_size_layer;  // the first that depends on heights and widths
};

class CaffeLayerContext {
 public:
  // `blobs` are those of the layer in the weights; null if there are no weights at all. `bottoms` and
  // `tops` are the names of the blobs.
  CaffeLayerContext(const CaffeLayer& layer, std::vector<std::string> bottoms,
                    std::vector<std::string> tops, const CaffeWeightsFile* weights,
                    const CaffeLayerBlobs* blobs, CaffeNets* nets)
      : layer_(layer),
        bottoms_(std::move(bottoms)),
        tops_(std::move(tops)),
        weights_(weights),
        blobs_(blobs),
        nets_(nets) {}

  const CaffeLayer& layer() const { return layer_; }
  // The message with the arguments of the layer, such as "convolution_param".
  const CaffeMessage& Param(std::string_view name) const { return layer_.fields.Message(name); }
  size_t bottoms() const { return bottoms_.size(); }
  size_t tops() const { return tops_.size(); }
  // THROWS if the layer has no such bottom or top.
  const std::string& Bottom(size_t i) const;
  const std::string& Top(size_t i) const;

  bool HasDims(const std::string& blob) const;
  // THROWS if the shape is not known.
  CaffeDims Dims(const std::string& blob) const;
  int64_t Rank(const std::string& blob) const;
  // States the shape of a blob that inference does not know.
  void SetDims(const std::string& blob, const CaffeDims& dims);
  // The same for a layer whose operators then fit only the sizes that are known now.
  CaffeDims FixedDims(const std::string& blob);
  // The axis in 0 .. rank - 1, or 0 .. rank with `end`; a negative one counts from the end.
  int64_t Axis(const std::string& blob, int64_t axis, bool end = false) const;

  // Appends an operator and infers the shapes of its outputs. THROWS if the shapes of its inputs do
  // not fit.
  void Emit(const std::string& type, std::vector<std::string> inputs,
            std::vector<std::string> outputs, const std::vector<Argument>& args = {});
  // The same for an operator with one output that gets a name of its own, which is returned.
  std::string Value(const std::string& type, std::vector<std::string> inputs,
                    const std::vector<Argument>& args = {});

  // Appends operators that take the elements [starts, ends) of each axis; an end of -1 is that of the
  // axis.
  void Slice(const std::string& x, const CaffeDims& starts, const CaffeDims& ends,
             const std::string& top);

  // Whether there are weights; without them parameters are filled as the layer's fillers say.
  bool has_weights() const { return weights_ != nullptr; }
  // The number of blobs in the weights, or `expected` without weights. Blobs that the layer shares with
  // layers before it count.
  size_t Blobs(size_t expected) const;
  // The dims of a blob in the weights, legacy shapes without their leading ones.
  CaffeDims BlobDims(size_t i) const;
  int64_t BlobSize(size_t i) const;
  // A parameter with the values of blob i and these dims, which replace a legacy shape. THROWS if
  // the layer has no such blob or if it has another number of elements. `filler` is used without
  // weights.
  std::string Parameter(size_t i, const std::string& label, const CaffeDims& dims,
                        const CaffeMessage& filler);
  // The values of blob i; without weights `size` elements `missing`.
  std::vector<float> Values(size_t i, int64_t size, float missing);
  // The layer does without the blobs that it has.
  void IgnoreBlobs() { used_ = SIZE_MAX; }
  // THROWS if the weights have more blobs than the layer read.
  void CheckBlobs() const;
  // A constant of the net.
  std::string Constant(const std::string& label, const CaffeDims& dims,
                       const std::vector<float>& values);
  // The same of zeros, which take no memory before the init net runs.
  std::string Zeros(const std::string& label, int64_t count);
  std::string Constant(const std::string& label, float value) {
    return Constant(label, {1}, {value});
  }

 private:
  std::string UniqueName(const std::string& wanted);
  void AddFill(const std::string& name, const CaffeDims& dims, Tensor values);
  void FillWithout(const std::string& name, const CaffeDims& dims, const CaffeMessage& filler);
  void InferShapes(const OperatorDef& op);
  const CaffeBlob& BlobAt(size_t i) const;
  std::string SharedName(size_t i) const;

  const CaffeLayer& layer_;
  const std::vector<std::string> bottoms_, tops_;
  const CaffeWeightsFile* weights_;
  const CaffeLayerBlobs* blobs_;
  CaffeNets* nets_;
  size_t used_ = 0;  // blobs that were read
};

}  // namespace caffe2rt
