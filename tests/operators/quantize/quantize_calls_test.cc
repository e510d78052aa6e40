// Whole messages of the operators of this folder, values next to the bounds, and inferred shapes.
#include <gtest/gtest.h>

#include "tests/operators/common/call_tables.h"

namespace caffe2rt::test::quantize_calls_test {
namespace {

TEST(QuantizeRefusalsTest, OfConvolutionsNameShapes) {
  const std::string conv = "ConvInteger X W -> Y";
  ExpectRejected({
      {conv, "X u 1,2,4; W u 3,2,2,2",
       "rank of the filter W of shape [3, 2, 2, 2], want that of input 0 (X) of shape [1, 2, 4] "
       "(got "
       "4, want 3)"},
      {conv, "X u 1,2; W u 3,2", "input 0 (X) has shape [1, 2], want at least one spatial axis"},
      {conv + " kernel_shape=3,", "X u 1,2,4; W u 3,2,2",
       "argument kernel_shape is [3], want [2] as the filter W of shape [3, 2, 2]"},
      {conv, "X u 1,2,4; W u 3,1,2",
       "the filter W has shape [3, 1, 2], want [M, 2 / 1, ...] for the channels of input 0 (X), "
       "and M "
       "divisible by 1 groups"},
      {conv + " group=2", "X u 1,3,4; W u 2,1,2",
       "the filter W has shape [2, 1, 2], want [M, 3 / 2, ...] for the channels of input 0 (X), "
       "and M "
       "divisible by 2 groups"},
      {conv + " group=2", "X u 1,2,4; W u 3,1,2",
       "the filter W has shape [3, 1, 2], want [M, 2 / 2, ...] for the channels of input 0 (X), "
       "and M "
       "divisible by 2 groups"},
      {conv + " group=0", "X u 1,2,4; W u 3,2,2", "argument \"group\" is 0, want above 0"},
      {conv, "X f 1,2,4; W u 3,2,2",
       "Unsupported type of tensor: input 0 (X) has elements of type float, want uint8, int8"},
      {conv, "X u 1,2,4; W i 3,2,2",
       "Unsupported type of tensor: the filter W has elements of type int32, want uint8, int8"},
      {conv, "X u 1,2,4; W u 3,2,5",
       "windows of spatial axis 0 span 5 elements, want at most the 4 elements of input 0 with "
       "padding "
       "0 and 0"},
      {"ConvInteger X W a -> Y", "X u 1,2,4; W u 3,2,2; a u 2",
       "input 2 (x_zero_point) has shape [2], want one element"},
      {"ConvInteger X W a -> Y", "X u 1,2,4; W u 3,2,2; a c 1",
       "input 2 (x_zero_point) has elements of type int8, want uint8"},
      {"ConvInteger X W b -> Y omitted_inputs=2,", "X u 1,2,4; W u 3,2,2; b u 2",
       "input 2 (w_zero_point) has shape [2], want one element or one for each output channel"},
      {"ConvInteger X W a b -> Y", "X u 1,2,4; W c 3,2,2; a u 1; b u 3",
       "input 3 (w_zero_point) has elements of type uint8, want int8"},
  });
}

TEST(QuantizeRefusalsTest, OfQuantizedConvolutionsNameScalesAndTheBias) {
  const std::string conv = "QLinearConv X p a W q b r z -> Y", of_x = "X u 1,2,4; p f ",
                    of_w = "; W u 3,2,2; q f ";
  ExpectRejected({
      {conv, of_x + "2; a u 1" + of_w + "1; b u 1; r f 1; z u 1",
       "input 1 (x_scale) has shape [2], want one element"},
      {conv, of_x + "1; a u 2" + of_w + "1; b u 1; r f 1; z u 1",
       "input 2 (x_zero_point) has shape [2], want one element"},
      {conv, of_x + "1; a u 1" + of_w + "2; b u 1; r f 1; z u 1",
       "input 4 (w_scale) has shape [2], want one element or one for each output channel"},
      {conv, of_x + "1; a u 1" + of_w + "3; b u 2; r f 1; z u 1",
       "input 5 (w_zero_point) has shape [2], want one element or one for each output channel"},
      {conv, of_x + "1; a u 1" + of_w + "3; b u 3; r f 2; z u 1",
       "input 6 (y_scale) has shape [2], want one element"},
      {conv, of_x + "1; a u 1" + of_w + "3; b u 3; r f 1 = 0; z u 1",
       "input 6 (y_scale) is 0, want a finite number other than 0"},
      {conv, of_x + "1; a u 1" + of_w + "3; b u 3; r f 1; z u 2",
       "input 7 (y_zero_point) has shape [2], want one element"},
      {conv, of_x + "1; a u 1" + of_w + "3; b u 3; r f 1; z i 1",
       "Unsupported type of tensor: input 7 (y_zero_point) has elements of type int32, want uint8, "
       "int8"},
      {"QLinearConv X p a W q b r z B -> Y",
       of_x + "1; a u 1" + of_w + "3; b u 3; r f 1; z u 1; B i 2",
       "input 8 (B) has shape [2], want [3]"},
      {"QLinearConv X p a W q b r z B -> Y",
       of_x + "1; a u 1" + of_w + "3; b u 3; r f 1; z u 1; B i 4",
       "input 8 (B) has shape [4], want [3]"},
  });
}

TEST(QuantizeRefusalsTest, OfLinearOnesNameScales) {
  const std::string quantize = "QuantizeLinear X s -> Y", back = "DequantizeLinear X s -> Y";
  const std::string scale =
      ", want one element, or [3] for axis 1 of input 0 (X); blocks need the "
      "argument block_size";
  ExpectRejected({
      {quantize, "X f 2,3; s f 2", "input 1 (scale) has shape [2]" + scale},
      {quantize, "X f 2,3; s f 1,3", "input 1 (scale) has shape [1, 3]" + scale},
      {back, "X u 2,3; s f 2", "input 1 (scale) has shape [2]" + scale},
      {quantize + " axis=2", "X f 2,3; s f 3",
       "argument axis is 2, want -2 to 1 for input 0 (X) of shape [2, 3]"},
      {back + " axis=-3", "X u 2,3; s f 3",
       "argument axis is -3, want -2 to 1 for input 0 (X) of shape [2, 3]"},
      {quantize + " block_size=2", "X f 2,3; s f 2",
       "axes of input 1 (scale) with block_size 2, want those of input 0 (X) of shape [2, 3] (got "
       "1, "
       "want 2)"},
      {quantize + " block_size=2", "X f 2,3; s f 2,1",
       "input 1 (scale) of shape [2, 1]: axis 1, want that of input 0 (X) of shape [2, 3] in "
       "blocks of 2 "
       "(got 1, want 2)"},
      {quantize + " block_size=3 axis=0", "X f 2,3; s f 1,2",
       "input 1 (scale) of shape [1, 2]: axis 1, want that of input 0 (X) of shape [2, 3] in "
       "blocks of 3 "
       "(got 2, want 3)"},
      {quantize + " block_size=-1", "X f 2,3; s f 1",
       "argument \"block_size\" is -1, want at least 0"},
      {quantize + " output_dtype=1", "X f 2,3; s f 1",
       "argument \"output_dtype\" is 1, want UINT8, INT8, UINT16 or INT16"},
      {back + " output_dtype=2", "X u 2,3; s f 1", "argument \"output_dtype\" is 2, want FLOAT"},
      {quantize, "X f 2,3; s f 3 = 1,2,0",
       "input 1 (scale) is 0 at element 2, want a finite number other than 0"},
      {quantize, "X f 2,3; s f 3 = 1,inf,2",
       "input 1 (scale) is inf at element 1, want a finite number other than 0"},
      {quantize, "X d 2,3; s f 1",
       "Unsupported type of tensor: input 0 (X) has elements of type double, want float, int32"},
      {back, "X f 2,3; s f 1",
       "Unsupported type of tensor: input 0 (X) has elements of type float, want uint8, int8, "
       "uint16, int16, int32"},
      {quantize, "X f 2,3; s d 1", "the tensor holds elements of type double, want float"},
      {"QuantizeLinear X s z -> Y", "X f 2,3; s f 3 = 1; z u 2",
       "input 2 (zero_point) has shape [2], want [3] as input 1 (scale)"},
      {"QuantizeLinear X s z -> Y", "X f 2,3; s f 1; z u 2",
       "input 2 (zero_point) has shape [2], want [1] as input 1 (scale)"},
      {"QuantizeLinear X s z -> Y output_dtype=7", "X f 2,3; s f 1; z u 1",
       "input 2 (zero_point) has elements of type uint8, want int8 as the argument output_dtype "
       "says"},
      {"QuantizeLinear X s z -> Y", "X f 2,3; s f 1; z i 1",
       "Unsupported type of tensor: input 2 (zero_point) has elements of type int32, want uint8, "
       "int8, uint16, int16"},
      {"DequantizeLinear X s z -> Y", "X u 2,3; s f 1; z c 1",
       "the tensor holds elements of type int8, want uint8"},
      {"DequantizeLinear X s z -> Y", "X u 2,3; s f 3; z u 1,3",
       "input 2 (zero_point) has shape [1, 3], want [3] as input 1 (scale)"},
      {"DynamicQuantizeLinear X -> Y s z", "X f 2 = -1,inf",
       "input 0 (X) has elements from -1 to inf, want a finite range"},
      {"DynamicQuantizeLinear X -> Y s z", "X f 2 = -3e38,3e38",
       "input 0 (X) has elements from -3e+38 to 3e+38, want a finite range"},
      {"DynamicQuantizeLinear X -> Y s z", "X d 2",
       "the tensor holds elements of type double, want float"},
      {"ONNXNarrow X -> Y format=int5", "X f 1",
       "argument \"format\" is \"int5\", want the name of a format"},
      {"ONNXNarrow X -> Y", "X f 1", "argument \"format\" is required but missing"},
      {"ONNXNarrow X -> Y format=int4 round_mode=away", "X f 1",
       "argument \"round_mode\" is \"away\", want up, down or nearest"},
      {"ONNXNarrow X -> Y format=int4", "X d 1",
       "the tensor holds elements of type double, want float"},
  });
}

TEST(QuantizeRefusalsTest, OfMatricesNameShapes) {
  const std::string q = "QLinearMatMul A p a B q b r z -> Y";
  const auto inputs = [](const char* p, const char* a, const char* qs, const char* b, const char* r,
                         const char* z) {
    return std::string("A u 2,3; p f ") + p + "; a u " + a + "; B u 3,4; q f " + qs + "; b u " + b +
           "; r f " + r + "; z u " + z;
  };
  ExpectRejected({
      {"MatMulInteger A B -> Y", "A u 2,3; B u 4,3",
       "rows of input 1 (B) of shape [4, 3], want the columns of input 0 (A) of shape [2, 3] (got "
       "4, "
       "want 3)"},
      {"MatMulInteger A B -> Y", "A i 2,3; B u 3,4",
       "Unsupported type of tensor: input 0 (A) has elements of type int32, want uint8, int8"},
      {"MatMulInteger A B -> Y", "A u 2,3; B i 3,4",
       "Unsupported type of tensor: input B has elements of type int32, want uint8, int8"},
      {"MatMulInteger A B a -> Y", "A u 2,3; B u 3,4; a u 3",
       "input 2 (a_zero_point) has shape [3], want one element or 2"},
      {"MatMulInteger A B b -> Y omitted_inputs=2,", "A u 2,3; B u 3,4; b u 3",
       "input 2 (b_zero_point) has shape [3], want one element or 4"},
      {"MatMulInteger A B a b -> Y", "A u 2,3; B u 3,4; a u 1; b c 1",
       "input 3 (b_zero_point) has elements of type int8, want uint8"},
      {q, inputs("3", "1", "1", "1", "1", "1"),
       "input 1 (a_scale) has shape [3], want one element or 2"},
      {q, inputs("1", "1", "3", "1", "1", "1"),
       "input 4 (b_scale) has shape [3], want one element or 4"},
      {q, inputs("1", "1", "1", "1", "2", "1"),
       "input 6 (y_scale) has shape [2], want one element or 1"},
      {q, inputs("1", "1", "1", "1", "1", "2"),
       "input 7 (y_zero_point) has shape [2], want one element or 1"},
      {q, inputs("1", "1", "1", "1", "1 = 0", "1"),
       "input 6 (y_scale) is 0, want a finite number other than 0"},
      {q, inputs("1", "1", "1", "1", "1 = inf", "1"),
       "input 6 (y_scale) is inf, want a finite number other than 0"},
  });
}

TEST(QuantizeRefusalsTest, OfRowsNameWhatTheyLack) {
  const std::string bytes =
      "bytes of a row of input 0, want at least those of scale and bias (got ";
  ExpectRejected({
      {"FloatToFused8BitRowwiseQuantized X -> Y", "X f -",
       "rank of input 0 (input): got 0, want at least 1"},
      {"FloatToFused8BitRowwiseQuantized X -> Y", "X f 2,0",
       "size of the last dimension of input 0 (input): got 0, want at least 1"},
      {"Fused8BitRowwiseQuantizedToFloat X -> Y", "X u -",
       "rank of input 0 (scale_bias_quantized_input): got 0, want at least 1"},
      {"Fused8BitRowwiseQuantizedToFloat X -> Y", "X u 2,7", bytes + "7, want at least 8)"},
      {"Fused8BitRowwiseQuantizedHalfScaleBiasToFloat X -> Y", "X u 2,3",
       bytes + "3, want at least 4)"},
      {"GatherFused8BitRowwise X I -> Y", "X u 9; I i 1",
       "rank of input 0 (DATA) of shape [9]: got 1, want 2"},
      {"GatherFused8BitRowwise X I -> Y", "X u 1,9; I i 1,1",
       "rank of input 1 (INDICES) of shape [1, 1]: got 2, want 1"},
      {"GatherFused8BitRowwise X I -> Y", "X u 1,7; I i 1", bytes + "7, want at least 8)"},
      {"GatherFused8BitRowwise X I -> Y", "X u 2,9; I l 2 = 1,2",
       "element 1 of input 1 (INDICES) is 2, want at least 0 and less than 2, the rows of input 0 "
       "(DATA)"},
      {"GatherFused8BitRowwise X I -> Y", "X u 2,9; I i 1 = -1",
       "element 0 of input 1 (INDICES) is -1, want at least 0 and less than 2, the rows of input 0 "
       "(DATA)"},
      {"FloatToRowwiseQuantized8Bits X -> Y s", "X f 2,0",
       "input 0 (input) has shape [2, 0], want rows with elements"},
      {"FloatToRowwiseQuantized8Bits X -> Y s", "X f -",
       "rank of input 0 (input): got 0, want at least 1"},
      {"Rowwise8BitQuantizedToFloat X s -> Y", "X u -; s f 1,2",
       "rank of input 0 (quantized_input): got 0, want at least 1"},
      {"Rowwise8BitQuantizedToFloat X s -> Y", "X u 2,3; s f 2,3",
       "input 1 (scale_bias) has shape [2, 3], want [2, 2]: a scale and a bias for each row of "
       "input 0 "
       "of shape [2, 3]"},
      {"Rowwise8BitQuantizedToFloat X s -> Y", "X u 2,3; s f 4",
       "input 1 (scale_bias) has shape [4], want [2, 2]: a scale and a bias for each row of input "
       "0 of "
       "shape [2, 3]"},
      {"SparseLengthsSumFused8BitRowwise X I L -> Y", "X u 1,2,9; I i 1 = 0; L i 1 = 1",
       "input 0 (DATA) has shape [1, 2, 9], want a matrix"},
      {"SparseLengthsSum8BitsRowwise X I L s -> Y", "X u -; I i 1 = 0; L i 1 = 1; s f 1,2",
       "input 0 (DATA) has shape [], want rows"},
      {"SparseLengthsWeightedSumFused8BitRowwise X w I L -> Y",
       "X u 2,9; w f 1; I i 1,1 = 0; L i 1 = 1",
       "rank of input 2 (INDICES) of shape [1, 1]: got 2, want 1"},
      {"SparseLengthsWeightedMean8BitsRowwise X w I L s -> Y",
       "X u 2,9; w f 1; I i 1 = 0; L i 1,1 = 1; s f 2,2",
       "rank of input 3 (LENGTHS) of shape [1, 1]: got 2, want 1"},
      {"SparseLengthsWeightedSum8BitsRowwise X w I L s -> Y",
       "X u 2,9; w f 2; I i 1 = 0; L i 1 = 1; s f 2,2",
       "input 1 (weights) has shape [2], want one for each of the 1 elements of INDICES"},
      {"SparseLengthsWeightedSumFused8BitRowwise X w I L -> Y",
       "X u 2,9; w f 1,1; I i 1 = 0; L i 1 = 1",
       "input 1 (weights) has shape [1, 1], want one for each of the 1 elements of INDICES"},
      {"SparseLengthsMean8BitsRowwise X I L s -> Y", "X u 2,9; I i 1 = 0; L i 1 = 1; s f 3,2",
       "input 3 (scale_bias) has shape [3, 2], want [2, 2]: a scale and a bias for each row of "
       "input 0 "
       "of shape [2, 9]"},
      {"Rowwise8BitQuantizedToFloat X s -> Y", "X u 2,3; s f 3,2",
       "input 1 (scale_bias) has shape [3, 2], want [2, 2]: a scale and a bias for each row of "
       "input 0 "
       "of shape [2, 3]"},
      {"SparseLengthsWeightedMean8BitsRowwise X w I L s -> Y",
       "X u 2,9; w f 1; I i 1 = 0; L i 1 = 1; s f 1,2",
       "input 4 (scale_bias) has shape [1, 2], want [2, 2]: a scale and a bias for each row of "
       "input 0 "
       "of shape [2, 9]"},
      {"SparseLengthsMeanFused8BitRowwise X I L -> Y", "X u 2,9; I i 2 = 0; L i 2 = 1,2",
       "sum of the lengths, want the elements of INDICES (got 3, want 2)"},
      {"SparseLengthsMeanFused8BitRowwise X I L -> Y", "X u 2,9; I i 1 = 0; L i 2 = 2,-1",
       "element 1 of LENGTHS, want at least 0 (got -1, want at least 0)"},
      {"SparseLengthsMean8BitsRowwise X I L s -> Y", "X u 2,3; I i 1 = 2; L i 1 = 1; s f 2,2",
       "element 0 of INDICES is 2, want at least 0 and less than 2, the rows of input 0 (DATA)"},
      {"SparseLengthsSum8BitsRowwise X I L s -> Y", "X u 2,3; I f 1 = 2; L i 1 = 1; s f 2,2",
       "Unsupported type of tensor: INDICES has elements of type float, want int32, int64"},
  });
}

TEST(QuantizeCallsTest, KeepsValuesNextToTheBounds) {
  ExpectResults({
      // Halves go to even numbers; the ends of each type hold.
      {"QuantizeLinear X s -> Y", "X f 6 = 0.5,1.5,2.5,254.5,255.5,-1; s f - = 1",
       "Y u 6 = 0,2,2,254,255,0"},
      {"QuantizeLinear X s -> Y output_dtype=7", "X f 5 = 0.5,-0.5,127.5,-128.5,-129; s f 1 = 1",
       "Y c 5 = 0,0,127,-128,-128"},
      {"QuantizeLinear X s z -> Y", "X i 2,2 = 3,5,-3,300; s f 2 = 2,-1; z u 2 = 10,20",
       "Y u 2,2 = 12,15,8,0"},
      {"QuantizeLinear X s -> Y axis=0", "X f 2,2 = 1,2,3,4; s f 2 = 1,0.5", "Y u 2,2 = 1,2,6,8"},
      // Blocks of two along the last axis, the last one shorter.
      {"QuantizeLinear X s -> Y block_size=2", "X f 2,3 = 1,2,3,4,5,6; s f 2,2 = 1,0.5,0.25,0.125",
       "Y u 2,3 = 1,2,6,16,20,48"},
      {"DequantizeLinear X s z -> Y block_size=2 axis=0",
       "X u 3,2 = 1,2,3,4,5,6; s f 2,2 = 1,10,2,20; z u 2,2 = 0,1,2,3", "Y f 3,2 = 1,10,3,30,6,60"},
      {"DequantizeLinear X s z -> Y axis=-1", "X c 2,2 = -128,127,0,1; s f 2 = 1,2; z c 2 = -1,1",
       "Y f 2,2 = -127,252,1,0"},
      {"DequantizeLinear X s -> Y", "X i 2 = 16777216,-3; s f - = 0.5", "Y f 2 = 8388608,-1.5"},
      // Differences of integers that floats do not hold, and that exceed 32 bits.
      {"DequantizeLinear X s z -> Y", "X i 2 = 16777217,-2147483648; s f - = 0.5; z i - = 16777216",
       "Y f 2 = 0.5,-1082130432"},
      {"DequantizeLinear X s z -> Y",
       "X i 1,2 = 16777217,-2147483648; s f 2 = 1,0.5; z i 2 = 16777216,2147483647",
       "Y f 1,2 = 1,-2147483648"},
      {"DequantizeLinear X s -> Y", "X u 0,3; s f 3", "Y f 0,3"},
      {"DynamicQuantizeLinear X -> Y s z", "X f 3 = -1,0,1.55",
       "Y u 3 = 0,100,255; s f - = 0.01; z u - = 100"},
      {"DynamicQuantizeLinear X -> Y s z", "X f 2 = 0",
       "Y u 2 = 0; s f - = 0.003921569; z u - = 0"},
      {"DynamicQuantizeLinear X -> Y s z", "X f 0", "Y u 0; s f - = 0.003921569; z u - = 0"},
      {"DynamicQuantizeLinear X -> Y s z", "X f 3 = -2.55,nan,-1",
       "Y u 3 = 0,0,155; s f - = 0.01; z u - = 255"},
      {"MatMulInteger A B a b -> Y", "A u 2,2 = 1,2,3,4; B c 2,1 = -1,5; a u 2 = 1,2; b c 1 = 1",
       "Y i 2,1 = 4,6"},
      {"MatMulInteger A B b -> Y omitted_inputs=2,", "A c 2 = 1,-2; B u 2,2 = 1,2,3,4; b u 2 = 1,4",
       "Y i 2 = -4,-2"},
      {"MatMulInteger A B -> Y", "A u 2,0; B u 0,3", "Y i 2,3 = 0"},
      // [2 4] times [1 1] and [3 3] is 14 and 14, times 0.25 and 0.5 is 3.5, rounded to 4, and 7.
      {"QLinearMatMul A p a B q b r z -> Y",
       "A u 1,2 = 3,5; p f 1 = 0.5; a u 1 = 1; B u 2,2 = 1,2,3,4; q f 2 = 1,2; b u 2 = 0,1; r f 1 "
       "= 2; "
       "z c 1 = -3",
       "Y c 1,2 = 1,4"},
      {"ConvInteger X W a b -> Y pads=1,1",
       "X u 1,1,2 = 3,4; W u 1,1,2 = 1,3; a u 1 = 1; b u 1 = 1", "Y i 1,1,3 = 4,6,0"},
      {"ConvInteger X W -> Y group=2 dilations=2,",
       "X c 1,2,3 = 1,2,-3,4,5,6; W c 4,1,2 = 1,-1,2,0,0,3,1,1", "Y i 1,4,1 = 4,2,18,10"},
      {"ConvInteger X W -> Y group=1 strides=2,", "X u 1,2,3 = 1,2,3,4,5,6; W u 1,2,1 = 1,10",
       "Y i 1,1,2 = 41,63"},
      {"ConvInteger X W -> Y", "X u 0,1,3; W u 1,1,2", "Y i 0,1,2"},
      {"QLinearConv X p a W q b r z B -> Y",
       "X u 1,1,2 = 3,4; p f 1 = 0.5; a u 1 = 1; W c 2,1,1 = 1,-2; q f 2 = 1,0.5; b c 2 = 0,1; r f "
       "1 = "
       "0.25; z u 1 = 10; B i 2 = 1,2",
       "Y u 1,2,2 = 16,18,6,3"},
      // Integers keep their lowest bits.
      {"ONNXNarrow X -> Y format=int4", "X f 5 = 7.9,8,-8,-9,1.9", "Y c 5 = 7,-8,-8,7,1"},
      {"ONNXNarrow X -> Y format=uint4", "X f 3 = 15,16,-1", "Y u 3 = 15,0,15"},
      {"ONNXNarrow X -> Y format=float8e8m0", "X f 3 = 2.5,3,4", "Y f 3 = 4,4,4"},
      {"ONNXNarrow X -> Y format=float8e8m0 round_mode=nearest", "X f 2 = 2.5,3.5", "Y f 2 = 2,4"},
      {"ONNXNarrow X -> Y format=float8e8m0 round_mode=down", "X f 2 = 3,4", "Y f 2 = 2,4"},
      // A row's scale is its range over 255.
      {"FloatToFused8BitRowwiseQuantized X -> x | Fused8BitRowwiseQuantizedToFloat x -> Y",
       "X f 2,2 = 1,52,7,7", "Y f 2,2 = 1,52,7,7"},
      {"FloatToFused8BitRowwiseQuantizedHalfScaleBias X -> x | "
       "Fused8BitRowwiseQuantizedHalfScaleBiasToFloat x -> Y",
       "X f 1,2 = 1,256", "Y f 1,2 = 1,256"},
      {"FloatToRowwiseQuantized8Bits X -> x s", "X f 3,2 = 1,256,7,7,0,102",
       "x u 3,2 = 0,255,0,0,0,255; s f 3,2 = 1,1,1,7,0.4,0"},
      // Away from zero: 0.5 is 1, and 1.5 is 2.
      {"FloatToRowwiseQuantized8Bits X -> x s", "X f 1,4 = 0,0.5,2.5,255",
       "x u 1,4 = 0,1,3,255; s f 1,2 = 1,0"},
      {"FloatToFused8BitRowwiseQuantized X -> x | GatherFused8BitRowwise x I -> Y",
       "X f 2,1 = 3,5; I l 3 = 1,0,1", "Y f 3,1 = 5,3,5"},
      {"FloatToFused8BitRowwiseQuantized X -> x | SparseLengthsMeanFused8BitRowwise x I L -> Y",
       "X f 2,1 = 3,5; I i 2 = 1,0; L i 3 = 0,2,0", "Y f 3,1 = 0,4,0"},
      {"SparseLengthsWeightedMean8BitsRowwise X w I L s -> Y",
       "X u 2,1,2 = 1,2,3,4; w f 3 = 1,10,100; I i 3 = 0,1,1; L i 2 = 1,2; s f 2,2 = 1,0,2,1",
       "Y f 2,1,2 = 1,2,385,495"},
      {"SparseLengthsWeightedSum8BitsRowwise X w I L s -> Y",
       "X u 2,1 = 1,3; w f 2 = 1,10; I l 2 = 0,1; L i 1 = 2; s f 2,2 = 1,0,2,1", "Y f 1,1 = 71"},
  });
}

// Fused rows that hold a scale and a bias alone have no elements.
TEST(QuantizeCallsTest, AcceptsRowsWithoutElements) {
  ExpectResults({
      {"Fused8BitRowwiseQuantizedToFloat X -> Y", "X u 2,8", "Y f 2,0"},
      {"Fused8BitRowwiseQuantizedHalfScaleBiasToFloat X -> Y", "X u 3,2,4", "Y f 3,2,0"},
      {"Fused8BitRowwiseQuantizedHalfScaleBiasToHalfFloat X -> Y", "X u 4", "Y f 0"},
      {"GatherFused8BitRowwise X I -> Y", "X u 2,8; I i 3 = 1,0,1", "Y f 3,0"},
      {"SparseLengthsSumFused8BitRowwise X I L -> Y", "X u 2,8; I l 1 = 1; L i 2 = 0,1", "Y f 2,0"},
      {"SparseLengthsMean8BitsRowwise X I L s -> Y", "X u 2,0; I i 2 = 1,1; L i 1 = 2; s f 2,2",
       "Y f 1,0"},
      {"Rowwise8BitQuantizedToFloat X s -> Y", "X u 2,0; s f 2,2", "Y f 2,0"},
      {"GatherFused8BitRowwise X I -> Y", "X u 0,11; I i 0", "Y f 0,3"},
      {"SparseLengthsSumFused8BitRowwise X I L -> Y", "X u 0,11; I i 0; L i 2 = 0", "Y f 2,3 = 0"},
  });
}

TEST(QuantizeCallsTest, ReadsTheParametersOfEachOutputChannel) {
  ExpectResults({
      // [10, 20] times 1 - 1 and -2 + 4.
      {"ConvInteger X W a b -> Y", "X u 1,1,2 = 10,20; W c 2,1,1 = 1,-2; a u 1 = 0; b c 2 = 1,-4",
       "Y i 1,2,2 = 0,0,20,40"},
      // Two output channels of each group: 10 times 1 and 2, 20 times 3 and 4; and of 1 and 3 groups.
      {"ConvInteger X W -> Y group=2", "X u 1,2,1 = 10,20; W u 4,1,1 = 1,2,3,4",
       "Y i 1,4,1 = 10,20,60,80"},
      {"ConvInteger X W a b -> Y group=3",
       "X c 1,3,1 = 10,20,30; W u 6,1,1 = 1,2,3,4,5,6; a c 1 = 5; b u 6 = 0,1,2,3,4,5",
       "Y i 1,6,1 = 5,5,15,15,25,25"},
      {"QLinearConv X p a W q b r z -> Y",
       "X u 1,1,1 = 10; p f 1 = 1; a u 1 = 0; W u 70,1,1 = 1; q f 70 = 1,2; b u 1 = 0; r f 1 = 1; "
       "z u 1 = 3",
       "Y u 1,70,1 = 13,23"},
      {"QLinearConv X p a W q b r z B -> Y",
       "X u 2,1,1 = 10,20; p f 1 = 0.5; a u 1 = 4; W c 3,1,1 = 1,-2,3; q f 3 = 1,2,4; b c 3 = "
       "0,1,-1; "
       "r f 1 = 2; z c 1 = 3; B i 3 = 2,0,-8",
       "Y c 2,3,1 = 5,-6,19,7,-21,59"},
  });
}

TEST(QuantizeCallsTest, QuantizesRowsOfSmallRangesAndRoundedScales) {
  ExpectResults({
      // The range counts as 1e-8 more: 255 * 3 / 4 is 191 steps of 3e-8 / 255.
      {"FloatToFused8BitRowwiseQuantized X -> x | Fused8BitRowwiseQuantizedToFloat x -> Y",
       "X f 1,2 = 0,3e-8", "Y f 1,2 = 0,2.247059e-8", 1e-12},
      // A constant row has the scale 0 and the steps of scale 1 from its rounded bias.
      {"FloatToFused8BitRowwiseQuantizedHalfScaleBias X -> Y", "X f 2,2 = 2049,2049,3,3",
       "Y u 2,6 = 1,1,0,0,0,104,0,0,0,0,0,66"},
      {"FloatToRowwiseQuantized8Bits X -> Y s", "X f 0,0", "Y u 0,0; s f 0,2"},
      {"FloatToRowwiseQuantized8Bits X -> Y s", "X f 0,3,2", "Y u 0,3,2; s f 0,2"},
      // Below a range of 1e-10 the scale is 1.
      {"FloatToRowwiseQuantized8Bits X -> x s", "X f 2,2 = 0,1e-11,0,1e-9",
       "x u 2,2 = 0,0,0,255; s f 2,2 = 1,0,3.921569e-12,0", 1e-15},
      // The scale is 1, the bias 2049 becomes 2048 as a float16; steps count from there.
      {"FloatToFused8BitRowwiseQuantizedHalfScaleBias X -> Y", "X f 1,2 = 2049,2304",
       "Y u 1,6 = 1,255,0,60,0,104"},
  });
}

TEST(QuantizeCallsTest, InfersShapesAndTypes) {
  ExpectInferred({
      {"QuantizeLinear X s -> Y", "X f 2,3; s f 1", "uint8 [2, 3]"},
      {"QuantizeLinear X s -> Y output_dtype=7", "X f 2,3; s f 1", "int8 [2, 3]"},
      {"QuantizeLinear X s z -> Y", "X f 2,3; s f 1; z c 1", "int8 [2, 3]"},
      {"QuantizeLinear X s z -> Y output_dtype=6", "X f 2,3; s f 1; z c 1", "int8 [2, 3]"},
      {"QuantizeLinear X s z -> Y output_dtype=7", "X f 2,3; s f 1; z ?", "? ?"},
      {"DequantizeLinear X s -> Y", "X u 2,3; s f 1", "float [2, 3]"},
      {"DynamicQuantizeLinear X -> Y s z", "X f 2,3", "uint8 [2, 3]; float []; uint8 []"},
      {"MatMulInteger A B -> Y", "A u 5,2,3; B u 3,4", "int32 [5, 2, 4]"},
      {"ConvInteger X W -> Y strides=2,2", "X u 1,2,5,6; W u 3,2,2,3", "int32 [1, 3, 2, 2]"},
      // The type of the result is that of its zero point, not of what is multiplied.
      {"QLinearMatMul A p a B q b r z -> Y",
       "A u 2,3; p f 1; a u 1; B u 3,4; q f 1; b u 1; r f 1; z c 1", "int8 [2, 4]"},
      {"QLinearMatMul A p a B q b r z -> Y",
       "A c 2,3; p f 1; a c 1; B c 3,4; q f 1; b c 1; r f 1; z u 1", "uint8 [2, 4]"},
      {"QLinearConv X p a W q b r z -> Y",
       "X u 1,2,4; p f 1; a u 1; W u 3,2,2; q f 1; b u 1; r f 1; z c 1", "int8 [1, 3, 3]"},
      {"QLinearConv X p a W q b r z B -> Y",
       "X c 1,2,4; p f 1; a c 1; W c 3,2,2; q f 1; b c 1; r f 1; z u 1; B i 3", "uint8 [1, 3, 3]"},
      {"MatMulInteger A B -> Y", "A u 0,2,3; B u 1,3,4", "int32 [0, 2, 4]"},
      {"MatMulInteger A B -> Y", "A u 1,2,3; B u 0,3,4", "int32 [0, 2, 4]"},
      {"MatMulInteger A B -> Y", "A u 3; B u 3", "int32 []"},
      {"ONNXNarrow X -> Y format=int2", "X f 2,3", "int8 [2, 3]"},
      {"ONNXNarrow X -> Y format=uint2", "X f 2,3", "uint8 [2, 3]"},
      {"ONNXNarrow X -> Y format=float8e5m2", "X f 2,3", "float [2, 3]"},
      {"FloatToFused8BitRowwiseQuantized X -> Y", "X f 2,3", "uint8 [2, 11]"},
      {"FloatToFused8BitRowwiseQuantizedHalfScaleBias X -> Y", "X f 2,3", "uint8 [2, 7]"},
      {"Fused8BitRowwiseQuantizedToFloat X -> Y", "X u 2,8", "float [2, 0]"},
      {"Fused8BitRowwiseQuantizedToFloat X -> Y", "X u 2,7", "? ?"},
      {"Fused8BitRowwiseQuantizedHalfScaleBiasToHalfFloat X -> Y", "X u 2,8", "float [2, 4]"},
      {"Fused8BitRowwiseQuantizedToFloat X -> Y", "X u -", "? ?"},
      {"GatherFused8BitRowwise X I -> Y", "X u 2,9; I i 3", "float [3, 1]"},
      {"GatherFused8BitRowwise X I -> Y", "X u 2,7; I i 3", "? ?"},
      {"GatherFused8BitRowwise X I -> Y", "X u 2,9; I i 3,1", "? ?"},
      {"FloatToRowwiseQuantized8Bits X -> Y s", "X f 2,3,4", "uint8 [2, 3, 4]; float [2, 2]"},
      {"FloatToRowwiseQuantized8Bits X -> Y s", "X f -", "? ?; ? ?"},
      {"Rowwise8BitQuantizedToFloat X s -> Y", "X u 2,3; s f 2,2", "float [2, 3]"},
      {"SparseLengthsSumFused8BitRowwise X I L -> Y", "X u 2,9; I i 3; L i 4", "float [4, 1]"},
      {"SparseLengthsSumFused8BitRowwise X I L -> Y", "X u 2,7; I i 3; L i 4", "? ?"},
      {"SparseLengthsSumFused8BitRowwise X I L -> Y", "X u 2,3,9; I i 3; L i 4", "? ?"},
      {"SparseLengthsSumFused8BitRowwise X I L -> Y", "X u 9; I i 3; L i 4", "? ?"},
      {"SparseLengthsSum8BitsRowwise X I L s -> Y", "X u 2,3,9; I i 3; L i 4", "float [4, 3, 9]"},
      {"SparseLengthsWeightedSum8BitsRowwise X w I L s -> Y", "X u 2,9; w f 3; I i 3; L i 4",
       "float [4, 9]"},
      {"SparseLengthsSum8BitsRowwise X I L s -> Y", "X u 2,9; I i 3; L i 4,1", "? ?"},
  });
}

}  // namespace
}  // namespace caffe2rt::test::quantize_calls_test
