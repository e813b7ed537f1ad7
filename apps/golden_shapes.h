#pragma once

#include <map>
#include <string>
#include <vector>

#include "lppool/infer/infer.h"
#include "report.h"

namespace lppool::app {

// A file of expected shapes: what `infer --format json` prints, for one model or several ("models"). Tensors it does not
// list are not compared; "*" stands for any dimension.
class GoldenShapes {
 public:
  // Throws kIo, kParse.
  static GoldenShapes read(const std::string& path);
  static void write(const std::string& path, const Json& documents);

  // One line per difference. A file for one model counts whatever that model was called; in one for several the model is
  // looked up by path, else by file name; a model it does not list is a difference.
  std::vector<std::string> compare(const std::string& model, const InferResult& result) const;

 private:
  const Json* find(const std::string& model) const;
  std::string path_;
  std::vector<Json> models_;
};

}  // namespace lppool::app
