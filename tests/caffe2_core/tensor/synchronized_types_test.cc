#include "caffe2_core/tensor/synchronized_types.h"

#include <gtest/gtest.h>

namespace caffe2rt::synchronized_types_test {
namespace {

struct Declared {};
struct Undeclared {};
struct Later {};
template <class A, class B>
struct Pair {};

SYNCHRONIZED_BLOB_TYPE(Declared);
SYNCHRONIZED_BLOB_TYPE(Pair<int, float>);

TEST(SynchronizedTypesTest, KnowsDeclaredTypesOnly) {
  EXPECT_TRUE(IsSynchronizedType(TypeMeta::Make<Declared>()));
  EXPECT_TRUE((IsSynchronizedType(TypeMeta::Make<Pair<int, float>>())));
  EXPECT_FALSE((IsSynchronizedType(TypeMeta::Make<Pair<int, int>>())));
  EXPECT_FALSE(IsSynchronizedType(TypeMeta::Make<Undeclared>()));
  EXPECT_FALSE(IsSynchronizedType(TypeMeta::Make<Tensor>()));
  EXPECT_FALSE(IsSynchronizedType(TypeMeta()));
}

TEST(SynchronizedTypesTest, ATypeMayBeDeclaredTwice) {
  EXPECT_FALSE(IsSynchronizedType(TypeMeta::Make<Later>()));
  EXPECT_TRUE(DeclareSynchronizedType<Later>());
  EXPECT_TRUE(DeclareSynchronizedType<Later>());
  EXPECT_TRUE(IsSynchronizedType(TypeMeta::Make<Later>()));
}

}  // namespace
}  // namespace caffe2rt::synchronized_types_test
