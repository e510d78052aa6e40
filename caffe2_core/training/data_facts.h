#pragma once
// What a training has to know about its database.

#include <cstdint>
#include <string>
#include <vector>

#include "caffe2_core/training/database_copies.h"
#include "caffe2rt/caffe2.pb.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

struct TensorFacts {
  TensorProto::DataType type = TensorProto::UNDEFINED;
  std::vector<int64_t> dims;  // of one record

  bool is_image() const { return type == TensorProto::STRING; }  // encoded
  bool is_integer() const;
};

struct DataFacts {
  DatabasePlace place;
  int64_t records = 0;
  std::vector<TensorFacts> tensors;  // of the first record
};

// Reads the first record and counts all of them. If `place.type` is "", the type is detected. THROWS
// if it is not a database, if it is empty, or if its first record is not a TensorProtos.
DataFacts ReadDataFacts(const DatabasePlace& place);

}  // namespace caffe2rt
#pragma GCC visibility pop
