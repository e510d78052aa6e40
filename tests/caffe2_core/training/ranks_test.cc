#include "caffe2_core/training/ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "caffe2_core/base/enforce.h"

namespace caffe2rt::test::ranks_test {
namespace {

using ::testing::HasSubstr;

struct PlaceCase {
  const char* name;
  std::optional<int> rank, size;
  std::map<std::string, std::string> environment;
  int want_rank, want_size;  // -1: an error
  const char* text;          // source, or part of the error
};

class FindRankTest : public ::testing::TestWithParam<PlaceCase> {};

TEST_P(FindRankTest, TakesTheFirstThatStatesIt) {
  const PlaceCase& test = GetParam();
  const auto lookup = [&](const char* name) -> std::optional<std::string> {
    const auto found = test.environment.find(name);
    return found == test.environment.end() ? std::nullopt
                                           : std::optional<std::string>(found->second);
  };
  try {
    const RankPlace place = FindRank(test.rank, test.size, lookup);
    EXPECT_EQ(place.rank, test.want_rank);
    EXPECT_EQ(place.size, test.want_size);
    EXPECT_EQ(place.source, test.text);
  } catch (const EnforceNotMet& error) {
    EXPECT_EQ(test.want_rank, -1) << error.message();
    EXPECT_THAT(error.message(), HasSubstr(test.text));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Table, FindRankTest,
    ::testing::Values(
        PlaceCase{"Nothing", {}, {}, {}, 0, 1, ""},
        PlaceCase{"Given", 2, 3, {{"RANK", "0"}, {"WORLD_SIZE", "2"}}, 2, 3, "--rank and --size"},
        PlaceCase{
            "Torchrun", {}, {}, {{"RANK", "1"}, {"WORLD_SIZE", "4"}}, 1, 4, "RANK and WORLD_SIZE"},
        PlaceCase{"Mpirun",
                  {},
                  {},
                  {{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "2"}},
                  0,
                  2,
                  "OMPI_COMM_WORLD_RANK and OMPI_COMM_WORLD_SIZE"},
        PlaceCase{"Srun",
                  {},
                  {},
                  {{"SLURM_PROCID", "3"}, {"SLURM_NTASKS", "8"}, {"SLURM_STEP_ID", "0"}},
                  3,
                  8,
                  "SLURM_PROCID and SLURM_NTASKS"},
        PlaceCase{
            "BatchScriptOfSlurm", {}, {}, {{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}}, 0, 1, ""},
        PlaceCase{"TorchrunAndMpirunOfOneSize",
                  {},
                  {},
                  {{"RANK", "1"},
                   {"WORLD_SIZE", "4"},
                   {"OMPI_COMM_WORLD_RANK", "2"},
                   {"OMPI_COMM_WORLD_SIZE", "4"}},
                  1,
                  4,
                  "RANK and WORLD_SIZE"},
        PlaceCase{"TorchrunInSrun",
                  {},
                  {},
                  {{"RANK", "5"},
                   {"WORLD_SIZE", "8"},
                   {"SLURM_PROCID", "1"},
                   {"SLURM_NTASKS", "2"},
                   {"SLURM_STEP_ID", "0"}},
                  5,
                  8,
                  "RANK and WORLD_SIZE"},
        PlaceCase{"RankWithoutSize", 1, {}, {}, -1, 0, "option --rank is given without --size"},
        PlaceCase{"SizeWithoutRank", {}, 2, {}, -1, 0, "option --size is given without --rank"},
        PlaceCase{"RankTooLarge",
                  2,
                  2,
                  {},
                  -1,
                  0,
                  "--rank is 2 and --size is 2, want a rank from 0 to size - 1"},
        PlaceCase{"HalfOfTorchrun",
                  {},
                  {},
                  {{"RANK", "1"}},
                  -1,
                  0,
                  "variable RANK is set, but WORLD_SIZE is not"},
        PlaceCase{"HalfOfMpirun",
                  {},
                  {},
                  {{"OMPI_COMM_WORLD_SIZE", "2"}},
                  -1,
                  0,
                  "OMPI_COMM_WORLD_RANK is not"},
        PlaceCase{"NoNumber",
                  {},
                  {},
                  {{"RANK", "one"}, {"WORLD_SIZE", "2"}},
                  -1,
                  0,
                  "variable RANK is \"one\", want a number from 0 to 1"},
        PlaceCase{"OutOfRange",
                  {},
                  {},
                  {{"RANK", "2"}, {"WORLD_SIZE", "2"}},
                  -1,
                  0,
                  "want a number from 0 to 1"},
        PlaceCase{"TwoLaunchers",
                  {},
                  {},
                  {{"RANK", "0"},
                   {"WORLD_SIZE", "1"},
                   {"OMPI_COMM_WORLD_RANK", "1"},
                   {"OMPI_COMM_WORLD_SIZE", "2"}},
                  -1,
                  0,
                  "RANK and WORLD_SIZE state 1 rank, but OMPI_COMM_WORLD_RANK and "
                  "OMPI_COMM_WORLD_SIZE state 2"}),
    [](const auto& info) { return info.param.name; });

TEST(FindRankTest, AnEmptyVariableIsNotSet) {
  constexpr char kName[] = "CAFFE2RT_RANKS_TEST";
  unsetenv(kName);
  EXPECT_EQ(EnvironmentText(kName), std::nullopt);
  setenv(kName, "", 1);
  EXPECT_EQ(EnvironmentText(kName), std::nullopt);
  setenv(kName, " 3", 1);
  EXPECT_EQ(EnvironmentText(kName), " 3");
  unsetenv(kName);
}

TEST(RecordsOfRankTest, DividesABatchAsEvenlyAsPossible) {
  EXPECT_EQ(RecordsOfRank(64, {}), 64);
  EXPECT_EQ(RecordsOfRank(64, {.rank = 1, .size = 2}), 32);
  EXPECT_EQ(RecordsOfRank(8, {.rank = 0, .size = 3}), 3);
  EXPECT_EQ(RecordsOfRank(8, {.rank = 1, .size = 3}), 3);
  EXPECT_EQ(RecordsOfRank(8, {.rank = 2, .size = 3}), 2);
}

}  // namespace
}  // namespace caffe2rt::test::ranks_test
