#pragma once
// What the operators on stores share.

#include <string>

#include "caffe2_core/graph/argument_spec.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/distributed/store.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<std::string> kStoreBlobName{
    "blob_name", "", "the key; if empty, the name of the blob that is read or written"};

// The store in input 0. They are files of another machine to others: the order of a net is kept.
inline Store& StoreInput(const OperatorBase& op) {
  const StoreBlob& store = op.Input<StoreBlob>(0);
  CAFFE_ENFORCE(store != nullptr, "input 0 (handler) holds no store");
  return *store;
}

inline OpSchema& StoreSchema(const char* type, const char* file) {
  return RegisterSchema(type, file)
      .Input(0, "handler", "a store, such as FileStoreHandlerCreate makes")
      .SynchronizedInputs({0})
      .HasEffect(Effect::kCommunication)
      .Traits({.waits = true});
}

}  // namespace caffe2rt
