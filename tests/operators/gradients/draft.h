#pragma once
// Random operators for the comparison of all gradients with central differences
// (gradients_test.cc). A recipe fills a draft: it feeds the inputs into a workspace and states the
// operator.
//
//   void DraftScale(Draft& draft) {
//     draft.FeedSmooth("X", draft.Dims(0, 4));
//     draft.SetOperator("Scale", {"X"}, {"Y"}).Argument("scale", draft.Real(-2, 2));
//   }

#include <cstdint>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "caffe2_core/runtime/workspace.h"
#include "tests/support/gradient_test.h"

namespace caffe2rt::test {

class Draft {
 public:
  // The same seed makes the same draft on every machine. With `doubles`, the numbers that a recipe
  // feeds are doubles instead of floats.
  Draft(Workspace* ws, uint32_t seed, bool doubles) : ws_(ws), random_(seed), doubles_(doubles) {}

  // A random integer from low to high, both included.
  int64_t Int(int64_t low, int64_t high);
  bool Coin() { return Int(0, 1) == 1; }
  float Real(float low, float high);
  // Dimensions from 1 to `most`, as many as a random rank from low to high.
  std::vector<int64_t> Dims(int64_t low_rank, int64_t high_rank, int64_t most = 4);

  // Feeds random numbers from low to high.
  void FeedSmooth(const std::string& name, const std::vector<int64_t>& dims, double low = -1,
                  double high = 1);
  // Feeds random numbers that differ from each other by 1/8 at least: odd multiples of 1/16, with
  // random signs unless `positive`. The order and the sign of a number do not change by a step.
  void FeedApart(const std::string& name, const std::vector<int64_t>& dims, bool positive = false);
  void FeedIndices(const std::string& name, const std::vector<int64_t>& dims,
                   const std::vector<int64_t>& values);
  void FeedInt64(const std::string& name, const std::vector<int64_t>& dims,
                 const std::vector<int64_t>& values);
  void FeedInt32(const std::string& name, const std::vector<int64_t>& dims,
                 const std::vector<int32_t>& values);

  Draft& SetOperator(const std::string& type, const std::vector<std::string>& inputs,
                     const std::vector<std::string>& outputs);
  Draft& SetOperator(const OperatorDef& op);
  Draft& Argument(const std::string& name, int64_t value);
  Draft& Argument(const std::string& name, int value) { return Argument(name, int64_t{value}); }
  Draft& Argument(const std::string& name, bool value) { return Argument(name, int64_t{value}); }
  Draft& Argument(const std::string& name, float value);
  Draft& Argument(const std::string& name, const char* value);
  Draft& Argument(const std::string& name, const std::vector<int64_t>& values);

  Workspace* workspace() { return ws_; }
  bool doubles() const { return doubles_; }
  const OperatorDef& op() const { return op_; }
  // Which gradients are compared, and how. A recipe may change it.
  GradientCheck check;

 private:
  void FeedReals(const std::string& name, const std::vector<int64_t>& dims,
                 const std::vector<double>& values);

  Workspace* const ws_;
  std::mt19937 random_;  // the same sequence on every machine
  const bool doubles_;
  OperatorDef op_;
};

// How to make a random operator of a type. A type may have several recipes.
struct Recipe {
  std::string type;
  std::string variant;  // distinguishes the recipes of a type; a word
  void (*draft)(Draft& draft, const std::string& type);
};
// Used by GoogleTest.
inline void PrintTo(const Recipe& recipe, std::ostream* out) {
  *out << recipe.type << recipe.variant;
}

std::vector<Recipe> ElementwiseRecipes();
std::vector<Recipe> ShapeRecipes();
std::vector<Recipe> ReductionRecipes();
std::vector<Recipe> WindowRecipes();
std::vector<Recipe> LossRecipes();
std::vector<Recipe> DetectionRecipes();
std::vector<Recipe> DetectronRecipes();
std::vector<Recipe> RecurrentRecipes();
std::vector<Recipe> SegmentRecipes();
std::vector<Recipe> AllRecipes();

}  // namespace caffe2rt::test
