#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "lppool/infer/infer.h"
#include "report.h"

namespace lppool::app {

// A file of expected shapes: what `infer --format json` prints, for one model or several ("models"). Tensors it does not
// list are not compared; "*" stands for any dimension.
class GoldenShapes {
 public:
  // A file that lists one model counts, where `any_name` says so, whatever that model was called. Throws kIo, kParse.
  static GoldenShapes read(const std::string& path, bool any_name);
  // `documents`: what `infer --format json` prints for each model.
  static void write(const std::string& path, const Json& documents);

  // One line per difference. A model is looked up by path, else by file name if one only is called so; a model the file does
  // not list is a difference.
  std::vector<std::string> compare(const std::string& model, const InferResult& result) const;

  // Renews what is listed of the model, or adds it. What was chosen by hand stays: wildcards, where the rank is the same, and
  // which tensors are listed; new tensors come in where others of their kind are listed, those that are gone go.
  void renew(const std::string& model, const Json& document);
  // Models that were not renewed stay as they are.
  void write() const;

 private:
  // The place in models_, or -1.
  std::ptrdiff_t find(const std::string& model) const;
  std::string path_;
  bool any_name_ = false;
  std::vector<Json> models_;
};

}  // namespace lppool::app
