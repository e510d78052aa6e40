// What holds for all optimizers: sparse updates are dense updates of one row after the other, outputs may be
// other blobs, each input is checked before anything is changed, and an operator runs on other sizes.

#include <absl/strings/str_split.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "caffe2_core/runtime/net.h"
#include "tests/operators/common/call_tables.h"
#include "tests/operators/common/long_calls.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::optimizer_calls_test {
namespace {

OperatorDef CpuOperator(const std::string& text) {
  OperatorDef op = OperatorsOf({text.c_str(), ""}).back();
  op.mutable_device_option()->set_device_type(PROTO_CPU);
  return op;
}

void FeedText(const std::string& inputs, Workspace* ws) { FeedInputs({"", inputs.c_str()}, ws); }

const Tensor& TensorOf(const Workspace& ws, const std::string& name) {
  return ws.GetBlob(name)->Get<Tensor>();
}

std::string ImageOf(const Tensor& tensor) {
  std::string image = testing::PrintToString(tensor.dims()) + std::string(tensor.dtype().name());
  image.append(static_cast<const char*>(tensor.raw_data()), tensor.nbytes());
  return image;
}

// A sparse update of P [5, 2, 3], and the dense one that does the same to one row.
struct RowUpdate {
  const char* sparse;
  const char* dense;
  std::vector<std::string> states;  // with the shape of P
};

const RowUpdate kRowUpdates[] = {
    {"SparseAdagrad P M I G L -> P M epsilon=0.25 weight_decay=0.5",
     "Adagrad P M G L -> P M epsilon=0.25 weight_decay=0.5",
     {"P", "M"}},
    {"SparseAdam P M N I G L T -> P M N beta1=0.5 beta2=0.75 epsilon=0.25",
     "Adam P M N G L T -> P M N beta1=0.5 beta2=0.75 epsilon=0.25",
     {"P", "M", "N"}},
    {"SparseAdam P M N I G L T -> P M N S", "Adam P M N G L T -> P M N S", {"P", "M", "N"}},
    {"SparseAdadelta P M N I G L -> P M N epsilon=0.25 decay=0.5",
     "Adadelta P M N G L -> P M N epsilon=0.25 decay=0.5",
     {"P", "M", "N"}},
    {"SparseMomentumSGDUpdate G M L P I -> S M P momentum=0.5 nesterov=1",
     "MomentumSGDUpdate G M L P -> S M P momentum=0.5 nesterov=1",
     {"P", "M"}},
    {"SparseFtrl P Z I G A -> P Z beta=2.0 lambda1=0.25 lambda2=0.5",
     "Ftrl P Z G A -> P Z beta=2.0 lambda1=0.25 lambda2=0.5",
     {"P", "Z"}},
};

void CopyPart(const Tensor& from, int64_t first, int64_t count, const std::vector<int64_t>& dims,
              const std::string& name, Workspace* to) {
  const float* const begin = from.data<float>() + first;
  Feed<float>(to, name, dims, std::vector<float>(begin, begin + count));
}

class SparseRowsTest : public testing::TestWithParam<std::string> {};

// Rows in a matrix of indices, some of them named twice. The state and the gradient differ in each element.
TEST_P(SparseRowsTest, AreUpdatedOneAfterTheOtherAsDenseOnes) {
  const std::vector<int64_t> rows = {3, 0, 3, 4, 1, 3};
  for (const RowUpdate& update : kRowUpdates) {
    SCOPED_TRACE(update.sparse);
    Workspace ws, want;
    const std::string inputs =
        "P f 5,2,3; M p 5,2,3; N p 5,2,3; Z p 5,2,3,2; G f 2,3,2,3; L f 1 = 0.5; A f 1 = 0.5; "
        "T l 1 = 2; I " +
        GetParam() + " 2,3 = 3,0,3,4,1,3";
    FeedText(inputs, &ws);
    FeedText(inputs, &want);
    ws.RunOperatorOnce(CpuOperator(update.sparse));
    for (size_t j = 0; j < rows.size(); ++j) {
      Workspace one;
      FeedText("L f 1 = 0.5; A f 1 = 0.5; T l 1 = 2", &one);
      CopyPart(TensorOf(want, "G"), static_cast<int64_t>(j) * 6, 6, {6}, "G", &one);
      const auto numbers = [](const std::string& state) { return state == "Z" ? 12 : 6; };
      for (const std::string& state : update.states)
        CopyPart(TensorOf(want, state), rows[j] * numbers(state), numbers(state), {numbers(state)},
                 state, &one);
      one.RunOperatorOnce(CpuOperator(update.dense));
      for (const std::string& state : update.states) {
        const std::vector<float> row = Fetch<float>(one, state);
        std::copy(row.begin(), row.end(),
                  want.GetBlob(state)->GetMutable<Tensor>()->mutable_data<float>() +
                      rows[j] * numbers(state));
      }
      if (one.GetBlob("S") == nullptr) continue;
      const std::vector<float> step = Fetch<float>(one, "S"), all = Fetch<float>(ws, "S");
      for (size_t k = 0; k < 6; ++k) EXPECT_NEAR(all[6 * j + k], step[k], 1e-5) << j << " " << k;
    }
    for (const std::string& state : update.states)
      ExpectTensor<float>(ws, state, TensorOf(want, state).dims(), Fetch<float>(want, state), 1e-5);
  }
}

INSTANTIATE_TEST_SUITE_P(Indices, SparseRowsTest, testing::Values("i", "l"));

// Worked out row by row: two rows of two elements, the second one twice.
TEST(SparseRowsOfStatesTest, AreOfAllColumns) {
  ExpectResults({
      // The squares add up to 1 + 4 + 4 + 16 = 25, so the rate is 16 / (2 + 125 - 2)^(1/3), about which
      // momentum 0 leaves the moment as it is.
      {"SparseStorm P M S G I L -> P M S momentum=0.0 beta=0.0",
       "P f 2,2 = 1,2,3,4; M f 2,2 = 5,6,7,8; S f 1 = 100; G f 2,2 = 1,2,2,4; I i 2 = 1,1; L f 1 = "
       "20",
       "P f 2,2 = 1,2,59,68; M f 2,2 = 5,6,7,8; S f 1 = 125"},
      {"SparseWngrad P B I G L -> P B epsilon=0.0",
       "P f 3,2 = 1,2,3,4,5,6; B f 1 = 5; I l 2 = 2,0; G f 2,2 = 1,2,2,4; L f 1 = 10",
       "P f 3,2 = 5,10,3,4,7,10; B f 1 = 10"},
      {"EnsureClipped P I G -> Q min=-1.0 max=2.0",
       "P f 3,2 = -3,3,-4,4,-5,5; I l 1,2 = 2,0; G f 1,2,2", "Q f 3,2 = -1,2,-4,4,-1,2"},
      {"EnsureClipped P I G -> P min=-1.0 max=2.0", "P f 2,2 = -3,3,-4,4; I i 0; G f 0,2",
       "P f 2,2 = -3,3,-4,4"},
      {"EnsureClipped P I G -> Q min=-1.0 max=2.0", "P f 2,2 = -3,3,-4,4; I i 0; G f 0,2",
       "Q f 2,2 = -3,3,-4,4"},
      {"RowWiseCounter N C I T -> N C counter_halflife=2",
       "N l 3 = 4,5,6; C d 3 = 8,8,8; I i 2,2 = 2,0,2,2; T l 1 = 8",
       "N l 3 = 8,5,8; C d 3 = 3,8,7"},
      // An iteration before the latest one does not decay and does not set the clock back.
      {"RowWiseCounter N C I T -> N C counter_halflife=2",
       "N l 2 = 9,9; C d 2 = 8,8; I l 1 = 1; T l 1 = 8", "N l 2 = 9,9; C d 2 = 8,9"},
  });
}

// Dense updates, whose outputs may be their inputs or other blobs.
struct ApartCall {
  const char* type;
  const char* inputs;  // names
  const char* in_place;
  const char* apart;
};

const char* const kAllBlobs =
    "P f 4,3; M p 4,3; N p 4,3; Z p 4,3,2; G f 4,3; A f 4,3; L f 1 = 0.5; T l 1 = 2; B f 1 = 2; W "
    "p 20; U p 5; "
    "u f 1 = 0.25";
const ApartCall kApartCalls[] = {
    {"Adagrad", "P M G L", "P M", "p m"},
    {"Adam", "P M N G L T", "P M N", "p m n"},
    {"Adadelta", "P M N G L", "P M N", "p m n"},
    {"Ftrl", "P Z G", "P Z", "p z"},
    {"GFtrl", "P Z G", "P Z", "p z"},
    {"MomentumSGD", "G M L", "G M", "g m"},
    {"FP32MomentumSGDUpdate", "G M L P", "G M P", "g m p"},
    {"RmsProp", "G M N L", "G M N", "g m n"},
    {"Storm", "P M B G L", "P M B", "p m b"},
    {"Wngrad", "P B G L", "P B", "p b"},
    {"YellowFin", "P M L u W A N U G T", "P M L u W A N U", "p m l v w a n s"},
    {"WeightScale stepsize=3 scale=3.0", "P T", "P", "p"},
    {"WeightScale stepsize=2 scale=3.0", "P T", "P", "p"},
    {"EnsureClipped min=-0.5 max=0.25", "P", "P", "p"},
    {"ClipTensorByScaling threshold=1.5", "P B", "P", "p"},
    {"ClipTensorByScaling threshold=2.0", "P B", "P", "p"},
    {"LearningRateAdaption", "L G P", "L", "l"},
};

TEST(DenseUpdateTest, ComputesTheSameInPlaceAndInOtherBlobs) {
  for (const ApartCall& call : kApartCalls) {
    SCOPED_TRACE(call.type);
    Workspace in_place, apart, before;
    for (Workspace* ws : {&in_place, &apart, &before}) FeedText(kAllBlobs, ws);
    const std::string begin = std::string(call.type) + " " + call.inputs + " -> ";
    in_place.RunOperatorOnce(CpuOperator(begin + call.in_place));
    apart.RunOperatorOnce(CpuOperator(begin + call.apart));
    const std::vector<std::string> own = absl::StrSplit(call.in_place, ' '),
                                   other = absl::StrSplit(call.apart, ' ');
    for (size_t i = 0; i < own.size(); ++i)
      EXPECT_EQ(ImageOf(TensorOf(apart, other[i])), ImageOf(TensorOf(in_place, own[i]))) << own[i];
    for (const std::string& name : before.Blobs())
      EXPECT_EQ(ImageOf(TensorOf(apart, name)), ImageOf(TensorOf(before, name))) << name;
  }
}

// The operator in one net on 12, 2, 0 and 12 elements, each time on a state fed from outside.
TEST(DenseUpdateTest, RunsOnOtherSizesAsANewOperator) {
  const std::string sizes[] = {
      kAllBlobs,
      "P f 2; M p 2; N p 2; Z p 2,2; G f 2; A f 2; L f 1 = 0.25; T l 1 = 5; B f 1 = 3; W p 20; U p "
      "5; u f 1 = 0.5",
      "P p 1,7; M p 1,7; N p 1,7; Z p 1,7,2; G p 1,7; A f 1,7; L f 1 = 2; T l 1 = 8; B f 1 = 1; W "
      "p 20; U p 5; u f 1 = 0.5",
      kAllBlobs,
  };
  for (const ApartCall& call : kApartCalls) {
    const std::string text = std::string(call.type) + " " + call.inputs + " -> " + call.in_place;
    SCOPED_TRACE(text);
    Workspace ws;
    FeedText(kAllBlobs, &ws);
    NetDef def;
    def.set_name("update");
    *def.add_op() = CpuOperator(text);
    NetBase* const net = ws.CreateNet(def);
    for (const std::string& inputs : sizes) {
      SCOPED_TRACE(inputs);
      Workspace once;
      FeedText(inputs, &once);
      FeedText(inputs, &ws);
      once.RunOperatorOnce(def.op(0));
      ASSERT_TRUE(net->Run());
      for (const std::string& name : once.Blobs())
        EXPECT_EQ(ImageOf(TensorOf(ws, name)), ImageOf(TensorOf(once, name))) << name;
    }
  }
}

// Calls with valid inputs. Each input but those in `unread` is rejected if it is empty or has other elements, and
// if it has one element more unless it is in `longer`.
struct CheckedUpdate {
  const char* op;
  const char* inputs;
  const char* longer = "";
  const char* unread = "";
};

const CheckedUpdate kCheckedUpdates[] = {
    {"Adagrad P M G L -> P M E U", "P f 4; M p 4; G f 4; L f 1", "L"},
    {"SparseAdagrad P M I G L -> P M", "P f 4; M p 4; I i 2 = 3,0; G f 2; L f 1"},
    {"RowWiseSparseAdagrad P M I G L -> P M", "P f 4; M p 4; I l 2 = 3,0; G f 2; L f 1"},
    {"Adam P M N G L T -> P M N S", "P f 4; M p 4; N p 4; G f 4; L f 1; T l 1 = 1", "T"},
    {"SparseAdam P M N I G L T -> P M N S",
     "P f 4; M p 4; N p 4; I i 2 = 3,0; G f 2; L f 1; T l 1 = 1", "T"},
    {"RowWiseSparseAdam P M N I G L T -> P M N S",
     "P f 4; M p 4; N p 4; I l 2 = 3,0; G f 2; L f 1; T l 1 = 1", "T"},
    {"Adadelta P M N G L -> P M N", "P f 4; M p 4; N p 4; G f 4; L f 1", "L"},
    {"SparseAdadelta P M N I G L -> P M N", "P f 4; M p 4; N p 4; I i 2 = 3,0; G f 2; L f 1"},
    {"MomentumSGD G M L -> G M", "G f 4; M p 4; L f 1"},
    {"MomentumSGDUpdate G M L P -> G M P", "G f 4; M p 4; L f 1; P f 4"},
    {"FP32MomentumSGDUpdate G M L P -> G M P", "G f 4; M p 4; L f 1; P f 4"},
    {"SparseMomentumSGDUpdate G M L P I -> S M P", "G f 2; M p 4; L f 1; P f 4; I i 2 = 3,0"},
    {"RmsProp G M N L -> G M N", "G f 4; M p 4; N p 4; L f 1"},
    {"Ftrl P Z G A -> P Z", "P f 4; Z p 8; G f 4; A f 1 = 0.5"},
    {"GFtrl P Z G A -> P Z", "P f 4; Z p 8; G f 4; A f 1 = 0.5"},
    {"SparseFtrl P Z I G A -> P Z", "P f 4; Z p 8; I l 2 = 3,0; G f 2; A f 1 = 0.5"},
    {"Storm P M S G L -> P M S", "P f 4; M p 4; S p 1; G f 4; L f 1"},
    {"SparseStorm P M S G I L -> P M S", "P f 4; M p 4; S p 1; G f 2; I l 2 = 3,0; L f 1"},
    {"Wngrad P B G L -> P B E U", "P f 4; B p 1; G f 4; L f 1", "L"},
    {"SparseWngrad P B I G L -> P B", "P f 4; B p 1; I l 2 = 3,0; G f 2; L f 1", "P"},
    {"YellowFin P M L u W A B S G T -> P M L u W A B S",
     "P f 4; M f 4; L p 1; u p 1; W p 20; A f 4; B p 4; S p 5; G f 4; T l 1 = 1", "T"},
    {"Lars X D w t m -> R", "X f 4; D f 4; w p 1; t p 1; m p 1", "w t m"},
    {"LearningRateAdaption L G E -> L", "L f 1; G f 4; E f 4"},
    {"WeightScale P T -> P", "P f 4; T l 1 = 1", "P T", "P"},
    {"RowWiseCounter N C I T -> N C counter_halflife=2", "N l 4; C d 4; I i 2 = 3,0; T l 1 = 9",
     "I", "I"},
    {"ClipTensorByScaling X V t -> X threshold=0.25", "X f 4; V f 1 = 1; t f 1 = 1", "X"},
};

bool NamesInput(const char* names, const std::string& name) {
  return (" " + std::string(names) + " ").find(" " + name + " ") != std::string::npos;
}

TEST(UpdateInputsTest, AreAllCheckedBeforeAnythingIsChanged) {
  for (const CheckedUpdate& call : kCheckedUpdates) {
    const OperatorDef op = CpuOperator(call.op);
    for (const std::string& name : op.input()) {
      for (const std::string other : {"d 0", "f 0", "l 0", "one more", "another type"}) {
        SCOPED_TRACE(std::string(call.op) + ": " + name + " " + other);
        Workspace ws;
        FeedText(call.inputs, &ws);
        const Tensor& given = TensorOf(ws, name);
        const bool is_float = given.IsType<float>();
        std::string text = name + " " + other;
        if (other == "one more") {
          if (NamesInput(call.longer, name)) continue;
          text = name +
                 (is_float                  ? " f "
                  : given.IsType<int64_t>() ? " l "
                  : given.IsType<double>()  ? " d "
                                            : " i ") +
                 std::to_string(given.numel() + 1) + " = 0";
        } else if (other == "another type") {
          text = name + (is_float ? " d " : " f ") + std::to_string(given.numel()) + " = 0";
        } else if (NamesInput(call.unread, name)) {
          continue;
        }
        FeedText(text, &ws);
        std::vector<std::string> before;
        for (const std::string& blob : ws.Blobs()) before.push_back(ImageOf(TensorOf(ws, blob)));
        const std::vector<std::string> names = ws.Blobs();
        EXPECT_THROW(ws.RunOperatorOnce(op), EnforceNotMet);
        for (size_t i = 0; i < names.size(); ++i)
          EXPECT_EQ(ImageOf(TensorOf(ws, names[i])), before[i]) << names[i];
      }
    }
  }
}

// The second index is out of range: the first row stays, and so do the sums.
TEST(UpdateInputsTest, AnIndexOutOfRangeChangesNothing) {
  for (const CheckedUpdate& call : kCheckedUpdates) {
    const OperatorDef op = CpuOperator(call.op);
    if (std::string(call.inputs).find("I ") == std::string::npos) continue;
    for (const char* const indices :
         {"I i 2 = 1,4", "I i 2 = 1,-1", "I l 2 = 1,4", "I l 2 = 1,-1"}) {
      SCOPED_TRACE(std::string(call.op) + ": " + indices);
      Workspace ws;
      FeedText(call.inputs, &ws);
      FeedText(indices, &ws);
      const std::vector<std::string> names = ws.Blobs();
      std::vector<std::string> before;
      for (const std::string& blob : names) before.push_back(ImageOf(TensorOf(ws, blob)));
      ExpectThrows([&] { ws.RunOperatorOnce(op); },
                   "at position 1 is out of range, want at least 0 and below 4");
      for (size_t i = 0; i < names.size(); ++i)
        EXPECT_EQ(ImageOf(TensorOf(ws, names[i])), before[i]) << names[i];
    }
  }
}

}  // namespace
}  // namespace caffe2rt::test::optimizer_calls_test
