// Operators that choose elements, with inputs and arguments that differ from good ones in one thing: each is rejected,
// names it, and leaves nothing that a later run on the good inputs would see.
#include <gtest/gtest.h>

#include "tests/operators/common/failed_runs.h"

namespace caffe2rt::test::chosen_inputs_test {
namespace {

void ExpectEach(const std::vector<FailedRun>& rows) {
  for (const FailedRun& row : rows) ExpectLeftAsTheyWere(row);
}

TEST(ChosenInputsTest, OfMasks) {
  ExpectEach({
      {"BooleanMask X M -> Y I",
       "X f 3,2; M b 3 = 1,0,1",
       {{"M b 2 = 1", "elements of input 1 (mask), want the rows of input 0 (data)"},
        {"M b 3,1 = 1", "rank of input 1 (mask) of shape [3, 1]"},
        {"M i 3 = 1", "int32"},
        {"X f -; M b 1 = 1", "rank of input 0 (data)"}}},
      {"BooleanMaskGradient M G -> D",
       "M b 3 = 1,0,1; G f 2,2",
       {{"G f 3,2", "true elements of input 0 (mask), want the rows of input 1 (dmasked_data)"},
        {"G f 1,2", "true elements of input 0 (mask)"},
        {"M b 1,3 = 1,0,1", "rank of input 0 (mask) of shape [1, 3]"},
        {"G f -", "rank of input 1 (dmasked_data)"},
        {"G u 2,2", "uint8"}}},
      {"BooleanUnmask M V N W -> Y",
       "M b 4 = 1,0,1,0; V f 2; N b 4 = 1,1,0,1; W f 2",
       {{"N b 3 = 1", "elements of input 2 (a mask), want those of input 0"},
        {"N b 4,1 = 1", "rank of input 2 (a mask) of shape [4, 1]"},
        {"W f 2,1", "rank of input 3 (values)"},
        {"W d 2", "input 3 (values) has elements of type double, want that of input 1, float"},
        {"V f 1", "position in input 1 (values)"},
        {"W f 1", "position in input 3 (values)"},
        {"V f 3", "values that mask 0 takes, want the elements of input 1"},
        {"W f 3", "values that mask 1 takes, want the elements of input 3"},
        {"N b 4 = 0,1,0,0; W f 1", "All masks have False at position 3"},
        {"N i 4 = 1", "int32"}}},
      {"Compress X C -> Y axis=1",
       "X f 3,2; C b 2 = 0,1",
       {{"C b 3 = 1", "elements of input 1 (condition), want at most those of input 0 (X)"},
        {"C b 2,1 = 1", "rank of input 1 (condition), want a vector"},
        {"C i 2 = 1", "int32"},
        {"X f 3", "axis"}}},
      {"Compress X C -> Y",
       "X f 3,2; C b 6 = 0,1",
       {{"C b 7 = 1", "elements of input 1 (condition), want at most those of input 0 (X)"}}},
  });
}

TEST(ChosenInputsTest, OfRows) {
  ExpectEach({
      {"Where C X Z -> Y broadcast_on_rows=1",
       "C b 2 = 1,0; X f 2,3; Z f 2,3",
       {{"C b 2,1 = 1", "input 0 (C) has shape [2, 1], want one element for each row of input 1"},
        {"C b 2,3 = 1", "input 0 (C) has shape [2, 3], want one element for each row of input 1"},
        {"C b 3 = 1", "input 0 (C) has shape [3], want one element for each row of input 1"},
        {"C b - = 1", "input 0 (C) has shape [], want one element for each row of input 1"},
        {"Z f 3,2", "input 2 (Z) has shape [3, 2], want [2, 3] as input 1 (X)"},
        {"Z d 2,3", "input 2 (Z) has elements of type double, want float as input 1 (X)"},
        {"C i 2 = 1", "input 0 (C) has elements of type int32, want bool"}}},
      {"Where C X Z -> Y",
       "C b 2,3 = 1,0; X f 2,3; Z f 2,3",
       {{"C b 2 = 1", "input 0 (C) has shape [2], want [2, 3] as input 1 (X), or the argument"},
        {"C b 3,2 = 1", "input 0 (C) has shape [3, 2], want [2, 3] as input 1 (X)"}}},
      {"Conditional C X Z -> Y",
       "C b 2 = 1,0; X f 2,3; Z f 2,3",
       {{"C b 2,1 = 1", "input 0 (C) has shape [2, 1], want one element for each row of input 1"},
        {"C b 3 = 1", "input 0 (C) has shape [3], want one element for each row of input 1"},
        {"Z f 3,2", "input 2 (Z) has shape [3, 2], want [2, 3] as input 1 (X)"},
        {"Z f 6", "input 2 (Z) has shape [6], want [2, 3] as input 1 (X)"},
        {"Z i 2,3", "input 2 (Z) has elements of type int32, want float as input 1 (X)"}}},
      {"DropoutGrad G M -> D is_test=0",
       "G f 4; M b 2,2 = 1,0",
       {{"M b 5 = 1", "elements of input 1 (mask) of shape [5], want as many as input 0 (dY)"},
        {"M b 3 = 1", "elements of input 1 (mask) of shape [3], want as many as input 0 (dY)"},
        {"M i 4 = 1", "int32"},
        {"G d 4", "double"}}},
  });
}

TEST(ChosenInputsTest, OfEncodings) {
  ExpectEach({
      {"ONNXOneHot I d V -> Y",
       "I l 3 = 0,-2,5; d l - = 4; V f 2 = 1,2",
       {{"V f 1,2 = 1,2", "input 2 (values) has shape [1, 2], want [2]: the off and the on value"},
        {"V f 3 = 1", "input 2 (values) has shape [3], want [2]"},
        {"V f - = 1", "input 2 (values) has shape []"},
        {"d l 2 = 4", "elements of input 1 (depth), want one"},
        {"d l 0", "elements of input 1 (depth), want one"},
        {"d l 1 = -1", "input 1 (depth)"},
        {"d b - = 1", "input 1 (depth) has elements of type bool"},
        {"I b 3 = 1", "input 0 (indices) has elements of type bool"}}},
      {"OneHot I N -> Y",
       "I l 3 = 0,2,1; N l 1 = 3",
       {{"I l 3 = 0,3,1", "3"},
        {"I l 3 = 0,-1,1", "-1"},
        {"I l 3,1 = 0", "rank of input 0 (indices), want a vector"},
        {"I i 3 = 0", "int32"},
        {"N l 2 = 3", "elements of input 1 (index_size), want one"},
        {"N l 1 = -1", "input 1 (index_size), want at least 0"},
        {"N i 1 = 3", "int32"}}},
      // Without columns, the indices are not checked.
      {"OneHot I N -> Y", "I l 2 = 5,-1; N l 1 = 0", {{"N l 1 = 1", "5"}}},
      {"SegmentOneHot L I N -> Y",
       "L i 2 = 2,1; I l 3 = 0,2,1; N l 1 = 3",
       {{"I l 3 = 0,3,1", "element 1 of input 1 (indices) is 3, want at least 0 and less than"},
        {"I l 3 = 0,2,-1", "element 2 of input 1 (indices) is -1"},
        {"I l 2 = 0", "elements of input 1 (indices), want the sum of the lengths"},
        {"N l 2 = 3", "elements of input 2 (index_size_tensor)"},
        {"N i 1 = 3", "int32"},
        {"L i 2,1 = 1", "rank of input 0 (lengths)"},
        {"I l 3,1 = 0", "rank of input 1 (indices)"}}},
      {"BatchBucketOneHot X L B -> Y",
       "X f 2,2; L i 2 = 1,2; B f 3 = 0,0,1",
       {{"L i 2 = 0,3", "element 0 of input 1 (lengths), the boundaries of a column"},
        {"L i 2 = 3,0", "element 1 of input 1 (lengths), the boundaries of a column"},
        {"L i 2 = 1,1", "elements of input 2 (boundaries), want the sum of the lengths"},
        {"L i 3 = 1", "elements of input 1 (lengths), want the columns of input 0 (data)"},
        {"X d 2,2", "double"},
        {"B d 3", "double"}}},
      {"MultiClassAccuracy X L -> A N",
       "X f 3,2; L i 3 = 0,1,1",
       {{"L i 3 = 0,1,2", "element 2 of input 1 (labels) is 2, want at least 0 and less than 2"},
        {"L i 3 = -1,0,0", "element 0 of input 1 (labels) is -1"},
        {"L i 2 = 0", "elements of input 1 (labels), want the rows of prediction"},
        {"L i 4 = 0", "elements of input 1 (labels), want the rows of prediction"},
        {"X f 3,2,2", "elements of input 0 (prediction) of shape [3, 2, 2], want a matrix"},
        {"X f 3", "rank of input 0 (prediction), want 2"},
        {"L l 3 = 0", "int64"},
        {"X d 3,2", "double"}}},
      {"ONNXWhere C X Z -> Y",
       "C b 2,1 = 1,0; X f 3; Z f 2,3",
       {{"C b 3,1 = 1", "cannot be broadcast"},
        {"Z f 2,2", "cannot be broadcast"},
        {"Z d 2,3", "input 2 (Y) has elements of type double, want float as input 1 (X)"},
        {"C i 2,1 = 1", "int32"}}},
      {"ONNXTopK X K -> V I",
       "X f 2,3; K l 1 = 3",
       {{"K l 1 = 4", "k is 4, want at least 0 and at most dim 1 of input 0 (X) of shape [2, 3]"},
        {"K l 1 = -1", "k is -1"},
        {"K f 1 = 2", "float"},
        {"X b 2,3", "input 0 (X) has elements of type bool"}}},
  });
}

TEST(ChosenInputsTest, OfNGrams) {
  // The 1-grams 5 and 6, and the 2-gram 7 8.
  const char* const x = "X l 3 = 5,7,8";
  const auto op = [](const std::string& arguments) {
    return "TfIdfVectorizer X -> Y " + arguments;
  };
  const std::string pool = "pool_int64s=5,6,7,8 ", columns = "ngram_indexes=0,1,2 ",
                    counts = "ngram_counts=0,2 ";
  ExpectEach({{(op(counts + columns + pool)).c_str(),
               x,
               {{"X l 1,1,1", "rank of input 0 (X) is 3"},
                {"X l -", "rank of input 0 (X) is 0"},
                {"X f 3", "float"}}}});
  const std::pair<std::string, const char*> rows[] = {
      {"ngram_counts=-1,2 " + columns + pool, "n-grams of 1 elements are -1 to 2 of 4 elements"},
      {"ngram_counts=0,5 " + columns + pool, "n-grams of 1 elements are 0 to 5 of 4 elements"},
      {"ngram_counts=3,2 " + columns + pool, "n-grams of 1 elements are 3 to 2 of 4 elements"},
      {"ngram_counts=0,1 " + columns + pool, "n-grams of 2 elements are 1 to 4 of 4 elements"},
      {counts + "ngram_indexes=0,1 " + pool, "elements of ngram_indexes, want one for each n-gram"},
      {counts + "ngram_indexes=0,1,2,3 " + pool, "elements of ngram_indexes, want one for each"},
      {counts + "ngram_indexes=0,-1,2 " + pool, "element of ngram_indexes is -1"},
      {counts + columns + pool + "weights=1.0,2.0", "argument weights has 2 elements"},
      {counts + columns + pool + "weights=1.0,2.0,3.0,4.0", "argument weights has 4 elements"},
      {counts + columns + pool + "min_gram_length=2 max_gram_length=1",
       "min_gram_length, want at most max_gram_length"},
      {counts + columns + pool + "mode=tf", "want TF, IDF or TFIDF"},
      {counts + columns + pool + "max_skip_count=-1", "want at least 0"},
      {counts + columns + pool + "max_gram_length=1025", "want 1 to 1024"},
      {counts + columns + pool + "min_gram_length=0", "want 1 to 1024"},
  };
  for (const auto& [arguments, message] : rows)
    ExpectRejectedWith({{op(arguments).c_str(), x, message}});
}

}  // namespace
}  // namespace caffe2rt::test::chosen_inputs_test
