// Whole messages of the operators of this folder, values next to the bounds, and inferred shapes.
#include <gtest/gtest.h>

#include "operators/signal/fourier_transform.h"
#include "tests/operators/common/call_tables.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"

namespace caffe2rt::test::signal_calls_test {
namespace {

TEST(SignalRefusalsTest, OfDftNameShapesAndAxes) {
  const std::string shape = ", want at least two axes, the last of size 1 (real) or 2 (complex)";
  const std::string axis = ", want -3 to 1 but the last axis of input 0 (X) of shape [1, 4, 1]";
  const char* const scalars = "X f 1,4,1; n l - = 4; a l - = ";
  ExpectRejected({
      {"DFT X -> Y", "X f 2", "input 0 (X) has shape [2]" + shape},
      {"DFT X -> Y", "X f 2,3", "input 0 (X) has shape [2, 3]" + shape},
      {"DFT X -> Y", "X f 2,0", "input 0 (X) has shape [2, 0]" + shape},
      {"DFT X -> Y", "X i 2,1",
       "Unsupported type of tensor: input 0 (X) has elements of type int32, want float, double"},
      {"DFT X n -> Y", "X f 1,4,1; n l 2",
       "elements of input 1 (dft_length) of shape [2]: got 2, want 1"},
      {"DFT X n -> Y", "X f 1,4,1; n f 1",
       "Unsupported type of tensor: input 1 (dft_length) has elements of type float, want int64, "
       "int32"},
      {"DFT X n a -> Y", "X f 1,4,1; n l 1 = 4; a l 0",
       "elements of input 2 (axis) of shape [0]: got 0, want 1"},
      {"DFT X a -> Y omitted_inputs=1,", "X f 1,4,1; a l 2",
       "elements of input 2 (axis) of shape [2]: got 2, want 1"},
  });
  for (const int value : {-4, -1, 2, 3}) {
    const std::string inputs = scalars + std::to_string(value);
    ExpectRejected(
        {{"DFT X n a -> Y", inputs, "input 2 (axis) is " + std::to_string(value) + axis}});
  }
}

TEST(SignalRefusalsTest, OfDftNameTheLength) {
  ExpectRejected({
      {"DFT X n -> Y", "X f 1,4,1; n l - = 0",
       "length of a Fourier transform is 0, want 1 to 2^26"},
      {"DFT X n -> Y", "X f 1,4,1; n i - = 67108865",
       "length of a Fourier transform is 67108865, want 1 to 2^26"},
      {"DFT X -> Y inverse=1 onesided=1", "X f 1,1,2",
       "length of a Fourier transform is 0, want 1 to 2^26"},
      {"DFT X -> Y", "X f 2,0,1", "length of a Fourier transform is 0, want 1 to 2^26"},
  });
}

// A signal of one impulse has a constant spectrum; the first axis is transformed by its number.
TEST(DftCallsTest, TransformsTheFirstAndTheLastAllowedAxis) {
  ExpectResults({
      {"DFT X n a -> Y", "X f 2,2,1 = 1,2,0,0; n l - = 2; a l - = 0",
       "Y f 2,2,2 = 1,0,2,0,1,0,2,0"},
      {"DFT X n a -> Y", "X f 2,2,1 = 1,2,0,0; n l - = 2; a l - = -3",
       "Y f 2,2,2 = 1,0,2,0,1,0,2,0"},
      {"DFT X n a -> Y", "X f 2,2,1 = 1,0,2,0; n l - = 2; a i - = 1",
       "Y f 2,2,2 = 1,0,1,0,2,0,2,0"},
      // Padded from 1 to 3 elements, and half of the spectrum.
      {"DFT X n -> Y onesided=1", "X f 1,1,1 = 5; n l 1 = 3", "Y f 1,2,2 = 5,0,5,0"},
      {"DFT X -> Y", "X f 0,3,1", "Y f 0,3,2"},
      {"DFT X -> Y inverse=1 onesided=1", "X f 0,3,2", "Y f 0,4,1"},
      // A half spectrum that is cut: of 4 elements 3 count for a length of 4, and 2 for one of 3.
      {"DFT X n -> Y inverse=1 onesided=1", "X d 1,4,2 = 4,0,1,2,2,0,9,9; n l - = 4",
       "Y d 1,4,1 = 2,-0.5,1,1.5"},
      {"DFT X n -> Y inverse=1 onesided=1", "X d 1,4,2 = 3,0,3,0,9,9,9,9; n l - = 3",
       "Y d 1,3,1 = 3,0,0"},
      {"DFT X n -> Y inverse=1 onesided=1", "X d 1,4,2 = 5,7,9,9,9,9,9,9; n l - = 1",
       "Y d 1,1,1 = 5"},
      // And one that is padded: 1 + cos(pi k / 4).
      {"DFT X n -> Y inverse=1 onesided=1", "X d 1,2,2 = 8,0,4,0; n l - = 8",
       "Y d 1,8,1 = 2,1.70710678,1,0.29289322,0,0.29289322,1,1.70710678"},
      // Whole spectra and signals are cut and padded as well.
      {"DFT X n -> Y inverse=1", "X d 1,4,2 = 3,1,1,0,9,9,9,9; n l - = 2",
       "Y d 1,2,2 = 2,0.5,1,0.5"},
      {"DFT X n -> Y", "X d 1,4,1 = 3,1,9,9; n l - = 2", "Y d 1,2,2 = 4,0,2,0"},
      {"DFT X n -> Y onesided=1", "X d 1,4,1 = 3,1,9,9; n l - = 2", "Y d 1,2,2 = 4,0,2,0"},
      {"DFT X n -> Y", "X d 1,2,2 = 1,2,3,4; n l - = 4", "Y d 1,4,2 = 4,6,5,-1,-2,-2,-3,5"},
      // The imaginary part of the first and of the middle element of a half spectrum has no effect.
      {"DFT X -> Y inverse=1 onesided=1", "X d 1,2,2 = 4,9,2,7", "Y d 1,2,1 = 3,1"},
  });
}

TEST(DftCallsTest, InfersShapesWithoutInputsOfSizes) {
  ExpectInferred({
      {"DFT X -> Y", "X d 3,5,1", "double [3, 5, 2]"},
      {"DFT X -> Y onesided=1", "X f 3,5,1", "float [3, 3, 2]"},
      {"DFT X -> Y onesided=1 inverse=1", "X f 3,5,2", "float [3, 8, 1]"},
      {"DFT X -> Y onesided=1 inverse=1", "X f 3,1,2", "float ?"},
      {"DFT X -> Y", "X f 3", "float ?"},
      {"DFT X n -> Y", "X d 3,5,1; n l -", "double ?"},
      {"DFT X -> Y", "X f ?", "? ?"},
  });
}

TEST(FourierTransformTest, HasALengthFromOneOn) {
  FourierTransform transform;
  transform.Make(3);
  EXPECT_EQ(transform.size(), 3);
  ExpectRefusals({
      {[&] { transform.Make(0); }, "length of a Fourier transform is 0, want 1 to 2^26"},
      {[&] { transform.Make(-1); }, "length of a Fourier transform is -1, want 1 to 2^26"},
      {[&] { transform.Make((int64_t{1} << 26) + 1); },
       "length of a Fourier transform is 67108865, want 1 to 2^26"},
  });
  // A rejected length leaves the transform of the last one.
  EXPECT_EQ(transform.size(), 3);
  std::vector<std::complex<double>> x{{1, 0}, {0, 0}, {0, 0}};
  transform.Run(x.data(), false);
  for (const std::complex<double>& value : x) EXPECT_NEAR(std::abs(value - 1.0), 0, 1e-12);
  // From a length that is padded to one that is not, and back.
  for (const int n : {4, 3, 1, 5}) {
    transform.Make(n);
    std::vector<std::complex<double>> ones(static_cast<size_t>(n), 1.0);
    transform.Run(ones.data(), false);
    for (int i = 0; i < n; ++i)
      EXPECT_NEAR(std::abs(ones[static_cast<size_t>(i)] - (i == 0 ? 1.0 * n : 0.0)), 0, 1e-12) << n;
    transform.Run(ones.data(), true);
    for (const std::complex<double>& value : ones) EXPECT_NEAR(std::abs(value - 1.0), 0, 1e-12);
  }
}

TEST(SignalRefusalsTest, OfStftNameFramesAndWindows) {
  const std::string shape = ", want [N, T, 1] (real) or [N, T, 2] (complex)";
  ExpectRejected({
      {"STFT X s w -> Y", "X f 4,1; s l - = 1; w f 2", "input 0 (X) has shape [4, 1]" + shape},
      {"STFT X s w -> Y", "X f 1,4,3; s l - = 1; w f 2", "input 0 (X) has shape [1, 4, 3]" + shape},
      {"STFT X s w -> Y", "X f 1,4,1; s l 2 = 1; w f 2",
       "elements of input 1 (frame_step) of shape [2]: got 2, want 1"},
      {"STFT X s w n -> Y", "X f 1,4,1; s l 1 = 1; w f 2; n i 2",
       "elements of input 3 (frame_length) of shape [2]: got 2, want 1"},
      {"STFT X s -> Y", "X f 1,4,1; s l 1 = 1",
       "neither input 2 (window) nor input 3 (frame_length) is given, want one of them"},
      {"STFT X s w -> Y", "X f 1,4,1; s l 1 = 1; w d 2",
       "the tensor holds elements of type double, want float"},
      {"STFT X s w -> Y", "X f 1,4,1; s l 1 = 0; w f 2",
       "input 1 (frame_step): got 0, want more than 0"},
      {"STFT X s w -> Y", "X f 1,4,1; s l 1 = 1; w f 0",
       "frames have 0 elements, want 1 to the 4 of input 0 (X) of shape [1, 4, 1]"},
      {"STFT X s w -> Y", "X f 1,4,1; s l 1 = 1; w f 5",
       "frames have 5 elements, want 1 to the 4 of input 0 (X) of shape [1, 4, 1]"},
      {"STFT X s w n -> Y", "X f 1,4,1; s l 1 = 1; w f 2; n l - = 3",
       "elements of input 2 (window): got 2, want 3"},
  });
}

TEST(StftCallsTest, ReadsFramesOfTheWholeSignal) {
  ExpectResults({
      // One frame over all elements: their sum and the alternating sum.
      {"STFT X s n -> Y omitted_inputs=2,", "X f 1,2,1 = 3,1; s l - = 7; n l - = 2",
       "Y f 1,1,2,2 = 4,0,2,0"},
      // Frames of one element, of two signals; complex.
      {"STFT X s w -> Y onesided=0", "X d 2,3,2 = 1,2,3,4,5,6,7,8,9,10,11,12; s i - = 2; w d 1 = 2",
       "Y d 2,2,1,2 = 2,4,10,12,14,16,22,24"},
      {"STFT X s w -> Y", "X f 0,4,1; s l - = 1; w f 3", "Y f 0,2,2,2"},
  });
  ExpectInferred({{"STFT X s w -> Y", "X d 1,4,1; s l -; w d 2", "double ?"}});
}

TEST(SignalRefusalsTest, OfWindowsNameTheSize) {
  for (const char* const type : {"HannWindow", "HammingWindow", "BlackmanWindow"}) {
    const std::string op = type + std::string(" n -> Y");
    ExpectRejected({
        {op, "n i - = -1", "input 0 (size): got -1, want at least 0"},
        {op, "n l 2", "elements of input 0 (size) of shape [2]: got 2, want 1"},
        {op, "n f -",
         "Unsupported type of tensor: input 0 (size) has elements of type float, want int64, "
         "int32"},
    });
    ExpectInferred({{op, "n l -", "float ?"}, {(op + " output_datatype=13"), "n l -", "double ?"}});
  }
}

// a0 - a1 cos + a2 cos of the double angle at 0, a half turn and a whole turn.
TEST(WindowCallsTest, EndsAfterItsPeriod) {
  ExpectResults({
      {"HannWindow n -> Y periodic=0", "n l 1 = 3", "Y f 3 = 0,1,0"},
      {"HannWindow n -> Y", "n l 1 = 2", "Y f 2 = 0,1"},
      {"HammingWindow n -> Y periodic=0", "n l 1 = 3", "Y f 3 = 0.08695652,1,0.08695652"},
      {"HammingWindow n -> Y", "n l 1 = 2", "Y f 2 = 0.08695652,1"},
      {"BlackmanWindow n -> Y periodic=0", "n l 1 = 3", "Y f 3 = 0,1,0"},
      {"BlackmanWindow n -> Y", "n l 1 = 4", "Y f 4 = 0,0.34,1,0.34"},
      {"BlackmanWindow n -> Y output_datatype=13", "n l 1 = 1", "Y d 1 = 0"},
      {"HammingWindow n -> Y periodic=0", "n i 1 = 1", "Y f 1 = 0.08695652"},
  });
}

TEST(SignalRefusalsTest, OfMelWeightsNameWhatIsOutOfRange) {
  const auto inputs = [](const char* bins, const char* length, const char* rate, const char* low,
                         const char* high) {
    return std::string("b l - = ") + bins + "; n l - = " + length + "; r i - = " + rate +
           "; l f - = " + low + "; h d - = " + high;
  };
  const struct {
    std::string inputs;
    const char* message;
  } rows[] = {
      {inputs("0", "8", "8", "0", "4"), "input 0 (num_mel_bins) is 0, want 1 to 1073741824"},
      {inputs("1073741825", "8", "8", "0", "4"),
       "input 0 (num_mel_bins) is 1073741825, want 1 to 1073741824"},
      {inputs("1", "0", "8", "0", "4"), "input 1 (dft_length) is 0, want 1 to 1073741824"},
      {inputs("1", "1073741825", "8", "0", "4"),
       "input 1 (dft_length) is 1073741825, want 1 to 1073741824"},
      {inputs("1", "8", "0", "0", "4"), "input 2 (sample_rate): got 0, want more than 0"},
      {inputs("1", "8", "8", "-1", "4"), "input 3 (lower_edge_hertz) is -1, want at least 0"},
      {inputs("1", "8", "8", "inf", "4"), "input 3 (lower_edge_hertz) is inf, want at least 0"},
      {inputs("1", "8", "8", "0", "-0.5"), "input 4 (upper_edge_hertz) is -0.5, want at least 0"},
      {inputs("1", "8", "8", "0", "nan"), "input 4 (upper_edge_hertz) is nan, want at least 0"},
      // Both points of a range without length: 17 * 400 / 800 rounded down is 8, 16 * 500 / 800 is 10.
      {inputs("1", "16", "800", "500", "500"),
       "mel bin 0 is at row 10 of the spectrum, want 0 to 8: input 4 (upper_edge_hertz) must be at "
       "most half of input 2 (sample_rate)"},
  };
  for (const auto& row : rows)
    ExpectRejected({{"MelWeightMatrix b n r l h -> Y", row.inputs, row.message}});
  ExpectRejected({
      {"MelWeightMatrix b n r l h -> Y", "b l 2; n l -; r l -; l f -; h f -",
       "elements of input 0 (num_mel_bins) of shape [2]: got 2, want 1"},
      {"MelWeightMatrix b n r l h -> Y", "b l - = 1; n l 0; r l -; l f -; h f -",
       "elements of input 1 (dft_length) of shape [0]: got 0, want 1"},
      {"MelWeightMatrix b n r l h -> Y", "b l - = 1; n l - = 4; r f -; l f -; h f -",
       "Unsupported type of tensor: input 2 (sample_rate) has elements of type float, want int64, "
       "int32"},
      {"MelWeightMatrix b n r l h -> Y", "b l - = 1; n l - = 4; r l - = 8; l f 2 = 1; h f -",
       "elements of input 3 (lower_edge_hertz) of shape [2]: got 2, want 1"},
      {"MelWeightMatrix b n r l h -> Y", "b l - = 1; n l - = 4; r l - = 8; l f - = 0; h i - = 4",
       "Unsupported type of tensor: input 4 (upper_edge_hertz) has elements of type int32, want "
       "float, double"},
  });
  ExpectResults({{"MelWeightMatrix b n r l h -> Y",
                  "b l - = 1; n l - = 16; r i - = 800; l f - = 400; h d - = 400",
                  "Y f 9,1 = 0,0,0,0,0,0,0,0,1"},
                 {"MelWeightMatrix b n r l h -> Y output_datatype=13",
                  "b l - = 1; n l - = 1; r i - = 8; l f - = 0; h d - = 0", "Y d 1,1 = 1"}});
  ExpectInferred({{"MelWeightMatrix b n r l h -> Y output_datatype=13", "", "double ?"},
                  {"MelWeightMatrix b n r l h -> Y", "", "float ?"}});
}

}  // namespace
}  // namespace caffe2rt::test::signal_calls_test
