#include "tests/operators/common/long_calls.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_split.h>

#include <random>

#include "caffe2_core/base/enforce.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test {
namespace {

using Words = std::vector<std::string>;

template <class T>
T NumberOf(const std::string& text) {
  double value = 0;
  CAFFE_ENFORCE(absl::SimpleAtod(text, &value), "\"", text, "\" is no number");
  return static_cast<T>(value);
}

void AddArgument(const std::string& text, OperatorDef* op) {
  const Words halves = absl::StrSplit(text, absl::MaxSplits('=', 1));
  CAFFE_ENFORCE_EQ(halves.size(), 2u, "halves of argument \"", text, "\"");
  Argument* const arg = op->add_arg();
  arg->set_name(halves[0]);
  const bool is_list = halves[1].find(',') != std::string::npos;
  const Words values = absl::StrSplit(halves[1], ',', absl::SkipEmpty());
  double number = 0;
  if (!absl::SimpleAtod(values[0], &number)) {
    arg->set_s(halves[1]);
  } else if (values[0].find('.') != std::string::npos) {
    for (const std::string& value : values) arg->add_floats(NumberOf<float>(value));
  } else {
    for (const std::string& value : values) arg->add_ints(NumberOf<int64_t>(value));
  }
  if (is_list) return;
  if (arg->ints_size() == 1) arg->set_i(arg->ints(0));
  if (arg->floats_size() == 1) arg->set_f(arg->floats(0));
  arg->clear_ints();
  arg->clear_floats();
}

OperatorDef OperatorOf(const std::string& text) {
  const Words words = absl::StrSplit(text, ' ', absl::SkipEmpty());
  OperatorDef op;
  op.set_type(words.at(0));
  bool output = false;
  for (size_t i = 1; i < words.size(); ++i) {
    if (words[i] == "->") {
      output = true;
    } else if (words[i].find('=') != std::string::npos) {
      AddArgument(words[i], &op);
    } else {
      output ? op.add_output(words[i]) : op.add_input(words[i]);
    }
  }
  return op;
}

std::vector<int64_t> DimsOfText(const std::string& text) {
  std::vector<int64_t> dims;
  if (text == "-") return dims;
  for (const std::string& size : Words(absl::StrSplit(text, ',')))
    dims.push_back(NumberOf<int64_t>(size));
  return dims;
}

template <class T>
void FeedWith(Workspace* ws, const Words& words, const std::function<double(int64_t)>& value_of) {
  Tensor* const tensor = FeedRange<T>(ws, words[0], DimsOfText(words[2]));
  for (int64_t i = 0; i < tensor->numel(); ++i)
    tensor->mutable_data<T>()[i] = static_cast<T>(value_of(i));
}

// The numbers that the end of an input's text states.
std::function<double(int64_t)> ValuesOf(const Words& words, std::mt19937* random) {
  if (words.size() == 5 && words[3] == "=") {
    std::vector<double> values;
    for (const std::string& value : Words(absl::StrSplit(words[4], ',')))
      values.push_back(NumberOf<double>(value));
    return [values](int64_t i) { return values[static_cast<size_t>(i) % values.size()]; };
  }
  const char type = words[1][0];
  if (type == 'f') return [random](int64_t) { return (*random)() * 0x2p-32 - 1; };
  if (type == 'p') return [random](int64_t) { return (*random)() * 0x1.8p-32 + 0.5; };
  if (type == 'c' && words.size() == 3)
    return [random](int64_t) { return static_cast<double>((*random)() % 256) - 128; };
  uint32_t below = type == 'b' ? 2 : 256;
  if (words.size() == 4) below = NumberOf<uint32_t>(words[3].substr(1));
  return [random, below](int64_t) { return static_cast<double>((*random)() % below); };
}

void FeedInputOf(const std::string& text, std::mt19937* random, Workspace* ws) {
  const Words words = absl::StrSplit(text, ' ', absl::SkipEmpty());
  CAFFE_ENFORCE(words.size() >= 3 && words.size() <= 5, "input \"", text, "\"");
  const auto value_of = ValuesOf(words, random);
  switch (words[1][0]) {
    case 'i':
      return FeedWith<int32_t>(ws, words, value_of);
    case 'l':
      return FeedWith<int64_t>(ws, words, value_of);
    case 'b':
      return FeedWith<bool>(ws, words, value_of);
    case 'u':
      return FeedWith<uint8_t>(ws, words, value_of);
    case 'c':
      return FeedWith<int8_t>(ws, words, value_of);
    case 'd':
      return FeedWith<double>(ws, words, value_of);
    default:
      return FeedWith<float>(ws, words, value_of);
  }
}

}  // namespace

std::vector<OperatorDef> OperatorsOf(const LongCall& call) {
  std::vector<OperatorDef> operators;
  for (const std::string& text : Words(absl::StrSplit(call.operators, " | ")))
    operators.push_back(OperatorOf(text));
  return operators;
}

void FeedInputs(const LongCall& call, Workspace* ws) {
  std::mt19937 random(7);  // the same sequence on every machine
  for (const std::string& text : Words(absl::StrSplit(call.inputs, ';')))
    FeedInputOf(text, &random, ws);
}

const std::vector<LongCall>& LongCalls() {
  static const std::vector<LongCall> calls = {
      // Copies of elements.
      {"GatherND X I -> Y", "X f 7,50,900; I l 150,2 <7"},
      {"GatherElements X I -> Y axis=1", "X f 61,40,57; I l 61,33,57 <40"},
      {"GatherElements X I -> Y axis=2", "X f 61,40,57; I i 61,39,60 <57"},
      {"Trilu X -> Y k=-3 upper=0", "X f 37,67,55"},
      {"Trilu X -> Y k=2 upper=1", "X f 37,67,55"},
      {"ReverseSequence X L -> Y batch_axis=1 time_axis=0", "X f 31,45,90; L l 45 <32"},
      {"ReverseSequence X L -> Y batch_axis=0 time_axis=1", "X f 45,31,90; L l 45 <32"},
      {"ONNXSlice X -> Y starts=60,1,2 ends=0,80,57 axes=0,1,2 steps=-1,1,2", "X f 61,80,57"},
      {"ONNXSlice X -> Y starts=3, ends=78, axes=1, steps=1,", "X f 61,80,57"},
      {"Slice X -> Y starts=0,3,0 ends=-1,-2,-1", "X f 61,80,57"},
      {"Expand X S -> Y", "X f 61,1,57; S l 3 = 61,40,57"},
      {"Expand X S -> Y", "X f 2100,1; S l 2 = 2100,61"},
      {"Tile X -> Y tiles=3 axis=1", "X f 61,15,57"},
      {"Gather X I -> Y", "X f 300,90; I i 2000 <300"},
      {"Gather X I -> Y axis=1", "X f 61,40,57; I l 47 <40"},
      {"BatchGather X I -> Y", "X f 61,40,57; I i 47 <40"},
      {"Split X -> A B axis=1 split=17,23", "X f 61,40,57"},
      {"Concat A B -> Y S axis=1", "A f 61,19,57; B f 61,22,57", 0, -1},  // S stays on the CPU
      {"Transpose X -> Y axes=2,0,1", "X f 61,40,57"},
      {"NCHW2NHWC X -> Y", "X f 3,41,31,33"},
      {"NHWC2NCHW X -> Y", "X f 3,41,31,33"},
      {"Copy X -> Y", "X f 61,40,57"},
      {"ONNXWhere C A B -> Y", "C b 61,1,57; A f 61,40,57; B f 1,40,57"},
      {"ONNXWhere C A B -> Y", "C b 139001; A f 139001; B f 1"},
      {"ONNXRange a b d -> Y", "a f - = 3; b f - = 60003; d f - = 0.5"},
      {"OneHot I N -> Y", "I l 3001 <41; N l 1 = 41"},
      {"PadImage X -> Y mode=reflect pad_t=2 pad_l=3 pad_b=1 pad_r=4", "X f 3,7,70,71"},
      {"PadImage X -> Y mode=edge pad_t=2 pad_l=3 pad_b=1 pad_r=4", "X f 3,7,70,71"},
      {"PadImage X -> Y mode=constant value=0.5 pad_t=2 pad_l=3 pad_b=1 pad_r=4", "X f 3,7,70,71"},
      {"PadImage X -> Y mode=reflect pad_t=2 pad_l=3 pad_b=1 pad_r=4 order=NHWC", "X f 3,70,71,7"},
      {"PadImageGradient X -> Y mode=reflect pad_t=2 pad_l=3 pad_b=1 pad_r=4", "X f 3,7,70,71"},
      {"PadImageGradient X -> Y mode=edge pad_t=2 pad_l=3 pad_b=1 pad_r=4 order=NHWC",
       "X f 3,70,71,7"},
      {"ONNXCol2Im X -> Y image_shape=31,32 block_shape=2,3", "X f 2,144,900"},
      {"BatchBucketOneHot X L B -> Y",
       "X f 3001,3; L i 3 = 2,1,4; B f 7 = -0.5,0.5,0,-0.6,-0.2,0.2,0.6"},
      // Images.
      {"UpsampleBilinear X -> Y height_scale=2.3 width_scale=1.7", "X f 3,5,40,41", 0, 1e-4},
      {"UpsampleBilinearGradient G X -> Y height_scale=2.3 width_scale=1.7",
       "G f 3,5,92,69; X f 3,5,40,41", 0, 1e-4},
      {"ResizeNearest X -> Y height_scale=2.3 width_scale=1.7", "X f 3,5,40,41"},
      {"ResizeNearest X -> Y height_scale=2.3 width_scale=1.7 order=NHWC", "X f 3,40,41,5"},
      {"ResizeNearestGradient G X -> Y height_scale=2.3 width_scale=1.7",
       "G f 3,5,92,69; X f 3,5,40,41", 0, 1e-4},
      {"Resize X -> Y mode=linear sizes=3,5,71,93", "X f 3,5,40,41", 0, 1e-4},
      {"Resize X -> Y mode=linear antialias=1 sizes=3,5,51,33", "X f 3,5,80,81", 0, 1e-4},
      {"Resize X -> Y mode=cubic sizes=3,5,71,93", "X f 3,5,40,41", 0, 1e-4},
      {"Resize X -> Y mode=nearest sizes=3,5,71,93", "X f 3,5,40,41"},
      {"GridSample X G -> Y mode=linear", "X f 2,3,20,21; G f 2,80,81,2", 0, 1e-4},
      {"GridSample X G -> Y mode=cubic padding_mode=border", "X f 2,3,20,21; G f 2,80,81,2", 0,
       1e-4},
      {"ChannelShuffle X -> Y group=5", "X f 3,35,37,31"},
      {"RoIPool X R -> Y A pooled_h=5 pooled_w=7",
       "X f 2,9,40,41; R f 61,5 = 0,1,2,20,30,1,3,3,39,35,0,0,0,7,5,1,12,20,38,36,1,5,6,5,6"},
      {"RoIAlign X R -> Y pooled_h=5 pooled_w=7 sampling_ratio=2",
       "X f 2,9,40,41; R f 61,5 = 0,1,2,20.5,30,1,3,3.25,39,35,0,0,0,7,5,1,12,20,38,36,1,5,6,5,6",
       0, 1e-4},
      // Windows.
      {"ONNXDeformConv X W O B M -> Y group=2 offset_group=2 kernel_shape=3,3",
       "X f 2,4,30,29; W f 8,2,3,3; O f 2,36,28,27; B f 8; M f 2,18,28,27", 0, 1e-4},
      {"MaxPool X -> Y kernel=3 stride=2 pad=1", "X f 3,17,41,43"},
      {"MaxPool X -> Y kernel=3 stride=2 pad=1 order=NHWC", "X f 3,41,43,17"},
      {"AveragePool X -> Y kernel=3 stride=2 pad=1", "X f 3,17,41,43", 0, 1e-4},
      {"AveragePool X -> Y kernel=3 stride=2 pad=1 order=NHWC", "X f 3,41,43,17", 0, 1e-4},
      {"MaxPool X -> Y kernel=3 stride=2 pad=1 | MaxPoolGradient X Y Y -> D kernel=3 stride=2 "
       "pad=1",
       "X f 3,17,41,43", 0, -1},
      {"MaxPool X -> Y kernel=2 stride=2 order=NHWC | MaxPoolGradient X Y Y -> D kernel=2 stride=2 "
       "order=NHWC",
       "X f 3,41,43,17", 0, -1},
      {"AveragePoolGradient X Y G -> D kernel=3 stride=2 pad=1",
       "X f 3,17,41,43; Y f 3,17,21,22; G f 3,17,21,22", 0, 1e-4},
      {"LpPool X -> Y kernel=3 stride=2 pad=1 p=3.", "X p 3,17,41,43", 0, 1e-4},
      {"MaxPoolWithIndex X -> Y I kernel=3 stride=2", "X f 3,17,41,43"},
      // Normalizations.
      {"SpatialBN X s b m v -> Y m v sm sv is_test=0",
       "X f 5,17,41,43; s f 17; b f 17; m f 17; v p 17", 1e-5, 1e-4},
      {"SpatialBN X s b m v -> Y m v sm sv is_test=0 order=NHWC",
       "X f 5,41,43,17; s f 17; b f 17; m f 17; v p 17", 1e-5, 1e-4},
      {"SpatialBN X s b m v -> Y is_test=1", "X f 5,17,41,43; s f 17; b f 17; m f 17; v p 17", 0,
       1e-4},
      {"SpatialBNGradient X s G m v -> D ds db",
       "X f 5,17,41,43; s f 17; G f 5,17,41,43; m f 17; v p 17", 1e-5, 1e-3},
      {"SpatialBNGradient X s G m v -> D ds db order=NHWC",
       "X f 5,41,43,17; s f 17; G f 5,41,43,17; m f 17; v p 17", 1e-5, 1e-3},
      {"LayerNorm X -> Y m s axis=1", "X f 300,401", 0, 1e-4},
      {"LayerNormFusion X g b R -> Y S axis=1", "X f 300,401; g f 401; b f 401; R f 300,401", 0,
       -1},
      {"GroupNorm X g b -> Y m s group=3", "X f 5,18,31,33; g f 18; b f 18", 0, 1e-4},
      {"InstanceNorm X g b -> Y", "X f 5,17,41,33; g f 17; b f 17", 0, 1e-4},
      {"LRN X -> Y size=5 alpha=0.1 beta=0.75 bias=1.", "X f 3,17,41,43", 0, 1e-4},
      {"Softmax X -> Y axis=1", "X f 300,401"},
      {"Softmax X -> Y axis=1 | SoftmaxGradient Y G -> D axis=1", "X f 300,401; G f 300,401"},
      {"AffineChannel X s b -> Y", "X f 5,17,41,43; s f 17; b f 17"},
      {"AffineChannel X s b -> Y order=NHWC", "X f 5,41,43,17; s f 17; b f 17"},
      {"PRelu X w -> Y", "X f 5,17,41,43; w f 17"},
      {"PRelu X w -> Y order=NHWC", "X f 5,41,43,17; w f 17"},
      {"PReluGradient Y G X w -> D E", "X f 5,17,41,43; w f 17; Y f 5,17,41,43; G f 5,17,41,43", 0,
       1e-3},
      // Products.
      {"FC X W b -> Y", "X f 71,301; W f 131,301; b f 131", 1e-5, 1e-4},
      {"FCTransposed X W b -> Y", "X f 71,301; W f 301,131; b f 131", 1e-5, 1e-4},
      {"FCGradient X W G -> dW db dX", "X f 71,301; W f 131,301; G f 71,131", 1e-5, 1e-4},
      {"FC X W b -> Y", "X f 1,1301; W f 431,1301; b f 431", 1e-5, 1e-4},
      {"MatMul A B -> Y trans_a=1", "A f 301,71; B f 301,131", 1e-5, 1e-4},
      {"MatMul A B -> Y trans_b=1", "A f 71,301; B f 131,301", 1e-5, 1e-4},
      {"BatchMatMul A B -> Y", "A f 7,41,53; B f 7,53,61", 1e-5, 1e-4},
      {"BatchMatMul A B -> Y trans_a=1 trans_b=1", "A f 7,53,41; B f 7,61,53", 1e-5, 1e-4},
      {"BatchMatMul A B -> Y broadcast=1", "A f 3,5,41,53; B f 5,53,61", 1e-5, 1e-4},
      {"ONNXMatMul A B -> Y", "A i 71,81 <9; B i 81,61 <9"},
      {"MultiHeadAttention Q K V -> Y heads=4", "Q f 3,41,48; K f 3,37,48; V f 3,37,32", 1e-5, -1},
      {"Einsum A B -> Y equation=bij,bjk->bik", "A f 7,41,53; B f 7,53,61", 1e-5, 1e-4},
      // Sums and positions.
      {"SparseLengthsSum X I L -> Y", "X f 300,151; I i 900 <300; L i 60 = 10,20", 0, 1e-4},
      {"SparseLengthsWeightedSum X W I L -> Y",
       "X f 300,151; W f 900; I i 900 <300; L i 60 = 10,20", 0, 1e-4},
      {"SparseLengthsMean X I L -> Y", "X f 300,151; I l 900 <300; L i 60 = 10,20", 0, 1e-4},
      {"LengthsSum X L -> Y", "X f 900,151; L i 60 = 10,20", 0, 1e-4},
      {"LengthsMax X L -> Y", "X f 900,151; L i 60 = 10,20"},
      {"LengthsSumGradient G L -> Y", "G f 60,151; L i 60 = 10,20"},
      {"UnsortedSegmentSum X S -> Y", "X f 900,151; S i 900 <60", 0, 1e-4},
      {"CumSum X A -> Y exclusive=1 reverse=1", "X f 61,40,57; A l - = 1", 0, 1e-4},
      {"CumSum X A -> Y", "X f 61,40,57; A l - = 2", 0, 1e-4},
      {"ONNXArgMax X -> Y axis=1", "X f 61,40,57"},
      {"ONNXArgMax X -> Y axis=2 select_last_index=1", "X i 61,40,57 <9"},
      {"ReduceSum X -> Y axes=0,", "X f 61,40,57", 1e-5, 1e-4},
      {"ReduceSum X -> Y axes=1,", "X f 61,40,57", 1e-5, 1e-4},
      {"ReduceMean X -> Y axes=2,", "X f 61,40,57", 1e-5, 1e-4},
      {"ReduceMax X -> Y axes=0,2", "X f 61,40,57"},
      {"ReduceL2 X -> Y axes=0,1", "X f 61,40,57", 1e-5, 1e-4},
      {"ReduceFrontSum X -> Y num_reduce_dim=2", "X f 61,40,57", 1e-5, 1e-4},
      {"ReduceBackMean X -> Y num_reduce_dim=1", "X f 61,40,57", 1e-5, 1e-4},
      // Functions of elements.
      {"Exp X -> Y", "X f 139001"},
      {"Sigmoid X -> Y", "X f 139001"},
      {"Tanh X -> Y", "X f 139001"},
      {"Sigmoid X -> Y | SigmoidGradient Y G -> D", "X f 139001; G f 139001"},
      {"Relu X -> Y | ReluGradient Y G -> D", "X f 139001; G f 139001"},
      {"Elu X -> Y alpha=0.7 | EluGradient Y G -> D alpha=0.7", "X f 139001; G f 139001"},
      {"Clip X -> Y min=-0.3 max=0.4", "X f 139001"},
      {"ONNXClip X a b -> Y", "X i 139001 <99; a i - = 20; b i - = 70"},
      {"Pow X -> Y exponent=1.7", "X p 139001"},
      {"Cast X -> Y to=2", "X p 139001"},
      {"Add A B -> Y", "A f 61,40,57; B f 40,1"},
      {"Mul A B -> Y", "A f 61,40,1; B f 61,1,57"},
      {"Sub A B -> Y broadcast=1 axis=1", "A f 61,40,57; B f 40"},
      {"GT A B -> Y", "A f 61,40,57; B f 57"},
      {"Sum A B C -> Y", "A f 139001; B f 139001; C f 139001"},
      {"Max A B C -> Y", "A f 139001; B f 139001; C f 139001"},
      {"WeightedSum A a B b -> Y", "A f 139001; a f 1; B f 139001; b f 1"},
      {"DynamicQuantizeLinear X -> Y s z", "X f 139001"},
      {"QuantizeLinear X s z -> Y axis=1 | DequantizeLinear Y s z -> Z axis=1",
       "X f 61,40,57; s p 40; z u 40"},
      // Quantized tensors.
      {"Int8Quantize X -> Q Y_scale=0.01 Y_zero_point=120 | Int8MaxPool Q -> P Y_scale=0.01 "
       "Y_zero_point=120 kernel=3 "
       "stride=2 order=NHWC | Int8Dequantize P -> Y",
       "X f 3,41,43,17", 0, -1},
      {"Int8Quantize X -> Q Y_scale=0.01 Y_zero_point=120 | Int8AveragePool Q -> P Y_scale=0.02 "
       "Y_zero_point=100 "
       "kernel=3 stride=2 order=NHWC | Int8Dequantize P -> Y",
       "X f 3,41,43,17", 0, -1},
      {"Int8Quantize X -> Q Y_scale=0.01 Y_zero_point=120 | Int8Relu Q -> P Y_scale=0.01 "
       "Y_zero_point=120 | "
       "Int8Dequantize P -> Y",
       "X f 139001", 0, -1},
      // Updates of parameters.
      {"Adam w m v g r t -> w m v s",
       "w f 139001; m f 139001; v p 139001; g f 139001; r f 1; t l 1 = 3", 0, 1e-4},
      {"Adagrad w m g r -> w m e u decay=0.9 weight_decay=0.1",
       "w f 139001; m p 139001; g f 139001; r f 1", 0, 1e-4},
      {"Adadelta w m d g r -> w m d", "w f 139001; m p 139001; d p 139001; g f 139001; r f 1", 0,
       1e-4},
      {"RmsProp g m o r -> g m o momentum=0.4", "g f 139001; m p 139001; o f 139001; r f 1", 0,
       1e-4},
      {"MomentumSGDUpdate g m r w -> g m w momentum=0.9 nesterov=1",
       "g f 139001; m f 139001; r f 1; w f 139001"},
      {"MomentumSGD g m r -> g m momentum=0.9", "g f 139001; m f 139001; r f 1"},
      {"Ftrl w n g -> w n", "w f 139001; n p 139001,2; g f 139001", 0, 1e-4},
      {"SparseAdagrad w m I g r -> w m",
       "w f 900,151; m p 900,151; I l 600 <900; g f 600,151; r f 1", 0, -1},
  };
  return calls;
}

}  // namespace caffe2rt::test
