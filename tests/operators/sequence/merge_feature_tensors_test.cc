#include <string>

#include "tests/operators/common/call_tables.h"
#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::merge_feature_tensors_test {
namespace {

// The inputs and results are those of Caffe2's own tests unless stated otherwise.
TEST(MergeFeatureTensorsTest, MergesSingleFeatures) {
  ExpectResults({
      {"MergeSingleScalarFeatureTensors A P B Q -> L K V feature_ids=11,12",
       "A d 2 = 11.1,0; P b 2 = 1,0; B d 2 = 12.1,12.2; Q b 2 = 1,1",
       "L i 2 = 2,1; K l 3 = 11,12,12; V d 3 = 11.1,12.1,12.2"},
      {"MergeSingleListFeatureTensors M A P N B Q -> L K W V feature_ids=11,12",
       "M i 2 = 2,0; A d 2 = 11.1,11.2; P b 2 = 1,0; N i 2 = 2,2; B d 4 = 12.1,12.2,12.3,12.4; "
       "Q b 2 = 1,1",
       "L i 2 = 2,1; K l 3 = 11,12,12; W i 3 = 2,2,2; V d 6 = 11.1,11.2,12.1,12.2,12.3,12.4"},
      {"MergeSingleMapFeatureTensors M X A P N Y B Q -> L K W Z V feature_ids=11,12",
       "M i 2 = 2,0; X l 2 = 111,112; A d 2 = 11.1,11.2; P b 2 = 1,0; N i 2 = 2,2; "
       "Y l 4 = 121,122,123,124; B d 4 = 12.1,12.2,12.3,12.4; Q b 2 = 1,1",
       "L i 2 = 2,1; K l 3 = 11,12,12; W i 3 = 2,2,2; Z l 6 = 111,112,121,122,123,124; "
       "V d 6 = 11.1,11.2,12.1,12.2,12.3,12.4"},
      // The length of an example without the feature does not count. Recorded with Caffe2.
      {"MergeSingleListFeatureTensors M A P -> L K W V feature_ids=7,",
       "M i 3 = 2,0,1; A f 1 = 1; P b 3 = 0,1,1",
       "L i 3 = 0,1,1; K l 2 = 7,7; W i 2 = 0,1; V f 1 = 1"},
      {"MergeSingleScalarFeatureTensors A P -> L K V feature_ids=7,", "A i 0; P b 0",
       "L i 0; K l 0; V i 0"},
  });
  Workspace ws;
  Feed<std::string>(&ws, "A", {2}, {"a", "b"});
  Feed<bool>(&ws, "P", {2}, {false, true});
  RunOp(
      &ws,
      R"(type: "MergeSingleScalarFeatureTensors" input: "A" input: "P" output: "L" output: "K" output: "V"
                arg { name: "feature_ids" ints: 5 })");
  ExpectTensor<std::string>(ws, "V", {1}, {"b"});
}

TEST(MergeFeatureTensorsTest, MergesSeveralFeatures) {
  ExpectResults({
      {"MergeMultiScalarFeatureTensors M X A N Y B -> L K V",
       "M i 2 = 1,2; X l 3 = 11,12,13; A d 3 = 11,12,13; N i 2 = 2,1; Y l 3 = 14,15,16; "
       "B d 3 = 14,15,16",
       "L i 2 = 3,3; K l 6 = 11,14,15,12,13,16; V d 6 = 11,14,15,12,13,16"},
      // Recorded with Caffe2.
      {"MergeMultiListFeatureTensors M X R A N Y S B -> L K W V",
       "M i 2 = 1,2; X l 3 = 1,2,3; R i 3 = 2,0,1; A f 3 = 1,2,3; N i 2 = 0,1; Y l 1 = 9; "
       "S i 1 = 2; B f 2 = 8,9",
       "L i 2 = 1,3; K l 4 = 1,2,3,9; W i 4 = 2,0,1,2; V f 5 = 1,2,3,8,9"},
      {"MergeMultiMapFeatureTensors M X R F A N Y S G B -> L K W Z V",
       "M i 2 = 1,1; X l 2 = 11,12; R i 2 = 2,1; F l 3 = 111,112,121; A d 3 = 1,2,3; "
       "N i 2 = 1,0; Y l 1 = 14; S i 1 = 2; G l 2 = 141,142; B d 2 = 4,5",
       "L i 2 = 2,1; K l 3 = 11,14,12; W i 3 = 2,2,1; Z l 5 = 111,112,141,142,121; "
       "V d 5 = 1,2,4,5,3"},
      {"MergeMultiScalarFeatureTensors M X A -> L K V", "M i 0; X l 0; A f 0",
       "L i 0; K l 0; V f 0"},
  });
}

TEST(MergeFeatureTensorsTest, InfersTypesAndExamples) {
  ExpectInferred({
      {"MergeSingleMapFeatureTensors M X A P -> L K W Z V feature_ids=1,",
       "M i 3; X l 4; A d 4; P b 3", "int32 [3]; int64 ?; int32 ?; int64 ?; double ?"},
      {"MergeMultiScalarFeatureTensors M X A -> L K V", "M i ?; X l 3; A f 3",
       "int32 ?; int64 ?; float ?"},
      {"MergeSingleScalarFeatureTensorsGradient P Q G -> A B", "P b 3; Q b 3; G d 4",
       "double [3]; double [3]"},
      {"MergeMultiListFeatureTensorsGradient M R G -> A", "M i 2; R i 3; G f 4", "float ?"},
  });
}

TEST(MergeFeatureTensorsTest, RejectsInputsThatDoNotFit) {
  const std::string scalar = "MergeSingleScalarFeatureTensors A P B Q -> L K V feature_ids=1,2",
                    list = "MergeSingleListFeatureTensors M A P -> L K W V feature_ids=1,",
                    multi = "MergeMultiScalarFeatureTensors M X A -> L K V",
                    lists = "MergeMultiListFeatureTensors M X R A -> L K W V",
                    maps = "MergeMultiMapFeatureTensors M X R F A -> L K W Z V";
  ExpectRejected({
      {"MergeSingleScalarFeatureTensors A P -> L K V feature_ids=1,2", "A f 1; P b 1",
       "values of argument feature_ids, want one for each group of inputs (got 2, want 1)"},
      {scalar, "A f 2; P b 3; B f 3; Q b 3",
       "elements of input 0 of shape [2], want one for each example (got 2, want 3)"},
      {scalar, "A f 2; P b 2; B f 2; Q b 3",
       "elements of input 3 of shape [3], want one for each example (got 3, want 2)"},
      {scalar, "A f 2; P b 2; B d 2; Q b 2",
       "input 2 has elements of type double, want that of input 0, float"},
      {scalar, "A f 2; P i 2; B f 2; Q b 2", "the tensor holds elements of type int32, want bool"},
      {list, "M i 2 = 2,1; A f 4; P b 2 = 1,1",
       "elements of input 1, want as many as its features have (got 4, want 3)"},
      {list, "M i 2 = 2,-1; A f 1; P b 2 = 1,1", "element 1 of input 0: got -1, want at least 0"},
      {list, "M i 3; A f 1; P b 2 = 1,1",
       "elements of input 0 of shape [3], want one for each example (got 3, want 2)"},
      {multi, "M i 2 = 1,2; X l 4; A f 4",
       "elements of input 1, want the sum of input 0 (got 4, want 3)"},
      {multi, "M i 2 = 1,2; X l 3; A f 4",
       "elements of input 2, want as many as its features have (got 4, want 3)"},
      {multi, "M i 2 = 3,-1; X l 2; A f 2", "element 1 of input 0: got -1, want at least 0"},
      {multi, "M i 1 = 1; X i 1; A f 1", "the tensor holds elements of type int32, want int64"},
      {lists, "M i 1 = 2; X l 2; R i 3 = 1; A f 3",
       "input 0 has the sum 2, want the elements of input 2 of shape [3]"},
      {lists, "M i 1 = 2; X l 2; R i 2 = 1; A f 3",
       "elements of input 3, want as many as its features have (got 3, want 2)"},
      {maps, "M i 1 = 1; X l 1; R i 1 = 2; F l 3; A f 2",
       "elements of input 3 of shape [3], want those of input 4 of shape [2] (got 3, want 2)"},
  });
}

TEST(MergeFeatureTensorsGradientTest, TakesTheGradientApart) {
  ExpectResults({
      {"MergeSingleScalarFeatureTensorsGradient P Q R G -> A B C",
       "P b 2 = 1,0; Q b 2 = 1,1; R b 2 = 0,1; G d 4 = 0.1,1.1,1.2,2.3",
       "A d 2 = 0.1,0; B d 2 = 1.1,1.2; C d 2 = 0,2.3"},
      {"MergeMultiScalarFeatureTensorsGradient M N G -> A B",
       "M i 3 = 1,2,0; N i 3 = 2,1,1; G d 7 = 11,14,15,12,13,16,17",
       "A d 3 = 11,12,13; B d 4 = 14,15,16,17"},
      {"MergeSingleListFeatureTensorsGradient M P N Q G -> A B",
       "M i 2 = 2,0; P b 2 = 1,0; N i 2 = 2,2; Q b 2 = 1,1; G f 6 = 1,2,3,4,5,6",
       "A f 2 = 1,2; B f 4 = 3,4,5,6"},
      // Recorded with Caffe2.
      {"MergeSingleMapFeatureTensorsGradient M P N Q G -> A B",
       "M i 2 = 2,1; P b 2 = 0,1; N i 2 = 0,1; Q b 2 = 1,1; G f 2 = 3,7", "A f 1 = 3; B f 1 = 7"},
      {"MergeMultiListFeatureTensorsGradient M R N S G -> A B",
       "M i 2 = 1,2; R i 3 = 2,0,1; N i 2 = 0,1; S i 1 = 2; G f 5 = 1,2,8,9,3",
       "A f 3 = 1,2,8; B f 2 = 9,3"},
      {"MergeMultiMapFeatureTensorsGradient M R G -> A",
       "M i 2 = 1,2; R i 3 = 2,0,1; G f 3 = 1,2,3", "A f 3 = 1,2,3"},
  });
  ExpectRejected({
      {"MergeSingleScalarFeatureTensorsGradient P G -> A", "P b 2 = 1,0; G f 2",
       "elements of input 1 of shape [2], want as many as all features have (got 2, want 1)"},
      {"MergeSingleScalarFeatureTensorsGradient P Q G -> A B", "P b 2 = 1,0; Q b 3 = 1,0; G f 2",
       "elements of input 1 of shape [3], want one for each example (got 3, want 2)"},
      {"MergeMultiListFeatureTensorsGradient M R G -> A", "M i 1 = 2; R i 1 = 1; G f 1",
       "input 0 has the sum 2, want the elements of input 1 of shape [1]"},
  });
}

TEST(MergeFeatureTensorsGradientTest, ReadsWhatEachKindNeeds) {
  const auto gradient = [](const std::string& kind, const std::string& inputs, int outputs) {
    std::string text = "type: 'Merge" + kind + "FeatureTensors'";
    for (const char input : inputs) text += std::string(" input: '") + input + "'";
    for (int i = 0; i < outputs; ++i) text += " output: 'o" + std::to_string(i) + "'";
    if (kind.starts_with("Single")) text += " arg { name: 'feature_ids' i: 7 }";
    return DescribeGradient(text);
  };
  EXPECT_EQ(gradient("SingleScalar", "abcd", 3),
            "MergeSingleScalarFeatureTensorsGradient(b,d,o2_grad)->a_grad,c_grad feature_ids=7 | "
            "a_grad - c_grad -");
  EXPECT_EQ(
      gradient("SingleList", "abc", 4),
      "MergeSingleListFeatureTensorsGradient(a,c,o3_grad)->b_grad feature_ids=7 | - b_grad -");
  EXPECT_EQ(gradient("SingleMap", "abcd", 5),
            "MergeSingleMapFeatureTensorsGradient(a,d,o4_grad)->c_grad feature_ids=7 | - - "
            "c_grad -");
  EXPECT_EQ(gradient("MultiScalar", "abcdef", 3),
            "MergeMultiScalarFeatureTensorsGradient(a,d,o2_grad)->c_grad,f_grad | - - c_grad - - "
            "f_grad");
  EXPECT_EQ(gradient("MultiList", "abcd", 4),
            "MergeMultiListFeatureTensorsGradient(a,c,o3_grad)->d_grad | - - - d_grad");
  EXPECT_EQ(gradient("MultiMap", "abcde", 5),
            "MergeMultiMapFeatureTensorsGradient(a,c,o4_grad)->e_grad | - - - - e_grad");
}

}  // namespace
}  // namespace caffe2rt::test::merge_feature_tensors_test
