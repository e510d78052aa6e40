#pragma once
// Optional inputs of operators with ONNX's inputs. ONNX leaves an input out by an empty name; here the
// input is missing, and the argument omitted_inputs lists its position:
//
//   const InputPlaces places_(args, InputSize());   // a member
//   if (places_.Has(2)) Use(Input(places_[2]));     // ONNX's input 2
//
// Inputs after the last one that is given need not be listed.

#include <array>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/graph/argument_spec.h"
#include "caffe2_core/graph/arguments.h"

namespace caffe2rt {

inline constexpr RepeatedArgumentSpec<int> kOmittedInputs{
    "omitted_inputs",
    "the positions of the optional inputs that are left out before the last input that is given"};

// Where ONNX's inputs are among the inputs that are given. A plain value.
class InputPlaces {
 public:
  static constexpr int kMaxInputs = 16;

  // `given`: the number of inputs of the operator. THROWS if a position is out of range.
  InputPlaces(const ArgumentHelper& args, int given) {
    places_.fill(-1);
    std::array<bool, kMaxInputs> omitted{};
    for (const int position : args.Read(kOmittedInputs)) {
      CAFFE_ENFORCE(position >= 0 && position < kMaxInputs, "argument omitted_inputs contains ",
                    position, ", want 0 to ", kMaxInputs - 1);
      omitted[static_cast<size_t>(position)] = true;
    }
    int next = 0;
    for (size_t i = 0; i < kMaxInputs && next < given; ++i) {
      if (!omitted[i]) places_[i] = next++;
    }
  }
  bool Has(int position) const { return (*this)[position] >= 0; }
  // The index of the input, or -1 if it is left out.
  int operator[](int position) const { return places_[static_cast<size_t>(position)]; }

 private:
  std::array<int, kMaxInputs> places_;
};

}  // namespace caffe2rt
