// The gradient of every differentiable operator agrees with central differences, on random shapes
// and arguments. The differences are formed in double where the operator accepts doubles.

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "caffe2_core/graph/memory_traits.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/tensor/tensor_difference.h"
#include "tests/operators/gradients/draft.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test {
namespace {

// Differentiable types that no recipe compares, with the reason.
const std::map<std::string, std::string>& LeftOut() {
  static const std::map<std::string, std::string> left_out = {
      {"CopyCPUToGPU", "needs two devices; cuda_nets_test runs it"},
      {"CopyGPUToCPU", "needs two devices; cuda_nets_test runs it"},
      {"Recurrent", "has a CUDA implementation only; recurrent_cudnn_test compares it"},
      {"CopyRowsToTensor", "rows that are written have a gradient, as in Caffe2"},
      {"FloatToHalf", "half precision rounds more than the differences tell apart"},
      {"HalfToFloat", "half precision rounds more than the differences tell apart"},
      {"HSoftmax", "wants a gradient of its second output, and overwrites it, as in Caffe2"},
      {"LambdaRankNdcg", "the gradient is that of half of the loss with constant weights"},
      {"NegateGradient", "the gradient differs from that of Y = X on purpose"},
      {"ZeroGradient", "the gradient differs from that of Y = X on purpose"},
  };
  return left_out;
}

// Whether the maker of a type returns gradient operators.
bool IsDifferentiable(const std::string& type) {
  OperatorDef def;
  def.set_type(type);
  const std::vector<GradientWrapper> none;
  const auto maker = GradientRegistry()->Create(type, def, none);
  const GradientMakerBase* const base = maker.get();
  return dynamic_cast<const NoGradient*>(base) == nullptr &&
         dynamic_cast<const ThrowInTheTowelIfGradientIsCalled*>(base) == nullptr &&
         dynamic_cast<const GradientNotImplementedYet*>(base) == nullptr;
}

bool Contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Whether the operator and its gradient operators accept doubles.
bool AcceptsDoubles(const Recipe& recipe, uint32_t seed) {
  Workspace ws;
  Draft draft(&ws, seed, true);
  recipe.draft(draft, recipe.type);
  const OperatorDef& def = draft.op();
  try {
    if (!ws.RunOperatorOnce(def)) return false;
    std::vector<GradientWrapper> given(static_cast<size_t>(def.output_size()));
    for (size_t i = 0; i < given.size(); ++i) {
      const std::string& output = def.output(static_cast<int>(i));
      const Tensor& y = ws.GetBlob(output)->Get<Tensor>();
      if (!y.IsType<double>() || Contains(draft.check.outputs_without_gradient, output)) continue;
      given[i].dense_ = output + "_grad";
      ws.CreateBlob(given[i].dense_)->GetMutableTensor(CPU)->CopyFrom(y);
    }
    for (const OperatorDef& op : GetGradientForOp(def, given).ops_) ws.RunOperatorOnce(op);
    return true;
  } catch (const EnforceNotMet&) {
    return false;
  }
}

uint32_t NumberOfDrafts() {
  const char* const text = std::getenv("CAFFE2_TEST_GRADIENT_DRAFTS");
  return text != nullptr ? static_cast<uint32_t>(std::stoul(text)) : 3;
}

class GradientsTest : public testing::TestWithParam<Recipe> {};

TEST_P(GradientsTest, AgreesWithCentralDifferences) {
  const Recipe& recipe = GetParam();
  for (uint32_t seed = 1; seed <= NumberOfDrafts() && !HasFailure() && !IsSkipped(); ++seed) {
    Workspace ws;
    Draft draft(&ws, seed, AcceptsDoubles(recipe, seed));
    recipe.draft(draft, recipe.type);
    const std::string text = draft.op().ShortDebugString();
    SCOPED_TRACE("draft " + std::to_string(seed) + ": " + text);
    ExpectGradientMatches(&ws, text, draft.check);
  }
}

INSTANTIATE_TEST_SUITE_P(AllTypes, GradientsTest, testing::ValuesIn(AllRecipes()),
                         [](const testing::TestParamInfo<Recipe>& info) {
                           return info.param.type + info.param.variant;
                         });

// Types whose gradient reads an input that the operator overwrites in place, or does not support to
// work in place itself.
const std::set<std::string>& RefusedInPlace() {
  static const std::set<std::string> refused = {
      "InstanceNorm", "Log", "Logit",    "Max",       "Min", "Mul",
      "PRelu",        "Pow", "Softsign", "SpatialBN", "Sqr", "WeightedSum"};
  return refused;
}

bool MayWorkInPlace(const Recipe& recipe) {
  constexpr int kMost = 8;
  const OpSchema& schema = *OpSchemaRegistry::Schema(recipe.type);
  for (int i = 0; i < kMost; ++i) {
    for (int k = 0; k < kMost; ++k) {
      if (schema.inplace_allowed(i, k)) return true;
    }
  }
  return false;
}

std::vector<Recipe> RecipesInPlace() {
  std::vector<Recipe> recipes = AllRecipes();
  std::erase_if(recipes, [](const Recipe& recipe) { return !MayWorkInPlace(recipe); });
  return recipes;
}

// The operators of a draft with one output in place of an input, as its schema allows.
std::vector<OperatorDef> InPlace(const OperatorDef& def) {
  const OpSchema& schema = *OpSchemaRegistry::Schema(def.type());
  std::vector<OperatorDef> all;
  for (int i = 0; i < def.input_size(); ++i) {
    for (int k = 0; k < def.output_size(); ++k) {
      if (!schema.inplace_allowed(i, k) || HasInput(def, def.output(k))) continue;
      all.push_back(def);
      all.back().set_output(k, def.input(i));
    }
  }
  return all;
}

class InPlaceGradientsTest : public testing::TestWithParam<Recipe> {
 protected:
  // Compares the gradient of the operator of a draft in place. Returns false if it is refused.
  static bool Compare(Draft* draft, const OperatorDef& def) {
    std::vector<std::string>& left_out = draft->check.outputs_without_gradient;
    for (int k = 0; k < def.output_size(); ++k) {
      if (Contains(left_out, draft->op().output(k))) left_out.push_back(def.output(k));
    }
    try {
      ExpectGradientMatches(draft->workspace(), def.ShortDebugString(), draft->check);
      return true;
    } catch (const EnforceNotMet& error) {
      const std::string read = "that the operator read, but " + def.type() + " overwrites it";
      EXPECT_THAT(error.message(),
                  testing::AnyOf(testing::HasSubstr(read),
                                 testing::HasSubstr("Gradient does not support the gradients of an "
                                                    "operator that works in place")));
      EXPECT_THAT(error.message(), testing::HasSubstr("write the output of " + def.type()));
      return false;
    }
  }

  static bool Runs(const Recipe& recipe, uint32_t seed, const OperatorDef& def) {
    Workspace ws;
    Draft draft(&ws, seed, false);
    recipe.draft(draft, recipe.type);
    try {
      return ws.RunOperatorOnce(def);
    } catch (const EnforceNotMet&) {
      return false;  // the shapes do not allow it
    }
  }
};

TEST_P(InPlaceGradientsTest, AgreesWithCentralDifferencesOrIsRejected) {
  const Recipe& recipe = GetParam();
  int compared = 0, refused = 0;
  for (uint32_t seed = 1; seed <= 4 * NumberOfDrafts() && !HasFailure(); ++seed) {
    Workspace plain_ws;
    Draft plain(&plain_ws, seed, false);
    recipe.draft(plain, recipe.type);
    for (const OperatorDef& def : InPlace(plain.op())) {
      if (!Runs(recipe, seed, def)) continue;
      SCOPED_TRACE("draft " + std::to_string(seed) + ": " + def.ShortDebugString());
      Workspace ws;
      Draft draft(&ws, seed, AcceptsDoubles(recipe, seed));
      recipe.draft(draft, recipe.type);
      ++(Compare(&draft, def) ? compared : refused);
    }
  }
  EXPECT_GT(compared + refused, 0) << "no draft works in place";
  EXPECT_EQ(refused > 0, RefusedInPlace().count(recipe.type) > 0)
      << compared << " compared, " << refused << " refused";
}

INSTANTIATE_TEST_SUITE_P(AllTypes, InPlaceGradientsTest, testing::ValuesIn(RecipesInPlace()),
                         [](const testing::TestParamInfo<Recipe>& info) {
                           return info.param.type + info.param.variant;
                         });

using Tensors = std::map<std::string, Tensor>;

Tensors CopiesOf(const Workspace& ws,
                 const google::protobuf::RepeatedPtrField<std::string>& names) {
  Tensors copies;
  for (const std::string& name : names) {
    const Blob* const blob = ws.GetBlob(name);
    if (blob != nullptr && blob->IsType<Tensor>()) copies[name].CopyFrom(blob->Get<Tensor>());
  }
  return copies;
}

// Memory plans place an output that may be in place of an input at its address, under another name.
// Runs the operator so, for each such pair, and expects what it computes otherwise. Returns the
// number of pairs. The workspace has the inputs, and the outputs afterwards.
int RunWithSharedMemory(Workspace* ws, const OperatorDef& def) {
  const OpSchema* const schema = OpSchemaRegistry::Schema(def.type());
  const MemoryTraits& traits = MemoryTraitsOf(def.type());
  const Tensors inputs = CopiesOf(*ws, def.input());
  const auto run = [&] {
    for (const auto& [name, tensor] : inputs) {
      ws->CreateBlob(name)->GetMutableTensor(CPU)->CopyFrom(tensor);
    }
    EXPECT_TRUE(ws->RunOperatorOnce(def));
    return CopiesOf(*ws, def.output());
  };
  Tensors want;
  try {
    want = run();
  } catch (const EnforceNotMet&) {
    return 0;  // a gradient operator of a draft that no gradient is compared for
  }
  int pairs = 0;
  for (int i = 0; i < def.input_size(); ++i) {
    for (int k = 0; k < def.output_size(); ++k) {
      const std::string &from = def.input(i), &to = def.output(k);
      const auto input = inputs.find(from);
      const auto output = want.find(to);
      if (traits.same_blob_in_place || traits.keeps_memory || !schema->inplace_allowed(i, k) ||
          HasInput(def, to) || HasOutput(def, from) || input == inputs.end() ||
          output == want.end() || input->second.dims() != output->second.dims() ||
          input->second.meta() != output->second.meta()) {
        continue;
      }
      ++pairs;
      SCOPED_TRACE(testing::Message() << "output " << k << " at the address of input " << i << ": "
                                      << def.ShortDebugString());
      ws->RemoveBlob(to);
      Tensor* const shared = ws->CreateBlob(to)->GetMutableTensor(CPU);
      shared->ResizeLike(input->second);
      shared->ShareData(ws->GetBlob(from)->Get<Tensor>());
      for (const auto& [name, got] : run()) {
        EXPECT_TRUE(
            CompareTensors(got, want.at(name), {.absolute = 1e-6, .relative = 1e-6}).within())
            << name;
      }
      ws->RemoveBlob(to);
      run();
    }
  }
  return pairs;
}

class SharedMemoryTest : public testing::TestWithParam<Recipe> {};

TEST_P(SharedMemoryTest, OperatorsAndTheirGradientsAcceptOutputsAtTheAddressOfInputs) {
  const Recipe& recipe = GetParam();
  if (recipe.type == "Dropout") return;  // random
  for (uint32_t seed = 1; seed <= 2 * NumberOfDrafts() && !HasFailure(); ++seed) {
    Workspace ws;
    Draft draft(&ws, seed, false);
    recipe.draft(draft, recipe.type);
    const OperatorDef& def = draft.op();
    RunWithSharedMemory(&ws, def);
    std::vector<GradientWrapper> given(static_cast<size_t>(def.output_size()));
    for (size_t i = 0; i < given.size(); ++i) {
      const std::string& output = def.output(static_cast<int>(i));
      const Blob* const y = ws.GetBlob(output);
      if (!y->IsType<Tensor>() || Contains(draft.check.outputs_without_gradient, output)) continue;
      if (!y->Get<Tensor>().IsType<float>() && recipe.type != "Cast") continue;
      given[i].dense_ = output + "_grad";
      ws.CreateBlob(given[i].dense_)->GetMutableTensor(CPU)->CopyFrom(y->Get<Tensor>());
    }
    for (const OperatorDef& op : GetGradientForOp(def, given).ops_) RunWithSharedMemory(&ws, op);
  }
}

INSTANTIATE_TEST_SUITE_P(AllTypes, SharedMemoryTest, testing::ValuesIn(AllRecipes()),
                         [](const testing::TestParamInfo<Recipe>& info) {
                           return info.param.type + info.param.variant;
                         });

TEST(GradientRecipesTest, CoverEveryDifferentiableType) {
  std::set<std::string> covered;
  for (const Recipe& recipe : AllRecipes()) {
    covered.insert(recipe.type);
    EXPECT_EQ(LeftOut().count(recipe.type), 0u) << recipe.type << " is left out, but has a recipe";
  }
  for (const std::string& type : GradientRegistry()->Keys()) {
    if (!IsDifferentiable(type) || LeftOut().count(type) > 0) continue;
    EXPECT_EQ(covered.count(type), 1u)
        << type << " has a gradient: add a recipe in tests/operators/gradients, or a reason to "
        << "leave it out";
  }
}

}  // namespace
}  // namespace caffe2rt::test
