#include "caffe2_core/tensor/blob.h"

#include <gtest/gtest.h>

#include <vector>

#include "caffe2_core/tensor/blob_holders.h"

namespace caffe2rt::blob_test {
namespace {

struct Counted {
  static inline int alive = 0;
  Counted() { ++alive; }
  ~Counted() { --alive; }
};

TEST(BlobTest, HoldsNothingAtFirst) {
  const Blob blob;
  EXPECT_FALSE(blob.IsType<int>());
  EXPECT_EQ(blob.GetRaw(), nullptr);
  EXPECT_THROW((void)blob.Get<int>(), EnforceNotMet);
}

TEST(BlobTest, GetMutableCreatesOnceAndReplacesOtherTypes) {
  Blob blob;
  bool is_new = false;
  *blob.GetMutable<int>(&is_new) = 3;
  EXPECT_TRUE(is_new);
  EXPECT_EQ(*blob.GetMutable<int>(&is_new), 3);
  EXPECT_FALSE(is_new);
  blob.GetMutable<Counted>(&is_new);
  EXPECT_TRUE(is_new);
  EXPECT_EQ(Counted::alive, 1);
  blob.Reset();
  EXPECT_EQ(Counted::alive, 0);
}

TEST(BlobTest, WrongTypeNamesBoth) {
  Blob blob;
  blob.GetMutable<std::string>();
  try {
    (void)blob.Get<int>();
    FAIL() << "did not throw";
  } catch (const EnforceNotMet& error) {
    EXPECT_NE(error.message().find("string"), std::string::npos);
    EXPECT_NE(error.message().find("int"), std::string::npos);
  }
}

TEST(BlobTest, ResetAcquiresOwnership) {
  {
    Blob blob;
    Counted* object = new Counted;
    EXPECT_EQ(blob.Reset(object), object);
    EXPECT_TRUE(blob.IsType<Counted>());
    EXPECT_EQ(Counted::alive, 1);
  }
  EXPECT_EQ(Counted::alive, 0);
}

TEST(BlobTest, ShareExternalNeverDestroys) {
  Counted object;
  {
    Blob blob;
    blob.ShareExternal<Counted>(&object);
    EXPECT_EQ(&blob.Get<Counted>(), &object);
  }
  EXPECT_EQ(Counted::alive, 1);
}

TEST(BlobTest, ReleaseGivesTheWayToDestroy) {
  Blob blob;
  Counted* object = blob.Reset(new Counted);
  const Blob::DestroyCall destroy = blob.Release();
  EXPECT_EQ(&blob.Get<Counted>(), object);  // remains readable
  blob.Reset();
  EXPECT_EQ(Counted::alive, 1);
  destroy(object);
  EXPECT_EQ(Counted::alive, 0);
}

TEST(BlobTest, MovesAndSwaps) {
  Blob a, b;
  *a.GetMutable<int>() = 1;
  *b.GetMutable<std::string>() = "b";
  swap(a, b);
  EXPECT_EQ(a.Get<std::string>(), "b");
  Blob c(std::move(b));
  EXPECT_EQ(c.Get<int>(), 1);
  a = std::move(c);
  EXPECT_EQ(a.Get<int>(), 1);
}

TEST(BlobTest, TensorIsReplacedWhenItsDeviceDiffers) {
  Blob blob;
  Tensor* tensor = BlobGetMutableTensor(&blob, CPU);
  tensor->Resize(3);
  EXPECT_EQ(BlobGetMutableTensor(&blob, CPU), tensor);
  EXPECT_TRUE(BlobIsTensorType(blob, CPU));
  EXPECT_FALSE(BlobIsTensorType(blob, CUDA));
  EXPECT_THROW(BlobGetTensor(blob, CUDA), EnforceNotMet);
  EXPECT_FALSE(BlobGetMutableTensor(&blob, CUDA)->IsShaped());
  BlobSetTensor(&blob, Tensor(std::vector<int64_t>{2}, CPU));
  EXPECT_EQ(BlobGetTensor(blob, CPU).numel(), 2);
}

void DestroyCounted(void* object) { delete static_cast<Counted*>(object); }

TEST(BlobTest, ReplacedObjectsAreDestroyedOnce) {
  const TypeMeta meta = TypeMeta::Make<Counted>();
  Blob blob;
  blob.Reset(new Counted);
  blob.Reset(new int(3));
  EXPECT_EQ(Counted::alive, 0);
  blob.Reset(new Counted, meta, &DestroyCounted);
  EXPECT_TRUE(blob.IsType<Counted>());
  blob.Reset(new Counted, meta, &DestroyCounted);
  EXPECT_EQ(Counted::alive, 1);
  blob.Reset();
  EXPECT_EQ(Counted::alive, 0);
  EXPECT_TRUE(blob.IsEmpty());
  EXPECT_FALSE(blob.meta().IsSet());
  EXPECT_FALSE(blob.IsType<Counted>());
  blob.Reset();  // of nothing
  Counted object;
  blob.Reset(&object, meta, nullptr);
  EXPECT_EQ(blob.Release(), nullptr);
  blob.Reset(new int(4));
  EXPECT_EQ(Counted::alive, 1);
}

TEST(BlobTest, OwnershipMovesWithTheObject) {
  Counted object;
  {
    Blob owner, guest;
    owner.Reset(new Counted);
    guest.ShareExternal<Counted>(&object);
    owner.swap(guest);  // `guest` owns now
    EXPECT_EQ(&owner.Get<Counted>(), &object);
    Blob moved = std::move(guest);
    EXPECT_TRUE(guest.IsEmpty());  // NOLINT(bugprone-use-after-move): a moved blob is empty
    guest = std::move(moved);
    owner = std::move(guest);
    EXPECT_EQ(Counted::alive, 2);
  }
  EXPECT_EQ(Counted::alive, 1);
}

TEST(BlobTest, IsOfATypeAndADevice) {
  Blob blob;
  EXPECT_EQ(blob.GetMutableOrNull<int>(), nullptr);
  *blob.GetMutable<int>() = 5;
  EXPECT_EQ(*blob.GetMutableOrNull<int>(), 5);
  EXPECT_EQ(blob.GetMutableOrNull<float>(), nullptr);
  EXPECT_FALSE(blob.IsType<Tensor>(CPU));
  EXPECT_FALSE(blob.IsTensor(CPU));
  blob.GetMutableTensor(CPU);
  EXPECT_TRUE(blob.IsType<Tensor>(CPU));
  EXPECT_FALSE(blob.IsType<Tensor>(CUDA));
  EXPECT_FALSE(blob.IsType<int>(CPU));
}

// An object that holds two blobs, of which one may hold the object itself.
struct Pair {
  Blob* first = nullptr;
  Blob* second = nullptr;
};

TEST(BlobHoldersTest, VisitsBlobsOfBlobsAndEndsInCircles) {
  DeclareBlobHolder<Pair>([](const Pair& pair, const BlobVisitor& visit) {
    for (const Blob* blob : {pair.first, pair.second}) {
      if (blob != nullptr) visit(*blob);
    }
  });
  Blob outer, inner, leaf, other;
  leaf.GetMutableTensor(CPU);
  EXPECT_FALSE(IsBlobHolder(leaf));
  EXPECT_FALSE(IsBlobHolder(other));
  *inner.GetMutable<Pair>() = {&leaf, nullptr};
  *outer.GetMutable<Pair>() = {&inner, &other};
  EXPECT_TRUE(IsBlobHolder(outer));
  std::vector<const Blob*> visited;
  VisitHeldBlobs(outer, [&](const Blob& blob) { visited.push_back(&blob); });
  EXPECT_EQ(visited, (std::vector<const Blob*>{&inner, &leaf, &other}));
  inner.GetMutable<Pair>()->first = &outer;
  outer.GetMutable<Pair>()->second = nullptr;
  int visits = 0;
  VisitHeldBlobs(outer, [&](const Blob&) { ++visits; });
  EXPECT_EQ(visits, 64);  // as deep as nets may be nested
}

}  // namespace
}  // namespace caffe2rt::blob_test
