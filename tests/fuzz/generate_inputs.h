#pragma once
// Generates inputs of operators from the documentation of their schemas.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "caffe2_core/graph/op_schema.h"
#include "caffe2rt/caffe2.pb.h"
#include "tests/fuzz/random.h"

namespace caffe2rt::test {

// The sizes that the names in documented shapes stand for, which are the same in all inputs of an
// operator: "N" is one size, "inner.." several.
class DocumentedSizes {
 public:
  // A name that is an argument of `op` stands for its value, or for its default in `schema`.
  DocumentedSizes(const OpSchema& schema, const OperatorDef& op, Random* random)
      : schema_(schema), op_(op), random_(random) {}

  // The shape that a text such as "[N, C * group, inner..] float" states, or a random one.
  std::vector<int64_t> DimsOf(const std::string& doc);
  // The number to which the lengths in an input of these dimensions should add up: the rows of the
  // input before it. -1 if the input does not contain lengths. DimsOf was called for it last.
  int64_t RowsOfSegments(const OpSchema::NamedDoc& doc, const std::vector<int64_t>& dims) const;

 private:
  std::vector<int64_t> Extent(const std::string& term);
  int64_t Value(const std::string& expression);
  int64_t SizeOf(const std::string& name);

  const OpSchema& schema_;
  const OperatorDef& op_;
  Random* const random_;
  std::map<std::string, std::vector<int64_t>> extents_;
  std::vector<int64_t> first_;          // the shape of the first input
  std::vector<int64_t> last_, before_;  // those of the last two inputs
};

// Appends operators to `net` that create `blob` as `doc` describes it: a tensor of the documented
// type, a queue, a counter, and so on. Unless it should fit, it may be damaged.
void AddInput(const OpSchema::NamedDoc& doc, const std::string& blob, bool fits,
              DocumentedSizes* sizes, Random* random, NetDef* net);

}  // namespace caffe2rt::test
