#pragma once
// Nodes in text, and the operators that they become in text: for tables of both.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace caffe2rt::test::node_forms {

inline constexpr int kFloat = 1, kUint8 = 2, kInt32 = 6, kInt64 = 7, kBool = 9;

// Models in text.
std::string Int(const std::string& name, int64_t value);
std::string Ints(const std::string& name, const std::vector<int64_t>& values);
std::string Float(const std::string& name, float value);
std::string Text(const std::string& name, const std::string& value);
std::string List(const std::string& name, const std::vector<int64_t>& values, bool scalar = false);
std::string Number(const std::string& name, float value);
std::string Constant(const std::string& name, int type, const std::vector<int64_t>& dims,
                     const std::vector<double>& values);
// Inputs of one letter, of which "-" is absent.
std::string Node(const std::string& type, const std::string& inputs = "x",
                 const std::string& attributes = "", const std::string& outputs = "y");

struct Form {
  std::string nodes;
  std::string want;  // a line for each operator: "Mul(x, 0.5) axis=1 -> y"
  std::map<std::string, std::vector<std::string>> inputs = {{"x", {"2", "3"}}};  // dims
  int64_t opset = 18;
  int type = kFloat;  // of the inputs
  std::string outputs = "y";
};

// Constants are shown by their values, and other blobs that are not x, y and so on by numbers.
void Check(const std::vector<Form>& forms);

inline const std::map<std::string, std::vector<std::string>> kImage = {{"x", {"1", "3", "4", "6"}}};

}  // namespace caffe2rt::test::node_forms
