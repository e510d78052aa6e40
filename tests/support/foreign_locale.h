#pragma once
// Sets a locale that groups digits and uses a decimal comma.
//
//   const ForeignLocale foreign;
//   std::ostringstream() << 1234.5;  // 1.234,5 in every stream created from now on
//
// The global C++ locale gets a custom facet, so no locale needs to be installed. The C locale,
// which printf and strtod use, is set to one with a decimal comma if one is installed
// (has_c_locale). CI machines have none; for them a style test bans printf and strtod of
// floating-point numbers from the sources. The destructor restores both locales. Not thread safe.

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
