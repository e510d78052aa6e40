// The operator types of Caffe2: a type that is known is missing, any other one is misspelled.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "caffe2_core/runtime/operator_registry.h"
#include "tests/support/shared.h"

namespace caffe2rt::test::known_operators_test {
namespace {

// The first column of a table, without its title.
std::vector<std::string> KnownTypesIn(const std::string& file) {
  std::ifstream table(SharedPath(file));
  std::vector<std::string> types;
  for (std::string line; std::getline(table, line);)
    types.push_back(line.substr(0, line.find('\t')));
  if (!types.empty()) types.erase(types.begin());
  return types;
}

TEST(KnownOperatorsTest, AreThoseOfTheOriginal) {
  for (const std::string file :
       {"reference/caffe2_operators.tsv", "reference/caffe2_registry_1_8.tsv"}) {
    SKIP_WITHOUT_SHARED(file);
    const std::vector<std::string> types = KnownTypesIn(file);
    EXPECT_GT(types.size(), 600u);
    for (const std::string& type : types) EXPECT_TRUE(IsKnownCaffe2Operator(type)) << type;
  }
}

TEST(KnownOperatorsTest, AreWholeNames) {
  for (const char* const type :
       {"APMeter", "NCCLReduceScatter", "AveragePool1DGradient", "ELU", "MPIAllreduce", "RoIPoolF",
        "BRGNCHWCToPackedInt8BGRAStylizerDeprocess", "rnn_internal_apply_link"})
    EXPECT_TRUE(IsKnownCaffe2Operator(type)) << type;
  for (const char* const type : {"", " ", "abs", "Ab", "bs", "Abs ", " Abs", "Abs AbsGradient",
                                 "AveragePool4D", "Loop", "rnn_internal", "Convolution"})
    EXPECT_FALSE(IsKnownCaffe2Operator(type)) << "\"" << type << "\"";
  // It tells both apart in errors.
  EXPECT_THAT(ExplainMissingOperator("NCCLReduceScatter", CPU),
              testing::HasSubstr(": Caffe2 has this operator, but this library does not"));
  EXPECT_THAT(ExplainMissingOperator("APMetre", CPU),
              testing::HasSubstr(": this type is not known"));
}

}  // namespace
}  // namespace caffe2rt::test::known_operators_test
