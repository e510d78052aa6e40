// Data that are restored from their source because their prepared forms are rounded.
#include "caffe2_core/tensor/data_source.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/logging.h"
#include "caffe2_core/tensor/storage.h"

namespace caffe2rt::data_source_test {
namespace {

constexpr size_t kCount = 100000, kBytes = kCount * sizeof(float);

// 0, 1/4, 2/4, ...
float Value(size_t i) { return static_cast<float>(i) / 4; }

class CountingSource final : public DataSource {
 public:
  explicit CountingSource(bool readable) : readable_(readable) {}
  bool Keep() override {
    ++kept;
    return readable_;
  }
  void Read(void* data) const override {
    ++read;
    for (size_t i = 0; i < kCount; ++i) static_cast<float*>(data)[i] = Value(i);
  }
  int kept = 0;
  mutable int read = 0;

 private:
  const bool readable_;
};

Tensor Values() {
  Tensor values(std::vector<int64_t>{static_cast<int64_t>(kCount)}, CPU);
  const TransientWrites scope;
  for (size_t i = 0; i < kCount; ++i) values.mutable_data<float>()[i] = Value(i);
  return values;
}

// Integers: what is behind the point is lost.
void AddRoundedForm(const Tensor& weight, const std::string& key, FormRestorer restorer) {
  restorer.nbytes = kBytes - restorer.offset;
  weight.storage()->forms().Get(
      key, kCount,
      [&](void* to) {
        for (size_t i = 0; i < kCount; ++i)
          static_cast<uint8_t*>(to)[i] = static_cast<uint8_t>(static_cast<int>(Value(i)));
      },
      restorer);
}

void WriteIntegers(const void*, void* data) {
  for (size_t i = 0; i < kCount; ++i) static_cast<float*>(data)[i] = std::floor(Value(i));
}
void WriteExactly(const void*, void* data) {
  for (size_t i = 0; i < kCount; ++i) static_cast<float*>(data)[i] = Value(i);
}

enum class Source { kNone, kReadable, kLost };
enum class Restored { kExact, kFromSource, kRounded, kNotReleased };

TEST(DataSourceTest, IsReadIfFormsAreRounded) {
  using Restore = std::function<void(const void*, void*)>;
  const Restore exact = WriteExactly, rounded = RoundedRestore{WriteIntegers}, none = NoRestore();
  struct Case {
    const char* name;
    std::vector<Restore> forms;
    Source source;
    Restored want;
  };
  const Case cases[] = {
      {"exact, no source", {exact}, Source::kNone, Restored::kExact},
      {"exact", {exact}, Source::kReadable, Restored::kExact},
      {"exact among others", {none, rounded, exact}, Source::kReadable, Restored::kExact},
      {"rounded", {rounded}, Source::kReadable, Restored::kFromSource},
      {"rounded, no source", {rounded}, Source::kNone, Restored::kRounded},
      {"rounded, source lost", {rounded}, Source::kLost, Restored::kRounded},
      {"none", {none}, Source::kReadable, Restored::kFromSource},
      {"none, no source", {none}, Source::kNone, Restored::kNotReleased},
      {"none, source lost", {none}, Source::kLost, Restored::kNotReleased},
      {"none and rounded, no source", {none, rounded}, Source::kNone, Restored::kRounded},
      {"no form", {}, Source::kReadable, Restored::kNotReleased},
      {"a form without a part", {Restore()}, Source::kReadable, Restored::kNotReleased},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const auto source = std::make_shared<CountingSource>(c.source == Source::kReadable);
    Tensor weight = Values();
    if (c.source != Source::kNone) weight = WithSource(std::move(weight), source);
    weight.MarkReadOnly();
    for (size_t i = 0; i < c.forms.size(); ++i)
      AddRoundedForm(weight, "form " + std::to_string(i), {.restore = c.forms[i]});
    const bool released = c.want != Restored::kNotReleased;
    EXPECT_EQ(weight.storage()->ReleaseData(), released ? kBytes : 0);
    const float* const values = weight.data<float>();
    const bool is_rounded = c.want == Restored::kRounded;
    for (size_t i = 0; i < kCount; ++i)
      ASSERT_EQ(values[i], is_rounded ? std::floor(Value(i)) : Value(i)) << i;
    EXPECT_EQ(source->read, c.want == Restored::kFromSource ? 1 : 0);
    EXPECT_EQ(weight.storage()->ReleaseData(), released ? kBytes : 0) << "again";
  }
}

// A net has many such weights, so that one warning is enough. The sink may read the weight.
TEST(DataSourceTest, RoundedWeightsAreReportedOnceAtMost) {
  const int threshold = LogThreshold();
  SetLogThreshold(1);  // warnings
  int warnings = 0;
  Tensor values(CPU);
  SetLogSink([&](const LogEntry& entry) {
    EXPECT_EQ(values.data<float>()[7], 1);
    warnings += entry.text.find("400000 bytes, whose memory was released, is read again") !=
                std::string_view::npos;
  });
  for (int weight = 0; weight < 3; ++weight) {
    values = Values();
    values.MarkReadOnly();
    AddRoundedForm(values, "form", {.restore = RoundedRestore{WriteIntegers}});
    EXPECT_EQ(values.storage()->ReleaseData(), kBytes);
    EXPECT_EQ(values.data<float>()[7], 1);
  }
  SetLogSink(nullptr);
  SetLogThreshold(threshold);
  EXPECT_LE(warnings, 1);  // none if another test of the process had it
}

TEST(DataSourceTest, FormsOfAPartDoNotSuffice) {
  Tensor weight = WithSource(Values(), std::make_shared<CountingSource>(true));
  weight.MarkReadOnly();
  AddRoundedForm(weight, "end", {.offset = 4, .restore = NoRestore()});
  EXPECT_EQ(weight.storage()->ReleaseData(), 0u);
  AddRoundedForm(weight, "all", {.restore = NoRestore()});
  EXPECT_EQ(weight.storage()->ReleaseData(), kBytes);
}

TEST(DataSourceTest, KeepsShapeMemoryAndElements) {
  Tensor values = Values();
  values.Reshape({50, 2000});
  const void* const memory = values.raw_data();
  const Tensor weight = WithSource(std::move(values), std::make_shared<CountingSource>(true));
  EXPECT_EQ(weight.sizes().vec(), (std::vector<int64_t>{50, 2000}));
  EXPECT_EQ(weight.raw_data(), memory);
  EXPECT_FALSE(weight.shares_data());
  EXPECT_FALSE(weight.storage()->exposed());
  EXPECT_NE(SourceOf(*weight.storage()), nullptr);
  EXPECT_EQ(SourceOf(*Values().storage()), nullptr);
}

TEST(DataSourceTest, EndsWithTheFirstWrite) {
  Tensor weight = WithSource(Values(), std::make_shared<CountingSource>(true));
  {
    const TransientWrites scope;
    weight.mutable_data<float>()[1] = 7;
  }
  EXPECT_EQ(SourceOf(*weight.storage()), nullptr);
  weight.MarkReadOnly();
  AddRoundedForm(weight, "all", {.restore = NoRestore()});
  EXPECT_EQ(weight.storage()->ReleaseData(), 0u);
  EXPECT_EQ(weight.data<float>()[1], 7);
}

TEST(DataSourceTest, NeedsPlainDataOnTheCpu) {
  const auto source = std::make_shared<CountingSource>(true);
  EXPECT_THROW((void)WithSource(Tensor(CPU), source), EnforceNotMet);
  EXPECT_THROW((void)WithSource(Values(), nullptr), EnforceNotMet);
}

}  // namespace
}  // namespace caffe2rt::data_source_test
