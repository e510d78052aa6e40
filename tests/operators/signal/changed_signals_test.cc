// Transforms and windows whose lengths change from run to run, and the smallest and emptiest of them. Each run gives
// what a new operator gives.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "tests/operators/common/call_tables.h"
#include "tests/operators/common/changed_runs.h"

namespace caffe2rt::test::changed_signals_test {
namespace {

TEST(ChangedSignalsTest, Transforms) {
  for (const std::string args : {"", " onesided=1", " inverse=1"}) {
    ExpectRunsAsNew(
        {{"DFT X n a -> Y" + args,
          {"X f 2,6,3,2; n l - = 6; a l - = 1", "X f 3,6,2,2; n l - = 6; a l - = 1",
           "X f 3,6,2,2; n l - = 8; a l - = 1", "X f 3,6,2,2; n l - = 3; a l - = 0",
           "X f 2,5,1; n i - = 5; a i - = -2", "X d 2,5,1; n i - = 7; a i - = -2",
           "X f 0,5,1; n l - = 5; a l - = 1", "X f 2,0,1; n l - = 4; a l - = 1"}},
         {"DFT X -> Y" + args, {"X f 2,6,2", "X f 3,4,2", "X f 4,3,1", "X f 1,12,2", "X f 1,1,1"}}});
  }
  ExpectRunsAsNew({{"DFT X n -> Y inverse=1 onesided=1",
                    {"X f 2,4,2; n l - = 6", "X f 2,4,2; n l - = 7", "X f 4,2,2; n l - = 2",
                     "X f 1,0,2; n l - = 3"}},
                   {"STFT X s w n -> Y",
                    {"X f 2,12,1; s l - = 3; w f 6; n l - = 6", "X f 3,8,1; s l - = 2; w f 4; n l - = 4",
                     "X f 2,6,2; s i - = 1; w f 5; n i - = 5", "X f 0,6,1; s i - = 1; w f 5; n i - = 5"}},
                   {"STFT X s w -> Y onesided=0",
                    {"X f 2,12,1; s l - = 3; w f 6", "X f 4,6,1; s l - = 1; w f 3",
                     "X f 1,5,2; s l - = 4; w f 2"}}});
}

TEST(ChangedSignalsTest, WindowsAndMelWeights) {
  for (const char* type : {"HannWindow", "HammingWindow", "BlackmanWindow"}) {
    for (const char* args : {"", " periodic=0", " periodic=0 output_datatype=13"})
      ExpectRunsAsNew(
          {MakeString(type, " n -> Y", args), {"n l - = 5", "n i - = 2", "n l - = 0", "n l 1 = 9"}});
  }
  ExpectRunsAsNew({"MelWeightMatrix b n r l h -> Y",
                   {"b l - = 4; n l - = 16; r l - = 8192; l f - = 0; h f - = 4096",
                    "b l - = 3; n i - = 22; r i - = 8192; l f - = 100; h d - = 3000",
                    "b l - = 1; n l - = 2; r l - = 80; l d - = 0; h f - = 40"}});
}

// Each number is a0 - a1 cos(2 pi k / d) + a2 cos(4 pi k / d), where d is the size or one less.
TEST(ChangedSignalsTest, SmallWindowsByTheFormula) {
  const struct {
    const char* type;
    double a0, a1, a2;
  } windows[] = {{"HannWindow", 0.5, 0.5, 0},
                 {"HammingWindow", 25.0 / 46, 21.0 / 46, 0},
                 {"BlackmanWindow", 0.42, 0.5, 0.08}};
  for (const auto& window : windows) {
    for (const bool periodic : {false, true}) {
      for (int size = 1; size <= 7; ++size) {
        const int period = periodic ? size : size - 1;
        std::string numbers;
        for (int k = 0; k < size; ++k) {
          const double angle = period == 0 ? 0 : 2 * 3.14159265358979324 * k / period;
          const double value =
              window.a0 - window.a1 * std::cos(angle) + window.a2 * std::cos(2 * angle);
          char text[32];
          std::snprintf(text, sizeof(text), "%s%.12f", k == 0 ? "" : ",", value);
          numbers += text;
        }
        ExpectResults({{MakeString(window.type, " n -> Y output_datatype=13 periodic=", periodic),
                        MakeString("n l - = ", size), MakeString("Y d ", size, " = ", numbers), 1e-9}});
      }
    }
  }
  for (const auto& window : windows)
    ExpectResults({{MakeString(window.type, " n -> Y periodic=0"), "n i 1 = 0", "Y f 0"}});
}

// An empty signal that is filled up with zeros has a spectrum of zeros, whatever the memory held.
TEST(ChangedSignalsTest, EmptySignalsAreZeros) {
  for (const char* args : {"", " onesided=1", " inverse=1", " inverse=1 onesided=1"}) {
    const bool inverse_half = std::string(args) == " inverse=1 onesided=1";
    OperatorDef def = OperatorsOf({MakeString("DFT X n -> Y", args).c_str(), ""}).back();
    def.mutable_device_option()->set_device_type(PROTO_CPU);
    Workspace ws;
    FeedInputs({"", "X f 2,4,2 = 1,3,2,5,7; n l - = 4"}, &ws);
    const std::unique_ptr<OperatorBase> op = CreateOperator(def, &ws);
    ASSERT_TRUE(op->Run());
    FeedInputs({"", "X f 2,0,2; n l - = 4"}, &ws);
    ASSERT_TRUE(op->Run());
    const int64_t bins = std::string(args) == " onesided=1" ? 3 : 4, parts = inverse_half ? 1 : 2;
    ExpectTensor<float>(ws, "Y", {2, bins, parts},
                        std::vector<float>(static_cast<size_t>(2 * bins * parts), 0));
  }
}

}  // namespace
}  // namespace caffe2rt::test::changed_signals_test
