#pragma once
// Reads data types from arguments.
#include "caffe2/utils/proto_utils.h"

namespace caffe2 {
namespace cast {

// The data type that argument `arg` names, by its number or by its name, in upper or lower case;
// FLOAT if the argument is absent. THROWS if it is not a data type.
inline TensorProto_DataType GetCastDataType(const ArgumentHelper& helper, std::string arg) {
  TensorProto_DataType to;
  if (helper.HasSingleArgumentOfType<string>(arg)) {
    string name = helper.GetSingleArgument<string>(arg, "float");
    for (char& c : name) {
      if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    }
    CAFFE_ENFORCE(TensorProto_DataType_Parse(name, &to), "argument ", arg, " is \"", name,
                  "\", want the name of a data type");
  } else {
    const int number = helper.GetSingleArgument<int>(arg, TensorProto_DataType_FLOAT);
    CAFFE_ENFORCE(TensorProto_DataType_IsValid(number), "argument ", arg, " is ", number,
                  ", want the number of a data type");
    to = static_cast<TensorProto_DataType>(number);
  }
  return to;
}

}  // namespace cast
}  // namespace caffe2
