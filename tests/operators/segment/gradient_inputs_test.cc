// Every gradient operator of segments with inputs of other shapes and types, one at a time: which of them it rejects,
// and how it names them. The table of the types (segment_types.h) states the places of the inputs.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "operators/segment/segment_types.h"
#include "tests/operators/common/failed_runs.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"

namespace caffe2rt::test::gradient_inputs_test {
namespace {

std::string InputName(int i) { return "i" + std::to_string(i); }

// One segment of two rows of two elements.
class GradientInputs {
 public:
  explicit GradientInputs(const SegmentGradient& row) : row_(row) {
    def_.set_type(row.type);
    def_.mutable_device_option()->set_device_type(PROTO_CPU);
    for (int i = 0; i < row.inputs; ++i) def_.add_input(InputName(i));
    for (int i = 0; i < (row.data >= 0 && row.scalars >= 0 ? 2 : 1); ++i)
      def_.add_output("o" + std::to_string(i));
    FeedGood();
  }
  bool has_lengths() const { return row_.by == SegmentsBy::kLengths; }

  void FeedGood() {
    Whole(row_.inputs - 1, {2}, {0, 1});
    Floats(row_.gradient, {1, 2});
    Floats(row_.scalars, {2});
    Floats(row_.data, {2, 2});
    Floats(row_.output, {1, 2});
    Whole(row_.indices, {2}, {0, 1});
    if (has_lengths()) {
      Whole(row_.segments, {1}, {2});
    } else {
      Whole(row_.segments, {2}, {0, 0});
    }
  }
  void Floats(int i, const std::vector<int64_t>& dims) {
    if (i >= 0) FeedRange<float>(&ws_, InputName(i), dims, 1);
  }
  void Whole(int i, const std::vector<int64_t>& dims, const std::vector<int32_t>& values) {
    if (i >= 0) Feed<int32_t>(&ws_, InputName(i), dims, values);
  }
  void Doubles(int i) { FeedRange<double>(&ws_, InputName(i), DimsOf(ws_, InputName(i)), 1); }

  void ExpectAccepted(const char* what) {
    EXPECT_TRUE(ws_.RunOperatorOnce(def_)) << what;
    ExpectDims();
    FeedGood();
  }
  void ExpectRejectedWith(const std::string& part) {
    EXPECT_THAT(MessageOf([&] { ws_.RunOperatorOnce(def_); }), testing::HasSubstr(part));
    FeedGood();
  }
  // How messages name input i: "input 3 (DATA)".
  static std::string Named(int i, const char* name) {
    return MakeString("input ", i, " (", name, ")");
  }

 private:
  void ExpectDims() {
    EXPECT_EQ(DimsOf(ws_, "o0"), (std::vector<int64_t>{2, 2}));
    if (def_.output_size() > 1) {
      EXPECT_EQ(DimsOf(ws_, "o1"), DimsOf(ws_, InputName(row_.scalars)));
    }
  }

  const SegmentGradient& row_;
  OperatorDef def_;
  Workspace ws_;
};

void ForEachGradient(const std::function<void(const SegmentGradient&, GradientInputs*)>& check) {
  for (const SegmentGradient& row : SegmentGradients()) {
    SCOPED_TRACE(row.type);
    GradientInputs inputs(row);
    inputs.ExpectAccepted("the good inputs");
    check(row, &inputs);
    inputs.ExpectAccepted("the good inputs at the end");
  }
}

TEST(SegmentGradientInputsTest, GradientsHaveASegmentForEachDescribedOne) {
  ForEachGradient([](const SegmentGradient& row, GradientInputs* inputs) {
    inputs->Floats(row.gradient, {});
    inputs->ExpectRejectedWith(
        MakeString("rank of input ", row.gradient, " (SEGMENT_GRADS): got 0, want at least 1"));
    inputs->Floats(row.gradient, {0, 2});
    inputs->ExpectRejectedWith(row.by == SegmentsBy::kUnsortedIds
                                   ? "element 0 of input SEGMENT_IDS is 0"
                                   : MakeString("input ", row.gradient, " (SEGMENT_GRADS)"));
    inputs->Doubles(row.gradient);
    inputs->ExpectRejectedWith("double");
    if (row.by == SegmentsBy::kUnsortedIds) return;  // further segments may be empty
    inputs->Floats(row.gradient, {2, 2});
    const bool of_range = row.by == SegmentsBy::kSortedIds && row.data >= 0;
    inputs->ExpectRejectedWith(of_range && row.reads_output()
                                   ? "(OUTPUT) of shape [1, 2]"
                                   : MakeString(row.segments, " (", NameOf(row.by), ")"));
  });
}

TEST(SegmentGradientInputsTest, SegmentsAreAVectorOfInt32) {
  ForEachGradient([](const SegmentGradient& row, GradientInputs* inputs) {
    const std::string rank = MakeString("rank of input ", row.segments, " (", NameOf(row.by), ")");
    inputs->Whole(row.segments, {}, {2});
    inputs->ExpectRejectedWith(rank);
    inputs->Whole(row.segments, {1, 1}, {2});
    inputs->ExpectRejectedWith(rank);
    inputs->Floats(row.segments, {inputs->has_lengths() ? 1 : 2});
    inputs->ExpectRejectedWith("float");
    if (inputs->has_lengths()) {
      inputs->Whole(row.segments, {1}, {-1});
      inputs->ExpectRejectedWith("LENGTHS");
      return;
    }
    inputs->Whole(row.segments, {2}, {-1, -1});
    inputs->ExpectRejectedWith("SEGMENT_IDS");
    inputs->Whole(row.segments, {2}, {0, 1});  // a second segment, whose gradient is missing
    inputs->ExpectRejectedWith("SEGMENT");
    inputs->Whole(row.segments, {2}, {1, 1});
    inputs->ExpectRejectedWith("SEGMENT_IDS");
  });
}

TEST(SegmentGradientInputsTest, WeightsAreOneForEachRow) {
  ForEachGradient([](const SegmentGradient& row, GradientInputs* inputs) {
    if (row.scalars < 0) return;
    const std::string name = GradientInputs::Named(row.scalars, "SCALARS");
    inputs->Floats(row.scalars, {2, 1});
    inputs->ExpectAccepted("a column");
    inputs->Floats(row.scalars, {1, 2});
    if (row.data >= 0) {
      inputs->ExpectAccepted("a row, next to DATA");
    } else {
      inputs->ExpectRejectedWith(name + " has shape [1, 2], want [2], one for each row");
    }
    for (const int64_t count : {1, 3}) {
      inputs->Floats(row.scalars, {count});
      inputs->ExpectRejectedWith(name +
                                 MakeString(" has shape [", count, "], want [2], one for each"));
    }
    inputs->Doubles(row.scalars);
    inputs->ExpectRejectedWith("double");
  });
}

TEST(SegmentGradientInputsTest, DataAndOutputHaveTheRowsOfTheGradient) {
  ForEachGradient([](const SegmentGradient& row, GradientInputs* inputs) {
    if (row.data < 0) return;
    const std::string data = GradientInputs::Named(row.data, "DATA");
    const std::string output = GradientInputs::Named(row.output, "OUTPUT");
    inputs->Doubles(row.data);
    inputs->ExpectRejectedWith("double");
    if (row.by == SegmentsBy::kLengths) {
      inputs->Floats(row.data, {});
      inputs->ExpectRejectedWith("rank of " + data + ": got 0, want at least 1");
      inputs->Floats(row.data, {2, 3});
      inputs->ExpectRejectedWith(data + " has shape [2, 3], want rows of 2 elements");
      inputs->Floats(row.data, {2});
      inputs->ExpectRejectedWith(data + " has shape [2], want rows of 2 elements");
      inputs->Floats(row.data, {2, 2, 1});
      inputs->ExpectAccepted("rows of another shape");
    } else {
      // As in Caffe2, any shape of enough elements; sums and means do not read them.
      inputs->Floats(row.data, {5});
      inputs->Floats(row.output, {3});
      inputs->ExpectAccepted("more elements");
      inputs->Floats(row.data, {3});
      row.reads_output() ? inputs->ExpectRejectedWith("elements of " + data + " of shape [3]")
                         : inputs->ExpectAccepted("fewer elements");
    }
    if (row.output < 0) return;
    inputs->Doubles(row.output);
    inputs->ExpectRejectedWith("double");
    inputs->Floats(row.output, {1});
    row.reads_output() ? inputs->ExpectRejectedWith("elements of " + output + " of shape [1]")
                       : inputs->ExpectAccepted("fewer elements");
    inputs->Floats(row.output, {2, 1});
    inputs->ExpectAccepted("as many elements");
    if (row.by != SegmentsBy::kLengths) return;
    inputs->Floats(row.output, {3});
    inputs->ExpectRejectedWith("elements of " + output + " of shape [3]");
  });
}

TEST(SegmentGradientInputsTest, IndicesAreAVectorWithOneForEachRow) {
  ForEachGradient([](const SegmentGradient& row, GradientInputs* inputs) {
    if (row.indices < 0) return;
    inputs->Whole(row.indices, {2, 1}, {0, 1});
    inputs->ExpectRejectedWith("rank of input INDICES of shape [2, 1], want a vector");
    inputs->Whole(row.indices, {3}, {0, 1, 0});
    inputs->ExpectRejectedWith("SCALARS");
    inputs->Floats(row.indices, {2});
    inputs->ExpectRejectedWith("input INDICES has elements of type float");
    inputs->Whole(row.indices, {2}, {0, 2});
    inputs->ExpectRejectedWith("element 1 of input INDICES is 2, want at least 0 and below 2");
    inputs->Whole(row.indices, {2}, {-1, 0});
    inputs->ExpectRejectedWith("element 0 of input INDICES is -1, want at least 0 and below 2");
  });
}

// Cores of 2, 3 and 4 matrices, of ranks 1, 2, 2 and 1; the last indices are those of the last matrices.
TEST(TensorTrainInputsTest, HaveTheSizesOfTheCores) {
  ExpectLeftAsTheyWere(
      {"TTSparseLengthsSumGradient a b c L p q i G -> d e f",
       "a f 2,1,1,2; b f 3,2,2,2; c f 4,2,1,1; L i 2 = 1,1; p f 2,1,2; q f 2,2,2; "
       "i l 2,3 = 0,1,0,1,2,3; G f 2,2",
       {{"i l 2,3 = 0,1,0,1,2,4",
         "element [1, 2] of input 6 (indices) is 4, want at least 0 and "
         "less than 4"},
        {"i l 2,3 = 0,1,0,1,3,3", "element [1, 1] of input 6 (indices) is 3"},
        {"i l 2,3 = 2,1,0,1,2,3", "element [0, 0] of input 6 (indices) is 2"},
        {"i l 2,3 = 0,1,-1,1,2,3", "element [0, 2] of input 6 (indices) is -1"},
        {"i l 3 = 0", "elements of input 6, want those of a run with these lengths"},
        {"G f 2,3", "columns of input 7 (dOUTPUT), want at most those of the table"},
        {"G f 4", "rank of input 7 (dOUTPUT) of shape [4]"},
        {"G f 3,2", "elements of input 7"},
        {"p f 2,1", "elements of input 4"},
        {"q f 2,2", "elements of input 5"},
        {"L i 2 = 1,2", "elements of input 4"},
        {"a f 2,1,2", "rank of input 0 (core0) of shape [2, 1, 2]"},
        {"a f 2,2,1,2", "input 0 (core0) has shape [2, 2, 1, 2], want [2, 1, 1, 2]"},
        {"b f 3,2,2,3", "input 2 (core2) has shape [4, 2, 1, 1], want [4, 3, 1, 1]"},
        {"c f 4,2,1,2", "last dimension of input 2 (core2)"},
        {"c d 4,2,1,1", "double"}}});
}

}  // namespace
}  // namespace caffe2rt::test::gradient_inputs_test
