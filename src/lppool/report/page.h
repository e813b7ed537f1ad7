#pragma once

#include <string>

#include "lppool/base/diagnostic.h"
#include "lppool/infer/infer.h"
#include "lppool/report/record.h"

// One HTML file about a model and, where there is one, a run of it. It needs no network, no other file and no script: what
// script it has (search, "open all") is an aid, named by its hash in the page's own content security policy, which allows
// nothing else.
namespace lppool::report {

struct PageContents {
  std::string file;     // as the reader knows the model
  std::string program;  // "lppool-cli 0.1.0"
  const Model* model = nullptr;      // with a graph
  const BoundGraph* graph = nullptr;
  const InferResult* types = nullptr;
  const Diagnostics* findings = nullptr;
  const RunRecord* run = nullptr;  // nullptr: not run
  std::string not_run;             // then: why
};

// Everything a model says is escaped. More than kMaxNodes nodes are not listed one by one.
std::string html_page(const PageContents& contents);
inline constexpr std::size_t kMaxNodes = 5000;

// Parts of the page, in page_nodes.cc and page_style.cc.
std::string search_html();
// The nodes that ran once at load, or the others.
std::string nodes_html(const PageContents& contents, bool folded);
std::string tensor_html(const TensorPicture& picture);
std::string attribute_text(const Attribute& attribute);
std::string_view page_style();
std::string_view page_script();
std::string_view page_script_hash();  // SHA-256 in base64, as a content security policy names it

}  // namespace lppool::report
