#include "caffe2_core/training/ranks.h"

#include <cstdlib>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/text.h"

namespace caffe2rt {
namespace {

struct Launcher {
  const char* rank;
  const char* size;
  const char* needs;  // a variable without which the others do not count, or null
};

constexpr Launcher kLaunchers[] = {
    {"RANK", "WORLD_SIZE", nullptr},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", nullptr},
    {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_STEP_ID"},
};

constexpr int kMostRanks = 65536;

int NumberOf(const char* name, const std::string& text, int least, int most) {
  int value = 0;
  CAFFE_ENFORCE(ParseNumber(text, &value) && value >= least && value <= most,
                "environment variable ", name, " is \"", text, "\", want a number from ", least,
                " to ", most);
  return value;
}

std::optional<RankPlace> PlaceOf(const Launcher& launcher, const EnvironmentLookup& lookup) {
  if (launcher.needs != nullptr && !lookup(launcher.needs)) return std::nullopt;
  const std::optional<std::string> rank = lookup(launcher.rank), size = lookup(launcher.size);
  if (!rank && !size) return std::nullopt;
  const char* const there = rank ? launcher.rank : launcher.size;
  const char* const missing = rank ? launcher.size : launcher.rank;
  CAFFE_ENFORCE(rank && size, "environment variable ", there, " is set, but ", missing,
                " is not; set both, or give --rank and --size");
  RankPlace place{.source = MakeString(launcher.rank, " and ", launcher.size)};
  place.size = NumberOf(launcher.size, *size, 1, kMostRanks);
  place.rank = NumberOf(launcher.rank, *rank, 0, place.size - 1);
  return place;
}

}  // namespace

std::optional<std::string> EnvironmentText(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr || *value == '\0' ? std::nullopt : std::optional<std::string>(value);
}

RankPlace FindRank(const std::optional<int>& rank, const std::optional<int>& size,
                   const EnvironmentLookup& lookup) {
  if (rank || size) {
    CAFFE_ENFORCE(rank && size, "option --", rank ? "rank" : "size", " is given without --",
                  rank ? "size" : "rank");
    CAFFE_ENFORCE(*size >= 1 && *rank >= 0 && *rank < *size, "--rank is ", *rank, " and --size is ",
                  *size, ", want a rank from 0 to size - 1");
    return {*rank, *size, "--rank and --size"};
  }
  std::optional<RankPlace> first;
  for (const Launcher& launcher : kLaunchers) {
    const std::optional<RankPlace> place = PlaceOf(launcher, lookup);
    if (!place) continue;
    if (!first) {
      first = place;
      continue;
    }
    CAFFE_ENFORCE(place->size <= first->size, first->source, " state ",
                  CountText(first->size, "rank"), ", but ", place->source, " state ", place->size,
                  "; give --rank and --size");
  }
  return first.value_or(RankPlace{});
}

int64_t RecordsOfRank(int64_t batch, const RankOptions& ranks) {
  return batch / ranks.size + (ranks.rank < batch % ranks.size ? 1 : 0);
}

}  // namespace caffe2rt
