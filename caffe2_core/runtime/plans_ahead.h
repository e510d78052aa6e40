#pragma once
// PlansAhead: a second base class of operators that can do before the first run what is done in the
// first run alone: plan for the shapes and layouts of the inputs, create primitives of libraries, and
// prepare weights. PreparedNet::PlanAhead (model/preparation.h) calls them in the order of the net.
//
//   void MyOp::PlanAhead(const AheadInputs& inputs) {
//     PlanFor(Input(0));                                          // reads the shape and the layout
//     if (inputs.is_constant(1)) prepared_.Update(Input(1), ...);
//     PrepareOutput(Output(0), dims_, layout_);                   // for the operators behind it
//   }
//
// A run plans again if its inputs are others than those that were planned for.

#include <cstddef>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)
namespace caffe2rt {

// What is known of the inputs of an operator before a run. All of them have a shape, an element type
// and a layout.
class AheadInputs {
 public:
  explicit AheadInputs(std::vector<bool> constant) : constant_(std::move(constant)) {}

  // Whether input `i` has the elements that it has in every run. The elements of other inputs are
  // undefined, and must not be read.
  bool is_constant(int i) const { return constant_[static_cast<size_t>(i)]; }

 private:
  std::vector<bool> constant_;
};

class PlansAhead {
 public:
  virtual ~PlansAhead() = default;

  // Does what is said above, and gives the outputs the shapes, element types and layouts that a run
  // gives them, with memory. Does not compute. THROWS as a run does if it cannot run on these inputs.
  // REQUIRES: no output has elements that anybody reads.
  virtual void PlanAhead(const AheadInputs& inputs) = 0;
  // Whether a run may prepare weights.
  virtual bool PreparesWeights() const { return false; }
};

}  // namespace caffe2rt
#pragma GCC visibility pop
