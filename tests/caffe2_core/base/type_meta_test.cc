#include "caffe2_core/base/type_meta.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "caffe2_core/base/enforce.h"

struct integral_number {};  // begins as the name of a type does

namespace caffe2rt::type_meta_test {
namespace {

struct longer {};

TEST(TypeMetaTest, NoTypeByDefault) {
  const TypeMeta none;
  EXPECT_FALSE(none.IsSet());
  EXPECT_EQ(none.id(), 0);
  EXPECT_EQ(none.itemsize(), 0u);
  EXPECT_STREQ(none.name(), "nullptr (uninitialized)");
}

TEST(TypeMetaTest, PlainDataNeedsNoFunctions) {
  const TypeMeta meta = TypeMeta::Make<float>();
  EXPECT_TRUE(meta.IsPlainData());
  EXPECT_EQ(meta.itemsize(), sizeof(float));
  EXPECT_EQ(meta.ctor(), nullptr);
  EXPECT_EQ(meta.copy(), nullptr);
  EXPECT_EQ(meta.dtor(), nullptr);
  EXPECT_TRUE(TypeMeta::Make<float16>().IsPlainData());
  EXPECT_TRUE(TypeMeta::Make<int*>().IsPlainData());
}

TEST(TypeMetaTest, IdentityIsTheTypes) {
  EXPECT_EQ(TypeMeta::Make<int>(), TypeMeta::Make<int>());
  EXPECT_FALSE(TypeMeta::Make<int>() == TypeMeta::Make<float>());
  EXPECT_TRUE(TypeMeta::Make<int>().Match<int>());
  EXPECT_FALSE(TypeMeta::Make<int>().Match<long>());
  EXPECT_EQ(TypeMeta::Id<int>(), TypeMeta::Make<int>().id());
  EXPECT_EQ(TypeMeta::ItemSize<double>(), 8u);
}

TEST(TypeMetaTest, NamesAreReadable) {
  EXPECT_STREQ(TypeMeta::Name<float>(), "float");
  EXPECT_STREQ(TypeMeta::Name<std::string>(), "string");
  EXPECT_STREQ(TypeMeta::TypeName<float16>(), "float16");
  EXPECT_STREQ(TypeMeta::Name<std::vector<long>>(), "vector<int64>");
  using Map = std::map<std::string, std::shared_ptr<std::vector<unsigned char>>>;
  EXPECT_STREQ(TypeMeta::Name<Map>(), "map<string, shared_ptr<vector<uint8>>>");
  EXPECT_STREQ((TypeMeta::Name<std::pair<longer, int>>()),
               "pair<type_meta_test::(anonymous namespace)::longer, int32>");
  EXPECT_STREQ((TypeMeta::Name<std::pair<integral_number, int>>()), "pair<integral_number, int32>");
}

TEST(TypeMetaTest, RegisteringAgainGivesTheFirstDescription) {
  (void)TypeMeta::Make<float>();
  internal::TypeData other;
  other.itemsize = 99;
  EXPECT_EQ(internal::RegisterType(typeid(float), other)->itemsize, sizeof(float));
}

TEST(TypeMetaTest, BuildsCopiesAndDestroysElements) {
  const TypeMeta meta = TypeMeta::Make<std::shared_ptr<int>>();
  alignas(std::shared_ptr<int>) unsigned char a[2 * sizeof(std::shared_ptr<int>)], b[sizeof(a)];
  meta.ctor()(a, 2);
  meta.ctor()(b, 2);
  auto* from = reinterpret_cast<std::shared_ptr<int>*>(a);
  from[0] = std::make_shared<int>(7);
  meta.copy()(a, b, 2);
  EXPECT_EQ(*reinterpret_cast<std::shared_ptr<int>*>(b)[0], 7);
  EXPECT_EQ(from[0].use_count(), 2);
  meta.dtor()(b, 2);
  EXPECT_EQ(from[0].use_count(), 1);
  meta.dtor()(a, 2);
}

TEST(TypeMetaTest, CopyingWhatCannotBeCopiedThrows) {
  const TypeMeta meta = TypeMeta::Make<std::unique_ptr<int>>();
  std::unique_ptr<int> a, b;
  EXPECT_THROW(meta.copy()(&a, &b, 1), EnforceNotMet);
}

// Counts the objects that exist.
struct CountedElement {
  static inline int alive = 0;
  int value = 5;
  CountedElement() { ++alive; }
  CountedElement(const CountedElement& other) : value(other.value) { ++alive; }
  CountedElement& operator=(const CountedElement&) = default;
  ~CountedElement() { --alive; }
};

TEST(TypeMetaTest, FunctionsAccessAllElementsAndNoMore) {
  const TypeMeta meta = TypeMeta::Make<CountedElement>();
  EXPECT_FALSE(meta.IsPlainData());
  alignas(CountedElement) unsigned char a[4 * sizeof(CountedElement)], b[sizeof(a)];
  auto* const from = reinterpret_cast<CountedElement*>(a);
  auto* const to = reinterpret_cast<CountedElement*>(b);
  meta.ctor()(a, 4);
  meta.ctor()(b, 4);
  EXPECT_EQ(CountedElement::alive, 8);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(from[i].value, 5);
    from[i].value = 10 + i;
  }
  meta.copy()(a, b, 3);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(to[i].value, i < 3 ? 10 + i : 5);
  meta.copy()(a + 3 * sizeof(CountedElement), b, 0);
  EXPECT_EQ(to[0].value, 10);
  meta.dtor()(b, 0);
  EXPECT_EQ(CountedElement::alive, 8);
  meta.dtor()(b, 4);
  EXPECT_EQ(CountedElement::alive, 4);
  meta.dtor()(a, 4);
  EXPECT_EQ(CountedElement::alive, 0);
  meta.Destroy(new CountedElement);
  EXPECT_EQ(CountedElement::alive, 0);
}

struct WithoutDefault {
  explicit WithoutDefault(int) {}
};
enum class SmallEnum : uint8_t { kOne };

TEST(TypeMetaTest, TypesWithoutDefaultHaveNoConstructorFunction) {
  const TypeMeta meta = TypeMeta::Make<WithoutDefault>();
  EXPECT_EQ(meta.ctor(), nullptr);
  EXPECT_NE(meta.copy(), nullptr);
  EXPECT_NE(meta.dtor(), nullptr);
  EXPECT_FALSE(meta.IsPlainData());
  EXPECT_TRUE(meta.IsSet());
  EXPECT_TRUE(TypeMeta::Make<SmallEnum>().IsPlainData());
  EXPECT_EQ(TypeMeta::Make<SmallEnum>().itemsize(), 1u);
  EXPECT_FALSE(TypeMeta::Make<std::string>().IsPlainData());
  EXPECT_TRUE(TypeMeta::Make<bool>().IsPlainData());
}

TEST(TypeMetaTest, NamesIntegersByTheirSize) {
  EXPECT_STREQ(TypeMeta::Name<signed char>(), "int8");
  EXPECT_STREQ(TypeMeta::Name<uint8_t>(), "uint8");
  EXPECT_STREQ(TypeMeta::Name<int16_t>(), "int16");
  EXPECT_STREQ(TypeMeta::Name<uint16_t>(), "uint16");
  EXPECT_STREQ(TypeMeta::Name<int32_t>(), "int32");
  EXPECT_STREQ(TypeMeta::Name<uint32_t>(), "uint32");
  EXPECT_STREQ(TypeMeta::Name<int64_t>(), "int64");
  EXPECT_STREQ(TypeMeta::Name<uint64_t>(), "uint64");
  EXPECT_STREQ(TypeMeta::Name<long long>(), "int64");
  EXPECT_STREQ(TypeMeta::Name<unsigned long long>(), "uint64");
  EXPECT_STREQ(TypeMeta::Name<bool>(), "bool");
  EXPECT_STREQ(TypeMeta::Name<double>(), "double");
  EXPECT_STREQ(TypeMeta::Name<std::vector<uint16_t>>(), "vector<uint16>");
  EXPECT_STREQ(TypeMeta::Name<std::vector<signed char>>(), "vector<int8>");
  EXPECT_STREQ((TypeMeta::Name<std::map<short, unsigned int>>()), "map<int16, uint32>");
  EXPECT_STREQ(TypeMeta::Name<std::unique_ptr<unsigned long>>(), "unique_ptr<uint64>");
  EXPECT_FALSE(TypeMeta::Make<long>() == TypeMeta::Make<long long>()) << "they are other types";
  EXPECT_NE(TypeMeta::Id<int>(), TypeMeta::Id<unsigned>());
  EXPECT_EQ(TypeMeta(), TypeMeta());
  EXPECT_TRUE(TypeMeta::Make<float>().IsSet());
}

TEST(TypeMetaTest, TheErrorOfACopyNamesTheType) {
  const TypeMeta meta = TypeMeta::Make<std::unique_ptr<int>>();
  std::unique_ptr<int> a, b;
  try {
    meta.copy()(&a, &b, 1);
    FAIL() << "did not throw";
  } catch (const EnforceNotMet& error) {
    EXPECT_EQ(error.message(), "elements of type unique_ptr<int32> cannot be copied");
  }
}

TEST(TypeMetaTest, NamesOfContainersHaveNoHelpers) {
  EXPECT_STREQ((TypeMeta::Name<std::unordered_map<std::string, int>>()),
               "unordered_map<string, int32>");
  EXPECT_STREQ((TypeMeta::Name<std::unordered_set<long>>()), "unordered_set<int64>");
  EXPECT_STREQ((TypeMeta::Name<std::set<std::string>>()), "set<string>");
  EXPECT_STREQ((TypeMeta::Name<std::map<short, std::vector<unsigned char>>>()),
               "map<int16, vector<uint8>>");
  EXPECT_STREQ((TypeMeta::Name<std::map<unsigned, unsigned>>()), "map<uint32, uint32>");
  EXPECT_STREQ((TypeMeta::Name<std::map<unsigned char, std::map<unsigned char, unsigned long>>>()),
               "map<uint8, map<uint8, uint64>>");
  EXPECT_STREQ((TypeMeta::Name<std::map<short, std::map<long, signed char>>>()),
               "map<int16, map<int64, int8>>");
}

}  // namespace
}  // namespace caffe2rt::type_meta_test
