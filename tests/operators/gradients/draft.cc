#include "tests/operators/gradients/draft.h"

#include <algorithm>
#include <numeric>

#include "tests/support/operator_test.h"

namespace caffe2rt::test {

// The distributions of the standard library differ between implementations; these do not.
int64_t Draft::Int(int64_t low, int64_t high) {
  return low + static_cast<int64_t>(random_() % static_cast<uint64_t>(high - low + 1));
}

float Draft::Real(float low, float high) {
  return low + (high - low) * static_cast<float>(random_() % 1024) / 1023;
}

std::vector<int64_t> Draft::Dims(int64_t low_rank, int64_t high_rank, int64_t most) {
  std::vector<int64_t> dims(static_cast<size_t>(Int(low_rank, high_rank)));
  for (int64_t& dim : dims) dim = Int(1, most);
  return dims;
}

void Draft::FeedReals(const std::string& name, const std::vector<int64_t>& dims,
                      const std::vector<double>& values) {
  if (doubles_) {
    Feed<double>(ws_, name, dims, values);
  } else {
    Feed<float>(ws_, name, dims, std::vector<float>(values.begin(), values.end()));
  }
}

namespace {

int64_t Product(const std::vector<int64_t>& dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
}

}  // namespace

void Draft::FeedSmooth(const std::string& name, const std::vector<int64_t>& dims, double low,
                       double high) {
  std::vector<double> values(static_cast<size_t>(Product(dims)));
  for (double& value : values) {
    value = low + (high - low) * static_cast<double>(random_() % 4096) / 4096;
  }
  FeedReals(name, dims, values);
}

void Draft::FeedApart(const std::string& name, const std::vector<int64_t>& dims, bool positive) {
  std::vector<double> values(static_cast<size_t>(Product(dims)));
  for (size_t i = 0; i < values.size(); ++i) {
    const double place = static_cast<double>(2 * i + 1) / 16;
    values[i] = positive ? place : place - static_cast<double>(values.size() / 2 * 2) / 16;
  }
  for (size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[random_() % i]);
  FeedReals(name, dims, values);
}

void Draft::FeedIndices(const std::string& name, const std::vector<int64_t>& dims,
                        const std::vector<int64_t>& values) {
  if (Coin()) {
    Feed<int64_t>(ws_, name, dims, values);
  } else {
    FeedInt32(name, dims, std::vector<int32_t>(values.begin(), values.end()));
  }
}

void Draft::FeedInt64(const std::string& name, const std::vector<int64_t>& dims,
                      const std::vector<int64_t>& values) {
  Feed<int64_t>(ws_, name, dims, values);
}

void Draft::FeedInt32(const std::string& name, const std::vector<int64_t>& dims,
                      const std::vector<int32_t>& values) {
  Feed<int32_t>(ws_, name, dims, values);
}

Draft& Draft::SetOperator(const std::string& type, const std::vector<std::string>& inputs,
                          const std::vector<std::string>& outputs) {
  op_.Clear();
  op_.set_type(type);
  for (const std::string& input : inputs) op_.add_input(input);
  for (const std::string& output : outputs) op_.add_output(output);
  return *this;
}

Draft& Draft::SetOperator(const OperatorDef& op) {
  op_ = op;
  return *this;
}

Draft& Draft::Argument(const std::string& name, int64_t value) {
  caffe2rt::Argument* const argument = op_.add_arg();
  argument->set_name(name);
  argument->set_i(value);
  return *this;
}

Draft& Draft::Argument(const std::string& name, float value) {
  caffe2rt::Argument* const argument = op_.add_arg();
  argument->set_name(name);
  argument->set_f(value);
  return *this;
}

Draft& Draft::Argument(const std::string& name, const char* value) {
  caffe2rt::Argument* const argument = op_.add_arg();
  argument->set_name(name);
  argument->set_s(value);
  return *this;
}

Draft& Draft::Argument(const std::string& name, const std::vector<int64_t>& values) {
  caffe2rt::Argument* const argument = op_.add_arg();
  argument->set_name(name);
  for (const int64_t value : values) argument->add_ints(value);
  return *this;
}

std::vector<Recipe> AllRecipes() {
  std::vector<Recipe> recipes;
  for (auto* of_family :
       {ElementwiseRecipes, ShapeRecipes, ReductionRecipes, WindowRecipes, LossRecipes,
        DetectionRecipes, DetectronRecipes, RecurrentRecipes, SegmentRecipes}) {
    for (Recipe& recipe : of_family()) recipes.push_back(std::move(recipe));
  }
  return recipes;
}

}  // namespace caffe2rt::test
