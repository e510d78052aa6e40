#pragma once
// What the operators on worlds share: their common arguments, their schemas, and how they fail.

#include <string>
#include <vector>

#include "caffe2_core/graph/argument_spec.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/distributed/common_world.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<std::string> kCollectiveStatusBlob{
    "status_blob", "",
    "name of a blob: int32 [1], 0 at first, 1 after a failure, in which case the operator returns "
    "false instead of "
    "throwing; if empty, it throws"};
inline constexpr ArgumentSpec<int> kCollectiveRoot{
    "root",
    0,
    "the rank that has, or gets, the values",
    {[](int root) { return root >= 0; }, "0 or above"}};
inline constexpr ArgumentSpec<bool> kCollectiveGpuDirect{
    "gpu_direct", false, "send from the memory of a GPU; has no effect on the CPU"};
inline constexpr ArgumentSpec<bool> kCollectiveSync{"sync", false,
                                                    "wait for a GPU; has no effect on the CPU"};

// The base class. RunOnDevice calls Work, and reports its failure as status_blob demands.
class CollectiveOp : public Operator<CPUContext> {
 public:
  // THROWS if the operator names an engine that is not available: another one is never used instead.
  CollectiveOp(const OperatorDef& def, Workspace* ws);
  bool RunOnDevice() final;

 protected:
  virtual void Work() = 0;

  // The world in input 0. THROWS if the operator names another engine than that of the world.
  CommonWorldBlob World() const;
  CollectiveCall Call() const { return {.label = label_}; }
  // The tensor that is input `i` + 1 and output `i`, with its memory.
  Tensor* InPlace(int i);
  // The first of `count` tensors. THROWS if they do not have the same type and number of elements.
  Tensor* FirstInPlace(int count);

 private:
  Blob* status_ = nullptr;
  const std::string label_;
};

// The schema of an operator on worlds: its order among others, its threads, and status_blob.
OpSchema& CollectiveSchema(const char* type, const char* file);
// ... of one with tensors in place: comm_world, X_0, X_1, ... -> X_0, X_1, ...
OpSchema& InPlaceCollectiveSchema(const char* type, const char* file);

}  // namespace caffe2rt
