#include "caffe2_core/base/first_error.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace caffe2rt::test::first_error_test {
namespace {

void Keep(FirstError* error, const std::string& text) {
  try {
    throw std::runtime_error(text);
  } catch (...) {
    error->KeepCurrent();
  }
}

// The text of the exception that is taken, or "" if there is none.
std::string Taken(FirstError* error) {
  const std::exception_ptr first = error->Take();
  if (first == nullptr) return "";
  try {
    std::rethrow_exception(first);
  } catch (const std::runtime_error& taken) {
    return taken.what();
  }
}

TEST(FirstErrorTest, KeepsTheFirstUntilItIsRethrown) {
  FirstError error;
  EXPECT_EQ(Taken(&error), "");
  Keep(&error, "a");
  Keep(&error, "b");
  EXPECT_EQ(Taken(&error), "a");
  EXPECT_EQ(Taken(&error), "");
  Keep(&error, "c");
  EXPECT_EQ(Taken(&error), "c");
}

TEST(FirstErrorTest, KeepsOneOfSeveralThreads) {
  FirstError error;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) threads.emplace_back([&error] { Keep(&error, "a thread's"); });
  }
  EXPECT_EQ(Taken(&error), "a thread's");
}

}  // namespace
}  // namespace caffe2rt::test::first_error_test
