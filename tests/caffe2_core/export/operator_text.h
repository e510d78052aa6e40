#pragma once
// Operators and arguments in text, for tables of nets.

#include <cstdint>
#include <string>
#include <vector>

namespace caffe2rt::test::operator_text {

// An operator of blobs with names of one letter, one character apart: "x w b".
std::string Op(const std::string& type, const std::string& args = "",
               const std::string& inputs = "x", const std::string& outputs = "y");

// Arguments: a float, an integer, a string, a list of integers.
std::string F(const std::string& name, float value);
std::string I(const std::string& name, int64_t value);
std::string S(const std::string& name, const std::string& value);
std::string L(const std::string& name, const std::vector<int64_t>& values);

}  // namespace caffe2rt::test::operator_text
