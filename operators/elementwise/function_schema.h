#pragma once
// Schemas and gradient makers for the rows of a function table.

#include <string>
#include <tuple>
#include <type_traits>

#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/tensor/data_type.h"
#include "operators/primitives/function_table.h"

namespace caffe2rt {

// Register the schemas of y = f(x) and y = f(a, b), without the function's arguments. `result` is
// the element type of the output, or UNDEFINED if it is that of the input.
OpSchema& RegisterUnarySchema(const char* type, const char* doc, bool inplace,
                              TensorProto_DataType result, const char* file);
OpSchema& RegisterBinarySchema(const char* type, const char* doc, BinaryInplace inplace,
                               TensorProto_DataType result, const char* file);

void RegisterGradientOfKind(GradientKind kind, const char* type, const char* file);

// The type of the gradient operator of the operator `type`.
inline std::string GradientTypeOf(const char* type) { return std::string(type) + "Gradient"; }

// Register the schema of a gradient operator, without the function's arguments, and the maker that
// emits the operator. `inplace`: whether dX may be dY.
OpSchema& RegisterUnaryGradient(const char* type, GradientInputs inputs, bool inplace,
                                const char* file);
// The same for a function of two elements. The inputs are dY, A, B and, if the gradient reads it,
// Y. `inplace` is that of the row: dA, or both dA and dB, may be dY.
void RegisterBinaryGradient(const char* type, BinaryGradientReads reads, BinaryInplace inplace,
                            const char* file);

namespace internal {

// The element type of a row's output, or UNDEFINED if it is that of the input.
template <class Function, class First, class... Rest>
TensorProto_DataType ResultTypeOf(const UnaryRow<Function, First, Rest...>&) {
  using Result = ResultOf<Function, First>;
  if constexpr (std::is_same_v<Result, First> &&
                (... && std::is_same_v<ResultOf<Function, Rest>, Rest>)) {
    return TensorProto::UNDEFINED;
  } else {
    static_assert((... && std::is_same_v<ResultOf<Function, Rest>, Result>));
    return TypeMetaToDataType(TypeMeta::Make<Result>());
  }
}

template <class Function, class First, class... Rest>
TensorProto_DataType ResultTypeOf(const BinaryRow<Function, First, Rest...>&) {
  using Result = ResultOf<Function, First, First>;
  if constexpr (std::is_same_v<Result, First> &&
                (... && std::is_same_v<ResultOf<Function, Rest, Rest>, Rest>)) {
    return TensorProto::UNDEFINED;
  } else {
    static_assert((... && std::is_same_v<ResultOf<Function, Rest, Rest>, Result>));
    return TypeMetaToDataType(TypeMeta::Make<Result>());
  }
}

// Declares that `inputs` inputs are of one of the types Ts, all of the same.
template <class... Ts>
void DeclareTypesOf(OpSchema& schema, int inputs) {
  for (int i = 0; i < inputs; ++i) {
    schema.TypesOfInput(
        i, {.accepted = {TypeMetaToDataType(TypeMeta::Make<Ts>())...}, .like_first = i > 0});
  }
}

}  // namespace internal

// Registers the schemas and the gradient maker of a row. `common`: traits of all rows of the table.
template <class Function, class... Ts>
void DeclareRow(const UnaryRow<Function, Ts...>& row, const OperatorTraits& common,
                const char* file) {
  const auto declare_arguments = [&row](OpSchema& schema) {
    if constexpr (HasArguments<Function>) {
      std::apply([&schema](const auto&... specs) { (schema.Arg(specs), ...); },
                 Function::kArguments);
    }
    if (row.ignored != nullptr) schema.Arg(*row.ignored);
  };
  OpSchema& schema =
      RegisterUnarySchema(row.type, row.doc, row.inplace, internal::ResultTypeOf(row), file)
          .Traits(TraitsOfRow(row.traits, common));
  internal::DeclareTypesOf<Ts...>(schema, 1);
  declare_arguments(schema);
  if constexpr (HasGradient<Function>) {
    declare_arguments(
        RegisterUnaryGradient(row.type, Function::kGradientInputs, row.gradient_inplace, file));
  } else {
    RegisterGradientOfKind(row.gradient, row.type, file);
  }
}
template <class Function, class... Ts>
void DeclareRow(const BinaryRow<Function, Ts...>& row, const char* file) {
  OpSchema& schema =
      RegisterBinarySchema(row.type, row.doc, row.inplace, internal::ResultTypeOf(row), file)
          .Traits(TraitsOfRow(row.traits, {.family = OperatorFamily::kElementwise}));
  internal::DeclareTypesOf<Ts...>(schema, 2);
  if constexpr (HasBinaryGradient<Function>) {
    RegisterBinaryGradient(row.type, Function::kGradientReads, row.inplace, file);
  } else {
    RegisterGradientOfKind(row.gradient, row.type, file);
  }
}

}  // namespace caffe2rt
