// Whole messages of the operators of this folder, values next to the bounds, and inferred shapes.
#include <gtest/gtest.h>

#include "operators/numeric/einsum_plan.h"
#include "tests/operators/common/call_tables.h"
#include "tests/support/refusals.h"

namespace caffe2rt::test::numeric_calls_test {
namespace {

constexpr char kNumbers[] =
    "float, double, int64, int32, int16, int8, uint8, uint16, uint32, uint64";

TEST(NumericRefusalsTest, NameTypesThatAreNoNumbers) {
  for (const char* const op :
       {"ONNXClip X -> Y", "ONNXArgMax X -> Y", "ONNXArgMin X -> Y", "CumSum X a -> Y",
        "ONNXPow X B -> Y", "ONNXMod X B -> Y", "ONNXMatMul X B -> Y", "Hardmax X -> Y",
        "ONNXDropout X -> Y", "Det X -> Y", "BitShift X B -> Y direction=LEFT",
        "Einsum X -> Y equation=ij", "ONNXMax X B -> Y", "ONNXMin X -> Y"}) {
    const std::string text = op;
    const auto is = [&](const char* type) { return text.starts_with(type); };
    const std::string subject = is("ONNXMa") && !is("ONNXMat")  ? "input 0"
                                : is("ONNXMin") || is("Einsum") ? "input 0"
                                : is("ONNXMod") || is("ONNXMatMul") || is("ONNXPow")
                                    ? "input 0 (A)"
                                    : "input 0 (X)";
    const std::string types = is("Hardmax") || is("ONNXDropout") || is("Det") ? "float, double"
                              : is("CumSum") || is("Einsum") ? "float, double, int32, int64"
                              : is("BitShift")
                                  ? "uint8, uint16, uint32, uint64, int8, int16, int32, int64"
                                  : kNumbers;
    ExpectRejected(
        {{op, "X b 2,2; B f 2; a l - = 0",
          "Unsupported type of tensor: " + subject + " has elements of type bool, want " + types}});
  }
  ExpectRejected({
      {"ONNXPow X B -> Y", "X f 2; B b 2",
       std::string("Unsupported type of tensor: input 1 (B) has elements of type bool, want ") +
           kNumbers},
      {"ONNXMax X B C -> Y", "X f 2; B f 2; C i 2",
       "the tensor holds elements of type int32, want float"},
      {"ONNXMax X B -> Y", "X f 2; B i 2", "the tensor holds elements of type int32, want float"},
      {"ONNXMod X B -> Y", "X i 2; B f 2", "the tensor holds elements of type float, want int32"},
      {"Einsum X B -> Y equation=i,i", "X f 2; B d 2",
       "the tensor holds elements of type double, want float"},
      {"BitShift X B -> Y direction=RIGHT", "X u 2; B c 2",
       "the tensor holds elements of type int8, want uint8"},
      {"CumSum X a -> Y", "X f 2; a f 1",
       "Unsupported type of tensor: input 1 (axis) has elements of type float, want int32, "
       "int64"},
      {"ONNXDropout X r -> Y", "X f 2; r i 1",
       "Unsupported type of tensor: input 1 (ratio) has elements of type int32, want float, "
       "double"},
      {"ONNXDropout X r m -> Y", "X f 2; r f 1; m i 1",
       "the tensor holds elements of type int32, want bool"},
  });
}

TEST(NumericRefusalsTest, NameAxesAndShapes) {
  ExpectRejected({
      {"CumSum X a -> Y", "X f 2,3; a l - = 2",
       "axis is 2, want -2 to 1 for an input of shape [2, 3]"},
      {"CumProd X a -> Y", "X f 2,3; a l - = -3",
       "axis is -3, want -2 to 1 for an input of shape [2, 3]"},
      {"CumSum X a -> Y", "X f 2,3; a l 2 = 0",
       "elements of input 1 (axis) of shape [2]: got 2, want 1"},
      {"Hardmax X -> Y axis=2", "X f 2,3", "axis is 2, want -2 to 1 for an input of shape [2, 3]"},
      {"ONNXArgMax X -> Y axis=-2", "X f 3", "axis is -2, want -1 to 0 for an input of shape [3]"},
      {"ONNXArgMin X -> Y axis=1", "X f 2,0",
       "size of axis 1 of input 0 (X) of shape [2, 0]: got 0, want more than 0"},
      {"Det X -> Y", "X f 3",
       "input 0 (X) has shape [3], want square matrices in the last two axes"},
      {"Det X -> Y", "X f 3,2,3",
       "input 0 (X) has shape [3, 2, 3], want square matrices in the last two axes"},
      {"ONNXClip X a b -> Y", "X f 2; a f 2; b f 1",
       "elements of input 1 (min) of shape [2]: got 2, want 1"},
      {"ONNXClip X a b -> Y", "X f 2; a f 1; b f 0",
       "elements of input 2 (max) of shape [0]: got 0, want 1"},
      {"ONNXClip X b -> Y omitted_inputs=1,", "X f 2; b f 2",
       "elements of input 1 (max) of shape [2]: got 2, want 1"},
      {"ONNXClip X -> Y omitted_inputs=-1,", "X f 2",
       "argument omitted_inputs contains -1, want 0 to 15"},
      {"ONNXClip X -> Y omitted_inputs=16,", "X f 2",
       "argument omitted_inputs contains 16, want 0 to 15"},
      {"ONNXDropout X r -> Y", "X f 2; r f 2", "elements of input 1 (ratio): got 2, want 1"},
      {"ONNXDropout X m -> Y omitted_inputs=1,", "X f 2; m b 2",
       "elements of input 1 (training_mode): got 2, want 1"},
      {"ONNXDropout X r m -> Y", "X f 2; r f 1 = 1; m b 1 = 1",
       "input 1 (ratio) is 1, want at least 0 and below 1"},
      {"ONNXDropout X r m -> Y", "X f 2; r d 1 = -0.25; m b 1 = 1",
       "input 1 (ratio) is -0.25, want at least 0 and below 1"},
      {"ONNXMod A B -> Y", "A i 2; B i 3,1 = 1,2,0",
       "input 1 (B) is 0 at element 2, want other numbers: integers cannot be divided by 0"},
      {"ONNXMax A B -> Y", "A f 2; B f 3",
       "input 1 (B) has shape [3], which does not fit input 0 (A) [2]: counted from the end, "
       "dimensions must be equal or 1"},
      {"ONNXMatMul A B -> Y", "A f 2,3; B f 2,3",
       "rows of input 1 (B) of shape [2, 3], want the columns of input 0 (A) of shape [2, 3] (got "
       "2, "
       "want 3)"},
      {"ONNXMatMul A B -> Y", "A f 3; B f 2",
       "rows of input 1 (B) of shape [2], want the columns of input 0 (A) of shape [3] (got 2, "
       "want "
       "3)"},
      {"ONNXMatMul A B -> Y", "A f -; B f 2",
       "inputs have shapes [] and [2], want at least one axis"},
      {"ONNXMatMul A B -> Y", "A f 2; B f -",
       "inputs have shapes [2] and [], want at least one axis"},
      {"ONNXMatMul A B -> Y", "A f 2,1,3,4; B f 3,1,4,5",
       "inputs have shapes [2, 1, 3, 4] and [3, 1, 4, 5], want axes before the matrices that are "
       "equal or 1"},
      {"BitShift X B -> Y direction=UP", "X u 1; B u 1",
       "argument \"direction\" is \"UP\", want LEFT or RIGHT"},
      {"BitShift X B -> Y", "X u 1; B u 1", "argument \"direction\" is required but missing"},
  });
}

TEST(NumericRefusalsTest, NameWhatIsWrongInAnEquation) {
  const auto rejected = [](const std::string& equation, const char* inputs, std::string message) {
    const std::string op = "Einsum A B -> Y equation=" + equation;
    ExpectRejected({{op, inputs, std::move(message)}});
  };
  const char* const inputs = "A f 2,3; B f 3,4";
  const auto is = [](const char* equation) {
    return std::string("argument equation is \"") + equation + "\", want ";
  };
  rejected("...i...,jk", inputs, is("...i...,jk") + "at most one ellipsis in a term");
  rejected("i[,jk", inputs, is("i[,jk") + "letters, commas, ... and one ->");
  rejected("i@,jk", inputs, is("i@,jk") + "letters, commas, ... and one ->");
  rejected("i{,jk", inputs, is("i{,jk") + "letters, commas, ... and one ->");
  rejected("i`,jk", inputs, is("i`,jk") + "letters, commas, ... and one ->");
  rejected("ij,jk->i->k", inputs, is("ij,jk->i->k") + "letters, commas, ... and one ->");
  rejected("ij,jk->ii", inputs,
           is("ij,jk->ii") + "each letter of the output once, and in an input");
  rejected("ij,jk->iz", inputs,
           is("ij,jk->iz") + "each letter of the output once, and in an input");
  rejected("ij", inputs,
           "terms of argument equation \"ij\", want one for each input (got 1, want 2)");
  rejected("ij,jk,k", inputs,
           "terms of argument equation \"ij,jk,k\", want one for each input (got 3, want 2)");
  rejected("i,jk", inputs,
           "axes of input 0 in argument equation, want those of shape [2, 3] (got 1, want 2)");
  rejected("ij,jkl", inputs,
           "axes of input 1 in argument equation, want those of shape [3, 4] (got 3, want 2)");
  rejected("ij,jj", inputs,
           "input 1 of shape [3, 4]: axis 1 has size 4, want 3 as the same axis of the equation "
           "elsewhere, or 1");
  rejected("ij,ki", inputs,
           "input 1 of shape [3, 4]: axis 1 has size 4, want 2 as the same axis of the equation "
           "elsewhere, or 1");
  rejected("abc...,jk", inputs,
           "rank of input 0 of shape [2, 3] for argument equation \"abc...,jk\": got 2, want at "
           "least 3");
  ExpectRejected({{"Einsum A -> Y", "A f 2", "argument \"equation\" is required but missing"}});
}

TEST(EinsumCallsTest, OrdersTheAxesOfTheResult) {
  ExpectResults({
      // Capital letters come before small ones in an implicit output.
      {"Einsum A -> Y equation=aB", "A f 2,3 = 1,2,3,4,5,6", "Y f 3,2 = 1,4,2,5,3,6"},
      // The axes of the ellipsis come first.
      {"Einsum A -> Y equation=a...", "A f 2,3 = 1,2,3,4,5,6", "Y f 3,2 = 1,4,2,5,3,6"},
      {"Einsum A -> Y equation=a...->a", "A f 2,3 = 1,2,3,4,5,6", "Y f 2 = 6,15"},
      {"Einsum A -> Y equation=aa", "A d 2,2 = 1,2,3,4", "Y d - = 5"},
      {"Einsum A -> Y equation=aa->a", "A i 2,2 = 1,2,3,4", "Y i 2 = 1,4"},
      // Ellipses of other ranks are broadcast from the end.
      {"Einsum A B -> Y equation=...a,...a", "A f 2,2 = 1,2,3,4; B f 2 = 1,10", "Y f 2 = 21,43"},
      {"Einsum A B C -> Y equation=a,b,c->cba", "A l 2 = 1,2; B l 1 = 10; C l 2 = 3,5",
       "Y l 2,1,2 = 30,60,50,100"},
      // Axes of size 1 are broadcast; an empty sum is 0.
      {"Einsum A B -> Y equation=ab,ab->a", "A f 2,1 = 3,4; B f 1,3 = 1,2,3", "Y f 2 = 18,24"},
      {"Einsum A B -> Y equation=ab,bc->ac", "A f 2,0; B f 0,3", "Y f 2,3 = 0"},
      // A letter that occurs three times is summed, too; sizes of 1 grow with the third operand.
      {"Einsum A B C -> Y equation=i,i,i", "A f 2 = 1,2; B f 2 = 3,4; C f 2 = 5,6", "Y f - = 63"},
      {"Einsum A B C -> Y equation=ij,i,i", "A l 2,2 = 1,2,3,4; B l 2 = 1,2; C l 2 = 1,3",
       "Y l 2 = 19,26"},
      {"Einsum A B C -> Y equation=i,i,i->i", "A f 1 = 2; B f 1 = 3; C f 3 = 1,2,3",
       "Y f 3 = 6,12,18"},
      {"Einsum A B C -> Y equation=i,i,i->", "A i 1 = 2; B i 3 = 1,2,3; C i 1 = 3", "Y i - = 36"},
      {"Einsum A B -> Y equation=iij,j->i", "A d 2,2,2 = 1,2,3,4,5,6,7,8; B d 2 = 1,10",
       "Y d 2 = 21,87"},
      // A batch of products: the letters of the output in any order. k has four terms, so GEMM is used.
      {"Einsum A B -> Y equation=xik,xkj->jxi", "A f 2,2,4 = 1,1,1,1,2,2,2,2; B f 2,4,2 = 1,2",
       "Y f 2,2,2 = 4,8,4,8,8,16,8,16"},
  });
  ExpectInferred({{"Einsum A B -> Y equation=ab,bc->ca", "A d 2,3; B d 3,4", "double [4, 2]"},
                  {"Einsum A B -> Y equation=ab,bc->ca", "A d 2,3; B d ?", "? ?"}});
}

TEST(EinsumPlanTest, UsesAProductWhereItPays) {
  const auto plan = [](const char* equation, std::vector<int64_t> a, std::vector<int64_t> b) {
    return PlanEinsum(equation, {std::move(a), std::move(b)});
  };
  const EinsumPlan product = plan("bik,bkj->bij", {2, 3, 4}, {2, 4, 5});
  EXPECT_TRUE(product.is_product);
  EXPECT_EQ(product.product.batch, 2);
  EXPECT_EQ(product.product.m, 3);
  EXPECT_EQ(product.product.n, 5);
  EXPECT_EQ(product.product.k, 4);
  EXPECT_EQ(product.sum_size, 4);
  EXPECT_FALSE(plan("ik,kj->ij", {3, 3}, {3, 5}).is_product);  // less than four terms
  EXPECT_TRUE(plan("k,k->", {4}, {4}).is_product);
  EXPECT_FALSE(plan("k,k->", {3}, {3}).is_product);
  EXPECT_FALSE(plan("i,j->ij", {9}, {9}).is_product);              // no sum
  EXPECT_FALSE(plan("ikl,kj->ij", {3, 4, 2}, {4, 5}).is_product);  // l is in A alone
  EXPECT_TRUE(plan("ik,k->i", {3, 4}, {4}).is_product);
}

TEST(NumericCallsTest, FollowsArgumentsAtTheirBounds) {
  ExpectResults({
      {"CumSum X a -> Y exclusive=1", "X i 2,2 = 1,2,3,4; a i - = -2", "Y i 2,2 = 0,0,1,2"},
      {"CumSum X a -> Y reverse=1", "X l 3 = 1,2,3; a l 1 = -1", "Y l 3 = 6,5,3"},
      {"CumProd X a -> Y exclusive=1 reverse=1", "X d 3 = 2,3,5; a l 1 = 0", "Y d 3 = 15,5,1"},
      {"CumProd X a -> Y", "X f 2,0; a l 1 = 1", "Y f 2,0"},
      {"CumSum X a -> Y", "X i 2 = 2147483647,1; a l 1 = 0", "Y i 2 = 2147483647,-2147483648"},
      {"Hardmax X -> Y axis=-2", "X d 2,2 = 1,4,2,4", "Y d 2,2 = 0,1,1,0"},
      {"Hardmax X -> Y axis=0", "X f 2,0", "Y f 2,0"},
      {"ONNXArgMax X -> Y axis=-1 keepdims=0", "X u 2,3 = 1,7,7,3,3,1", "Y l 2 = 1,0"},
      {"ONNXArgMax X -> Y axis=-2 select_last_index=1", "X c 2,2 = -1,3,-1,2", "Y l 1,2 = 1,0"},
      {"ONNXArgMin X -> Y axis=1 select_last_index=1", "X d 1,3 = 2,1,1", "Y l 1,1 = 2"},
      {"ONNXArgMin X -> Y", "X f 0,0", "Y l 1,0"},
      {"Det X -> Y", "X f 2,0,0", "Y f 2 = 1"},
      {"Det X -> Y", "X d 2,2,2 = 0,2,3,4,1,2,2,4", "Y d 2 = -6,0"},
      {"Det X -> Y", "X f 1,1 = -3", "Y f - = -3"},
      {"ONNXClip X a -> Y", "X i 3 = 1,2,3; a i - = 2", "Y i 3 = 2,2,3"},
      {"ONNXClip X b -> Y omitted_inputs=1,", "X i 3 = 1,2,3; b i - = 2", "Y i 3 = 1,2,2"},
      {"ONNXClip X a b -> Y", "X f 3 = nan,-9,9; a f - = 3; b f - = 1", "Y f 3 = nan,1,1"},
      {"ONNXDropout X r m -> Y M", "X d 2 = 1,2; r f - = 0; m b - = 1", "Y d 2 = 1,2; M b 2 = 1"},
      {"ONNXDropout X r m -> Y M", "X d 2 = 1,2; r f - = 9; m b - = 0", "Y d 2 = 1,2; M b 2 = 1"},
      {"ONNXMod A B -> Y", "A c 4 = -128,-7,7,7; B c 4 = -1,3,-3,3", "Y c 4 = 0,2,-2,1"},
      {"ONNXMod A B -> Y fmod=1", "A c 4 = -128,-7,7,-6; B c 4 = -1,3,-3,3", "Y c 4 = 0,-1,1,0"},
      {"ONNXMod A B -> Y", "A f 3 = -7.5,7.5,6; B f 3 = 2,-2,-2", "Y f 3 = 0.5,-0.5,0"},
      {"ONNXMod A B -> Y fmod=1", "A d 3 = -7.5,7.5,1; B d 3 = 2,-2,0", "Y d 3 = -1.5,1.5,nan"},
      {"ONNXMod A B -> Y", "A i 0; B i 1 = 0", "Y i 0"},
      {"ONNXPow A B -> Y", "A i 7 = 1,-1,-1,0,2,-2,0; B i 7 = -3,-3,-2,-1,-1,3,0",
       "Y i 7 = 1,-1,1,0,0,-8,1"},
      {"ONNXPow A B -> Y", "A u 3 = 2,16,3; B l 3 = 7,2,-1", "Y u 3 = 128,0,0"},
      {"ONNXPow A B -> Y", "A c 4 = 10,-10,-8,2; B f 4 = 3,3,0.5,1.5", "Y c 4 = 127,-128,0,2"},
      {"ONNXPow A B -> Y", "A f 3 = 3,2,-1; B i 3 = 2,-1,3", "Y f 3 = 9,0.5,-1"},
      {"ONNXPow A B -> Y", "A l 5 = -1,-1,-1,-2,1; B c 5 = -1,-2,-128,-1,-7", "Y l 5 = -1,1,1,0,1"},
      {"ONNXPow A B -> Y", "A i 4 = -7,7,2,-1; B f 4 = 99,99,31,-3",
       "Y i 4 = -2147483648,2147483647,2147483647,-1"},
      {"ONNXPow A B -> Y", "A u 3 = 2,255,0; B d 3 = 8,1,-1", "Y u 3 = 255,255,255"},
      {"ONNXArgMin X -> Y select_last_index=1 axis=0", "X i 3,2 = 1,2,1,0,3,0", "Y l 1,2 = 1,2"},
      {"ONNXArgMax X -> Y select_last_index=1 axis=0 keepdims=0", "X f 3,2 = 1,2,1,2,0,2",
       "Y l 2 = 1,2"},
      {"CumProd X a -> Y exclusive=1", "X i 2,2 = 2,3,4,5; a l - = 1", "Y i 2,2 = 1,2,1,4"},
      {"CumProd X a -> Y exclusive=1 reverse=1", "X l 3,1 = 2,3,5; a i - = 0", "Y l 3,1 = 15,5,1"},
      {"CumSum X a -> Y exclusive=1 reverse=1", "X f 2,2 = 1,2,3,4; a l - = 0",
       "Y f 2,2 = 3,4,0,0"},
      {"ONNXMax A B C -> Y", "A f 2,1 = nan,1; B f 2 = 0,3; C f - = 2", "Y f 2,2 = nan,nan,2,3"},
      {"ONNXMin A B -> Y", "A f 3 = 1,nan,2; B f 3 = 0,0,nan", "Y f 3 = 0,nan,nan"},
      {"ONNXMin A -> Y", "A u 2 = 3,4", "Y u 2 = 3,4"},
      {"ONNXMax A B C -> Y", "A f 1 = 0; B f 1 = 5; C f 3 = 1,2,9", "Y f 3 = 5,5,9"},
      {"ONNXMin A B C D -> Y", "A l - = 4; B l 1 = 5; C l 2 = 9,3; D l 2,1 = 7,2",
       "Y l 2,2 = 4,3,2,2"},
      {"ONNXDropout X r -> Y M", "X d 4 = 1,2,3,4; r d - = 0.5", "Y d 4 = 1,2,3,4; M b 4 = 1"},
      {"ONNXDropout X r m -> Y M", "X f 3 = 1,2,3; r f - = 0.5; m b - = 0",
       "Y f 3 = 1,2,3; M b 3 = 1"},
      // The element of the largest size is negative, and the first one is 0.
      {"Det X -> Y", "X f 2,2 = 0,2,-1,4", "Y f - = 2"},
      {"Det X -> Y", "X d 3,3 = 0,0,2,-3,1,0,0,5,1", "Y d - = -30"},
      {"BitShift X S -> Y direction=LEFT", "X c 4 = 1,1,-1,1; S c 4 = 6,7,8,-1",
       "Y c 4 = 64,-128,0,0"},
      {"BitShift X S -> Y direction=RIGHT", "X c 5 = -128,-1,127,-9,9; S c 5 = 7,1,1,-1,8",
       "Y c 5 = -1,-1,63,-1,0"},
      {"BitShift X S -> Y direction=LEFT", "X u 2 = 3,3; S u 2 = 7,8", "Y u 2 = 128,0"},
      {"ONNXMatMul A B -> Y", "A i 2 = 1,2; B i 2 = 3,4", "Y i - = 11"},
      {"ONNXMatMul A B -> Y", "A d 2 = 1,2; B d 2,2,1 = 3,4,5,6", "Y d 2,1 = 11,17"},
      {"ONNXMatMul A B -> Y", "A u 2,1,1,2 = 1,2,3,4; B u 2,2,1 = 1,2,3,4",
       "Y u 2,2,1,1 = 5,11,11,25"},
      {"ONNXMatMul A B -> Y", "A f 2,0; B f 0,2", "Y f 2,2 = 0"},
      {"ONNXMatMul A B -> Y", "A i 2,0; B i 0,2", "Y i 2,2 = 0"},
      {"ONNXMatMul A B -> Y", "A f 0,2; B f 2", "Y f 0"},
  });
}

TEST(NumericCallsTest, InfersShapesAndTypes) {
  ExpectInferred({
      {"ONNXArgMax X -> Y axis=-1", "X d 2,3", "int64 [2, 1]"},
      {"ONNXArgMin X -> Y keepdims=0", "X d 2,3", "int64 [3]"},
      {"ONNXArgMin X -> Y keepdims=0", "X d ?", "? ?"},
      {"Det X -> Y", "X d 5,2,2", "double [5]"},
      {"ONNXMatMul A B -> Y", "A l 3,1,2,4; B l 5,4,7", "int64 [3, 5, 2, 7]"},
      {"ONNXMatMul A B -> Y", "A l 4; B l 4", "int64 []"},
      {"ONNXMax A B C -> Y", "A u 3,1; B u 4; C u 2,1,1", "uint8 [2, 3, 4]"},
      {"ONNXMax A B -> Y", "A u 3,1; B u ?", "? ?"},
      {"ONNXDropout X -> Y M", "X d 2,3", "double [2, 3]; bool [2, 3]"},
      {"ONNXDropout X -> Y", "X d 2,3", "double [2, 3]"},
      {"BitShift X S -> Y direction=LEFT", "X u 3,1; S u 4", "uint8 [3, 4]"},
      {"ONNXMod X S -> Y", "X i 3,1; S i 4", "int32 [3, 4]"},
      {"ONNXPow X S -> Y", "X i 3,1; S f 4", "int32 [3, 4]"},
  });
  ExpectShapesRejected({
      {"ONNXArgMax X -> Y axis=2", "X d 2,3",
       "axis is 2, want -2 to 1 for an input of shape [2, 3]"},
      {"Det X -> Y", "X f 3,2,3",
       "input 0 (X) has shape [3, 2, 3], want square matrices in the last two axes"},
      {"ONNXMatMul A B -> Y", "A f 3; B f 2",
       "rows of input 1 (B) of shape [2], want the columns of input 0 (A) of shape [3] (got 2, "
       "want "
       "3)"},
      {"Einsum A B -> Y equation=i,j,k", "A f 2; B f 2",
       "terms of argument equation \"i,j,k\", want one for each input (got 3, want 2)"},
  });
}

}  // namespace
}  // namespace caffe2rt::test::numeric_calls_test
