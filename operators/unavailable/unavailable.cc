// Operator types of Caffe2 that need something that this library does not have. They have schemas,
// so that nets with them can be read, checked and drawn. Creating one fails with an error that
// states what is missing.
#include <climits>
#include <span>

#include "caffe2_core/graph/builtin_operators.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"

namespace caffe2rt {
namespace {

struct KnownArgument {
  const char* name;
  const char* doc;
};

enum class Places { kNone, kOneToOne, kAny };  // inputs that may be in place

enum class Differentiable { kUnregistered, kNo, kNoGradient };

struct UnavailableType {
  const char* type;
  int min_inputs, max_inputs, min_outputs, max_outputs;
  Places places;
  Differentiable gradient;
  std::span<const KnownArgument> arguments;
  bool any_argument;
  const char* missing;
  const char* doc;
};

constexpr char kNccl[] = "NCCL, which the library does not use";
constexpr char kStores[] = "a Redis server as the store, for which FileStoreHandlerCreate stands in";

constexpr KnownArgument kBroadcastArguments[] = {
    {"root", "the rank that sends"}, {"status_blob", "blob for the error of a failure"}};
constexpr KnownArgument kRedisArguments[] = {{"host", "name of the server"},
                                             {"port", "port of the server"},
                                             {"prefix", "prefix of the keys"}};
constexpr KnownArgument kPythonArguments[] = {{"token", "key of the registered function"},
                                              {"forced_cpu_outputs", "outputs on the CPU"},
                                              {"pass_workspace", "call it with the workspace"}};
constexpr UnavailableType kUnavailableTypes[] = {
    {"ATen",
     0,
     INT_MAX,
     0,
     INT_MAX,
     Places::kNone,
     Differentiable::kUnregistered,
     {},
     true,
     "PyTorch's tensor library, which the library does not use",
     "Calls a function of PyTorch."},
    {"NCCLAllreduce",
     1,
     16,
     1,
     16,
     Places::kOneToOne,
     Differentiable::kNo,
     {},
     false,
     kNccl,
     "Adds tensors of several GPUs."},
    {"NCCLBroadcast", 1, 16, 1, 16, Places::kOneToOne, Differentiable::kNo, kBroadcastArguments,
     false, kNccl, "Copies a tensor of one GPU to others."},
    {"Python", 0, INT_MAX, 0, INT_MAX, Places::kAny, Differentiable::kUnregistered,
     kPythonArguments, false, "Python, which the library does not contain",
     "Calls a Python function."},
    {"RedisStoreHandlerCreate", 0, 0, 1, 1, Places::kNone, Differentiable::kUnregistered,
     kRedisArguments, false, kStores, "Creates a store of keys and values on a Redis server."},
};

void RegisterOne(const UnavailableType& row) {
  OpSchema& schema =
      RegisterSchema(row.type, __FILE__)
          .NumInputs(row.min_inputs, row.max_inputs)
          .NumOutputs(row.min_outputs, row.max_outputs)
          .NotAvailable(row.missing)
          .SetDoc(std::string(row.doc) + " Not available: it needs " + row.missing + ".");
  for (const KnownArgument& argument : row.arguments) schema.Arg(argument.name, argument.doc);
  if (row.any_argument) schema.AcceptsAnyArgument();
  if (row.places == Places::kOneToOne) schema.AllowOneToOneInplace();
  if (row.places == Places::kAny) schema.AllowInplace([](int, int) { return true; });
  if (row.gradient == Differentiable::kNo) {
    RegisterGradient<ThrowInTheTowelIfGradientIsCalled>(row.type, __FILE__);
  } else if (row.gradient == Differentiable::kNoGradient) {
    RegisterGradient<NoGradient>(row.type, __FILE__);
  }
}

}  // namespace

void RegisterUnavailable() {
  // A program may bring the operator: its schema then replaces this one, or was registered before.
  for (const UnavailableType& row : kUnavailableTypes) {
    if (!HasSchemaAlready(row.type)) RegisterOne(row);
  }
}

}  // namespace caffe2rt
