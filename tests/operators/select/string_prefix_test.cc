#include "tests/support/operator_test.h"

namespace caffe2rt::test::string_prefix_test {
namespace {

class StringFunctionTest : public testing::Test {
 protected:
  void Run(const std::string& type, const std::string& argument) {
    RunOp(&ws_, MakeString("type: '", type, "' input: 'x' output: 'y' ", argument));
  }

  Workspace ws_;
};

TEST_F(StringFunctionTest, KeepsBytesOfEitherEnd) {
  Feed<std::string>(&ws_, "x", {2, 2}, {"abcd", "ab", "", "\xc3\xa4z"});
  Run("StringPrefix", "arg { name: 'length' i: 2 }");
  ExpectTensor<std::string>(ws_, "y", {2, 2}, {"ab", "ab", "", "\xc3\xa4"});
  Run("StringSuffix", "arg { name: 'length' i: 2 }");
  ExpectTensor<std::string>(ws_, "y", {2, 2}, {"cd", "ab", "", "\xa4z"});
  Run("StringPrefix", "");
  ExpectTensor<std::string>(ws_, "y", {2, 2}, {"abc", "ab", "", "\xc3\xa4z"});
  Run("StringSuffix", "arg { name: 'length' i: 0 }");
  ExpectTensor<std::string>(ws_, "y", {2, 2}, {"", "", "", ""});
}

TEST_F(StringFunctionTest, ComparesWithAText) {
  Feed<std::string>(&ws_, "x", {4}, {"ab", "a", "", "bab"});
  Run("StringStartsWith", "arg { name: 'prefix' s: 'ab' }");
  ExpectTensor<bool>(ws_, "y", {4}, {true, false, false, false});
  Run("StringEndsWith", "arg { name: 'suffix' s: 'ab' }");
  ExpectTensor<bool>(ws_, "y", {4}, {true, false, false, true});
  Run("StringEquals", "arg { name: 'text' s: 'ab' }");
  ExpectTensor<bool>(ws_, "y", {4}, {true, false, false, false});
  Run("StringEquals", "");
  ExpectTensor<bool>(ws_, "y", {4}, {false, false, true, false});
}

TEST_F(StringFunctionTest, HasTheShapeOfItsInput) {
  Feed<std::string>(&ws_, "x", {0, 3}, {});
  for (const char* type :
       {"StringPrefix", "StringSuffix", "StringStartsWith", "StringEndsWith", "StringEquals"}) {
    ExpectShapeInferred(&ws_, MakeString("type: '", type, "' input: 'x' output: 'y'"));
  }
}

TEST_F(StringFunctionTest, RejectsOtherInputsAndLengths) {
  Feed<float>(&ws_, "x", {1}, {1});
  EXPECT_ANY_THROW(Run("StringPrefix", ""));
  Feed<std::string>(&ws_, "x", {1}, {"a"});
  ExpectThrows([&] { Run("StringSuffix", "arg { name: 'length' i: -1 }"); }, "at least 0");
}

}  // namespace
}  // namespace caffe2rt::test::string_prefix_test
