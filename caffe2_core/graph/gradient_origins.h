#pragma once
// Finds gradients that operators of a backward pass overwrite before other operators read them. This
// happens if Sum gives several blobs the gradient of its output, under one name:
//
//   Relu a -> a;  Sum a b -> a        (a, b: a_grad)
//   ReluGradient a a_grad -> a_grad   (now the producer of b reads the gradient of the old a)
//
// Used by the backward pass only.

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "caffe2_core/graph/blob_versions.h"
#include "caffe2_core/graph/gradient_sums.h"
#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt {

class GradientOrigins {
 public:
  // What writes a gradient: an output of an operator of the backward pass, or nothing if the value
  // comes from outside.
  using Origin = std::optional<GradientOutput>;

  // The blob `name` contains the gradient of `version`, or a part of a sparse one.
  void Set(BlobVersions::Version version, const std::string& name, Origin origin) {
    origins_[{version, name}] = origin;
  }
  Origin Get(BlobVersions::Version version, const std::string& name) const {
    const auto found = origins_.find({version, name});
    return found == origins_.end() ? std::nullopt : found->second;
  }

  // Operator `op` of the backward pass must find the value of this origin in its input `name`.
  // REQUIRES: not below the operators of earlier calls.
  void Expect(size_t op, const std::string& name, Origin origin) {
    reads_.push_back({op, name, origin});
  }

  // THROWS if an operator of the backward pass does not find what it must.
  void Check(const std::vector<OperatorDef>& ops) const;

 private:
  struct Read {
    size_t op;
    std::string name;
    Origin origin;
  };

  std::map<std::pair<BlobVersions::Version, std::string>, Origin> origins_;
  std::vector<Read> reads_;
};

}  // namespace caffe2rt
