#include "caffe2_core/base/type_meta.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
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

}  // namespace
}  // namespace caffe2rt::type_meta_test
