// Caffe2's interface for dispatch by types and numbers: which function is called, with which template arguments.
#include "caffe2_core/runtime/dispatch.h"

#include <gtest/gtest.h>

#include <string>
#include <type_traits>

#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"

namespace caffe2rt::test::dispatch_test {
namespace {

template <class T>
std::string NameOf() {
  return std::is_same_v<T, float> ? "float" : std::is_same_v<T, int64_t> ? "int64" : "double";
}

// Notes what was called.
struct CalledOp {
  std::string called;

  template <class T>
  bool DoRunWithType() {
    called = "type " + NameOf<T>();
    return true;
  }
  template <class First, class T>
  bool DoRunWithType() {
    called = "type " + NameOf<First>() + " " + NameOf<T>();
    return true;
  }
  template <class... First>
  bool DoRunWithOtherType() {
    called = "other type";
    ((called += " " + NameOf<First>()), ...);
    return true;
  }
  template <class T>
  bool DoRunWithType2() {
    called = "type2 " + NameOf<T>();
    return true;
  }
  template <class First, class T>
  bool DoRunWithType2() {
    called = "type2 " + NameOf<First>() + " " + NameOf<T>();
    return true;
  }
  template <class...>
  bool DoRunWithOtherType2() {
    called = "other type2";
    return false;
  }
  template <int Value>
  bool DoRunWithValue() {
    called = MakeString("value ", Value);
    return Value != 7;
  }
  template <class First, int Value>
  bool DoRunWithValue() {
    called = MakeString("value ", NameOf<First>(), " ", Value);
    return true;
  }
};

// What is called for elements of type T, in a tensor, in a blob and as a type alone.
template <class Dispatch, class T>
std::string CalledFor() {
  Workspace ws;
  const Tensor& tensor = *Feed<T>(&ws, "x", {1}, {T{}});
  CalledOp of_tensor, of_type;
  const bool result = Dispatch::call(&of_tensor, tensor);
  EXPECT_EQ(Dispatch::call(&of_type, TypeMeta::Make<T>()), result);
  EXPECT_EQ(of_type.called, of_tensor.called);
  return of_tensor.called + (result ? "" : " false");
}

using AnyType = GenericTensorImplementation;

TEST(DispatchHelperTest, CallsTheFunctionOfTheType) {
  using Two = DispatchHelper<TensorTypes<float, int64_t>>;
  EXPECT_EQ((CalledFor<Two, float>()), "type float");
  EXPECT_EQ((CalledFor<Two, int64_t>()), "type int64");
  EXPECT_EQ(MessageOf([] { (void)CalledFor<Two, double>(); }),
            "Unsupported type of tensor: double");
  using Open = DispatchHelper<TensorTypes<float, AnyType>>;
  EXPECT_EQ((CalledFor<Open, float>()), "type float");
  EXPECT_EQ((CalledFor<Open, double>()), "other type");
  using Second = DispatchHelper<TensorTypes2<double, int64_t, AnyType>>;
  EXPECT_EQ((CalledFor<Second, double>()), "type2 double");
  EXPECT_EQ((CalledFor<Second, int64_t>()), "type2 int64");
  EXPECT_EQ((CalledFor<Second, float>()), "other type2 false");
  EXPECT_EQ(MessageOf([] { (void)CalledFor<DispatchHelper<TensorTypes2<double>>, float>(); }),
            "Unsupported type of tensor: float");
}

// Further types come before the one that is found.
TEST(DispatchHelperTest, PassesFurtherTypesOn) {
  using Two = DispatchHelper<TensorTypes<float, int64_t, AnyType>, double>;
  EXPECT_EQ((CalledFor<Two, float>()), "type double float");
  EXPECT_EQ((CalledFor<Two, int64_t>()), "type double int64");
  EXPECT_EQ((CalledFor<Two, double>()), "other type double");
  EXPECT_EQ((CalledFor<DispatchHelper<TensorTypes2<float>, int64_t>, float>()),
            "type2 int64 float");
  CalledOp op;
  EXPECT_TRUE((DispatchHelper<FixedValues<3, 4>, float>::call(&op, 4)));
  EXPECT_EQ(op.called, "value float 4");
  EXPECT_TRUE((DispatchHelper<FixedValues<3, 4>, float>::call(&op, 5)));
  EXPECT_EQ(op.called, "value float -1");
}

TEST(DispatchHelperTest, CallsTheFunctionOfANumber) {
  using Numbers = DispatchHelper<FixedValues<1, 7, 9>>;
  const struct {
    int64_t number;
    const char* called;
    bool result;
  } rows[] = {{1, "value 1", true},
              {7, "value 7", false},
              {9, "value 9", true},
              {0, "value -1", true},
              {-1, "value -1", true},
              {(int64_t{1} << 32) + 1, "value -1", true}};
  for (const auto& row : rows) {
    CalledOp op;
    EXPECT_EQ(Numbers::call(&op, row.number), row.result) << row.number;
    EXPECT_EQ(op.called, row.called) << row.number;
  }
}

// A blob that holds an object of a listed type.
TEST(DispatchHelperTest, CallsTheFunctionOfAnObject) {
  Workspace ws;
  CalledOp op;
  *ws.CreateBlob("n")->GetMutable<int64_t>() = 3;
  EXPECT_TRUE((DispatchHelper<TensorTypes<float, int64_t>>::call(&op, *ws.GetBlob("n"))));
  EXPECT_EQ(op.called, "type int64");
  EXPECT_EQ(MessageOf([&] { DispatchHelper<TensorTypes<float>>::call(&op, *ws.GetBlob("n")); }),
            "Unsupported type of tensor: int64");
}

TEST(DispatchByTypeTest, ReturnsTheResultOrNamesTheTypes) {
  const auto size = [](auto element) { return sizeof(element); };
  EXPECT_EQ((DispatchByType<float, double, bool>(TypeMeta::Make<float>(), "x", size)), 4u);
  EXPECT_EQ((DispatchByType<float, double, bool>(TypeMeta::Make<double>(), "x", size)), 8u);
  EXPECT_EQ((DispatchByType<float, double, bool>(TypeMeta::Make<bool>(), "x", size)), 1u);
  EXPECT_EQ(MessageOf([&] {
              (void)DispatchByType<float, double, bool>(TypeMeta::Make<int64_t>(), "input 2 (W)",
                                                        size);
            }),
            "Unsupported type of tensor: input 2 (W) has elements of type int64, want float, "
            "double, bool");
  // The function without a result is called once.
  std::string sizes;
  const auto note = [&](auto element) { sizes += MakeString(sizeof(element), " "); };
  DispatchByType<float, double, bool>(TypeMeta::Make<bool>(), "x", note);
  DispatchByType<float, double, bool>(TypeMeta::Make<float>(), "x", note);
  EXPECT_EQ(sizes, "1 4 ");
  EXPECT_EQ(MessageOf([&] { DispatchByType<float>(TypeMeta::Make<bool>(), "x", note); }),
            "Unsupported type of tensor: x has elements of type bool, want float");
  EXPECT_EQ(sizes, "1 4 ");
}

}  // namespace
}  // namespace caffe2rt::test::dispatch_test
