// The page of `caffe2 inspect --html`, used in headless Chromium.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/io/atomic_file.h"
#include "tests/programs/program_runner.h"
#include "tests/support/json.h"
#include "tests/support/shared.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::drawing_page_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// A name that would be markup, a script and an attribute if it were not escaped.
constexpr char kHostile[] =
    "\"><script>document.title='broken'</script><img src=x onerror=alert(1)>";

class DrawingPageTest : public ::testing::Test {
 protected:
  // Writes the page of a net of 40 operators, the last but one of which has a hostile name. Sets
  // result_ to the document after `script` ran; it puts its result into the title.
  void Use(const std::string& script, const std::string& hash = "") {
    std::string net = "name: \"page\"\n";
    for (int i = 0; i < 40; ++i) {
      const std::string name = i == 38 ? "\\\"><script>document.title='broken'</script><img src=x "
                                         "onerror=alert(1)>"
                                       : MakeString("b", i);
      const std::string before = i == 39
                                     ? "\\\"><script>document.title='broken'</script><img src=x "
                                       "onerror=alert(1)>"
                                     : MakeString("b", i - 1);
      net += MakeString("op { type: \"LeakyRelu\" input: \"", before, "\" output: \"", name,
                        "\" arg { name: \"alpha\" f: 0.25 } }\n");
    }
    const ProgramResult written =
        RunCaffe2({"inspect", dir_.Write("net.pbtxt", net), "--html", dir_.path("page.html"),
                   "--input", "b-1=2,3", "--dot-seconds", "0"});
    ASSERT_EQ(written.code, 0) << written.err;
    std::string page = ReadWholeFile(dir_.path("page.html"));
    EXPECT_THAT(page, Not(HasSubstr("http://www.w3.org/1999")));
    const size_t end = page.rfind("</body>");
    ASSERT_NE(end, std::string::npos);
    page.insert(end, "<script>{" + script + "}</script>\n");  // with names of its own
    const std::string used = dir_.Write("used.html", page);
    const ProgramResult result = RunProgram("/bin/bash", {SourcePath("tests/programs/open_page.sh"),
                                                          used + hash, dir_.path("page.png")});
    if (result.code == 77) GTEST_SKIP() << result.err;
    ASSERT_EQ(result.code, 0) << result.err;
    const std::string open = "<title>";
    const size_t begin = result.out.find(open) + open.size();
    title_ = result.out.substr(begin, result.out.find("</title>") - begin);
    EXPECT_THAT(ReadWholeFile(dir_.path("page.png")), HasSubstr("PNG"));
  }

  TempDir dir_;
  std::string title_;
};

TEST_F(DrawingPageTest, FindsOperatorsByBlob) {
  Use(R"(const query = document.getElementById("query");
      query.value = "B1";
      query.dispatchEvent(new Event("input"));
      document.title = [document.getElementById("count").textContent,
        document.querySelectorAll(".hit").length,
        document.querySelector(".current .line").textContent].join(";");)");
  // b1 is a blob of operators 1 and 2, and b10 to b19 are blobs of operators 10 to 20.
  if (IsSkipped()) return;
  EXPECT_EQ(title_, "1 of 13;13;b1");
}

TEST_F(DrawingPageTest, ScrollsToTheHitInTheAddress) {
  Use(R"(const view = document.getElementById("view").getBoundingClientRect();
      const hit = document.querySelector(".current").getBoundingClientRect();
      document.title = [hit.top > view.top && hit.bottom < view.bottom,
        hit.left > view.left && hit.right < view.right,
        document.querySelector(".current .line").textContent].join(";");)",
      "#b35");
  if (IsSkipped()) return;
  EXPECT_EQ(title_, "true;true;b35");
}

TEST_F(DrawingPageTest, ShowsDetailsOnAClick) {
  Use(R"(document.querySelectorAll(".node")[0].dispatchEvent(new MouseEvent("click", {bubbles: true}));
      document.title = [...document.querySelectorAll("#details td")].map((td) => td.textContent).join(";");)");
  if (IsSkipped()) return;
  EXPECT_THAT(title_,
              ::testing::StartsWith("position;0;output bytes;24;alpha;0.25;b-1;float [2, 3];b0;"
                                    "float [2, 3];b-1;b-1;b0;LeakyRelu"));
}

TEST_F(DrawingPageTest, ZoomsByKeysButtonsAndWheel) {
  Use(R"(const scale = () => document.getElementById("scale").textContent, seen = [scale()];
      const key = (name) => document.body.dispatchEvent(new KeyboardEvent("keydown", {key: name, bubbles: true}));
      key("+"); seen.push(scale());
      document.getElementById("out").click(); seen.push(scale());
      document.getElementById("view").dispatchEvent(new WheelEvent("wheel", {deltaY: 300, cancelable: true}));
      seen.push(parseInt(scale()) < 100);
      key("0"); seen.push(scale());
      const top = () => document.querySelector("svg").viewBox.baseVal.y;
      key("End"); seen.push(top() > 0); key("Home"); seen.push(top());
      key("f"); seen.push(parseInt(scale()) < 100);
      document.title = seen.join(";");)");
  if (IsSkipped()) return;
  EXPECT_EQ(title_, "100 %;125 %;100 %;true;100 %;true;0;true");
}

TEST_F(DrawingPageTest, MovesWithThePointer) {
  Use(R"(const view = document.getElementById("view"), box = () => document.querySelector("svg").viewBox.baseVal.y;
      view.setPointerCapture = () => {};
      const send = (type, y) => view.dispatchEvent(new PointerEvent(type,
        {pointerId: 1, button: 0, clientX: 300, clientY: y, bubbles: true}));
      send("pointerdown", 500); send("pointermove", 400); send("pointerup", 400);
      document.title = String(box());)");
  if (IsSkipped()) return;
  EXPECT_EQ(title_, "100");
}

TEST_F(DrawingPageTest, FitsTextIntoBoxesAndRunsNoNames) {
  Use(R"(const wide = [...document.querySelectorAll(".node")].filter((node) => {
        const box = node.querySelector(".box").getBBox();
        return [...node.querySelectorAll("text")].some((text) => {
          const area = text.getBBox();
          return area.x < box.x || area.x + area.width > box.x + box.width ||
            area.y < box.y || area.y + area.height > box.y + box.height;
        });
      });
      const small = [...document.querySelectorAll("svg text")].filter(
        (text) => parseFloat(getComputedStyle(text).fontSize) < 9);
      document.title = [document.title, wide.length, small.length, document.images.length].join(";");)",
      "#broken");
  if (IsSkipped()) return;
  EXPECT_EQ(title_, "page;0;0;0");
  EXPECT_THAT(ReadWholeFile(dir_.path("page.html")), Not(HasSubstr(kHostile)));
}

}  // namespace
}  // namespace caffe2rt::test::drawing_page_test
