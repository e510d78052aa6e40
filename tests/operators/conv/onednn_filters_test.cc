#include "operators/conv/onednn_filters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

#include "contexts/onednn/onednn_version.h"

namespace caffe2rt::test::onednn_filters_test {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;

memory::desc Filter(Tag tag, const memory::dims& dims = {32, 32, 3, 3}) {
  return memory::desc(dims, memory::data_type::f32, tag);
}

Tensor CountingFilter() {
  Tensor filter(CPU);
  filter.Resize(32, 32, 3, 3);
  float* const data = filter.mutable_data<float>();
  std::iota(data, data + filter.numel(), 0.f);
  filter.MarkReadOnly();
  return filter;
}

TEST(OnednnFilterFormTest, NamesTheVersionAndBothLayouts) {
  EXPECT_EQ(OnednnFilterForm(Filter(Tag::oihw), Filter(Tag::OIhw16i16o)),
            "conv_onednn " + OnednnVersion() +
                " f32 32x32x3x3 strides 4608x2304x768x256 blocks 16b16a"
                " of f32 32x32x3x3 strides 288x9x3x1");
}

TEST(OnednnFilterFormTest, DependsOnTheLayoutOfThePlainFilter) {
  EXPECT_NE(OnednnFilterForm(Filter(Tag::oihw), Filter(Tag::OIhw16i16o)),
            OnednnFilterForm(Filter(Tag::ohwi), Filter(Tag::OIhw16i16o)));
}

TEST(OnednnFilterFormTest, RejectsALayoutWithoutName) {
  EXPECT_THROW(OnednnFilterForm(Filter(Tag::oihw), Filter(Tag::any)), NoOnednnImplementation);
}

// Filter 1, channel 2, first row, second column: its index in both layouts.
constexpr size_t kInOihw = 288 + 18 + 1, kInOhwi = 288 + 32 + 2;

TEST(OnednnFiltersTest, ShareFormsOfOneLayout) {
  const Tensor filter = CountingFilter();
  OnednnFilters a, b, c;
  a.Add(0, Filter(Tag::oihw), Filter(Tag::OIhw16i16o));
  b.Add(0, Filter(Tag::oihw), Filter(Tag::OIhw16i16o));
  c.Add(0, Filter(Tag::oihw), Filter(Tag::ohwi));
  for (OnednnFilters* filters : {&a, &b, &c}) filters->Prepare(filter);
  EXPECT_EQ(a.data(0), b.data(0));
  EXPECT_NE(a.data(0), c.data(0));
  EXPECT_EQ(c.data(0)[kInOhwi], static_cast<float>(kInOihw));
}

TEST(OnednnFiltersTest, ReadsAFilterThatChanges) {
  Tensor filter = CountingFilter(), other = CountingFilter();
  for (Tensor* tensor : {&filter, &other}) *tensor = tensor->Clone();  // not read-only
  OnednnFilters training, once;
  for (OnednnFilters* filters : {&training, &once}) {
    filters->Add(0, Filter(Tag::oihw), Filter(Tag::ohwi));
    filters->Add(0, Filter(Tag::oihw), Filter(Tag::oihw));  // used as it is
    filters->Prepare(filter);
  }
  for (const float value : {-1.f, -2.f}) {
    filter.mutable_data<float>()[kInOihw] = value;
    training.Prepare(filter);
    EXPECT_EQ(training.data(0)[kInOhwi], value);
    EXPECT_EQ(training.data(1)[kInOihw], value);
  }
  float* const kept = filter.mutable_data<float>();  // written without the tensor's knowledge
  for (const float value : {-3.f, -4.f}) {
    kept[kInOihw] = value;
    training.Prepare(filter);
    EXPECT_EQ(training.data(0)[kInOhwi], value);
  }
  once.Prepare(filter);  // missed the changes in between
  EXPECT_EQ(once.data(0)[kInOhwi], -4.f);
  training.Prepare(other);
  EXPECT_EQ(training.data(0)[kInOhwi], static_cast<float>(kInOihw));
}

TEST(OnednnFiltersTest, UseAFormOfThisVersionOnly) {
  const Tensor filter = CountingFilter();
  const std::string key = OnednnFilterForm(Filter(Tag::oihw), Filter(Tag::OIhw16i16o)) + " from 0";
  const size_t nbytes = filter.nbytes();
  const std::shared_ptr<const void> packed(
      new char[nbytes](), [](const void* data) { delete[] static_cast<const char*>(data); });
  std::string other = key;
  other.replace(other.find(OnednnVersion()), OnednnVersion().size(), "0.0.1");
  filter.storage()->forms().Add(other, {.data = packed, .nbytes = nbytes});
  OnednnFilters filters;
  filters.Add(0, Filter(Tag::oihw), Filter(Tag::OIhw16i16o));
  filters.Prepare(filter);
  EXPECT_NE(filters.data(0), packed.get());
  EXPECT_EQ(filter.storage()->forms().List().count(key), 1u);

  const Tensor another = CountingFilter();
  another.storage()->forms().Add(key, {.data = packed, .nbytes = nbytes});
  filters.Prepare(another);
  EXPECT_EQ(filters.data(0), packed.get());
}

// Parts of a filter in layouts with and without padding. Their memory can be released if together they
// are the whole filter; the bits are those of negative zero, a denormal number, and a NaN that signals.
TEST(OnednnFiltersTest, RestoreAFilterBitForBit) {
  struct Part {
    int64_t offset;
    memory::dims dims;
    Tag plain, wanted;
  };
  struct Case {
    const char* name;
    memory::dims dims;
    std::vector<Part> parts;
    bool restores;
  };
  const memory::dims square = {64, 48, 3, 3}, half = {32, 48, 3, 3}, odd = {50, 41, 3, 3};
  const memory::dims groups = {4, 16, 20, 5, 5};
  const int64_t middle = 32 * 48 * 9;
  const Case cases[] = {
      {"blocks", square, {{0, square, Tag::oihw, Tag::OIhw16i16o}}, true},
      {"padded blocks", odd, {{0, odd, Tag::oihw, Tag::OIhw16i16o}}, true},
      {"a permutation", square, {{0, square, Tag::oihw, Tag::hwio}}, true},
      {"two pieces",
       square,
       {{0, half, Tag::oihw, Tag::OIhw16i16o}, {middle, half, Tag::oihw, Tag::ohwi}},
       true},
      {"one of two pieces", square, {{middle, half, Tag::oihw, Tag::OIhw16i16o}}, false},
      {"groups", groups, {{0, groups, Tag::goihw, Tag::gOIhw16i16o}}, true},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Tensor filter(c.dims, CPU);
    std::vector<uint32_t> bits(static_cast<size_t>(filter.numel()));
    for (size_t i = 0; i < bits.size(); ++i) {
      const uint32_t special[] = {0x80000000u, 1u, 0x7fa00001u};
      bits[i] = i % 4 < 3 ? special[i % 4] : static_cast<uint32_t>(i) * 2654435761u;
    }
    {
      const TransientWrites scope;
      std::memcpy(filter.mutable_data<float>(), bits.data(), filter.nbytes());
    }
    filter.MarkReadOnly();
    OnednnFilters filters;
    for (const Part& part : c.parts)
      filters.Add(part.offset, Filter(part.plain, part.dims), Filter(part.wanted, part.dims));
    filters.Prepare(filter);
    EXPECT_EQ(filter.storage()->ReleaseData(), c.restores ? filter.nbytes() : 0);
    filters.Prepare(filter);
    EXPECT_EQ(filter.storage()->released(), c.restores) << "runs do not need the plain filter";
    EXPECT_EQ(std::memcmp(filter.raw_data(), bits.data(), filter.nbytes()), 0);
  }
}

// On some machines another size of image has another layout of bytes, which is made of the released numbers. Their
// scales cannot be found again: the largest pair of bytes may have been rounded up to 128.
TEST(OnednnFiltersTest, BytesInAnotherLayoutHaveTheSameScalesAfterTheNumbersWereReleased) {
  const auto bytes_in = [](Tag tag) {
    return memory::desc({64, 64, 3, 3}, memory::data_type::s8, tag);
  };
  for (const bool limited : {false, true}) {
    SCOPED_TRACE(limited);
    const Int8FilterSize size{.out = 64, .in = 64, .taps = 9, .pair_limited = limited};
    std::vector<float> numbers(64 * 64 * 9);
    for (size_t i = 0; i < numbers.size(); ++i) {
      numbers[i] = std::sin(static_cast<float>(i * i % 9973));
    }
    std::vector<int8_t> bytes(numbers.size());
    std::vector<float> scales(64), sums(64);
    QuantizeFilter(size, numbers.data(), bytes.data(), scales.data(), sums.data());

    Tensor filter(std::vector<int64_t>{64, 64, 3, 3}, CPU);
    {
      const TransientWrites scope;
      std::memcpy(filter.mutable_data<float>(), numbers.data(), filter.nbytes());
    }
    filter.MarkReadOnly();
    OnednnFilters first, second;
    first.AddQuantized(0, bytes_in(Tag::OIhw16i16o), size);
    first.Prepare(filter);
    ASSERT_EQ(filter.storage()->ReleaseData(), filter.nbytes());
    second.AddQuantized(0, bytes_in(Tag::ohwi), size);
    second.Prepare(filter);
    EXPECT_EQ(std::vector<float>(second.scales(0), second.scales(0) + 64), scales);
    EXPECT_EQ(std::vector<float>(second.sums(0), second.sums(0) + 64), sums);
    const auto* const got = reinterpret_cast<const int8_t*>(second.data(0));
    for (size_t out = 0; out < 64; ++out) {
      for (size_t in = 0; in < 64; ++in) {
        for (size_t tap = 0; tap < 9; ++tap) {
          ASSERT_EQ(got[(out * 9 + tap) * 64 + in], bytes[(out * 64 + in) * 9 + tap])
              << out << ' ' << in << ' ' << tap;
        }
      }
    }
  }
}

}  // namespace
}  // namespace caffe2rt::test::onednn_filters_test
