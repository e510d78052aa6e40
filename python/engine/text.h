#pragma once
// Text: a parameter that may be str or bytes. The front end passes names as both, and serialized
// messages as bytes. And what the bindings of the front end do with messages.

#include <nanobind/nanobind.h>

#include <compare>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "caffe2_core/io/proto_file.h"

namespace caffe2rt {

// The characters belong to the Python object: they stay valid during the call, with the
// interpreter's lock or without, if the object is an argument of its own. Copy the elements of a
// list before the lock is released.
struct Text {
  std::string_view view;
  std::string str() const { return std::string(view); }
  auto operator<=>(const Text&) const = default;
};

inline std::vector<std::string> Strings(const std::vector<Text>& texts) {
  std::vector<std::string> strings;
  for (const Text& text : texts) strings.push_back(text.str());
  return strings;
}

inline nanobind::bytes Bytes(std::string_view text) {
  return nanobind::bytes(text.data(), text.size());
}

// The serialized message. THROWS if the bytes are not one.
template <class Message>
Message Parsed(const Text& bytes, const char* subject) {
  Message message;
  ParseBinaryProto(bytes.view, subject, &message);
  return message;
}
template <class Message>
std::vector<Message> ParsedAll(const std::vector<Text>& list, const char* subject) {
  std::vector<Message> messages;
  for (const Text& bytes : list) messages.push_back(Parsed<Message>(bytes, subject));
  return messages;
}

inline nanobind::bytes Serialized(const google::protobuf::Message& message) {
  return Bytes(ProtoToBinary(message));
}

}  // namespace caffe2rt

namespace nanobind::detail {

template <>
struct type_caster<caffe2rt::Text> {
  NB_TYPE_CASTER(caffe2rt::Text, const_name("str | bytes"))

  bool from_python(handle src, uint8_t /*flags*/, cleanup_list* /*cleanup*/) noexcept {
    Py_ssize_t size = 0;
    if (PyBytes_Check(src.ptr())) {
      char* data = nullptr;
      if (PyBytes_AsStringAndSize(src.ptr(), &data, &size) != 0) return Failed();
      value.view = {data, static_cast<size_t>(size)};
      return true;
    }
    if (!PyUnicode_Check(src.ptr())) return false;
    const char* const data = PyUnicode_AsUTF8AndSize(src.ptr(), &size);
    if (data == nullptr) return Failed();
    value.view = {data, static_cast<size_t>(size)};
    return true;
  }

  static handle from_cpp(const caffe2rt::Text& text, rv_policy /*policy*/,
                         cleanup_list* /*cleanup*/) noexcept {
    return PyUnicode_FromStringAndSize(text.view.data(), static_cast<Py_ssize_t>(text.view.size()));
  }

 private:
  static bool Failed() {
    PyErr_Clear();
    return false;
  }
};

}  // namespace nanobind::detail
