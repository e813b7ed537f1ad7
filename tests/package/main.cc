#include <cstdio>

#include "lppool/base/error.h"
#include "lppool/onnx/model_file.h"
#include "lppool/run/session.h"

int main(int, char** argv) {
  try {
    const auto file = lppool::ModelFile::read(argv[1]);
    lppool::Session session(file.model());
    const auto x = lppool::Tensor::of<float>({1, 2, 6, 6}, std::vector<float>(72, 1));
    for (const lppool::Value& y : session.run({{"x", x}})) {
      std::printf("%s, first %g\n", to_string(y.tensor().shape()).c_str(), y.tensor().data<float>()[0]);
    }
  } catch (const lppool::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return lppool::exit_code(error.kind());
  }
}
