#include "caffe2_core/tensor/prepared_weight.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>

namespace caffe2rt::prepared_weight_test {
namespace {

constexpr size_t kBytes = 2 * sizeof(float);

Tensor Weight(float first, float second) {
  Tensor weight(std::vector<int64_t>{2}, CPU);
  weight.mutable_data<float>()[0] = first;
  weight.mutable_data<float>()[1] = second;
  weight.MarkReadOnly();
  return weight;
}

// An operator that reads its weight times (number of the form + 2).
class User {
 public:
  explicit User(PreparedWeight::IfChanged if_changed = PreparedWeight::IfChanged::kPrepare)
      : prepared(if_changed) {}

  // Both elements of form number 0.
  std::vector<float> Run(const Tensor& weight) {
    const float* const plain = weight.data<float>();
    prepared.Update(weight, [&](size_t form, void* to) {
      ++made;
      for (int i = 0; i < 2; ++i) {
        static_cast<float*>(to)[i] = plain[i] * static_cast<float>(form + 2);
      }
    });
    const auto* const data = prepared.data<float>(0);
    if (data == nullptr) return {};
    return {data[0], data[1]};
  }

  PreparedWeight prepared;
  int made = 0;
};

TEST(PreparedWeightTest, PreparesOnceForOneWeight) {
  const Tensor a = Weight(1, 2), b = Weight(3, 4);
  User user;
  EXPECT_EQ(user.prepared.Add("doubled", kBytes), 0u);
  EXPECT_EQ(user.Run(a), (std::vector<float>{2, 4}));
  EXPECT_EQ(user.Run(a), (std::vector<float>{2, 4}));
  EXPECT_EQ(user.made, 1);
  EXPECT_EQ(user.Run(b), (std::vector<float>{6, 8}));
  EXPECT_EQ(user.Run(a), (std::vector<float>{2, 4})) << "the storage still has it";
  EXPECT_EQ(user.made, 2);
}

TEST(PreparedWeightTest, EqualKeysAreOneForm) {
  User user;
  EXPECT_EQ(user.prepared.Add("doubled", kBytes), 0u);
  EXPECT_EQ(user.prepared.Add("tripled", kBytes), 1u);
  EXPECT_EQ(user.prepared.Add("doubled", kBytes), 0u);
  EXPECT_EQ(user.prepared.size(), 2u);
  EXPECT_EQ(user.prepared.nbytes(), 2 * kBytes);
  (void)user.Run(Weight(1, 2));
  EXPECT_EQ(user.prepared.data<float>(1)[1], 6);
  EXPECT_EQ(user.made, 2);
}

TEST(PreparedWeightTest, OperatorsShareAForm) {
  const Tensor weight = Weight(1, 2);
  User first, second, other;
  first.prepared.Add("doubled", kBytes);
  second.prepared.Add("doubled", kBytes);
  other.prepared.Add("another layout", kBytes);
  for (User* user : {&first, &second, &other}) (void)user->Run(weight);
  EXPECT_EQ(first.prepared.data(0), second.prepared.data(0));
  EXPECT_NE(first.prepared.data(0), other.prepared.data(0));
  EXPECT_EQ(second.made, 0);
}

// As in training.
TEST(PreparedWeightTest, WeightsThatChangeArePreparedInMemoryOfTheOperator) {
  Tensor weight(std::vector<int64_t>{2}, CPU);
  User user, another;
  user.prepared.Add("doubled", kBytes);
  another.prepared.Add("doubled", kBytes);
  const void* own = nullptr;
  for (int i = 1; i < 4; ++i) {
    const auto value = static_cast<float>(i);
    weight.mutable_data<float>()[0] = value;
    weight.mutable_data<float>()[1] = -value;
    EXPECT_EQ(user.Run(weight), (std::vector<float>{2 * value, -2 * value}));
    EXPECT_EQ(another.Run(weight), (std::vector<float>{2 * value, -2 * value}));
    EXPECT_EQ(user.made, i);
    if (i == 1) {
      EXPECT_EQ(user.prepared.data(0), another.prepared.data(0));
      continue;
    }
    EXPECT_NE(user.prepared.data(0), another.prepared.data(0));
    EXPECT_TRUE(own == nullptr || own == user.prepared.data(0)) << "the memory is used again";
    own = user.prepared.data(0);
    EXPECT_TRUE(weight.storage()->forms().List().empty());
  }
}

TEST(PreparedWeightTest, WeightsThatChangeCanBeUsedPlain) {
  Tensor weight(std::vector<int64_t>{2}, CPU);
  weight.mutable_data<float>()[0] = weight.mutable_data<float>()[1] = 1;
  User user(PreparedWeight::IfChanged::kUsePlain);
  user.prepared.Add("doubled", kBytes);
  EXPECT_EQ(user.Run(weight), (std::vector<float>{2, 2}));
  weight.mutable_data<float>()[0] = 5;
  EXPECT_TRUE(user.Run(weight).empty());
  EXPECT_TRUE(user.Run(weight).empty()) << "the data have not changed since, but had before";
  EXPECT_EQ(user.made, 1);
  EXPECT_EQ(user.Run(Weight(3, 4)), (std::vector<float>{6, 8}));
}

TEST(PreparedWeightTest, AFailedPreparationIsRepeated) {
  const Tensor weight = Weight(1, 2);
  User user;
  user.prepared.Add("doubled", kBytes);
  EXPECT_THROW(
      user.prepared.Update(weight, [](size_t, void*) { throw std::runtime_error("failed"); }),
      std::runtime_error);
  EXPECT_EQ(user.Run(weight), (std::vector<float>{2, 4}));
}

TEST(PreparedWeightTest, ClearedFormsArePreparedUnderTheirNewKeys) {
  const Tensor weight = Weight(1, 2);
  User user;
  user.prepared.Add("doubled", kBytes);
  (void)user.Run(weight);
  user.prepared.Clear();
  EXPECT_EQ(user.prepared.size(), 0u);
  user.prepared.Add("doubled for other sizes", kBytes);
  EXPECT_EQ(user.Run(weight), (std::vector<float>{2, 4}));
  EXPECT_EQ(user.made, 2);
}

TEST(PreparedWeightTest, ReportsAWeightWithoutMemory) {
  PreparedWeight prepared;
  prepared.Add("doubled", kBytes);
  EXPECT_THROW(prepared.Update(Tensor(std::vector<int64_t>{0, 3}, CPU), [](size_t, void*) {}),
               EnforceNotMet);
}

TEST(PreparedWeightTest, ThreadsWithTheirOwnOperatorsShareOneForm) {
  const Tensor weight = Weight(1, 2);
  std::vector<User> users(4);
  for (User& user : users) user.prepared.Add("doubled", kBytes);
  std::vector<std::thread> threads;
  for (User& user : users) threads.emplace_back([&] { (void)user.Run(weight); });
  for (std::thread& thread : threads) thread.join();
  int made = 0;
  for (const User& user : users) {
    made += user.made;
    EXPECT_EQ(user.prepared.data(0), users[0].prepared.data(0));
  }
  EXPECT_EQ(made, 1);
}

TEST(PreparedWeightTest, FormsThatAreAddedLaterArePreparedToo) {
  const Tensor weight = Weight(1, 2);
  User user;
  user.prepared.Add("doubled", kBytes);
  EXPECT_EQ(user.Run(weight), (std::vector<float>{2, 4}));
  EXPECT_EQ(user.prepared.Add("tripled", kBytes), 1u);
  EXPECT_EQ(user.Run(weight), (std::vector<float>{2, 4}));
  ASSERT_NE(user.prepared.data(1), nullptr);
  EXPECT_EQ(user.prepared.data<float>(1)[1], 6);
  EXPECT_EQ(user.made, 2);
  user.prepared.Clear();
  EXPECT_EQ(user.prepared.size(), 0u);
  EXPECT_EQ(user.prepared.nbytes(), 0u);
  user.prepared.Add("tripled", kBytes);  // which the storage still has
  EXPECT_EQ(user.Run(weight), (std::vector<float>{3, 6}));
  EXPECT_EQ(user.made, 2);
}

// After a failure nothing is taken for current, not even the weight before.
TEST(PreparedWeightTest, AFailureLeavesNothingThatCountsAsPrepared) {
  const Tensor before = Weight(1, 2), failing = Weight(3, 4);
  User user;
  user.prepared.Add("doubled", kBytes);
  user.prepared.Add("tripled", kBytes);
  EXPECT_EQ(user.Run(before), (std::vector<float>{2, 4}));
  const auto prepare = [](size_t form, void* to) {
    if (form == 1) throw std::runtime_error("failed");
    static_cast<float*>(to)[0] = static_cast<float*>(to)[1] = 9;
  };
  EXPECT_THROW(user.prepared.Update(failing, prepare), std::runtime_error);
  EXPECT_EQ(user.Run(before), (std::vector<float>{2, 4}));
  EXPECT_EQ(user.prepared.data<float>(1)[1], 6);
}

TEST(PreparedWeightTest, CountsTheFormsOfAWeightThatChanges) {
  Tensor weight(std::vector<int64_t>{2}, CPU);
  weight.mutable_data<float>();
  User user, plain(PreparedWeight::IfChanged::kUsePlain);
  user.prepared.Add("counted", kBytes);
  const int64_t before = PreparedForms::Count().made;
  (void)user.Run(weight);
  EXPECT_EQ(PreparedForms::Count().made, before + 1);
  weight.mutable_data<float>()[0] = 1;
  (void)user.Run(weight);
  EXPECT_EQ(PreparedForms::Count().made, before + 2);
}

}  // namespace
}  // namespace caffe2rt::prepared_weight_test
