#pragma once
// The locale of a program that groups digits and writes decimal commas.
//
//   const ForeignLocale foreign;   // std::cout << 1234.5 prints 1.234,5 in streams made from here
//   on
//
// std::locale::global gets a facet of its own, so that no locale need be installed. setlocale gets
// one with a decimal comma where such is installed (has_c_locale); printf and strtod follow it.
// Machines of CI have none: there a style test keeps printf and strtod of floating-point numbers
// out of the sources. Not thread safe.

#include <clocale>
#include <locale>
#include <string>

namespace caffe2rt::test {

class ForeignLocale {
 public:
  ForeignLocale()
      : before_(std::locale::global(std::locale(std::locale::classic(), new Punctuation))),
        c_before_(std::setlocale(LC_ALL, nullptr)) {
    for (const char* name : {"de_DE.UTF-8", "fr_FR.UTF-8", "nl_NL.UTF-8", "it_IT.UTF-8"}) {
      if (std::setlocale(LC_ALL, name) == nullptr) continue;
      has_c_locale_ = true;
      break;
    }
  }
  ~ForeignLocale() {
    std::locale::global(before_);
    std::setlocale(LC_ALL, c_before_.c_str());
  }
  ForeignLocale(const ForeignLocale&) = delete;
  ForeignLocale& operator=(const ForeignLocale&) = delete;

  bool has_c_locale() const { return has_c_locale_; }

 private:
  struct Punctuation : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
    std::string do_truename() const override { return "wahr"; }
    std::string do_falsename() const override { return "falsch"; }
  };

  const std::locale before_;
  const std::string c_before_;
  bool has_c_locale_ = false;
};

}  // namespace caffe2rt::test
