#include "binaries/json_output.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string_view>

namespace caffe2rt {
namespace {

// Prints a document in pieces, because its whole text may be long. nlohmann's own dump() cannot be
// used for numbers: it prints NaN and infinity as null, and one float in 700 with 17 digits.
class JsonPrinter {
 public:
  void Print(const Json& json) {
    switch (json.type()) {
      case Json::value_t::object:
        PrintList('{', json.get_ref<const Json::object_t&>(), '}');
        break;
      case Json::value_t::array:
        PrintList('[', json.get_ref<const Json::array_t&>(), ']');
        break;
      case Json::value_t::string:
        PrintText(json.get_ref<const std::string&>());
        break;
      case Json::value_t::number_integer:
        PrintNumber(json.get<int64_t>());
        break;
      case Json::value_t::number_unsigned:
        PrintNumber(json.get<uint64_t>());
        break;
      case Json::value_t::number_float:
        PrintFloating(json.get<double>());
        break;
      default:
        text_ += json.dump();
    }
    constexpr size_t kPieceBytes = 64 << 10;
    if (text_.size() >= kPieceBytes) Flush();
  }
  void Flush() {
    std::cout << text_;
    text_.clear();
  }

 private:
  template <class List>
  void PrintList(char begin, const List& list, char end) {
    text_ += begin;
    const char* separator = "";
    for (const auto& element : list) {
      text_ += separator;
      Print(element);
      separator = ", ";
    }
    text_ += end;
  }
  void Print(const Json::object_t::value_type& member) {
    PrintText(member.first);
    text_ += ": ";
    Print(member.second);
  }

  void PrintText(const std::string& text) {
    const bool plain = std::all_of(text.begin(), text.end(), [](char c) {
      return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
    });
    if (plain) {
      text_.append("\"").append(text).append("\"");
    } else {
      text_ += Json(text).dump(-1, ' ', true, Json::error_handler_t::replace);
    }
  }

  template <class T>
  void PrintNumber(T value) {
    char digits[32];
    text_.append(digits, std::to_chars(digits, digits + sizeof(digits), value).ptr);
  }
  void PrintFloating(double value) {
    if (std::isfinite(value)) return PrintNumber(value);
    PrintText(std::isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity");
  }

  std::string text_;  // not yet printed
};

// Frees the elements, the last one first, each after its own elements.
void Clear(Json* json) noexcept {
  if (json->is_array()) {
    auto& elements = json->get_ref<Json::array_t&>();
    for (; !elements.empty(); elements.pop_back()) Clear(&elements.back());
  } else if (json->is_object()) {
    auto& members = json->get_ref<Json::object_t&>();
    for (; !members.empty(); members.pop_back()) Clear(&members.back().second);
  }
}

}  // namespace

void FreeJson::operator()(Json* json) const noexcept {
  Clear(json);
  delete json;
}

JsonDocument NewJson() { return JsonDocument(new Json); }

double JsonNumber(float value) {
  if (!std::isfinite(value)) return value;
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof(digits), value).ptr;
  double number = 0;
  std::from_chars(digits, end, number);
  return number;
}

void PrintJsonPart(const Json& json) {
  JsonPrinter printer;
  printer.Print(json);
  printer.Flush();
}

void PrintJson(const Json& json) {
  PrintJsonPart(json);
  std::cout << '\n';
}

}  // namespace caffe2rt
