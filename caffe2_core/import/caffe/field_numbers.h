#pragma once
// The names and types of the fields of Caffe's messages by their numbers, for binary files. Fields
// that the table does not have are those of forks.

#include <cstdint>
#include <string>
#include <string_view>

namespace caffe2rt {

struct CaffeFieldType {
  // kBlob: a BlobProto, which is not read into the tree. kSkip: known, and of no use.
  enum Kind { kNumber, kFloat, kText, kMessage, kBlob, kSkip };
  Kind kind = kSkip;
  std::string name;
  std::string message = {};  // the type of a message
};

// Null if the message has no such field, or if there is no such message.
const CaffeFieldType* FindCaffeField(const std::string& message, uint32_t number);

// The type of a V2 layer for the number of a V1 type; "" for a number that is not known.
std::string_view CaffeV1TypeOfNumber(int64_t number);
// The type of a V2 layer for the name of a V1 type ("INNER_PRODUCT"), or "".
std::string_view CaffeV1TypeOfName(std::string_view name);

}  // namespace caffe2rt
