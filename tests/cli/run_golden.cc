// Runs one golden file: commands with what they must print and how they must end.
//
//   # a comment
//   $ lppool-cli schema LpPool --diff 1..2      run by /bin/sh in a fresh folder; $TESTDATA is the testdata folder
//   > a line of stdout                          {*} stands for any text in a line
//   2> a line of stderr
//   = 2                                         exit code; 0 where no such line
//
// With --update the file is rewritten with what the commands do now; look at the difference before you keep it.
#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

struct Block {
  std::vector<std::string> comments;
  std::string command;
  std::vector<std::string> out, err;
  int code = 0;
};

std::vector<Block> parse(std::istream& file) {
  std::vector<Block> blocks;
  std::vector<std::string> comments;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.starts_with("#")) {
      comments.push_back(line);
    } else if (line.starts_with("$ ")) {
      blocks.push_back({std::move(comments), line.substr(2), {}, {}, 0});
      comments.clear();
    } else if (blocks.empty()) {
      std::cerr << "text before the first command: " << line << "\n";
      exit(2);
    } else if (line == ">" || line.starts_with("> ")) {
      blocks.back().out.push_back(line.size() > 2 ? line.substr(2) : "");
    } else if (line == "2>" || line.starts_with("2> ")) {
      blocks.back().err.push_back(line.size() > 3 ? line.substr(3) : "");
    } else if (line.starts_with("= ")) {
      blocks.back().code = std::stoi(line.substr(2));
    } else {
      std::cerr << "cannot read the line: " << line << "\n";
      exit(2);
    }
  }
  return blocks;
}

std::vector<std::string> lines_of(const fs::path& path) {
  std::vector<std::string> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

bool matches(const std::string& want, const std::string& got) {
  std::size_t at = 0, begin = 0;
  for (bool first = true;; first = false) {
    const std::size_t star = want.find("{*}", begin);
    const std::string part = want.substr(begin, star == std::string::npos ? std::string::npos : star - begin);
    if (star == std::string::npos) {
      if (first) return want == got;
      return got.size() >= at + part.size() && got.ends_with(part);
    }
    const std::size_t found = first ? (got.starts_with(part) ? 0 : std::string::npos) : got.find(part, at);
    if (found == std::string::npos) return false;
    at = found + part.size();
    begin = star + 3;
  }
}

bool compare(std::string_view what, const std::vector<std::string>& want, const std::vector<std::string>& got) {
  bool same = want.size() == got.size();
  for (std::size_t i = 0; same && i < want.size(); ++i) same = matches(want[i], got[i]);
  if (same) return true;
  std::cerr << "  " << what << " differs\n";
  for (const auto& line : want) std::cerr << "    - " << line << "\n";
  for (const auto& line : got) std::cerr << "    + " << line << "\n";
  return false;
}

int run(const std::string& command, const fs::path& folder, const fs::path& out, const fs::path& err) {
  const pid_t child = fork();
  if (child == 0) {
    if (chdir(folder.c_str()) != 0) _exit(127);
    const int in = open("/dev/null", O_RDONLY);
    const int o = open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), e = open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(in, 0);
    dup2(o, 1);
    dup2(e, 2);
    execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

int main(int argc, char** argv) {
  const bool update = argc == 5 && std::string(argv[4]) == "--update";
  if (argc != 4 && !update) {
    std::cerr << "usage: run_golden FILE CLI_FOLDER TESTDATA [--update]\n";
    return 2;
  }
  const fs::path file = fs::absolute(argv[1]);
  setenv("PATH", (fs::absolute(argv[2]).string() + ":" + getenv("PATH")).c_str(), 1);
  setenv("TESTDATA", fs::absolute(argv[3]).c_str(), 1);
  setenv("NO_COLOR", "1", 1);
  setenv("LC_ALL", "C.UTF-8", 1);
  std::string pattern = (fs::temp_directory_path() / "lppool-golden-XXXXXX").string();
  const fs::path scratch = mkdtemp(pattern.data());
  const fs::path work = scratch / "work";
  fs::create_directory(work);

  std::ifstream input(file);
  std::vector<Block> blocks = parse(input);
  if (blocks.empty()) {
    std::cerr << file << ": no command\n";
    return 2;
  }
  bool good = true;
  for (Block& block : blocks) {
    const int code = run(block.command, work, scratch / "out", scratch / "err");
    const auto out = lines_of(scratch / "out"), err = lines_of(scratch / "err");
    std::cerr << "$ " << block.command << "\n";
    if (update) {
      const auto keep = [](const std::vector<std::string>& want, const std::vector<std::string>& got) {
        std::vector<std::string> result = got;
        for (std::size_t i = 0; i < got.size() && i < want.size(); ++i) {
          if (matches(want[i], got[i])) result[i] = want[i];  // wildcards stay
        }
        return result;
      };
      block.out = keep(block.out, out);
      block.err = keep(block.err, err);
      block.code = code;
      continue;
    }
    good = compare("stdout", block.out, out) && good;
    good = compare("stderr", block.err, err) && good;
    if (code != block.code) {
      std::cerr << "  exit code " << code << ", expected " << block.code << "\n";
      good = false;
    }
  }
  fs::remove_all(scratch);
  if (update) {
    std::ofstream output(file);
    for (const Block& block : blocks) {
      for (const auto& line : block.comments) output << line << "\n";
      output << "$ " << block.command << "\n";
      for (const auto& line : block.out) output << (line.empty() ? ">" : "> " + line) << "\n";
      for (const auto& line : block.err) output << (line.empty() ? "2>" : "2> " + line) << "\n";
      if (block.code != 0) output << "= " << block.code << "\n";
    }
    return 0;
  }
  return good ? 0 : 1;
}
